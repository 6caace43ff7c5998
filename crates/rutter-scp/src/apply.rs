//! Applies deltas to a snapshot and writes the resulting snapshot.
//!
//! All collections are read in key order in parallel; for each page the deltas are applied in the
//! order of `generated`. Where the deltas are chained to the snapshot (D95), removals are applied
//! and every state is verified.
//!
//! Rejects gaps, inputs of other sections, wrong states, and mass deletions that are not allowed.
//! After a rejection, no file is written.

use std::collections::BTreeSet;
use std::path::Path;

use rutter_page::{LineDigest, PageUrl, Timestamp};

use crate::cursor::{self, CollectionInput, InputOrder, PageCursor};
use crate::diff::MergeError;
use crate::header::{CollectionHeader, CollectionKind, FormatVersion, StateChain};
use crate::limits::Limits;
use crate::merge::{self, DeltaFit, MergeDecision};
use crate::reader::{CollectionReader, ReadOptions, ReaderThreads};
use crate::state::{LinesToHash, SectionState};
use crate::writer::{CollectionWriter, OutputTarget, StateTracking, WrittenCollection};

/// Options of [`apply`].
#[derive(Debug, Clone, Copy)]
pub struct ApplyOptions {
    /// Options for reading the inputs.
    pub options: ReadOptions,
    /// Whether the inputs are assumed to be sorted.
    pub order: InputOrder,
    /// Whether the result includes its state.
    pub track: StateTracking,
    /// Whether more than half of a section may be deleted at once.
    pub mass_deletion: MassDeletionPolicy,
}

/// Whether more than half of a section may be deleted at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MassDeletionPolicy {
    /// Fail with [`MergeError::MassDeletion`].
    Refused,
    /// Delete the pages.
    Allowed,
}

/// Outcome of applying one delta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaOutcome {
    /// Pages and removals were applied, and the state was verified.
    Chained,
    /// Pages were applied; the delta has no chain.
    Plain,
    /// Pages were applied; removals were not, because the delta does not start from the current
    /// state.
    Unlinked,
    /// The delta was not applied, because the snapshot contains all its changes already.
    Covered,
}

/// Result of [`apply`].
#[derive(Debug)]
pub struct ApplySummary {
    /// The written snapshot.
    pub written: WrittenCollection,
    /// Number of each delta among the inputs and its outcome, in the order of application.
    pub deltas: Vec<(usize, DeltaOutcome)>,
    /// Number of inserted pages.
    pub inserted: u64,
    /// Number of pages replaced by later ones.
    pub replaced: u64,
    /// Number of removed pages.
    pub removed: u64,
}

