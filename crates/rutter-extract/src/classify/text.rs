//! Computes the text features of a segment in one pass.
//!
//! Input: the text of a segment, and the words of the title and the description. Output:
//! [`TextFacts`]: shares of digits and capitals, known phrases, words shared with the title.

use crate::dom::Dom;
use crate::phrase;
use crate::survey::{InheritedMarks, PageSurvey, Segment};
use crate::tag::Tag;

/// Number of bytes at the start of a segment that are read.
pub(crate) const HEAD: usize = 96;
/// Maximum number of items of a segment that are read.
const MOST_ITEMS: u32 = 64;

/// A set of words, stored as the bits of their hashes. It may contain words that were not added.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordSet {
    bits: [u64; 8],
    pub(crate) len: u32,
}

impl WordSet {
    pub(crate) fn of(texts: &[Option<&str>]) -> Self {
        let mut set = Self::default();
        for text in texts.iter().flatten() {
            let mut end = text.len().min(400);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            scan(text.get(..end).unwrap_or(text), |word| {
                if !set.has(word) {
                    set.len += 1;
                    let (slot, bit) = slot(word);
                    set.bits[slot] |= bit;
                }
            });
        }
        set
    }

    fn has(&self, word: u32) -> bool {
        let (slot, bit) = slot(word);
        self.bits[slot] & bit != 0
    }
}

fn slot(word: u32) -> (usize, u64) {
    ((word >> 6 & 7) as usize, 1 << (word & 63))
}

/// For each byte, a sum of 1 (digit), 2 (upper-case letter) and 4 (part of a word).
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = byte.is_ascii_digit() as u8
            | (byte.is_ascii_uppercase() as u8) << 1
            | ((byte.is_ascii_alphanumeric() || !byte.is_ascii()) as u8) << 2;
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    classes
};

const SEED: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// Character counts of a text, from one pass.
#[derive(Default)]
struct CharCounts {
    digits: u32,
    upper: u32,
    /// Number of words that start with an upper-case letter.
    capitals: u32,
}

/// Counts the characters of a text in one pass; calls `each` with the hash of every word, ignoring
/// case.
fn scan(text: &str, mut each: impl FnMut(u32)) -> CharCounts {
    let mut counted = CharCounts::default();
    let (mut hash, mut before) = (SEED, b' ');
    for &byte in text.as_bytes() {
        let class = CLASSES[usize::from(byte)];
        let is_upper = u32::from(class >> 1 & 1);
        counted.digits += u32::from(class & 1);
        counted.upper += is_upper;
        counted.capitals += is_upper & u32::from(before == b' ');
        before = byte;
        if class & 4 != 0 {
            // Bit 5 distinguishes a lower-case letter from an upper-case letter.
            hash = (hash ^ (u32::from(byte) | is_upper << 5)).wrapping_mul(PRIME);
        } else if hash != SEED {
            each(hash ^ hash >> 15);
            hash = SEED;
        }
    }
    if hash != SEED {
        each(hash ^ hash >> 15);
    }
    counted
}

/// Properties of the text of a segment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextFacts {
    pub(crate) hash: u32,
    pub(crate) digits: f32,
    pub(crate) upper: f32,
    pub(crate) capitalised: f32,
    pub(crate) title: f32,
    pub(crate) title_cover: f32,
    pub(crate) description: f32,
    /// The last character: 0 other, 1 colon, 2 end of a sentence.
    pub(crate) end: u8,
    pub(crate) flags: u16,
}

/// Bits of [`TextFacts::flags`].
pub(crate) mod flag {
    pub(crate) const STARTS_LOWER: u16 = 1;
    pub(crate) const STRONG: u16 = 2;
    pub(crate) const CODE: u16 = 4;
    pub(crate) const TIME: u16 = 8;
    pub(crate) const SMALL: u16 = 16;
    pub(crate) const IMAGE: u16 = 32;
    pub(crate) const BUTTON: u16 = 64;
    pub(crate) const ELSEWHERE: u16 = 128;
    pub(crate) const APPEAL: u16 = 256;
    pub(crate) const CREDIT: u16 = 512;
    pub(crate) const DATE: u16 = 1024;
    pub(crate) const RIGHTS: u16 = 2048;
    pub(crate) const BYLINE: u16 = 4096;
    pub(crate) const PRICE: u16 = 8192;
}

impl TextFacts {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn value(&self, flag: u16) -> f32 {
        if self.has(flag) { 1.0 } else { 0.0 }
    }
}

/// Reads the texts of segments into one reused buffer.
pub(crate) struct TextReader<'t> {
    dom: &'t Dom,
    survey: &'t PageSurvey,
    title: WordSet,
    description: WordSet,
    head: String,
}

