//! Output formats, one module each.
//!
//! Every format writes an [`Outcome`] to a stream, and escapes text from checked files as its
//! syntax requires.

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

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// Human-readable text with the affected lines, grouped by file.
    Human,
    /// One line per finding.
    Concise,
    /// One JSON document.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// SARIF 2.1.0, for code scanners.
    Sarif,
    /// `JUnit` XML, for test reports.
    Junit,
    /// Annotations for GitHub workflows.
    Github,
    /// Markdown for a comment on a pull request.
    Markdown,
    /// A self-contained HTML report.
    Html,
}

impl ReportFormat {
    /// All formats with their names.
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

    /// Returns the format that the extension of a file name implies.
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

    /// Returns whether the format shows excerpts of files.
    pub fn shows_lines(self) -> bool {
        self != Self::Concise
    }

    /// Writes an outcome to a stream.
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

/// Inserts a member into an object.
fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value.into());
    }
}

pub use rutter_finding::counted as count;
