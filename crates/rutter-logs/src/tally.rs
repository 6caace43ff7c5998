//! Counts records into a [`LogSummary`], in bounded memory.
//!
//! Each record is counted in the row of its agent and the cell of its artifact. Two tables compare
//! requests: one table by client, agent and target, to find repeated downloads; one table by client
//! and agent, to estimate the savings by collections. A full table drops entries that were not used
//! recently.
//!
//! **Repeated download**: a GET request answered with status 200 and a non-empty body, where the
//! last response to the same client, agent and target had status 200 and the same number of bytes,
//! at most [`TallySettings::window`] earlier, and the client never got status 304 for this target.
//! An equal size is evidence, not proof: a page may change and keep its size, and a compressed
//! response may change its size without a change of content. A crawler with many IP addresses
//! counts as many clients, so the number of repeated downloads is a lower bound.
//!
//! **Conditional requests** would have saved the bytes of the repeated downloads; the number of
//! requests would stay the same.
//!
//! **Collections**: a reader that fetched `n` pages with `b` bytes on `d` days (UTC) could have
//! fetched all `f` collections with `s` bytes on each of these days. If `f·d < n` and `s·d < b`,
//! the reader would have saved `n − f·d` requests and `b − s·d` bytes. Deltas and status 304 would
//! save more. Number and size of the collections are configured or taken from the log. In the log,
//! files whose names differ only in dates are one snapshot, and its size is the largest response in
//! its smallest content coding.
//!
//! If the collections are unknown, the tally estimates no savings by collections.

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::agents::{ClientClass, RecognizedClient, all, recognize};
use crate::artifact::{Artifact, path};
use crate::bounded::{DistinctCounter, FingerprintMap, HashSeed, RecentTable};
use crate::parse::LineError;
use crate::record::AccessRecord;
use crate::summary::{
    ArtifactCounts, ClientRow, CollectionSavings, ForgottenCounts, LogSummary, Savings,
};

/// Conditions on the requests that a [`AccessTally`] counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Counts only requests at or after this time.
    pub since: Option<Timestamp>,
    /// Counts only requests before this time.
    pub until: Option<Timestamp>,
    /// Counts only requests of the agent or client class with this name, ignoring case.
    pub agent: Option<String>,
}

impl RequestFilter {
    /// Returns whether the filter accepts a request of this client.
    pub fn matches(&self, record: &AccessRecord<'_>, known: RecognizedClient) -> bool {
        self.since.is_none_or(|since| since <= record.time)
            && self.until.is_none_or(|until| record.time < until)
            && self.agent.as_ref().is_none_or(|agent| {
                agent.eq_ignore_ascii_case(known.name())
                    || agent.eq_ignore_ascii_case(known.class.name())
            })
    }
}

/// Number and size of the snapshots of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionTotals {
    /// Number of snapshot files.
    pub files: u64,
    /// Size of all snapshot files together, in bytes.
    pub bytes: u64,
}

/// Time window and table sizes of a tally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TallySettings {
    /// Seconds for which a client is assumed to keep a response.
    pub window: i64,
    /// Maximum number of pairs of client and target in the table of downloads.
    pub fetches: usize,
    /// Maximum number of readers in the table of readers.
    pub readers: usize,
    /// Maximum number of distinct targets per cell that are counted exactly.
    pub distinct: usize,
    /// Number and size of the snapshots of the site; if `None`, the tally takes both from the log.
    pub collections: Option<CollectionTotals>,
}

impl TallySettings {
    /// Default settings: a window of one week, and tables that need about 25 MB when full.
    pub const DEFAULT: Self = Self {
        window: 7 * 86_400,
        fetches: 1 << 18,
        readers: 1 << 15,
        distinct: 1024,
        collections: None,
    };
}

/// The last response with status 200 to one client, agent and target.
#[derive(Debug)]
struct LastFetch {
    seconds: i64,
    bytes: u64,
    has_asked: bool,
}

/// Number of pages, bytes and days that a client used as an AI agent.
#[derive(Debug, Default)]
struct ReaderUsage {
    pages: u64,
    bytes: u64,
    days: u64,
    last_day: i64,
}

#[derive(Debug)]
struct TallyCell {
    cell: ArtifactCounts,
    distinct: DistinctCounter,
}

#[derive(Debug, Default)]
struct TallyRow {
    errors: BTreeMap<u16, u64>,
    cells: [Option<Box<TallyCell>>; Artifact::ALL.len()],
}

/// Counts access records and creates a [`LogSummary`] of them.
#[derive(Debug)]
pub struct AccessTally {
    settings: TallySettings,
    filter: RequestFilter,
    /// One row for each known program, then one row for each client class.
    rows: Vec<TallyRow>,
    fetches: RecentTable<LastFetch>,
    readers: RecentTable<ReaderUsage>,
    /// Size of each snapshot by name: plain, with gzip, with zstd.
    snapshots: BTreeMap<String, [Option<u64>; 3]>,
    seen: FingerprintMap<RecognizedClient>,
    seed: HashSeed,
    totals: LogTotals,
    filtered_out: u64,
    broken: BTreeMap<LineError, u64>,
}

