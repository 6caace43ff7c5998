//! Counts records into a [`Summary`], in bounded memory.
//!
//! Every record goes to the row of its agent and there to the cell of its
//! artefact. Two tables look back: one by client, agent and target, for what
//! was read again in vain; one by client and agent, for what collections would
//! have saved. Both forget what was not used for a while.
//!
//! **Read again in vain** is a GET that was answered with 200 and some bytes,
//! where the last answer to the same client, agent and target was a 200 with
//! the same number of bytes, at most [`Settings::window`] before, and that
//! client never got a 304 for it. That is evidence, not proof: a page may
//! change and keep its size, and a compressed answer may differ in size
//! without a change. A crawler with many addresses is many clients here, so
//! the figure is rather too low.
//!
//! **Conditional requests** would have saved the bytes of those answers; the
//! number of requests stays.
//!
//! **Collections**: a reader that took `n` pages with `b` bytes on `d`
//! different days (UTC) could have taken all `f` files of size `s` on each of
//! these days. It counts where `f·d < n` and `s·d < b`, with `n − f·d` requests
//! and `b − s·d` bytes. Deltas and 304 would make it less still. Which files
//! there are is told, or seen in the log: of each snapshot, dates in its name
//! left out, the largest answer of its smallest coding.
//!
//! Refuses: to estimate where nothing is known of collections.

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::agents::{Class, Known, all, recognise};
use crate::artefact::{Artefact, path};
use crate::bounded::{Distinct, Prints, Recent, Seed};
use crate::parse::Broken;
use crate::record::Record;
use crate::summary::{Cell, Collected, Dropped, Row, Savings, Summary};

/// Which requests count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Only this agent, or this kind of client; in any case.
    pub agent: Option<String>,
}

impl Filter {
    /// Tells whether a request counts.
    pub fn takes(&self, record: &Record<'_>, known: Known) -> bool {
        self.since.is_none_or(|since| since <= record.time)
            && self.until.is_none_or(|until| record.time < until)
            && self.agent.as_ref().is_none_or(|agent| {
                agent.eq_ignore_ascii_case(known.name())
                    || agent.eq_ignore_ascii_case(known.class.name())
            })
    }
}

/// Files that hold a site together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collections {
    /// How many there are.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// How far a tally looks back, and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Seconds for which an answer counts as still known to its client.
    pub window: i64,
    /// Pairs of client and target that are remembered.
    pub fetches: usize,
    /// Readers that are remembered.
    pub readers: usize,
    /// Up to how many different targets of a cell are counted exactly.
    pub distinct: usize,
    /// Snapshots of the site, where the log need not be asked for them.
    pub collections: Option<Collections>,
}

impl Settings {
    /// A week; tables that take about 25 MB when full.
    pub const USUAL: Self = Self {
        window: 7 * 86_400,
        fetches: 1 << 18,
        readers: 1 << 15,
        distinct: 1024,
        collections: None,
    };
}

/// The last full answer to a client.
#[derive(Debug)]
struct Fetch {
    seconds: i64,
    bytes: u64,
    has_asked: bool,
}

/// What a client took of an AI agent's pages.
#[derive(Debug, Default)]
struct Reading {
    pages: u64,
    bytes: u64,
    days: u64,
    last_day: i64,
}

#[derive(Debug)]
struct Count {
    cell: Cell,
    distinct: Distinct,
}

#[derive(Debug, Default)]
struct Counts {
    errors: BTreeMap<u16, u64>,
    cells: [Option<Box<Count>>; Artefact::ALL.len()],
}

/// Counts records.
#[derive(Debug)]
pub struct Tally {
    settings: Settings,
    filter: Filter,
    /// One for each agent, then one for each class.
    rows: Vec<Counts>,
    fetches: Recent<Fetch>,
    readers: Recent<Reading>,
    /// Sizes of snapshots: plain, gzip, zstd.
    snapshots: BTreeMap<String, [Option<u64>; 3]>,
    seen: Prints<Known>,
    seed: Seed,
    requests: u64,
    bytes: u64,
    span: Option<(Timestamp, Timestamp)>,
    left_out: u64,
    broken: BTreeMap<Broken, u64>,
}

impl Tally {
    /// User agents that are remembered with what they were recognised as.
    const SEEN: usize = 16_384;
    /// Snapshots whose sizes are remembered.
    const SNAPSHOTS: usize = 256;

