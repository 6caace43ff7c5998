//! Writes the sitemap with the announcements of the collections.
//!
//! Input: pages in the order of their URLs, and the entries of the generator's sitemap. Output:
//! staged files: one sitemap, or an index with its parts. If Rutter's sitemap replaces the
//! generator's sitemap, files under the former names lead to Rutter's sitemap.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rutter_page::Timestamp;
use rutter_site::{
    LedgerRow, PageMetadata, SitemapPart, digest_of, file_marks::WHOLE_FILE, is_gzip,
};
use rutter_sitemap::{
    AlternateLink, ChildSitemap, ForeignElement, PushOutcome, SchemaLocation, SitemapEntry,
    SitemapItem, SitemapLimits, SitemapReader, UrlsetWriter, write_index,
};

use super::adverts::adverts;
use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer};
use crate::error::{BuildError, IoErrorContext};
use crate::layers::spxi;
use crate::plan::BuildPlan;
use crate::rules;
use crate::stages::inventory::site_sitemap::{PreviousSitemap, SiteSitemap, SitemapDecision};
use crate::staging;
use crate::staging::{PublishOrder, StageResult, StagingArea};

/// Maximum number of pages of a site for which one file lists the pages and announces the
/// collections. Larger sites announce the collections in a small separate file, so that readers of
/// collections need not fetch the list of all pages after every change.
const MAX_SINGLE_FILE_PAGES: usize = 1000;

/// The layer of the main sitemap.
struct SitemapLayer<'p> {
    input: &'p LayerInput<'p>,
    writer: SitemapWriter<'p>,
    /// URL of the SPXI index.
    index: String,
}

/// Opens the layer; `None` if it is off.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    let LayerInput { plan, published, inventory, .. } = *input;
    let layers = &plan.layers;
    if !layers.sitemap {
        return None;
    }
    let foreign = if layers.collections && !layers.separate_sitemap {
        adverts(plan, published, input.tallies)
    } else {
        Vec::new()
    };
    let layout = SitemapLayout::of(input.n_public, &foreign);
    let writer = SitemapWriter::new(plan, &inventory.previous_sitemap, foreign, layout);
    Some(Box::new(SitemapLayer { input, writer, index: plan.base.join(rutter_spxi::INDEX_FILE) }))
}

impl Layer for SitemapLayer<'_> {
    fn entry(
        &mut self,
        entry: &mut Entry<'_>,
        out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        match entry {
            Entry::Page(page) if page.row.visibility.is_listed() => {
                let index = page.links.has_entity.then_some(self.index.as_str());
                self.writer.page(page.row, &page.record.meta, index, out.stage)
            }
            _ => Ok(()),
        }
    }

    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let site_sitemap = &self.input.inventory.site_sitemap;
        let parts = &self.input.published.sitemaps;
        let finish = SitemapFinish { name: "sitemap.xml", site_sitemap, parts };
        let finished = self.writer.finish(finish, out.stage)?;
        if let Some((blocked, why)) = finished.blocked {
            let own_name = finished.name.as_ref().map(|name| format!("Rutter's sitemap is {name}"));
            let details = [Some(why).filter(|why| !why.is_empty()), own_name];
            let detail = details.into_iter().flatten().collect::<Vec<_>>().join("; ");
            out.report(&blocked, &rules::FOREIGN_FILE, detail);
        }
        out.links.sitemap_parts = finished.parts;
        out.links.sitemaps.extend(finished.name);
        if site_sitemap.is_kept() {
            let entries = site_sitemap.files.iter().filter(|file| file.is_entry);
            let plain = entries.filter(|file| !is_gzip(Path::new(&file.name)) && file.n_pages != 0);
            out.links.sitemaps.extend(plain.map(|file| file.name.clone()));
        }
        Ok(())
    }
}

/// Which file of the sitemap announces the collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SitemapLayout {
    /// The file that lists the first pages announces the collections.
    Together,
    /// A separate first file announces the collections. It lists a single page, because the schema
    /// requires one (D14).
    Apart,
}

impl SitemapLayout {
    /// Returns the layout for a site with this number of pages.
    pub(crate) fn of(n_pages: usize, foreign: &[ForeignElement]) -> Self {
        if foreign.is_empty() || n_pages <= MAX_SINGLE_FILE_PAGES {
            Self::Together
        } else {
            Self::Apart
        }
    }
}

