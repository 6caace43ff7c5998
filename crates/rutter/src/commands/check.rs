//! `rutter check`: validates sites and single files against their specifications.
//!
//! Input: folders, URLs of live sites, or files. Output: findings in the chosen format. An input
//! that cannot be read is reported, and all other inputs are checked.

mod checked_files;
mod file_names;
mod finding_filter;
mod fix;
mod report;
mod site;

use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_check::{CheckOptions, CheckTarget};
use rutter_finding::Strictness;
use rutter_report::FileReport;
use rutter_report::overview::{ArtifactSize, Overview};

use crate::commands::check::checked_files::CheckedFiles;
pub(crate) use crate::commands::check::finding_filter::parse_selector;
use crate::commands::check::report::{CheckResults, ReportArgs, ReportOptions};
use crate::commands::{SizeLimitArgs, now, refuse_overwriting, reject_second_stdin};
use crate::config::flags::Flags;
use crate::config::{self, Config, SettingSource, SettingsError};
use crate::exit::ExitStatus;
use crate::input::InputFile;
use crate::output::Output;

/// Arguments of `rutter check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Folders of built sites, URLs of live sites, or files
    ///
    /// Files are collections, sitemaps, robots.txt, llms.txt, ARC and SPXI files; - is standard
    /// input. Default: the folder `out` of rutter.toml, else its `site`.
    #[arg(value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Apply the rules for readers, which tolerate small errors
    ///
    /// By default, the stricter rules for publishers apply.
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    site: site::SiteCheckArgs,
    #[command(flatten)]
    limits: SizeLimitArgs,
}

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let files = &subjects(args, out)?;
    reject_second_stdin(files)?;
    for output in args.report.outputs() {
        refuse_overwriting(files, output)?;
    }
    let judging = CheckOptions {
        mode: if args.lenient { Strictness::Lenient } else { Strictness::Strict },
        now: Some(now()?),
        limits: args.limits.limits(),
        ..CheckOptions::default()
    };
    let site = files.iter().find(|path| path.is_dir());
    let asked = args.report.settle(args.site.config.as_deref(), site.map(PathBuf::as_path))?;
    let mut seen = CheckedInputs::default();
    seen.overview.now = judging.now;
    let mut judgements: Vec<FileReport> = Vec::new();
    let mut failed = None;
    for path in files {
        // An input that cannot be read does not stop the check of the other inputs.
        match judge(path, args, &asked, &judging, &mut seen, out) {
            Ok(judged) => judgements.extend(judged),
            Err(error) => {
                failed = failed.max(Some(ExitStatus::of(&error)));
                out.error(&error);
            }
        }
    }
    let CheckedInputs { reopen, mut overview, folders } = seen;
    if let [only] = files.as_slice() {
        overview.subject = only.display().to_string();
    }
    let has_failed = failed.is_some();
    let found = CheckResults { judgements, folders, overview, mode: judging.mode, has_failed };
    let exit = report::write_report(&asked, found, &reopen, out)?;
    Ok(failed.unwrap_or(exit))
}

/// Returns the paths to check: the paths of the arguments, else the published folder that the
/// settings name.
fn subjects(args: &CheckArgs, out: &mut Output) -> anyhow::Result<Vec<PathBuf>> {
    if !args.files.is_empty() {
        return Ok(args.files.clone());
    }
    let file = args.site.config.as_deref();
    let Config { settings, file } = config::load(&Flags::default(), file, &config::environment)?;
    let (given, name) = match (settings.top.out, settings.top.site) {
        (Some(out), _) => (out, "output"),
        (None, Some(site)) => (site, "site"),
        (None, None) => {
            let hint =
                format!("name it, as in `rutter check public`, or set `site` in {}", config::FILE);
            return Err(SettingsError::missing("no site folder is given", hint).into());
        }
    };
    let by = match &given.by {
        SettingSource::File(_) => {
            file.as_deref().unwrap_or(Path::new(config::FILE)).display().to_string()
        }
        by => by.to_string(),
    };
    let path = match (&given.by, file.as_deref().and_then(Path::parent)) {
        (SettingSource::File(_), Some(folder)) => folder.join(given.value),
        _ => given.value,
    };
    if !path.exists() {
        let what = format!("{} does not exist", path.display());
        let hint = "build the site first, or name another folder";
        return Err(SettingsError::missing(what, hint).into());
    }
    out.say(format_args!("checking {}, the {name} of {by}", path.display()));
    Ok(vec![path])
}

/// Data about the checked inputs, without the reports on their files.
#[derive(Default)]
struct CheckedInputs {
    reopen: CheckedFiles,
    overview: Overview,
    /// Names of the checked folders, as in the file reports.
    folders: Vec<String>,
}

fn judge(
    path: &Path,
    args: &CheckArgs,
    asked: &ReportOptions,
    judging: &CheckOptions,
    seen: &mut CheckedInputs,
    out: &mut Output,
) -> anyhow::Result<Vec<FileReport>> {
    if let Some(url) = site::address(path) {
        let outcome = site::live(&url, &args.site, judging.clone(), out)?;
        outcome.add_to(&mut seen.overview);
        let mut judgements = outcome.file_reports;
        let root = url.as_str().trim_end_matches('/');
        seen.overview.layers.extend(["HP", "XL", "SE"]);
        for judgement in &mut judgements {
            root.clone_into(&mut judgement.root);
            seen.overview.add_report(judgement);
        }
        return Ok(judgements);
    }
    if path.is_dir() {
        let built = site::site_folder(path, out);
        let path = built.as_deref().unwrap_or(path);
        let outcome = site::folder(path, &args.site, judging, out)?;
        outcome.add_to(&mut seen.overview);
        let mut judgements = outcome.file_reports;
        let root = file_names::root_of(path);
        for judgement in &mut judgements {
            judgement.root.clone_from(&root);
        }
        seen.reopen.add_folder(&root, path);
        seen.folders.push(root);
        seen.overview.add_folder(path, &judgements);
        if let Some(now) = judging.now.filter(|_| asked.draws()) {
            // A site without an index has no markers.
            if let Ok(survived) = rutter_check::survive_folder(path, now) {
                survived.add_to(&mut seen.overview);
            }
        }
        return Ok(judgements);
    }
    let source = InputFile::new(path)?;
    let open = || source.open();
    let subject = CheckTarget { name: source.name().to_owned(), open: &open };
    let judgement =
        rutter_check::check(&subject, judging).with_context(|| source.name().to_owned())?;
    if let Ok((_, Some(bytes))) = source.open() {
        seen.overview.sizes.push(ArtifactSize { name: source.name().to_owned(), bytes });
    }
    seen.overview.add_report(&judgement);
    seen.reopen.add_source(source);
    Ok(vec![judgement])
}
