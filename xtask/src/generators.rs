//! The same small site made by real generators: `cargo xtask generators [--phrases] [--replay] [NAME...]`.
//!
//! Input: the shared pages in `xtask/generators/content` and one folder of settings for each
//! generator. The generators are installed with pinned versions below `target/xtask/generators`.
//! Without an option, `rutter build` and `rutter check` run on each site with default settings, and
//! the run fails when `check` reports a warning or when an address of the generator's own sitemap is
//! missing in ours. `--phrases` fails when a required phrase is not in the Markdown twins, `--replay`
//! when a rebuild changes a page or an edit is not found. Needs a network the first time, so
//! `cargo xtask test` leaves it out.

mod dialect;
mod phrases;
mod replay;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use self::dialect::Dialect;
use self::replay::{EDITED_PAGE, Edit, SENTENCE};
use self::table::GENERATORS;
use crate::{cargo, outside, root, run, score};

/// How a generator is installed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Install {
    /// `requirements.txt` into a virtual environment.
    Pip,
    /// `package.json`.
    Npm,
    /// Debian packages.
    Debian,
    /// The crate and version in `version.txt`, compiled.
    Cargo,
}

/// A page that only some generators have: a translation or an older version.
#[derive(Clone, Copy)]
struct ExtraPage {
    /// Its name in `phrases.tsv`, which is its path on the site.
    page: &'static str,
    /// Its file below `content`.
    source: &'static str,
    /// Its file below the folder of the generator.
    file: &'static str,
}

struct Generator {
    name: &'static str,
    install: Install,
    /// Where its pages are, below its folder.
    content: &'static str,
    /// Name of the page with tabs: some dialects need another ending.
    install_page: &'static str,
    /// Name of the home page.
    home: &'static str,
    dialect: Dialect,
    /// Front matter that redirects the page `setup` to the page `install`.
    alias: &'static str,
    extra: Option<ExtraPage>,
    build: &'static [&'static str],
    output: &'static str,
    /// A changed menu entry, build stamp and theme option.
    rebuild: &'static [Edit],
}

/// What to do with each site.
#[derive(Clone, Copy, Default)]
struct Modes {
    phrases: bool,
    replay: bool,
}

/// One line of the table that ends a run with `--phrases` or `--replay`.
#[derive(Default)]
struct Line {
    phrases: Option<(usize, usize)>,
    n_thin: usize,
    rebuild: Option<u64>,
    edit: Option<u64>,
    /// Whether exactly the edited page changed.
    is_edit_found: bool,
}

/// Runs the generators that the arguments name, or all.
pub(crate) fn run_named(args: &[&str]) -> anyhow::Result<()> {
    let mut modes = Modes::default();
    let mut names = Vec::new();
    for arg in args {
        match *arg {
            "--phrases" => modes.phrases = true,
            "--replay" => modes.replay = true,
            name => names.push(name),
        }
    }
    let known: Vec<&str> = GENERATORS.iter().map(|generator| generator.name).collect();
    for name in &names {
        ensure!(known.contains(name), "`{name}` is not one of {}", known.join(", "));
    }
    let chosen = GENERATORS.iter().filter(|it| names.is_empty() || names.contains(&it.name));
    if modes.phrases || modes.replay { measure_all(modes, chosen) } else { check_all(chosen) }
}

