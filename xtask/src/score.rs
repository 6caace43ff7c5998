//! Quality of extraction: `score` and `outside`.
//!
//! `score` scores a folder by its content: annotated pages, snippets, or another tool's metadata.
//! `outside` decides about extraction: it scores pages that are no part of the project with all
//! peers on the same pages (`benches/outside`), documentation packages (`benches/retention.py`) and
//! generated sites.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{cargo, generators, outside, root, run, signpost};

/// The documentation packages on which extraction is measured.
const PACKAGES: [&str; 3] = ["sqlite3-doc", "git-doc", "debian-policy"];

/// Scores folders; without one, the own set.
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

/// The arguments of `outside`.
struct OutsideArgs<'a> {
    folder: &'a str,
    part: &'a str,
    extent: Extent,
}

/// How much of `outside` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// Only the scores of texts on the open sets.
    Scores,
    /// Only the dates of pages on the open sets.
    Dates,
}

impl<'a> OutsideArgs<'a> {
    fn parse(args: &[&'a str]) -> anyhow::Result<Self> {
        let mut parsed = OutsideArgs { folder: "", part: "look-once", extent: Extent::All };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match *arg {
                "--part" => parsed.part = rest.next().context("--part needs a value")?,
                "--scores-only" => parsed.extent = Extent::Scores,
                "--dates" => parsed.extent = Extent::Dates,
                folder if parsed.folder.is_empty() && !folder.starts_with("--") => {
                    parsed.folder = folder;
                }
                other => bail!("unexpected argument `{other}`"),
            }
        }
        ensure!(!parsed.folder.is_empty(), "outside needs a folder");
        let parts = ["train", "tune", "look-once"];
        ensure!(parts.contains(&parsed.part), "--part is not one of {}", parts.join(", "));
        Ok(parsed)
    }
}

/// Scores extraction on the open sets in a folder with all peers, on documentation packages and on
/// generated sites.
///
/// Every step runs; the error names the steps that missed a goal.
pub(crate) fn outside(args: &[&str]) -> anyhow::Result<()> {
    let args = OutsideArgs::parse(args)?;
    let folder = std::env::current_dir()?.join(args.folder);
    let is_all = args.extent == Extent::All;
    let has_signposts = is_all && signpost::outside(&folder)?;
    let mut places = Vec::new();
    find_sets(&folder, &mut places)?;
    if has_signposts && places.is_empty() {
        return Ok(());
    }
    ensure!(!places.is_empty(), "{} holds no open set", folder.display());
    let mut missed = Vec::new();
    let mut step = |name: &'static str, result: anyhow::Result<()>| {
        if let Err(error) = result {
            println!("{name}: {error:#}");
            missed.push(name);
        }
    };
    if is_all {
        for place in places.iter().filter(|place| has_metadata(place)) {
            step("metadata", metadata(place));
        }
    }
    if args.extent != Extent::Dates {
        step("open sets", open_sets(&places, args.part));
    }
    if args.extent != Extent::Scores {
        step("dates", dates(&places, args.part));
    }
    if is_all {
        step("documentation", retention());
        step("generators", generators::run_named(&["--phrases", "--replay"]));
    }
    ensure!(missed.is_empty(), "goals missed: {}", missed.join(", "));
    Ok(())
}

/// Compares metadata with another tool's.
fn metadata(folder: &Path) -> anyhow::Result<()> {
    run(Command::new(optimised("rutter-bench")?).arg("score").arg(folder))
}

/// Scores one part of the open sets with every peer that can be installed.
fn open_sets(places: &[PathBuf], part: &str) -> anyhow::Result<()> {
    let scripts = root().join("benches/outside");
    let program = optimised("rutter-bench")?;
    // The scripts need no package; a peer that is missing is reported by them.
    let python = match outside::locked_python(&scripts.join("requirements.txt")) {
        Ok(python) => python,
        Err(error) => {
            println!("peers of PyPI are skipped: {error:#}");
            "python3".into()
        }
    };
    let mut score = Command::new(python);
    // `-B`: write no compiled files.
    score.arg("-B");
    score.arg(&scripts).args(["--part", part]);
    score.arg("--rutter").arg(program);
    score.arg("--work").arg(root().join("target/xtask/outside"));
    match outside::locked_node(&scripts) {
        Ok(node) => _ = score.arg("--node").arg(node),
        Err(error) => println!("readability is skipped: {error:#}"),
    }
    match peers() {
        Ok(peers) => _ = score.arg("--rust-peers").arg(peers),
        Err(error) => println!("peers of crates.io are skipped: {error:#}"),
    }
    run(score.args(places))
}

