//! What of an entity survives in an answer.
//!
//! Part of the rules: a change here is a new version of
//! [`RULES`](crate::drown::RULES).

use std::collections::BTreeSet;

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{Digest, Tree};
use rutter_spxi::{BasinState, Entity, Index, Kernel};

use super::query::{Query, Question, queries};
use super::target::{Target, contrasts, denies, has_denial, places};
use super::words::{Word, content_words, name_words, sentences, words};
use crate::markers::Markers;
use crate::rules;
use crate::survive::{Share, of_markdown};

/// Of ten content words of a sentence so many must stand in one of the answer.
const OF_TEN: usize = 6;

/// What a system says that knows nothing.
const UNKNOWN: &[&[&str]] = &[
    &["no", "information"],
    &["don't", "have", "information"],
    &["don't", "have", "any", "information"],
    &["don't", "have", "specific", "information"],
    &["don't", "know"],
    &["do", "not", "know"],
    &["do", "not", "have", "information"],
    &["not", "familiar", "with"],
    &["not", "aware", "of"],
    &["couldn't", "find"],
    &["could", "not", "find"],
    &["can't", "find"],
    &["unable", "to", "find"],
    &["no", "record"],
    &["not", "a", "widely", "known"],
];

/// An entity as the Drowning Test sees it.
#[derive(Debug)]
pub struct Subject {
    /// Its `@id`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The five questions about it.
    pub queries: [Query; 5],
    /// What it is said to be by now, for when nothing new is known.
    pub basin_state: Option<BasinState>,
    /// The share that is published by now.
    pub bdr: Option<f64>,
    own: Vec<Vec<String>>,
    markers: Markers,
    kernel: Vec<Told>,
    targets: Vec<Target>,
    claims: Digest,
}

impl Subject {
    /// Takes an entity and the kernel of its site; `None` for one that has no
    /// address or name, or of which nothing is claimed.
    pub fn new(entity: &Entity, kernel: Option<&Kernel>) -> Option<Self> {
        let (id, name) = (entity.id.clone()?, entity.name.clone()?);
        let summary = kernel.and_then(|kernel| kernel.summary.as_deref()).unwrap_or("");
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = sentences(&summary);
        let claims = entity.markers.iter().map(String::as_str).chain(told.iter().copied());
        let claims = Tree::List(claims.map(Tree::text).collect());
        let kernel = told.iter().map(|it| Told::new(it));
        let kernel: Vec<Told> = kernel.filter(|told| !told.content.is_empty()).collect();
        let markers = entity.markers.iter().map(|marker| marker.trim()).filter(|it| !it.is_empty());
        let markers = Markers::new(markers);
        let own: BTreeSet<Vec<String>> = [&name]
            .into_iter()
            .chain(&entity.alternate_names)
            .map(|name| name_words(name))
            .filter(|words| !words.is_empty())
            .collect();
        let own: Vec<Vec<String>> = own.into_iter().collect();
        if own.is_empty() || markers.len() + kernel.len() == 0 {
            return None;
        }
        let said = entity.markers.iter().map(String::as_str);
        let said = said.chain([&*name, &*summary]).chain(entity.description.as_deref());
        let said: Vec<Sentence> = said.flat_map(Sentence::all).collect();
        let targets = entity.collisions.iter().filter_map(|it| it.with.as_deref());
        let targets = targets.map(|with| Target::new(with, &own, &said)).collect();
        Some(Self {
            queries: queries(entity),
            basin_state: entity.basin_state,
            bdr: entity.bdr,
            claims: Digest::of(claims.to_json().as_bytes()),
            id,
            name,
            own,
            markers,
            kernel,
            targets,
        })
    }

    /// The entities of an index that can be tested; tells of the others.
    pub fn all(index: &Index, sink: &mut dyn FindingSink) -> Vec<Self> {
        let mut all = Vec::new();
        for entity in &index.entities {
            match Self::new(entity, index.kernel.as_ref()) {
                Some(subject) => all.push(subject),
                None => Self::tell(entity, sink),
            }
        }
        all
    }

    /// Tells that an entity cannot be tested.
    pub fn tell(entity: &Entity, sink: &mut dyn FindingSink) {
        let name = entity.name.as_deref().or(entity.id.as_deref()).unwrap_or_default();
        sink.report(Finding::new(&rules::NO_CLAIMS, Place::WHOLE, quoted(name)));
    }

    /// The digest of its claims: another one begins another series.
    pub fn claims(&self) -> Digest {
        self.claims
    }
}

/// What of an entity survives in one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scores {
    /// Markers.
    pub markers: Share,
    /// Sentences of the kernel.
    pub sentences: Share,
    /// Whether the entity's name, or another of its names, stands there.
    pub is_named: bool,
    /// Whether the system knows of it: it is named, and not just to say that
    /// nothing is known.
    pub is_known: bool,
    /// The collision targets the answer speaks of without denying them.
    pub asserts: Vec<String>,
}

impl Scores {
    /// γ: the share of claims that survive.
    pub fn gamma(&self) -> f64 {
        let kept = self.markers.kept + self.sentences.kept;
        let of = self.markers.of + self.sentences.of;
        if of == 0 { 0.0 } else { Share { kept, of }.value() }
    }

