//! Writes the features of a set of pages for training: `cargo xtask features SET_DIR OUT_DIR`.

use crate::{cargo, run};

/// Runs `rutter-bench features` with paths relative to the current directory.
pub(crate) fn run_in(set: &str, out: &str) -> anyhow::Result<()> {
    let here = std::env::current_dir()?;
    let mut command = cargo(&["run", "--release", "--quiet", "--package", "rutter-bench", "--"]);
    run(command.arg("features").arg(here.join(set)).arg(here.join(out)))
}
