//! Pass 2: writes all layers except the collections in one scan of the ledger and the page cache.
//!
//! Input: a [`LayerPass`]. Output: staged files and the list of sitemap files. Files of the site
//! owner are never overwritten; a conflict with such a file is reported.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_arc::pointer::SitemapPointer;
use rutter_finding::{Finding, Place, Rule};
use rutter_page::Digest;
use rutter_robots::{self as robots, RobotsAdditions};
use rutter_site::{
    LedgerReader, LedgerRow, Owner, PageCacheReader, PageRecord, Publication, Sections,
    SitemapPart, Visibility, file_marks, head_links, is_gzip, marked_block,
};

use crate::error::{BuildError, IoErrorContext};
use crate::layers::arc::{ArcLayer, ArcLayerResult};
use crate::layers::llms::{LinkOrder, LlmsWriter};
use crate::layers::partner_pages::PartnerPages;
use crate::layers::served::ServedWriter;
use crate::layers::sitemap::{SitemapFinish, SitemapLayout, SitemapWriter, adverts};
use crate::layers::{headers, llms, spxi};
use crate::plan::{BuildPlan, HostKind, SourceKind};
use crate::stages::inventory::PageFiles;
use crate::stages::inventory::site_sitemap::{PreviousSitemap, SiteSitemap};
use crate::stages::read::SectionTally;
use crate::staging::{PublishOrder, StageResult, StagingArea};
use crate::{address, arc_publication, entities, exclusion, rules};

/// Inputs of pass 2, which writes all layers except the collections.
pub(crate) struct LayerPass<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) sections: &'p Sections,
    pub(crate) names: &'p PageFiles,
    pub(crate) others: &'p [Box<str>],
    /// Folders of the site that cannot be read, each with a final slash.
    pub(crate) unreadable: &'p [String],
    pub(crate) ledger: &'p Path,
    pub(crate) pack: &'p Path,
    pub(crate) previous_sitemap: &'p PreviousSitemap,
    /// The sitemap of the site's generator.
    pub(crate) site_sitemap: &'p SiteSitemap,
    pub(crate) published: &'p Publication,
    pub(crate) tallies: &'p [SectionTally],
    pub(crate) served: PathBuf,
    /// Path of the temporary file with the pages for partners.
    pub(crate) private: PathBuf,
    /// Folders of the ARC deltas: the stored deltas, and the new deltas of this build.
    pub(crate) deltas: (PathBuf, PathBuf),
    pub(crate) n_public: usize,
    /// URLs of the public pages that describe entities.
    pub(crate) entity_pages: BTreeSet<String>,
}

/// Artifacts that were published for a page, and the digest of its source.
struct PublishedPage {
    twin: Option<String>,
    packet: Option<String>,
    digest: Option<Digest>,
    /// Whether only authenticated readers may see the page.
    is_closed: bool,
}

/// A callback that receives a finding: the file or page, the rule and the detail.
pub(crate) type ReportFinding<'t> = dyn FnMut(&str, &'static Rule, String) + 't;

/// The open writers of all layers during pass 2.
struct OpenLayers<'p> {
    sitemap: Option<SitemapWriter<'p>>,
    llms_writer: Option<LlmsWriter<'p>>,
    arc_writer: Option<ArcLayer<'p>>,
    private: Option<PartnerPages<'p>>,
    index: Option<spxi::SpxiLayer<'p>>,
    served: ServedWriter,
    has_twins: bool,
}

impl<'p> OpenLayers<'p> {
    fn new(pass: &'p LayerPass<'p>, stage: &mut StagingArea) -> Result<Self, BuildError> {
        let LayerPass { plan, published, previous_sitemap, others, .. } = *pass;
        let layers = &plan.layers;
        let foreign = if layers.collections && !layers.separate_sitemap {
            adverts(plan, published, pass.tallies)
        } else {
            Vec::new()
        };
        let link_order = LinkOrder {
            sections: pass.sections,
            names: pass.names,
            ledger: pass.ledger,
            previous_sitemap,
        };
        let llms_writer = if layers.llms { Some(LlmsWriter::new(plan, link_order)?) } else { None };
        let deltas = pass.deltas.clone();
        let arc_writer = match &published.arc {
            Some(issue) => Some(ArcLayer::open(plan, issue, others, deltas, stage)?),
            None => None,
        };
        Ok(Self {
            sitemap: layers.sitemap.then(|| {
                let layout = SitemapLayout::of(pass.n_public, &foreign);
                SitemapWriter::new(plan, previous_sitemap, foreign, layout)
            }),
            llms_writer,
            arc_writer,
            private: PartnerPages::create(plan, &pass.private)?,
            index: spxi::SpxiLayer::new(plan, others, pass.entity_pages.clone()),
            served: ServedWriter::create(&pass.served, plan)?,
            has_twins: layers.twins.are_written(pass.n_public)
                && (plan.source != SourceKind::Markdown || plan.out.is_some()),
        })
    }

