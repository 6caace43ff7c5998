//! Learns the template of a site: the lines that its pages share.
//!
//! Input: sketches of sample pages. Output: [`TemplateSet`], a list of versions. A version holds
//! hashes of lines that many pages of one layout have in the same place, shapes of lines without
//! their dates and numbers (build stamps), and places that hold only template lines (menus). Parts
//! that consist almost only of such lines are dropped. A template never drops the part with most
//! of the text.
//!
//! An extraction depends only on the page bytes and one version. Versions are appended, and
//! removed only when no page uses them, so adding, removing or renaming pages does not change
//! other pages.

mod lines;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) use self::lines::lines;
use self::lines::{first_8, layout};
use crate::dom::Dom;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::verdict::DropReason;
use crate::{Limits, charset};

/// Minimum number of sample pages of a layout from which a template is learned.
const FEWEST_PAGES: usize = 5;
/// Maximum number of hashes in one version.
const MOST_HASHES: usize = 20_000;
/// Minimum number of changed pages from which a redesign is detected.
const FEWEST_CHANGED: usize = 10;
/// Minimum number of characters of own text of a page that has content of its own.
const OWN_CHARS: u32 = 20;
/// Maximum length of a line that has a shape, in bytes.
const MOST_STAMP: usize = 400;
/// Minimum number of words that identify a line regardless of its place.
const FEWEST_WORDS: usize = 4;
/// Maximum number of sample pages of a site.
pub const SAMPLE: usize = 200;

/// All template versions that were learned for a site, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateSet {
    versions: Vec<TemplateVersion>,
}

/// The lines that the pages of one layout shared when the version was learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TemplateVersion {
    id: u64,
    layout: u64,
    /// Hashes of the shared lines; sorted.
    lines: Vec<u64>,
    /// Shapes of lines that are on nearly all pages; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shapes: Vec<u64>,
    /// Places that contain only `lines` on nearly all pages; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<u64>,
    /// Median share of `lines` that a page of the layout contains.
    coverage: f32,
}

/// Id of a template version; an input of the extraction of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TemplateVersionId(pub u64);

/// The layout of a page and the hashes of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSketch {
    layout: u64,
    /// Hashes of the lines; sorted, without duplicates.
    lines: Vec<LineHashes>,
}

/// A line of a page, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineHashes {
    /// Hash of the text and the place of the line.
    whole: u64,
    /// Hash of the text without numbers and dates. It includes the place only if the line has too
    /// few words to identify it.
    shape: Option<u64>,
    /// Whether the line contains numbers or dates.
    is_open: bool,
    /// Hash of the place of the line: its block element and three ancestors.
    place: u64,
}

impl PageSketch {
    /// Computes the sketch of an HTML page.
    pub fn of_html(bytes: &[u8], charset: Option<&str>, limits: &Limits) -> Self {
        let decoded = charset::decode(bytes, charset);
        let dom = Dom::parse(&decoded.text, limits);
        let survey = PageSurvey::of(&dom);
        Self::of(&dom, &survey, &lines(&dom, &survey))
    }

    pub(crate) fn of(dom: &Dom, survey: &PageSurvey, lines: &[LineHashes]) -> Self {
        let mut lines = lines.to_vec();
        lines.sort_unstable();
        lines.dedup();
        Self { layout: layout(dom, survey), lines }
    }

    fn has(&self, whole: u64) -> bool {
        self.lines.binary_search_by_key(&whole, |line| line.whole).is_ok()
    }
}

/// Returns the sample key of a URL, which is a part of its hash. The sample consists of the
/// [`SAMPLE`] pages with the smallest keys.
pub fn sample_key(url: &str) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(url.as_bytes()).into();
    let mut key = [0; 8];
    key.copy_from_slice(digest.get(..8).unwrap_or(&[0; 8]));
    key
}

impl TemplateSet {
    /// Returns the number of versions.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Returns whether no version was learned.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Returns the newest version that matches a page: the page has enough of the version's lines.
    /// Versions for the layout of the page are preferred.
    pub fn fit(&self, sketch: &PageSketch) -> Option<TemplateVersionId> {
        let fits =
            |version: &&TemplateVersion| version.coverage / 2.0 <= version.coverage_on(sketch);
        let newest = || self.versions.iter().rev();
        newest()
            .filter(|version| version.layout == sketch.layout)
            .find(fits)
            .or_else(|| newest().find(fits))
            .map(|version| TemplateVersionId(version.id))
    }

