//! `rutter spxi survive`: which markers each step on the way to a reader loses.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use rutter_survival::{Stage, Survivals};

use super::SiteArgs;
use crate::commands::now;
use crate::exit::Exit;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Published folder, with its spxi-index.jsonld [default: what rutter.toml says is published]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Settings file [default: rutter.toml in or above the current folder]
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    config: Option<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A table, and each marker with the first step that loses it
    Text,
    /// Everything, for programs
    Json,
    /// A chart
    Svg,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => {
            let site =
                SiteArgs { site: None, base_url: None, out: None, config: args.config.clone() };
            let plan = site.settle(out)?.plan;
            plan.out.unwrap_or(plan.site)
        }
    };
    let survived = rutter_check::survive_folder(&folder, now()?)
        .with_context(|| folder.display().to_string())?;
    for id in &survived.missing {
        let shown = rutter_finding::quoted(id);
        out.warn(format_args!("{}: no page for the entity {shown}", shown_path(&folder)));
    }
    let survivals = &survived.survivals;
    match args.format {
        Format::Text => write!(out.data(), "{}", survivals.to_table())?,
        Format::Json => {
            let mut text = String::new();
            survivals.to_json().to_pretty(0, &mut text);
            writeln!(out.data(), "{text}")?;
        }
        Format::Svg => write!(out.data(), "{}", survivals.to_svg())?,
    }
    let is_whole = survived.missing.is_empty() && is_whole(survivals);
    Ok(if is_whole { Exit::Clean } else { Exit::Findings })
}

fn shown_path(path: &Path) -> String {
    rutter_finding::visible(&path.display().to_string())
}

/// Whether every marker is seen, and whatever is made of whole pages keeps it.
/// Summaries and cuts are short; what they lose is no fault.
fn is_whole(survivals: &Survivals) -> bool {
    let stages = [Stage::Visible, Stage::Blocks, Stage::Twin];
    stages.iter().all(|stage| survivals.share(*stage).is_none_or(|share| share.kept == share.of))
}
