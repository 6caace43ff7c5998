//! `rutter spxi`: the entities of a site, from the first draft on.

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
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::{Asked, Settled, settle};

/// Commands about SPXI.
#[derive(Debug, Subcommand)]
pub(crate) enum Spxi {
    /// Write a file for an entity, with every key explained
    New(new::Args),
    /// Draft entities from what the pages of a site say of themselves
    Suggest(suggest::Args),
    /// Follow the markers of a published site through everything made of its pages
    Survive(survive::Args),
    /// Ask AI systems about the entities, and count what of them survives in the answers
    Drown(drown::Args),
    /// Say what is due: markers, tests, an index that is out of date
    Status(status::Args),
}

pub(crate) fn run(command: &Spxi, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        Spxi::New(args) => new::run(args, out),
        Spxi::Suggest(args) => suggest::run(args, out),
        Spxi::Survive(args) => survive::run(args, out),
        Spxi::Drown(args) => drown::run(args, out),
        Spxi::Status(args) => status::run(args, out),
    }
}

/// Which site.
#[derive(Debug, clap::Args)]
struct SiteArgs {
    /// Folder with the built site [default: `site` of rutter.toml]
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// Address the site is published at [default: as for `rutter build`]
    #[arg(long, value_name = "URL")]
    base_url: Option<OsString>,
    /// Folder the site is published from [default: `out` of rutter.toml, else the site's own]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Settings file [default: rutter.toml beside or above the site, or above the current folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl SiteArgs {
    fn settle(&self, out: &mut Output) -> anyhow::Result<Settled> {
        let site = self.site.as_ref().map(|site| ("site", site.clone().into_os_string()));
        let base = self.base_url.as_ref().map(|base| ("base-url", base.clone()));
        let target = self.out.as_ref().map(|out| ("out", out.clone().into_os_string()));
        let flags = Flags::of(site.into_iter().chain(base).chain(target));
        let config = config::load(&flags, self.config.as_deref(), &config::environment)?;
        let settled = settle(config, &Asked::default(), now()?)?;
        for remark in &settled.remarks {
            out.say(remark);
        }
        for warning in &settled.warnings {
            out.warn(format_args!("warning: {warning}"));
        }
        Ok(settled)
    }
}

/// Rows as a table whose columns are aligned.
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

/// The name of an entity's file, without its ending.
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
