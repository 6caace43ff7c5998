//! The rulebook: judges artefacts and says what it found.
//!
//! A [`Subject`] is what is judged, for now one file at a time; [`check`]
//! makes a [`Judgement`] of it; [`mod@format`] turns judgements into text for
//! people and programs. [`registry`] knows every rule there is.
//!
//! Refuses: to call a file unreadable that is merely wrong. A wrong file gets
//! findings; only a file that could not be had is an error.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod collection;
pub mod format;
pub mod registry;

use std::io;

use rutter_finding::{Finding, FindingSink, Mode, Report, Rule, Verdict};
use rutter_page::Timestamp;
use rutter_scp::advert::Collection;
use rutter_scp::{Limits, Opener, ReadError, Receipt};

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

/// What came of it.
#[derive(Debug)]
pub struct Judgement {
    /// What was judged.
    pub name: String,
    /// Everything that was found.
    pub report: Report,
    /// The rule that refused the file as a whole.
    pub refused: Option<&'static Rule>,
    /// Present where the file was read to its end and verified.
    pub receipt: Option<Receipt>,
}

impl Judgement {
    /// Accepted or rejected.
    pub fn verdict(&self) -> Verdict {
        self.report.verdict()
    }
}

/// Judges a collection.
pub fn check(subject: &Subject<'_>, judging: &Judging) -> Result<Judgement, io::Error> {
    let mut report = Report::new(judging.mode);
    let outcome = collection::judge(subject.open, judging, &mut report);
    let (refused, receipt) = match outcome {
        Ok(receipt) => (None, Some(receipt)),
        Err(ReadError::Io(error)) => return Err(error),
        Err(ReadError::Refused(refusal)) => {
            let rule = refusal.rule;
            report.report(Finding::from(refusal));
            (Some(rule), None)
        }
        // A way of failing we do not know yet is not the file's fault.
        Err(other) => return Err(io::Error::other(other)),
    };
    Ok(Judgement { name: subject.name.clone(), report, refused, receipt })
}
