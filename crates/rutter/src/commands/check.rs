//! `rutter check`: judge sites, collections, signposts, ARC and SPXI files against their specifications.

mod fix;
mod place;
mod reopen;
mod sieve;
mod site;
mod tell;

use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_check::overview::{Overview, Size};
use rutter_check::{Judgement, Judging, Subject};
use rutter_finding::Mode;

use crate::commands::check::reopen::Reopen;
pub(crate) use crate::commands::check::sieve::parse_selector;
use crate::commands::check::tell::{Asked, Found, TellArgs};
use crate::commands::{LimitArgs, now, one_stdin, refuse_overwriting};
use crate::config::flags::Flags;
use crate::config::{self, By, Config, Fault};
use crate::exit::Exit;
use crate::input::Source;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders of built sites, URLs of live sites, or single files: collections, sitemaps, robots.txt, llms.txt, ARC and SPXI files; `-` is standard input [default: `out`, else `site`, of rutter.toml]
    #[arg(value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Judge as a reader would, who copes with small faults
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    tell: TellArgs,
    #[command(flatten)]
    site: site::SiteArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let files = &subjects(args, out)?;
    one_stdin(files)?;
    for output in args.tell.outputs() {
        refuse_overwriting(files, output)?;
    }
    let judging = Judging {
        mode: if args.lenient { Mode::Lenient } else { Mode::Strict },
        now: Some(now()?),
        limits: args.limits.limits(),
        ..Judging::default()
    };
    let site = files.iter().find(|path| path.is_dir());
    let asked = args.tell.settle(args.site.config.as_deref(), site.map(PathBuf::as_path))?;
    let mut seen = Seen::default();
    seen.overview.now = judging.now;
    let mut judgements: Vec<Judgement> = Vec::new();
    let mut failed = None;
    for path in files {
        // A file that cannot be had does not keep the others from their verdict.
        match judge(path, args, &asked, &judging, &mut seen, out) {
            Ok(judged) => judgements.extend(judged),
            Err(error) => {
                failed = failed.max(Some(Exit::of(&error)));
                out.error(&error);
            }
        }
    }
    let Seen { reopen, mut overview, folders } = seen;
    if let [only] = files.as_slice() {
        overview.subject = only.display().to_string();
    }
    let has_failed = failed.is_some();
    let found = Found { judgements, folders, overview, mode: judging.mode, has_failed };
    let exit = tell::tell(&asked, found, &reopen, out)?;
    Ok(failed.unwrap_or(exit))
}

/// The paths to check: those of the arguments, else what the settings publish.
fn subjects(args: &Args, out: &mut Output) -> anyhow::Result<Vec<PathBuf>> {
    if !args.files.is_empty() {
        return Ok(args.files.clone());
    }
    let file = args.site.config.as_deref();
    let Config { written, file } = config::load(&Flags::default(), file, &config::environment)?;
    let (given, name) = match (written.out, written.site) {
        (Some(out), _) => (out, "output"),
        (None, Some(site)) => (site, "site"),
        (None, None) => {
            let hint = format!(
                "name it, as in `rutter check public`, or write `site` in {}",
                config::FILE
            );
            return Err(Fault::missing("which folder is the site?", hint).into());
        }
    };
    let by = match &given.by {
        By::File(_) => file.as_deref().unwrap_or(Path::new(config::FILE)).display().to_string(),
        by => by.to_string(),
    };
    let path = match (&given.by, file.as_deref().and_then(Path::parent)) {
        (By::File(_), Some(folder)) => folder.join(given.value),
        _ => given.value,
    };
    if !path.exists() {
        let what = format!("{}: no such folder or file", path.display());
        let hint = "build the site first, or name another folder";
        return Err(Fault::missing(what, hint).into());
    }
    out.say(format_args!("checking {}, the {name} of {by}", path.display()));
    Ok(vec![path])
}

/// What the judged inputs are, beside their judgements.
#[derive(Default)]
struct Seen {
    reopen: Reopen,
    overview: Overview,
    /// Folders by what they are called in judgements.
    folders: Vec<String>,
}

fn judge(
    path: &Path,
    args: &Args,
    asked: &Asked,
    judging: &Judging,
    seen: &mut Seen,
    out: &mut Output,
) -> anyhow::Result<Vec<Judgement>> {
    if let Some(url) = site::address(path) {
        let outcome = site::live(&url, &args.site, judging.clone(), out)?;
        seen.overview.see_site(&outcome);
        let mut judgements = outcome.judgements;
        let root = url.as_str().trim_end_matches('/');
        seen.overview.layers.extend(["HP", "XL", "SE"]);
        for judgement in &mut judgements {
            root.clone_into(&mut judgement.root);
            seen.overview.see(judgement);
        }
        return Ok(judgements);
    }
    if path.is_dir() {
        let built = site::site_folder(path, out);
        let path = built.as_deref().unwrap_or(path);
        let outcome = site::folder(path, &args.site, judging, out)?;
        seen.overview.see_site(&outcome);
        let mut judgements = outcome.judgements;
        let root = place::root_of(path);
        for judgement in &mut judgements {
            judgement.root.clone_from(&root);
        }
        seen.reopen.add_folder(&root, path);
        seen.folders.push(root);
        seen.overview.see_folder(path, &judgements);
        if let Some(now) = judging.now.filter(|_| asked.draws()) {
            // A site without an index has no markers to follow.
            if let Ok(survived) = rutter_check::survive_folder(path, now) {
                seen.overview.see_survivals(&survived.survivals);
            }
        }
        return Ok(judgements);
    }
    let source = Source::new(path)?;
    let open = || source.open();
    let subject = Subject { name: source.name().to_owned(), open: &open };
    let judgement =
        rutter_check::check(&subject, judging).with_context(|| source.name().to_owned())?;
    if let Ok((_, Some(bytes))) = source.open() {
        seen.overview.sizes.push(Size { name: source.name().to_owned(), bytes });
    }
    seen.overview.see(&judgement);
    seen.reopen.add_source(source);
    Ok(vec![judgement])
}
