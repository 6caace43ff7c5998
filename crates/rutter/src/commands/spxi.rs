//! `rutter spxi`: creates, tests and reports on the entities of a site.

mod drown;
mod new;
mod status;
mod suggest;
mod survive;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::now;
use crate::config::{self, flags::Flags};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::plan::{BuildOptions, PlannedBuild, make_plan};

/// Subcommands of `rutter spxi`.
#[derive(Debug, Subcommand)]
pub(crate) enum SpxiCommand {
    /// Create an entity file with comments that explain its keys
    New(new::NewEntityArgs),
    /// Draft entities from the JSON-LD and meta tags of a site
    Suggest(suggest::SuggestArgs),
    /// Show which files of a published site contain the markers
    Survive(survive::SurviveArgs),
    /// Ask AI systems about the entities and score the answers
    Drown(drown::DrownArgs),
    /// Show due tests, missing markers and an outdated index
    Status(status::EntityStatusArgs),
}

pub(crate) fn run(command: &SpxiCommand, out: &mut Output) -> anyhow::Result<ExitStatus> {
    match command {
        SpxiCommand::New(args) => new::run(args, out),
        SpxiCommand::Suggest(args) => suggest::run(args, out),
        SpxiCommand::Survive(args) => survive::run(args, out),
        SpxiCommand::Drown(args) => drown::run(args, out),
        SpxiCommand::Status(args) => status::run(args, out),
    }
}

/// Arguments that select a site.
#[derive(Debug, clap::Args)]
struct BuiltSiteArgs {
    /// Folder of the built site
    ///
    /// Default: `site` of rutter.toml.
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// Base URL that the site is published at
    ///
    /// Default: the base URL that `rutter build` uses.
    #[arg(long, value_name = "URL")]
    base_url: Option<OsString>,
    /// Folder that the site is published from
    ///
    /// Default: `out` of rutter.toml, else the folder of the site.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Settings file to read
    ///
    /// Default: rutter.toml in a parent folder of the site, else in the current folder or one of
    /// its parents, up to the root of the repository.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl BuiltSiteArgs {
    fn settle(&self, out: &mut Output) -> anyhow::Result<PlannedBuild> {
        let site = self.site.as_ref().map(|site| ("site", site.clone().into_os_string()));
        let base = self.base_url.as_ref().map(|base| ("base-url", base.clone()));
        let target = self.out.as_ref().map(|out| ("out", out.clone().into_os_string()));
        let flags = Flags::of(site.into_iter().chain(base).chain(target));
        let config = config::load(&flags, self.config.as_deref(), &config::environment)?;
        let settled = make_plan(config, &BuildOptions::default(), now()?)?;
        for remark in &settled.remarks {
            out.say(remark);
        }
        for warning in &settled.warnings {
            out.warn(format_args!("warning: {warning}"));
        }
        Ok(settled)
    }
}

/// Formats rows as a table with aligned columns.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            line.push_str(cell);
            let gap = width(at) + 2 - cell.chars().count();
            line.push_str(&" ".repeat(gap));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the file name for an entity, without the extension.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    let short: String = slug.chars().take(60).collect();
    if short.is_empty() { "entity".to_owned() } else { short.trim_end_matches('-').to_owned() }
}
