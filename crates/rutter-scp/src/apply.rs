//! Applies deltas to a snapshot and writes the snapshot that results.
//!
//! All collections are walked in key order at once; for every page the deltas
//! are applied in the order of their `generated`. Where the deltas are chained
//! to the snapshot (D95), removals are applied and every state is proved.
//!
//! Refuses: gaps, other sections, states that do not come out, and mass
//! deletions nobody asked for. Nothing is written then.

use std::collections::BTreeSet;
use std::path::Path;

use rutter_page::{LineDigest, PageUrl, Timestamp};

use crate::cursor::{self, Cursor, Input, Order};
use crate::diff::MergeError;
use crate::header::{Chain, Header, Kind, Version};
use crate::limits::Limits;
use crate::merge::{self, Fit, Merge};
use crate::reader::{Options, Reader, Threads};
use crate::state::{Hashing, State};
use crate::writer::{Target, Track, Writer, Written};

/// How collections are brought together.
#[derive(Debug, Clone, Copy)]
pub struct Applying {
    /// How they are read.
    pub options: Options,
    /// Whether they are taken to be sorted.
    pub order: Order,
    /// Whether the result carries its state.
    pub track: Track,
    /// Whether more than half of a section may go at once.
    pub mass_deletion: MassDeletion,
}

/// Whether more than half of a section may go at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MassDeletion {
    /// Stop and ask.
    Refused,
    /// It is meant.
    Allowed,
}

/// What became of a delta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Its pages were applied; its removals too, and its state was proved.
    Chained,
    /// Its pages were applied.
    Plain,
    /// Its pages were applied; its removals were not, because it does not
    /// start from the state we are in.
    Unlinked,
    /// Everything in it was there already.
    Covered,
}

/// What applying did.
#[derive(Debug)]
pub struct Applied {
    /// The snapshot that was written.
    pub written: Written,
    /// The deltas by their input number, in the order they were applied.
    pub deltas: Vec<(usize, Fate)>,
    /// Pages inserted, replaced, removed.
    pub inserted: u64,
    /// Pages replaced by later ones.
    pub replaced: u64,
    /// Pages removed.
    pub removed: u64,
}

