//! Splits an answer into sentences and words.
//!
//! This module is part of the scoring rules: a change in it requires a new version of
//! [`RULES`](crate::survival::drown::RULES).

use crate::survival::fold::fold_char;

/// Abbreviations: a full stop after them does not end a sentence.
const TITLES: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "fr", "rev", "hon", "gen", "col", "capt", "lt", "sgt",
    "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "ca", "approx", "no", "nos", "nr", "fig", "figs",
    "vol", "vols", "pp", "ed", "eds", "ch", "sec", "resp", "incl", "z.b", "d.h", "bzw",
];

/// Abbreviations that end a sentence only if a capital letter follows.
const MAYBE: &[&str] = &[
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "a.m", "p.m", "u.s", "u.k", "b.c", "a.d", "al",
];

/// Stop words, which are not content words.
const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "aren't", "as", "at",
    "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "cannot",
    "could", "did", "do", "does", "doesn't", "don't", "down", "during", "each", "for", "from",
    "had", "has", "have", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in",
    "into", "is", "isn't", "it", "its", "itself", "may", "me", "might", "more", "most", "my", "no",
    "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own",
    "same", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up",
    "upon", "very", "was", "wasn't", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "within", "would", "you", "your",
];

/// Separator between a word and the word before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WordGap {
    /// White space or other punctuation.
    Space,
    /// A comma, a colon or a dash.
    Clause,
    /// A semicolon.
    Stop,
}

/// A folded word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldedWord {
    pub(crate) text: String,
    pub(crate) gap: WordGap,
    /// Whether the word was written with a capital letter.
    pub(crate) is_capital: bool,
}

/// Returns the sentences of a text. Line breaks in the text end blocks, and blocks end sentences.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        for (at, c) in line.char_indices() {
            let end = at + c.len_utf8();
            if is_end(line, start, at, c) {
                // Closing quotes and brackets after the full stop belong to the sentence.
                let rest = line.get(end..).unwrap_or("");
                let closing = rest.trim_start_matches(CLOSING);
                let end = end + rest.len() - closing.len();
                if start < end {
                    out.extend(line.get(start..end));
                    start = end;
                }
            }
        }
        out.extend(line.get(start..));
    }
    out.iter().map(|it| it.trim()).filter(|it| it.chars().any(char::is_alphanumeric)).collect()
}

const CLOSING: &[char] = &['"', '\'', ')', ']', '\u{201d}', '\u{2019}', '\u{bb}', '.', '!', '?'];

fn is_end(line: &str, start: usize, at: usize, c: char) -> bool {
    if matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff1f}') {
        return true;
    }
    if !matches!(c, '.' | '!' | '?' | '\u{2026}') {
        return false;
    }
    let behind = line.get(at + c.len_utf8()..).unwrap_or("").trim_start_matches(CLOSING);
    let Some(next) = behind.chars().next() else { return true };
    if !next.is_whitespace() {
        return false;
    }
    let next = behind.chars().find(|c| c.is_alphanumeric());
    let is_low = next.is_some_and(char::is_lowercase);
    if c != '.' {
        return c != '\u{2026}' || !is_low;
    }
    let before = line.get(start..at).unwrap_or("");
    let is_ellipsis =
        before.ends_with('.') || line.get(at + 1..).is_some_and(|rest| rest.starts_with('.'));
    if is_ellipsis && is_low {
        return false;
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || "([{\"'\u{201c}".contains(c)).next();
    let word = word.unwrap_or("").to_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    // A number with a full stop at the start of a line is the number of a list item.
    let is_item = is_number && before.trim().len() == word.len();
    if is_initial || is_item || TITLES.contains(&word.as_str()) {
        return false;
    }
    !(is_low && (is_number || word.contains('.') || MAYBE.contains(&word.as_str())))
}

/// Returns the words of a sentence in order. In scripts without spaces, every character is a word.
pub(crate) fn words(text: &str) -> Vec<FoldedWord> {
    let mut out: Vec<FoldedWord> = Vec::new();
    let mut next = PendingWord { gap: WordGap::Space, is_capital: false };
    let mut word = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_inside = matches!(c, '\'' | '\u{2019}')
            && !word.is_empty()
            && rest.peek().is_some_and(|next| next.is_alphanumeric());
        if (c.is_alphanumeric() && !is_dense(c)) || is_inside || c == '\u{ad}' {
            next.is_capital |= word.is_empty() && c.is_uppercase();
            fold_char(c, &mut word);
            continue;
        }
        finish(&mut word, &mut next, &mut out);
        if is_dense(c) {
            // A script without capital letters; treat every letter as a capital letter.
            next.is_capital = true;
            fold_char(c, &mut word);
            finish(&mut word, &mut next, &mut out);
            continue;
        }
        let is_dash = matches!(c, '\u{2013}' | '\u{2014}');
        next.gap = next.gap.max(match c {
            ';' | '\u{ff1b}' => WordGap::Stop,
            ',' | ':' | '\u{3001}' | '\u{ff0c}' => WordGap::Clause,
            _ if is_dash => WordGap::Clause,
            _ => WordGap::Space,
        });
    }
    finish(&mut word, &mut next, &mut out);
    out
}

