//! Collections: each file is judged with its advert; what the newest snapshot
//! of a section and the deltas after it deliver goes to the rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read as _};

use rutter_fetch::What;
use rutter_finding::{Finding, FindingSink as _, Place, quoted};
use rutter_page::{LineDigest, Private};
use rutter_scp::advert;
use rutter_scp::{Coding, Header, Kind, Options, Reader, Record};

use super::Held;
use crate::rules;
use crate::site::View;
use crate::site::files::Files;
use crate::site::page::texts_of;
use crate::site::rows::{Delivered, Row, short};
use crate::site::words;

/// Most collections that are read.
const MOST: usize = 2000;
/// Numbers of runs that are kept for all pages together.
const MOST_RUNS: usize = 6_000_000;
/// Largest window of a zstd frame, as a power of two (D38).
const LARGEST_WINDOW: u32 = 23;
/// Most pieces of one page that are kept.
const MOST_PIECES: usize = 192;

impl View<'_> {
    /// Reads the collections that tell of pages as they are now; gives those
    /// that are left.
    pub(super) fn read_collections(&mut self) -> Vec<usize> {
        let is_scp = |path: &str| {
            [".scp", ".scp.gz", ".scp.zst"].iter().any(|ending| path.ends_with(ending))
        };
        let mut all: Vec<u32> =
            self.files.iter().filter(|(_, file)| is_scp(&file.path)).map(|(at, _)| at).collect();
        all.extend(self.machine.adverts.iter().filter_map(|one| one.file));
        all.sort_unstable();
        all.dedup();
        if MOST < all.len() {
            self.book.site(&rules::STOPPED, format!("more than {MOST} collections"));
            all.truncate(MOST);
        }
        for file in all {
            let header = self.header_of(file);
            self.machine.collections.push(Held { file, header, receipt: None });
        }
        let mut current = self.current();
        // Half a section tells of pages as they were.
        let adverts = self.machine.adverts.iter();
        let cut: HashSet<&str> = adverts
            .filter(|one| self.files.is_unseen(What::Collection, &one.advert.url))
            .map(|one| one.advert.section.as_str())
            .collect();
        current.retain(|(section, _)| !cut.contains(section.as_str()));
        self.machine.note_places(self.files);
        let has_all = current.iter().any(|(section, _)| section == "all");
        for (n, (section, used)) in current.iter().enumerate() {
            for idx in used {
                let is_whole = section == "all" || !has_all;
                let how = if is_whole { Use::Take } else { Use::Compare(n) };
                self.read_collection(*idx, how);
            }
        }
        let used: HashSet<usize> = current.into_iter().flat_map(|(_, used)| used).collect();
        (0..self.machine.collections.len()).filter(|idx| !used.contains(idx)).collect()
    }

    /// Reads what is left; what is known to be the same text in another coding
    /// is not judged again.
    pub(super) fn read_rest(&mut self, left: Vec<usize>, same: &HashMap<u32, u64>) {
        for idx in left {
            let twofold = self.twofold(idx);
            let size = twofold.as_ref().and_then(|twofold| {
                same.get(&twofold.file).copied().or_else(|| twofold.size_if_same(self.files))
            });
            if size.is_none_or(|size| !self.vouch(idx, size)) {
                self.read_collection(idx, Use::Nothing);
            }
        }
    }

    /// A file, and one that was verified and may hold the same text.
    pub(super) fn twofold(&self, idx: usize) -> Option<Twofold> {
        let file = self.machine.collections.get(idx)?.file;
        let other = self.machine.other_coding(self.files, file)?;
        let most = other.receipt.as_ref()?.decoded + 1;
        Some(Twofold { file, other: other.file, most })
    }

    /// Vouches for a file of this size that holds the same text as one that
    /// was verified, in another coding.
    fn vouch(&mut self, idx: usize, size: u64) -> bool {
        let Some(file) = self.machine.collections.get(idx).map(|held| held.file) else {
            return false;
        };
        let other = self.machine.other_coding(self.files, file);
        let Some(mut receipt) = other.and_then(|other| other.receipt.clone()) else {
            return false;
        };
        receipt.coded = size;
        let name = self.files.path(file).to_owned();
        let mut judgement = crate::blank(&name, crate::Kind::Collection, &self.judging.judging);
        if let Some(one) = self.machine.advert_of(file) {
            let report = &mut judgement.report;
            let compared =
                advert::compare(&one.advert, &receipt.header, None, report).and_then(|()| {
                    advert::compare(&one.advert, &receipt.header, Some(&receipt), report)
                });
            if let Err(refusal) = compared {
                judgement.refused = Some(refusal.rule);
                judgement.report.report(Finding::from(refusal));
            }
        }
        judgement.receipt = Some(receipt.clone());
        self.book.enter(judgement);
        if let Some(held) = self.machine.collections.get_mut(idx) {
            held.receipt = Some(receipt);
        }
        true
    }

    fn header_of(&self, file: u32) -> Option<Header> {
        let (input, size) = self.files.open(file).ok()?;
        let options = Options { size, limits: self.judging.judging.limits, ..Options::default() };
        Some(Reader::open(input, options, &mut ()).ok()?.header().clone())
    }

    /// For each section, `all` first: its newest snapshot and what came after,
    /// each in one coding.
    fn current(&self) -> Vec<(String, Vec<usize>)> {
        let mut sections: BTreeMap<&str, Vec<(usize, &Header)>> = BTreeMap::new();
        for (idx, held) in self.machine.collections.iter().enumerate() {
            if let Some(header) = &held.header {
                sections.entry(&header.section).or_default().push((idx, header));
            }
        }
        let mut out = Vec::new();
        for (section, mut held) in sections {
            held.sort_by_key(|(idx, header)| {
                let is_delta = header.kind != Kind::Snapshot;
                (header.generated, is_delta, self.is_coded(*idx))
            });
            let newest = held.iter().rev().find(|(_, header)| header.kind == Kind::Snapshot);
            let Some(start) = newest.map(|(_, header)| header.generated) else { continue };
            let mut used: Vec<usize> = Vec::new();
            let mut last = None;
            for (idx, header) in held {
                let is_snapshot = header.kind == Kind::Snapshot;
                let is_used = (is_snapshot && header.generated == start)
                    || (!is_snapshot && start < header.generated);
                let what = (header.generated, is_snapshot);
                if is_used && last != Some(what) {
                    used.push(idx);
                    last = Some(what);
                }
            }
            out.push((section.to_owned(), used));
        }
        out.sort_by_key(|(section, _)| section != "all");
        out
    }

    /// zstd before gzip: it is the fastest to read.
    fn is_coded(&self, idx: usize) -> u8 {
        let path = self.machine.collections.get(idx).map_or("", |held| self.files.path(held.file));
        match Coding::of_name(std::path::Path::new(path)).and_then(Coding::name) {
            Some("zstd") => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    fn read_collection(&mut self, idx: usize, how: Use) {
        let Some(file) = self.machine.collections.get(idx).map(|held| held.file) else { return };
        let advert = self.machine.advert_of(file);
        let judging = crate::Judging {
            advert: advert.map(|one| one.advert.clone()),
            ..self.judging.judging.clone()
        };
        let removed = self.machine.collections.get(idx).and_then(|held| held.header.as_ref());
        let removed = removed.and_then(|header| header.chain.as_ref());
        let removed: Vec<String> = removed.map(|chain| chain.removed.clone()).unwrap_or_default();
        let most_pieces = (MOST_RUNS / 4 / self.rows.list.len().max(1)).clamp(4, MOST_PIECES);
        let mut taking = Taking { file, most_pieces, taken: Vec::new(), said: Vec::new() };
        let open = || self.files.open(file);
        let subject = crate::Subject { name: self.files.path(file).to_owned(), open: &open };
        let (rows, files, home, known) = (&mut self.rows, self.files, self.home, &self.known);
        let judged = crate::judge_collection(&subject, &judging, &mut |record| {
            let url = record.page.url.key();
            let Some(home) = home.filter(|_| how != Use::Nothing) else { return };
            let Some(row) = rows.index(files, home, url) else { return };
            let found = known.binary_search_by(|one| (*one.url).cmp(url));
            let line = found.ok().and_then(|at| known.get(at)).and_then(|one| one.line);
            taking.take(record, row, how, line);
        });
        let Taking { taken, said, .. } = taking;
        let mut judgement = match judged {
            Ok(judgement) => judgement,
            Err(error) => return self.unreadable(file, &error),
        };
        for finding in said {
            judgement.report.report(finding);
        }
        let receipt = judgement.receipt.clone();
        self.book.enter(judgement);
        // Nothing counts of what was not verified to its end.
        if receipt.is_none() {
            return;
        }
        if let Some(held) = self.machine.collections.get_mut(idx) {
            held.receipt = receipt;
        }
        self.machine.has_pages |= how == Use::Take && !taken.is_empty();
        for (row, page) in taken {
            if let Some(row) = self.rows.list.get_mut(row as usize) {
                put(row, page, how);
            }
        }
        if how == Use::Take
            && let Some(home) = self.home
        {
            for url in removed {
                if let Some(at) = self.rows.find(self.files, home, &url)
                    && let Some(row) = self.rows.list.get_mut(at as usize)
                {
                    row.scp = None;
                }
            }
        }
    }
}

/// Two files that may be one text in two codings.
#[derive(Debug)]
pub(super) struct Twofold {
    pub(super) file: u32,
    other: u32,
    /// The one that was verified tells how much there can be.
    most: u64,
}

impl Twofold {
    /// Decodes and compares both; gives the size of the file where they are
    /// the same.
    pub(super) fn size_if_same(&self, files: &Files) -> Option<u64> {
        let decoded = |at: u32| {
            let (input, size) = files.open(at).ok()?;
            let text: Box<dyn io::Read> = match files.path(at).rsplit_once('.')?.1 {
                "gz" => Box::new(flate2::read::MultiGzDecoder::new(input)),
                "zst" => {
                    let mut decoder = zstd::Decoder::new(input).ok()?;
                    decoder.window_log_max(LARGEST_WINDOW).ok()?;
                    Box::new(decoder)
                }
                _ => input,
            };
            Some((text.take(self.most), size?))
        };
        let ((ours, size), (theirs, _)) = (decoded(self.file)?, decoded(self.other)?);
        crate::site::are_same(ours, theirs).then_some(size)
    }
}

/// Writes a page that was delivered into its row.
fn put(row: &mut Row, page: Box<Delivered>, how: Use) {
    match (how, &row.scp) {
        (Use::Compare(section), Some(whole)) => {
            if whole.digest != page.digest {
                row.differs.get_or_insert((section, page.file, page.line));
            } else if row.differs.is_some_and(|(other, ..)| other == section) {
                // A delta put it right.
                row.differs = None;
            }
        }
        _ => row.scp = Some(page),
    }
}

/// What is done with the pages of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is judged alone.
    Nothing,
    /// Its pages are those of the site.
    Take,
    /// Its pages must be those of `all`; which section it is.
    Compare(usize),
}

