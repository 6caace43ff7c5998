//! A folder or a live site, judged: its address, the state of its build, and
//! every layer of it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_check::{
    Closed, Home, Judging, Known, LiveBounds, SiteJudging, SiteOutcome, check_folder, check_live,
};
use rutter_fetch::{Client, Url};

use crate::commands::discover::NetArgs;
use crate::config::flags::Flags;
use crate::config::{self, STATE, real};
use crate::output::Output;
use crate::site;

/// What only sites have.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteArgs {
    /// Base URL of the published site [default: `base-url` of rutter.toml, else what most entry files say]
    #[arg(long = "base-url", alias = "as", value_name = "URL")]
    pub(crate) base: Option<String>,
    /// Settings file [default: rutter.toml beside or above the site, or above the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder with the state of the build [default: `state` of rutter.toml, else .rutter]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Look at all pages, also those whose bytes the last build knew
    #[arg(long)]
    pub(crate) reread: bool,
    /// Mend what can be mended: build a built site again, name the sitemap in robots.txt
    #[arg(long)]
    pub(crate) fix: bool,
    /// Most pages of a live site that are fetched
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.pages)]
    pub(crate) pages: usize,
    /// Most sitemaps of a live site that are fetched, those of an index included
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.sitemaps)]
    pub(crate) sitemaps: usize,
    /// Most collections of a live site that are fetched; a section is fetched whole or not at all
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.collections)]
    pub(crate) collections: usize,
    /// Most packets of entities of a live site that are fetched
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.packets)]
    pub(crate) packets: usize,
    #[command(flatten)]
    net: NetArgs,
}

impl SiteArgs {
    fn home(&self) -> anyhow::Result<Option<Home>> {
        let Some(text) = &self.base else { return Ok(None) };
        Home::parse(text).map(Some).with_context(|| format!("--base-url {text} is not a URL"))
    }
}

/// Whether an argument is an address and not a path.
pub(crate) fn address(path: &Path) -> Option<Url> {
    let text = path.to_str()?;
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    is_web.then(|| Url::parse(text).ok()).flatten()
}

