//! The Drowning Test (D73): measures what AI systems answer about an entity.
//!
//! Five standard [`questions`] go to each [`AiSystem`]; [`judge`] counts the surviving claims in
//! each answer. Scoring uses fixed rules and no model, so that a score can be recomputed from its
//! answer. [`AnswerHistory`] stores the scores, and [`RunSummary`] evaluates them.
//!
//! # Rules, version 1
//!
//! * **Claims** of an entity are its markers and the sentences of the kernel.
//! * A **marker survives** if the answer contains it, ignoring case, quotes, dashes and white space
//!   (D70) and Markdown syntax.
//! * A **sentence survives** if one sentence of the answer has at least 60 % of its content words:
//!   numbers, and words of two or more letters that are not stop words, after folding. A sentence
//!   with a negation survives only in a sentence with a negation. Questions in an answer do not
//!   count.
//! * **γ** of an answer is the share of surviving claims. The panel γ of a system is the mean of γ
//!   over its answers; the cross-platform γ is the mean over the systems. **SIMSR** is calculated in
//!   the same way, but for markers only.
//! * An answer **asserts another entity** if the name of a collision target is in a sentence that
//!   does not negate it (`not`, `unlike`, `rather than`, `distinct from` and similar words). If the
//!   target has the same name as the entity, the sentence must also contain the qualifier of the
//!   target, such as `band` in `Harbour Museum (band)`. If the name of the target is a part of the
//!   name of the entity, the shorter name counts only outside the longer name. In an answer to the
//!   question about the difference, one sentence that contrasts both entities asserts nothing.
//! * An answer is **correct** if it contains a name of the entity, keeps a claim and asserts no
//!   other entity.
//!
//! A change of these rules, or of the claims of an entity, starts a new series. γ values of
//! different series are not compared.

mod basin;
mod history;
mod judge;
mod query;
mod run;
mod store;
mod summary;
mod system;
mod target;
mod words;

pub use basin::{BasinEstimate, DEFAULT_SYSTEMS, MIN_ANSWERS, MIN_SYSTEMS, MarkerHealth, estimate};
pub use history::{AnswerHistory, AnswerRecord, HistoryWriter, HumanRating};
pub use judge::{AnswerScores, TestedEntity, judge};
pub use query::{EntityQuestion, StandardQuestion, questions};
pub use run::{DrownError, DrownPlan, FailedQuestion, QuestionOutcome, RunCounts, drown};
pub use store::{AnswerStore, slugs};
pub use summary::{EntitySummary, RunSummary, SilentChange, silent_changes};
pub use system::{
    AiSystem, AnswerFailure, AnswerProgram, AnswerSource, SystemAnswer, stop_programs,
};

/// Version of the rules above; stored with every score.
pub const RULES: &str = "1";