/// Applies `inputs[1..]` to the snapshot `inputs[0]` and writes `target`.
pub fn apply(
    mut inputs: Vec<Input<'_>>,
    how: Applying,
    target: &Target,
    folder: &Path,
) -> Result<Applied, MergeError> {
    let readers = open_all(&mut inputs, how.options)?;
    let headers: Vec<Header> = readers.iter().map(|reader| reader.header().clone()).collect();
    let steps = plan(&headers, &inputs, how.options)?;
    let mark = steps.last().map_or_else(
        || headers.first().map(|header| header.generated),
        |step| headers.get(step.input).map(|header| header.generated),
    );

    let mut cursors = Vec::new();
    let mut fates = Vec::new();
    for (number, (input, reader)) in inputs.into_iter().zip(readers).enumerate() {
        let is_used = number == 0 || steps.iter().any(|step| step.input == number);
        if is_used {
            let cursor = Cursor::new(input, reader, how.order, folder);
            cursors.push((number, cursor.map_err(MergeError::walk(number))?));
        } else {
            // Not needed, but a file that is named is a file that verifies.
            let receipt = cursor::verify(reader, input.open, input.sink);
            receipt.map_err(MergeError::read(number))?;
            fates.push((number, Fate::Covered));
        }
    }
    // Cursors in the order of application: the snapshot, then the steps.
    cursors.sort_by_key(|(number, _)| steps.iter().position(|step| step.input == *number));

    let is_chained = steps.iter().any(|step| step.links);
    let named = headers.first().and_then(|header| header.chain.as_ref());
    let hashing = Hashing::needed(is_chained || how.track == Track::State, named.is_some());
    let Some(snapshot) = headers.first() else { return Err(MergeError::Empty) };
    let generated = mark.unwrap_or(snapshot.generated);
    let result = |chain: Option<Chain>| Header {
        id: collection_id(&snapshot.section, Kind::Snapshot, generated),
        section: snapshot.section.clone(),
        kind: Kind::Snapshot,
        generated,
        version: Version::CURRENT,
        checksum: None,
        chain: chain.filter(|_| how.track == Track::State),
        extra: Vec::new(),
    };
    // A chain that links says where it ends, so line 1 can be hashed first.
    let claimed = steps.last().filter(|step| step.links).and_then(|step| step.chain.as_ref());
    let claimed = claimed.map(|chain| Chain { from: None, removed: Vec::new(), ..chain.clone() });
    let track = if hashing == Hashing::Nothing { Track::Nothing } else { Track::State };
    let mut run = Run {
        stages: vec![Stage::default(); 1 + steps.len()],
        writer: Writer::with_header(folder, track, &result(claimed), Limits::SPEC)?,
        hashing,
        steps: &steps,
        counts: [0; 3],
    };
    run.walk(&mut cursors)?;
    let Run { mut stages, writer, counts: [inserted, replaced, removed], .. } = run;
    for (input, cursor) in cursors {
        let receipt = cursor.finish().map_err(MergeError::read(input))?;
        let skipped = receipt.tally.skipped;
        if hashing != Hashing::Nothing && 0 < skipped && receipt.header.chain.is_some() {
            return Err(MergeError::Skipped { input, skipped });
        }
    }
    add_up(&mut stages, named.map_or(State::EMPTY, |chain| chain.state));
    if hashing != Hashing::Nothing {
        prove(&headers, &steps, &stages)?;
    }
    guard(&steps, &stages, how.mass_deletion)?;
    for step in &steps {
        fates.push((step.input, step.fate()));
    }

    let Stage { state, pages, .. } = stages.last().copied().unwrap_or_default();
    let chain = Chain { from: None, state, pages, removed: Vec::new() };
    let spooled = writer.close()?;
    // The stages followed the changes; this is what the pages themselves give.
    if let Some(found) = spooled.snapshot_chain().filter(|found| found.state != state) {
        return Err(MergeError::State { input: 0, claimed: state, found: found.state });
    }
    let written = spooled.finish(result(Some(chain)), std::slice::from_ref(target))?;
    let written = written.into_iter().next().expect("one target gives one file");
    Ok(Applied { written, deltas: fates, inserted, replaced, removed })
}

/// The customary id of a collection: section, kind, moment (D49).
pub fn collection_id(section: &str, kind: Kind, generated: Timestamp) -> String {
    let stamp: String = generated.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    // A long section's name is cut, so that the id stays a name.
    let section: String = section.chars().take(200).collect();
    format!("{section}-{}-{stamp}", kind.name())
}

