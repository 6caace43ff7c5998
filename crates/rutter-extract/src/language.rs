//! Tells a language by its text, where the page does not.

use rutter_page::LanguageTag;

/// Bytes that are looked at: a few, and more where they do not suffice.
const SAMPLES: [usize; 2] = [400, 2000];

/// The language of a text; `None` where that is not certain.
pub(crate) fn detect(text: &str) -> Option<LanguageTag<'static>> {
    SAMPLES.into_iter().find_map(|most| detect_in(text, most))
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

/// The short code, where there is one.
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
