//! Turns settings into a build plan.
//!
//! Applies defaults, resolves paths, and detects the type of the site, its base URL and its
//! generator. Rejects missing folders, conflicting folders and invalid combinations of settings.

mod entities;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_arc::ArcPolicy;
use rutter_arc::policy::{AccessRules, RetentionRules};
use rutter_build::{
    ArcSettings, BaseUrl, BuildPlan, Glob, Layers, PrivacySettings, SectionRule, SourceKind,
};
use rutter_extract::{OwnerSelectors, SiteExtractSettings};
use rutter_page::{PageUrl, Timestamp};

use crate::config::entity::DeclaredEntity;
use crate::config::selectors::Selectors;
use crate::config::{
    Config, FILE, OVERWRITING, RECOVERY, STATE, Setting, SettingSource, SettingsError,
    SiteSettings, real,
};
use crate::site;

pub(crate) use entities::entity_files_folder;

/// Name of the folder for answers of AI systems, beside that of the entity files.
pub(crate) const DROWN: &str = "drown";

/// Build options that can be set on the command line only.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct BuildOptions {
    /// Published files to rebuild a lost state from
    ///
    /// The value is a folder with all published files, or the URL of the published site. The option
    /// is ignored if the state exists.
    #[arg(long, value_name = "DIR|URL", help_heading = RECOVERY)]
    pub(crate) previous: Option<PathBuf>,
    /// File to write the URLs of new, changed and removed pages to
    ///
    /// The file has one line per page: the word new, changed or removed, a tab, and the URL.
    #[arg(long, value_name = "FILE")]
    pub(crate) changed_list: Option<PathBuf>,
    /// Overwrite files that Rutter did not write
    ///
    /// By default, the build keeps files that Rutter did not write.
    #[arg(long, help_heading = OVERWRITING)]
    pub(crate) force: bool,
    /// Set future times in the state to the current time
    ///
    /// Use this option for a state that was written while the clock was wrong. By default, future times in
    /// the state fail the build.
    #[arg(long, help_heading = RECOVERY)]
    pub(crate) redate: bool,
    /// Read all pages again, even unchanged ones
    ///
    /// By default, unchanged pages are taken from the page cache.
    #[arg(long, help_heading = RECOVERY)]
    pub(crate) reread: bool,
}

/// A build plan, with messages about it and the data that other commands need.
#[derive(Debug)]
pub(crate) struct PlannedBuild {
    pub(crate) plan: BuildPlan,
    pub(crate) remarks: Vec<String>,
    /// Problems with the settings that do not stop a build.
    pub(crate) warnings: Vec<String>,
    /// The declared entities.
    pub(crate) entities: Vec<DeclaredEntity>,
    /// The folder of entity files; it may not exist.
    pub(crate) folder: PathBuf,
    /// The settings file, if there is one.
    pub(crate) file: Option<PathBuf>,
}