/// Scores dates of publication on one part of the open sets, compared with htmldate.
fn dates(places: &[PathBuf], part: &str) -> anyhow::Result<()> {
    let scripts = root().join("benches/outside");
    let python = outside::locked_python(&scripts.join("requirements.txt"))?;
    let mut score = Command::new(python);
    score.arg("-B").arg(scripts.join("dates.py")).args(["--part", part]);
    score.arg("--rutter").arg(optimised("rutter-bench")?);
    run(score.args(places))
}

/// Builds a program of the workspace with the profile `growth`: optimised, and built in seconds after
/// a change, where `release` needs minutes. The profile has no influence on scores.
pub(crate) fn optimised(name: &str) -> anyhow::Result<PathBuf> {
    run(cargo(&["build", "--profile", "growth", "--quiet", "--package", name]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| root().join("target")).join("growth").join(name))
}

/// Prints how much of the main text of documentation packages is kept, and how much is added.
pub(crate) fn retention() -> anyhow::Result<()> {
    let python = outside::python(&["lxml"])?;
    let docs = documentation()?;
    let large = unpacked(&root().join("target/bench/large"), "openjdk-17-doc")?;
    let mut retention = Command::new(&python);
    retention.arg(root().join("benches/retention.py")).arg(optimised("rutter")?);
    run(retention.arg(docs).arg(large))
}

/// The documentation packages, unpacked; downloaded on first use.
pub(crate) fn documentation() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/bench/docs");
    for package in PACKAGES {
        unpacked(&folder, package)?;
    }
    Ok(folder)
}

/// The page of the large site from which all others can be reached.
pub(crate) const LARGE_HOME: &str = "api/index.html";

/// Returns a site of ten thousand pages, downloaded at first use.
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

/// Finds the folders with sets: `folder` itself, those below it, and those in its archives, which are
/// unpacked below target/xtask/outside.
fn find_sets(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if snippets_of(folder).is_some() || folder.join("truth.json").is_file() || has_metadata(folder)
    {
        found.push(folder.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            find_sets(&path, found)?;
        } else if let Some((stem, ending)) = name.split_once(".tar.")
            && stem.starts_with("extraction-")
        {
            let place = root().join("target/xtask/outside").join(stem);
            if !place.is_dir() {
                unpack(&path, ending, &place)?;
            }
            find_sets(&place, found)?;
        }
    }
    Ok(())
}

/// Unpacks an archive; the folder appears when everything is in it.
fn unpack(archive: &Path, ending: &str, place: &Path) -> anyhow::Result<()> {
    let program = match ending {
        "xz" => "xz",
        "zst" => "zstd --long=27",
        other => bail!("`{other}` is not a known compression"),
    };
    let package = if ending == "xz" { "xz-utils" } else { "zstd" };
    outside::need(program.split(' ').next().unwrap_or(program), package)?;
    let partial = place.with_extension("partial");
    drop(fs::remove_dir_all(&partial));
    fs::create_dir_all(&partial)?;
    let mut tar = Command::new("tar");
    tar.args(["--use-compress-program", program, "-xf"]).arg(archive).arg("-C").arg(&partial);
    run(tar)?;
    Ok(fs::rename(partial, place)?)
}

/// Returns whether the folders have pages with metadata of another tool.
fn has_metadata(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(50).any(|entry| entry.path().join("expected-metadata.json").is_file())
}

fn snippets_of(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("evaldata") && path.extension().is_some_and(|ending| ending == "json")
    })
}
