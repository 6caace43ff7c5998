//! Counts words and characters of a text (D69).
//!
//! Invisible characters do not change the counts.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Counts the words of a text.
///
/// A word is a sequence of characters between white space that contains a letter or a digit, so a
/// dash alone is not a word. A zero-width space separates words, because it marks word ends;
/// joiners and other invisible characters do not. Text in a script that is written without spaces
/// is split at the word boundaries of UAX #29.
///
/// ```
/// # use rutter_spxi::count_words;
/// assert_eq!(count_words("The light — seen from 20 miles"), 6);
/// assert_eq!(count_words("灯台は赤い"), 5);
/// assert_eq!(count_words("harbour\u{200b}light"), 2);
/// ```
pub fn count_words(text: &str) -> usize {
    let runs = text.split(|c: char| c.is_whitespace() || c == '\u{200b}');
    runs.map(|run| {
        if run.chars().any(is_without_spaces) {
            run.unicode_words().count()
        } else {
            usize::from(run.chars().any(char::is_alphanumeric))
        }
    })
    .sum()
}

/// Counts the characters of a text: Unicode scalar values after NFC normalization.
///
/// ```
/// # use rutter_spxi::count_characters;
/// assert_eq!(count_characters("fjäll"), 5);
/// assert_eq!(count_characters("fja\u{308}ll"), 5);
/// ```
pub fn count_characters(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.chars().count(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().count(),
    }
}

/// Returns whether a character belongs to a script that is written without spaces.
fn is_without_spaces(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Tibetan, Myanmar, Khmer, Tai scripts
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19ff}' | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aadf}'
        // Han, kana, bopomofo and related blocks
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SPX-032, SPX-069, C03, D69
    fn word_is_a_sequence_with_a_letter_or_a_digit() {
        for (text, n) in [
            ("", 0),
            (" \n\t\u{a0}\u{3000} ", 0),
            ("one two", 2),
            ("one\u{a0}two\u{2003}three", 3),
            ("one - two — three … •", 3),
            ("3 kg, 4.5% don't light-house", 5),
            ("ß é ñ", 3),
            // Invisible characters: the space separates, joiners do not.
            ("one\u{200b}two\u{200b}three", 3),
            ("\u{200b}\u{200b}", 0),
            ("li\u{200d}ght hou\u{2060}se \u{feff}", 2),
            // Scripts with spaces between words.
            ("등대는 붉다", 2),
            ("маяк виден", 2),
            // Scripts without spaces.
            ("灯台", 2),
            ("灯台。港", 3),
            ("東京tower", 3),
            ("ライトハウス", 1),
            ("red 灯", 2),
        ] {
            assert_eq!(count_words(text), n, "{text:?}");
        }
    }

    #[test] // SPX-052, SPX-053, D69
    fn characters_are_counted_after_composition() {
        for (text, n) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 1),
            ("q\u{301}", 2),
            ("\u{1112}\u{1161}\u{11ab}", 1),
            ("🕯", 1),
        ] {
            assert_eq!(count_characters(text), n, "{text:?}");
        }
    }
}
