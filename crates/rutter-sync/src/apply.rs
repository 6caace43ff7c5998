//! A spool becomes part of the replica, or nothing does.
//!
//! Line 1 is held against its advert, pages go to a staging as the reader
//! lends them, and only the reader's receipt lets the staging be committed.
//! Blocking: whoever calls it gives it a thread.
//!
//! Refuses: what contradicts its advert, comes from the future or is a replay,
//! does not start where the section stands, or deletes too much at once.

use std::fs::File;
use std::path::Path;

use rutter_finding::{Finding, FindingSink, Mode as Judging, Place, Refusal, Report, quoted};
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::advert::{self, Collection};
use rutter_scp::merge::{self, Age, Fit};
use rutter_scp::{Limits, MassDeletion, Options, ReadError, Reader, Receipt, Threads, rules};
use rutter_store::{
    Begin, Cause, Claim, CommitError, Finish, Item, Lease, Mode, Outlook, Quota, Section, Source,
    StageError, Staging, Store, Validator, links,
};

use crate::gate::Gate;
use crate::keys::Keys;

/// What is to be applied, and on which conditions.
pub(crate) struct Applying<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) lease: &'a Lease,
    pub(crate) gate: &'a Gate,
    /// What the sitemap says of it.
    pub(crate) advert: &'a Collection,
    pub(crate) path: &'a Path,
    pub(crate) length: u64,
    pub(crate) validators: &'a rutter_fetch::Validators,
    pub(crate) quota: Quota,
    pub(crate) mass_deletion: MassDeletion,
    /// Sections that are no longer followed, once this is in.
    pub(crate) unfollow: &'a [String],
    /// Whether a chain that does not hold was met before: then deltas are
    /// taken as a plain publisher's.
    pub(crate) is_plain: bool,
    pub(crate) now: Timestamp,
}

/// What was applied.
#[derive(Debug)]
pub(crate) struct Applied {
    /// `None` where it holds nothing new.
    pub(crate) outlook: Option<Outlook>,
    pub(crate) findings: Report,
    /// The pages it holds, and those it names as removed.
    pub(crate) brought: Keys,
    pub(crate) removed: Keys,
    pub(crate) is_snapshot: bool,
    /// Removals of a delta that were ignored, because nothing proves them.
    pub(crate) n_ignored: u64,
}

impl Applied {
    /// A collection without anything new.
    fn nothing(findings: Report) -> Self {
        Self {
            outlook: None,
            findings,
            brought: Keys::default(),
            removed: Keys::default(),
            is_snapshot: false,
            n_ignored: 0,
        }
    }
}

/// Whether pages that a delta names as removed are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removals {
    /// They are; where the delta does not start from the state of the section,
    /// only if its own state is proved.
    Taken,
    /// They are not: nothing proves them.
    Ignored,
}

/// Why nothing was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("generated {0}, which is in the future")]
    Future(Timestamp),
    #[error("generated {0}, which is so long ago that it may be a replay")]
    Past(Timestamp),
    #[error("changes before {0} are missing: a snapshot is needed")]
    Gap(Timestamp),
    #[error("the delta does not start from the state of the section: a snapshot is needed")]
    Broken,
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Query(#[from] rutter_store::QueryError),
}

/// Verifies a spool and commits it.
///
/// A delta whose `from` is not our state is applied like a plain one, which
/// removes nothing, unless its `state` comes out with its removals (D95).
pub(crate) fn apply(job: &Applying<'_>) -> Result<Applied, ApplyError> {
    match apply_with(job, Removals::Taken)? {
        Some(applied) => Ok(applied),
        None => apply_with(job, Removals::Ignored)?.ok_or(ApplyError::Broken),
    }
}