    pub(crate) fn get(&self, id: TemplateVersionId) -> Option<&TemplateVersion> {
        self.versions.iter().find(|version| version.id == id.0)
    }

    /// Learns versions from a sample: all layouts the first time and after a redesign, otherwise
    /// the layouts in which nearly all changed pages have the same new line. `changed` holds the
    /// sketches of the sample pages whose bytes changed. Returns the number of versions added.
    pub fn adapt(&mut self, sample: &[PageSketch], changed: &[PageSketch]) -> usize {
        let mut wanted = LayoutSelection::All;
        if !self.is_empty() {
            let n_strange = changed.iter().filter(|sketch| self.fit(sketch).is_none()).count();
            if changed.len() < FEWEST_CHANGED {
                return 0;
            }
            if n_strange * 2 <= changed.len() {
                wanted = LayoutSelection::Layouts(self.grown(changed));
            }
        }
        let mut layouts: BTreeMap<u64, Vec<&PageSketch>> = BTreeMap::new();
        for sketch in sample {
            layouts.entry(sketch.layout).or_default().push(sketch);
        }
        let before = self.len();
        for (layout, pages) in layouts {
            if FEWEST_PAGES <= pages.len()
                && wanted.has(layout)
                && let Some(version) = TemplateVersion::learn(layout, &pages)
                && self.get(TemplateVersionId(version.id)).is_none()
            {
                self.versions.push(version);
            }
        }
        self.len() - before
    }

    /// Returns the layouts in which nearly all changed pages have the same line that their version
    /// does not contain.
    fn grown(&self, changed: &[PageSketch]) -> BTreeSet<u64> {
        let mut layouts: BTreeMap<u64, Vec<&PageSketch>> = BTreeMap::new();
        for sketch in changed {
            layouts.entry(sketch.layout).or_default().push(sketch);
        }
        let is_grown = |pages: &Vec<&PageSketch>| {
            let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
            for page in pages {
                let version = self.fit(page).and_then(|id| self.get(id));
                let is_new =
                    |line: &&LineHashes| version.is_none_or(|version| !version.knows(line));
                for line in page.lines.iter().filter(is_new) {
                    *counts.entry(line.whole).or_default() += 1;
                }
            }
            FEWEST_CHANGED <= pages.len() && counts.values().any(|n| is_nearly(*n, pages.len()))
        };
        layouts.into_iter().filter(|(_, pages)| is_grown(pages)).map(|(layout, _)| layout).collect()
    }

    /// Removes the versions that are not in `used`.
    pub fn retain(&mut self, used: &BTreeSet<TemplateVersionId>) {
        self.versions.retain(|version| used.contains(&TemplateVersionId(version.id)));
    }
}

/// Selects the layouts to learn.
enum LayoutSelection {
    All,
    Layouts(BTreeSet<u64>),
}

impl LayoutSelection {
    fn has(&self, layout: u64) -> bool {
        match self {
            Self::All => true,
            Self::Layouts(layouts) => layouts.contains(&layout),
        }
    }
}

/// Returns whether `n` is at least 90 % of `all`.
fn is_nearly(n: usize, all: usize) -> bool {
    all * 9 <= n * 10
}

