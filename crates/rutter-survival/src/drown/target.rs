//! Entities that another is taken for, and whether an answer speaks of them.
//!
//! Part of the rules: a change here is a new version of
//! [`RULES`](crate::drown::RULES).

use std::ops::Range;

use super::judge::Sentence;
use super::words::{Gap, Word, content_words, name_words, words};

/// One word that denies what stands behind it, or before it in its clause.
const DENY: &[&str] = &[
    "not",
    "no",
    "never",
    "neither",
    "nor",
    "none",
    "nothing",
    "cannot",
    "unlike",
    "unrelated",
    "without",
];

/// Several words that do.
const DENY_MANY: &[&[&str]] = &[
    &["different", "from"],
    &["differs", "from"],
    &["distinct", "from"],
    &["distinguished", "from"],
    &["separate", "from"],
    &["rather", "than"],
    &["other", "than"],
    &["instead", "of"],
    &["as", "opposed", "to"],
    &["confused", "with"],
    &["mistaken", "for"],
    &["in", "contrast"],
    &["by", "contrast"],
    &["on", "the", "other", "hand"],
];

/// Behind these a word denies nothing: `not only`, `no doubt`.
const NOT_DENY: &[&str] = &["only", "just", "merely", "simply", "doubt", "wonder"];

/// Words that set two things side by side.
const CONTRAST: &[&str] =
    &["whereas", "while", "another", "different", "distinct", "separate", "difference", "differ"];

/// Words a sentence about what was named before begins with.
const PRONOUNS: &[&str] = &["it", "they", "he", "she", "this", "these", "that"];

/// An entity that the one asked about is taken for.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// As it is declared.
    pub(crate) label: String,
    /// Its names, as words; the longest first.
    pub(crate) names: Vec<Vec<String>>,
    /// Its address, as words.
    pub(crate) address: Vec<String>,
    /// Whether its name has capitals; then small letters are other words.
    is_proper: bool,
    /// How its name lies to those of the entity.
    kin: Kin,
}

#[derive(Debug, Clone)]
enum Kin {
    /// They share nothing, or the target's name is the longer: it decides.
    Apart,
    /// The entity goes by the same name: only what is said beside it decides.
    Same { name: Vec<String>, beside: Vec<String> },
    /// The target's name is part of the entity's: it means the target where
    /// the entity's own name does not stand.
    Part { name: Vec<String>, beside: Vec<String> },
}