/// Judges a live site and what it announces.
pub(crate) fn live(
    site: &Url,
    args: &SiteArgs,
    judging: Judging,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let (means, journal) = args.net.means()?;
    let client = Client::new(args.net.settings()?, means);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = tempfile::tempdir().context("a folder for what is fetched")?;
    let bounds = LiveBounds {
        pages: args.pages,
        sitemaps: args.sitemaps,
        collections: args.collections,
        packets: args.packets,
        ..LiveBounds::USUAL
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let judging = SiteJudging { judging, threads, types: Vec::new() };
    let visit = check_live(&client, site, args.home()?, bounds, folder.path(), &judging);
    let outcome = runtime.block_on(visit).context("the site cannot be visited")?;
    let n_requests = journal.requests();
    let SiteOutcome { files, pages, listed, .. } = outcome;
    let counted = crate::commands::counted;
    let of_all =
        if pages < listed { format!(" of {listed} in the sitemap") } else { String::new() };
    out.say(format_args!(
        "{}, {}, {}{of_all}",
        counted(n_requests, "request"),
        counted(files, "file"),
        counted(pages, "page")
    ));
    Ok(outcome)
}

/// Judges a folder and everything in it; with `--fix`, once more after what
/// could be mended was mended.
pub(crate) fn folder(
    dir: &Path,
    args: &SiteArgs,
    judging: &Judging,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let outcome = judge_folder(dir, args, judging.clone(), out)?;
    // A gate that was pointed at nothing must not be green.
    anyhow::ensure!(0 < outcome.files, "{}: no file in it that could be judged", dir.display());
    if args.fix && super::fix::fix(dir, args, &outcome, out)? {
        return judge_folder(dir, args, judging.clone(), out);
    }
    Ok(outcome)
}

/// The folder of the site inside a project folder; `None` where the given
/// folder is the site. Says which folder is checked where that is not plain.
pub(crate) fn site_folder(dir: &Path, out: &mut Output) -> Option<PathBuf> {
    let folders = site::OUTPUT_FOLDERS.map(|name| dir.join(name));
    let built = folders.into_iter().find(|folder| site::has_entry_file(folder))?;
    if site::has_entry_file(dir) {
        out.say(format_args!(
            "checking {}; {} holds entry files of its own, which are not judged as a site",
            dir.display(),
            built.display()
        ));
        return None;
    }
    out.say(format_args!("checking {}: {} has no entry file", built.display(), dir.display()));
    Some(built)
}

fn judge_folder(
    dir: &Path,
    args: &SiteArgs,
    judging: Judging,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let settings = Settings::of(dir, args)?;
    let home = match args.home()? {
        Some(home) => Some(home),
        None => settings.base.as_deref().and_then(Home::parse).or_else(|| {
            let home = site::Home::read(dir);
            let (base, place) = site::base_url(dir, home.as_ref())?;
            out.say(format_args!("address {} found in {place}", base.as_str()));
            Home::parse(base.as_str())
        }),
    };
    if let (Some(given), None) = (&args.state, &settings.state) {
        out.warn(format_args!("{}: not used: no build into this folder left it", given.display()));
    }
    let known = match settings.state.filter(|_| !args.reread) {
        Some(state) => known(&state, out),
        None => Vec::new(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let judging = SiteJudging { judging, threads, types: Vec::new() };
    let outcome =
        check_folder(dir, home, known, &judging).with_context(|| dir.display().to_string())?;
    let (pages, files) = (outcome.pages, outcome.files);
    out.say(format_args!(
        "{}, {}, {} known from the build",
        crate::commands::counted(files, "file"),
        crate::commands::counted(pages, "page"),
        outcome.known
    ));
    Ok(outcome)
}

/// What the settings say of a folder, if they speak of it.
#[derive(Debug, Default)]
pub(super) struct Settings {
    base: Option<String>,
    /// The state of the build that wrote the folder.
    pub(super) state: Option<PathBuf>,
    /// Everything they say.
    pub(super) config: Option<config::Config>,
    /// The folder that was written to.
    pub(super) target: Option<PathBuf>,
}

impl Settings {
    pub(super) fn of(dir: &Path, args: &SiteArgs) -> anyhow::Result<Self> {
        let file = match &args.config {
            Some(file) => Some(file.clone()),
            None => config::find(Some(dir))?,
        };
        let built = |state: PathBuf| {
            let is_built = rutter_build::is_built_into(&state, dir);
            is_built.then_some(state)
        };
        let Some(file) = file else {
            let state = args.state.clone().unwrap_or_else(|| PathBuf::from(STATE));
            return Ok(Self { state: built(state), ..Self::default() });
        };
        let config = config::load(&Flags::default(), Some(&file), &config::environment)?;
        let written = &config.written;
        let from = file.parent().map(Path::to_owned).unwrap_or_default();
        let path = |given: &config::Given<PathBuf>| from.join(&given.value);
        let state = written.state.as_ref().map_or_else(|| from.join(STATE), path);
        let state = built(args.state.clone().unwrap_or(state));
        let is_meant = |other: &Option<config::Given<PathBuf>>| {
            other.as_ref().is_some_and(|other| real(&path(other)) == real(dir))
        };
        // Settings for another folder say nothing of this one.
        let is_meant = state.is_some() || is_meant(&written.site) || is_meant(&written.out);
        let base = written.base_url.as_ref().filter(|_| is_meant);
        let is_site = written.site.as_ref().is_some_and(|site| real(&path(site)) == real(dir));
        Ok(Self {
            base: base.map(|base| base.value.as_str().to_owned()),
            state,
            target: (!is_site).then(|| dir.to_owned()),
            config: Some(config),
        })
    }
}

/// What the build remembers; a state that cannot be read is a state that is
/// lost.
fn known(state: &Path, out: &mut Output) -> Vec<Known> {
    let remembered = match rutter_build::remembered(state) {
        Ok(remembered) => remembered,
        Err(error) => {
            out.warn(format_args!("{}: not used: {error}", state.display()));
            return Vec::new();
        }
    };
    let page = |one: rutter_build::Remembered| {
        let closed = one.is_closed().then_some(Closed::Away);
        let known = Known {
            url: one.url.into(),
            source: one.source.0,
            line: one.line,
            twin: one.twin,
            title: one.title.into(),
            closed,
            findings: Vec::new(),
        };
        known.with_findings(one.findings)
    };
    remembered.into_iter().map(page).collect()
}
