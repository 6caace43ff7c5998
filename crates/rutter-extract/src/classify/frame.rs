//! Keeps a stack of the open elements above the current segment.
//!
//! Input: segments in document order. Output: for each ancestor, the values that features use.
//! Each element is visited once, regardless of the number of its segments.

use html5ever::local_name;

use crate::dom::Dom;
use crate::survey::{PageSurvey, SegmentTotals};
use crate::tag::Tag;

/// Number of element kinds whose distance is a feature.
pub(crate) const N_DISTANCES: usize = 14;
/// Distance to an element kind that no ancestor has.
pub(crate) const FAR: u8 = 99;

/// An open element: the block element of the current segment or one of its ancestors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenElement {
    pub(crate) at: u32,
    /// Hash of the tag and the class.
    pub(crate) key: u32,
    /// Hints of the element alone.
    pub(crate) hints: u32,
    /// Hints of the element, its parent and its grandparent.
    pub(crate) near: u32,
    /// Hints of the element and all ancestors.
    pub(crate) above: u32,
    /// For each element kind, the number of levels up to the nearest such element.
    pub(crate) distances: [u8; N_DISTANCES],
    /// Number of levels up to the nearest element that is the root of the region or holds it.
    pub(crate) region_up: u8,
    /// Number of levels up to the root of the region.
    pub(crate) region_down: u8,
    /// Characters, link share, prose share, number of segments, and share of the page's prose.
    pub(crate) sums: [f32; 5],
    /// Characters, link share, and share of the page's prose of the nearest `article` or `main`.
    pub(crate) landmark: [f32; 3],
    /// The nearest `article` or `main`.
    pub(crate) landmark_at: Option<u32>,
}

impl OpenElement {
    const OUTSIDE: Self = Self {
        at: 0,
        key: 0,
        hints: 0,
        near: 0,
        above: 0,
        distances: [FAR; N_DISTANCES],
        region_up: 0,
        region_down: FAR,
        sums: [0.0; 5],
        landmark: [-1.0, 0.0, 0.0],
        landmark_at: None,
    };
}

/// The open elements, from the body to the block element of the current segment.
pub(crate) struct OpenElements<'f> {
    dom: &'f Dom,
    survey: &'f PageSurvey,
    /// The root element of the region that the rules chose.
    region: u32,
    /// Number of prose characters of the page.
    prose: f32,
    pub(crate) open: Vec<OpenElement>,
    path: Vec<u32>,
}

impl<'f> OpenElements<'f> {
    pub(crate) fn new(
        dom: &'f Dom,
        survey: &'f PageSurvey,
        region: u32,
        total: SegmentTotals,
    ) -> Self {
        let prose = total.prose.max(1) as f32;
        Self { dom, survey, region, prose, open: Vec::with_capacity(64), path: Vec::new() }
    }

    /// Opens the elements from the body to `block`, and closes the elements that do not hold
    /// `block`.
    pub(crate) fn enter(&mut self, block: u32) {
        while let Some(last) = self.open.last() {
            if last.at <= block && block < self.dom.item(last.at).end {
                break;
            }
            self.open.pop();
        }
        let top = self.open.last().map(|frame| frame.at);
        if top == Some(block) {
            return;
        }
        self.path.clear();
        for up in self.dom.ancestors(block) {
            if Some(up) == top || matches!(self.dom.item(up).tag, Tag::Html) {
                break;
            }
            self.path.push(up);
        }
        while let Some(at) = self.path.pop() {
            let frame = self.frame(at);
            self.open.push(frame);
        }
    }

    /// Returns the open element that is `level` levels above the innermost one.
    pub(crate) fn up(&self, level: usize) -> Option<&OpenElement> {
        self.open.len().checked_sub(level + 1).and_then(|at| self.open.get(at))
    }

    /// Returns the ancestors of the innermost open element, the nearest first.
    pub(crate) fn levels<const L: usize>(&self) -> [u32; L] {
        let body = self.open.first().map_or(0, |frame| frame.at);
        std::array::from_fn(|level| self.up(level + 1).map_or(body, |frame| frame.at))
    }

