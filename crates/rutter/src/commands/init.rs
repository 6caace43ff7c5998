//! `rutter init`: settings for the site in the current folder, and its CI step.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_build::Base;

use crate::config::{FILE, Fault, document};
use crate::exit::Exit;
use crate::output::Output;
use crate::site::generator::{self, Known};
use crate::site::{self, Home};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with the built site, or where it will be built [default: by the site's generator]
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// Address the site is published at [default: found in the site or its generator's settings]
    #[arg(long, value_name = "URL", value_parser = parse_base)]
    base_url: Option<Base>,
    /// Replace a rutter.toml that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let here = Path::new("");
    let found = find(args, here)?;
    let text = document::commented(&slashed(&found.site), found.base_url());
    write(Path::new(FILE), &text, args.force)?;
    match found.generator {
        Some(generator) => out.say(format_args!("site made by {}", generator.name())),
        None => out.say("no site generator recognised"),
    }
    if !found.site.is_dir() {
        out.say(format_args!("{}: not there yet; build the site", found.site.display()));
    }
    match &found.base_url {
        Some((base, place)) => {
            out.say(format_args!("base URL {} from {place}", base.as_str()));
        }
        None => out.say(format_args!("base URL not found; write `base-url` in {FILE}")),
    }
    out.say(format_args!(
        "{FILE} written; keep .rutter/ from one build to the next: commit it, or cache it in CI"
    ));
    out.data().write_all(steps(&found).as_bytes())?;
    Ok(Exit::Clean)
}

/// What could be told about the site.
struct Found {
    site: PathBuf,
    generator: Option<Known>,
    base_url: Option<(Base, String)>,
}

impl Found {
    fn base_url(&self) -> Option<&str> {
        self.base_url.as_ref().map(|(base, _)| base.as_str())
    }
}

fn find(args: &Args, here: &Path) -> Result<Found, Fault> {
    let by_files = generator::of_folder(here);
    let site = match (&args.site, by_files) {
        (Some(site), _) => Some(site.clone()),
        (None, Some(generator)) => Some(generator.folder(here)),
        (None, None) => {
            site::built(here, &site::OUTPUT_FOLDERS).or_else(|| site::built(here, &["."]))
        }
    };
    let site = site.ok_or_else(|| {
        let hint = "name its folder, as in `rutter init public`";
        Fault::missing("no built site and no site generator found here", hint)
    })?;
    let home = Home::read(&here.join(&site));
    let generator = by_files.or_else(|| generator::of_home(home.as_ref()?));
    let given = args.base_url.clone().map(|base| (base, "--base-url".to_owned()));
    let base_url =
        given.or_else(|| site::base_url(&here.join(&site), home.as_ref())).or_else(|| {
            let generator = generator?;
            Some((generator.base_url(here)?, format!("the settings of {}", generator.name())))
        });
    Ok(Found { site, generator, base_url })
}

fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let what = format!("{}: is there already", path.display());
            return Err(Fault::missing(what, "--force replaces it").into());
        }
        other => other.with_context(name)?,
    };
    file.write_all(text.as_bytes()).with_context(name)
}

/// A path as it is written on every system.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, rest @ ..] if first == "/" => format!("/{}", rest.join("/")),
        _ => parts.join("/"),
    }
}

/// Steps of a GitHub workflow that builds the site and its layers.
fn steps(found: &Found) -> String {
    let build = match found.generator {
        Some(generator) => generator.build(),
        None => "make # whatever builds the site".to_owned(),
    };
    let key = "rutter-${{ github.ref_name }}-${{ github.run_id }}-${{ github.run_attempt }}";
    format!(
        r"# Steps for a job of .github/workflows, after the checkout and before {site} is uploaded.
- name: Build the site
  run: {build}
- name: Restore what Rutter remembers
  uses: actions/cache/restore@v4
  with:
    path: .rutter
    key: {key}
    restore-keys: rutter-${{{{ github.ref_name }}}}-
- name: Install Rutter
  run: cargo install --locked --path ../rutter/crates/rutter # wherever its source is
- name: Make the site readable for machines
  run: rutter build
- name: Save what Rutter remembers
  uses: actions/cache/save@v4
  with:
    path: .rutter
    key: {key}
",
        site = slashed(&found.site),
    )
}

fn parse_base(text: &str) -> Result<Base, String> {
    Base::parse(text).map_err(|error| error.to_string())
}