fn open_all(inputs: &mut [Input<'_>], options: Options) -> Result<Vec<Reader>, MergeError> {
    let mut readers: Vec<Reader> = Vec::new();
    for (number, input) in inputs.iter_mut().enumerate() {
        // A thread and its buffers for the two that matter, not for thirty.
        let threads = if number < 2 { options.threads } else { Threads::One };
        let options = Options { threads, ..options };
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

/// One delta that is applied.
struct Step {
    input: usize,
    /// Whether it starts from the state we are in.
    links: bool,
    chain: Option<Chain>,
    removed: BTreeSet<String>,
}

impl Step {
    fn fate(&self) -> Fate {
        match (&self.chain, self.links) {
            (None, _) => Fate::Plain,
            (Some(_), true) => Fate::Chained,
            (Some(_), false) => Fate::Unlinked,
        }
    }
}

/// Orders the deltas, leaves out what is covered, stops at a gap.
fn plan(
    headers: &[Header],
    inputs: &[Input<'_>],
    options: Options,
) -> Result<Vec<Step>, MergeError> {
    let Some(snapshot) = headers.first() else { return Ok(Vec::new()) };
    let mut deltas: Vec<_> = headers.iter().enumerate().skip(1).collect();
    deltas.sort_by_key(|(_, header)| merge::order(header));
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
        let links = from.is_some() && from == state;
        let since = header.kind.since().unwrap_or(header.generated);
        match merge::fit(mark, since, header.generated) {
            Fit::Covered => continue,
            // States are better evidence than times.
            Fit::Gap if !links => return Err(MergeError::Gap { input, mark, since }),
            Fit::Gap | Fit::Applies => mark = header.generated,
        }
        state = chain.as_ref().filter(|_| links).map(|chain| chain.state);
        let listed = chain.iter().flat_map(|chain| &chain.removed);
        let keys = listed.filter_map(|url| PageUrl::parse(url.as_str()).ok());
        let removed =
            if links { keys.map(|url| url.key().to_owned()).collect() } else { BTreeSet::new() };
        steps.push(Step { input, links, chain, removed });
    }
    Ok(steps)
}

/// Reads a snapshot that does not name its state, just to know it.
fn state_of(input: &Input<'_>, options: Options) -> Result<State, MergeError> {
    // Its findings are reported when it is walked.
    let mut quiet = Input { open: input.open, sink: &mut () };
    let mut reader = cursor::open(&mut quiet, options).map_err(MergeError::read(0))?;
    let mut state = State::EMPTY;
    while reader
        .next(quiet.sink, |record| state.add(record.page.url.key(), record.digest()))
        .map_err(MergeError::read(0))?
        .is_some()
    {}
    Ok(state)
}

/// The section after the snapshot, or after one of the steps.
#[derive(Debug, Clone, Copy, Default)]
struct Stage {
    /// While walking, only what this stage adds and takes away.
    state: State,
    pages: u64,
    removed: u64,
}

struct Run<'s> {
    stages: Vec<Stage>,
    writer: Writer,
    hashing: Hashing,
    steps: &'s [Step],
    /// Inserted, replaced, removed.
    counts: [u64; 3],
}

impl Run<'_> {
    fn walk(&mut self, cursors: &mut [(usize, Cursor<'_>)]) -> Result<(), MergeError> {
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

    /// Brings one page through all stages and writes what is left of it.
    fn page(
        &mut self,
        key: &str,
        cursors: &[(usize, Cursor<'_>)],
        here: &[bool],
    ) -> Result<(), MergeError> {
        // The cursor the page now comes from.
        let mut local: Option<usize> = None;
        let entry = |at: usize| cursors.get(at).map(|(_, cursor)| cursor.entry());
        for (at, is_here) in here.iter().enumerate() {
            let before = local;
            if let Some(incoming) = entry(at).filter(|_| *is_here) {
                let modified = local.and_then(entry).map(|entry| entry.modified);
                let merge = merge::delta(modified, incoming.modified);
                if merge != Merge::Keep {
                    local = Some(at);
                }
                if 0 < at {
                    let [inserted, replaced, _] = &mut self.counts;
                    *inserted += u64::from(merge == Merge::Insert);
                    *replaced += u64::from(merge == Merge::Replace);
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
                Hashing::Nothing => false,
                Hashing::Changes => 0 < at,
                Hashing::Everything => true,
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

/// Turns what each stage changed into the state after it.
fn add_up(stages: &mut [Stage], base: State) {
    let mut state = base;
    for stage in stages {
        state = state.plus(stage.state);
        stage.state = state;
    }
}

/// Compares every state that the line 1s name with what the pages gave.
fn prove(headers: &[Header], steps: &[Step], stages: &[Stage]) -> Result<(), MergeError> {
    let named = steps.iter().map(|step| (step.input, step.links));
    for ((input, links), stage) in [(0, true)].into_iter().chain(named).zip(stages) {
        let chain = headers.get(input).and_then(|header| header.chain.as_ref());
        let Some(chain) = chain.filter(|_| links) else { continue };
        if chain.state != stage.state || chain.pages != stage.pages {
            let (claimed, found) = (chain.state, stage.state);
            return Err(MergeError::State { input, claimed, found });
        }
    }
    Ok(())
}

fn guard(steps: &[Step], stages: &[Stage], allowed: MassDeletion) -> Result<(), MergeError> {
    if allowed == MassDeletion::Allowed {
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