impl<'t> TextReader<'t> {
    pub(crate) fn new(
        dom: &'t Dom,
        survey: &'t PageSurvey,
        title: WordSet,
        description: WordSet,
    ) -> Self {
        Self { dom, survey, title, description, head: String::with_capacity(2 * HEAD) }
    }

    /// Reads the text of a segment; `next` is the first item of the next segment.
    pub(crate) fn read(&mut self, segment: &Segment, next: u32) -> TextFacts {
        let mut facts = TextFacts::default();
        self.gather(segment, next, &mut facts);
        let (mut n, mut title, mut description, mut hash) = (0_u32, 0_u32, 0_u32, SEED);
        let counted = scan(&self.head, |word| {
            n += 1;
            title += u32::from(self.title.has(word));
            description += u32::from(self.description.has(word));
            hash = (hash ^ word).wrapping_mul(PRIME);
        });
        let len = self.head.len().max(1) as f32;
        let n = n.max(1) as f32;
        facts.hash = hash ^ segment.chars.wrapping_mul(0x9e37_79b1);
        facts.digits = counted.digits as f32 / len;
        facts.upper = counted.upper as f32 / len;
        facts.capitalised = counted.capitals as f32 / n;
        facts.title = title as f32 / n;
        facts.description = description as f32 / n;
        facts.title_cover = (title as f32 / self.title.len.max(1) as f32).min(1.0);
        let first = self.head.bytes().find(u8::is_ascii_alphanumeric);
        if first.is_some_and(|byte| byte.is_ascii_lowercase()) {
            facts.flags |= flag::STARTS_LOWER;
        }
        if segment.chars < 240 {
            facts.flags |= self.phrases(counted.digits != 0);
        }
        facts
    }

    /// Copies the first bytes of a segment to the buffer, and stores its inline elements and its
    /// last character in `facts`.
    fn gather(&mut self, segment: &Segment, next: u32, facts: &mut TextFacts) {
        let dom = self.dom;
        self.head.clear();
        let parent = dom.item(segment.at).parent;
        if parent != segment.block && parent < dom.len() {
            facts.flags |= inline_flag(dom.item(parent).tag);
        }
        let end = next.min(dom.item(segment.block).end);
        let mut last = None;
        for at in segment.at..end.min(segment.at.saturating_add(MOST_ITEMS)) {
            let tag = dom.item(at).tag;
            if tag != Tag::Text {
                facts.flags |= inline_flag(tag);
                continue;
            }
            if dom.is_space(at) || self.survey.marks(at).has(InheritedMarks::UNSEEN) {
                continue;
            }
            last = Some(at);
            if self.head.len() < HEAD {
                let text = dom.text(at);
                let mut cut = text.len().min(HEAD);
                while !text.is_char_boundary(cut) {
                    cut -= 1;
                }
                self.head.push_str(text.get(..cut).unwrap_or(text));
            }
        }
        let last = last.map_or("", |at| dom.text(at)).trim_ascii_end();
        facts.end = match last.chars().next_back() {
            Some(':' | '\u{ff1a}') => 1,
            Some('.' | '!' | '?' | '\u{3002}' | '\u{201d}' | '"' | '\u{bb}' | '\u{2026}' | ')') => {
                2
            }
            _ => 0,
        };
    }

    fn phrases(&self, has_digits: bool) -> u16 {
        let head = self.head.trim_ascii();
        let mut flags = 0;
        if phrase::is_elsewhere(head) {
            flags |= flag::ELSEWHERE;
        }
        if phrase::is_appeal(head) {
            flags |= flag::APPEAL;
        }
        if phrase::is_credit(head) {
            flags |= flag::CREDIT;
        }
        if phrase::is_byline(head) {
            flags |= flag::BYLINE;
        }
        if has_digits && phrase::is_date_line(head) {
            flags |= flag::DATE;
        }
        let bytes = head.as_bytes();
        if memchr::memchr2(0xc2, b'C', bytes).is_some()
            && ["\u{a9}", "Copyright"].iter().any(|sign| head.contains(sign))
        {
            flags |= flag::RIGHTS;
        }
        // The dollar sign, and the first UTF-8 bytes of the signs for pound, yen and euro.
        if has_digits
            && memchr::memchr3(b'$', 0xc2, 0xe2, bytes).is_some()
            && head.contains(['$', '\u{a3}', '\u{a5}', '\u{20ac}'])
        {
            flags |= flag::PRICE;
        }
        flags
    }
}

fn inline_flag(tag: Tag) -> u16 {
    match tag {
        Tag::B | Tag::Strong => flag::STRONG,
        Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => flag::CODE,
        Tag::Time => flag::TIME,
        Tag::Small => flag::SMALL,
        Tag::Img => flag::IMAGE,
        Tag::Button | Tag::Label | Tag::Input => flag::BUTTON,
        _ => 0,
    }
}
