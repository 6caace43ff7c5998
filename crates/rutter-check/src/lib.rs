//! Checks published files and whole sites, and reports the findings.
//!
//! [`check`] detects the format of one [`Subject`] and returns a [`FileReport`]. [`check_folder`]
//! checks a site: every file, and whether all layers agree about each page. [`check_live`] does the
//! same for a site on the network. [`survive_folder`] follows the SPXI markers of a site through
//! its layers. An [`Outcome`] collects the results of a run, [`quota`] limits the listed pages, and
//! [`mod@format`] writes the outcome together with the affected lines from [`excerpt`].
//! [`baseline`] holds known findings, [`registry`] all rules, and [`explain`] an example of each
//! rule.
//!
//! An invalid file gets findings. Only a file that cannot be read causes an error.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod arc;
pub mod baseline;
mod collection;
mod cross;
pub mod excerpt;
pub mod explain;
pub mod fingerprint;
pub mod format;
pub mod layer;
mod live;
mod locate;
pub mod outcome;
pub mod overview;
pub mod quota;
pub mod registry;
pub mod rules;
mod signpost;
mod site;
mod spxi;
mod survive_folder;

use std::borrow::Cow;
use std::io;

use rutter_arc::ArcError;
use rutter_finding::{Finding, FindingSink, Report, Rule, Strictness, Verdict};
use rutter_page::Timestamp;
use rutter_scp::advert::AdvertisedCollection;
use rutter_scp::{CollectionOpener, Limits, PageRecord, ReadError, ReadReceipt};
use rutter_sitemap::{SitemapError, SitemapItem};

pub use live::{LiveBounds, check_live};
pub use outcome::{CheckedFile, DetailLevel, Outcome};
pub use overview::Overview;
pub use site::{BuiltPage, Restriction, SiteBase, SiteCheckOptions, SiteOutcome, check_folder};
pub use survive_folder::{FolderSurvival, SurviveError, survive_folder};

/// A file to check.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Subject<'s> {
    /// The name of the file in reports.
    pub name: String,
    /// Opens the file. It may be called more than once.
    pub open: &'s CollectionOpener<'s>,
}

/// Options for checking a file.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// Whether findings have the severity that concerns readers or the one that concerns
    /// publishers.
    pub mode: Strictness,
    /// Size limits for collections.
    pub limits: Limits,
    /// The current time. If it is `None`, the ages of files are not checked.
    pub now: Option<Timestamp>,
    /// The sitemap entry of a collection, which must match the file.
    pub advert: Option<AdvertisedCollection>,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The path of the file below the folder, or its URL; `.` for the folder or site itself.
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
    /// Returns the path of the file including its root, which is unique even if
    /// several folders are checked.
    ///
    /// ```
    /// # use rutter_check::{FileReport, FileKind};
    /// let page = FileReport::clean("public", "blog/a.html", FileKind::Page);
    /// assert_eq!(page.path(), "public/blog/a.html");
    /// let site = FileReport::clean("public", ".", FileKind::Site);
    /// assert_eq!(site.path(), "public");
    /// ```
    pub fn path(&self) -> Cow<'_, str> {
        let is_address = self.name.starts_with("https://") || self.name.starts_with("http://");
        match (self.root.as_str(), self.name.as_str()) {
            ("" | ".", name) => Cow::Borrowed(name),
            (root, ".") => Cow::Borrowed(root),
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

/// Detects the format of a file and checks it.
///
/// robots.txt and llms.txt are recognised by name, sitemaps by their root element
/// or a first line that is a URL, and ARC and SPXI files by name or content. Every
/// other file is checked as a collection.
pub fn check(subject: &Subject<'_>, check_options: &CheckOptions) -> Result<FileReport, io::Error> {
    let kind = signpost::kind(subject)?;
    check_as(subject, check_options, kind, &mut |_, _| {}, &mut |_| {})
}

/// Checks a sitemap and passes each item with its line to `take`.
pub(crate) fn check_sitemap(
    subject: &Subject<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&SitemapItem, u64),
) -> Result<FileReport, io::Error> {
    check_as(subject, check_options, FileKind::Sitemap, take, &mut |_| {})
}

