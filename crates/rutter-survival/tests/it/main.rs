//! Tests of survival on files.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod drown;
mod survive;
mod systems;

use std::path::PathBuf;

/// A folder of fixtures.
fn fixtures(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
