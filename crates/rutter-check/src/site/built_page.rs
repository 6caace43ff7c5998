//! Pages as the last build read them, so that unchanged pages need not be read again.

use std::sync::LazyLock;

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
