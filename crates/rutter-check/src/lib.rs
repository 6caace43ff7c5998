//! The rulebook: judges artefacts and says what it found.
//!
//! A [`Subject`] is one file; [`check`] sees what it is and makes a
//! [`Judgement`] of it. [`check_folder`] judges a whole site: every file by
//! itself, and what all layers say of the same page; [`check_live`] does so for
//! one that is asked over the network. [`survive_folder`] follows the markers of a
//! site. An [`Outcome`] is what a run has to tell;
//! [`quota`] leaves of it what can be read; [`mod@format`] turns it into text for people and programs, with the lines
//! that [`excerpt`] took. [`baseline`] knows what was found before, [`registry`]
//! every rule there is, [`explain`] their examples.
//!
//! Refuses: to call a file unreadable that is merely wrong. A wrong file gets
//! findings; only a file that could not be had is an error.

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
use rutter_finding::{Finding, FindingSink, Mode, Report, Rule, Verdict};
use rutter_page::Timestamp;
use rutter_scp::advert::Collection;
use rutter_scp::{Limits, Opener, ReadError, Receipt, Record};
use rutter_signpost::sitemap::{Item, SitemapError};

pub use live::{LiveBounds, check_live};
pub use outcome::{Detail, Judged, Outcome};
pub use overview::Overview;
pub use site::{Closed, Home, Known, SiteJudging, SiteOutcome, check_folder};
pub use survive_folder::{SurviveError, Survived, survive_folder};

/// What is judged.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Subject<'s> {
    /// What to call it.
    pub name: String,
    /// Opens it, more than once if need be.
    pub open: &'s Opener<'s>,
}

/// How it is judged.
#[derive(Debug, Clone, Default)]
pub struct Judging {
    /// For a reader or for the publisher.
    pub mode: Mode,
    /// Ceilings.
    pub limits: Limits,
    /// The time of day; without it nothing is too old or too new.
    pub now: Option<Timestamp>,
    /// What a sitemap says about the file.
    pub advert: Option<Collection>,
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An SCP collection, and whatever is nothing else.
    Collection,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// A robots.txt.
    Robots,
    /// An llms.txt.
    Llms,
    /// An ARC sitemap, its changes of a day, or a pointer to one.
    Arc,
    /// An ARC policy.
    ArcPolicy,
    /// An SPXI index.
    SpxiIndex,
    /// An SPXI packet.
    SpxiPacket,
    /// A page for people.
    Page,
    /// The Markdown twin of a page.
    Twin,
    /// The site as a whole, and files that are nothing else.
    Site,
}

impl Kind {
    /// The lower-case word used in all outputs.
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

/// What came of it.
#[derive(Debug)]
pub struct Judgement {
    /// The folder or the site it belongs to, as whoever asked would write it;
    /// empty for a file of its own.
    pub root: String,
    /// What was judged, by its path below the folder or by its address; a
    /// folder or site as a whole is called `.`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Everything that was found.
    pub report: Report,
    /// The rule that refused the file as a whole.
    pub refused: Option<&'static Rule>,
    /// Present where a collection was read to its end and verified.
    pub receipt: Option<Receipt>,
    /// Entries of a sitemap, or entities of an index, that was read to its end.
    pub entries: Option<u64>,
}

impl Judgement {
    /// Where it is, seen from where the check was asked for: names are told
    /// apart by it, also those of two folders.
    ///
    /// ```
    /// # use rutter_check::{Judgement, Kind};
    /// let page = Judgement::clean("public", "blog/a.html", Kind::Page);
    /// assert_eq!(page.path(), "public/blog/a.html");
    /// let site = Judgement::clean("public", ".", Kind::Site);
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

    /// Nothing found yet, for a publisher.
    pub fn clean(root: &str, name: &str, kind: Kind) -> Self {
        Self {
            root: root.to_owned(),
            name: name.to_owned(),
            kind,
            report: Report::new(Mode::Strict),
            refused: None,
            receipt: None,
            entries: None,
        }
    }

