//! Computes the features of every segment of a page.
//!
//! Input: the tree, the survey and the region of the rules. Output: one row of
//! [`FEATURES`](super::features::FEATURES) per segment. The first pass reads the texts and counts
//! groups, the second fills the rows. Memory is allocated per page, not per segment.

use crate::dom::Dom;
use crate::meta::FoundMetadata;
use crate::region::MainRegion;
use crate::survey::{InheritedMarks, PageSurvey, Segment, SegmentTotals};
use crate::tag::Tag;

use super::features::{FIRST_PAGE, N, Row, id};
use super::frame::{FAR, OpenElements, log};
use super::groups::KeyNumbering;
use super::landmark::MainLandmark;
use super::page;
use super::segment_states::{INSIDE, rules, state, tag_code};
use super::text::{TextFacts, TextReader, WordSet, flag};

/// The values of a segment that the first pass computes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FirstPassValues {
    pub(crate) text: TextFacts,
    chars: f32,
    link_share: f32,
    is_prose: bool,
    tag: u8,
    /// Number of the group of segments with the same tags and classes.
    pub(crate) group: u32,
    /// Number of the group of segments with the same text.
    copies: u32,
    parent: u32,
    /// Hints of the block element of the segment and of all ancestors.
    pub(crate) above: u32,
    /// The five nearest ancestors of the block element, the nearest first; the body if there are
    /// fewer.
    pub(crate) levels: [u32; LEVELS],
    /// The nearest `article` or `main` ancestor.
    pub(crate) landmark: Option<u32>,
}

/// Number of ancestors of a block element that features use.
pub(crate) const LEVELS: usize = 5;

/// Totals of one group of segments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupTotals {
    pub(crate) size: u32,
    chars: u32,
    links: f32,
    prose: u32,
}

/// Collects the features of all segments of a page.
// More than 12 fields: one field per input of the features.
pub(crate) struct FeatureCollector<'c> {
    pub(crate) dom: &'c Dom,
    pub(crate) survey: &'c PageSurvey,
    pub(crate) known: Vec<FirstPassValues>,
    pub(crate) groups: Vec<GroupTotals>,
    n_copies: Vec<u32>,
    /// For each segment, the code of the reason for which the rules would drop it; the bit
    /// [`INSIDE`] is set if the segment is inside the region.
    pub(crate) rules: Vec<u8>,
    /// For each segment, a set of the bits in [`state`].
    pub(crate) states: Vec<u8>,
    pub(crate) total: SegmentTotals,
    h1: Option<usize>,
    /// First and last segment of the region (`hull`), and first and last prose segment of the
    /// region.
    hull: (usize, usize),
    prose: (usize, usize),
    /// The root element of the region that the rules chose.
    pub(crate) region: u32,
    pub(crate) page: [f32; N - FIRST_PAGE],
}

impl<'c> FeatureCollector<'c> {
    /// Runs the first pass: reads the texts and counts the groups.
    pub(crate) fn new(
        dom: &'c Dom,
        survey: &'c PageSurvey,
        found: &FoundMetadata,
        region: &MainRegion,
        landmark: &MainLandmark,
    ) -> Self {
        let n = survey.segments.len();
        let total = survey.sum_of(0..n);
        let root = region.roots.iter().copied().max_by_key(|root| survey.within(dom, *root).len());
        let root = root.or(dom.body).unwrap_or(0);
        let (rules, states) = rules(dom, survey, region, landmark);
        let mut collector = Self {
            dom,
            survey,
            known: Vec::with_capacity(n),
            groups: Vec::new(),
            n_copies: Vec::new(),
            rules,
            states,
            total,
            h1: None,
            hull: (0, n.saturating_sub(1)),
            prose: (0, n.saturating_sub(1)),
            region: root,
            page: [0.0; N - FIRST_PAGE],
        };
        collector.find_region();
        collector.read_texts(found);
        collector.page = page::features(&collector, found, region);
        collector
    }

    /// Whether a segment is dropped or kept without being scored.
    pub(crate) fn is_sure(&self, idx: usize) -> bool {
        self.states.get(idx).is_some_and(|bits| bits & (state::SURE | state::WHOLE) != 0)
    }

