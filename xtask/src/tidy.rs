//! Checks what a compiler does not: crate dependencies, licences, file lengths, module docs,
//! paths in ARCHITECTURE.md, references in text, banned words, names of types, sizes of functions
//! and structs, documented dependencies, and imports between modules.
//!
//! Input: the files of the repository and `cargo metadata`. Output: all faults in one error.

mod banned_words;
mod dependencies;
mod glob;
mod modules;
mod references;
mod rust_source;
mod sizes;
mod type_names;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{cargo, root};

/// The crates of this workspace that each crate may depend on. `rutter-testkit` is for tests only.
const EDGES: &[(&str, &[&str])] = &[
    ("rutter-finding", &[]),
    ("rutter-root", &[]),
    ("rutter-page", &["rutter-finding"]),
    ("rutter-scp", &["rutter-finding", "rutter-page"]),
    ("rutter-extract", &["rutter-arc", "rutter-finding", "rutter-page"]),
    ("rutter-llms", &["rutter-finding", "rutter-page"]),
    ("rutter-robots", &["rutter-finding", "rutter-page"]),
    ("rutter-sitemap", &["rutter-finding", "rutter-page"]),
    ("rutter-arc", &["rutter-finding", "rutter-page"]),
    ("rutter-logs", &["rutter-finding", "rutter-page"]),
    ("rutter-spxi", &["rutter-finding", "rutter-page"]),
    ("rutter-store", &["rutter-arc", "rutter-finding", "rutter-page", "rutter-scp", "rutter-spxi"]),
    (
        "rutter-sync",
        &[
            "rutter-arc",
            "rutter-extract",
            "rutter-fetch",
            "rutter-finding",
            "rutter-llms",
            "rutter-page",
            "rutter-robots",
            "rutter-scp",
            "rutter-sitemap",
            "rutter-spxi",
            "rutter-store",
        ],
    ),
    ("rutter-fetch", &["rutter-finding", "rutter-page", "rutter-robots"]),
    ("rutter-report", &["rutter-extract", "rutter-finding", "rutter-page", "rutter-scp"]),
    (
        "rutter-site",
        &["rutter-extract", "rutter-finding", "rutter-page", "rutter-scp", "rutter-spxi"],
    ),
    (
        "rutter-build",
        &[
            "rutter-arc",
            "rutter-extract",
            "rutter-finding",
            "rutter-llms",
            "rutter-page",
            "rutter-robots",
            "rutter-root",
            "rutter-scp",
            "rutter-site",
            "rutter-sitemap",
            "rutter-spxi",
        ],
    ),
    (
        "rutter-check",
        &[
            "rutter-arc",
            "rutter-extract",
            "rutter-fetch",
            "rutter-finding",
            "rutter-llms",
            "rutter-page",
            "rutter-report",
            "rutter-robots",
            "rutter-scp",
            "rutter-site",
            "rutter-sitemap",
            "rutter-spxi",
        ],
    ),
    (
        "rutter-serve",
        &[
            "rutter-arc",
            "rutter-finding",
            "rutter-logs",
            "rutter-page",
            "rutter-root",
            "rutter-scp",
            "rutter-site",
        ],
    ),
    (
        "rutter",
        &[
            "rutter-arc",
            "rutter-build",
            "rutter-check",
            "rutter-extract",
            "rutter-fetch",
            "rutter-finding",
            "rutter-llms",
            "rutter-logs",
            "rutter-page",
            "rutter-report",
            "rutter-robots",
            "rutter-root",
            "rutter-scp",
            "rutter-serve",
            "rutter-site",
            "rutter-sitemap",
            "rutter-spxi",
            "rutter-store",
            "rutter-sync",
        ],
    ),
    ("rutter-testkit", &[]),
    (
        "rutter-bench",
        &[
            "rutter-arc",
            "rutter-build",
            "rutter-check",
            "rutter-extract",
            "rutter-fetch",
            "rutter-finding",
            "rutter-llms",
            "rutter-logs",
            "rutter-page",
            "rutter-report",
            "rutter-robots",
            "rutter-scp",
            "rutter-serve",
            "rutter-site",
            "rutter-sitemap",
            "rutter-spxi",
            "rutter-store",
            "rutter-sync",
            "rutter-testkit",
        ],
    ),
];