    /// Accepted or rejected; what is refused stays so, whatever is ignored.
    pub fn verdict(&self) -> Verdict {
        if self.refused.is_some() { Verdict::Rejected } else { self.report.verdict() }
    }
}

/// Sees what a file is, and judges it.
///
/// robots.txt and llms.txt are known by their names, sitemaps by their root or
/// by a first line that is a URL, files of ARC and SPXI by either; everything
/// else is taken for a collection.
pub fn check(subject: &Subject<'_>, judging: &Judging) -> Result<Judgement, io::Error> {
    let kind = signpost::kind(subject)?;
    judge_as(subject, judging, kind, &mut |_, _| {}, &mut |_| {})
}

/// Judges a sitemap and hands each of its items on, with its line.
pub(crate) fn judge_sitemap(
    subject: &Subject<'_>,
    judging: &Judging,
    take: &mut dyn FnMut(&Item, u64),
) -> Result<Judgement, io::Error> {
    judge_as(subject, judging, Kind::Sitemap, take, &mut |_| {})
}

/// Judges a collection and hands each of its pages on.
pub(crate) fn judge_collection(
    subject: &Subject<'_>,
    judging: &Judging,
    take: &mut dyn FnMut(&Record<'_>),
) -> Result<Judgement, io::Error> {
    judge_as(subject, judging, Kind::Collection, &mut |_, _| {}, take)
}

/// Judges an ARC sitemap or the changes of a day and hands each entry on;
/// gives what stands beside them where the file could be read to its end.
pub(crate) fn judge_arc(
    subject: &Subject<'_>,
    judging: &Judging,
    take: &mut dyn FnMut(&rutter_arc::Entry<'_>, u64),
) -> Result<(Judgement, Option<rutter_arc::Head>), io::Error> {
    let mut judgement = blank(&subject.name, Kind::Arc, judging);
    match arc::sitemap(subject, judging, take, &mut judgement.report) {
        Ok((n_entries, head)) => {
            judgement.entries = Some(n_entries);
            Ok((judgement, Some(head)))
        }
        Err(ArcError::Refused(refusal)) => {
            judgement.refused = Some(refusal.rule);
            judgement.report.report(Finding::from(refusal));
            Ok((judgement, None))
        }
        Err(error) => Err(error.into()),
    }
}

/// A judgement with nothing in it.
pub(crate) fn blank(name: &str, kind: Kind, judging: &Judging) -> Judgement {
    Judgement { report: Report::new(judging.mode), ..Judgement::clean("", name, kind) }
}

fn judge_as(
    subject: &Subject<'_>,
    judging: &Judging,
    kind: Kind,
    take_item: &mut dyn FnMut(&Item, u64),
    take_page: &mut dyn FnMut(&Record<'_>),
) -> Result<Judgement, io::Error> {
    let mut judgement = blank(&subject.name, kind, judging);
    let report = &mut judgement.report;
    let refusal = match kind {
        Kind::Robots => {
            signpost::robots(subject, report)?;
            None
        }
        Kind::Llms => {
            signpost::llms(subject, report)?;
            None
        }
        Kind::Arc => match arc::sitemap(subject, judging, &mut |_, _| {}, report) {
            Ok((n_entries, _)) => {
                judgement.entries = Some(n_entries);
                None
            }
            Err(ArcError::Io(error)) => return Err(error),
            Err(ArcError::Refused(refusal)) => Some(refusal),
            Err(other) => return Err(io::Error::other(other)),
        },
        Kind::ArcPolicy => {
            arc::policy(subject, report)?;
            None
        }
        Kind::SpxiIndex | Kind::SpxiPacket => {
            let is_index = kind == Kind::SpxiIndex;
            let judge = if is_index { spxi::index } else { spxi::packet };
            match judge(subject, judging, report)? {
                Ok(n_entities) => {
                    judgement.entries = Some(n_entities);
                    None
                }
                Err(refusal) => Some(refusal),
            }
        }
        Kind::Sitemap => match signpost::sitemap(subject, take_item, report) {
            Ok(n_entries) => {
                judgement.entries = Some(n_entries);
                None
            }
            Err(SitemapError::Io(error)) => return Err(error),
            Err(SitemapError::Refused(refusal)) => Some(refusal),
            Err(other) => return Err(io::Error::other(other)),
        },
        Kind::Collection => {
            match collection::judge(subject.open, judging, take_page, report) {
                Ok(receipt) => {
                    judgement.receipt = Some(receipt);
                    None
                }
                Err(ReadError::Io(error)) => return Err(error),
                Err(ReadError::Refused(refusal)) => Some(refusal),
                // A way of failing we do not know yet is not the file's fault.
                Err(other) => return Err(io::Error::other(other)),
            }
        }
        Kind::Page | Kind::Twin | Kind::Site => None,
    };
    if let Some(refusal) = refusal {
        judgement.refused = Some(refusal.rule);
        judgement.report.report(Finding::from(refusal));
    }
    Ok(judgement)
}