    /// The share of markers that survive.
    pub fn simsr(&self) -> f64 {
        if self.markers.of == 0 { 0.0 } else { self.markers.value() }
    }

    /// Whether the entity is resolved: named, with a claim, and no other.
    pub fn is_correct(&self) -> bool {
        self.is_named && 0 < self.markers.kept + self.sentences.kept && self.asserts.is_empty()
    }

    /// Whether the entity is lost: no marker is left of those there are
    /// (SPX-007).
    pub fn is_loss(&self) -> bool {
        self.markers.kept == 0 && 0 < self.markers.of
    }
}

/// What a sentence tells.
#[derive(Debug)]
struct Told {
    content: Vec<String>,
    /// Whether it denies something.
    is_denial: bool,
}

impl Told {
    fn new(sentence: &str) -> Self {
        Self { content: content_words(sentence), is_denial: has_denial(&words(sentence)) }
    }

    /// Whether another sentence tells it.
    fn is_in(&self, other: &Self) -> bool {
        let has = |word: &&String| other.content.binary_search(word).is_ok();
        let n = self.content.iter().filter(has).count();
        // To say what something is not is another thing than to say it is.
        OF_TEN * self.content.len() <= 10 * n && (other.is_denial || !self.is_denial)
    }
}

/// A sentence, word by word.
pub(super) struct Sentence {
    pub(super) words: Vec<Word>,
    /// The same without what is known of them.
    pub(super) texts: Vec<String>,
    is_question: bool,
}

impl Sentence {
    fn all(text: &str) -> Vec<Self> {
        let all = sentences(text).into_iter().map(|sentence| {
            let words = words(sentence);
            let texts = words.iter().map(|word| word.text.clone()).collect();
            Self { words, texts, is_question: is_question(sentence) }
        });
        all.collect()
    }
}

/// Counts what of an entity survives in an answer to a question.
pub fn judge(subject: &Subject, question: Question, answer: &str) -> Scores {
    // As people see it, and as it was written.
    let shown = of_markdown(answer);
    let raw = paragraphs(answer);
    let wanted: Vec<usize> = (0..subject.markers.len()).collect();
    let mut kept: BTreeSet<usize> = subject.markers.near(&wanted, &shown).into_keys().collect();
    kept.extend(subject.markers.near(&wanted, &raw).into_keys());
    let survives = kept_sentences(&subject.kernel, &shown);
    let (shown, raw) = (Sentence::all(&shown), Sentence::all(&raw));
    let is_named = shown.iter().chain(&raw).any(|sentence| names(subject, &sentence.texts));
    let asserts = subject.targets.iter().filter(|target| {
        is_asserted(subject, target, question, &shown, is_named)
            || is_asserted(subject, target, question, &raw, is_named)
    });
    let asserts: Vec<String> = asserts.map(|target| target.label.clone()).collect();
    let n_kept = kept.len() + survives;
    let is_known = is_named && (0 < n_kept || !shown.iter().any(|it| says_unknown(&it.texts)));
    Scores {
        markers: Share { kept: kept.len(), of: subject.markers.len() },
        sentences: Share { kept: survives, of: subject.kernel.len() },
        is_named,
        is_known,
        asserts,
    }
}

/// A text as it was written: paragraphs are lines.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() {
            out.push('\n');
        } else {
            out.push_str(line);
            out.push(' ');
        }
    }
    out
}

fn kept_sentences(kernel: &[Told], answer: &str) -> usize {
    let told = sentences(answer).into_iter().filter(|sentence| !is_question(sentence));
    let told: Vec<Told> = told.map(Told::new).collect();
    kernel.iter().filter(|claim| told.iter().any(|told| claim.is_in(told))).count()
}

/// Whether a sentence asks: then it tells nothing.
fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !matches!(c, '?' | '\u{ff1f}' | '.' | '!'));
    end.ends_with(['?', '\u{ff1f}'])
}

/// Whether the entity's name stands in a sentence, and not just as part of a
/// longer name that is another's.
fn names(subject: &Subject, sentence: &[String]) -> bool {
    let others: Vec<_> = subject
        .targets
        .iter()
        .flat_map(|target| &target.names)
        .flat_map(|name| places(sentence, name))
        .collect();
    let own = subject.own.iter().flat_map(|own| places(sentence, own));
    own.into_iter().any(|place| {
        let is_inside = |other: &std::ops::Range<usize>| {
            other.start <= place.start && place.end <= other.end && other.len() != place.len()
        };
        !others.iter().any(is_inside)
    })
}

fn is_asserted(
    subject: &Subject,
    target: &Target,
    question: Question,
    sentences: &[Sentence],
    is_named: bool,
) -> bool {
    let mut is_asserted = false;
    for (n, sentence) in sentences.iter().enumerate() {
        let place = target.place(sentence, &subject.own, is_named, n == 0);
        let Some(place) = place.filter(|_| !sentence.is_question) else { continue };
        let is_denied = denies(&sentence.words, &place);
        if question == Question::Different && (is_denied || contrasts(&sentence.words)) {
            return false;
        }
        is_asserted |= !is_denied;
    }
    is_asserted
}

fn says_unknown(sentence: &[String]) -> bool {
    UNKNOWN.iter().any(|cue| sentence.windows(cue.len()).any(|words| words == *cue))
}

#[cfg(test)]
mod tests;
