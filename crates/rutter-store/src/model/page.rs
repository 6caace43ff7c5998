//! Stored pages: their metadata, positions in listings, and counts.

use rutter_page::{LineDigest, Timestamp};

use super::site::PublisherId;

rutter_page::named_values! {
    /// Where the stored version of a page comes from.
    PageSource {
        /// A verified SCP collection.
        Scp = "scp",
        /// The snapshot of an ARC sitemap.
        Arc = "arc",
        /// HTML, converted by the extractor.
        Html = "html",
        /// A Markdown twin.
        Markdown = "markdown",
    }
}

rutter_page::named_values! {
    /// Why a page is stored without its content (D95). The digest of a withheld page is stored, so
    /// that section states can be compared.
    WithheldReason {
        /// robots.txt disallows the URL (D93).
        Robots = "robots",
        /// The site does not allow AI use of the page, or the page requires a login (D87).
        Consent = "consent",
        /// The publisher has used up its quota (SCP-184).
        Quota = "quota",
        /// The URL is outside of the publisher's hosts (D88).
        Foreign = "foreign",
        /// The line is invalid (D32).
        Fault = "fault",
        /// The page has no content without running scripts or logging in.
        Shell = "shell",
        /// The page is outside of the scope of the sync.
        Scope = "scope",
    }
}

/// The metadata of a stored page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: String,
    /// Time of the last change of the content, as the page states it.
    pub modified: Timestamp,
    /// Digest of the page's line.
    pub digest: LineDigest,
    /// Title of the page.
    pub title: String,
    /// Language of the page.
    pub language: String,
    /// Source of the stored version.
    pub source: PageSource,
    /// Why the content is not stored; `None` if it is stored.
    pub withheld: Option<WithheldReason>,
    /// When the replica first stored the page.
    pub first_seen: Timestamp,
    /// When the replica stored this version.
    pub changed: Timestamp,
}

/// Which pages a query returns.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageSelection<'a> {
    /// Only pages of this publisher.
    pub publisher: Option<PublisherId>,
    /// Only pages of the section with this name; requires a publisher.
    pub section: Option<&'a str>,
    /// Whether to include withheld pages.
    pub with_withheld: bool,
}

/// The page after which a listing of pages continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition<'a> {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: &'a str,
}

impl PageRow {
    /// Returns the position from which a listing continues after this page.
    pub fn after(&self) -> PagePosition<'_> {
        PagePosition { publisher: self.publisher, url: &self.url }
    }
}

/// The number of pages with one source and one withheld reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCount {
    /// Source of the pages.
    pub source: PageSource,
    /// Withheld reason of the pages; `None` for pages with content.
    pub withheld: Option<WithheldReason>,
    /// Number of pages with this source and withheld reason.
    pub pages: u64,
}

/// The number of all pages and of withheld pages of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTotals {
    /// Number of all pages, read from the record of the publisher.
    pub pages: u64,
    /// Number of withheld pages, counted from the page records.
    pub withheld: u64,
}

/// A stored ARC entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcRow {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: String,
    /// Whether the entry allows the use of the page.
    pub is_allowed: bool,
    /// The entry as JSON, in the form of [`rutter_arc::ArcEntry::to_json`].
    pub json: String,
}

/// A page whose stored data is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {what}")]
pub struct DamagedPage {
    /// Publisher of the page; 0 if the page record is unreadable.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: String,
    /// What is damaged, as text.
    pub what: String,
}

impl DamagedPage {
    /// Returns the position of this page, from which a listing continues with the next page.
    pub fn after(&self) -> PagePosition<'_> {
        PagePosition { publisher: self.publisher, url: &self.url }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_have_no_value() {
        assert_eq!(PageSource::of_word("pdf"), None);
    }
}