    /// Adds a page that still exists to all layers that may show it.
    fn add_page(
        &mut self,
        pass: &LayerPass<'_>,
        (row, path): (&LedgerRow, Option<&str>),
        record: &PageRecord,
        (stage, report): (&mut StagingArea, &mut ReportFinding<'_>),
    ) -> Result<PublishedPage, BuildError> {
        let plan = pass.plan;
        if let Some(arc_writer) = &mut self.arc_writer {
            arc_writer.page(row, Some(record))?;
        }
        if let Some(private) = &mut self.private {
            private.page(row, record)?;
        }
        let spxi_links = match &mut self.index {
            Some(index) => index.page((row, path), &record.meta, stage, report)?,
            None => spxi::SpxiLinks::default(),
        };
        let mut twin = None;
        if row.is_public() && self.has_twins {
            twin = pass.twin(row, path, &record.markdown, stage, report)?;
        }
        if let Some(sitemap) = &mut self.sitemap
            && matches!(row.visibility, Visibility::Public | Visibility::Listed)
        {
            sitemap.page(row, &record.meta, spxi_links.index, stage)?;
        }
        if let Some(llms_writer) = &mut self.llms_writer
            && row.is_public()
        {
            let shown = twin.as_deref().map(|twin| address::file_address(&plan.base, twin));
            let shown = shown.as_deref().unwrap_or(&row.url);
            llms_writer.page((row, path), record, shown)?;
        }
        let is_closed = !row.is_public()
            && (record.meta.arc.needs_login || exclusion::is_restricted(plan, &row.url));
        let digest = Digest::parse(&record.meta.source);
        Ok(PublishedPage { twin, packet: spxi_links.packet, digest, is_closed })
    }
}

impl LayerPass<'_> {
    /// Returns whether an SPXI index is written: only if an entity has a public page, because the
    /// index would be empty otherwise.
    fn has_index(&self) -> bool {
        !self.entity_pages.is_empty()
    }

    /// Writes all layers and returns the files of the sitemap.
    pub(crate) fn run(
        &self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Vec<SitemapPart>, BuildError> {
        let mut open = OpenLayers::new(self, stage)?;
        // The home page is staged last, because its head links to files that are complete only
        // then.
        let mut home = None;
        let mut rows = LedgerReader::open(self.ledger)?;
        let mut records = PageCacheReader::open(self.pack)?;
        let mut names = self.names.iter().peekable();
        while let Some(row) = rows.next()? {
            // Page files that could not be read as pages are still copied.
            while let Some(name) = names.next_if(|name| name.url < row.url.as_str()) {
                self.copy_unreadable(name.path, stage, report)?;
            }
            let name = names.next_if(|name| name.url == row.url);
            if row.visibility == Visibility::Removed {
                if let Some(arc_writer) = &mut open.arc_writer {
                    arc_writer.page(&row, None)?;
                }
                continue;
            }
            let Some(record) = records.get(&row.url)? else {
                if let Some(name) = name {
                    self.copy_unreadable(name.path, stage, report)?;
                }
                continue;
            };
            let path = name.map(|name| name.path);
            let page = open.add_page(self, (&row, path), record, (stage, report))?;
            match path {
                Some(path) if address::is_home(&self.plan.base, &row.url, Some(path)) => {
                    home = Some((row, path, page));
                }
                Some(path) => {
                    let digest = self.stage_page(&row, path, &page, None, (stage, report))?;
                    serve(&mut open.served, (&row, path), &page, digest)?;
                }
                None => {}
            }
        }
        for name in names {
            self.copy_unreadable(name.path, stage, report)?;
        }
        let OpenLayers { sitemap, llms_writer, arc_writer, private, index, mut served, .. } = open;
        let arc = match arc_writer {
            Some(arc_writer) => arc_writer.finish(stage, report)?,
            None => ArcLayerResult::default(),
        };
        if let Some((row, path, page)) = home {
            let digest =
                self.stage_page(&row, path, &page, arc.pointer.as_ref(), (stage, report))?;
            serve(&mut served, (&row, path), &page, digest)?;
        }
        if let Some(private) = private {
            private.finish()?;
        }
        self.copy_others(stage, report)?;
        if let Some(index) = index {
            index.finish(stage, report)?;
        }
        let parts =
            self.finish((sitemap, llms_writer), &arc, served.restricted_files(), stage, report)?;
        let is_page = |path: &str| {
            let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("html" | "htm" | "xhtml"))
        };
        stage.keep_below(self.unreadable)?;
        stage.list(&mut |path, file| {
            if is_page(path) { Ok(()) } else { served.file(path, file, self.published) }
        })?;
        served.finish()?;
        Ok(parts)
    }