    /// An empty tally.
    pub fn new(settings: Settings, filter: Filter) -> Self {
        let n_rows = all().len() + Class::ALL.len();
        Self {
            fetches: Recent::new(settings.fetches),
            readers: Recent::new(settings.readers),
            settings,
            filter,
            rows: std::iter::repeat_with(Counts::default).take(n_rows).collect(),
            snapshots: BTreeMap::new(),
            seen: Prints::default(),
            seed: Seed::random(),
            requests: 0,
            bytes: 0,
            span: None,
            left_out: 0,
            broken: BTreeMap::new(),
        }
    }

    /// Counts a line that is no request.
    pub fn broken(&mut self, why: Broken) {
        *self.broken.entry(why).or_default() += 1;
    }

    /// Counts a request; tells whether the filter let it through.
    pub fn see(&mut self, record: &Record<'_>) -> bool {
        let known = self.recognise(record.user_agent.as_deref().unwrap_or_default());
        let is_request = !record.method.is_empty();
        let artefact = if is_request { Artefact::of(&record.target) } else { Artefact::Other };
        let is_full = &*record.method == "GET" && record.status == 200;
        if is_full && artefact == Artefact::ScpSnapshot {
            // Whoever fetched it: its size is the same for all.
            self.measure(record);
        }
        if !self.filter.takes(record, known) {
            self.left_out += 1;
            return false;
        }
        let is_again = &*record.method == "GET" && self.is_again(record, known);
        self.count(record, known, artefact, is_again);
        if is_full && artefact == Artefact::Page && known.class == Class::Ai {
            self.remember(record, known);
        }
        true
    }

    /// Everything that was counted.
    pub fn finish(self) -> Summary {
        let n_agents = all().len();
        let mut agents = Vec::new();
        let mut others = Vec::new();
        let savings_of_collections = self.collected();
        for (idx, counts) in self.rows.into_iter().enumerate() {
            let agent = all().get(idx);
            let class = agent.map(|agent| agent.class);
            let class = class.or_else(|| Class::ALL.get(idx - n_agents).copied());
            let cells = counts.cells.into_iter().flatten().map(|count| Cell {
                distinct: count.distinct.count(),
                is_exact: count.distinct.is_exact(),
                ..count.cell
            });
            let row = Row {
                name: agent.map_or(class.unwrap_or(Class::Unknown).name(), |agent| agent.name),
                class: class.unwrap_or(Class::Unknown),
                purpose: agent.and_then(|agent| agent.purpose),
                operator: agent.and_then(|agent| agent.operator),
                errors: counts.errors,
                cells: cells.collect(),
            };
            if row.cells.is_empty() {
                continue;
            }
            if row.class == Class::Ai { agents.push(row) } else { others.push(row) }
        }
        agents.sort_by_key(|row| (std::cmp::Reverse(row.requests()), row.name));
        let all_cells = || agents.iter().flat_map(|row: &Row| &row.cells);
        let savings = Savings {
            again: all_cells().map(|cell| cell.again).sum(),
            again_bytes: all_cells().map(|cell| cell.again_bytes).sum(),
            collections: savings_of_collections,
        };
        Summary {
            requests: self.requests,
            bytes: self.bytes,
            span: self.span,
            left_out: self.left_out,
            broken: self.broken,
            agents,
            others,
            window: self.settings.window,
            savings,
            dropped: Dropped { fetches: self.fetches.dropped, readers: self.readers.dropped },
        }
    }

    fn recognise(&mut self, user_agent: &str) -> Known {
        let print = self.seed.of(&[user_agent]);
        if let Some(known) = self.seen.get(&print) {
            return *known;
        }
        let known = recognise(user_agent);
        if Self::SEEN <= self.seen.len() {
            self.seen.clear();
        }
        self.seen.insert(print, known);
        known
    }

    /// Tells whether the client most likely had the answer already.
    fn is_again(&mut self, record: &Record<'_>, known: Known) -> bool {
        if !matches!(record.status, 200 | 304) {
            return false;
        }
        let key = self.seed.of(&[&record.client, known.name(), &record.target]);
        let (seconds, bytes) = (record.time.unix_seconds(), record.bytes);
        let mut is_first = false;
        let fetch = self.fetches.get(key, || {
            is_first = true;
            Fetch { seconds, bytes: 0, has_asked: false }
        });
        if record.status == 304 {
            fetch.has_asked = true;
            return false;
        }
        let is_near = (seconds - fetch.seconds).abs() <= self.settings.window;
        let is_same = 0 < bytes && bytes == fetch.bytes;
        let is_again = !is_first && is_near && is_same && !fetch.has_asked;
        (fetch.seconds, fetch.bytes) = (seconds, bytes);
        is_again
    }