/// A name one can say: of an address its last part, unless that is a number.
pub(crate) fn spoken(with: &str) -> Option<String> {
    let with = with.trim();
    let Some((_, rest)) = with.split_once("://") else {
        return (!with.is_empty()).then(|| with.to_owned());
    };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
    let (host, last) = match rest.rsplit_once('/') {
        Some((path, last)) => (path.split('/').next().unwrap_or(path), Some(last)),
        None => (rest, None),
    };
    let Some(last) = last else {
        let host = host.trim_start_matches("www.");
        return (!host.is_empty()).then(|| host.to_owned());
    };
    let stem = last.strip_suffix(".html").or_else(|| last.strip_suffix(".htm")).unwrap_or(last);
    let name = percent_decoded(stem).replace(['_', '-', '+'], " ");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_number = name.trim_start_matches(['Q', 'q']).chars().all(|c| c.is_ascii_digit());
    (!is_number).then_some(name)
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value.filter(|_| *byte == b'%') {
            Some(value) => {
                out.push(value);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Target {
    /// Reads a target; `own` are the entity's names, `said` the sentences the
    /// entity says of itself, whose words tell nobody apart unless they are
    /// denied there.
    pub(crate) fn new(with: &str, own: &[Vec<String>], said: &[Sentence]) -> Self {
        let is_address = with.contains("://");
        let address = with.split_once("://").map_or("", |(_, rest)| rest);
        let name = spoken(with).unwrap_or_default();
        let (base, beside, is_bracket) = parts(&name);
        let (full, base) = (name_words(&name), name_words(base));
        let mut beside = content_words(beside);
        beside.retain(|word| {
            let is_said = |sentence: &Sentence| {
                let mut at = sentence.texts.iter().enumerate().filter(|(_, text)| *text == word);
                at.any(|(at, _)| !denies(&sentence.words, &(at..at + 1)))
            };
            !said.iter().any(is_said)
        });
        let holds = |outer: &[String], inner: &[String]| {
            inner.len() < outer.len() && !places(outer, inner).is_empty()
        };
        let is_proper = words(&name).iter().any(|word| word.is_capital);
        let is_apart = 1 < base.len() || is_bracket;
        let mut names = vec![full.clone()];
        let kin = if own.contains(&base) {
            Kin::Same { name: base, beside }
        } else if own.iter().any(|own| holds(own, &base)) {
            Kin::Part { name: base, beside }
        } else {
            if is_apart && base != full {
                names.push(base);
            }
            Kin::Apart
        };
        if !matches!(kin, Kin::Apart) {
            // The bare name decides nothing by itself.
            names.retain(|name| !own.contains(name) && !own.iter().any(|own| holds(own, name)));
        }
        names.retain(|name| !name.is_empty());
        let address = if is_address { name_words(address) } else { Vec::new() };
        Self { label: with.to_owned(), names, address, is_proper, kin }
    }

    /// Whether a sentence speaks of it, and where: the words from which a
    /// denial is looked for. `is_named` tells whether the entity's own name
    /// stands anywhere in the answer, `is_first` whether nothing came before.
    pub(crate) fn place(
        &self,
        sentence: &Sentence,
        own: &[Vec<String>],
        is_named: bool,
        is_first: bool,
    ) -> Option<Range<usize>> {
        let Sentence { words, texts: sentence, .. } = sentence;
        let is_name = |place: &Range<usize>| {
            let own = words.get(place.clone()).unwrap_or_default();
            !self.is_proper || own.iter().any(|word| word.is_capital)
        };
        if let Some(place) = places(sentence, &self.address).into_iter().next() {
            return Some(place);
        }
        let named = self.names.iter().flat_map(|name| places(sentence, name)).find(is_name);
        if named.is_some() {
            return named;
        }
        let (name, beside) = match &self.kin {
            Kin::Apart => return None,
            Kin::Same { name, beside } | Kin::Part { name, beside } => (name, beside),
        };
        let covers: Vec<Range<usize>> = match &self.kin {
            // Inside the entity's own name it is not the target's.
            Kin::Part { .. } => own.iter().flat_map(|own| places(sentence, own)).collect(),
            _ => Vec::new(),
        };
        let is_free = |place: &Range<usize>| {
            !covers.iter().any(|cover| cover.start <= place.start && place.end <= cover.end)
        };
        let bare = places(sentence, name).into_iter().find(|it| is_free(it) && is_name(it));
        let found: Option<Vec<usize>> =
            beside.iter().map(|word| sentence.iter().position(|it| it == word)).collect();
        let begins = sentence.first().is_some_and(|word| PRONOUNS.contains(&word.as_str()));
        if let Some(first) = found.and_then(|found| found.into_iter().min())
            && (bare.is_some() || begins || is_first)
        {
            return Some(first..first + 1);
        }
        match &self.kin {
            Kin::Part { .. } if !is_named => bare,
            _ => None,
        }
    }
}

/// A name, what is said beside it, and whether that stands in brackets.
fn parts(name: &str) -> (&str, &str, bool) {
    if let Some((base, beside)) = name.split_once('(')
        && !base.trim().is_empty()
    {
        return (base.trim(), beside.trim_end_matches(')'), true);
    }
    for gap in [", ", "; ", ": ", " \u{2013} ", " \u{2014} ", " - "] {
        if let Some((base, beside)) = name.split_once(gap) {
            return (base.trim(), beside, false);
        }
    }
    (name, "", false)
}

/// Where a name stands among words.
pub(crate) fn places(words: &[String], name: &[String]) -> Vec<Range<usize>> {
    if name.is_empty() {
        return Vec::new();
    }
    let starts = words.windows(name.len()).enumerate().filter(|(_, window)| *window == name);
    starts.map(|(at, _)| at..at + name.len()).collect()
}

/// Whether a sentence denies what stands at a place.
///
/// A denial reaches forward to the end of the sentence, unless it is taken
/// back (`but`, `instead`, a semicolon, `, it is`); and backward to the
/// beginning of its clause.
pub(crate) fn denies(sentence: &[Word], place: &Range<usize>) -> bool {
    let word = |at: usize| sentence.get(at).map_or("", |word| word.text.as_str());
    let gap = |at: usize| sentence.get(at).map_or(Gap::Space, |word| word.gap);
    let mut at = place.start;
    while 0 < at {
        // What lies before this gap, or behind these words, is another matter.
        let is_new = gap(at) == Gap::Stop
            || (gap(at) == Gap::Clause
                && (matches!(word(at), "it's" | "they're")
                    || (matches!(word(at), "it" | "they" | "he" | "she" | "this")
                        && matches!(word(at + 1), "is" | "was" | "are" | "were"))));
        if is_new {
            break;
        }
        at -= 1;
        if word(at) == "but" || (word(at) == "instead" && word(at + 1) != "of") {
            break;
        }
        if cue_at(sentence, at) {
            return true;
        }
    }
    let mut at = place.end;
    while at < sentence.len() && gap(at) == Gap::Space && word(at) != "but" {
        if cue_at(sentence, at) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether anything is denied in a sentence.
pub(crate) fn has_denial(sentence: &[Word]) -> bool {
    (0..sentence.len()).any(|at| cue_at(sentence, at))
}

fn cue_at(sentence: &[Word], at: usize) -> bool {
    let word = |at: usize| sentence.get(at).map_or("", |word| word.text.as_str());
    let is_plain = DENY.contains(&word(at)) || word(at).ends_with("n't");
    if is_plain && !NOT_DENY.contains(&word(at + 1)) {
        return true;
    }
    let many = |cue: &&[&str]| cue.iter().enumerate().all(|(n, it)| word(at + n) == *it);
    DENY_MANY.iter().any(many)
}

/// Whether a sentence sets two things side by side.
pub(crate) fn contrasts(sentence: &[Word]) -> bool {
    sentence.iter().any(|word| CONTRAST.contains(&word.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(sentence: &str, name: &str) -> bool {
        let words = words(sentence);
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let place = places(&texts, &name_words(name)).into_iter().next().unwrap();
        denies(&words, &place)
    }

    #[test] // D71 D72
    fn ours_a_sentence_denies_or_it_does_not() {
        for sentence in [
            "It is not the Grey Seals.",
            "It isn't the band Grey Seals.",
            "Not to be confused with the Grey Seals.",
            "It should not be confused with A, B or the Grey Seals.",
            "Unlike the Grey Seals, it is a museum.",
            "It is a museum rather than the Grey Seals.",
            "The Grey Seals are unrelated.",
            "The Grey Seals have no connection to it, as far as known.",
            "It is distinct from Grey Seals.",
            "It is a museum, as opposed to Grey Seals.",
            "It has nothing to do with the Grey Seals.",
        ] {
            assert!(denied(sentence, "Grey Seals"), "{sentence}");
        }
        for sentence in [
            "It is the Grey Seals.",
            "The Grey Seals are a band, not a museum.",
            "It is not a museum but the Grey Seals.",
            "It is not a museum; it is the Grey Seals.",
            "It is not a museum, it is the Grey Seals.",
            "It is not only a house of the Grey Seals.",
            "No doubt the Grey Seals are meant.",
            "Instead the Grey Seals are meant.",
        ] {
            assert!(!denied(sentence, "Grey Seals"), "{sentence}");
        }
    }

    #[test]
    fn ours_addresses_have_names() {
        for (with, name) in [
            ("https://en.wikipedia.org/wiki/Tide_House_(band)", Some("Tide House (band)")),
            ("https://x.example/the-tide-house.html?x#y", Some("the tide house")),
            ("https://x.example/caf%C3%A9/", Some("caf\u{e9}")),
            ("https://www.tide.example/", Some("tide.example")),
            ("https://www.wikidata.org/wiki/Q42", None),
            ("https://", None),
            (" The Band ", Some("The Band")),
            ("", None),
            ("https://x.example/%ff%zz%", Some("\u{fffd}%zz%")),
        ] {
            assert_eq!(spoken(with).as_deref(), name, "{with}");
        }
    }
}