    fn twin(
        &self,
        row: &LedgerRow,
        path: Option<&str>,
        markdown: &[u8],
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Option<String>, BuildError> {
        let Some(twin) = address::twin(&self.plan.base, &row.url, path) else { return Ok(None) };
        // The source of a Markdown page is its own twin.
        if path == Some(twin.as_str()) {
            return Ok(Some(twin));
        }
        let is_owners = self.others.binary_search_by(|name| (**name).cmp(twin.as_str())).is_ok();
        // If the manifest is lost, a twin in the site's own folder looks like a file of the site
        // owner; its mark shows that Rutter wrote it.
        let is_recognised = self.plan.out.is_none() && stage.is_recognised(&twin);
        if is_owners && !stage.may_replace(&twin) && !is_recognised {
            report(&twin, &rules::FOREIGN_FILE, String::new());
            return Ok(None);
        }
        match stage.put(PublishOrder::Twins, &twin, &file_marks::marked_twin(markdown))? {
            put @ (StageResult::ForeignFile | StageResult::Symlink) => {
                report_blocked(&twin, put, report);
                Ok(None)
            }
            StageResult::Staged | StageResult::Unchanged => Ok(Some(twin)),
        }
    }

    /// Stages the HTML file of a page: a copy in a separate output folder, with links in its head
    /// if the plan asks for links. Returns the digest of the published bytes.
    fn stage_page(
        &self,
        row: &LedgerRow,
        path: &str,
        page: &PublishedPage,
        pointer: Option<&SitemapPointer>,
        (stage, report): (&mut StagingArea, &mut ReportFinding<'_>),
    ) -> Result<Option<Digest>, BuildError> {
        let source = self.plan.site.join(path);
        let is_html = self.plan.source == SourceKind::Html;
        let injected = if self.plan.layers.inject && is_html && row.is_public() {
            // An unreadable file was already reported when the page was read.
            let bytes = rutter_root::read(&self.plan.site, path).unwrap_or_default();
            let injected = head_links::insert_links(&bytes, &self.links(page, pointer));
            if injected.is_none() && !bytes.is_empty() {
                report(path, &rules::NO_HEAD, String::new());
            }
            injected
        } else {
            None
        };
        let mut digest = injected.as_deref().map_or(page.digest, |bytes| Some(Digest::of(bytes)));
        match (self.plan.out.is_some(), injected) {
            (true, Some(bytes)) => {
                report_blocked(path, stage.put(PublishOrder::Heads, path, &bytes)?, report);
            }
            (true, None) => {
                let missing = self.copy(path, page.digest, stage, report)?;
                // The sitemap must list only files that exist, so the build fails.
                if let Some(why) = missing.filter(|_| row.visibility.is_listed()) {
                    return Err(BuildError::Unreadable(path.to_owned(), why));
                }
            }
            (false, Some(bytes)) => {
                report_blocked(path, stage.put_shared(PublishOrder::Heads, path, &bytes)?, report);
            }
            (false, None) if is_html && stage.was_shared(path) && !source.is_symlink() => {
                match rutter_root::read(&self.plan.site, path) {
                    Ok(bytes) => {
                        if let Cow::Owned(bytes) = head_links::remove_links(&bytes) {
                            digest = Some(Digest::of(&bytes));
                            stage.restore_original(PublishOrder::Heads, path, &bytes)?;
                        }
                    }
                    Err(_) => drop(stage.keep(path, None)?),
                }
            }
            (false, None) => {}
        }
        Ok(digest)
    }

    fn links(&self, page: &PublishedPage, pointer: Option<&SitemapPointer>) -> Vec<String> {
        let base = self.plan.base.path();
        let mut links = Vec::new();
        let mut alternate = |kind: &str, file: &str| {
            let address = address::file_address(&self.plan.base, file);
            let href = address.get(self.plan.base.origin().len()..).unwrap_or(&address);
            let href = href.replace('&', "&amp;");
            links.push(format!("<link rel=\"alternate\" type=\"{kind}\" href=\"{href}\">"));
        };
        if let Some(twin) = &page.twin {
            alternate("text/markdown", twin);
        }
        if self.has_index() {
            alternate("application/ld+json", rutter_spxi::INDEX_FILE);
        }
        if let Some(packet) = &page.packet {
            alternate("application/ld+json", packet);
        }
        if self.plan.layers.llms {
            links.push(format!("<link rel=\"describedby\" href=\"{base}llms.txt\">"));
        }
        if self.plan.layers.sitemap {
            links.push(format!(
                "<link rel=\"sitemap\" type=\"application/xml\" href=\"{base}sitemap.xml\">"
            ));
        }
        links.extend(pointer.map(SitemapPointer::to_script));
        links
    }

    fn copy_unreadable(
        &self,
        path: &str,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        if self.plan.out.is_some() {
            self.copy(path, None, stage, report)?;
        }
        Ok(())
    }

    /// Stages a copy of a file of the site. If the file cannot be read, the published copy is kept.
    /// If there is no published copy either, the I/O error is returned as text.
    fn copy(
        &self,
        path: &str,
        digest: Option<Digest>,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Option<String>, BuildError> {
        let source = self.plan.site.join(path);
        let copied = match rutter_root::open(&self.plan.site, path) {
            Ok(file) => {
                stage.copy_file((Owner::Site, PublishOrder::Site), path, (&source, file), digest)
            }
            Err(error) => Err(BuildError::Io(source.clone(), error)),
        };
        match copied {
            Ok(put) => report_blocked(path, put, report),
            Err(BuildError::Io(place, error)) if place == source => {
                // Unreadable pages and folders were already reported.
                let is_below = |folder: &String| path.starts_with(folder.as_str());
                if digest.is_none() && !self.unreadable.iter().any(is_below) {
                    report(path, &rules::UNREADABLE, error.to_string());
                    stage.count_uncopied();
                }
                let wanted = digest.filter(|_| !self.plan.layers.inject);
                let is_kept = stage.keep(path, wanted)?;
                return Ok((!is_kept).then(|| error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Stages copies of the site's files that are not pages.
    fn copy_others(
        &self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        if self.plan.out.is_none() {
            return Ok(());
        }
        for name in self.others {
            // Files that Rutter writes itself are not copied from the site.
            if !is_written_by_rutter(self.plan, self.site_sitemap, name) && !stage.has(name) {
                self.copy(name, None, stage, report)?;
            }
        }
        Ok(())
    }

    /// Stages the files that refer to other artifacts, such as the sitemap and robots.txt.
    fn finish(
        &self,
        (sitemap, llms_writer): (Option<SitemapWriter<'_>>, Option<LlmsWriter<'_>>),
        arc: &ArcLayerResult,
        closed: (&[String], &[String]),
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Vec<SitemapPart>, BuildError> {
        let plan = self.plan;
        let mut sitemaps = Vec::new();
        let mut parts = Vec::new();
        if let Some(sitemap) = sitemap {
            let known = &self.published.sitemaps;
            let finish = SitemapFinish {
                name: "sitemap.xml",
                site_sitemap: self.site_sitemap,
                parts: known,
            };
            let finished = sitemap.finish(finish, stage)?;
            parts = finished.parts;
            if let Some((blocked, why)) = finished.blocked {
                let own_name =
                    finished.name.as_ref().map(|name| format!("Rutter's sitemap is {name}"));
                let details = [Some(why).filter(|why| !why.is_empty()), own_name];
                let detail = details.into_iter().flatten().collect::<Vec<_>>().join("; ");
                report(&blocked, &rules::FOREIGN_FILE, detail);
            }
            sitemaps.extend(finished.name);
            if self.site_sitemap.is_kept() {
                let entries = self.site_sitemap.files.iter().filter(|file| file.is_entry);
                let plain =
                    entries.filter(|file| !is_gzip(Path::new(&file.name)) && file.n_pages != 0);
                sitemaps.extend(plain.map(|file| file.name.clone()));
            }
        }
        if plan.layers.separate_sitemap && plan.layers.collections {
            sitemaps.extend(self.write_collection_sitemap(stage, report)?);
        }
        let main = sitemaps.first().cloned();
        if arc.has_sitemap && plan.arc.robots_line {
            // The ARC sitemap comes after the sitemaps that every crawler can read (D64).
            sitemaps.push(arc_publication::SITEMAP.to_owned());
        }
        if plan.layers.robots {
            self.robots(&sitemaps, stage, report)?;
        }
        if let Some(llms_writer) = llms_writer {
            let existing = self.owner_file("llms.txt", &marked_block::MARKDOWN, stage);
            let indexes =
                llms::NamedIndexes { sitemap: main.as_deref(), has_spxi: self.has_index() };
            let blocked =
                llms_writer.finish(indexes, self.published, existing.as_deref(), stage)?;
            for (name, put) in blocked {
                report_blocked(&name, put, report);
            }
        }
        if let Some(host) = plan.layers.headers {
            self.headers(host, closed, stage, report)?;
        }
        Ok(parts)
    }

    /// Stages a separate sitemap that announces the collections; its entries are the index pages of
    /// the sections (D16).
    fn write_collection_sitemap(
        &self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Option<String>, BuildError> {
        let plan = self.plan;
        let foreign = adverts(plan, self.published, self.tallies);
        let mut sitemap =
            SitemapWriter::new(plan, self.previous_sitemap, foreign, SitemapLayout::Together);
        let starts: Vec<String> = self
            .sections
            .names()
            .iter()
            .map(|name| match self.sections.prefix(name) {
                Some(prefix) => format!("{}{prefix}", plan.base.origin()),
                None => plan.base.as_str().to_owned(),
            })
            .collect();
        let mut rows = LedgerReader::open(self.ledger)?;
        let mut first = None;
        let mut n_entries = 0;
        while let Some(row) = rows.next()? {
            // The index page of a section may have no final slash.
            let is_start =
                |start: &String| *start == row.url || start.strip_suffix('/') == Some(&row.url);
            if row.is_public() && starts.iter().any(is_start) {
                sitemap.page(&row, &rutter_site::PageMetadata::default(), None, stage)?;
                n_entries += 1;
            }
            if first.is_none() && row.is_public() {
                first = Some(row);
            }
        }
        // The sitemap schema requires at least one entry, so the first public page is listed.
        if let (0, Some(row)) = (n_entries, first) {
            sitemap.page(&row, &rutter_site::PageMetadata::default(), None, stage)?;
        }
        let site_sitemap = SiteSitemap::default();
        let finish =
            SitemapFinish { name: "sitemap-scp.xml", site_sitemap: &site_sitemap, parts: &[] };
        let finished = sitemap.finish(finish, stage)?;
        if let Some((blocked, why)) = finished.blocked {
            report(&blocked, &rules::FOREIGN_FILE, why);
        }
        Ok(finished.name)
    }

    /// Returns the text of the site owner's file to which Rutter adds its block; `None` if there is
    /// no such file or Rutter wrote all of it.
    fn owner_file(
        &self,
        name: &str,
        marks: &marked_block::BlockMarkers,
        stage: &StagingArea,
    ) -> Option<String> {
        let text = String::from_utf8(rutter_root::read(&self.plan.site, name).ok()?).ok()?;
        let is_whole = (self.plan.out.is_none() && stage.was_own_file(name))
            || text.contains(file_marks::WHOLE_FILE);
        let own = marked_block::without_block(&text, marks);
        (!is_whole && !own.trim().is_empty()).then_some(text)
    }

    fn robots(
        &self,
        sitemaps: &[String],
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        let plan = self.plan;
        let wishes = RobotsAdditions {
            sitemaps: sitemaps.iter().map(|name| plan.base.join(name)).collect(),
            crawl_delay: plan.layers.crawl_delay,
            group: entities::agent_group(plan).filter(|_| self.has_index()),
            ..RobotsAdditions::default()
        };
        if !plan.base.is_root() {
            let lines: Vec<String> =
                wishes.sitemaps.iter().map(|url| format!("Sitemap: {url}")).collect();
            report("robots.txt", &rules::UNDER_A_PATH, lines.join(", "));
            return Ok(());
        }
        let existing = rutter_root::read(&plan.site, "robots.txt").ok();
        let merged = robots::merge(existing.as_deref(), &wishes);
        let is_owners = existing.as_ref().is_some_and(|text| {
            let text = String::from_utf8_lossy(text);
            // A file without Rutter's block belongs to the site owner, even if the file is empty.
            marked_block::block_of(&text, &marked_block::HASH).is_none()
                || !marked_block::without_block(&text, &marked_block::HASH).trim().is_empty()
        });
        if is_owners && plan.out.is_none() {
            report_blocked(
                "robots.txt",
                stage.put_shared(PublishOrder::Robots, "robots.txt", &merged)?,
                report,
            );
        } else {
            report_blocked(
                "robots.txt",
                stage.put(PublishOrder::Robots, "robots.txt", &merged)?,
                report,
            );
        }
        Ok(())
    }

    fn headers(
        &self,
        host: HostKind,
        closed: (&[String], &[String]),
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        let text = headers::headers(self.plan, host, closed);
        match host {
            HostKind::Netlify => {
                let existing = self.owner_file("_headers", &marked_block::HASH, stage);
                let merged = marked_block::with_block(
                    existing.as_deref().unwrap_or(""),
                    &text,
                    &marked_block::HASH,
                );
                let put = if existing.is_some() && self.plan.out.is_none() {
                    stage.put_shared(PublishOrder::Robots, "_headers", merged.as_bytes())?
                } else {
                    stage.put(PublishOrder::Robots, "_headers", merged.as_bytes())?
                };
                report_blocked("_headers", put, report);
            }
            // The nginx file is for the configuration of the server and is not published.
            HostKind::Nginx => {
                let path = self.plan.state.join("nginx.conf");
                fs::write(&path, text).at(&path)?;
            }
        }
        Ok(())
    }
}

/// Adds a page to `served.json`, the list of served files.
fn serve(
    served: &mut ServedWriter,
    (row, path): (&LedgerRow, &str),
    page: &PublishedPage,
    digest: Option<Digest>,
) -> Result<(), BuildError> {
    if row.is_public() {
        served.page((row, path), page.twin.as_deref(), digest)
    } else if page.is_closed {
        served.restricted_page((row, path), digest)
    } else {
        Ok(())
    }
}

/// Reports a file of the site owner or a symbolic link that blocks an artifact.
pub(crate) fn report_blocked(path: &str, put: StageResult, report: &mut ReportFinding<'_>) {
    match put {
        StageResult::ForeignFile => report(path, &rules::FOREIGN_FILE, String::new()),
        StageResult::Symlink => report(path, &rules::SYMLINK, String::new()),
        StageResult::Staged | StageResult::Unchanged => {}
    }
}

/// Returns whether Rutter writes an artifact with this name, so that the site's file of that name
/// is not copied.
pub(crate) fn is_written_by_rutter(
    plan: &BuildPlan,
    site_sitemap: &SiteSitemap,
    name: &str,
) -> bool {
    let layers = &plan.layers;
    match name {
        "sitemap.xml" => layers.sitemap && !site_sitemap.is_kept(),
        "robots.txt" => layers.robots && plan.base.is_root(),
        "llms.txt" => layers.llms,
        "_headers" => layers.headers == Some(HostKind::Netlify),
        name => layers.sitemap && site_sitemap.is_replaced(name),
    }
}

/// Returns a finding without a place inside the file.
pub(crate) fn finding(rule: &'static Rule, detail: String) -> Finding {
    Finding::new(rule, Place::WHOLE, detail)
}
