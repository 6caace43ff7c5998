//! The Drowning Test (D73): what AI systems make of an entity.
//!
//! Five standard [`queries`] go to each [`System`]; [`judge`] counts in each
//! answer which claims survive. Answers are counted by rules that name no
//! model and ask none, so that a score can be made again from its answer.
//! [`History`] keeps the scores, [`Summary`] tells what they mean.
//!
//! # The rules, version 1
//!
//! * **Claims** of an entity are its markers and the sentences of the kernel.
//! * A **marker survives** where it stands in the answer, but for case, quotes,
//!   dashes and white space (D70); Markdown marks do not hide it.
//! * A **sentence survives** where one sentence of the answer has at least 60 %
//!   of its content words: words of two letters and more and numbers, folded,
//!   without stop words. A sentence that denies something survives only in one
//!   that denies; a question tells nothing.
//! * **γ** of an answer is the share of claims that survive. The panel γ of a
//!   system is the mean over its answers, the cross-platform γ the mean over
//!   the systems. **SIMSR** is the same for markers alone.
//! * An answer **asserts another entity** where the name of a collision target
//!   stands in a sentence that does not deny it (`not`, `unlike`, `rather
//!   than`, `distinct from` and the like). Where the target goes by the
//!   entity's own name, what is said beside it decides (`band`); where its name
//!   is part of the entity's, it counts only without the entity's. Of the
//!   question about the difference, an answer that sets the two side by side
//!   once asserts nothing.
//! * An answer is **correct** where it has the entity's name, or another name
//!   of it, keeps a claim and asserts no other entity.
//! * An answer that keeps no marker is a **loss** (SPX-007).
//!
//! A change of these rules, or of an entity's claims, begins a new series:
//! γ before and behind it are not compared.

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

pub use basin::{Estimate, FEWEST_ANSWERS, FEWEST_SYSTEMS, Health, USUAL_SYSTEMS, estimate};
pub use history::{History, Journal, Rated, Record};
pub use judge::{Scores, Subject, judge};
pub use query::{Query, Question, queries};
pub use run::{DrownError, Failed, Plan, Step, Tally, drown};
pub use store::{Store, slugs};
pub use summary::{EntitySummary, SilentChange, Summary, silent_changes};
pub use system::{Answer, Failure, Program, Source, System, stop_asking};

/// The version of the rules above; stored with every score.
pub const RULES: &str = "1";