/// Writer of the sitemap, which starts a new file when one is full.
#[derive(Debug)]
pub(crate) struct SitemapWriter<'p> {
    plan: &'p BuildPlan,
    previous_sitemap: &'p PreviousSitemap,
    foreign: Vec<ForeignElement>,
    layout: SitemapLayout,
    open: Option<(UrlsetWriter<BufWriter<File>>, PathBuf)>,
    done: Vec<PathBuf>,
}

/// Inputs for staging the files of a finished sitemap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SitemapFinish<'f> {
    /// Wanted name of the sitemap.
    pub(crate) name: &'f str,
    /// The sitemap of the site's generator.
    pub(crate) site_sitemap: &'f SiteSitemap,
    /// Sitemap files of the last publication.
    pub(crate) parts: &'f [SitemapPart],
}

/// Result of staging a sitemap.
#[derive(Debug, Default)]
pub(crate) struct FinishedSitemap {
    /// Name of the sitemap's entry file; `None` if the sitemap is not published.
    pub(crate) name: Option<String>,
    /// Name of a foreign file that has the wanted name, and the reason why that file is kept.
    pub(crate) blocked: Option<(String, String)>,
    /// Files of the sitemap, except the index.
    pub(crate) parts: Vec<SitemapPart>,
    /// Path of a copy of the entry file in the staging folder.
    copy: Option<PathBuf>,
}

impl<'p> SitemapWriter<'p> {
    pub(crate) fn new(
        plan: &'p BuildPlan,
        previous_sitemap: &'p PreviousSitemap,
        foreign: Vec<ForeignElement>,
        layout: SitemapLayout,
    ) -> Self {
        Self { plan, previous_sitemap, foreign, layout, open: None, done: Vec::new() }
    }

    pub(crate) fn page(
        &mut self,
        row: &LedgerRow,
        meta: &PageMetadata,
        index: Option<&str>,
        stage: &mut StagingArea,
    ) -> Result<(), BuildError> {
        let old = self.previous_sitemap.more.get(&row.url);
        let rest = old.and_then(|old| old.rest.as_deref());
        let mut alternates: Vec<AlternateLink> = meta
            .languages
            .iter()
            .map(|(hreflang, href)| AlternateLink {
                hreflang: hreflang.clone(),
                href: href.clone(),
                media_type: None,
            })
            .collect();
        alternates.extend(index.map(|index| AlternateLink {
            hreflang: spxi::HREFLANG.to_owned(),
            href: index.to_owned(),
            media_type: Some("application/ld+json".to_owned()),
        }));
        // A link to the SPXI index comes from an earlier build and not from the site owner, so it
        // is dropped.
        let index_url = self.plan.base.join(rutter_spxi::INDEX_FILE);
        for link in rest.map_or(&[][..], |(alternates, _)| alternates) {
            if link.href != index_url
                && !alternates.iter().any(|known| known.hreflang == link.hreflang)
            {
                alternates.push(link.clone());
            }
        }
        let entry = SitemapEntry {
            loc: row.url.clone(),
            lastmod: Some(row.modified),
            is_day: false,
            changefreq: old.and_then(|old| old.changefreq),
            priority: old.and_then(|old| old.priority),
            alternates,
            extensions: rest.map_or_else(Vec::new, |(_, extensions)| extensions.clone()),
            line: 0,
        };
        loop {
            if self.open.is_none() {
                let path = stage.new_path();
                let foreign = std::mem::take(&mut self.foreign);
                let schemas = if self.plan.layers.schema_location {
                    SchemaLocation::Written
                } else {
                    SchemaLocation::Omitted
                };
                let out = staging::create(&path)?;
                let writer = UrlsetWriter::with_schemas(out, &foreign, schemas).at(&path)?;
                self.open = Some((writer, path));
            }
            let Some((writer, path)) = &mut self.open else {
                unreachable!("the writer was opened above")
            };
            match writer.push(&entry).at(path)? {
                PushOutcome::Written => {
                    if self.layout == SitemapLayout::Apart && self.done.is_empty() {
                        self.close()?;
                    }
                    return Ok(());
                }
                PushOutcome::Full => self.close()?,
            }
        }
    }