/// The same; `None` where the removals are not proved and have to be ignored.
fn apply_with(job: &Applying<'_>, removals: Removals) -> Result<Option<Applied>, ApplyError> {
    let mut findings = Report::new(Judging::Lenient);
    let mut reader = open(job, &mut findings)?;
    let header = reader.header().clone();
    advert::compare(job.advert, &header, None, &mut findings)?;
    match merge::age(header.generated, job.now) {
        Age::Fine => {}
        Age::Future => return Err(ApplyError::Future(header.generated)),
        Age::Past => return Err(ApplyError::Past(header.generated)),
    }
    let before = section(job, &header.section)?;
    let chain = header.chain.as_ref();
    let is_linked = before.as_ref().zip(chain).is_some_and(|(before, chain)| links(before, chain));
    if let Some(since) = header.kind.since() {
        let Some(before) = &before else { return Err(ApplyError::Gap(since)) };
        match merge::fit(before.mark, since, header.generated) {
            Fit::Covered => {
                return Ok(Some(Applied::nothing(findings)));
            }
            Fit::Gap => return Err(ApplyError::Gap(since)),
            Fit::Applies => {}
        }
        if chain.is_some() && before.is_proved && !is_linked && !job.is_plain {
            return Err(ApplyError::Broken);
        }
    }
    let mut staging = job.store.stage(
        job.lease,
        Begin {
            section: &header.section,
            mode: if header.kind.since().is_some() { Mode::Delta } else { Mode::Snapshot },
            generated: header.generated,
            source: Source::Scp,
            quota: job.quota,
            now: job.now,
        },
    )?;
    let brought = fill(job, &mut reader, staging.as_mut(), &mut findings)?;
    let mut removed = Keys::default();
    let gone = chain.map_or(&[][..], |chain| &chain.removed);
    let taken = if removals == Removals::Taken { gone } else { &[] };
    for url in taken {
        match PageUrl::parse(url.as_str()) {
            Ok(url) if job.gate.is_ours(url.key()) => {
                removed.insert(url.key());
                staging.remove(url.key(), Cause::Removed)?;
            }
            _ => findings.report(Finding::new(&rules::ADVERT_DIFFERS, Place::line(1), quoted(url))),
        }
    }
    for section in job.unfollow {
        staging.unfollow(section)?;
    }
    let receipt = reader.finish_again(|| File::open(job.path), &mut findings)?;
    advert::compare(job.advert, &header, Some(&receipt), &mut findings)?;
    hint(job, &receipt, &mut findings);
    let mut finish = Finish::of_receipt(&job.advert.url, &receipt, before.as_ref(), job.now);
    finish.mass_deletion = job.mass_deletion;
    finish.validator = Some(Validator {
        url: job.advert.url.clone(),
        etag: job.validators.etag.clone(),
        last_modified: job.validators.last_modified.clone(),
        checked: job.now,
    });
    // A state cannot be proved over pages that could not be read.
    if 0 < receipt.tally.skipped {
        finish.claim = None;
    }
    let is_snapshot = header.kind.since().is_none();
    if let Some(chain) = chain.filter(|_| !is_snapshot && !is_linked) {
        let claim = Claim { state: chain.state, pages: chain.pages };
        let outlook = staging.outlook(Some(&claim))?;
        let is_proved = outlook.state == claim.state && outlook.after == claim.pages;
        if is_proved && receipt.tally.skipped == 0 {
            finish.claim = Some(claim);
        } else if !taken.is_empty() {
            return Ok(None);
        }
    }
    let outlook = staging.commit(&finish)?;
    let n_ignored = (gone.len() - taken.len()) as u64;
    Ok(Some(Applied { outlook: Some(outlook), findings, brought, removed, is_snapshot, n_ignored }))
}

/// Opens a spool.
pub(crate) fn open(job: &Applying<'_>, sink: &mut dyn FindingSink) -> Result<Reader, ReadError> {
    let file = File::open(job.path)?;
    let limits = Limits::DEFAULT;
    Reader::open(file, Options { limits, size: Some(job.length), threads: Threads::Two }, sink)
}

fn section(job: &Applying<'_>, name: &str) -> Result<Option<Section>, ApplyError> {
    let sections = job.store.sections(job.lease.publisher)?;
    Ok(sections.into_iter().find(|section| section.name == name))
}

/// Hands every page over, without its words where the gate says so; gives
/// their keys.
pub(crate) fn fill(
    job: &Applying<'_>,
    reader: &mut Reader,
    staging: &mut dyn Staging,
    sink: &mut dyn FindingSink,
) -> Result<Keys, ApplyError> {
    let mut keys = Keys::default();
    while let Some(mut batch) = reader.batch(sink)? {
        while let Some(record) = batch.next_page(sink)? {
            let mut item = Item::of_record(&record);
            item.withheld = job.gate.judge_page(item.key, item.language);
            if !keys.insert(item.key) {
                let place = Place::pointer(record.line, "/url");
                sink.report(Finding::new(&rules::DUPLICATE_PAGE, place, quoted(item.key)));
            }
            staging.add(&item)?;
        }
    }
    Ok(keys)
}

/// A tag that holds a checksum is a second look (SCP-165); other servers use
/// other tags, so a difference is only told.
fn hint(job: &Applying<'_>, receipt: &Receipt, sink: &mut dyn FindingSink) {
    let claimed = job.validators.digest();
    if claimed.is_some_and(|claimed| Some(claimed) != receipt.header.checksum) {
        let detail = "the ETag holds another checksum than line 1";
        sink.report(Finding::new(&rules::ADVERT_DIFFERS, Place::line(1), detail));
    }
}
