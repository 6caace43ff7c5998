//! Texts as numbers, so that what one layer says can be looked for in another
//! without keeping either: every run of six words has a number.
//!
//! Words are runs of letters and digits in lower case; markup, punctuation and
//! line breaks are none. In scripts without spaces each character is a word.

/// Words of a run.
const RUN: usize = 6;
/// Most runs of a block that are kept.
const MOST_RUNS: usize = 16;
/// A large odd number that mixes well.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hands each word on as a number.
pub(crate) fn words(text: &str, mut take: impl FnMut(u64)) {
    let mut hash = 0_u64;
    for c in text.chars() {
        if is_word_alone(c) {
            if hash != 0 {
                take(hash);
            }
            take(mixed(MIX, c));
            hash = 0;
        } else if c.is_alphanumeric() {
            let start = if hash == 0 { MIX } else { hash };
            if c.is_ascii() {
                hash = mixed(start, c.to_ascii_lowercase());
            } else {
                hash = c.to_lowercase().fold(start, mixed);
            }
        } else if hash != 0 {
            take(hash);
            hash = 0;
        }
    }
    if hash != 0 {
        take(hash);
    }
}

fn mixed(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(MIX).rotate_left(23) | 1
}

fn is_word_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Follows words and gives a number for each run of six.
#[derive(Debug, Default)]
struct Runs {
    last: [u64; RUN],
    n_words: usize,
    sum: u64,
}

impl Runs {
    fn push(&mut self, word: u64) -> Option<u64> {
        let at = self.n_words % RUN;
        let slot = self.last.get_mut(at)?;
        // A sum of powers: the oldest word leaves, all others move on.
        let gone = slot.wrapping_mul(power(RUN - 1));
        *slot = word;
        self.sum = self.sum.wrapping_sub(gone).wrapping_mul(MIX).wrapping_add(word);
        self.n_words += 1;
        (RUN <= self.n_words).then_some(self.sum)
    }
}

const fn power(n: usize) -> u64 {
    let (mut result, mut left) = (1_u64, n);
    while 0 < left {
        result = result.wrapping_mul(MIX);
        left -= 1;
    }
    result
}

/// Hands the number of every run of a text on.
pub(crate) fn runs(text: &str, mut take: impl FnMut(u64)) {
    let mut runs = Runs::default();
    words(text, |word| {
        if let Some(run) = runs.push(word) {
            take(run);
        }
    });
}

/// A piece of text that is looked for elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Which block, item or paragraph it is.
    pub(crate) at: u32,
    /// The number of all its words.
    pub(crate) whole: u64,
    /// Some of its runs, from its first to its last.
    pub(crate) runs: Box<[u64]>,
}

/// Makes a piece of a text that has at least six words.
pub(crate) fn piece(at: u32, texts: &[&str]) -> Option<Piece> {
    let mut all = Vec::new();
    let mut whole = 0_u64;
    for text in texts {
        // A run does not cross from one item or cell into the next.
        let mut runs = Runs::default();
        words(text, |word| {
            whole = (whole ^ word).wrapping_mul(MIX).rotate_left(17);
            if let Some(run) = runs.push(word) {
                // One after the other, so that every word is in one of them.
                if runs.n_words % RUN == 0 {
                    all.push(run);
                }
            }
        });
    }
    if all.is_empty() {
        return None;
    }
    if MOST_RUNS < all.len() {
        let last = all.len() - 1;
        let wanted = |n: usize| n * last / (MOST_RUNS - 1);
        all = (0..MOST_RUNS).filter_map(|n| all.get(wanted(n)).copied()).collect();
    }
    Some(Piece { at, whole, runs: all.into() })
}

/// The number of all words of some texts, and how many they are.
pub(crate) fn whole(texts: &[&str]) -> (u64, usize) {
    let (mut whole, mut n_words) = (0_u64, 0);
    for text in texts {
        words(text, |word| {
            whole = (whole ^ word).wrapping_mul(MIX).rotate_left(17);
            n_words += 1;
        });
    }
    (whole, n_words)
}

/// How much of a piece was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of it.
    All,
    /// Some runs are missing.
    Part,
    /// Not one run is there.
    Nothing,
}

