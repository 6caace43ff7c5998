//! The project that a page belongs to: its settings and the state of its last build.
//!
//! Input: the `rutter.toml` for the arguments. Output: the URL, the settings and the template
//! version of each page; they are the same as in `rutter build`. Without a `rutter.toml`, there is
//! no project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_build::{BuildPlan, SourceKind};
use rutter_extract::{ExtractOptions, SiteExtractSettings, TemplateChoice};
use rutter_page::{LanguageTag, PageUrl};
use rutter_site::LearnedTemplates;

use crate::commands::now;
use crate::config::{self, flags::Flags, real};
use crate::plan::{BuildOptions, make_plan, site_control};

/// A project with its settings.
#[derive(Debug)]
pub(super) struct Project {
    /// The settings file.
    pub(super) file: PathBuf,
    control: SiteExtractSettings,
    site: Option<ProjectSite>,
}

/// The site of the project, if its settings name one.
#[derive(Debug)]
struct ProjectSite {
    plan: BuildPlan,
    /// The folder of the site, with symbolic links resolved.
    folder: PathBuf,
    /// URL of each page, by the path of its file below the folder.
    addresses: HashMap<String, String>,
    learned: LearnedTemplates,
    templates: Arc<rutter_extract::TemplateSet>,
}

impl Project {
    /// Finds the project of a page, or reads the given settings file.
    pub(super) fn find(file: Option<&Path>, page: Option<&Path>) -> anyhow::Result<Option<Self>> {
        let page = page.filter(|page| page.as_os_str() != "-");
        let found = match file {
            Some(file) => Some(file.to_owned()),
            None => config::find(page)?,
        };
        let Some(file) = found else { return Ok(None) };
        let config = config::load(&Flags::default(), Some(&file), &config::environment)?;
        let control = site_control(&config.settings);
        let has_site = config.settings.top.site.is_some();
        let now = now()?;
        // A site that cannot be built has no state, but its pages can be extracted.
        let settled =
            has_site.then(|| make_plan(config, &BuildOptions::default(), now).ok()).flatten();
        let site = settled.map(|settled| ProjectSite::of(settled.plan)).transpose()?.flatten();
        Ok(Some(Self { file, control, site }))
    }

    /// Returns whether the settings or the state of the project affect the extraction.
    pub(super) fn counts(&self) -> bool {
        self.control != SiteExtractSettings::default()
            || self.site.as_ref().is_some_and(ProjectSite::has_learned)
    }

    /// Returns the URL of a file of the site.
    pub(super) fn address(&self, file: &Path) -> Option<PageUrl<'static>> {
        let site = self.site.as_ref()?;
        let url = site.addresses.get(&site.name(file)?)?;
        PageUrl::parse(url.clone()).ok()
    }

    /// Returns the folder of the site and its base URL.
    pub(super) fn root(&self) -> Option<(PathBuf, String)> {
        let site = self.site.as_ref()?;
        Some((site.folder.clone(), site.plan.base.as_str().to_owned()))
    }

    /// Returns the templates that the last build learned, or `None` if it learned none.
    pub(super) fn template(&self, url: &PageUrl<'_>) -> Option<TemplateChoice> {
        let site = self.site_of(url).filter(|site| site.has_learned())?;
        let templates = || Arc::clone(&site.templates);
        Some(match site.learned.versions.get(url.as_str()) {
            Some(Some(version)) => TemplateChoice::Pinned(templates(), *version),
            Some(None) => TemplateChoice::Nothing,
            None => TemplateChoice::Fitting(templates()),
        })
    }

    /// Returns the language of pages that declare none.
    pub(super) fn language(&self, url: &PageUrl<'_>) -> Option<LanguageTag<'static>> {
        self.site_of(url)?.plan.language.clone()
    }

    /// Returns the site if the page belongs to it.
    fn site_of(&self, url: &PageUrl<'_>) -> Option<&ProjectSite> {
        self.site.as_ref().filter(|site| site.plan.base.strip(url.as_str()).is_some())
    }

    /// Applies the settings for a page.
    pub(super) fn apply(&self, url: &PageUrl<'_>, options: &mut ExtractOptions) {
        let below = self.site_of(url).and_then(|site| site.plan.base.strip(url.as_str()));
        let path = below.unwrap_or_else(|| path_of(url.as_str()));
        self.control.apply(path, options);
    }
}

impl ProjectSite {
    /// Returns `None` for a site that is not a folder of files or cannot be listed.
    fn of(plan: BuildPlan) -> anyhow::Result<Option<Self>> {
        if plan.source == SourceKind::Lines {
            return Ok(None);
        }
        let Ok(pages) = plan.list_pages() else { return Ok(None) };
        let addresses = pages.into_iter().map(|page| (page.path, page.url)).collect();
        let mut learned = rutter_site::load_learned_templates(&plan.state)?;
        let templates = Arc::new(std::mem::take(&mut learned.templates));
        Ok(Some(Self { folder: real(&plan.site), plan, addresses, learned, templates }))
    }

    fn has_learned(&self) -> bool {
        !self.templates.is_empty()
    }

    /// Returns the path of a file below the folder, with slashes.
    fn name(&self, file: &Path) -> Option<String> {
        let file = real(file);
        let parts = file.strip_prefix(&self.folder).ok()?.iter();
        let parts: Option<Vec<&str>> = parts.map(std::ffi::OsStr::to_str).collect();
        Some(parts?.join("/"))
    }
}

/// Returns the path of a URL without its first slash.
fn path_of(url: &str) -> &str {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    host.split_once('/').map_or("", |(_, path)| path)
}
