//! Checks a folder or a live site with all its layers.
//!
//! Finds the base URL and the state of the last build, so that unchanged pages are not read again.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_check::{
    BuiltPage, CheckOptions, LiveBounds, RestrictionReason, SiteBase, SiteCheckOptions,
    SiteOutcome, check_folder, check_live,
};
use rutter_extract::SiteExtractSettings;
use rutter_fetch::{Client, Url};

use crate::commands::discover::NetworkArgs;
use crate::config::flags::Flags;
use crate::config::{self, STATE, real};
use crate::output::Output;
use crate::plan::site_control;
use crate::site;

/// Heading of options for folders.
const SITES: &str = "Folders of sites";

/// Heading of options for live sites.
const LIVE: &str = "Live sites";

/// Arguments for folders and live sites.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteCheckArgs {
    /// Base URL of the published site
    ///
    /// Default: `base-url` of rutter.toml, else the base URL that most entry files of the site
    /// name, such as sitemap.xml.
    #[arg(long = "base-url", alias = "as", value_name = "URL", help_heading = SITES)]
    pub(crate) base: Option<String>,
    /// Settings file to read
    ///
    /// Default: rutter.toml in a parent folder of the site, else in the current folder or one of
    /// its parents, up to the root of the repository.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder with the state of the last build
    ///
    /// Default: `state` of rutter.toml, else .rutter. Pages that are unchanged since the build are
    /// not read again.
    #[arg(long, value_name = "DIR", help_heading = SITES)]
    pub(crate) state: Option<PathBuf>,
    /// Read all pages, even those unchanged since the last build
    #[arg(long, help_heading = SITES)]
    pub(crate) reread: bool,
    /// Minimum content coverage of each page, from 0 to 1
    ///
    /// The coverage is the extracted share of the main text. A lower coverage is an error (XL089).
    /// By default, there is no minimum, and coverage is only reported. Example: 0.95.
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = SITES)]
    pub(crate) min_coverage: Option<f32>,
    /// Fix findings that have a safe fix, then check again
    ///
    /// A site that Rutter built is built again. In any other folder, the sitemap is added to
    /// robots.txt.
    #[arg(long, help_heading = SITES)]
    pub(crate) fix: bool,
    /// Maximum number of pages to fetch from a live site
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.pages, help_heading = LIVE)]
    pub(crate) pages: usize,
    /// Maximum number of sitemaps to fetch from a live site
    ///
    /// Sitemaps of a sitemap index are included.
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.sitemaps, help_heading = LIVE)]
    pub(crate) sitemaps: usize,
    /// Maximum number of collections to fetch from a live site
    ///
    /// Either all collections of a section are fetched, or none of them.
    #[arg(
        long,
        value_name = "N",
        default_value_t = LiveBounds::USUAL.collections,
        help_heading = LIVE
    )]
    pub(crate) collections: usize,
    /// Maximum number of entity packets to fetch from a live site
    #[arg(long, value_name = "N", default_value_t = LiveBounds::USUAL.packets, help_heading = LIVE)]
    pub(crate) packets: usize,
    #[command(flatten)]
    net: NetworkArgs,
}

/// Parses a share from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}

impl SiteCheckArgs {
    fn site_judging(
        &self,
        judging: CheckOptions,
        extract: SiteExtractSettings,
    ) -> SiteCheckOptions {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let min_coverage = self.min_coverage;
        SiteCheckOptions {
            check_options: judging,
            threads,
            types: Vec::new(),
            min_coverage,
            extract,
        }
    }

    fn home(&self) -> anyhow::Result<Option<SiteBase>> {
        let Some(text) = &self.base else { return Ok(None) };
        SiteBase::parse(text)
            .map(Some)
            .with_context(|| format!("--base-url: `{text}` is not a URL"))
    }
}

/// Returns the URL of an argument, or `None` if the argument is a path.
pub(crate) fn address(path: &Path) -> Option<Url> {
    let text = path.to_str()?;
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    is_web.then(|| Url::parse(text).ok()).flatten()
}

