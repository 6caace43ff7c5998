//! The rulebook: judges artefacts and says what it found.
//!
//! A [`Subject`] is what is judged, for now one file at a time; [`check`]
//! sees what it is and makes a [`Judgement`] of it. [`check_spxi_folder`] judges
//! an SPXI index with the site it describes. An [`Outcome`] is what a run has to
//! tell; [`mod@format`] turns it into text for people and programs, with the lines
//! that [`excerpt`] took. [`baseline`] knows what was found before, [`registry`]
//! every rule there is, [`explain`] their examples.
//!
//! Refuses: to call a file unreadable that is merely wrong. A wrong file gets
//! findings; only a file that could not be had is an error.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod arc;
pub mod baseline;
mod collection;
pub mod excerpt;
pub mod explain;
pub mod fingerprint;
pub mod format;
pub mod layer;
mod locate;
pub mod outcome;
pub mod overview;
pub mod registry;
mod signpost;
mod spxi;
mod spxi_folder;
mod survive_folder;

use std::io;

use rutter_arc::ArcError;
use rutter_finding::{Finding, FindingSink, Mode, Report, Rule, Verdict};
use rutter_page::Timestamp;
use rutter_scp::advert::Collection;
use rutter_scp::{Limits, Opener, ReadError, Receipt};
use rutter_signpost::sitemap::SitemapError;

pub use outcome::{Judged, Outcome};
pub use overview::Overview;
pub use spxi_folder::{MarkerFinder, SpxiFolder, check_spxi_folder};
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
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Judgement {
    /// What was judged.
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
    /// Accepted or rejected; what is refused stays so, whatever is ignored.
    pub fn verdict(&self) -> Verdict {
        if self.refused.is_some() { Verdict::Rejected } else { self.report.verdict() }
    }
}

/// Sees what a file is, and judges it.
///
/// robots.txt and llms.txt are known by their names, sitemaps by their root,
/// files of ARC and SPXI by either; everything else is taken for a collection.
pub fn check(subject: &Subject<'_>, judging: &Judging) -> Result<Judgement, io::Error> {
    let mut judgement = Judgement {
        name: subject.name.clone(),
        kind: signpost::kind(subject)?,
        report: Report::new(judging.mode),
        refused: None,
        receipt: None,
        entries: None,
    };
    let report = &mut judgement.report;
    let refusal = match judgement.kind {
        Kind::Robots => {
            signpost::robots(subject, report)?;
            None
        }
        Kind::Llms => {
            signpost::llms(subject, report)?;
            None
        }
        Kind::Arc => match arc::sitemap(subject, judging, report) {
            Ok(n_entries) => {
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
            let is_index = judgement.kind == Kind::SpxiIndex;
            let judge = if is_index { spxi::index } else { spxi::packet };
            match judge(subject, judging, report)? {
                Ok(n_entities) => {
                    judgement.entries = Some(n_entities);
                    None
                }
                Err(refusal) => Some(refusal),
            }
        }
        Kind::Sitemap => match signpost::sitemap(subject, report) {
            Ok(n_entries) => {
                judgement.entries = Some(n_entries);
                None
            }
            Err(SitemapError::Io(error)) => return Err(error),
            Err(SitemapError::Refused(refusal)) => Some(refusal),
            Err(other) => return Err(io::Error::other(other)),
        },
        Kind::Collection => match collection::judge(subject.open, judging, report) {
            Ok(receipt) => {
                judgement.receipt = Some(receipt);
                None
            }
            Err(ReadError::Io(error)) => return Err(error),
            Err(ReadError::Refused(refusal)) => Some(refusal),
            // A way of failing we do not know yet is not the file's fault.
            Err(other) => return Err(io::Error::other(other)),
        },
    };
    if let Some(refusal) = refusal {
        judgement.refused = Some(refusal.rule);
        judgement.report.report(Finding::from(refusal));
    }
    Ok(judgement)
}
