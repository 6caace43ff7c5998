//! What the settings mean: a [`Plan`] with every choice made.

mod entities;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_arc::Policy;
use rutter_arc::policy::{Access, Retention};
use rutter_build::{Arc, Base, Glob, Layers, Plan, Privacy, SectionRule, Source};
use rutter_page::{PageUrl, Timestamp};

use crate::config::entity::Stated;
use crate::config::{By, Config, FILE, Fault, Given, STATE, Written, real};
use crate::site;

pub(crate) use entities::folder_of_entities;

/// The folder with what AI systems answered, beside that of the entities.
pub(crate) const DROWN: &str = "drown";

/// What only the command line can ask for.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Asked {
    /// Folder with published files, or their URL, to rebuild lost state from
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) previous: Option<PathBuf>,
    /// File to list the addresses of new, changed and removed pages in
    #[arg(long, value_name = "FILE")]
    pub(crate) changed_list: Option<PathBuf>,
    /// Replace files that Rutter did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// Set times in the state that are later than now to now
    #[arg(long)]
    pub(crate) redate: bool,
    /// Read all pages again, also those that did not change
    #[arg(long)]
    pub(crate) reread: bool,
}

/// A plan, and what the owner may want to know about how it came about.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) plan: Plan,
    pub(crate) remarks: Vec<String>,
    /// Problems with the settings that do not stop a build.
    pub(crate) warnings: Vec<String>,
    /// The owner's words about entities, as they were written.
    pub(crate) entities: Vec<Stated>,
    /// The folder of files with an entity each, whether or not it is there.
    pub(crate) folder: PathBuf,
    /// The settings file, where there is one.
    pub(crate) file: Option<PathBuf>,
}

/// Makes every choice. Looks at the site and at the files the settings name.
pub(crate) fn settle(config: Config, asked: &Asked, now: Timestamp) -> anyhow::Result<Settled> {
    let Config { written, file } = config;
    let folder = file.as_deref().and_then(Path::parent);
    let from = Start(folder.map(Path::to_owned).unwrap_or_default());
    let (mut remarks, mut warnings) = (Vec::new(), Vec::new());
    let layers = layers(&written);
    let arc = arc(&written)?;
    let privacy = privacy(&from, &written)?;
    // Where the layer is off, nobody has to finish a draft.
    let (folder, entities) = if layers.spxi {
        entities::entities(&from, &written, &mut remarks)?
    } else {
        (entities::entity_folder(&from, &written), Vec::new())
    };
    let site = site(&from, written.site.clone())?;
    let source = stated(written.source.as_ref()).unwrap_or_else(|| site::source(&site));
    check_kind(&site, source)?;
    let base = base(written.base_url.clone(), &site, &mut remarks)?;
    if PageUrl::parse(base.as_str()).is_ok_and(|url| url.is_plain_http()) {
        warnings.push(format!(
            "base URL {} is not https: readers refuse sitemaps and collections without \
             it (SCP-196)",
            base.as_str()
        ));
    }
    let spxi = if layers.spxi { entities::spxi(&written, &entities, &base)? } else { None };
    let out = out(&from, written.out, &site, source)?;
    let state = written.state.map_or_else(|| from.0.join(STATE), |given| from.path(given));
    let published = out.as_deref().unwrap_or(&site);
    if let Some(given) = written.arc_private.as_ref().filter(|given| given.value)
        && real(&state).starts_with(real(published))
    {
        let what = format!(
            "{}: private: {} lies in the folder that is published",
            given.by,
            state.display()
        );
        return Err(Fault::missing(what, "name another with --state").into());
    }
    if site.is_dir() && out.is_none() && real(&state).starts_with(real(&site)) {
        remarks.push(format!(
            "{}: lies in the site and is published with it; --state names another folder",
            state.display()
        ));
    }
    let exclude = written.exclude.map_or_else(Vec::new, Given::value);
    let generator = match source {
        Source::Html => site::generator::of_site(&site, site::Home::read(&site).as_ref()),
        Source::Markdown | Source::Lines => None,
    };
    let defaults = Plan::new(site, state, base, now);
    let plan = Plan {
        source,
        generator,
        out,
        previous: asked.previous.clone(),
        name: written.name.map(Given::value),
        summary: written.summary.map(Given::value),
        language: written.language.map(Given::value),
        kept_out: vec![folder.clone(), folder.with_file_name(DROWN)],
        exclude: exclude.iter().map(|pattern| Glob::new(pattern)).collect(),
        // Read as something else, it would let pages out that need a login.
        restricted: prefixes("restricted", written.restricted.as_ref())?,
        sections: sections(written.sections)?,
        oversize: written.oversize.map_or(defaults.oversize, Given::value),
        update: written.update.map_or(defaults.update, Given::value),
        layers,
        arc,
        spxi,
        privacy,
        git_dates: written.git_dates.map_or(defaults.git_dates, Given::value),
        git_root: written.git_sources.as_ref().map(|_| from.0.clone()),
        git_sources: git_sources(written.git_sources.as_ref())?,
        reread: asked.reread,
        trust_mtime: written.trust_mtime.map_or(defaults.trust_mtime, Given::value),
        redate: asked.redate,
        purge: written.purge.map_or(defaults.purge, Given::value),
        allow_mass_delete: written
            .allow_mass_delete
            .map_or(defaults.allow_mass_delete, Given::value),
        force: asked.force,
        replace: written.replace.map_or_else(Vec::new, Given::value),
        changed_list: asked.changed_list.clone(),
        threads: written.threads.map_or(defaults.threads, Given::value),
        ..defaults
    };
    Ok(Settled { plan, remarks, warnings, entities, folder, file })
}