/// Checks a live site and the files that it announces.
pub(crate) fn live(
    site: &Url,
    args: &SiteCheckArgs,
    judging: CheckOptions,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let (means, journal) = args.net.means()?;
    let client = Client::new(args.net.settings()?, means);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let bounds = LiveBounds {
        pages: args.pages,
        sitemaps: args.sitemaps,
        collections: args.collections,
        packets: args.packets,
        ..LiveBounds::USUAL
    };
    let judging = args.site_judging(judging, SiteExtractSettings::default());
    let visit = check_live(&client, site, args.home()?, bounds, folder.path(), &judging);
    let outcome = runtime.block_on(visit).context("cannot fetch the site")?;
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

/// Checks a folder and all files in it. With `--fix`, fixes findings and checks again.
pub(crate) fn folder(
    dir: &Path,
    args: &SiteCheckArgs,
    judging: &CheckOptions,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let outcome = judge_folder(dir, args, judging.clone(), out)?;
    // If a CI job names a wrong folder, the check must not succeed.
    anyhow::ensure!(0 < outcome.files, "folder {} has no file to check", dir.display());
    if args.fix && super::fix::fix(dir, args, &outcome, out)? {
        return judge_folder(dir, args, judging.clone(), out);
    }
    Ok(outcome)
}

/// Returns the folder of the site inside a project folder, or `None` if the given folder is the
/// site. If the given folder contains an output folder, prints which of the two folders is checked.
pub(crate) fn site_folder(dir: &Path, out: &mut Output) -> Option<PathBuf> {
    let folders = site::OUTPUT_FOLDERS.map(|name| dir.join(name));
    let built = folders.into_iter().find(|folder| site::has_entry_file(folder))?;
    if site::has_entry_file(dir) {
        out.say(format_args!(
            "checking {}; {} also has entry files and is not checked as a site of its own",
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
    args: &SiteCheckArgs,
    judging: CheckOptions,
    out: &mut Output,
) -> anyhow::Result<SiteOutcome> {
    let settings = FolderSettings::of(dir, args)?;
    let home = match args.home()? {
        Some(home) => Some(home),
        None => settings.base.as_deref().and_then(SiteBase::parse).or_else(|| {
            let home = site::HomePage::read(dir);
            let (base, place) = site::base_url(dir, home.as_ref())?;
            out.say(format_args!("using base URL {} from {place}", base.as_str()));
            SiteBase::parse(base.as_str())
        }),
    };
    if let (Some(given), None) = (&args.state, &settings.state) {
        out.warn(format_args!(
            "ignoring state {}: it does not belong to a build into this folder",
            given.display()
        ));
    }
    let known = match settings.state.filter(|_| !args.reread) {
        Some(state) => known(&state, out),
        None => Vec::new(),
    };
    let judging = args.site_judging(judging, settings.extract);
    let outcome =
        check_folder(dir, home, known, &judging).with_context(|| dir.display().to_string())?;
    let (pages, files) = (outcome.pages, outcome.files);
    out.say(format_args!(
        "{}, {}, {} unchanged since the build",
        crate::commands::counted(files, "file"),
        crate::commands::counted(pages, "page"),
        outcome.known
    ));
    Ok(outcome)
}

/// The settings that apply to a checked folder.
#[derive(Debug, Default)]
pub(super) struct FolderSettings {
    base: Option<String>,
    /// The state of the build that wrote the folder.
    pub(super) state: Option<PathBuf>,
    /// The settings of content extraction.
    extract: SiteExtractSettings,
    /// All settings.
    pub(super) config: Option<config::Config>,
    /// The output folder of the build.
    pub(super) target: Option<PathBuf>,
}

impl FolderSettings {
    pub(super) fn of(dir: &Path, args: &SiteCheckArgs) -> anyhow::Result<Self> {
        let file = match &args.config {
            Some(file) => Some(file.clone()),
            None => config::find(Some(dir))?,
        };
        let built = |state: PathBuf| {
            let is_built = rutter_site::is_built_into(&state, dir);
            is_built.then_some(state)
        };
        let Some(file) = file else {
            let state = args.state.clone().unwrap_or_else(|| PathBuf::from(STATE));
            return Ok(Self { state: built(state), ..Self::default() });
        };
        let config = config::load(&Flags::default(), Some(&file), &config::environment)?;
        let settings = &config.settings;
        let from = file.parent().map(Path::to_owned).unwrap_or_default();
        let path = |given: &config::Setting<PathBuf>| from.join(&given.value);
        let state = settings.top.state.as_ref().map_or_else(|| from.join(STATE), path);
        let state = built(args.state.clone().unwrap_or(state));
        let is_meant = |other: &Option<config::Setting<PathBuf>>| {
            other.as_ref().is_some_and(|other| real(&path(other)) == real(dir))
        };
        // Settings that name another folder do not apply to the checked folder.
        let is_meant =
            state.is_some() || is_meant(&settings.top.site) || is_meant(&settings.top.out);
        let base = settings.top.base_url.as_ref().filter(|_| is_meant);
        let is_site = settings.top.site.as_ref().is_some_and(|site| real(&path(site)) == real(dir));
        Ok(Self {
            base: base.map(|base| base.value.as_str().to_owned()),
            state,
            target: (!is_site).then(|| dir.to_owned()),
            extract: if is_meant { site_control(settings) } else { SiteExtractSettings::default() },
            config: Some(config),
        })
    }
}

/// Returns the pages in the state of the build. A state that cannot be read is ignored.
fn known(state: &Path, out: &mut Output) -> Vec<BuiltPage> {
    let remembered = match rutter_site::load_cached_pages(state) {
        Ok(remembered) => remembered,
        Err(error) => {
            out.warn(format_args!("ignoring state {}: {error}", state.display()));
            return Vec::new();
        }
    };
    let page = |one: rutter_site::CachedPage| {
        let closed = one.is_closed().then_some(RestrictionReason::Away);
        let known = BuiltPage {
            url: one.url.into(),
            source: one.source.0,
            line: one.line,
            twin: one.twin,
            title: one.title.into(),
            closed,
            coverage: one.coverage,
            findings: Vec::new(),
        };
        known.with_findings(one.findings)
    };
    remembered.into_iter().map(page).collect()
}
