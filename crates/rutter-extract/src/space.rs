//! White space: every run of it is one space.

/// White space, and the byte that begins U+00A0.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let special = [b' ', b'\n', b'\t', b'\r', 0x0c, 0xc2];
    let mut at = 0;
    while at < special.len() {
        table[special[at] as usize] = true;
        at += 1;
    }
    table
};

/// Appends `text`, every run of white space as one space.
pub(crate) fn collapse(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut at = 0;
    loop {
        // Letters, most of the time.
        while at < bytes.len() && !SPECIAL[bytes[at] as usize] {
            at += 1;
        }
        if at == bytes.len() {
            break;
        }
        let is_space = matches!(bytes[at], b' ' | b'\n' | b'\t' | b'\r' | 0x0c);
        // U+00A0, the only other one that matters.
        let is_wide = bytes[at] == 0xc2 && bytes.get(at + 1) == Some(&0xa0);
        if !is_space && !is_wide {
            at += 1;
            continue;
        }
        let is_single = bytes[at] == b' '
            && at != start
            && !matches!(
                bytes.get(at + 1),
                Some(b' ' | b'\n' | b'\t' | b'\r' | 0x0c | 0xc2) | None
            );
        if is_single {
            at += 1;
            continue;
        }
        out.push_str(&text[start..at]);
        gap(out);
        at += if is_wide { 2 } else { 1 };
        start = at;
    }
    out.push_str(&text[start..]);
}

/// Appends a space where words would run together without.
pub(crate) fn gap(out: &mut String) {
    if !matches!(out.as_bytes().last(), None | Some(b' ' | b'\n')) {
        out.push(' ');
    }
}

/// Appends a text that is tidy already.
pub(crate) fn append(text: &str, out: &mut String) {
    match text.strip_prefix(' ') {
        Some(rest) => {
            gap(out);
            out.push_str(rest);
        }
        None => out.push_str(text),
    }
}

/// Bytes looked at together.
const LANE: usize = 16;

/// Makes every run of white space one space, in place, and tells how many
/// bytes are left.
pub(crate) fn tidy(bytes: &mut [u8]) -> usize {
    // What stands between two tags is mostly the end of a line.
    if let [b'\n', rest @ ..] = bytes
        && rest.iter().all(|byte| is_space(*byte))
    {
        bytes[0] = b' ';
        return 1;
    }
    let (mut at, mut to) = (0, 0);
    let mut was_space = false;
    while let Some(lane) = bytes.get(at..).and_then(<[u8]>::first_chunk::<LANE>) {
        let mut lane = *lane;
        // Sums instead of branches: where nothing is to go, nothing is asked
        // about any single byte.
        let low = lane.map(|byte| u8::from(byte <= b' '));
        let mut n_odd = low[0] & u8::from(was_space);
        for (one, next) in low.iter().zip(&low[1..]) {
            n_odd |= one & next;
        }
        for byte in &lane {
            n_odd |= u8::from(*byte == WIDE) | u8::from((*byte < b' ') & (*byte != b'\n'));
        }
        if n_odd != 0 {
            (at, to) = squeeze(bytes, at, to, at + LANE, &mut was_space);
            continue;
        }
        for byte in &mut lane {
            *byte = if *byte == b'\n' { b' ' } else { *byte };
        }
        bytes[to..to + LANE].copy_from_slice(&lane);
        was_space = low[LANE - 1] != 0;
        (at, to) = (at + LANE, to + LANE);
    }
    squeeze(bytes, at, to, bytes.len(), &mut was_space).1
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | 0x0c)
}

/// The byte that begins U+00A0, the only other white space that matters.
const WIDE: u8 = 0xc2;

/// Moves the bytes from `at` down to `to`, byte by byte.
fn squeeze(
    bytes: &mut [u8],
    mut at: usize,
    mut to: usize,
    until: usize,
    was_space: &mut bool,
) -> (usize, usize) {
    while at < until {
        let byte = bytes[at];
        let is_wide = byte == WIDE && bytes.get(at + 1) == Some(&0xa0);
        let is_space = is_wide || is_space(byte);
        bytes[to] = if is_space { b' ' } else { byte };
        to += usize::from(!(is_space && *was_space));
        *was_space = is_space;
        at += if is_wide { 2 } else { 1 };
    }
    (at, to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ours_tidy_then_append_is_collapse(
            texts in prop::collection::vec("[ab\u{a0}\u{a9}\u{e9}\u{2003}  \n\t]{0,300}", 1..4)
        ) {
            let (mut expected, mut found) = (String::new(), String::new());
            for text in texts {
                collapse(&text, &mut expected);
                let mut bytes = text.into_bytes();
                let n = tidy(&mut bytes);
                bytes.truncate(n);
                append(&String::from_utf8(bytes).unwrap(), &mut found);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
