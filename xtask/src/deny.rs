//! Checks licences, bans and sources of dependencies with cargo-deny.
//!
//! Input: Cargo.lock and deny.toml. Advisories are checked if a copy of the advisory database is in
//! cargo's home (`advisory-dbs`), because tests download packages only.

use std::path::PathBuf;
use std::process::Command;

use crate::{cargo, release, root, run};

const VERSION: &str = "0.20.2";

/// Fails if a dependency breaks a rule of deny.toml.
pub(crate) fn check() -> anyhow::Result<()> {
    let program = installed()?;
    run(cargo(&["fetch", "--quiet", "--locked"]))?;
    let deny = |checks: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(root()).args(["--offline", "--log-level", "error", "check"]);
        command.args(["--hide-inclusion-graph"]).args(checks);
        command
    };
    run(deny(&["licenses", "bans", "sources"]))?;
    let database = release::cargo_home().join("advisory-dbs");
    if database.is_dir() {
        return run(deny(&["--disable-fetch", "advisories"]));
    }
    println!("xtask: advisories not checked: there is no {}", database.display());
    Ok(())
}

/// Returns the path of cargo-deny in the pinned version; compiles it into target/ if it is missing.
fn installed() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/xtask/cargo-deny");
    let program = folder.join("bin/cargo-deny");
    let has_version = |program: &PathBuf| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim().ends_with(VERSION))
    };
    if has_version(&program) {
        return Ok(program);
    }
    let package = format!("cargo-deny@{VERSION}");
    let mut install = cargo(&["install", "--quiet", "--locked", "--no-default-features"]);
    install.arg(&package).arg("--root").arg(&folder);
    install.arg("--target-dir").arg(folder.join("target"));
    // A debug build: it runs for a second, and every fresh machine compiles it.
    install.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    run(install.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"))?;
    Ok(program)
}
