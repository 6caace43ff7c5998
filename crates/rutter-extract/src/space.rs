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