/// Creates the build plan for settings. Reads the site and the files that the settings name.
// More than 80 lines: one assignment for each setting.
pub(crate) fn make_plan(
    config: Config,
    asked: &BuildOptions,
    now: Timestamp,
) -> anyhow::Result<PlannedBuild> {
    let Config { settings, file } = config;
    let folder = file.as_deref().and_then(Path::parent);
    let from = SettingsFolder(folder.map(Path::to_owned).unwrap_or_default());
    let (mut remarks, mut warnings) = (Vec::new(), Vec::new());
    let layers = layers(&settings);
    let arc = arc(&settings)?;
    let privacy = privacy(&from, &settings)?;
    let extract = site_control(&settings);
    // If the SPXI layer is off, entity files are not read.
    let (folder, entities) = if layers.spxi {
        entities::entities(&from, &settings, &mut remarks)?
    } else {
        (entities::entity_folder(&from, &settings), Vec::new())
    };
    let site = site(&from, settings.top.site.clone())?;
    let source = value_of(settings.top.source.as_ref()).unwrap_or_else(|| site::source(&site));
    check_kind(&site, source)?;
    let base = base(settings.top.base_url.clone(), &site, &mut remarks)?;
    if PageUrl::parse(base.as_str()).is_ok_and(|url| url.is_plain_http()) {
        warnings.push(format!(
            "base URL {} is not https: readers reject its sitemaps and collections (SCP-196)",
            base.as_str()
        ));
    }
    let spxi = if layers.spxi { entities::spxi(&settings, &entities, &base)? } else { None };
    let out = out(&from, settings.top.out, &site, source)?;
    let state = settings.top.state.map_or_else(|| from.0.join(STATE), |given| from.path(given));
    let published = out.as_deref().unwrap_or(&site);
    if let Some(given) = settings.arc.private.as_ref().filter(|given| given.value)
        && real(&state).starts_with(real(published))
    {
        let what = format!(
            "{}: private: the state folder {} is inside the published folder",
            given.by,
            state.display()
        );
        return Err(SettingsError::missing(what, "choose another state folder with --state").into());
    }
    if site.is_dir() && out.is_none() && real(&state).starts_with(real(&site)) {
        remarks.push(format!(
            "the state folder {} is inside the site and is published with it; choose another \
             folder with --state",
            state.display()
        ));
    }
    let exclude = settings.top.exclude.map_or_else(Vec::new, Setting::value);
    let generator = match source {
        SourceKind::Html => site::generator::of_site(&site, site::HomePage::read(&site).as_ref()),
        SourceKind::Markdown | SourceKind::Lines => None,
    };
    let defaults = BuildPlan::new(site, state, base, now);
    let plan = BuildPlan {
        source,
        generator,
        out,
        previous: asked.previous.clone(),
        name: settings.top.name.map(Setting::value),
        summary: settings.top.summary.map(Setting::value),
        language: settings.top.language.map(Setting::value),
        kept_out: vec![folder.clone(), folder.with_file_name(DROWN)],
        exclude: exclude.iter().map(|pattern| Glob::new(pattern)).collect(),
        // A wrong prefix is an error: ignoring the prefix would publish pages that need a login.
        restricted: prefixes("restricted", settings.top.restricted.as_ref())?,
        sections: sections(settings.top.sections)?,
        oversize: settings.top.oversize.map_or(defaults.oversize, Setting::value),
        update: settings.top.update.map_or(defaults.update, Setting::value),
        layers,
        arc,
        spxi,
        privacy,
        extract,
        git_dates: settings.top.git_dates.map_or(defaults.git_dates, Setting::value),
        git_root: settings.top.git_sources.as_ref().map(|_| from.0.clone()),
        git_sources: git_sources(settings.top.git_sources.as_ref())?,
        reread: asked.reread,
        trust_mtime: settings.top.trust_mtime.map_or(defaults.trust_mtime, Setting::value),
        redate: asked.redate,
        purge: settings.top.purge.map_or(defaults.purge, Setting::value),
        allow_mass_delete: settings
            .top
            .allow_mass_delete
            .map_or(defaults.allow_mass_delete, Setting::value),
        force: asked.force,
        replace: settings.top.replace.map_or_else(Vec::new, Setting::value),
        changed_list: asked.changed_list.clone(),
        threads: settings.top.threads.map_or(defaults.threads, Setting::value),
        ..defaults
    };
    Ok(PlannedBuild { plan, remarks, warnings, entities, folder, file })
}

/// The folder at which relative paths of the settings file start.
struct SettingsFolder(PathBuf);

impl SettingsFolder {
    fn path(&self, given: Setting<PathBuf>) -> PathBuf {
        match given.by {
            SettingSource::File(_) => self.0.join(given.value),
            SettingSource::Variable(_) | SettingSource::Flag(_) => given.value,
        }
    }
}

fn site(from: &SettingsFolder, given: Option<Setting<PathBuf>>) -> Result<PathBuf, SettingsError> {
    let Some(given) = given else {
        let hint = format!("name it, as in `rutter build public`, or set `site` in {FILE}");
        return Err(SettingsError::missing("no site folder is given", hint));
    };
    let site = from.path(given);
    if !site.exists() {
        let what = format!("{} does not exist", site.display());
        return Err(SettingsError::missing(what, "build the site first, or name another folder"));
    }
    Ok(site)
}

fn check_kind(site: &Path, source: SourceKind) -> Result<(), SettingsError> {
    match (source, site.is_dir()) {
        (SourceKind::Html | SourceKind::Markdown, true) | (SourceKind::Lines, false) => Ok(()),
        (SourceKind::Lines, true) => Err(SettingsError::missing(
            format!("{} is a folder, expected a JSON Lines file", site.display()),
            "name the file, or do not use --source",
        )),
        (SourceKind::Html | SourceKind::Markdown, false) => Err(SettingsError::missing(
            format!("{} is a file, expected a folder", site.display()),
            "name the site's folder, or a .jsonl or .ndjson file with one page per line",
        )),
    }
}