    fn count(&mut self, record: &Record<'_>, known: Known, artefact: Artefact, is_again: bool) {
        let Record { time, status, bytes, .. } = *record;
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
        let class = Class::ALL.iter().position(|class| *class == known.class).unwrap_or(0);
        // Only AI agents have rows of their own.
        let agent = known.agent.filter(|agent| agent.class == Class::Ai);
        let idx = agent.map_or(all().len() + class, |agent| agent.idx);
        let Some(counts) = self.rows.get_mut(idx) else { return };
        if 400 <= status {
            *counts.errors.entry(status).or_default() += 1;
        }
        let Some(place) = counts.cells.get_mut(artefact as usize) else { return };
        let Count { cell, distinct } = &mut **place.get_or_insert_with(|| {
            Box::new(Count { cell: empty(artefact, time), distinct: Distinct::default() })
        });
        cell.requests += 1;
        cell.bytes = cell.bytes.saturating_add(bytes);
        cell.full += u64::from(status == 200);
        cell.not_modified += u64::from(status == 304);
        cell.errors += u64::from(400 <= status);
        if is_again {
            cell.again += 1;
            cell.again_bytes = cell.again_bytes.saturating_add(bytes);
        }
        cell.first = cell.first.min(time);
        cell.last = cell.last.max(time);
        if matches!(status, 200 | 206 | 304) {
            distinct.add(Seed::FIXED.of(&[&record.target]), self.settings.distinct);
        }
    }

    /// Keeps the size of a snapshot.
    fn measure(&mut self, record: &Record<'_>) {
        let (name, coding) = series(&record.target);
        if self.snapshots.len() < Self::SNAPSHOTS || self.snapshots.contains_key(&name) {
            let sizes = self.snapshots.entry(name).or_default();
            if let Some(size) = sizes.get_mut(coding) {
                *size = (*size).max(Some(record.bytes));
            }
        }
    }

    /// Keeps what an AI agent took of pages.
    fn remember(&mut self, record: &Record<'_>, known: Known) {
        let key = self.seed.of(&[&record.client, known.name()]);
        let day = record.time.unix_seconds().div_euclid(86_400);
        let reading = self.readers.get(key, Reading::default);
        if reading.pages == 0 || reading.last_day != day {
            (reading.days, reading.last_day) = (reading.days + 1, day);
        }
        reading.pages += 1;
        reading.bytes = reading.bytes.saturating_add(record.bytes);
    }

    fn collected(&self) -> Option<Collected> {
        let Collections { files, bytes: size } = match self.settings.collections {
            Some(told) => told,
            None if self.snapshots.is_empty() => return None,
            None => {
                let smallest = |sizes: &[Option<u64>; 3]| sizes.iter().flatten().min().copied();
                let bytes = self.snapshots.values().filter_map(smallest).sum();
                Collections { files: self.snapshots.len() as u64, bytes }
            }
        };
        let mut collected = Collected { files, size, ..Collected::default() };
        for reading in self.readers.values() {
            let requests = reading.pages.saturating_sub(files.saturating_mul(reading.days));
            let bytes = reading.bytes.saturating_sub(size.saturating_mul(reading.days));
            if 0 < requests && 0 < bytes {
                collected.readers += 1;
                collected.requests += requests;
                collected.bytes = collected.bytes.saturating_add(bytes);
            }
        }
        Some(collected)
    }
}

fn empty(artefact: Artefact, time: Timestamp) -> Cell {
    Cell {
        artefact,
        requests: 0,
        bytes: 0,
        distinct: 0,
        is_exact: true,
        full: 0,
        not_modified: 0,
        errors: 0,
        again: 0,
        again_bytes: 0,
        first: time,
        last: time,
    }
}

/// A snapshot's name without dates and coding, and which coding it is.
fn series(target: &str) -> (String, usize) {
    let path = path(target);
    let (bare, coding) = match (path.strip_suffix(".gz"), path.strip_suffix(".zst")) {
        (Some(bare), _) => (bare, 1),
        (_, Some(bare)) => (bare, 2),
        _ => (path, 0),
    };
    (bare.chars().filter(|c| !c.is_ascii_digit()).take(300).collect(), coding)
}
