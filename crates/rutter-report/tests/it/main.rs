//! Tests of reports.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod formats;
