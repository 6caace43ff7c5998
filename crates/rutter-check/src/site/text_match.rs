//! Finds texts of one layer in another layer by hashes of six consecutive words, called runs.
//!
//! Words are sequences of letters and digits in lower case; markup, punctuation and line breaks are
//! ignored. In scripts without spaces, each character is a word.

/// The number of words in a run.
const RUN: usize = 6;
/// The maximum number of runs that are stored per block.
const MOST_RUNS: usize = 16;
/// An odd multiplier with good hash distribution.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Calls `take` with the hash of each word.
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

/// Computes a rolling hash over six consecutive words.
#[derive(Debug, Default)]
struct WordRunHasher {
    last: [u64; RUN],
    n_words: usize,
    sum: u64,
}

impl WordRunHasher {
    fn push(&mut self, word: u64) -> Option<u64> {
        let at = self.n_words % RUN;
        let slot = self.last.get_mut(at)?;
        // Polynomial hash: remove the oldest word and shift the other words.
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

/// Calls `take` with the hash of every run of words in a text.
pub(crate) fn runs(text: &str, mut take: impl FnMut(u64)) {
    let mut runs = WordRunHasher::default();
    words(text, |word| {
        if let Some(run) = runs.push(word) {
            take(run);
        }
    });
}

/// A piece of text to find in other texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPiece {
    /// The index of the block, item or paragraph that contains the piece.
    pub(crate) at: u32,
    /// The hash of all words of the piece.
    pub(crate) whole: u64,
    /// A sample of the runs of the piece, from the first run to the last.
    pub(crate) runs: Box<[u64]>,
}

/// Creates a piece from a text with at least six words.
pub(crate) fn piece(at: u32, texts: &[&str]) -> Option<TextPiece> {
    let mut all = Vec::new();
    let mut whole = 0_u64;
    for text in texts {
        // A run does not cross the boundary between items or cells.
        let mut runs = WordRunHasher::default();
        words(text, |word| {
            whole = (whole ^ word).wrapping_mul(MIX).rotate_left(17);
            if let Some(run) = runs.push(word) {
                // Take consecutive runs, so that every word is in one of them.
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
    Some(TextPiece { at, whole, runs: all.into() })
}

/// Returns the hash of all words of some texts, and the number of words.
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

/// Which part of a text piece was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundShare {
    /// All runs of the piece were found.
    All,
    /// Some runs of the piece are missing.
    Part,
    /// No run of the piece was found.
    Nothing,
}

/// Searches pieces in texts. Returns for each piece how much of it was found.
pub(crate) fn look(pieces: &[TextPiece], texts: &[&str]) -> Vec<FoundShare> {
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
    let share = |piece: &TextPiece| match piece.runs.iter().filter(is_found).count() {
        0 => FoundShare::Nothing,
        n if n == piece.runs.len() => FoundShare::All,
        _ => FoundShare::Part,
    };
    pieces.iter().map(share).collect()
}

/// Returns whether `text` contains the words of `wanted` consecutively.
///
/// Runs in linear time (Knuth, Morris and Pratt).
pub(crate) fn has(text: &str, wanted: &str) -> bool {
    let mut pattern = Vec::new();
    words(wanted, |word| pattern.push(word));
    // The failure table of the Knuth-Morris-Pratt algorithm.
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

/// Splits a Markdown text into paragraphs, and removes link targets and images.
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

/// Appends a Markdown line, and removes its link targets and images.
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

/// Appends a text, and removes the markers of emphasis and code.
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

/// Returns the text after a link target with balanced brackets.
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
    fn finds_pieces_independent_of_surrounding_text() {
        let page = "Home\nHigh water is at noon, and the gate opens one hour before.\nAbout";
        let same = piece(0, &["High water is at **noon**, and the gate opens one hour before"]);
        let other = piece(1, &["Low water is at six, when no boat wants to go out at all"]);
        let half =
            piece(2, &["High water is at noon, and the bridge stays closed until nine tonight"]);
        let pieces: Vec<TextPiece> = [same, other, half].into_iter().flatten().collect();
        assert_eq!(
            look(&pieces, &[page]),
            [FoundShare::All, FoundShare::Nothing, FoundShare::Part]
        );
        assert_eq!(piece(0, &["Five words are too few"]), None);
    }

    #[test]
    fn finds_consecutive_words() {
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
    fn searches_repetitive_text_in_linear_time() {
        // A naive comparison would need 10^10 steps for this text.
        let text = "a ".repeat(200_000);
        assert!(!has(&text, &format!("{}b", "a ".repeat(100_000))));
    }

    #[test]
    fn removes_link_targets_and_images_from_markdown() {
        let text = "See [the tides](https://h.example/a b) ![a boat](x.png) now.\n\n```rust\nlet a = 1;\n```\n";
        assert_eq!(paragraphs(text), ["See [the tides    now.\n", "let a = 1;\n"]);
        let text = "[`get(x)`](<https://h.example/a#get(x)>) is [here](/b(c)d).";
        assert_eq!(paragraphs(text), ["[get(x)  is [here .\n"]);
        assert_eq!(paragraphs("**b**old `a*b`s 2 \\* 3"), ["bold a*bs 2 * 3\n"]);
        let chinese = piece(0, &["港口今天开放到晚上"]).unwrap();
        assert_eq!(look(&[chinese], &["通知：港口今天开放到晚上。"]), [FoundShare::All]);
    }
}