/// Checks a collection and passes each page to `take`.
pub(crate) fn check_collection(
    subject: &Subject<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&PageRecord<'_>),
) -> Result<FileReport, io::Error> {
    check_as(subject, check_options, FileKind::Collection, &mut |_, _| {}, take)
}

/// Checks an ARC sitemap or dated delta and passes each entry to `take`; also
/// returns the head of the document if it was read completely.
pub(crate) fn check_arc(
    subject: &Subject<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&rutter_arc::ArcEntry<'_>, u64),
) -> Result<(FileReport, Option<rutter_arc::SitemapHeader>), io::Error> {
    let mut file_report = blank(&subject.name, FileKind::Arc, check_options);
    match arc::sitemap(subject, check_options, take, &mut file_report.report) {
        Ok((n_entries, head)) => {
            file_report.entries = Some(n_entries);
            Ok((file_report, Some(head)))
        }
        Err(ArcError::Refused(refusal)) => {
            file_report.refused = Some(refusal.rule);
            file_report.report.report(Finding::from(refusal));
            Ok((file_report, None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Creates a report without findings.
pub(crate) fn blank(name: &str, kind: FileKind, check_options: &CheckOptions) -> FileReport {
    FileReport { report: Report::new(check_options.mode), ..FileReport::clean("", name, kind) }
}

fn check_as(
    subject: &Subject<'_>,
    check_options: &CheckOptions,
    kind: FileKind,
    take_item: &mut dyn FnMut(&SitemapItem, u64),
    take_page: &mut dyn FnMut(&PageRecord<'_>),
) -> Result<FileReport, io::Error> {
    let mut file_report = blank(&subject.name, kind, check_options);
    let report = &mut file_report.report;
    let refusal = match kind {
        FileKind::Robots => {
            signpost::robots(subject, report)?;
            None
        }
        FileKind::Llms => {
            signpost::llms(subject, report)?;
            None
        }
        FileKind::Arc => match arc::sitemap(subject, check_options, &mut |_, _| {}, report) {
            Ok((n_entries, _)) => {
                file_report.entries = Some(n_entries);
                None
            }
            Err(ArcError::Io(error)) => return Err(error),
            Err(ArcError::Refused(refusal)) => Some(refusal),
            Err(other) => return Err(io::Error::other(other)),
        },
        FileKind::ArcPolicy => {
            arc::policy(subject, report)?;
            None
        }
        FileKind::SpxiIndex | FileKind::SpxiPacket => {
            let is_index = kind == FileKind::SpxiIndex;
            let judge = if is_index { spxi::index } else { spxi::packet };
            match judge(subject, check_options, report)? {
                Ok(n_entities) => {
                    file_report.entries = Some(n_entities);
                    None
                }
                Err(refusal) => Some(refusal),
            }
        }
        FileKind::Sitemap => match signpost::sitemap(subject, take_item, report) {
            Ok(n_entries) => {
                file_report.entries = Some(n_entries);
                None
            }
            Err(SitemapError::Io(error)) => return Err(error),
            Err(SitemapError::Refused(refusal)) => Some(refusal),
            Err(other) => return Err(io::Error::other(other)),
        },
        FileKind::Collection => {
            match collection::check(subject.open, check_options, take_page, report) {
                Ok(receipt) => {
                    file_report.receipt = Some(receipt);
                    None
                }
                Err(ReadError::Io(error)) => return Err(error),
                Err(ReadError::Refused(refusal)) => Some(refusal),
                // An error of an unknown kind does not mean that the file is invalid.
                Err(other) => return Err(io::Error::other(other)),
            }
        }
        FileKind::Page | FileKind::Twin | FileKind::Site => None,
    };
    if let Some(refusal) = refusal {
        file_report.refused = Some(refusal.rule);
        file_report.report.report(Finding::from(refusal));
    }
    Ok(file_report)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