    fn close(&mut self) -> Result<(), BuildError> {
        if let Some((writer, path)) = self.open.take() {
            let mut out = writer.finish().at(&path)?;
            writeln!(out, "{WHOLE_FILE}").at(&path)?;
            staging::close(out, &path)?;
            self.done.push(path);
        }
        Ok(())
    }

    /// Finishes the last file of the sitemap and stages all its files.
    pub(crate) fn finish(
        mut self,
        finish: SitemapFinish<'_>,
        stage: &mut StagingArea,
    ) -> Result<FinishedSitemap, BuildError> {
        self.close()?;
        if self.done.is_empty() {
            return Ok(FinishedSitemap::default());
        }
        let SitemapFinish { name, site_sitemap, .. } = finish;
        let stem = name.strip_suffix(".xml").unwrap_or(name);
        let kept: Vec<&str> = if site_sitemap.is_kept() {
            site_sitemap
                .files
                .iter()
                .filter(|file| file.n_pages != 0)
                .map(|file| &*file.name)
                .collect()
        } else {
            Vec::new()
        };
        let is_taken =
            site_sitemap.is_kept() && site_sitemap.files.iter().any(|file| file.name == name);
        let mut finished = if is_taken {
            let other = format!("{stem}-rutter.xml");
            let mut finished = self.publish_as(&other, (&kept, finish), stage)?;
            let why = match &site_sitemap.decision {
                SitemapDecision::Kept(why) => why.clone(),
                SitemapDecision::Absent | SitemapDecision::Replaced => String::new(),
            };
            finished.blocked = Some((name.to_owned(), why));
            finished
        } else {
            self.publish_as(name, (&kept, finish), stage)?
        };
        if let (SitemapDecision::Replaced, Some(own)) =
            (&site_sitemap.decision, finished.name.clone())
        {
            self.replace_entries(&own, site_sitemap, &finished, stage)?;
        }
        if let Some(copy) = finished.copy.take() {
            fs::remove_file(&copy).at(&copy)?;
        }
        Ok(finished)
    }