/// Lines of a source file.
const LONGEST_FILE: usize = 800;
/// Words of ARCHITECTURE.md.
const LONGEST_ARCHITECTURE: usize = 1500;

/// Licences that require attribution only.
const PERMISSIVE: [&str; 9] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "0BSD",
];

pub(crate) fn run() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    edges(&mut faults)?;
    licences(&mut faults)?;
    sources(&mut faults)?;
    architecture(&mut faults)?;
    references::check(&mut faults)?;
    banned_words::check(&mut faults)?;
    modules::check(&mut faults)?;
    type_names::check(&mut faults)?;
    sizes::check(&files("rs")?, &mut faults)?;
    dependencies::check(&mut faults)?;
    ensure!(faults.is_empty(), "tidy:\n  {}", faults.join("\n  "));
    println!("xtask tidy: no faults");
    Ok(())
}

fn edges(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let output = cargo(&["metadata", "--format-version", "1", "--no-deps"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let allowed: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    for package in metadata["packages"].as_array().context("no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        if name == "xtask" {
            continue;
        }
        let Some(allowed) = allowed.get(name) else {
            faults.push(format!("crate {name} is not in the table of dependencies"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let is_for_tests = dependency["kind"].as_str() == Some("dev");
            // Tests may enable features of their own crate.
            let is_for_tests = is_for_tests && (other == "rutter-testkit" || other == name);
            let is_fine = allowed.contains(&other) || is_for_tests;
            if other.starts_with("rutter") && !is_fine {
                faults.push(format!("{name} must not depend on {other}"));
            }
        }
    }
    Ok(())
}

/// Checks that every dependency may be used under a permissive licence.
fn licences(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let output = cargo(&["metadata", "--format-version", "1", "--locked"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    for package in metadata["packages"].as_array().context("no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or_default();
        let flat = licence.replace(['(', ')'], "").replace('/', " OR ");
        let is_fine = flat
            .split(" AND ")
            .all(|part| part.split(" OR ").any(|choice| PERMISSIVE.contains(&choice.trim())));
        if !is_fine {
            faults.push(format!("{name}: licence `{licence}` is not in the list"));
        }
    }
    Ok(())
}

fn sources(faults: &mut Vec<String>) -> anyhow::Result<()> {
    for path in files("rs")? {
        let text = fs::read_to_string(&path)?;
        let name = relative(&path);
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("//!") {
            faults.push(format!("{name}: the first line is no module doc (`//!`)"));
        }
        let n_lines = text.lines().count();
        if LONGEST_FILE < n_lines && !first.starts_with("//! A table") {
            faults.push(format!("{name}: {n_lines} lines, at most {LONGEST_FILE}"));
        }
    }
    Ok(())
}

/// Checks that ARCHITECTURE.md names every crate, that every path in backticks exists, and its length.
fn architecture(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md"))?;
    for (name, _) in EDGES {
        if !text.contains(&format!("`{name}`")) {
            faults.push(format!("ARCHITECTURE.md does not name {name}"));
        }
    }
    let n_words = text.split_whitespace().count();
    if LONGEST_ARCHITECTURE < n_words {
        faults.push(format!("ARCHITECTURE.md: {n_words} words, at most {LONGEST_ARCHITECTURE}"));
    }
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = quoted.contains('/') && !quoted.contains(char::is_whitespace);
        if is_path && !quoted.contains(['*', '<', ':']) && !root().join(quoted).exists() {
            faults.push(format!("ARCHITECTURE.md names {quoted}, which does not exist"));
        }
    }
    Ok(())
}

/// Returns the files of the repository with this ending, sorted.
pub(crate) fn files(ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_source =
                !matches!(name.as_str(), "target" | "corpus" | "artifacts" | "node_modules");
            if path.is_dir() && is_source && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