/// Builds and checks each site with default settings.
fn check_all(chosen: impl Iterator<Item = &'static Generator>) -> anyhow::Result<()> {
    run(cargo(&["build", "--quiet", "--package", "rutter"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let rutter = target.unwrap_or_else(|| root().join("target")).join("debug/rutter");
    let mut failed = Vec::new();
    for generator in chosen {
        println!("== {}", generator.name);
        if let Err(error) = generator.check(&rutter) {
            println!("{}: {error:#}", generator.name);
            failed.push(generator.name);
        }
    }
    ensure!(failed.is_empty(), "not clean: {}", failed.join(", "));
    Ok(())
}

/// Prints what each site keeps and which rebuilds change pages.
fn measure_all(
    modes: Modes,
    chosen: impl Iterator<Item = &'static Generator>,
) -> anyhow::Result<()> {
    let rutter = score::optimised("rutter")?;
    let (mut lines, mut skipped) = (Vec::new(), Vec::new());
    for generator in chosen {
        println!("== {}", generator.name);
        let folder = generator.folder();
        match fs::create_dir_all(&folder)
            .map_err(anyhow::Error::from)
            .and_then(|()| generator.write_sources(&folder))
            .and_then(|()| generator.install(&folder))
        {
            Ok(()) => lines.push((generator.name, generator.measure(modes, &rutter))),
            Err(error) => {
                println!("{}: not installed: {error:#}", generator.name);
                skipped.push(generator.name);
            }
        }
    }
    println!(
        "\n{:<12}{:>14}{:>18}{:>17}{:>14}",
        "generator", "phrases kept", "pages below 0.9", "rebuild changed", "edit changed"
    );
    let mut failed = Vec::new();
    for (name, line) in lines {
        let is_good = match line {
            Ok(line) => line.print(name),
            Err(error) => {
                println!("{name:<12}failed: {error:#}");
                false
            }
        };
        if !is_good {
            failed.push(name);
        }
    }
    println!(
        "goals: every phrase kept, no page below 0.9, rebuilds change 0 pages, an edit changes 1"
    );
    if !skipped.is_empty() {
        println!("not installed: {}", skipped.join(", "));
    }
    ensure!(failed.is_empty(), "goals missed: {}", failed.join(", "));
    Ok(())
}

impl Line {
    /// Prints the line and returns whether every goal is met.
    fn print(&self, name: &str) -> bool {
        let phrases = self.phrases.map(|(kept, total)| format!("{kept} / {total}"));
        let count = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
        let are_kept = self.phrases.is_none_or(|(kept, total)| kept == total) && self.n_thin == 0;
        let is_replayed = self.rebuild.is_none_or(|n| n == 0);
        let is_found = self.edit.is_none() || self.is_edit_found;
        let is_good = are_kept && is_replayed && is_found;
        println!(
            "{name:<12}{:>14}{:>18}{:>17}{:>14}  {}",
            phrases.unwrap_or("-".to_owned()),
            self.n_thin,
            count(self.rebuild),
            count(self.edit),
            if is_good { "ok" } else { "MISSED" }
        );
        is_good
    }
}

impl Generator {
    fn folder(&self) -> PathBuf {
        root().join("target/xtask/generators").join(self.name)
    }

    /// Runs the generator on its folder.
    fn generate(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let output = folder.join(self.output);
        drop(fs::remove_dir_all(&output));
        let [program, args @ ..] = self.build else { bail!("no build command") };
        let program = if program.contains('/') { folder.join(program) } else { program.into() };
        run(Command::new(program).args(args).current_dir(folder))?;
        Ok(output)
    }

    /// Builds and checks the site with default settings.
    fn check(&self, rutter: &Path) -> anyhow::Result<()> {
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        self.write_sources(&folder)?;
        self.install(&folder)?;
        let output = self.generate(&folder)?;
        let theirs = sitemap_addresses(&output)?;
        let state = folder.join("state");
        drop(fs::remove_dir_all(&state));
        let mut build = Command::new(rutter);
        build.arg("build").arg(&output).arg("--state").arg(&state);
        run(build.args(["--base-url", "https://quay.test/"]))?;
        run(Command::new(rutter).arg("check").arg(&output).args(["--fail-on", "warning"]))?;
        let ours = sitemap_addresses(&output)?;
        let missing: Vec<&str> = theirs.difference(&ours).map(String::as_str).collect();
        ensure!(missing.is_empty(), "not in our sitemap: {}", missing.join(", "));
        println!("{}: clean, {} addresses, {} of them theirs", self.name, ours.len(), theirs.len());
        Ok(())
    }

    /// Publishes the site, compares its twins with the shared pages, and replays rebuilds and an edit.
    fn measure(&self, modes: Modes, rutter: &Path) -> anyhow::Result<Line> {
        let folder = self.folder();
        // Outside of the generator's folder: some generators read everything below it.
        let place = root().join("target/xtask/measured").join(self.name);
        drop(fs::remove_dir_all(&place));
        fs::create_dir_all(&place)?;
        let mut line = Line::default();
        let first = replay::publish(rutter, &self.generate(&folder)?, &place)?;
        if modes.phrases {
            let content = root().join("xtask/generators/content");
            let extra = self.extra.map(|extra| extra.page);
            let kept = phrases::compare(&first.twins, &content, extra)?;
            for (page, phrase) in &kept.lost {
                println!("{}: {page} lost `{phrase}`", self.name);
            }
            for (page, coverage) in &kept.thin {
                println!("{}: {page} keeps {coverage:.2} of its words", self.name);
            }
            line.phrases = Some((kept.n_phrases - kept.lost.len(), kept.n_phrases));
            line.n_thin = kept.thin.len();
        }
        if modes.replay {
            for edit in self.rebuild {
                edit.apply(&folder)?;
            }
            let second = replay::publish(rutter, &self.generate(&folder)?, &place)?;
            line.rebuild = Some(second.n_changed);
            for page in replay::changed_twins(&first.twins, &second.twins) {
                println!("{}: the rebuild changed {page}", self.name);
            }
            let (from, to) = SENTENCE;
            let page = folder.join(self.content).join(format!("{EDITED_PAGE}.md"));
            let text = fs::read_to_string(&page)?;
            ensure!(text.contains(from), "{EDITED_PAGE} does not have `{from}`");
            fs::write(&page, text.replace(from, to))?;
            let third = replay::publish(rutter, &self.generate(&folder)?, &place)?;
            let changed = replay::changed_twins(&second.twins, &third.twins);
            for page in &changed {
                println!("{}: the edit changed {page}", self.name);
            }
            line.edit = Some(third.n_changed);
            line.is_edit_found = third.n_changed == 1
                && matches!(changed.as_slice(), [one] if one.starts_with(EDITED_PAGE));
        }
        Ok(line)
    }

    /// Writes the shared pages in this generator's dialect, and its settings over them.
    fn write_sources(&self, folder: &Path) -> anyhow::Result<()> {
        let sources = root().join("xtask/generators");
        let own = sources.join(self.name);
        copy_tree(&own, folder)?;
        let shared = sources.join("content");
        let rollback = fs::read_to_string(shared.join("rollback.part"))?;
        let tabs = fs::read_to_string(own.join("tabs.md"))?;
        let body = fs::read_to_string(shared.join("install.body"))?;
        let page = format!(
            "---\ntitle: Install\ndescription: How to install Quay on Linux, Windows and macOS.\n{}---\n{}",
            self.alias,
            body.replace("@TABS@", tabs.trim_end())
        );
        let content = folder.join(self.content);
        let write = |path: PathBuf, page: &str| -> anyhow::Result<()> {
            fs::create_dir_all(path.parent().context("a page without a folder")?)?;
            Ok(fs::write(path, self.dialect.translate(page, &rollback))?)
        };
        write(content.join(self.install_page), &page)?;
        for name in phrases::shared_pages(&shared)? {
            let text = fs::read_to_string(shared.join(format!("{name}.md")))?;
            let file = if name == "index" { self.home.to_owned() } else { format!("{name}.md") };
            write(content.join(file), &text)?;
        }
        if let Some(extra) = self.extra {
            let text = fs::read_to_string(shared.join(extra.source))?;
            write(folder.join(extra.file), &text)?;
        }
        Ok(())
    }

    /// Installs the generator, unless these very versions are there.
    fn install(&self, folder: &Path) -> anyhow::Result<()> {
        let list = match self.install {
            Install::Pip => "requirements.txt",
            Install::Npm => "package.json",
            Install::Cargo => "version.txt",
            Install::Debian => {
                outside::need("jekyll", "jekyll")?;
                for package in ["ruby-jekyll-sitemap", "ruby-jekyll-redirect-from"] {
                    outside::need_package(package)?;
                }
                return Ok(());
            }
        };
        let wanted = fs::read(folder.join(list))?;
        let installed = folder.join("installed");
        if fs::read(&installed).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        match self.install {
            Install::Pip => {
                run(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(folder))?;
                let pip = folder.join("venv/bin/pip");
                let args = ["install", "--quiet", "--requirement", list];
                run(Command::new(pip).args(args).current_dir(folder))?;
            }
            Install::Cargo => {
                let wanted = String::from_utf8_lossy(&wanted);
                let (name, version) = wanted.trim().split_once(' ').context("no version")?;
                let args =
                    ["install", "--quiet", "--locked", "--no-default-features", "--root", "."];
                let mut cargo = cargo(&args);
                run(cargo.args(["--version", version, name]).current_dir(folder))?;
            }
            Install::Npm | Install::Debian => {
                outside::need("npm", "npm")?;
                let args = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
                run(Command::new("npm").args(args).current_dir(folder))?;
            }
        }
        Ok(fs::write(installed, wanted)?)
    }
}

/// Every address in the sitemaps of a folder; an index counts by its children.
fn sitemap_addresses(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in files_below(folder)? {
        let path = Path::new(&name);
        let is_xml = path.extension().is_some_and(|ending| ending == "xml");
        if !is_xml || !name.contains("sitemap") {
            continue;
        }
        let text = fs::read_to_string(folder.join(&name))?;
        if text.contains("<sitemapindex") {
            continue;
        }
        let locs = text.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
        found.extend(locs.map(|loc| loc.trim().replace("&amp;", "&")));
    }
    Ok(found)
}

fn copy_tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    for name in files_below(from)? {
        let target = to.join(&name);
        fs::create_dir_all(target.parent().context("a file without a folder")?)?;
        fs::copy(from.join(&name), target)?;
    }
    Ok(())
}

/// Paths of all files below a folder, sorted.
fn files_below(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inside))? {
            let entry = entry?;
            let name = format!("{inside}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(format!("{name}/"));
            } else {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}
