//! What the build remembers of pages, so that what did not change need not be
//! read again.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use rutter_finding::{Finding, Place, Rule};
use rutter_page::LineDigest;

use super::rows::Closed;
use crate::registry;

/// A page as the build read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Its address.
    pub url: Box<str>,
    /// Digest of its bytes, without what was put into its head.
    pub source: [u8; 32],
    /// Digest of its line; `None` where it has none.
    pub line: Option<LineDigest>,
    /// Digest of its Markdown twin; `None` where it has none.
    pub twin: Option<LineDigest>,
    /// Its title.
    pub title: Box<str>,
    /// Why it may not leave.
    pub closed: Option<Closed>,
    /// What was found wrong with it.
    pub findings: Vec<Finding>,
}

impl Known {
    /// Takes over what was found wrong with the page, by code and detail; a
    /// code that nobody knows any more is let go.
    #[must_use]
    pub fn with_findings(mut self, told: Vec<(String, String)>) -> Self {
        static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(registry::all);
        let finding = |(code, detail): (String, String)| {
            let at = RULES.binary_search_by(|rule| rule.code.cmp(&code)).ok()?;
            Some(Finding::new(RULES.get(at)?, Place::WHOLE, detail))
        };
        self.findings = told.into_iter().filter_map(finding).collect();
        self
    }
}

/// A page without the block that the build puts into its head.
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