    /// Marks text that the rules keep as kept, except links and text outside the landmark. On
    /// documentation the rules are right about such text, and it need not be scored.
    pub(crate) fn keep_text(&mut self) {
        let has_landmark = self.states.iter().any(|bits| bits & state::LANDMARK != 0);
        for (bits, segment) in self.states.iter_mut().zip(&self.survey.segments) {
            let is_text = segment.link_chars * 2 < segment.chars;
            let is_beside = has_landmark && *bits & state::LANDMARK == 0;
            if *bits & (state::KEPT | state::SURE) == state::KEPT && is_text && !is_beside {
                *bits |= state::WHOLE;
            }
        }
    }

    fn find_region(&mut self) {
        let n = self.rules.len();
        let inside = |idx: &usize| self.rules[*idx] & INSIDE != 0;
        let first = (0..n).find(inside);
        let last = (0..n).rfind(inside);
        if let (Some(first), Some(last)) = (first, last) {
            self.hull = (first, last);
            let is_prose = |idx: &usize| inside(idx) && self.survey.segments[*idx].is_prose();
            let prose = ((first..=last).find(is_prose), (first..=last).rfind(is_prose));
            self.prose = (prose.0.unwrap_or(first), prose.1.unwrap_or(last));
        }
    }

    fn read_texts(&mut self, found: &FoundMetadata) {
        let segments = &self.survey.segments;
        let title = WordSet::of(&[found.title.as_deref(), found.first(&["og:title"])]);
        let description =
            found.first(&["description"]).or_else(|| found.first(&["og:description"]));
        let description = WordSet::of(&[description]);
        let mut reader = TextReader::new(self.dom, self.survey, title, description);
        let mut frames = OpenElements::new(self.dom, self.survey, self.region, self.total);
        let (mut shapes, mut texts) =
            (KeyNumbering::new(segments.len()), KeyNumbering::new(segments.len()));
        for (idx, segment) in segments.iter().enumerate() {
            let next = segments.get(idx + 1).map_or(self.dom.len(), |next| next.at);
            frames.enter(segment.block);
            let key = |level| frames.up(level).map_or(0, |frame| frame.key);
            let shape = key(0) ^ key(1).rotate_left(11) ^ key(2).rotate_left(22);
            let text = reader.read(segment, next);
            let tag = self.dom.item(segment.block).tag;
            if tag == Tag::H1 && self.h1.is_none() {
                self.h1 = Some(idx);
            }
            let (group, copies) = (shapes.number(shape), texts.number(text.hash));
            self.groups.resize(shapes.len as usize, GroupTotals::default());
            self.n_copies.resize(texts.len as usize, 0);
            let link_share = segment.link_chars as f32 / segment.chars.max(1) as f32;
            let is_prose = segment.is_prose();
            let common = &mut self.groups[group as usize];
            common.size += 1;
            common.chars = common.chars.saturating_add(segment.chars);
            common.links += link_share;
            common.prose += u32::from(is_prose);
            self.n_copies[copies as usize] += 1;
            self.known.push(FirstPassValues {
                text,
                chars: log(segment.chars),
                link_share,
                is_prose,
                tag: tag_code(tag),
                group,
                copies,
                parent: self.dom.item(segment.block).parent,
                above: frames.up(0).map_or(0, |frame| frame.above),
                levels: frames.levels(),
                landmark: frames.up(0).and_then(|frame| frame.landmark_at),
            });
        }
    }

    /// Runs the second pass: calls `each` with the index and the features of every segment that is
    /// not [`state::SURE`].
    pub(crate) fn rows(&self, mut each: impl FnMut(usize, &Row)) {
        let mut row: Row = [0.0; 256];
        row[FIRST_PAGE..N].copy_from_slice(&self.page);
        let mut frames = OpenElements::new(self.dom, self.survey, self.region, self.total);
        // Number of segments since the last heading, and the phrase code of this heading.
        let mut heading = (99_u32, 0.0);
        for (idx, segment) in self.survey.segments.iter().enumerate() {
            let Some(known) = self.known.get(idx) else { break };
            if segment.marks.has(InheritedMarks::HEADING) {
                let appeal = 2.0 * known.text.value(flag::APPEAL);
                heading = (0, known.text.value(flag::ELSEWHERE) + appeal);
            } else {
                heading.0 = heading.0.saturating_add(1);
            }
            if self.is_sure(idx) {
                continue;
            }
            frames.enter(segment.block);
            self.own(segment, known, &mut row);
            ancestors(&frames, &mut row);
            self.place(idx, heading, known, &mut row);
            self.neighbours(idx, known, &mut row);
            each(idx, &row);
        }
    }

