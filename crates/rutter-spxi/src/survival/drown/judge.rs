//! Scores an answer: decides which claims of an entity survive in it.
//!
//! This module is part of the scoring rules: a change in it requires a new version of
//! [`RULES`](crate::survival::drown::RULES).

use std::collections::BTreeSet;

use crate::{BasinState, Entity, Kernel, SemanticIndex};
use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{Digest, JsonTree};

use super::query::{EntityQuestion, StandardQuestion, questions};
use super::target::{CollisionTarget, contrasts, denies, has_denial, places};
use super::words::{FoldedWord, content_words, name_words, sentences, words};
use crate::survival::markers::MarkerSearch;
use crate::survival::rules;
use crate::survival::survive::{KeptShare, of_markdown};

/// Number of content words, out of ten in a sentence, that one sentence of the answer must contain.
const OF_TEN: usize = 6;

/// Phrases with which a system says that it does not know the entity.
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

/// An entity with the questions about it and its claims.
#[derive(Debug)]
pub struct TestedEntity {
    /// `@id` of the entity.
    pub id: String,
    /// Name of the entity.
    pub name: String,
    /// The five questions about the entity.
    pub queries: [EntityQuestion; 5],
    /// Basin state that the index states; used if there are too few answers.
    pub basin_state: Option<BasinState>,
    /// BDR estimate that the index states; used if there are too few answers.
    pub bdr: Option<f64>,
    own: Vec<Vec<String>>,
    markers: MarkerSearch,
    kernel: Vec<KernelSentence>,
    targets: Vec<CollisionTarget>,
    claims: Digest,
}

