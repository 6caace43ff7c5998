//! The report about one checked file.

use std::borrow::Cow;

use rutter_finding::{Report, Rule, Strictness, Verdict};
use rutter_scp::ReadReceipt;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// An SCP collection, or a file of unknown format.
    Collection,
    /// A sitemap or a sitemap index.
    Sitemap,
    /// A robots.txt.
    Robots,
    /// An llms.txt.
    Llms,
    /// An ARC sitemap, a dated delta, or a JSON-LD pointer to an ARC sitemap.
    Arc,
    /// An ARC policy.
    ArcPolicy,
    /// An SPXI index.
    SpxiIndex,
    /// An SPXI packet.
    SpxiPacket,
    /// An HTML page.
    Page,
    /// The Markdown twin of a page.
    Twin,
    /// The site as a whole, or a file of another format.
    Site,
}

impl FileKind {
    /// Returns the lower-case name used in all outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Sitemap => "sitemap",
            Self::Robots => "robots",
            Self::Llms => "llms",
            Self::Arc => "arc",
            Self::ArcPolicy => "arc-policy",
            Self::SpxiIndex => "spxi-index",
            Self::SpxiPacket => "spxi-packet",
            Self::Page => "page",
            Self::Twin => "twin",
            Self::Site => "site",
        }
    }
}

/// The report about one file, or about the site as a whole.
#[derive(Debug)]
pub struct FileReport {
    /// The folder or site that contains the file, as given by the caller; empty
    /// for a single file.
    pub root: String,
    /// The path of the file below the folder, or its URL; [`FileReport::SITE`] for the folder or site itself.
    pub name: String,
    /// The format of the file.
    pub kind: FileKind,
    /// The findings about the file.
    pub report: Report,
    /// The rule by which the whole file was rejected.
    pub refused: Option<&'static Rule>,
    /// The receipt of a collection that was read completely and verified.
    pub receipt: Option<ReadReceipt>,
    /// The number of entries of a sitemap, or entities of an index, if it was
    /// read completely.
    pub entries: Option<u64>,
}

impl FileReport {
    /// The name of the report about the folder or site itself.
    pub const SITE: &str = ".";

    /// Returns the path of the file including its root, which is unique even if
    /// several folders are checked.
    ///
    /// ```
    /// # use rutter_report::{FileKind, FileReport};
    /// let page = FileReport::clean("public", "blog/a.html", FileKind::Page);
    /// assert_eq!(page.path(), "public/blog/a.html");
    /// let site = FileReport::clean("public", ".", FileKind::Site);
    /// assert_eq!(site.path(), "public");
    /// ```
    pub fn path(&self) -> Cow<'_, str> {
        let is_address = self.name.starts_with("https://") || self.name.starts_with("http://");
        match (self.root.as_str(), self.name.as_str()) {
            ("" | ".", name) => Cow::Borrowed(name),
            (root, Self::SITE) => Cow::Borrowed(root),
            (_, name) if is_address => Cow::Borrowed(name),
            (root, name) if root.ends_with('/') => Cow::Owned(format!("{root}{name}")),
            (root, name) => Cow::Owned(format!("{root}/{name}")),
        }
    }

    /// Creates a report without findings, with the severities for publishers.
    pub fn clean(root: &str, name: &str, kind: FileKind) -> Self {
        Self {
            root: root.to_owned(),
            name: name.to_owned(),
            kind,
            report: Report::new(Strictness::Strict),
            refused: None,
            receipt: None,
            entries: None,
        }
    }

    /// Returns whether the file is accepted. A file that was rejected as a whole stays rejected
    /// even if its findings are ignored.
    pub fn verdict(&self) -> Verdict {
        if self.refused.is_some() { Verdict::Rejected } else { self.report.verdict() }
    }
}