/// Applies `inputs[1..]` to the snapshot `inputs[0]` and writes `target`.
pub fn apply(
    mut inputs: Vec<CollectionInput<'_>>,
    how: ApplyOptions,
    target: &OutputTarget,
    folder: &Path,
) -> Result<ApplySummary, MergeError> {
    let readers = open_all(&mut inputs, how.options)?;
    let headers: Vec<CollectionHeader> =
        readers.iter().map(|reader| reader.header().clone()).collect();
    let steps = plan(&headers, &inputs, how.options)?;
    let mark = steps.last().map_or_else(
        || headers.first().map(|header| header.generated),
        |step| headers.get(step.input).map(|header| header.generated),
    );

    let is_needed = |number| number == 0 || steps.iter().any(|step| step.input == number);
    let (mut cursors, covered) = open_cursors(inputs, readers, is_needed, how.order, folder)?;
    // Cursors in the order of application: the snapshot, then the deltas.
    cursors.sort_by_key(|(number, _)| steps.iter().position(|step| step.input == *number));

    let is_chained = steps.iter().any(|step| step.is_linked);
    let named = headers.first().and_then(|header| header.chain.as_ref());
    let hashing =
        LinesToHash::needed(is_chained || how.track == StateTracking::State, named.is_some());
    let Some(snapshot) = headers.first() else { return Err(MergeError::Empty) };
    let generated = mark.unwrap_or(snapshot.generated);
    let result = |chain: Option<StateChain>| CollectionHeader {
        id: collection_id(&snapshot.section, CollectionKind::Snapshot, generated),
        section: snapshot.section.clone(),
        kind: CollectionKind::Snapshot,
        generated,
        version: FormatVersion::CURRENT,
        checksum: None,
        chain: chain.filter(|_| how.track == StateTracking::State),
        extra: Vec::new(),
    };
    // The chain of a linked delta contains the state of the result, so line 1 can be hashed first.
    let claimed = steps.last().filter(|step| step.is_linked).and_then(|step| step.chain.as_ref());
    let claimed =
        claimed.map(|chain| StateChain { from: None, removed: Vec::new(), ..chain.clone() });
    let mut run = ApplyRun {
        stages: vec![SectionStage::default(); 1 + steps.len()],
        writer: CollectionWriter::with_header(
            folder,
            hashing.tracking(),
            &result(claimed),
            Limits::SPEC,
        )?,
        hashing,
        steps: &steps,
        counts: [0; 3],
    };
    run.walk(&mut cursors)?;
    let ApplyRun { mut stages, writer, counts: [inserted, replaced, removed], .. } = run;
    finish_cursors(cursors, hashing)?;
    add_up(&mut stages, named.map_or(SectionState::EMPTY, |chain| chain.state));
    if hashing != LinesToHash::Nothing {
        prove(&headers, &steps, &stages)?;
    }
    guard(&steps, &stages, how.mass_deletion)?;
    let covered = covered.into_iter().map(|number| (number, DeltaOutcome::Covered));
    let applied = steps.iter().map(|step| (step.input, step.outcome()));
    let deltas = covered.chain(applied).collect();

    let SectionStage { state, pages, .. } = stages.last().copied().unwrap_or_default();
    let chain = StateChain { from: None, state, pages, removed: Vec::new() };
    let spooled = writer.close()?;
    // The states were computed from the changes; compare the last one with the state of the written
    // pages.
    if let Some(found) = spooled.snapshot_chain().filter(|found| found.state != state) {
        return Err(MergeError::State { input: 0, claimed: state, found: found.state });
    }
    let written = spooled.finish(result(Some(chain)), std::slice::from_ref(target))?;
    let written = written.into_iter().next().expect("one target gives one file");
    Ok(ApplySummary { written, deltas, inserted, replaced, removed })
}

/// Cursors of the needed inputs with their numbers, and the numbers of the other inputs.
type OpenedInputs<'i> = (Vec<(usize, PageCursor<'i>)>, Vec<usize>);

/// Opens a cursor for each needed input, and verifies the others.
fn open_cursors<'i>(
    inputs: Vec<CollectionInput<'i>>,
    readers: Vec<CollectionReader>,
    is_needed: impl Fn(usize) -> bool,
    order: InputOrder,
    folder: &Path,
) -> Result<OpenedInputs<'i>, MergeError> {
    let (mut cursors, mut others) = (Vec::new(), Vec::new());
    for (number, (input, reader)) in inputs.into_iter().zip(readers).enumerate() {
        if is_needed(number) {
            let cursor = PageCursor::new(input, reader, order, folder);
            cursors.push((number, cursor.map_err(MergeError::walk(number))?));
        } else {
            let receipt = cursor::verify(reader, input.open, input.sink);
            receipt.map_err(MergeError::read(number))?;
            others.push(number);
        }
    }
    Ok((cursors, others))
}

