//! `rutter spxi survive`: tests which layers of a published site keep the markers of its entities.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use rutter_spxi::survival::{PathStage, SiteSurvival};

use super::BuiltSiteArgs;
use crate::commands::now;
use crate::exit::ExitStatus;
use crate::output::Output;

/// Arguments of `rutter spxi survive`.
#[derive(Debug, clap::Args)]
pub(crate) struct SurviveArgs {
    /// Published folder, which contains spxi-index.jsonld
    ///
    /// Default: the published folder of rutter.toml.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Settings file to read
    ///
    /// Default: rutter.toml in the current folder or one of its parents.
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    config: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = SurviveFormat::Text)]
    format: SurviveFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SurviveFormat {
    /// A table, and each marker with the first step that loses it
    Text,
    /// One JSON document
    Json,
    /// An SVG chart
    Svg,
}

pub(crate) fn run(args: &SurviveArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => {
            let site = BuiltSiteArgs {
                site: None,
                base_url: None,
                out: None,
                config: args.config.clone(),
            };
            let plan = site.settle(out)?.plan;
            plan.out.unwrap_or(plan.site)
        }
    };
    let survived = rutter_check::survive_folder(&folder, now()?)
        .with_context(|| folder.display().to_string())?;
    for id in &survived.missing {
        let shown = rutter_finding::quoted(id);
        out.warn(format_args!("{}: entity {shown} has no page", shown_path(&folder)));
    }
    let survivals = &survived.survivals;
    match args.format {
        SurviveFormat::Text => write!(out.data(), "{}", survivals.to_table())?,
        SurviveFormat::Json => {
            let mut text = String::new();
            survivals.to_json().to_pretty(0, &mut text);
            writeln!(out.data(), "{text}")?;
        }
        SurviveFormat::Svg => write!(out.data(), "{}", survivals.to_svg())?,
    }
    let is_whole = survived.missing.is_empty() && is_whole(survivals);
    Ok(if is_whole { ExitStatus::Clean } else { ExitStatus::Findings })
}

fn shown_path(path: &Path) -> String {
    rutter_finding::visible(&path.display().to_string())
}

/// Returns whether all markers are visible and kept by all layers with complete pages. Markers that
/// a summary or an excerpt loses do not count.
fn is_whole(survivals: &SiteSurvival) -> bool {
    let stages = [PathStage::Visible, PathStage::Blocks, PathStage::Twin];
    stages.iter().all(|stage| survivals.share(*stage).is_none_or(|share| share.kept == share.of))
}
