//! `rutter init`: writes `rutter.toml` for the site in the current folder and prints a CI job.
//!
//! Recognizes the site generator and its output folder. Rejects folders without a built site and
//! without a known generator, and does not overwrite an existing file without `--force`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_build::BaseUrl;

use crate::config::{FILE, SettingsError, document};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::site::generator::{self, DetectedGenerator};
use crate::site::{self, HomePage};

/// Arguments of `rutter init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Folder of the built site
    ///
    /// The folder need not exist yet. Default: the output folder of the site generator.
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// Base URL that the site is published at
    ///
    /// Default: read from the site, or from the settings of its generator.
    #[arg(long, value_name = "URL", value_parser = parse_base)]
    base_url: Option<BaseUrl>,
    /// Overwrite an existing rutter.toml
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &InitArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let here = Path::new("");
    let found = find(args, here)?;
    let text = document::commented(&slashed(&found.site), found.base_url());
    write(Path::new(FILE), &text, args.force)?;
    match found.generator {
        Some(generator) => out.say(format_args!("site generator: {}", generator.name())),
        None => out.say("site generator: not recognized"),
    }
    if !found.site.is_dir() {
        out.say(format_args!(
            "site folder: {} (does not exist yet; build the site)",
            found.site.display()
        ));
    }
    match &found.base_url {
        Some((base, place)) => {
            out.say(format_args!("base URL: {} (from {place})", base.as_str()));
        }
        None => out.say(format_args!("base URL: not found; set `base-url` in {FILE}")),
    }
    out.say(format_args!(
        "wrote {FILE}; keep the folder .rutter between builds: commit it, or cache it in CI"
    ));
    out.data().write_all(steps(&found).as_bytes())?;
    Ok(ExitStatus::Clean)
}

/// The detected properties of the site.
struct DetectedSite {
    site: PathBuf,
    generator: Option<DetectedGenerator>,
    base_url: Option<(BaseUrl, String)>,
}

impl DetectedSite {
    fn base_url(&self) -> Option<&str> {
        self.base_url.as_ref().map(|(base, _)| base.as_str())
    }
}

fn find(args: &InitArgs, here: &Path) -> Result<DetectedSite, SettingsError> {
    let by_files = generator::of_folder(here);
    let site = match (&args.site, by_files) {
        (Some(site), _) => Some(site.clone()),
        (None, Some(generator)) => Some(generator.folder(here)),
        (None, None) => {
            site::built(here, &site::OUTPUT_FOLDERS).or_else(|| site::built(here, &["."]))
        }
    };
    let site = site.ok_or_else(|| {
        let hint = "name the folder of the site, as in `rutter init public`";
        SettingsError::missing(
            "found no built site and no site generator in the current folder",
            hint,
        )
    })?;
    let home = HomePage::read(&here.join(&site));
    let generator = by_files.or_else(|| generator::of_home(home.as_ref()?));
    let given = args.base_url.clone().map(|base| (base, "--base-url".to_owned()));
    let base_url =
        given.or_else(|| site::base_url(&here.join(&site), home.as_ref())).or_else(|| {
            let generator = generator?;
            Some((generator.base_url(here)?, format!("the settings of {}", generator.name())))
        });
    Ok(DetectedSite { site, generator, base_url })
}

fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let what = format!("{} already exists", path.display());
            return Err(SettingsError::missing(what, "overwrite it with --force").into());
        }
        other => other.with_context(name)?,
    };
    file.write_all(text.as_bytes()).with_context(name)
}

/// Returns a path with slashes, on all systems.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, rest @ ..] if first == "/" => format!("/{}", rest.join("/")),
        _ => parts.join("/"),
    }
}

/// Returns the steps of a GitHub workflow that builds the site and its layers.
fn steps(found: &DetectedSite) -> String {
    let build = match found.generator {
        Some(generator) => generator.build(),
        None => "make # the command that builds the site".to_owned(),
    };
    let key = "rutter-${{ github.ref_name }}-${{ github.run_id }}-${{ github.run_attempt }}";
    format!(
        r"# Steps for a GitHub workflow: after the checkout, before {site} is uploaded.
- name: Build the site
  run: {build}
- name: Restore the state of Rutter
  uses: actions/cache/restore@v4
  with:
    path: .rutter
    key: {key}
    restore-keys: rutter-${{{{ github.ref_name }}}}-
- name: Install Rutter
  run: cargo install --locked --path ../rutter/crates/rutter # the path of its source
- name: Add the machine-readable layers
  run: rutter build
- name: Save the state of Rutter
  uses: actions/cache/save@v4
  with:
    path: .rutter
    key: {key}
",
        site = slashed(&found.site),
    )
}

fn parse_base(text: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(text).map_err(|error| error.to_string())
}
