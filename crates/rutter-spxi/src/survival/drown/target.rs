//! Collision targets: other entities with which an entity may be confused. Decides whether an
//! answer is about such a target.
//!
//! This module is part of the scoring rules: a change in it requires a new version of
//! [`RULES`](crate::survival::drown::RULES).

use percent_encoding::percent_decode_str;
use std::ops::Range;

use super::judge::AnswerSentence;
use super::words::{FoldedWord, WordGap, content_words, name_words, words};

/// Words that negate the text after them, or the text before them in the same clause.
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

/// Sequences of words that negate like a word of [`DENY`].
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

/// Words before which a negating word does not negate, as in `not only` and `no doubt`.
const NOT_DENY: &[&str] = &["only", "just", "merely", "simply", "doubt", "wonder"];

/// Words that contrast two things.
const CONTRAST: &[&str] =
    &["whereas", "while", "another", "different", "distinct", "separate", "difference", "differ"];

/// Words that begin a sentence about a thing that was named before.
const PRONOUNS: &[&str] = &["it", "they", "he", "she", "this", "these", "that"];

/// An entity that the tested entity may be confused with.
#[derive(Debug, Clone)]
pub(crate) struct CollisionTarget {
    /// The target as the index declares it.
    pub(crate) label: String,
    /// The names of the target as words; the longest name first.
    pub(crate) names: Vec<Vec<String>>,
    /// The URL of the target as words.
    pub(crate) address: Vec<String>,
    /// Whether the name of the target has capital letters; if so, lower-case words do not match it.
    is_proper: bool,
    /// Relation of the name of the target to the names of the tested entity.
    relation: NameRelation,
}

#[derive(Debug, Clone)]
enum NameRelation {
    /// The names have no words in common, or the name of the target is longer. The name decides.
    Apart,
    /// Target and entity have the same name. A sentence is about the target only if it contains
    /// the qualifier of the target.
    Same { name: Vec<String>, beside: Vec<String> },
    /// The name of the target is a part of a name of the entity. It counts only outside that name.
    Part { name: Vec<String>, beside: Vec<String> },
}

/// Returns a readable name of a collision target, given as a name or a URL. For a URL, this is the
/// last path segment; `None` if that is a number.
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
    let name = percent_decode_str(stem).decode_utf8_lossy().replace(['_', '-', '+'], " ");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_number = name.trim_start_matches(['Q', 'q']).chars().all(|c| c.is_ascii_digit());
    (!is_number).then_some(name)
}

impl CollisionTarget {
    /// Creates a collision target from its declaration `with`.
    ///
    /// `own` are the names of the entity. `said` are the sentences about the entity: their words do
    /// not identify the target, unless the sentences negate these words.
    pub(crate) fn new(with: &str, own: &[Vec<String>], said: &[AnswerSentence]) -> Self {
        let is_address = with.contains("://");
        let address = with.split_once("://").map_or("", |(_, rest)| rest);
        let name = spoken(with).unwrap_or_default();
        let (base, beside, is_bracket) = parts(&name);
        let (full, base) = (name_words(&name), name_words(base));
        let mut beside = content_words(beside);
        beside.retain(|word| {
            let is_said = |sentence: &AnswerSentence| {
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
        let relation = if own.contains(&base) {
            NameRelation::Same { name: base, beside }
        } else if own.iter().any(|own| holds(own, &base)) {
            NameRelation::Part { name: base, beside }
        } else {
            if is_apart && base != full {
                names.push(base);
            }
            NameRelation::Apart
        };
        if !matches!(relation, NameRelation::Apart) {
            // A name that the entity has too does not identify the target.
            names.retain(|name| !own.contains(name) && !own.iter().any(|own| holds(own, name)));
        }
        names.retain(|name| !name.is_empty());
        let address = if is_address { name_words(address) } else { Vec::new() };
        Self { label: with.to_owned(), names, address, is_proper, relation }
    }

    /// Returns the position of the target in a sentence, so that a negation of it can be found.
    ///
    /// `is_named` says whether the answer names the entity anywhere; `is_first` says whether this
    /// is the first sentence of the answer.
    pub(crate) fn place(
        &self,
        sentence: &AnswerSentence,
        own: &[Vec<String>],
        is_named: bool,
        is_first: bool,
    ) -> Option<Range<usize>> {
        let AnswerSentence { words, texts: sentence, .. } = sentence;
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
        let (name, beside) = match &self.relation {
            NameRelation::Apart => return None,
            NameRelation::Same { name, beside } | NameRelation::Part { name, beside } => {
                (name, beside)
            }
        };
        let covers: Vec<Range<usize>> = match &self.relation {
            // Inside a name of the entity, the shorter name does not mean the target.
            NameRelation::Part { .. } => own.iter().flat_map(|own| places(sentence, own)).collect(),
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
        match &self.relation {
            NameRelation::Part { .. } if !is_named => bare,
            _ => None,
        }
    }
}

/// Splits a name into the base name and its qualifier, and returns whether the qualifier is in
/// brackets.
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

/// Returns the positions of a name among words.
pub(crate) fn places(words: &[String], name: &[String]) -> Vec<Range<usize>> {
    if name.is_empty() {
        return Vec::new();
    }
    let starts = words.windows(name.len()).enumerate().filter(|(_, window)| *window == name);
    starts.map(|(at, _)| at..at + name.len()).collect()
}

/// Returns whether a sentence negates the words at a position.
///
/// A negation applies forward to the end of the sentence unless it is revoked (`but`, `instead`, a
/// semicolon, `, it is`), and backward to the start of its clause.
pub(crate) fn denies(sentence: &[FoldedWord], place: &Range<usize>) -> bool {
    let word = |at: usize| sentence.get(at).map_or("", |word| word.text.as_str());
    let gap = |at: usize| sentence.get(at).map_or(WordGap::Space, |word| word.gap);
    let mut at = place.start;
    while 0 < at {
        // A new clause begins at this separator, or after these words.
        let is_new = gap(at) == WordGap::Stop
            || (gap(at) == WordGap::Clause
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
    while at < sentence.len() && gap(at) == WordGap::Space && word(at) != "but" {
        if cue_at(sentence, at) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns whether a sentence has a negation.
pub(crate) fn has_denial(sentence: &[FoldedWord]) -> bool {
    (0..sentence.len()).any(|at| cue_at(sentence, at))
}

fn cue_at(sentence: &[FoldedWord], at: usize) -> bool {
    let word = |at: usize| sentence.get(at).map_or("", |word| word.text.as_str());
    let is_plain = DENY.contains(&word(at)) || word(at).ends_with("n't");
    if is_plain && !NOT_DENY.contains(&word(at + 1)) {
        return true;
    }
    let many = |cue: &&[&str]| cue.iter().enumerate().all(|(n, it)| word(at + n) == *it);
    DENY_MANY.iter().any(many)
}

/// Returns whether a sentence contrasts two things.
pub(crate) fn contrasts(sentence: &[FoldedWord]) -> bool {
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
    fn negation_is_detected() {
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
    fn url_gives_a_readable_name() {
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