impl TestedEntity {
    /// Prepares the test of an entity with the kernel of its site. Returns `None` for an entity
    /// without a URL or a name, or without claims.
    pub fn new(entity: &Entity, kernel: Option<&Kernel>) -> Option<Self> {
        let (id, name) = (entity.id.clone()?, entity.name.clone()?);
        let summary = kernel.and_then(|kernel| kernel.summary.as_deref()).unwrap_or("");
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let summary_sentences = sentences(&summary);
        let claims =
            entity.markers.iter().map(String::as_str).chain(summary_sentences.iter().copied());
        let claims = JsonTree::List(claims.map(JsonTree::text).collect());
        let kernel = summary_sentences.iter().map(|it| KernelSentence::new(it));
        let kernel: Vec<KernelSentence> =
            kernel.filter(|sentence| !sentence.content.is_empty()).collect();
        let markers = entity.markers.iter().map(|marker| marker.trim()).filter(|it| !it.is_empty());
        let markers = MarkerSearch::new(markers);
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
        let said: Vec<AnswerSentence> = said.flat_map(AnswerSentence::all).collect();
        let targets = entity.collisions.iter().filter_map(|it| it.with.as_deref());
        let targets = targets.map(|with| CollisionTarget::new(with, &own, &said)).collect();
        Some(Self {
            queries: questions(entity),
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

    /// Returns the entities of an index that can be tested, and reports those that cannot.
    pub fn all(index: &SemanticIndex, sink: &mut dyn FindingSink) -> Vec<Self> {
        let mut all = Vec::new();
        for entity in &index.entities {
            match Self::new(entity, index.kernel.as_ref()) {
                Some(subject) => all.push(subject),
                None => Self::tell(entity, sink),
            }
        }
        all
    }

    /// Reports an entity that cannot be tested.
    pub fn tell(entity: &Entity, sink: &mut dyn FindingSink) {
        let name = entity.name.as_deref().or(entity.id.as_deref()).unwrap_or_default();
        sink.report(Finding::new(&rules::NO_CLAIMS, Place::WHOLE, quoted(name)));
    }

    /// Returns the digest of the claims of the entity. A different digest starts a new series.
    pub fn claims(&self) -> Digest {
        self.claims
    }
}

/// Scores of one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerScores {
    /// Number of surviving markers out of all markers.
    pub markers: KeptShare,
    /// Number of surviving kernel sentences out of all.
    pub sentences: KeptShare,
    /// Whether the answer contains a name of the entity.
    pub is_named: bool,
    /// Whether the system knows the entity: the answer names it, and does not only say that nothing
    /// is known about it.
    pub is_known: bool,
    /// Collision targets that the answer asserts.
    pub asserts: Vec<String>,
}

impl AnswerScores {
    /// Returns γ, the share of surviving claims.
    pub fn gamma(&self) -> f64 {
        let kept = self.markers.kept + self.sentences.kept;
        let of = self.markers.of + self.sentences.of;
        if of == 0 { 0.0 } else { KeptShare { kept, of }.value() }
    }

    /// Returns the share of surviving markers.
    pub fn simsr(&self) -> f64 {
        if self.markers.of == 0 { 0.0 } else { self.markers.value() }
    }

    /// Returns whether the answer is correct: it names the entity, keeps a claim, and asserts no
    /// other entity.
    pub fn is_correct(&self) -> bool {
        self.is_named && 0 < self.markers.kept + self.sentences.kept && self.asserts.is_empty()
    }

    /// Returns whether the answer is a loss: the entity has markers and none survives (SPX-007).
    pub fn is_loss(&self) -> bool {
        self.markers.kept == 0 && 0 < self.markers.of
    }
}

/// A sentence of the kernel, as a claim.
#[derive(Debug)]
struct KernelSentence {
    content: Vec<String>,
    /// Whether the sentence has a negation.
    is_denial: bool,
}

impl KernelSentence {
    fn new(sentence: &str) -> Self {
        Self { content: content_words(sentence), is_denial: has_denial(&words(sentence)) }
    }

    /// Returns whether another sentence contains enough words of this sentence.
    fn is_in(&self, other: &Self) -> bool {
        let has = |word: &&String| other.content.binary_search(word).is_ok();
        let n = self.content.iter().filter(has).count();
        // A statement and its negation are different claims.
        OF_TEN * self.content.len() <= 10 * n && (other.is_denial || !self.is_denial)
    }
}

/// A sentence of an answer as words.
pub(super) struct AnswerSentence {
    pub(super) words: Vec<FoldedWord>,
    /// The same words as plain texts.
    pub(super) texts: Vec<String>,
    is_question: bool,
}

impl AnswerSentence {
    fn all(text: &str) -> Vec<Self> {
        let all = sentences(text).into_iter().map(|sentence| {
            let words = words(sentence);
            let texts = words.iter().map(|word| word.text.clone()).collect();
            Self { words, texts, is_question: is_question(sentence) }
        });
        all.collect()
    }
}

/// Scores an answer to a question.
pub fn judge(subject: &TestedEntity, question: StandardQuestion, answer: &str) -> AnswerScores {
    // Search both the rendered text and the Markdown source of the answer.
    let shown = of_markdown(answer);
    let raw = paragraphs(answer);
    let wanted: Vec<usize> = (0..subject.markers.len()).collect();
    let mut kept: BTreeSet<usize> =
        subject.markers.find_near(&wanted, &shown).into_keys().collect();
    kept.extend(subject.markers.find_near(&wanted, &raw).into_keys());
    let survives = kept_sentences(&subject.kernel, &shown);
    let (shown, raw) = (AnswerSentence::all(&shown), AnswerSentence::all(&raw));
    let is_named = shown.iter().chain(&raw).any(|sentence| names(subject, &sentence.texts));
    let asserts = subject.targets.iter().filter(|target| {
        is_asserted(subject, target, question, &shown, is_named)
            || is_asserted(subject, target, question, &raw, is_named)
    });
    let asserts: Vec<String> = asserts.map(|target| target.label.clone()).collect();
    let n_kept = kept.len() + survives;
    let is_known = is_named && (0 < n_kept || !shown.iter().any(|it| says_unknown(&it.texts)));
    AnswerScores {
        markers: KeptShare { kept: kept.len(), of: subject.markers.len() },
        sentences: KeptShare { kept: survives, of: subject.kernel.len() },
        is_named,
        is_known,
        asserts,
    }
}

/// Returns a text with each paragraph on one line.
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

fn kept_sentences(kernel: &[KernelSentence], answer: &str) -> usize {
    let answered = sentences(answer).into_iter().filter(|sentence| !is_question(sentence));
    let answered: Vec<KernelSentence> = answered.map(KernelSentence::new).collect();
    kernel.iter().filter(|claim| answered.iter().any(|sentence| claim.is_in(sentence))).count()
}

/// Returns whether a sentence is a question. Questions in an answer do not count.
fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !matches!(c, '?' | '\u{ff1f}' | '.' | '!'));
    end.ends_with(['?', '\u{ff1f}'])
}

/// Returns whether a sentence contains a name of the entity, other than as a part of the longer
/// name of a collision target.
fn names(subject: &TestedEntity, sentence: &[String]) -> bool {
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
    subject: &TestedEntity,
    target: &CollisionTarget,
    question: StandardQuestion,
    sentences: &[AnswerSentence],
    is_named: bool,
) -> bool {
    let mut is_asserted = false;
    for (n, sentence) in sentences.iter().enumerate() {
        let place = target.place(sentence, &subject.own, is_named, n == 0);
        let Some(place) = place.filter(|_| !sentence.is_question) else { continue };
        let is_denied = denies(&sentence.words, &place);
        if question == StandardQuestion::Different && (is_denied || contrasts(&sentence.words)) {
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
