//! What a site's pages have in common, learned from a sample of them.
//!
//! A page is read as a function of its bytes and one version; the list of
//! versions is appended to, and only a version that no page names is dropped,
//! so adding, removing or renaming pages changes no other page. A version holds the hashes of lines of text that
//! stand in the same place on many pages of one layout. What consists of such
//! lines almost wholly is dropped; a template never adds, and never drops
//! the part that holds most of the page.

use std::collections::{BTreeMap, BTreeSet};

use html5ever::local_name;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::dom::Dom;
use crate::survey::{Marks, Survey};
use crate::tag::Tag;
use crate::verdict::Reason;
use crate::{Limits, charset};

/// Pages a layout must have in the sample to be learned.
const FEWEST_PAGES: usize = 5;
/// Most hashes of one version.
const MOST_HASHES: usize = 20_000;
/// Changed pages that can show a redesign.
const FEWEST_CHANGED: usize = 10;
/// Characters that are a page's own where it is about something.
const OWN_CHARS: u32 = 20;
/// Pages of a site that are looked at.
pub const SAMPLE: usize = 200;

/// All versions learned for a site, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Templates {
    versions: Vec<Version>,
}

/// What the pages of one layout had in common at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Version {
    id: u64,
    layout: u64,
    /// Sorted.
    lines: Vec<u64>,
    /// The share of `lines` that a page of the layout has, in the median.
    coverage: f32,
}

/// Names a version; part of what a page's line depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VersionId(pub u64);

/// What a page shows of its template: hashes of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    layout: u64,
    /// Sorted, each once.
    lines: Vec<u64>,
}

impl Sketch {
    /// Sketches a page.
    pub fn of_html(bytes: &[u8], charset: Option<&str>, limits: &Limits) -> Self {
        let decoded = charset::decode(bytes, charset);
        let dom = Dom::parse(&decoded.text, limits);
        let survey = Survey::of(&dom);
        Self::of(&dom, &survey, &lines(&dom, &survey))
    }

    pub(crate) fn of(dom: &Dom, survey: &Survey, lines: &[u64]) -> Self {
        let mut lines = lines.to_vec();
        lines.sort_unstable();
        lines.dedup();
        Self { layout: layout(dom, survey), lines }
    }
}

/// The part of a URL's hash that decides whether it is in the sample: the
/// [`SAMPLE`] smallest are.
pub fn sample_key(url: &str) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(url.as_bytes()).into();
    let mut key = [0; 8];
    key.copy_from_slice(digest.get(..8).unwrap_or(&[0; 8]));
    key
}

impl Templates {
    /// How many versions there are.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether nothing has been learned.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// The version that fits a page: the newest of those whose lines it has.
    pub fn fit(&self, sketch: &Sketch) -> Option<VersionId> {
        let fits = |version: &&Version| version.coverage / 2.0 <= version.coverage_on(sketch);
        let newest = || self.versions.iter().rev();
        newest()
            .filter(|version| version.layout == sketch.layout)
            .find(fits)
            .or_else(|| newest().find(fits))
            .map(|version| VersionId(version.id))
    }

    pub(crate) fn get(&self, id: VersionId) -> Option<&Version> {
        self.versions.iter().find(|version| version.id == id.0)
    }

    /// Learns from a sample for the first time, or again after a redesign:
    /// `changed` are the sketches of those sample pages whose bytes changed.
    /// Returns how many versions were added.
    pub fn adapt(&mut self, sample: &[Sketch], changed: &[Sketch]) -> usize {
        if !self.is_empty() {
            let n_strange = changed.iter().filter(|sketch| self.fit(sketch).is_none()).count();
            if changed.len() < FEWEST_CHANGED || n_strange * 2 <= changed.len() {
                return 0;
            }
        }
        let mut layouts: BTreeMap<u64, Vec<&Sketch>> = BTreeMap::new();
        for sketch in sample {
            layouts.entry(sketch.layout).or_default().push(sketch);
        }
        let before = self.len();
        for (layout, pages) in layouts {
            if FEWEST_PAGES <= pages.len()
                && let Some(version) = Version::learn(layout, &pages)
                && self.get(VersionId(version.id)).is_none()
            {
                self.versions.push(version);
            }
        }
        self.len() - before
    }

    /// Drops versions that no page was read with.
    pub fn retain(&mut self, used: &BTreeSet<VersionId>) {
        self.versions.retain(|version| used.contains(&VersionId(version.id)));
    }
}