/// Totals of all counted requests.
#[derive(Debug, Default)]
struct LogTotals {
    requests: u64,
    bytes: u64,
    /// Times of the first and of the last request.
    span: Option<(Timestamp, Timestamp)>,
}

impl AccessTally {
    /// Maximum number of `User-Agent` texts whose recognized client is cached.
    const SEEN: usize = 16_384;
    /// Maximum number of snapshots whose sizes are stored.
    const SNAPSHOTS: usize = 256;

    /// Creates an empty tally.
    pub fn new(settings: TallySettings, filter: RequestFilter) -> Self {
        let n_rows = all().len() + ClientClass::ALL.len();
        Self {
            fetches: RecentTable::new(settings.fetches),
            readers: RecentTable::new(settings.readers),
            settings,
            filter,
            rows: std::iter::repeat_with(TallyRow::default).take(n_rows).collect(),
            snapshots: BTreeMap::new(),
            seen: FingerprintMap::default(),
            seed: HashSeed::random(),
            totals: LogTotals::default(),
            filtered_out: 0,
            broken: BTreeMap::new(),
        }
    }

    /// Counts a line that is not a request, by reason.
    pub fn broken(&mut self, why: LineError) {
        *self.broken.entry(why).or_default() += 1;
    }

    /// Counts a request; returns whether the filter accepts it.
    pub fn add(&mut self, record: &AccessRecord<'_>) -> bool {
        let known = self.recognize(record.user_agent.as_deref().unwrap_or_default());
        let is_request = !record.method.is_empty();
        let artifact = if is_request { Artifact::of(&record.target) } else { Artifact::Other };
        let is_full = &*record.method == "GET" && record.status == 200;
        if is_full && artifact == Artifact::ScpSnapshot {
            // Requests that the filter excludes are measured too, because a snapshot has the same
            // size for every client.
            self.record_snapshot_size(record);
        }
        if !self.filter.matches(record, known) {
            self.filtered_out += 1;
            return false;
        }
        let is_repeated = &*record.method == "GET" && self.is_repeated(record, known);
        self.count(record, known, artifact, is_repeated);
        if is_full && artifact == Artifact::Page && known.class == ClientClass::Ai {
            self.record_page_read(record, known);
        }
        true
    }

    /// Returns the summary of all counted records.
    pub fn finish(self) -> LogSummary {
        let n_agents = all().len();
        let mut agents = Vec::new();
        let mut others = Vec::new();
        let savings_of_collections = self.collection_savings();
        for (idx, counts) in self.rows.into_iter().enumerate() {
            let agent = all().get(idx);
            let class = agent.map(|agent| agent.class);
            let class = class.or_else(|| ClientClass::ALL.get(idx - n_agents).copied());
            let cells = counts.cells.into_iter().flatten().map(|count| ArtifactCounts {
                distinct: count.distinct.count(),
                is_exact: count.distinct.is_exact(),
                ..count.cell
            });
            let row = ClientRow {
                name: agent
                    .map_or(class.unwrap_or(ClientClass::Unknown).name(), |agent| agent.name),
                class: class.unwrap_or(ClientClass::Unknown),
                purpose: agent.and_then(|agent| agent.purpose),
                operator: agent.and_then(|agent| agent.operator),
                errors: counts.errors,
                cells: cells.collect(),
            };
            if row.cells.is_empty() {
                continue;
            }
            if row.class == ClientClass::Ai { agents.push(row) } else { others.push(row) }
        }
        agents.sort_by_key(|row| (std::cmp::Reverse(row.requests()), row.name));
        let all_cells = || agents.iter().flat_map(|row: &ClientRow| &row.cells);
        let savings = Savings {
            repeated: all_cells().map(|cell| cell.repeated).sum(),
            repeated_bytes: all_cells().map(|cell| cell.repeated_bytes).sum(),
            collections: savings_of_collections,
        };
        LogSummary {
            requests: self.totals.requests,
            bytes: self.totals.bytes,
            span: self.totals.span,
            filtered_out: self.filtered_out,
            broken: self.broken,
            agents,
            others,
            window: self.settings.window,
            savings,
            dropped: ForgottenCounts {
                fetches: self.fetches.dropped,
                readers: self.readers.dropped,
            },
        }
    }

    fn recognize(&mut self, user_agent: &str) -> RecognizedClient {
        let print = self.seed.of(&[user_agent]);
        if let Some(known) = self.seen.get(&print) {
            return *known;
        }
        let known = recognize(user_agent);
        if Self::SEEN <= self.seen.len() {
            self.seen.clear();
        }
        self.seen.insert(print, known);
        known
    }

