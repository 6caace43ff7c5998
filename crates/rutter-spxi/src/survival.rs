//! Measures how the markers of an entity survive: in the texts of its page, and in the answers of
//! AI systems.
//!
//! [`MarkerSearch`] finds the phrases of a whole site in one pass; [`trace`] follows the markers
//! of one entity from the served document to the summaries; [`drown`] asks AI systems about an
//! entity and scores the answers.
//!
//! Uses no model for scoring and opens no network connection. Only [`drown::AiSystem`] starts
//! programs, and it starts only those in the configuration.

pub mod drown;
mod fold;
mod markers;
pub mod rules;
mod search;
mod survive;

pub use markers::{MarkerSearch, PageTexts};
pub use survive::{
    EntitySurvival, KeptShare, MarkerTrace, PathStage, PathTexts, SiteSurvival, trace,
};
