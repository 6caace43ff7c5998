//! Builds the binary of packages without paths of the build machine.
//!
//! Output: target/dist/rutter. Fails if the binary contains a folder of this machine, and, with
//! `--twice`, if a second build has other bytes.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::{cargo, root, run};

/// Builds, searches for paths, and builds again if requested.
pub(crate) fn run_args(rest: &[&str]) -> anyhow::Result<()> {
    let program = build(&target())?;
    let bytes = std::fs::read(&program).with_context(|| program.display().to_string())?;
    for (folder, _) in prefixes() {
        let folder = folder.to_string_lossy().into_owned();
        let is_named = memmem(&bytes, folder.as_bytes());
        ensure!(!is_named, "{} contains the path {folder}", program.display());
    }
    println!("xtask: {}: {} bytes, no path of this machine", program.display(), bytes.len());
    if rest.contains(&"--twice") {
        let again = build(&target().join("xtask/again"))?;
        let other = std::fs::read(&again).with_context(|| again.display().to_string())?;
        ensure!(bytes == other, "{} and {} differ", program.display(), again.display());
        println!("xtask: a second build in another folder has the same bytes");
    }
    Ok(())
}

/// Builds the program into a target folder.
pub(crate) fn build(target: &Path) -> anyhow::Result<PathBuf> {
    let prefixes = prefixes();
    let rust: Vec<String> = prefixes
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect();
    let c: Vec<String> = prefixes
        .iter()
        .map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()))
        .collect();
    let mut command =
        cargo(&["build", "--profile", "dist", "--quiet", "--locked", "--package", "rutter"]);
    command.arg("--target-dir").arg(target);
    // This byte separates flags, so that folder names may contain spaces.
    command.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("CFLAGS", c.join(" "));
    run(command)?;
    Ok(target.join("dist/rutter"))
}

/// Returns the target folder of cargo.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target"))
}

/// Returns folders that must not be in the binary, and their replacements.
fn prefixes() -> Vec<(PathBuf, &'static str)> {
    let rustup = folder_in_home("RUSTUP_HOME", ".rustup");
    vec![(cargo_home(), "/cargo"), (rustup, "/rustup"), (root(), "/rutter")]
}

/// Returns the folder of cargo's downloads.
pub(crate) fn cargo_home() -> PathBuf {
    folder_in_home("CARGO_HOME", ".cargo")
}

fn folder_in_home(variable: &str, name: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    std::env::var_os(variable).map_or_else(|| home.join(name), PathBuf::from)
}

fn memmem(bytes: &[u8], wanted: &[u8]) -> bool {
    !wanted.is_empty() && bytes.windows(wanted.len()).any(|window| window == wanted)
}