    fn own(&self, segment: &Segment, known: &FirstPassValues, row: &mut Row) {
        let (text, marks) = (&known.text, segment.marks);
        let words = segment.words.max(1) as f32;
        let tag = self.dom.item(segment.block).tag;
        row[id::CHARS] = known.chars;
        row[id::WORDS] = segment.words as f32;
        row[id::STOPS] = segment.stops as f32;
        row[id::STOP_RATE] = segment.stops as f32 / words;
        row[id::LINK_SHARE] = known.link_share;
        row[id::LINKS] = segment.links as f32;
        row[id::PLAIN] = log(segment.plain());
        row[id::PROSE] = truth(known.is_prose);
        row[id::DIGITS] = text.digits;
        row[id::UPPER] = text.upper;
        row[id::CAPITALISED] = text.capitalised;
        row[id::END] = f32::from(text.end);
        row[id::STARTS_LOWER] = text.value(flag::STARTS_LOWER);
        row[id::WORD_LENGTH] = segment.chars as f32 / words;
        row[id::TAG] = f32::from(known.tag);
        row[id::HEADING] = f32::from(tag.heading().unwrap_or(0));
        row[id::ITEM] = marks.value(InheritedMarks::ITEM);
        row[id::CELL] = marks.value(InheritedMarks::CELL);
        row[id::PRE] = marks.value(InheritedMarks::PRE);
        row[id::CAPTION] = marks.value(InheritedMarks::CAPTION);
        row[id::QUOTE] = marks.value(InheritedMarks::QUOTE);
        row[id::PARAGRAPH] = marks.value(InheritedMarks::PARAGRAPH);
        row[id::INLINE_STRONG] = text.value(flag::STRONG);
        row[id::INLINE_CODE] = text.value(flag::CODE);
        row[id::INLINE_TIME] = text.value(flag::TIME);
        row[id::INLINE_SMALL] = text.value(flag::SMALL);
        row[id::INLINE_IMAGE] = text.value(flag::IMAGE);
        row[id::INLINE_BUTTON] = text.value(flag::BUTTON);
        row[id::IS_WHOLE_BLOCK] = truth(self.survey.within(self.dom, segment.block).len() == 1);
        row[id::ELSEWHERE] = text.value(flag::ELSEWHERE);
        row[id::APPEAL] = text.value(flag::APPEAL);
        row[id::CREDIT] = text.value(flag::CREDIT);
        row[id::DATE_LINE] = text.value(flag::DATE);
        row[id::RIGHTS] = text.value(flag::RIGHTS);
        row[id::BYLINE] = text.value(flag::BYLINE);
        row[id::TITLE_OVERLAP] = text.title;
        row[id::TITLE_COVER] = text.title_cover;
        row[id::DESCRIPTION_OVERLAP] = text.description;
    }

    fn place(&self, idx: usize, heading: (u32, f32), known: &FirstPassValues, row: &mut Row) {
        let n = self.known.len().max(1) as f32;
        let before = self.survey.sum_of(0..idx);
        row[id::INDEX] = idx as f32 / n;
        row[id::BEFORE] = before.chars as f32 / self.total.chars.max(1) as f32;
        row[id::FROM_H1] =
            self.h1.map_or(-999.0, |h1| (idx as f32 - h1 as f32).clamp(-200.0, 200.0));
        row[id::SINCE_HEADING] = heading.0.min(50) as f32;
        row[id::HEADING_PHRASE] = heading.1;
        row[id::COPIES] = self.n_copies.get(known.copies as usize).copied().unwrap_or(1) as f32;
        let rules = self.rules.get(idx).copied().unwrap_or(0);
        row[id::IN_REGION] = truth(rules & INSIDE != 0);
        row[id::DROPPED_BY] = f32::from(rules & !INSIDE);
        row[id::DROPPED] = truth(rules & !INSIDE != 0);
        let (first, last) = self.hull;
        row[id::IN_HULL] = truth(first <= idx && idx <= last);
        let place = (idx as f32 - first as f32) / (last - first).max(1) as f32;
        row[id::REGION_PLACE] = place.clamp(-5.0, 5.0);
        row[id::FROM_PROSE] = (idx as f32 - self.prose.0 as f32).clamp(-100.0, 100.0);
        row[id::TO_PROSE] = (self.prose.1 as f32 - idx as f32).clamp(-100.0, 100.0);
        let group = self.groups.get(known.group as usize).copied().unwrap_or_default();
        let size = group.size.max(1);
        row[id::GROUP_SIZE] = log(group.size);
        row[id::GROUP_CHARS] = log(group.chars / size);
        row[id::GROUP_LINKS] = group.links / size as f32;
        row[id::GROUP_PROSE] = group.prose as f32 / size as f32;
    }

