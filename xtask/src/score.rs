//! Quality of extraction: `score` and `outside`.
//!
//! `score` scores a folder by what it holds: annotated pages, snippets, or
//! another tool's metadata. `outside` runs it on pages that the project never
//! contains, with trafilatura beside us on the same pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::{cargo, outside, root, run, signpost};

/// The documentation packages extraction is measured on.
const PACKAGES: [&str; 3] = ["sqlite3-doc", "git-doc", "debian-policy"];

/// Scores folders; the own set where none is named.
pub(crate) fn score(folders: &[&str]) -> anyhow::Result<()> {
    let own = root().join("crates/rutter-extract/corpus");
    let folders: Vec<PathBuf> = if folders.is_empty() {
        vec![own]
    } else {
        let here = std::env::current_dir()?;
        folders.iter().map(|folder| here.join(folder)).collect()
    };
    run(bench().arg("score").args(folders))
}

/// Scores pages from outside: archives or folders of snippets and metadata in
/// `folder`, and how much of Debian's documentation survives.
pub(crate) fn outside(folder: &str) -> anyhow::Result<()> {
    let folder = std::env::current_dir()?.join(folder);
    let has_signposts = signpost::outside(&folder)?;
    let places = unpack(&folder)?;
    if has_signposts && places.is_empty() {
        return Ok(());
    }
    let python = outside::python(&["lxml_html_clean", "trafilatura", "lxml"])?;
    ensure!(!places.is_empty(), "{} holds neither snippets nor metadata", folder.display());
    for place in &places {
        run(bench().arg("score").arg(place))?;
        if snippets_of(place).is_some() {
            run(Command::new(&python).arg(root().join("benches/snippets.py")).arg(place))?;
        }
    }
    retention()
}

/// How much of the main region of Debian's documentation survives, and what a
/// template adds.
pub(crate) fn retention() -> anyhow::Result<()> {
    let python = outside::python(&["lxml"])?;
    let docs = documentation()?;
    run(cargo(&["build", "--release", "--quiet", "--package", "rutter"]))?;
    let rutter = root().join("target/release/rutter");
    run(Command::new(&python).arg(root().join("benches/retention.py")).arg(rutter).arg(docs))
}

/// The documentation packages, unpacked; downloaded on first use.
pub(crate) fn documentation() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/bench/docs");
    for package in PACKAGES {
        unpacked(&folder, package)?;
    }
    Ok(folder)
}

/// The page of the large site from which its others can be reached.
pub(crate) const LARGE_HOME: &str = "api/index.html";

/// A site of ten thousand pages, unpacked likewise.
pub(crate) fn large_site() -> anyhow::Result<PathBuf> {
    let place = unpacked(&root().join("target/bench/large"), "openjdk-17-doc")?;
    Ok(place.join("usr/share/doc/openjdk-17-jre-headless"))
}

fn unpacked(folder: &Path, package: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let place = folder.join(package);
    if place.is_dir() {
        return Ok(place);
    }
    outside::need("apt-get", "apt")?;
    run(Command::new("apt-get").args(["download", package]).current_dir(folder))?;
    let archive = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(package))
        })
        .with_context(|| format!("{package} was not downloaded"))?;
    run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&place))?;
    Ok(place)
}

/// The peer extractors, built on first use.
pub(crate) fn peers() -> anyhow::Result<PathBuf> {
    let folder = root().join("benches/peers");
    let mut build = cargo(&["build", "--release", "--quiet", "--locked"]);
    run(build.current_dir(&folder))?;
    Ok(folder.join("target/release/rutter-peers"))
}

fn bench() -> Command {
    cargo(&["run", "--release", "--quiet", "--package", "rutter-bench", "--"])
}

/// The folders to score: `folder` itself, its folders, its archives unpacked.
fn unpack(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if is_scored(folder) {
        found.push(folder.to_owned());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && is_scored(&path) {
            found.push(path);
        } else if name.starts_with("extraction-") && name.ends_with(".tar.xz") {
            let place = root().join("target/xtask/outside").join(name.trim_end_matches(".tar.xz"));
            if !place.is_dir() {
                fs::create_dir_all(&place)?;
                outside::need("xz", "xz-utils")?;
                run(Command::new("tar").arg("-xf").arg(&path).arg("-C").arg(&place))?;
            }
            found.extend(unpack(&place)?);
        }
    }
    Ok(found)
}

fn is_scored(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    snippets_of(folder).is_some()
        || entries.take(50).any(|entry| entry.path().join("expected-metadata.json").is_file())
}

fn snippets_of(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("evaldata") && path.extension().is_some_and(|ending| ending == "json")
    })
}