/// Verifies the inputs, which were read to their end. The state of a chained input with skipped pages
/// cannot be verified.
fn finish_cursors(
    cursors: Vec<(usize, PageCursor<'_>)>,
    hashing: LinesToHash,
) -> Result<(), MergeError> {
    for (input, cursor) in cursors {
        let receipt = cursor.finish().map_err(MergeError::read(input))?;
        let skipped = receipt.tally.skipped;
        if hashing != LinesToHash::Nothing && 0 < skipped && receipt.header.chain.is_some() {
            return Err(MergeError::Skipped { input, skipped });
        }
    }
    Ok(())
}

/// Returns the default id of a collection: section, type and time (D49).
pub fn collection_id(section: &str, kind: CollectionKind, generated: Timestamp) -> String {
    let stamp: String = generated.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    // Truncate long section names, so that the id stays valid.
    let section: String = section.chars().take(200).collect();
    format!("{section}-{}-{stamp}", kind.name())
}

fn open_all(
    inputs: &mut [CollectionInput<'_>],
    options: ReadOptions,
) -> Result<Vec<CollectionReader>, MergeError> {
    let mut readers: Vec<CollectionReader> = Vec::new();
    for (number, input) in inputs.iter_mut().enumerate() {
        // Only the first two inputs get a second thread and its buffers.
        let threads = if number < 2 { options.threads } else { ReaderThreads::One };
        let options = ReadOptions { threads, ..options };
        let reader = cursor::open(input, options).map_err(MergeError::read(number))?;
        let header = reader.header();
        let (kind, wanted) = (header.kind.name(), if number == 0 { "snapshot" } else { "delta" });
        if kind != wanted {
            return Err(MergeError::Kind(number, kind, wanted));
        }
        if let Some(first) = readers.first().map(|first| &first.header().section)
            && *first != header.section
        {
            return Err(MergeError::Section(number, header.section.clone(), first.clone()));
        }
        readers.push(reader);
    }
    Ok(readers)
}

/// A delta to apply.
struct DeltaStep {
    input: usize,
    /// Whether the delta starts from the current state.
    is_linked: bool,
    chain: Option<StateChain>,
    removed: BTreeSet<String>,
}

impl DeltaStep {
    fn outcome(&self) -> DeltaOutcome {
        match (&self.chain, self.is_linked) {
            (None, _) => DeltaOutcome::Plain,
            (Some(_), true) => DeltaOutcome::Chained,
            (Some(_), false) => DeltaOutcome::Unlinked,
        }
    }
}

/// Orders the deltas, drops covered ones, and fails on a gap.
fn plan(
    headers: &[CollectionHeader],
    inputs: &[CollectionInput<'_>],
    options: ReadOptions,
) -> Result<Vec<DeltaStep>, MergeError> {
    let Some(snapshot) = headers.first() else { return Ok(Vec::new()) };
    let mut deltas: Vec<_> = headers.iter().enumerate().skip(1).collect();
    deltas.sort_by_key(|(_, header)| merge::delta_order(header));
    let mut state = snapshot.chain.as_ref().map(|chain| chain.state);
    let is_chained = deltas.iter().any(|(_, header)| header.chain.is_some());
    if state.is_none() && is_chained {
        state = inputs.first().map(|input| state_of(input, options)).transpose()?;
    }
    let mut mark = snapshot.generated;
    let mut steps = Vec::new();
    for (input, header) in deltas {
        let chain = header.chain.clone();
        let from = chain.as_ref().and_then(|chain| chain.from);
        let is_linked = from.is_some() && from == state;
        let since = header.kind.since().unwrap_or(header.generated);
        match merge::fit_delta(mark, since, header.generated) {
            DeltaFit::Covered => continue,
            // Matching states are stronger evidence than times.
            DeltaFit::Gap if !is_linked => return Err(MergeError::Gap { input, mark, since }),
            DeltaFit::Gap | DeltaFit::Applies => mark = header.generated,
        }
        state = chain.as_ref().filter(|_| is_linked).map(|chain| chain.state);
        let listed = chain.iter().flat_map(|chain| &chain.removed);
        let keys = listed.filter_map(|url| PageUrl::parse(url.as_str()).ok());
        let removed = if is_linked {
            keys.map(|url| url.key().to_owned()).collect()
        } else {
            BTreeSet::new()
        };
        steps.push(DeltaStep { input, is_linked, chain, removed });
    }
    Ok(steps)
}

/// Computes the state of a snapshot that does not include it.
fn state_of(input: &CollectionInput<'_>, options: ReadOptions) -> Result<SectionState, MergeError> {
    // The findings of this input are reported in the main pass, so drop them here.
    let mut quiet = CollectionInput { open: input.open, sink: &mut () };
    let mut reader = cursor::open(&mut quiet, options).map_err(MergeError::read(0))?;
    let mut state = SectionState::EMPTY;
    while reader
        .next(quiet.sink, |record| state.add(record.page.url.key(), record.digest()))
        .map_err(MergeError::read(0))?
        .is_some()
    {}
    Ok(state)
}

/// State of the section after the snapshot or after one of the deltas.
#[derive(Debug, Clone, Copy, Default)]
struct SectionStage {
    /// State of the section. During the main pass, the sum of the changes of this stage only.
    state: SectionState,
    pages: u64,
    removed: u64,
}

struct ApplyRun<'s> {
    stages: Vec<SectionStage>,
    writer: CollectionWriter,
    hashing: LinesToHash,
    steps: &'s [DeltaStep],
    /// Numbers of inserted, replaced and removed pages.
    counts: [u64; 3],
}

impl ApplyRun<'_> {
    fn walk(&mut self, cursors: &mut [(usize, PageCursor<'_>)]) -> Result<(), MergeError> {
        let (mut live, mut here) = (Vec::new(), Vec::new());
        for (number, cursor) in cursors.iter_mut() {
            live.push(cursor.advance().map_err(MergeError::walk(*number))?);
        }
        loop {
            let waiting = cursors.iter().zip(&live).filter(|(_, live)| **live);
            let Some(key) = waiting.map(|((_, cursor), _)| &cursor.entry().key).min() else {
                return Ok(());
            };
            here.clear();
            here.extend(
                cursors
                    .iter()
                    .zip(&live)
                    .map(|((_, cursor), live)| *live && cursor.entry().key == *key),
            );
            self.page(key, cursors, &here)?;
            for ((number, cursor), (live, here)) in
                cursors.iter_mut().zip(live.iter_mut().zip(&here))
            {
                if *here {
                    *live = cursor.advance().map_err(MergeError::walk(*number))?;
                }
            }
        }
    }

    /// Applies all stages to one page and writes the result.
    fn page(
        &mut self,
        key: &str,
        cursors: &[(usize, PageCursor<'_>)],
        here: &[bool],
    ) -> Result<(), MergeError> {
        // Index of the cursor that currently provides the page.
        let mut local: Option<usize> = None;
        let entry = |at: usize| cursors.get(at).map(|(_, cursor)| cursor.entry());
        for (at, is_here) in here.iter().enumerate() {
            let before = local;
            if let Some(incoming) = entry(at).filter(|_| *is_here) {
                let modified = local.and_then(entry).map(|entry| entry.modified);
                let merge = merge::decide_delta_page(modified, incoming.modified);
                if merge != MergeDecision::Keep {
                    local = Some(at);
                }
                if 0 < at {
                    let [inserted, replaced, _] = &mut self.counts;
                    *inserted += u64::from(merge == MergeDecision::Insert);
                    *replaced += u64::from(merge == MergeDecision::Replace);
                }
            }
            let Some(stage) = self.stages.get_mut(at) else { continue };
            let step = at.checked_sub(1).and_then(|step| self.steps.get(step));
            if local.is_some() && step.is_some_and(|step| step.removed.contains(key)) {
                local = None;
                stage.removed += 1;
                let [_, _, removed] = &mut self.counts;
                *removed += 1;
            }
            stage.pages += u64::from(local.is_some());
            let is_hashed = match self.hashing {
                LinesToHash::Nothing => false,
                LinesToHash::Changes => 0 < at,
                LinesToHash::Everything => true,
            };
            if is_hashed && before != local {
                if let Some(old) = before.and_then(entry) {
                    stage.state.remove(key, LineDigest::of(&old.line));
                }
                if let Some(new) = local.and_then(entry) {
                    stage.state.add(key, LineDigest::of(&new.line));
                }
            }
        }
        if let Some(entry) = local.and_then(entry) {
            self.writer.line(key, &entry.line)?;
        }
        Ok(())
    }
}

/// Converts the changes of each stage into the state after it.
fn add_up(stages: &mut [SectionStage], base: SectionState) {
    let mut state = base;
    for stage in stages {
        state = state.plus(stage.state);
        stage.state = state;
    }
}

/// Compares the states in line 1 of all collections with the computed states.
fn prove(
    headers: &[CollectionHeader],
    steps: &[DeltaStep],
    stages: &[SectionStage],
) -> Result<(), MergeError> {
    let named = steps.iter().map(|step| (step.input, step.is_linked));
    for ((input, is_linked), stage) in [(0, true)].into_iter().chain(named).zip(stages) {
        let chain = headers.get(input).and_then(|header| header.chain.as_ref());
        let Some(chain) = chain.filter(|_| is_linked) else { continue };
        if chain.state != stage.state || chain.pages != stage.pages {
            let (claimed, found) = (chain.state, stage.state);
            return Err(MergeError::State { input, claimed, found });
        }
    }
    Ok(())
}

fn guard(
    steps: &[DeltaStep],
    stages: &[SectionStage],
    allowed: MassDeletionPolicy,
) -> Result<(), MergeError> {
    if allowed == MassDeletionPolicy::Allowed {
        return Ok(());
    }
    for (step, pair) in steps.iter().zip(stages.windows(2)) {
        let [before, after] = pair else { continue };
        if merge::is_mass_deletion(before.pages, after.removed) {
            let (deleted, pages) = (after.removed, before.pages);
            return Err(MergeError::MassDeletion { input: step.input, deleted, pages });
        }
    }
    Ok(())
}
