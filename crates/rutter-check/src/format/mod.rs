//! Outcomes as text: one format, one file.
//!
//! Every format gets an [`Outcome`] and a stream. Foreign text
//! is escaped here for the place where it will stand, and nowhere before.

pub mod concise;
mod escape;
pub mod github;
pub mod html;
pub mod human;
pub mod json;
pub mod json_lines;
pub mod junit;
pub mod markdown;
pub mod sarif;

use std::io::{self, Write};

use serde_json::Value;

use crate::Outcome;

/// A way to write an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: the offending lines, grouped by file.
    Human,
    /// A line for each finding.
    Concise,
    /// One JSON document.
    Json,
    /// A JSON object on each line.
    JsonLines,
    /// SARIF 2.1.0, for code scanners.
    Sarif,
    /// `JUnit` XML, for test reports.
    Junit,
    /// Annotations of GitHub workflows.
    Github,
    /// A comment on a pull request.
    Markdown,
    /// A report in one file, for browsers.
    Html,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(&'static str, Self); 9] = [
        ("human", Self::Human),
        ("concise", Self::Concise),
        ("json", Self::Json),
        ("jsonl", Self::JsonLines),
        ("sarif", Self::Sarif),
        ("junit", Self::Junit),
        ("github", Self::Github),
        ("markdown", Self::Markdown),
        ("html", Self::Html),
    ];

    /// The format that a file's ending stands for.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name.rsplit('.').next()?.to_ascii_lowercase().as_str() {
            "txt" => Self::Human,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::JsonLines,
            "sarif" => Self::Sarif,
            "xml" => Self::Junit,
            "md" => Self::Markdown,
            "html" | "htm" => Self::Html,
            _ => return None,
        })
    }

    /// Whether it shows the lines that findings speak of, or their columns.
    pub fn shows_lines(self) -> bool {
        self != Self::Concise
    }

    /// Writes an outcome.
    pub fn write(self, out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
        match self {
            Self::Human => human::write(out, outcome),
            Self::Concise => concise::write(out, outcome),
            Self::Json => json::write(out, outcome),
            Self::JsonLines => json_lines::write(out, outcome),
            Self::Sarif => sarif::write(out, outcome),
            Self::Junit => junit::write(out, outcome),
            Self::Github => github::write(out, outcome),
            Self::Markdown => markdown::write(out, outcome),
            Self::Html => html::write(out, outcome),
        }
    }
}

/// Puts a member into an object.
fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value.into());
    }
}

pub use rutter_finding::counted as count;