/// The folder that paths in the file start from.
struct Start(PathBuf);

impl Start {
    fn path(&self, given: Given<PathBuf>) -> PathBuf {
        match given.by {
            By::File(_) => self.0.join(given.value),
            By::Variable(_) | By::Flag(_) => given.value,
        }
    }
}

fn site(from: &Start, given: Option<Given<PathBuf>>) -> Result<PathBuf, Fault> {
    let Some(given) = given else {
        let hint = format!("name it, as in `rutter build public`, or write `site` in {FILE}");
        return Err(Fault::missing("which folder is the site?", hint));
    };
    let site = from.path(given);
    if !site.exists() {
        let what = format!("{}: no such folder or file", site.display());
        return Err(Fault::missing(what, "build the site first, or name another folder"));
    }
    Ok(site)
}

fn check_kind(site: &Path, source: Source) -> Result<(), Fault> {
    match (source, site.is_dir()) {
        (Source::Html | Source::Markdown, true) | (Source::Lines, false) => Ok(()),
        (Source::Lines, true) => Err(Fault::missing(
            format!("{}: is a folder, wanted a file of JSON Lines", site.display()),
            "name the file, or leave out --source",
        )),
        (Source::Html | Source::Markdown, false) => Err(Fault::missing(
            format!("{}: is a file, wanted a folder", site.display()),
            "name the site's folder, or a .jsonl or .ndjson file with a page per line",
        )),
    }
}

fn base(given: Option<Given<Base>>, site: &Path, remarks: &mut Vec<String>) -> Result<Base, Fault> {
    if let Some(given) = given {
        return Ok(given.value);
    }
    let home = site::Home::read(site);
    let (base, place) = site::base_url(site, home.as_ref()).ok_or_else(|| {
        let what = format!(
            "{}: cannot find the base URL: no CNAME, sitemap.xml, index or canonical link of the \
             home page names one (localhost and example.com do not count)",
            site.display()
        );
        let hint =
            format!("give --base-url URL, set RUTTER_BASE_URL, or write `base-url` in {FILE}");
        Fault::missing(what, hint)
    })?;
    remarks.push(format!("base URL {} found in {place}", base.as_str()));
    Ok(base)
}

/// Another folder for the result; the site's own is none.
fn out(
    from: &Start,
    given: Option<Given<PathBuf>>,
    site: &Path,
    source: Source,
) -> Result<Option<PathBuf>, Fault> {
    let Some(given) = given else {
        if source == Source::Lines {
            let what = format!("{}: is a file, and artefacts need a folder", site.display());
            return Err(Fault::missing(what, "name one with --out DIR"));
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
        return Err(Fault::new(&by, format_args!("{}: is not a folder", out.display())));
    }
    if site.is_dir() && real_out.starts_with(&real_site) {
        let what = format_args!("{}: lies inside the site that is copied to it", out.display());
        return Err(Fault::new(&by, what));
    }
    Ok(Some(out))
}

/// Patterns for sources of pages; one without the page's path names one file
/// for all.
fn git_sources(given: Option<&Given<Vec<String>>>) -> Result<Vec<String>, Fault> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Some(pattern) = given.value.iter().find(|pattern| !pattern.contains("{path}")) {
        let shown = rutter_finding::quoted(pattern);
        return Err(Fault::new(&given.by, format_args!("git-sources: {shown} has no {{path}}")));
    }
    Ok(given.value.clone())
}

fn prefixes(key: &str, given: Option<&Given<Vec<String>>>) -> Result<Vec<String>, Fault> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Some(prefix) = given.value.iter().find(|prefix| !prefix.starts_with('/')) {
        let shown = rutter_finding::quoted(prefix);
        let what = format_args!("{key}: {shown} does not begin with a slash");
        return Err(Fault::new(&given.by, what));
    }
    if let Some(prefix) = given.value.iter().find(|prefix| prefix.contains('*')) {
        let shown = rutter_finding::quoted(prefix);
        let what = format_args!("{key}: {shown} has a `*`; a prefix covers everything below it");
        return Err(Fault::new(&given.by, what));
    }
    Ok(given.value.clone())
}

