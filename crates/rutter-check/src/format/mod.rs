//! Judgements as text: one format, one file.

pub mod human;
pub mod json;
pub mod sarif;