fn base(
    given: Option<Setting<BaseUrl>>,
    site: &Path,
    remarks: &mut Vec<String>,
) -> Result<BaseUrl, SettingsError> {
    if let Some(given) = given {
        return Ok(given.value);
    }
    let home = site::HomePage::read(site);
    let (base, place) = site::base_url(site, home.as_ref()).ok_or_else(|| {
        let what = format!(
            "cannot find the base URL of {}: no CNAME, sitemap.xml, index or canonical link of the \
             home page names one (localhost and example.com are ignored)",
            site.display()
        );
        let hint = format!("use --base-url URL, or set RUTTER_BASE_URL or `base-url` in {FILE}");
        SettingsError::missing(what, hint)
    })?;
    remarks.push(format!("using base URL {} from {place}", base.as_str()));
    Ok(base)
}

/// Returns the output folder, or `None` if it is the site's folder.
fn out(
    from: &SettingsFolder,
    given: Option<Setting<PathBuf>>,
    site: &Path,
    source: SourceKind,
) -> Result<Option<PathBuf>, SettingsError> {
    let Some(given) = given else {
        if source == SourceKind::Lines {
            let what = format!("{} is a file; the layers need an output folder", site.display());
            return Err(SettingsError::missing(what, "set one with --out DIR"));
        }
        return Ok(None);
    };
    let by = given.by.clone();
    let out = from.path(given);
    let (real_out, real_site) = (real(&out), real(site));
    if real_out == real_site && site.is_dir() {
        return Ok(None);
    }
    if out.exists() && !out.is_dir() {
        return Err(SettingsError::new(&by, format_args!("{} is not a folder", out.display())));
    }
    if site.is_dir() && real_out.starts_with(&real_site) {
        let what = format_args!("the output folder {} is inside the site", out.display());
        return Err(SettingsError::new(&by, what));
    }
    Ok(Some(out))
}

/// Returns the patterns of source files. Rejects a pattern without `{path}`, because it would name
/// the same file for all pages.
fn git_sources(given: Option<&Setting<Vec<String>>>) -> Result<Vec<String>, SettingsError> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Some(pattern) = given.value.iter().find(|pattern| !pattern.contains("{path}")) {
        let shown = rutter_finding::quoted(pattern);
        return Err(SettingsError::new(
            &given.by,
            format_args!("git-sources: {shown} has no {{path}}"),
        ));
    }
    Ok(given.value.clone())
}

fn prefixes(key: &str, given: Option<&Setting<Vec<String>>>) -> Result<Vec<String>, SettingsError> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Some(prefix) = given.value.iter().find(|prefix| !prefix.starts_with('/')) {
        let shown = rutter_finding::quoted(prefix);
        let what = format_args!("{key}: {shown} does not start with a slash");
        return Err(SettingsError::new(&given.by, what));
    }
    if let Some(prefix) = given.value.iter().find(|prefix| prefix.contains('*')) {
        let shown = rutter_finding::quoted(prefix);
        let what =
            format_args!("{key}: {shown} contains `*`; a prefix includes all paths below it");
        return Err(SettingsError::new(&given.by, what));
    }
    Ok(given.value.clone())
}

fn sections(given: Option<Setting<Vec<SectionRule>>>) -> Result<Vec<SectionRule>, SettingsError> {
    let Some(given) = given else { return Ok(Vec::new()) };
    for (idx, rule) in given.value.iter().enumerate() {
        let earlier = given.value.iter().take(idx).find(|earlier| earlier.prefix == rule.prefix);
        if let Some(earlier) = earlier {
            let (first, second) = (&earlier.name, &rule.name);
            let what =
                format!("sections `{first}` and `{second}` have the same prefix {}", rule.prefix);
            return Err(SettingsError::new(&given.by, what));
        }
    }
    Ok(given.value)
}

fn layers(settings: &SiteSettings) -> Layers {
    let usual = Layers::default();
    Layers {
        sitemap: value_or(settings.layers.sitemap.as_ref(), usual.sitemap),
        collections: value_or(settings.layers.collections.as_ref(), usual.collections),
        schema_location: value_or(settings.layers.schema_location.as_ref(), usual.schema_location),
        separate_sitemap: value_or(
            settings.layers.separate_sitemap.as_ref(),
            usual.separate_sitemap,
        ),
        gzip: value_or(settings.layers.gzip.as_ref(), usual.gzip),
        all: value_or(settings.layers.all.as_ref(), usual.all),
        chain: value_or(settings.layers.chain.as_ref(), usual.chain),
        robots: value_or(settings.layers.robots.as_ref(), usual.robots),
        crawl_delay: settings
            .layers
            .crawl_delay
            .as_ref()
            .map(|given| given.value)
            .or(usual.crawl_delay),
        llms: value_or(settings.layers.llms.as_ref(), usual.llms),
        llms_full: value_or(settings.layers.llms_full.as_ref(), usual.llms_full),
        llms_full_bytes: value_or(settings.layers.llms_full_bytes.as_ref(), usual.llms_full_bytes),
        arc: value_or(settings.layers.arc.as_ref(), usual.arc),
        spxi: value_or(settings.layers.spxi.as_ref(), usual.spxi),
        twins: value_or(settings.layers.twins.as_ref(), usual.twins),
        inject: value_or(settings.layers.inject.as_ref(), usual.inject),
        headers: settings.layers.headers.as_ref().map(|given| given.value).or(usual.headers),
    }
}

