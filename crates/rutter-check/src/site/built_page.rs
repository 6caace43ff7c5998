//! Pages as the last build read them, so that unchanged pages need not be read again.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use rutter_extract::Coverage;
use rutter_finding::{Finding, Place};
use rutter_page::LineDigest;
use rutter_report::RuleRegistry;

use super::page_rows::RestrictionReason;

/// A page as the last build read it.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltPage {
    /// The URL of the page.
    pub url: Box<str>,
    /// The digest of the page without the links that the build inserted into it.
    pub source: [u8; 32],
    /// The digest of the line of the page in the collection, if any.
    pub line: Option<LineDigest>,
    /// The digest of the Markdown twin of the page, if any.
    pub twin: Option<LineDigest>,
    /// The title of the page.
    pub title: Box<str>,
    /// The reason why the page is restricted; `None` for a public page.
    pub closed: Option<RestrictionReason>,
    /// The extracted share of the main text of the page, if the build measured it.
    pub coverage: Option<Coverage>,
    /// The findings of the build about the page.
    pub findings: Vec<Finding>,
}

impl BuiltPage {
    /// Sets the findings by code and detail; unknown codes are ignored.
    #[must_use]
    pub fn with_findings(mut self, told: Vec<(String, String)>) -> Self {
        static RULES: LazyLock<RuleRegistry> =
            LazyLock::new(|| RuleRegistry::new(crate::rule_tables()));
        let finding = |(code, detail): (String, String)| {
            Some(Finding::new(RULES.by_code(&code)?, Place::WHOLE, detail))
        };
        self.findings = told.into_iter().filter_map(finding).collect();
        self
    }
}

/// Removes the block that the build inserted into the head.
pub(crate) fn unmarked(page: &[u8]) -> Cow<'_, [u8]> {
    const END: &[u8] = b"<!-- rutter:end -->";
    static BEGIN: LazyLock<memmem::Finder<'_>> =
        LazyLock::new(|| memmem::Finder::new("<!-- rutter:begin -->"));
    let Some(start) = BEGIN.find(page) else { return Cow::Borrowed(page) };
    let rest = page.get(start..).unwrap_or_default();
    let Some(len) = memmem::find(rest, END) else { return Cow::Borrowed(page) };
    let mut end = start + len + END.len();
    if page.get(end) == Some(&b'\n') {
        end += 1;
    }
    let mut out = page.get(..start).unwrap_or_default().to_vec();
    out.extend_from_slice(page.get(end..).unwrap_or_default());
    Cow::Owned(out)
}