    /// Stages the sitemap under a name. An index is staged if the sitemap has several files or
    /// includes kept files of the site's sitemap.
    fn publish_as(
        &mut self,
        name: &str,
        (kept, finish): (&[&str], SitemapFinish<'_>),
        stage: &mut StagingArea,
    ) -> Result<FinishedSitemap, BuildError> {
        let stem = name.strip_suffix(".xml").unwrap_or(name);
        let done = std::mem::take(&mut self.done);
        if let ([path], []) = (done.as_slice(), kept) {
            let parts = vec![self.part(name, path, finish)?];
            let finished = Self::put(name, stem, path, stage)?;
            return Ok(FinishedSitemap { parts, ..finished });
        }
        let mut parts = Vec::new();
        for (n, path) in done.into_iter().enumerate() {
            let child = format!("{stem}-{}.xml", n + 1);
            parts.push(self.part(&child, &path, finish)?);
            if stage.take(PublishOrder::Parts, &child, &path)? == StageResult::ForeignFile {
                return Ok(FinishedSitemap {
                    blocked: Some((child, String::new())),
                    ..FinishedSitemap::default()
                });
            }
        }
        for name in kept {
            let path = self.plan.site.join(name);
            let digest = digest_of(&path).at(&path)?.to_string();
            let known = finish.parts.iter().find(|part| part.name == *name);
            // A kept file that was not known before has no time, because its earlier changes are
            // unknown.
            let changed = match known {
                Some(part) if part.digest == digest => part.changed,
                Some(_) => Some(self.plan.now),
                None => None,
            };
            parts.push(SitemapPart { name: (*name).to_owned(), digest, changed });
        }
        let path = stage.new_path();
        self.write_index(&path, &parts)?;
        let finished = Self::put(name, stem, &path, stage)?;
        Ok(FinishedSitemap { parts, ..finished })
    }

    fn write_index(&self, path: &Path, parts: &[SitemapPart]) -> Result<(), BuildError> {
        let children: Vec<ChildSitemap> = parts
            .iter()
            .map(|part| ChildSitemap {
                loc: self.plan.base.join(&part.name),
                lastmod: part.changed,
            })
            .collect();
        let mut out = write_index(staging::create(path)?, &children).at(path)?;
        writeln!(out, "{WHOLE_FILE}").at(path)?;
        staging::close(out, path)
    }

    /// Returns a sitemap file with the time of its last change, which is the time of this build
    /// unless the published file has the same bytes.
    fn part(
        &self,
        name: &str,
        path: &Path,
        finish: SitemapFinish<'_>,
    ) -> Result<SitemapPart, BuildError> {
        let digest = digest_of(path).at(path)?.to_string();
        let known = finish.parts.iter().find(|part| part.name == name);
        let before = match known {
            Some(part) => part.changed.filter(|_| part.digest == digest),
            None => self.published_date(name, &digest, finish.name),
        };
        let changed = Some(before.unwrap_or(self.plan.now));
        Ok(SitemapPart { name: name.to_owned(), digest, changed })
    }

    /// Returns the date of a sitemap file in the published index if the published file has this
    /// digest. Builds that have lost the state need this.
    fn published_date(&self, name: &str, digest: &str, index: &str) -> Option<Timestamp> {
        let target = self.plan.target();
        let published = digest_of(&target.join(name)).ok()?;
        if published.to_string() != digest {
            return None;
        }
        let input = BufReader::new(File::open(target.join(index)).ok()?);
        let mut reader = SitemapReader::new(input, SitemapLimits::USUAL);
        let url = self.plan.base.join(name);
        while let Ok(Some(item)) = reader.next(&mut ()) {
            match item {
                SitemapItem::Child(child) if child.loc == url => return child.lastmod,
                _ => {}
            }
        }
        None
    }

    /// Stages a file under each entry name of the generator's sitemap; these files lead to Rutter's
    /// sitemap.
    fn replace_entries(
        &self,
        own: &str,
        site_sitemap: &SiteSitemap,
        finished: &FinishedSitemap,
        stage: &mut StagingArea,
    ) -> Result<(), BuildError> {
        let entries =
            site_sitemap.files.iter().filter(|file| file.is_entry).map(|file| &*file.name);
        let (coded, plain): (Vec<&str>, Vec<&str>) =
            entries.filter(|name| *name != own).partition(|name| is_gzip(Path::new(name)));
        for name in plain {
            let path = stage.new_path();
            self.write_index(&path, &finished.parts)?;
            stage.take(PublishOrder::Sitemap, name, &path)?;
        }
        for name in coded {
            let path = stage.new_path();
            let is_beside = name.strip_suffix(".gz") == Some(own);
            let bytes = match finished.copy.as_ref().filter(|_| is_beside) {
                Some(copy) => fs::read(copy).at(copy)?,
                None => {
                    self.write_index(&path, &finished.parts)?;
                    fs::read(&path).at(&path)?
                }
            };
            let mut out = GzEncoder::new(staging::create(&path)?, Compression::best());
            out.write_all(&bytes).at(&path)?;
            staging::close(out.finish().at(&path)?, &path)?;
            stage.take(PublishOrder::Sitemap, name, &path)?;
        }
        Ok(())
    }

    /// Stages the entry file of the sitemap under its name, or under another name if a foreign file
    /// has that name.
    fn put(
        name: &str,
        stem: &str,
        path: &Path,
        stage: &mut StagingArea,
    ) -> Result<FinishedSitemap, BuildError> {
        let copy = stage.new_path();
        fs::copy(path, &copy).at(path)?;
        if stage.take(PublishOrder::Sitemap, name, path)? != StageResult::ForeignFile {
            let name = Some(name.to_owned());
            return Ok(FinishedSitemap { name, copy: Some(copy), ..FinishedSitemap::default() });
        }
        let other = format!("{stem}-rutter.xml");
        let put = stage.take(PublishOrder::Sitemap, &other, &copy)?;
        let is_put = matches!(put, StageResult::Staged | StageResult::Unchanged);
        Ok(FinishedSitemap {
            name: is_put.then_some(other),
            blocked: Some((name.to_owned(), String::new())),
            ..FinishedSitemap::default()
        })
    }
}