    fn frame(&self, at: u32) -> OpenElement {
        let dom = self.dom;
        let above = self.open.last().copied().unwrap_or(OpenElement::OUTSIDE);
        let item = dom.item(at);
        let is_body = item.tag == Tag::Body;
        let hints = if is_body { 0 } else { self.survey.hints(at).bits() };
        let sum = self.survey.sum(dom, at);
        let chars = sum.chars.max(1) as f32;
        let sums = [
            log(sum.chars),
            sum.link_chars as f32 / chars,
            sum.prose as f32 / chars,
            log(sum.segments),
            sum.prose as f32 / self.prose,
        ];
        let mut frame = OpenElement {
            at,
            key: self.key(at, item.tag),
            hints,
            near: hints | above.hints | self.up(1).map_or(0, |up| up.hints),
            above: hints | above.above,
            distances: above.distances.map(|levels| levels.saturating_add(1).min(FAR)),
            region_up: above.region_up.saturating_add(1).min(FAR),
            region_down: above.region_down.saturating_add(1).min(FAR),
            sums,
            landmark: above.landmark,
            landmark_at: above.landmark_at,
        };
        if at <= self.region && self.region < item.end {
            frame.region_up = 0;
        }
        if at == self.region {
            frame.region_down = 0;
        }
        if let Some(kind) = self.kind(at, item.tag) {
            frame.distances[kind] = 0;
            if kind <= MAIN {
                frame.landmark = [sums[0], sums[1], sums[4]];
                frame.landmark_at = Some(at);
            }
        }
        frame
    }

    /// Returns the index of an element in [`OpenElement::distances`], if its distance is a feature.
    fn kind(&self, at: u32, tag: Tag) -> Option<usize> {
        Some(match tag {
            Tag::Article => ARTICLE,
            Tag::Main => MAIN,
            Tag::Nav => NAV,
            Tag::Aside => 3,
            Tag::Footer => FOOTER,
            Tag::Header => 5,
            Tag::Form => 6,
            Tag::Table => TABLE,
            Tag::Ul | Tag::Ol | Tag::Menu => LIST,
            Tag::Dl => 9,
            Tag::Figure => 10,
            Tag::Blockquote => 11,
            Tag::Section => 12,
            Tag::Details | Tag::Dialog => 13,
            Tag::Div | Tag::Custom => match self.dom.attr(at, &local_name!("role")) {
                Some("main") => MAIN,
                Some("navigation") => NAV,
                Some("article") => ARTICLE,
                Some("contentinfo") => FOOTER,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn key(&self, at: u32, tag: Tag) -> u32 {
        let mut hash = (0x811c_9dc5 ^ tag as u32).wrapping_mul(0x0100_0193);
        if let Some(class) = self.dom.attr(at, &local_name!("class")) {
            for &byte in class.as_bytes().iter().take(24) {
                // Digits are skipped, because a number in a class often counts elements.
                if !byte.is_ascii_digit() {
                    hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
                }
            }
        }
        hash
    }
}

/// Indices in [`OpenElement::distances`] that other modules use.
pub(crate) const ARTICLE: usize = 0;
pub(crate) const MAIN: usize = 1;
pub(crate) const NAV: usize = 2;
pub(crate) const FOOTER: usize = 4;
pub(crate) const TABLE: usize = 7;
pub(crate) const LIST: usize = 8;

/// Returns the logarithm to base 2 of `n + 1`, interpolated linearly between powers of two.
///
/// The result comes from the bits of a float, so it is the same on every machine.
pub(crate) fn log(n: u32) -> f32 {
    let bits = (n.saturating_add(1) as f32).to_bits();
    (bits >> 8) as f32 * (1.0 / 32768.0) - 127.0
}

#[cfg(test)]
mod tests {
    use super::log;

    #[test]
    fn log_grows_and_is_exact_at_powers_of_two() {
        let close = |n, wanted: f32| assert!((log(n) - wanted).abs() < 1e-3, "{n}: {}", log(n));
        close(0, 0.0);
        close(1, 1.0);
        close(1023, 10.0);
        assert!((0..5000).all(|n| log(n) <= log(n + 1)));
    }
}