    fn neighbours(&self, idx: usize, known: &FirstPassValues, row: &mut Row) {
        let n = self.known.len();
        let slots = row[id::B2_CHARS..id::W5_PROSE_BEFORE].chunks_exact_mut(5);
        let others = [idx.wrapping_sub(2), idx.wrapping_sub(1), idx + 1, idx + 2];
        for (slots, other) in slots.zip(others) {
            let Some(other) = self.known.get(other) else {
                slots.copy_from_slice(&[-1.0, -1.0, -1.0, -1.0, 0.0]);
                continue;
            };
            let is_same = other.group == known.group;
            let same = truth(is_same) + truth(is_same && other.parent == known.parent);
            let prose = truth(other.is_prose);
            slots.copy_from_slice(&[
                other.chars,
                other.link_share,
                prose,
                f32::from(other.tag),
                same,
            ]);
        }
        let windows = row[id::W5_PROSE_BEFORE..FIRST_PAGE].chunks_exact_mut(3);
        for (slots, reach) in windows.zip([5, 15]) {
            let (from, to) = (idx.saturating_sub(reach), (idx + reach + 1).min(n));
            let before = self.survey.sum_of(from..idx);
            let after = self.survey.sum_of((idx + 1).min(to)..to);
            let all = self.survey.sum_of(from..to);
            slots.copy_from_slice(&[
                before.prose as f32 / 100.0,
                after.prose as f32 / 100.0,
                all.link_share(),
            ]);
        }
    }
}

/// Fills in the features of the elements above a segment.
fn ancestors(frames: &OpenElements<'_>, row: &mut Row) {
    let Some(block) = frames.up(0) else { return };
    row[id::DEPTH] = frames.open.len() as f32;
    for (slot, levels) in row[id::UP_ARTICLE..].iter_mut().zip(block.distances) {
        *slot = f32::from(levels);
    }
    let hints = |level| frames.up(level).map_or(0, |frame| frame.hints);
    let (first, second, third) = (block.hints, hints(1), hints(2));
    let near = first | frames.up(1).map_or(0, |up| up.near);
    let (low, high) = row[id::NEAR_CONTENT..id::INDEX].split_at_mut(32);
    if block.above == 0 {
        low.fill(0.0);
        high.fill(0.0);
    } else {
        for (bit, (low, high)) in low.iter_mut().zip(high).enumerate() {
            let at = |hints: u32| hints >> bit & 1;
            *low = (4 * at(first) + 2 * at(second) + at(third)) as f32;
            *high = (2 * at(near) + at(block.above)) as f32;
        }
    }
    row[id::REGION_UP] = f32::from(block.region_up);
    row[id::REGION_DOWN] = f32::from(block.region_down);
    let levels = row[id::L1_CHARS..id::LM_CHARS].chunks_exact_mut(5);
    for (level, slots) in levels.enumerate() {
        let frame = frames.up(level + 1).or(frames.open.first());
        slots.copy_from_slice(&frame.map_or([0.0; 5], |frame| frame.sums));
    }
    row[id::LM_CHARS..id::GROUP_SIZE].copy_from_slice(&block.landmark);
}

pub(crate) fn truth(is_so: bool) -> f32 {
    if is_so { 1.0 } else { 0.0 }
}

const _: () = {
    assert!(id::UP_DETAILS - id::UP_ARTICLE + 1 == super::frame::N_DISTANCES);
    assert!(id::INDEX - id::NEAR_CONTENT == 64);
    assert!(id::LM_CHARS - id::L1_CHARS == 25);
    assert!(id::GROUP_SIZE - id::LM_CHARS == 3);
    assert!(id::W5_PROSE_BEFORE - id::B2_CHARS == 20);
    assert!(FIRST_PAGE - id::W5_PROSE_BEFORE == 6);
    assert!(FAR == 99);
};