/// Looks for pieces in texts; gives what was found of each.
pub(crate) fn look(pieces: &[Piece], texts: &[&str]) -> Vec<Share> {
    let mut wanted: Vec<(u64, bool)> =
        pieces.iter().flat_map(|piece| &piece.runs).map(|run| (*run, false)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for text in texts {
        runs(text, |run| {
            if let Ok(at) = wanted.binary_search_by_key(&run, |(run, _)| *run)
                && let Some(found) = wanted.get_mut(at)
            {
                found.1 = true;
            }
        });
    }
    let is_found = |run: &&u64| {
        let at = wanted.binary_search_by_key(*run, |(run, _)| *run);
        at.ok().and_then(|at| wanted.get(at)).is_some_and(|(_, is_found)| *is_found)
    };
    let share = |piece: &Piece| match piece.runs.iter().filter(is_found).count() {
        0 => Share::Nothing,
        n if n == piece.runs.len() => Share::All,
        _ => Share::Part,
    };
    pieces.iter().map(share).collect()
}

/// Whether all words of one text stand in another in their order.
///
/// Each word of the longer text is looked at once or twice, whatever repeats
/// in either (Knuth, Morris and Pratt).
pub(crate) fn has(text: &str, wanted: &str) -> bool {
    let mut pattern = Vec::new();
    words(wanted, |word| pattern.push(word));
    // For each word: how many words before it are also the first ones.
    let mut repeats: Vec<usize> = vec![0; pattern.len()];
    let follow = |repeats: &[usize], mut n_fits: usize, word: u64| {
        while 0 < n_fits && pattern.get(n_fits) != Some(&word) {
            n_fits = repeats.get(n_fits - 1).copied().unwrap_or(0);
        }
        n_fits + usize::from(pattern.get(n_fits) == Some(&word))
    };
    let mut n_fits = 0;
    for (at, word) in pattern.iter().enumerate().skip(1) {
        n_fits = follow(&repeats, n_fits, *word);
        if let Some(slot) = repeats.get_mut(at) {
            *slot = n_fits;
        }
    }
    let (mut n_fits, mut is_found) = (0, pattern.is_empty());
    words(text, |word| {
        if !is_found {
            n_fits = follow(&repeats, n_fits, word);
            is_found = n_fits == pattern.len();
        }
    });
    is_found
}

/// A Markdown text cut into paragraphs, without addresses and pictures.
pub(crate) fn paragraphs(markdown: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut now = String::new();
    let mut is_code = false;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if line.trim().is_empty() {
            if !now.is_empty() {
                all.push(std::mem::take(&mut now));
            }
        } else if is_code {
            now.push_str(line);
            now.push('\n');
        } else {
            push_plain(line, &mut now);
            now.push('\n');
        }
    }
    if !now.is_empty() {
        all.push(now);
    }
    all
}

/// A line of Markdown without where its links lead and without its pictures.
fn push_plain(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, behind) = rest.split_at(at);
        let picture = before.rfind("![");
        push_bare(picture.map_or(before, |start| before.get(..start).unwrap_or_default()), out);
        rest = behind_target(behind.get(2..).unwrap_or_default());
        out.push(' ');
    }
    push_bare(rest, out);
}

/// A text without the marks of emphasis and code, which may stand in a word.
fn push_bare(text: &str, out: &mut String) {
    let mut is_code = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '`' => is_code = !is_code,
            '*' if !is_code => {}
            '\\' if !is_code => out.extend(chars.next()),
            c => out.push(c),
        }
    }
}

/// What stands behind the address of a link; brackets in it come in pairs.
fn behind_target(text: &str) -> &str {
    if let Some(inner) = text.strip_prefix('<') {
        return inner.split_once(">)").map_or("", |(_, rest)| rest);
    }
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return text.get(at + 1..).unwrap_or_default(),
            ')' => depth -= 1,
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_pieces_are_found_whatever_stands_around_them() {
        let page = "Home\nHigh water is at noon, and the gate opens one hour before.\nAbout";
        let same = piece(0, &["High water is at **noon**, and the gate opens one hour before"]);
        let other = piece(1, &["Low water is at six, when nobody wants to go out at all"]);
        let half =
            piece(2, &["High water is at noon, and the bridge stays closed until nine tonight"]);
        let pieces: Vec<Piece> = [same, other, half].into_iter().flatten().collect();
        assert_eq!(look(&pieces, &[page]), [Share::All, Share::Nothing, Share::Part]);
        assert_eq!(piece(0, &["Five words are too few"]), None);
    }

    #[test]
    fn ours_words_are_found_in_their_order() {
        for (text, wanted, is_found) in [
            ("a b a b c", "A b, c", true),
            ("a b a b a c", "a b a c", true),
            ("a b a b", "b b", false),
            ("a b", "a b c", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(has(text, wanted), is_found, "{wanted} in {text}");
        }
    }

    #[test]
    fn ours_what_repeats_is_not_read_again_and_again() {
        // Compared window by window this is ten thousand million words.
        let text = "a ".repeat(200_000);
        assert!(!has(&text, &format!("{}b", "a ".repeat(100_000))));
    }

    #[test]
    fn ours_markdown_loses_addresses_and_pictures() {
        let text = "See [the tides](https://h.example/a b) ![a boat](x.png) now.\n\n```rust\nlet a = 1;\n```\n";
        assert_eq!(paragraphs(text), ["See [the tides    now.\n", "let a = 1;\n"]);
        let text = "[`get(x)`](<https://h.example/a#get(x)>) is [here](/b(c)d).";
        assert_eq!(paragraphs(text), ["[get(x)  is [here .\n"]);
        assert_eq!(paragraphs("**b**old `a*b`s 2 \\* 3"), ["bold a*bs 2 * 3\n"]);
        let chinese = piece(0, &["港口今天开放到晚上"]).unwrap();
        assert_eq!(look(&[chinese], &["通知：港口今天开放到晚上。"]), [Share::All]);
    }
}