    /// Returns whether a response is a repeated download, which the client most likely had already.
    fn is_repeated(&mut self, record: &AccessRecord<'_>, known: RecognizedClient) -> bool {
        if !matches!(record.status, 200 | 304) {
            return false;
        }
        let key = self.seed.of(&[&record.client, known.name(), &record.target]);
        let (seconds, bytes) = (record.time.unix_seconds(), record.bytes);
        let mut is_first = false;
        let fetch = self.fetches.get(key, || {
            is_first = true;
            LastFetch { seconds, bytes: 0, has_asked: false }
        });
        if record.status == 304 {
            fetch.has_asked = true;
            return false;
        }
        let is_near = (seconds - fetch.seconds).abs() <= self.settings.window;
        let is_same = 0 < bytes && bytes == fetch.bytes;
        let is_repeated = !is_first && is_near && is_same && !fetch.has_asked;
        (fetch.seconds, fetch.bytes) = (seconds, bytes);
        is_repeated
    }

    fn count(
        &mut self,
        record: &AccessRecord<'_>,
        known: RecognizedClient,
        artifact: Artifact,
        is_repeated: bool,
    ) {
        let AccessRecord { time, status, bytes, .. } = *record;
        self.totals.requests += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        let (first, last) = self.totals.span.unwrap_or((time, time));
        self.totals.span = Some((first.min(time), last.max(time)));
        let class = ClientClass::ALL.iter().position(|class| *class == known.class).unwrap_or(0);
        // Only AI agents have their own rows; other programs are counted in the row of their class.
        let agent = known.agent.filter(|agent| agent.class == ClientClass::Ai);
        let idx = agent.map_or(all().len() + class, |agent| agent.idx);
        let Some(counts) = self.rows.get_mut(idx) else { return };
        if 400 <= status {
            *counts.errors.entry(status).or_default() += 1;
        }
        let Some(place) = counts.cells.get_mut(artifact as usize) else { return };
        let TallyCell { cell, distinct } = &mut **place.get_or_insert_with(|| {
            Box::new(TallyCell {
                cell: empty(artifact, time),
                distinct: DistinctCounter::default(),
            })
        });
        cell.requests += 1;
        cell.bytes = cell.bytes.saturating_add(bytes);
        cell.full += u64::from(status == 200);
        cell.not_modified += u64::from(status == 304);
        cell.errors += u64::from(400 <= status);
        if is_repeated {
            cell.repeated += 1;
            cell.repeated_bytes = cell.repeated_bytes.saturating_add(bytes);
        }
        cell.first = cell.first.min(time);
        cell.last = cell.last.max(time);
        if matches!(status, 200 | 206 | 304) {
            distinct.add(HashSeed::FIXED.of(&[&record.target]), self.settings.distinct);
        }
    }

    /// Stores the size of the snapshot that a response contained.
    fn record_snapshot_size(&mut self, record: &AccessRecord<'_>) {
        let (name, coding) = snapshot_name(&record.target);
        if self.snapshots.len() < Self::SNAPSHOTS || self.snapshots.contains_key(&name) {
            let sizes = self.snapshots.entry(name).or_default();
            if let Some(size) = sizes.get_mut(coding) {
                *size = (*size).max(Some(record.bytes));
            }
        }
    }

    /// Adds a page to the figures of the reader that fetched it.
    fn record_page_read(&mut self, record: &AccessRecord<'_>, known: RecognizedClient) {
        let key = self.seed.of(&[&record.client, known.name()]);
        let day = record.time.unix_seconds().div_euclid(86_400);
        let reading = self.readers.get(key, ReaderUsage::default);
        if reading.pages == 0 || reading.last_day != day {
            (reading.days, reading.last_day) = (reading.days + 1, day);
        }
        reading.pages += 1;
        reading.bytes = reading.bytes.saturating_add(record.bytes);
    }

    fn collection_savings(&self) -> Option<CollectionSavings> {
        let CollectionTotals { files, bytes: size } = match self.settings.collections {
            Some(reported) => reported,
            None if self.snapshots.is_empty() => return None,
            None => {
                let smallest = |sizes: &[Option<u64>; 3]| sizes.iter().flatten().min().copied();
                let bytes = self.snapshots.values().filter_map(smallest).sum();
                CollectionTotals { files: self.snapshots.len() as u64, bytes }
            }
        };
        let mut collected = CollectionSavings { files, size, ..CollectionSavings::default() };
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

fn empty(artifact: Artifact, time: Timestamp) -> ArtifactCounts {
    ArtifactCounts {
        artifact,
        requests: 0,
        bytes: 0,
        distinct: 0,
        is_exact: true,
        full: 0,
        not_modified: 0,
        errors: 0,
        repeated: 0,
        repeated_bytes: 0,
        first: time,
        last: time,
    }
}

/// Returns the path of a snapshot without digits and content coding, and the index of its content
/// coding.
fn snapshot_name(target: &str) -> (String, usize) {
    let path = path(target);
    let (bare, coding) = match (path.strip_suffix(".gz"), path.strip_suffix(".zst")) {
        (Some(bare), _) => (bare, 1),
        (_, Some(bare)) => (bare, 2),
        _ => (path, 0),
    };
    (bare.chars().filter(|c| !c.is_ascii_digit()).take(300).collect(), coding)
}