impl TemplateVersion {
    fn learn(layout: u64, pages: &[&PageSketch]) -> Option<Self> {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for line in pages.iter().flat_map(|page| &page.lines) {
            *counts.entry(line.whole).or_default() += 1;
        }
        // The lines must be on most pages; a line that only some pages share may be part of their
        // content.
        let fewest = FEWEST_PAGES.max(pages.len() / 2 + 1);
        let lines = counts.iter().filter(|(_, n)| fewest <= **n).map(|(line, _)| *line);
        let lines: Vec<u64> = lines.take(MOST_HASHES).collect();
        if lines.is_empty() {
            return None;
        }
        let mut shapes: BTreeSet<u64> = BTreeSet::new();
        for line in pages.iter().flat_map(|page| &page.lines) {
            let n = counts.get(&line.whole).copied().unwrap_or(0);
            shapes.extend(line.shape.filter(|_| is_nearly(n, pages.len())));
        }
        let shapes: Vec<u64> = shapes.into_iter().take(MOST_HASHES).collect();
        let places = places(&lines, pages);
        let mut hash = Sha256::new();
        hash.update(layout.to_le_bytes());
        for line in lines.iter().chain(&shapes).chain(&places) {
            hash.update(line.to_le_bytes());
        }
        let id = first_8(hash.finalize().as_slice());
        let mut version = Self { id, layout, lines, shapes, places, coverage: 0.0 };
        let mut shares: Vec<f32> = pages.iter().map(|page| version.coverage_on(page)).collect();
        shares.sort_unstable_by(f32::total_cmp);
        version.coverage = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
        Some(version)
    }

    fn coverage_on(&self, sketch: &PageSketch) -> f32 {
        let found = self.lines.iter().filter(|line| sketch.has(**line));
        found.count() as f32 / self.lines.len().max(1) as f32
    }

    fn knows(&self, line: &LineHashes) -> bool {
        self.lines.binary_search(&line.whole).is_ok()
            || self.places.binary_search(&line.place).is_ok()
            || self.has_shape(line)
    }

    /// Returns whether the shape of a line is on nearly all pages.
    fn has_shape(&self, line: &LineHashes) -> bool {
        line.shape.is_some_and(|shape| self.shapes.binary_search(&shape).is_ok())
    }

    /// Marks the elements that consist almost only of template lines.
    pub(crate) fn mark(
        &self,
        dom: &Dom,
        survey: &PageSurvey,
        lines: &[LineHashes],
        dropped: &mut [Option<DropReason>],
    ) {
        let mut sums = Vec::with_capacity(lines.len() + 1);
        let mut sum = 0_u32;
        sums.push(sum);
        for (segment, line) in survey.segments.iter().zip(lines) {
            if self.knows(line) {
                sum += segment.chars;
            }
            sums.push(sum);
        }
        let all = survey.sum_of(0..survey.segments.len()).chars;
        // If the page has enough own text, a repeated element with at most a quarter of the own
        // text is not content. The share of the whole text is not used, because a longer menu
        // would change it.
        let own = all - sum;
        let is_beside = |own_inside: u32| OWN_CHARS <= own && own_inside * 4 <= own;
        let mut at = 0;
        while at < dom.len() {
            let item = dom.item(at);
            if item.tag == Tag::Text || survey.marks(at).has(InheritedMarks::UNSEEN) {
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
            // A short label, such as `Examples`, may be part of every page's content and is not
            // marked. A short line with a number is a build stamp.
            let is_stamp =
                || lines.get(range.start).is_some_and(|line| line.is_open && self.has_shape(line));
            let is_region = 1 < range.len() || 40 <= chars || is_stamp();
            if is_container
                && is_region
                && 0 < chars
                && (is_beside(chars - repeated) || chars * 2 < all)
                && chars * 9 <= repeated * 10
            {
                dropped[at as usize] = Some(DropReason::Template);
                at = item.end;
                continue;
            }
            at += 1;
        }
    }
}

/// Returns the places that contain only template lines on nearly all pages.
fn places(lines: &[u64], pages: &[&PageSketch]) -> Vec<u64> {
    // For each place, the number of pages with only template lines there, and the number of other
    // pages.
    let mut counts: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for page in pages {
        let mut here: BTreeMap<u64, bool> = BTreeMap::new();
        for line in &page.lines {
            *here.entry(line.place).or_insert(true) &= lines.binary_search(&line.whole).is_ok();
        }
        for (place, is_shared) in here {
            let count = counts.entry(place).or_default();
            count.0 += usize::from(is_shared);
            count.1 += usize::from(!is_shared);
        }
    }
    let is_shared = |(shared, other): (usize, usize)| {
        is_nearly(shared, pages.len()) && other * 20 <= pages.len()
    };
    let found = counts.into_iter().filter(|(_, count)| is_shared(*count)).map(|(place, _)| place);
    found.take(MOST_HASHES).collect()
}