struct Taking {
    file: u32,
    most_pieces: usize,
    taken: Vec<(u32, Box<Delivered>)>,
    said: Vec<Finding>,
}

impl Taking {
    fn take(&mut self, record: &Record<'_>, row: u32, how: Use, known: Option<LineDigest>) {
        let digest = record.digest();
        let page = &record.page;
        let is_as_built = known == Some(digest);
        let (mut pieces, mut n_words) = (Vec::new(), 0);
        if !is_as_built && how == Use::Take {
            for (at, block) in (0..).zip(&page.content) {
                let texts = texts_of(block);
                n_words += words::whole(&texts).1;
                if pieces.len() < self.most_pieces {
                    pieces.extend(words::piece(at, &texts));
                }
                for text in &texts {
                    self.look(
                        text,
                        page.url.key(),
                        Place::pointer(record.line, format!("/content/{at}")),
                    );
                }
            }
        }
        let delivered = Delivered {
            file: self.file,
            line: record.line,
            title: short(&page.title),
            language: page.language.canonical().as_str().into(),
            modified: page.modified,
            digest,
            n_words: u32::try_from(n_words).unwrap_or(u32::MAX),
            pieces,
            is_as_built,
        };
        self.taken.push((row, Box::new(delivered)));
    }

    /// Looks for what no text should hold.
    fn look(&mut self, text: &str, url: &str, place: Place) {
        for (kind, mark) in Private::of(text).secrets {
            let detail = format!("{}: {kind} {mark}", quoted(url));
            self.said.push(Finding::new(&rules::SECRET, place.clone(), detail));
        }
        let unseen = rutter_page::Unseen::of(text);
        if !unseen.is_nothing() {
            let detail = format!("{}: {}", quoted(url), unseen.shown());
            self.said.push(Finding::new(&rules::UNSEEN, place, detail));
        }
    }
}