fn sections(given: Option<Given<Vec<SectionRule>>>) -> Result<Vec<SectionRule>, Fault> {
    let Some(given) = given else { return Ok(Vec::new()) };
    for (idx, rule) in given.value.iter().enumerate() {
        let earlier = given.value.iter().take(idx).find(|earlier| earlier.prefix == rule.prefix);
        if let Some(earlier) = earlier {
            let (first, second) = (&earlier.name, &rule.name);
            let what = format!("sections `{first}` and `{second}` both begin with {}", rule.prefix);
            return Err(Fault::new(&given.by, what));
        }
    }
    Ok(given.value)
}

fn layers(written: &Written) -> Layers {
    let usual = Layers::default();
    Layers {
        sitemap: chosen(written.sitemap.as_ref(), usual.sitemap),
        collections: chosen(written.collections.as_ref(), usual.collections),
        schema_location: chosen(written.schema_location.as_ref(), usual.schema_location),
        separate_sitemap: chosen(written.separate_sitemap.as_ref(), usual.separate_sitemap),
        gzip: chosen(written.gzip.as_ref(), usual.gzip),
        all: chosen(written.all.as_ref(), usual.all),
        chain: chosen(written.chain.as_ref(), usual.chain),
        robots: chosen(written.robots.as_ref(), usual.robots),
        crawl_delay: written.crawl_delay.as_ref().map(|given| given.value).or(usual.crawl_delay),
        llms: chosen(written.llms.as_ref(), usual.llms),
        llms_full: chosen(written.llms_full.as_ref(), usual.llms_full),
        llms_full_bytes: chosen(written.llms_full_bytes.as_ref(), usual.llms_full_bytes),
        arc: chosen(written.arc.as_ref(), usual.arc),
        spxi: chosen(written.spxi.as_ref(), usual.spxi),
        twins: chosen(written.twins.as_ref(), usual.twins),
        inject: chosen(written.inject.as_ref(), usual.inject),
        headers: written.headers.as_ref().map(|given| given.value).or(usual.headers),
    }
}

fn arc(written: &Written) -> Result<Arc, Fault> {
    let usual = Arc::default();
    let priorities = written.arc_priorities.iter().flat_map(|given| &given.value);
    Ok(Arc {
        robots_line: chosen(written.arc_robots_line.as_ref(), usual.robots_line),
        checksum: chosen(written.arc_checksum.as_ref(), usual.checksum),
        crawl_rate: stated(written.arc_crawl_rate.as_ref()).map(|rate| rate.0),
        contact: stated(written.arc_contact.as_ref()),
        unlisted: prefixes("unlisted", written.arc_unlisted.as_ref())?,
        lists_restricted: chosen(written.arc_list_restricted.as_ref(), usual.lists_restricted),
        approved: prefixes("approved", written.arc_approved.as_ref())?,
        priorities: priorities.map(|it| (it.prefix.clone(), it.priority)).collect(),
        private: chosen(written.arc_private.as_ref(), usual.private),
        days: written.arc_days.as_ref().map_or(usual.days, |given| given.value.0),
        policy: policy(written),
    })
}

/// What the owner says; an area nothing is said of stays away.
fn policy(written: &Written) -> Policy {
    let retention = Retention {
        max_days: stated(written.policy_retention_days.as_ref()),
        delete_on_removal: stated(written.policy_delete_on_removal.as_ref()),
        notes: stated(written.policy_retention_notes.as_ref()),
    };
    let access = Access {
        default: stated(written.policy_access.as_ref()),
        endpoints: stated(written.policy_endpoints.as_ref()).unwrap_or_default(),
        rate: stated(written.policy_access_rate.as_ref()).map(|rate| rate.0),
    };
    Policy {
        retention: Some(retention).filter(|it| *it != Retention::default()),
        access: Some(access).filter(|it| *it != Access::default()),
        approved_consumers: stated(written.policy_consumers.as_ref()),
        ..Policy::default()
    }
}

fn stated<T: Clone>(given: Option<&Given<T>>) -> Option<T> {
    given.map(|given| given.value.clone())
}

fn privacy(from: &Start, written: &Written) -> anyhow::Result<Privacy> {
    let usual = Privacy::default();
    let acknowledged = match &written.acknowledged {
        None => usual.acknowledged,
        Some(given) => {
            let path = from.path(given.clone());
            let place = || format!("{}: {}", given.by, path.display());
            lines(&fs::read_to_string(&path).with_context(place)?)
        }
    };
    Ok(Privacy {
        strict: chosen(written.privacy_strict.as_ref(), usual.strict),
        no_authors: chosen(written.no_authors.as_ref(), usual.no_authors),
        acknowledged,
    })
}

fn chosen<T: Copy>(given: Option<&Given<T>>, usual: T) -> T {
    given.map_or(usual, |given| given.value)
}

/// Lines that say something; a remark has a line of its own, because `#` may
/// be part of an address.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}
