//! The summary of access logs: the data behind the text, JSON and SVG output.
//!
//! A [`AccessTally`](crate::AccessTally) creates the summary. Its rows and cells have a fixed order, so the
//! same log gives the same output.

pub mod json;
pub mod svg;
pub mod text;

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::agents::{ClientClass, Purpose};
use crate::artifact::Artifact;
use crate::parse::LineError;

/// Figures of one or several access logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSummary {
    /// Number of requests that the filter accepted.
    pub requests: u64,
    /// Bytes of the responses to these requests.
    pub bytes: u64,
    /// Times of the first and the last counted request.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Number of requests that the filter excluded.
    pub filtered_out: u64,
    /// Number of lines that are not requests, by reason.
    pub broken: BTreeMap<LineError, u64>,
    /// Rows of the AI agents, sorted by number of requests, then by name.
    pub agents: Vec<ClientRow>,
    /// Rows of all other clients, one per client class.
    pub others: Vec<ClientRow>,
    /// Seconds for which a client is assumed to keep a response.
    pub window: i64,
    /// Requests and bytes that AI agents could have saved.
    pub savings: Savings,
    /// Number of entries dropped from the bounded tables.
    pub dropped: ForgottenCounts,
}

/// Figures of one AI agent, or of one class of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRow {
    /// Name of the agent or of the class.
    pub name: &'static str,
    /// Class of the client.
    pub class: ClientClass,
    /// Purpose of the AI agent; `None` for a class of clients.
    pub purpose: Option<Purpose>,
    /// Operator of the AI agent, if known.
    pub operator: Option<&'static str>,
    /// Number of responses with status 400 and above, by status.
    pub errors: BTreeMap<u16, u64>,
    /// Figures of each kind of artifact that was requested, in the order of [`Artifact::ALL`].
    pub cells: Vec<ArtifactCounts>,
}

/// Figures of the requests for one kind of artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactCounts {
    /// The kind of artifact.
    pub artifact: Artifact,
    /// Number of requests with any method and any status.
    pub requests: u64,
    /// Bytes of all responses.
    pub bytes: u64,
    /// Number of distinct targets that were answered with status 200, 206 or 304.
    pub distinct: u64,
    /// Whether `distinct` is exact rather than estimated.
    pub is_exact: bool,
    /// Number of responses with status 200.
    pub full: u64,
    /// Number of responses with status 304.
    pub not_modified: u64,
    /// Number of responses with status 400 and above.
    pub errors: u64,
    /// Number of repeated downloads: responses with status 200 that the client most likely had
    /// already.
    pub repeated: u64,
    /// Bytes of the repeated downloads.
    pub repeated_bytes: u64,
    /// Time of the first request.
    pub first: Timestamp,
    /// Time of the last request.
    pub last: Timestamp,
}

/// Requests and bytes that AI agents could have saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Savings {
    /// Number of repeated downloads: responses that would have been empty after a conditional
    /// request.
    pub repeated: u64,
    /// Bytes of the repeated downloads.
    pub repeated_bytes: u64,
    /// Savings by collections; `None` if the size of the collections is unknown.
    pub collections: Option<CollectionSavings>,
}

/// What AI agents would have saved if they had fetched collections instead of pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectionSavings {
    /// Number of collections of the site.
    pub files: u64,
    /// Size of all collections together, in bytes.
    pub size: u64,
    /// Number of readers that would have saved something; a reader is a client with one agent name.
    pub readers: u64,
    /// Number of requests that these readers would have saved.
    pub requests: u64,
    /// Number of bytes that these readers would have saved.
    pub bytes: u64,
}

/// Number of entries that the tally dropped from its bounded tables; figures that depend on dropped
/// entries are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForgottenCounts {
    /// Number of dropped pairs of client and target.
    pub fetches: u64,
    /// Number of dropped readers.
    pub readers: u64,
}

impl ClientRow {
    /// Returns the number of requests for all artifacts.
    pub fn requests(&self) -> u64 {
        self.cells.iter().map(|cell| cell.requests).sum()
    }

    /// Returns the number of bytes of all responses.
    pub fn bytes(&self) -> u64 {
        self.cells.iter().map(|cell| cell.bytes).sum()
    }
}

impl ArtifactCounts {
    /// Returns which share of the responses with status 200 or 304 had status 304, in rounded
    /// percent.
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
