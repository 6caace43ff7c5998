//! Counts characters, words and punctuation marks of a text, 16 bytes at a time.

/// Numbers of characters, words and punctuation marks in a text.
#[derive(Debug, Default)]
pub(super) struct TextCounts {
    pub(super) chars: u32,
    pub(super) words: u32,
    pub(super) stops: u32,
}

/// `LANE` is the number of bytes that are counted together; `CHUNK` is the number of bytes after
/// which the 8-bit counters could overflow.
const LANE: usize = 16;
const CHUNK: usize = LANE * 15;

impl TextCounts {
    /// Counts a text without branches: the text is read in lanes, with an 8-bit counter per byte
    /// position of a lane. The last lane also reads the bytes `behind` the text, if there are
    /// enough.
    pub(super) fn of(text: &str, behind: &[u8], is_tidy: bool) -> Self {
        let bytes = text.as_bytes();
        let mut counts = Self::default();
        let (mut is_wide, mut n_spaces) = (false, 0);
        for (chunk, behind) in bytes.chunks(CHUNK).zip(behind.chunks(CHUNK)) {
            let mut lanes = LaneCounters::default();
            let (whole, rest) = chunk.as_chunks::<LANE>();
            for lane in whole {
                lanes.add(lane);
            }
            if !rest.is_empty() {
                lanes.add(&first_of(rest, &behind[LANE * whole.len()..]));
            }
            counts.chars += sum(lanes.chars);
            counts.stops += sum(lanes.stops);
            n_spaces += sum(lanes.spaces);
            is_wide |= lanes.wide != [0; LANE];
        }
        counts.words = if is_tidy {
            let n_outside = u32::from(text.starts_with(' ')) + u32::from(text.ends_with(' '));
            (n_spaces + 1).saturating_sub(n_outside)
        } else {
            n_words(bytes)
        };
        if is_wide {
            // In scripts without spaces between words, each character carries more text.
            let stops = text.matches(['\u{3002}', '\u{ff0c}', '\u{3001}', '\u{ff01}', '\u{ff1f}']);
            counts.stops += u32::try_from(stops.count()).unwrap_or(0);
            counts.chars = counts.chars.saturating_mul(2);
            counts.words = counts.words.max(counts.chars / 5);
        }
        counts
    }
}

/// One counter per byte position of a lane.
#[derive(Default)]
struct LaneCounters {
    chars: [u8; LANE],
    spaces: [u8; LANE],
    stops: [u8; LANE],
    wide: [u8; LANE],
}

impl LaneCounters {
    fn add(&mut self, lane: &[u8; LANE]) {
        for (at, &byte) in lane.iter().enumerate() {
            // Bytes that continue a UTF-8 character are not counted.
            self.chars[at] += u8::from(b' ' < byte) & u8::from(byte & 0xc0 != 0x80);
            self.spaces[at] += u8::from(byte == b' ');
            self.stops[at] += u8::from(matches!(byte, b'.' | b',' | b'!' | b'?' | b';' | b':'));
            self.wide[at] |= u8::from(0xe3 <= byte);
        }
    }
}

/// Returns the last bytes of a text as a lane, filled up with zeros, which are not counted.
fn first_of(rest: &[u8], behind: &[u8]) -> [u8; LANE] {
    const PLACES: [u8; LANE] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut lane = [0; LANE];
    let Some(whole) = behind.first_chunk::<LANE>() else {
        lane[..rest.len()].copy_from_slice(rest);
        return lane;
    };
    let n = u8::try_from(rest.len()).unwrap_or(u8::MAX);
    for ((to, &byte), place) in lane.iter_mut().zip(whole).zip(PLACES) {
        *to = if place < n { byte } else { 0 };
    }
    lane
}

/// Returns the sum of the counters of a chunk, which also fits into eight bits.
fn sum(counters: [u8; LANE]) -> u32 {
    counters.into_iter().sum::<u8>().into()
}

/// Counts the words of a text: the positions where text follows white space or the start.
fn n_words(bytes: &[u8]) -> u32 {
    let behind = bytes.get(1..).unwrap_or_default();
    let mut n_words = bytes.first().map_or(0, |first| u32::from(b' ' < *first));
    for (chunk, behind) in bytes.chunks(128).zip(behind.chunks(128)) {
        let mut words = 0_u8;
        for (byte, next) in chunk.iter().zip(behind) {
            words += u8::from(*byte <= b' ') & u8::from(b' ' < *next);
        }
        n_words += u32::from(words);
    }
    n_words
}
