//! Reads and checks collections. The pages of the newest snapshot of each section, and of the
//! deltas after it, are stored in the rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read as _};

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, FindingSink as _, Place, quoted};
use rutter_page::{LineDigest, SensitiveData};
use rutter_scp::advert;
use rutter_scp::{
    Coding, CollectionHeader, CollectionKind, CollectionReader, PageRecord, ReadOptions,
};

use super::CollectionFile;
use crate::rules;
use crate::site::SiteView;
use crate::site::files::SiteFiles;
use crate::site::page::texts_of;
use crate::site::page_rows::{DeliveredPage, PageRow, short};
use crate::site::text_match;

rutter_finding::rules! {
    SECRET = "SE017" "secret-published" (warning, "SCP-201") {
        title: "file contains a probable secret",
        why: "Everyone who reads the file can use the secret. Treat it as compromised.",
        fix: "Revoke the secret, then delete it from the file.",
        wrong: "`AKIAQ3EGRT7WZ5KLM2NP` in `all.scp.zst`.",
        right: "The key is revoked, then deleted from the page.",
    }
}

/// The maximum number of collections that are read.
const MOST: usize = 2000;
/// The maximum number of stored text hashes of all pages.
const MOST_RUNS: usize = 6_000_000;
/// The maximum zstd window as a power of two (D38).
const LARGEST_WINDOW: u32 = 23;
/// The maximum number of stored text pieces per page.
const MOST_PIECES: usize = 192;