fn arc(settings: &SiteSettings) -> Result<ArcSettings, SettingsError> {
    let usual = ArcSettings::default();
    let priorities = settings.arc.priorities.iter().flat_map(|given| &given.value);
    Ok(ArcSettings {
        robots_line: value_or(settings.arc.robots_line.as_ref(), usual.robots_line),
        checksum: value_or(settings.arc.checksum.as_ref(), usual.checksum),
        crawl_rate: value_of(settings.arc.crawl_rate.as_ref()).map(|rate| rate.0),
        contact: value_of(settings.arc.contact.as_ref()),
        unlisted: prefixes("unlisted", settings.arc.unlisted.as_ref())?,
        lists_restricted: value_or(settings.arc.list_restricted.as_ref(), usual.lists_restricted),
        approved: prefixes("approved", settings.arc.approved.as_ref())?,
        priorities: priorities.map(|it| (it.prefix.clone(), it.priority)).collect(),
        private: value_or(settings.arc.private.as_ref(), usual.private),
        days: settings.arc.days.as_ref().map_or(usual.days, |given| given.value.0),
        policy: policy(settings),
    })
}

/// Returns the settings of content extraction.
pub(crate) fn site_control(settings: &SiteSettings) -> SiteExtractSettings {
    let selectors =
        |given: &Option<Setting<Selectors>>| value_of(given.as_ref()).unwrap_or_default().0;
    let usual = SiteExtractSettings::default();
    SiteExtractSettings {
        all: OwnerSelectors {
            main: selectors(&settings.extract.main),
            keep: selectors(&settings.extract.keep),
            drop: selectors(&settings.extract.drop),
        },
        paths: value_of(settings.extract.path.as_ref()).unwrap_or_default(),
        links: value_or(settings.extract.links.as_ref(), usual.links),
    }
}

/// Returns the ARC policy, with only those areas that the settings mention.
fn policy(settings: &SiteSettings) -> ArcPolicy {
    let retention = RetentionRules {
        max_days: value_of(settings.policy.retention_days.as_ref()),
        delete_on_removal: value_of(settings.policy.delete_on_removal.as_ref()),
        notes: value_of(settings.policy.retention_notes.as_ref()),
    };
    let access = AccessRules {
        default: value_of(settings.policy.access.as_ref()),
        endpoints: value_of(settings.policy.endpoints.as_ref()).unwrap_or_default(),
        rate: value_of(settings.policy.access_rate.as_ref()).map(|rate| rate.0),
    };
    ArcPolicy {
        retention: Some(retention).filter(|it| *it != RetentionRules::default()),
        access: Some(access).filter(|it| *it != AccessRules::default()),
        approved_consumers: value_of(settings.policy.consumers.as_ref()),
        ..ArcPolicy::default()
    }
}

fn value_of<T: Clone>(given: Option<&Setting<T>>) -> Option<T> {
    given.map(|given| given.value.clone())
}

fn privacy(from: &SettingsFolder, settings: &SiteSettings) -> anyhow::Result<PrivacySettings> {
    let usual = PrivacySettings::default();
    let acknowledged = match &settings.privacy.acknowledged {
        None => usual.acknowledged,
        Some(given) => {
            let path = from.path(given.clone());
            let place = || format!("{}: {}", given.by, path.display());
            lines(&fs::read_to_string(&path).with_context(place)?)
        }
    };
    Ok(PrivacySettings {
        strict: value_or(settings.privacy.strict.as_ref(), usual.strict),
        no_authors: value_or(settings.privacy.no_authors.as_ref(), usual.no_authors),
        acknowledged,
    })
}

fn value_or<T: Copy>(given: Option<&Setting<T>>, usual: T) -> T {
    given.map_or(usual, |given| given.value)
}

/// Returns the lines of a text, without empty lines and comments. A comment has its own line,
/// because `#` may be part of a URL.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}