/// State of a word that has not been read to its end yet.
struct PendingWord {
    gap: WordGap,
    is_capital: bool,
}

fn finish(word: &mut String, next: &mut PendingWord, out: &mut Vec<FoldedWord>) {
    if word.is_empty() {
        return;
    }
    let text = word.strip_suffix("'s").unwrap_or(word).to_owned();
    out.push(FoldedWord { text, gap: next.gap, is_capital: next.is_capital });
    word.clear();
    *next = PendingWord { gap: WordGap::Space, is_capital: false };
}

/// Returns whether a character is a word by itself: Han, kana, Thai and related scripts.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the words of a name without a leading article.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = words(name).into_iter().map(|word| word.text).collect();
    if 1 < words.len() && words.first().is_some_and(|it| matches!(it.as_str(), "the" | "a" | "an"))
    {
        words.remove(0);
    }
    words
}

/// Returns the distinct content words of a sentence: numbers, and words of two or more letters that
/// are not stop words. In scripts without spaces, every pair of characters is a content word.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let words = words(text);
    let mut out: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let is_alone = |text: &str| text.chars().all(is_dense);
        let found = if is_alone(text) {
            let next = words.get(at + 1).filter(|next| is_alone(&next.text));
            next.map(|next| format!("{text}{}", next.text))
        } else {
            let is_long = text.chars().nth(1).is_some() || text.chars().all(char::is_numeric);
            (is_long && !STOP.contains(&text)).then(|| text.to_owned())
        };
        out.extend(found);
    }
    out.sort_unstable();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_end_at_the_right_places() {
        for (text, expected) in [
            ("One. Two! Three? Four", vec!["One.", "Two!", "Three?", "Four"]),
            (
                "Dr. Ada came, e.g. by boat. She left.",
                vec!["Dr. Ada came, e.g. by boat.", "She left."],
            ),
            ("It is 3.5 metres deep. So it is.", vec!["It is 3.5 metres deep.", "So it is."]),
            ("Built in 1890. The clock is older.", vec!["Built in 1890.", "The clock is older."]),
            ("By J. R. Smith. He lived.", vec!["By J. R. Smith.", "He lived."]),
            (
                "Ropes, nets, etc. are sold. Ropes, nets, etc. Boats too.",
                vec!["Ropes, nets, etc. are sold.", "Ropes, nets, etc.", "Boats too."],
            ),
            (
                "\"It is open.\" (So they say.) Yes.",
                vec!["\"It is open.\"", "(So they say.)", "Yes."],
            ),
            ("1. The first\n2. The second", vec!["1. The first", "2. The second"]),
            (
                "See tide.example/a.b for more. It helps.",
                vec!["See tide.example/a.b for more.", "It helps."],
            ),
            ("潮の家は博物館です。開いています。", vec!["潮の家は博物館です。", "開いています。"]),
            ("Well... maybe. Really?! Yes", vec!["Well... maybe.", "Really?!", "Yes"]),
            ("\n \n...\n", vec![]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn words_are_folded() {
        let all: Vec<String> = words("The Keeper\u{2019}s log isn't O'Hara's; x")
            .into_iter()
            .map(|it| it.text)
            .collect();
        assert_eq!(all, ["the", "keeper", "log", "isn't", "o'hara", "x"]);
        let gaps: Vec<WordGap> =
            words("a, b; c \u{2014} d (e)").into_iter().map(|it| it.gap).collect();
        assert_eq!(
            gaps,
            [WordGap::Space, WordGap::Clause, WordGap::Stop, WordGap::Clause, WordGap::Space]
        );
        assert_eq!(name_words("The Tide House (band)"), ["tide", "house", "band"]);
        assert_eq!(name_words("The The"), ["the"]);
        assert_eq!(name_words("A"), ["a"]);
    }

    #[test]
    fn content_words_exclude_stop_words() {
        assert_eq!(
            content_words("It is the house of the 7 tides, a HOUSE"),
            ["7", "house", "tides"]
        );
        assert_eq!(content_words("潮の家"), ["の家", "潮の"]);
        assert!(content_words("It is not of the").is_empty());
    }

    proptest! {
        #[test]
        fn splitting_into_sentences_loses_no_letter(text in "([a-cA-C]{1,3}|Dr|e\\.g|[0-9]|[.!? \n\"]){0,30}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let joined: String = sentences(&text).concat();
            prop_assert_eq!(letters(&joined), letters(&text));
        }
    }
}
