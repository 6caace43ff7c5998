//! Detects the language of a text, for pages that declare none.
//!
//! Input: the first 2000 bytes of prose. Output: a language tag.
//! Returns nothing when the result is uncertain.

use std::sync::LazyLock;

use rutter_page::LanguageTag;

/// Number of bytes from which the language is detected first; more are used if the result is
/// uncertain.
const FIRST: usize = 300;

/// Maximum number of bytes of a text from which the language is detected.
pub(crate) const MOST: usize = 2000;

/// Returns the language of a text; `None` if the result is uncertain.
pub(crate) fn detect(text: &str) -> Option<LanguageTag<'static>> {
    if let Some(tag) = by_small_words(text) {
        return LanguageTag::parse(tag);
    }
    // A longer sample helps only if the text is longer than the first sample.
    detect_in(text, FIRST).or_else(|| if FIRST < text.len() { detect_in(text, MOST) } else { None })
}

/// The most common languages, for which small words are counted first.
const COMMON: [&str; 6] = ["en", "de", "fr", "es", "it", "pl"];

/// For each common language, small words that the other common languages do not have.
const SMALL: [&[&str]; COMMON.len()] = [
    &[
        "the", "and", "of", "is", "that", "to", "with", "are", "this", "for", "be", "it", "by",
        "from", "not", "which", "any", "used", "you", "can", "if", "when", "see", "has",
    ],
    &["der", "und", "das", "ist", "nicht", "ein", "mit", "auf", "eine", "dem", "von", "zu"],
    &["les", "est", "une", "dans", "pour", "qui", "sur", "pas", "avec", "des", "du", "au"],
    &["los", "las", "una", "por", "para", "con", "del", "est\u{e1}", "como", "m\u{e1}s", "el", "y"],
    &["che", "della", "sono", "gli", "nel", "alla", "pi\u{f9}", "dei", "il", "di", "per", "non"],
    &[
        "nie",
        "si\u{119}",
        "jest",
        "oraz",
        "kt\u{f3}re",
        "przez",
        "jak",
        "ale",
        "tak",
        "dla",
        "z",
        "w",
    ],
];

/// The small words as numbers with the index of their language, grouped by first letter.
static BY_LETTER: LazyLock<Vec<Vec<(u64, usize)>>> = LazyLock::new(|| {
    let mut index = vec![Vec::new(); 256];
    for (idx, words) in SMALL.iter().enumerate() {
        for word in *words {
            let letter = word.bytes().next().unwrap_or(0);
            index[usize::from(letter)].push((number(word.as_bytes()), idx));
        }
    }
    index
});

/// Returns a word of at most [`LONGEST`] bytes as a number. Upper-case letters become lower case,
/// because a sentence starts with one.
fn number(word: &[u8]) -> u64 {
    word.iter().fold(0, |number, byte| number << 8 | u64::from(byte.to_ascii_lowercase()))
}

/// Length of the longest small word, in bytes.
const LONGEST: usize = 6;

/// Returns the language that the small words of a text prove: at least every eighth of the first
/// 100 words is a small word of one language, and at most a fifth as many are small words of other
/// languages. A text of fewer than 25 words needs three such words and none of another language.
fn by_small_words(text: &str) -> Option<&'static str> {
    let mut counts = [0_usize; COMMON.len()];
    let index = &**BY_LETTER;
    let mut n_words = 0;
    for word in text.split_ascii_whitespace().take(100) {
        n_words += 1;
        let word = trim_punctuation(word.as_bytes());
        let Some(letter) = word.first().filter(|_| word.len() <= LONGEST) else { continue };
        let known = &index[usize::from(letter.to_ascii_lowercase())];
        let number = number(word);
        if let Some((_, idx)) = known.iter().find(|(known, _)| *known == number) {
            counts[*idx] += 1;
        }
    }
    let (most, tag) = counts.into_iter().zip(COMMON).max_by_key(|(count, _)| *count)?;
    let others: usize = counts.iter().sum::<usize>() - most;
    let is_sure = if n_words < 25 { 3 <= most && others == 0 } else { others * 5 <= most };
    (n_words <= most * 8 && is_sure).then_some(tag)
}

fn trim_punctuation(mut word: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = word
        && first.is_ascii_punctuation()
    {
        word = rest;
    }
    while let [rest @ .., last] = word
        && last.is_ascii_punctuation()
    {
        word = rest;
    }
    word
}

fn detect_in(text: &str, most: usize) -> Option<LanguageTag<'static>> {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end)?;
    if sample.chars().filter(|c| c.is_alphabetic()).count() < 40 {
        return None;
    }
    let info = whatlang::detect(sample)?;
    if !info.is_reliable() {
        return None;
    }
    LanguageTag::parse(two_letters(info.lang().code())).map(|tag| tag.canonical())
}

/// Returns the code with two letters if the language has one.
fn two_letters(code: &'static str) -> &'static str {
    match code {
        "eng" => "en",
        "deu" => "de",
        "fra" => "fr",
        "spa" => "es",
        "por" => "pt",
        "ita" => "it",
        "nld" => "nl",
        "pol" => "pl",
        "rus" => "ru",
        "ukr" => "uk",
        "ces" => "cs",
        "slk" => "sk",
        "slv" => "sl",
        "hrv" => "hr",
        "srp" => "sr",
        "bul" => "bg",
        "mkd" => "mk",
        "ron" => "ro",
        "hun" => "hu",
        "fin" => "fi",
        "swe" => "sv",
        "dan" => "da",
        "nob" => "nb",
        "est" => "et",
        "lav" => "lv",
        "lit" => "lt",
        "ell" => "el",
        "tur" => "tr",
        "aze" => "az",
        "kat" => "ka",
        "hye" => "hy",
        "heb" => "he",
        "ara" => "ar",
        "pes" => "fa",
        "urd" => "ur",
        "hin" => "hi",
        "ben" => "bn",
        "mar" => "mr",
        "tel" => "te",
        "tam" => "ta",
        "guj" => "gu",
        "kan" => "kn",
        "mal" => "ml",
        "ori" => "or",
        "pan" => "pa",
        "nep" => "ne",
        "sin" => "si",
        "mya" => "my",
        "khm" => "km",
        "tha" => "th",
        "vie" => "vi",
        "ind" => "id",
        "jav" => "jv",
        "tgl" => "tl",
        "cmn" => "zh",
        "jpn" => "ja",
        "kor" => "ko",
        "amh" => "am",
        "aka" => "ak",
        "zul" => "zu",
        "sna" => "sn",
        "afr" => "af",
        "lat" => "la",
        "cat" => "ca",
        "epo" => "eo",
        "bel" => "be",
        "uzb" => "uz",
        "tuk" => "tk",
        "yid" => "yi",
        "cym" => "cy",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_agree_with_the_detector() {
        for (tag, text) in [
            (
                "en",
                "The gate is opened twice a day, and the boats that are waiting in the outer harbour go to the basin with the tide. It is closed for the rest of the day, so that the water stays.",
            ),
            (
                "de",
                "Das Tor ist nicht offen, und der Hafen ist mit dem Boot auf der Mole nicht zu sehen. Der Weg von der Mole ist eine Stunde mit dem Rad und das ist nicht weit von dem Tor.",
            ),
        ] {
            assert_eq!(by_small_words(text), Some(tag));
            assert_eq!(detect_in(text, 2000).unwrap().as_str(), tag);
        }
        assert_eq!(by_small_words("Hallen und Tore"), None);
    }
}