impl Version {
    fn learn(layout: u64, pages: &[&Sketch]) -> Option<Self> {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for line in pages.iter().flat_map(|page| &page.lines) {
            *counts.entry(*line).or_default() += 1;
        }
        let fewest = FEWEST_PAGES.max((pages.len() * 2).div_ceil(5));
        let lines = counts.into_iter().filter(|(_, n)| fewest <= *n).map(|(line, _)| line);
        let lines: Vec<u64> = lines.take(MOST_HASHES).collect();
        if lines.is_empty() {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(layout.to_le_bytes());
        for line in &lines {
            hash.update(line.to_le_bytes());
        }
        let mut version =
            Self { id: first_8(hash.finalize().as_slice()), layout, lines, coverage: 0.0 };
        let mut shares: Vec<f32> = pages.iter().map(|page| version.coverage_on(page)).collect();
        shares.sort_unstable_by(f32::total_cmp);
        version.coverage = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
        Some(version)
    }

    fn coverage_on(&self, sketch: &Sketch) -> f32 {
        let found = self.lines.iter().filter(|line| sketch.lines.binary_search(line).is_ok());
        found.count() as f32 / self.lines.len().max(1) as f32
    }

    /// Marks what consists of the template's lines.
    pub(crate) fn mark(
        &self,
        dom: &Dom,
        survey: &Survey,
        lines: &[u64],
        dropped: &mut [Option<Reason>],
    ) {
        let mut sums = Vec::with_capacity(lines.len() + 1);
        let mut sum = 0_u32;
        sums.push(sum);
        for (segment, line) in survey.segments.iter().zip(lines) {
            if self.lines.binary_search(line).is_ok() {
                sum += segment.chars;
            }
            sums.push(sum);
        }
        let all = survey.sum_of(0..survey.segments.len()).chars;
        // Where the page has words of its own, however few, what repeats and
        // holds hardly any of them is not what it is about; a share of the
        // whole would let a longer menu decide.
        let own = all - sum;
        let is_beside = |own_inside: u32| OWN_CHARS <= own && own_inside * 4 <= own;
        let mut at = 0;
        while at < dom.len() {
            let item = dom.item(at);
            if item.tag == Tag::Text || survey.marks(at).has(Marks::UNSEEN) {
                at = if item.tag == Tag::Text { at + 1 } else { item.end };
                continue;
            }
            let range = survey.within(dom, at);
            let chars = survey.sum_of(range.clone()).chars;
            let repeated = sums[range.end] - sums[range.start];
            let is_container = item.tag.is_block()
                && item.tag.heading().is_none()
                && !matches!(
                    item.tag,
                    Tag::Html
                        | Tag::Body
                        | Tag::Main
                        | Tag::Dt
                        | Tag::Th
                        | Tag::Td
                        | Tag::Tr
                        | Tag::Li
                        | Tag::Summary
                );
            // A label alone is no region: `Examples` stands on every page.
            let is_region = 1 < range.len() || 40 <= chars;
            if is_container
                && is_region
                && 0 < chars
                && (is_beside(chars - repeated) || chars * 2 < all)
                && chars * 9 <= repeated * 10
            {
                dropped[at as usize] = Some(Reason::Template);
                at = item.end;
                continue;
            }
            at += 1;
        }
    }
}

/// A hash for each segment: its words and where it stands.
pub(crate) fn lines(dom: &Dom, survey: &Survey) -> Vec<u64> {
    let mut words = String::new();
    let mut out = Vec::with_capacity(survey.segments.len());
    for (idx, segment) in survey.segments.iter().enumerate() {
        words.clear();
        let block = dom.item(segment.block);
        let end = survey.segments.get(idx + 1).map_or(block.end, |next| next.at.min(block.end));
        for at in segment.at..end {
            dom.append(at, &mut words);
        }
        // Where it stands: the block and the three elements above it.
        let mut hash = Fnv::new();
        for up in dom.ancestors(segment.block).take(4) {
            place(dom, up, &mut hash);
        }
        hash.write(words.trim().as_bytes());
        out.push(hash.0);
    }
    out
}

/// What a page is built like: the places near its top that hold text.
fn layout(dom: &Dom, survey: &Survey) -> u64 {
    let Some(body) = dom.body else { return 0 };
    let mut paths: BTreeSet<u64> = BTreeSet::new();
    let mut level = vec![(body, Fnv::new())];
    for _ in 0..4 {
        let mut next = Vec::new();
        for (at, hash) in level {
            for child in dom.children(at) {
                let item = dom.item(child);
                let is_seen = item.tag.is_block() && !survey.marks(child).has(Marks::UNSEEN);
                if is_seen && !survey.within(dom, child).is_empty() && is_frame(item.tag) {
                    let mut hash = hash;
                    place(dom, child, &mut hash);
                    paths.insert(hash.0);
                    next.push((child, hash));
                }
            }
        }
        level = next;
    }
    let mut hash = Fnv::new();
    for path in &paths {
        hash.write(&path.to_le_bytes());
    }
    hash.0
}

/// Elements that make up a layout rather than a text.
fn is_frame(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Main
            | Tag::Article
            | Tag::Nav
            | Tag::Aside
            | Tag::Header
            | Tag::Footer
            | Tag::Form
            | Tag::Center
    )
}

/// An element's name, role, and id or first class, without digits.
fn place(dom: &Dom, at: u32, hash: &mut Fnv) {
    hash.write(dom.item(at).tag.name().as_bytes());
    if let Some(role) = dom.attr(at, &local_name!("role")) {
        hash.write(role.as_bytes());
    }
    let id =
        dom.attr(at, &local_name!("id")).filter(|id| is_frame(dom.item(at).tag) && !id.is_empty());
    let class =
        dom.attr(at, &local_name!("class")).and_then(|class| class.split_ascii_whitespace().next());
    for byte in class.or(id).unwrap_or("").bytes().filter(|byte| !byte.is_ascii_digit()) {
        hash.write(&[byte]);
    }
    hash.write(b">");
}

fn first_8(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(bytes.get(..8).unwrap_or(&[0; 8]));
    // JSON readers elsewhere know 53 bits.
    u64::from_le_bytes(first) >> 11
}

/// A hash for lines, which nobody gains from forging: the worst a collision
/// does is to drop a line that stands beside 90 per cent of template.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
