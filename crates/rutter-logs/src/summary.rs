//! The summary of logs: the data of the text, JSON and SVG output.
//!
//! A [`Tally`](crate::Tally) creates it. Rows and cells have a fixed order, so the same log gives
//! the same output.

pub mod json;
pub mod svg;
pub mod text;

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::agents::{ClientClass, Purpose};
use crate::artifact::Artifact;
use crate::parse::LineError;

/// All figures of one or several logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Requests that were counted.
    pub requests: u64,
    /// Bytes of their responses.
    pub bytes: u64,
    /// Times of the first and the last request.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Requests that the filter excluded.
    pub filtered_out: u64,
    /// Lines that are not requests, by reason.
    pub broken: BTreeMap<LineError, u64>,
    /// AI agents, by number of requests, then by name.
    pub agents: Vec<ClientRow>,
    /// All other clients, by class.
    pub others: Vec<ClientRow>,
    /// Seconds for which a client is assumed to keep a response.
    pub window: i64,
    /// What AI agents could have saved.
    pub savings: Savings,
    /// Entries dropped from the bounded tables.
    pub dropped: ForgottenCounts,
}

/// Requests of one agent, or of one class of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRow {
    /// Name of the agent or of the class.
    pub name: &'static str,
    /// Class of the client.
    pub class: ClientClass,
    /// Purpose of an AI agent.
    pub purpose: Option<Purpose>,
    /// Operator.
    pub operator: Option<&'static str>,
    /// Responses with status 400 and above, by status.
    pub errors: BTreeMap<u16, u64>,
    /// Requests by artifact, in the order of [`Artifact::ALL`]; only artifacts that were requested.
    pub cells: Vec<ArtifactCounts>,
}

/// Requests for one kind of artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactCounts {
    /// The kind of artifact.
    pub artifact: Artifact,
    /// Requests with any method and any status.
    pub requests: u64,
    /// Bytes of all responses.
    pub bytes: u64,
    /// Distinct targets answered with 200, 206 or 304.
    pub distinct: u64,
    /// Whether `distinct` is exact rather than estimated.
    pub is_exact: bool,
    /// Responses with status 200.
    pub full: u64,
    /// Responses with status 304.
    pub not_modified: u64,
    /// Responses with status 400 and above, by status.
    pub errors: u64,
    /// Full responses that the client most likely had already.
    pub repeated: u64,
    /// Bytes of these responses.
    pub repeated_bytes: u64,
    /// Time of the first request.
    pub first: Timestamp,
    /// Time of the last request.
    pub last: Timestamp,
}

/// What AI agents could have saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Savings {
    /// Responses that a conditional request would have made empty.
    pub repeated: u64,
    /// Bytes of these responses.
    pub repeated_bytes: u64,
    /// Savings by collections, if their size is known.
    pub collections: Option<CollectionSavings>,
}

/// Savings by collections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectionSavings {
    /// Number of collections.
    pub files: u64,
    /// Their total size.
    pub size: u64,
    /// Readers (a client with one agent name) that would have saved something.
    pub readers: u64,
    /// Requests that they would have saved.
    pub requests: u64,
    /// Bytes that they would have saved.
    pub bytes: u64,
}

/// Entries dropped from the bounded tables; the figures that depend on them are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForgottenCounts {
    /// Dropped pairs of client and target.
    pub fetches: u64,
    /// Dropped readers.
    pub readers: u64,
}

impl ClientRow {
    /// Returns the requests for all artifacts.
    pub fn requests(&self) -> u64 {
        self.cells.iter().map(|cell| cell.requests).sum()
    }

    /// Bytes of all responses.
    pub fn bytes(&self) -> u64 {
        self.cells.iter().map(|cell| cell.bytes).sum()
    }
}

impl ArtifactCounts {
    /// Returns the share of 304 among all responses with 200 and 304, in percent, rounded.
    pub fn unchanged_percent(&self) -> Option<u64> {
        let all = self.full + self.not_modified;
        (0 < all).then(|| (self.not_modified * 100 + all / 2) / all)
    }
}

/// Formats a number of bytes with a decimal unit.
pub fn bytes(n: u64) -> String {
    let mut tenths = u128::from(n) * 10;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if tenths < 10_000 {
            break;
        }
        (tenths, unit) = ((tenths + 500) / 1000, larger);
    }
    if unit == "B" { format!("{n} B") } else { format!("{}.{} {unit}", tenths / 10, tenths % 10) }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn formats_sizes_with_units() {
        for (n, wanted) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1049, "1.0 kB"),
            (1050, "1.1 kB"),
            (999_949, "999.9 kB"),
            (1_500_000, "1.5 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n), wanted);
        }
    }
}
