//! Checks published files and whole sites, and reports the findings.
//!
//! [`check`] detects the format of one [`CheckTarget`] and returns a [`FileReport`]. [`check_folder`]
//! checks a site: every file, and whether all layers agree about each page. [`check_live`] does the
//! same for a site on the network. [`survive_folder`] follows the SPXI markers of a site through
//! its layers. The crate `rutter-report` turns the reports into output; [`rule_tables`] are the
//! rules that a check may report.
//!
//! An invalid file gets findings. Only a file that cannot be read causes an error.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod arc;
mod collection;
mod cross;
mod live;
mod rules;
mod signpost;
mod site;
mod spxi;
mod survive_folder;

use std::io;

use rutter_arc::ArcError;
use rutter_finding::{Finding, FindingSink, Report, Strictness};
use rutter_page::Timestamp;
use rutter_report::{FileKind, FileReport};
use rutter_scp::advert::AdvertisedCollection;
use rutter_scp::{CollectionOpener, Limits, PageRecord, ReadError};
use rutter_sitemap::{SitemapError, SitemapItem};

pub use live::{LiveBounds, check_live};
pub use rules::{has_checkable_example, rule_tables};
pub use site::{
    BuiltPage, RestrictionReason, SiteBase, SiteCheckOptions, SiteOutcome, check_folder,
};
pub use survive_folder::{FolderSurvival, SurviveError, survive_folder};

/// A file to check.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct CheckTarget<'s> {
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

/// Detects the format of a file and checks it.
///
/// robots.txt and llms.txt are recognised by name, sitemaps by their root element
/// or a first line that is a URL, and ARC and SPXI files by name or content. Every
/// other file is checked as a collection.
pub fn check(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
) -> Result<FileReport, io::Error> {
    let kind = signpost::kind(subject)?;
    check_as(subject, check_options, kind, &mut |_, _| {}, &mut |_| {})
}

/// Checks a sitemap and passes each item with its line to `take`.
pub(crate) fn check_sitemap(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&SitemapItem, u64),
) -> Result<FileReport, io::Error> {
    check_as(subject, check_options, FileKind::Sitemap, take, &mut |_| {})
}

/// Checks a collection and passes each page to `take`.
pub(crate) fn check_collection(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&PageRecord<'_>),
) -> Result<FileReport, io::Error> {
    check_as(subject, check_options, FileKind::Collection, &mut |_, _| {}, take)
}

/// Checks an ARC sitemap or dated delta and passes each entry to `take`; also
/// returns the head of the document if it was read completely.
pub(crate) fn check_arc(
    subject: &CheckTarget<'_>,
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
    subject: &CheckTarget<'_>,
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