impl SiteView<'_> {
    /// Reads the collections that contain the current pages; returns the indices of the others.
    pub(super) fn read_collections(&mut self) -> Vec<usize> {
        let is_scp = |path: &str| {
            [".scp", ".scp.gz", ".scp.zst"].iter().any(|ending| path.ends_with(ending))
        };
        let mut all: Vec<u32> =
            self.files.iter().filter(|(_, file)| is_scp(&file.path)).map(|(at, _)| at).collect();
        all.extend(self.machine_files.sitemaps.adverts.iter().filter_map(|one| one.file));
        all.sort_unstable();
        all.dedup();
        if MOST < all.len() {
            self.findings.add_about_site(&rules::STOPPED, format!("more than {MOST} collections"));
            all.truncate(MOST);
        }
        for file in all {
            let header = self.header_of(file);
            self.machine_files.collections.push(CollectionFile { file, header, receipt: None });
        }
        let mut current = self.current();
        // A section of which a collection is missing contains outdated pages.
        let adverts = self.machine_files.sitemaps.adverts.iter();
        let cut: HashSet<&str> = adverts
            .filter(|one| self.files.is_unseen(ResourceKind::Collection, &one.advert.url))
            .map(|one| one.advert.section.as_str())
            .collect();
        current.retain(|(section, _)| !cut.contains(section.as_str()));
        self.machine_files.note_places(self.files);
        let has_all = current.iter().any(|(section, _)| section == "all");
        for (n, (section, used)) in current.iter().enumerate() {
            for idx in used {
                let is_whole = section == "all" || !has_all;
                let how = if is_whole { PageUse::Take } else { PageUse::Compare(n) };
                self.read_collection(*idx, how);
            }
        }
        let used: HashSet<usize> = current.into_iter().flat_map(|(_, used)| used).collect();
        (0..self.machine_files.collections.len()).filter(|idx| !used.contains(idx)).collect()
    }

    /// Reads the remaining collections. A file is not checked again if it has the same content as a
    /// verified file in another coding.
    pub(super) fn read_rest(&mut self, left: Vec<usize>, same: &HashMap<u32, u64>) {
        for idx in left {
            let twofold = self.twofold(idx);
            let size = twofold.as_ref().and_then(|twofold| {
                same.get(&twofold.file).copied().or_else(|| twofold.size_if_same(self.files))
            });
            if size.is_none_or(|size| !self.vouch(idx, size)) {
                self.read_collection(idx, PageUse::Nothing);
            }
        }
    }

    /// Returns a pair of a file and a verified file of the same collection in another coding.
    pub(super) fn twofold(&self, idx: usize) -> Option<CodingPair> {
        let file = self.machine_files.collections.get(idx)?.file;
        let other = self.machine_files.other_coding(self.files, file)?;
        let most = other.receipt.as_ref()?.decoded + 1;
        Some(CodingPair { file, other: other.file, most })
    }

    /// Marks a file as verified because it has the same content as a verified file
    /// in another coding.
    fn vouch(&mut self, idx: usize, size: u64) -> bool {
        let Some(file) = self.machine_files.collections.get(idx).map(|held| held.file) else {
            return false;
        };
        let other = self.machine_files.other_coding(self.files, file);
        let Some(mut receipt) = other.and_then(|other| other.receipt.clone()) else {
            return false;
        };
        receipt.coded = size;
        let name = self.files.path(file).to_owned();
        let mut file_report =
            crate::blank(&name, rutter_report::FileKind::Collection, &self.options.check_options);
        if let Some(one) = self.machine_files.advert_of(file) {
            let report = &mut file_report.report;
            let compared =
                advert::compare(&one.advert, &receipt.header, None, report).and_then(|()| {
                    advert::compare(&one.advert, &receipt.header, Some(&receipt), report)
                });
            if let Err(refusal) = compared {
                file_report.refused = Some(refusal.rule);
                file_report.report.report(Finding::from(refusal));
            }
        }
        file_report.receipt = Some(receipt.clone());
        self.findings.add_report(file_report);
        if let Some(held) = self.machine_files.collections.get_mut(idx) {
            held.receipt = Some(receipt);
        }
        true
    }

    fn header_of(&self, file: u32) -> Option<CollectionHeader> {
        let (input, size) = self.files.open(file).ok()?;
        let options = ReadOptions {
            size,
            limits: self.options.check_options.limits,
            ..ReadOptions::default()
        };
        Some(CollectionReader::open(input, options, &mut ()).ok()?.header().clone())
    }

    /// Returns the newest snapshot of each section and the deltas after it, in one coding each. The
    /// section `all` comes first.
    fn current(&self) -> Vec<(String, Vec<usize>)> {
        let mut sections: BTreeMap<&str, Vec<(usize, &CollectionHeader)>> = BTreeMap::new();
        for (idx, held) in self.machine_files.collections.iter().enumerate() {
            if let Some(header) = &held.header {
                sections.entry(&header.section).or_default().push((idx, header));
            }
        }
        let mut out = Vec::new();
        for (section, mut held) in sections {
            held.sort_by_key(|(idx, header)| {
                let is_delta = header.kind != CollectionKind::Snapshot;
                (header.generated, is_delta, self.is_coded(*idx))
            });
            let newest =
                held.iter().rev().find(|(_, header)| header.kind == CollectionKind::Snapshot);
            let Some(start) = newest.map(|(_, header)| header.generated) else { continue };
            let mut used: Vec<usize> = Vec::new();
            let mut last = None;
            for (idx, header) in held {
                let is_snapshot = header.kind == CollectionKind::Snapshot;
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

    /// Returns the position of a coding in the reading order: zstd comes first, because it is
    /// fastest to read.
    fn is_coded(&self, idx: usize) -> u8 {
        let path =
            self.machine_files.collections.get(idx).map_or("", |held| self.files.path(held.file));
        match Coding::from_file_name(std::path::Path::new(path)).and_then(Coding::name) {
            Some("zstd") => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    fn read_collection(&mut self, idx: usize, how: PageUse) {
        let Some(file) = self.machine_files.collections.get(idx).map(|held| held.file) else {
            return;
        };
        let advert = self.machine_files.advert_of(file);
        let check_options = crate::CheckOptions {
            advert: advert.map(|one| one.advert.clone()),
            ..self.options.check_options.clone()
        };
        let removed = self.machine_files.collections.get(idx).and_then(|held| held.header.as_ref());
        let removed = removed.and_then(|header| header.chain.as_ref());
        let removed: Vec<String> = removed.map(|chain| chain.removed.clone()).unwrap_or_default();
        let most_pieces = (MOST_RUNS / 4 / self.rows.list.len().max(1)).clamp(4, MOST_PIECES);
        let mut collector =
            PageCollector { file, most_pieces, taken: Vec::new(), findings: Vec::new() };
        let open = || self.files.open(file);
        let subject = crate::CheckTarget { name: self.files.path(file).to_owned(), open: &open };
        let (rows, files, home, known) = (&mut self.rows, self.files, self.home, &self.known);
        let judged = crate::check_collection(&subject, &check_options, &mut |record| {
            let url = record.page.url.key();
            let Some(home) = home.filter(|_| how != PageUse::Nothing) else { return };
            let Some(row) = rows.index(files, home, url) else { return };
            let found = known.binary_search_by(|one| (*one.url).cmp(url));
            let line = found.ok().and_then(|at| known.get(at)).and_then(|one| one.line);
            collector.take(record, row, how, line);
        });
        let PageCollector { taken, findings, .. } = collector;
        let mut file_report = match judged {
            Ok(file_report) => file_report,
            Err(error) => return self.unreadable(file, &error),
        };
        for finding in findings {
            file_report.report.report(finding);
        }
        let receipt = file_report.receipt.clone();
        self.findings.add_report(file_report);
        // Pages of a collection that was not verified are discarded.
        if receipt.is_none() {
            return;
        }
        if let Some(held) = self.machine_files.collections.get_mut(idx) {
            held.receipt = receipt;
        }
        self.machine_files.has_pages |= how == PageUse::Take && !taken.is_empty();
        for (row, page) in taken {
            if let Some(row) = self.rows.list.get_mut(row as usize) {
                put(row, page, how);
            }
        }
        if how == PageUse::Take
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

/// Two files that may have the same content in two codings.
#[derive(Debug)]
pub(super) struct CodingPair {
    pub(super) file: u32,
    other: u32,
    /// The maximum decoded size; taken from the verified file.
    most: u64,
}

impl CodingPair {
    /// Decodes and compares both files; returns the file size if they are equal.
    pub(super) fn size_if_same(&self, files: &SiteFiles) -> Option<u64> {
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

/// Stores a page of a collection in the row of the page.
fn put(row: &mut PageRow, page: Box<DeliveredPage>, how: PageUse) {
    match (how, &row.scp) {
        (PageUse::Compare(section), Some(whole)) => {
            if whole.digest != page.digest {
                row.differs.get_or_insert((section, page.file, page.line));
            } else if row.differs.is_some_and(|(other, ..)| other == section) {
                // The delta removed a difference that an earlier collection had.
                row.differs = None;
            }
        }
        _ => row.scp = Some(page),
    }
}

/// How the pages of a collection are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageUse {
    /// The pages are only checked.
    Nothing,
    /// The pages are the current pages of the site.
    Take,
    /// The pages must equal the pages of section `all`; contains the index of their own section.
    Compare(usize),
}

struct PageCollector {
    file: u32,
    most_pieces: usize,
    taken: Vec<(u32, Box<DeliveredPage>)>,
    findings: Vec<Finding>,
}

impl PageCollector {
    fn take(&mut self, record: &PageRecord<'_>, row: u32, how: PageUse, known: Option<LineDigest>) {
        let digest = record.digest();
        let page = &record.page;
        let is_as_built = known == Some(digest);
        let (mut pieces, mut n_words) = (Vec::new(), 0);
        if !is_as_built && how == PageUse::Take {
            for (at, block) in page.read_blocks() {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                let texts = texts_of(block);
                n_words += text_match::whole(&texts).1;
                if pieces.len() < self.most_pieces {
                    pieces.extend(text_match::piece(at, &texts));
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
        let delivered = DeliveredPage {
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

    /// Reports secrets, invisible characters and instructions in a text.
    fn look(&mut self, text: &str, url: &str, place: Place) {
        for (kind, mark) in SensitiveData::find_in(text).secrets {
            let detail = format!("{}: {kind} {mark}", quoted(url));
            self.findings.push(Finding::new(&SECRET, place.clone(), detail));
        }
        let unseen = rutter_page::HiddenCharacters::count_in(text);
        if !unseen.is_nothing() {
            let detail = format!("{}: {}", quoted(url), unseen.shown());
            self.findings.push(Finding::new(&rules::UNSEEN, place, detail));
        }
    }
}
