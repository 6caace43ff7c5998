//! Publishes the files of the site: pages, with links to the artifacts in their heads, and all other files.
//!
//! A separate output folder gets copies of all files. The home page is staged last, because its head links to files
//! that are complete only then.

use std::borrow::Cow;
use std::path::Path;

use rutter_arc::pointer::SitemapPointer;
use rutter_page::Digest;
use rutter_site::{LedgerRow, Owner, head_links};

use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageLinks};
use crate::error::BuildError;
use crate::plan::{BuildPlan, HostKind, SourceKind};
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::staging::PublishOrder;
use crate::{address, rules};

/// Publisher of the files of the site.
struct PageLayer<'p> {
    input: &'p LayerInput<'p>,
    home: Option<PageOnDisk>,
}

/// A page with a file, without its content.
struct PageOnDisk {
    row: LedgerRow,
    path: String,
    links: PageLinks,
    /// Digest of the page's source.
    source: Option<Digest>,
    /// Whether only authenticated readers may see the page.
    is_closed: bool,
}

/// Opens the layer.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> OpenLayer<'p> {
    Box::new(PageLayer { input, home: None })
}

impl Layer for PageLayer<'_> {
    fn entry(
        &mut self,
        entry: &mut Entry<'_>,
        out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        let plan = self.input.plan;
        match entry {
            Entry::Removed(_) => Ok(()),
            // Page files that could not be read as pages are still copied.
            Entry::Unread(path) if plan.out.is_some() => self.copy(path, None, out).map(drop),
            Entry::Unread(_) => Ok(()),
            Entry::Page(entry) => {
                let Some(path) = entry.path else { return Ok(()) };
                let page = PageOnDisk {
                    row: entry.row.clone(),
                    path: path.to_owned(),
                    links: entry.links.clone(),
                    source: entry.source(),
                    is_closed: entry.is_closed(plan),
                };
                if address::is_home(&plan.base, &page.row.url, Some(path)) {
                    self.home = Some(page);
                    return Ok(());
                }
                self.publish(&page, None, out)
            }
        }
    }

    fn finish(mut self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        if let Some(home) = self.home.take() {
            let pointer = out.links.arc.clone();
            self.publish(&home, pointer.as_ref(), out)?;
        }
        self.copy_others(out)
    }
}

impl PageLayer<'_> {
    /// Stages a page and adds it to the list of served files.
    fn publish(
        &self,
        page: &PageOnDisk,
        pointer: Option<&SitemapPointer>,
        out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        let digest = self.stage(page, pointer, out)?;
        if page.row.is_public() {
            out.served.page((&page.row, &page.path), page.links.twin.as_deref(), digest)
        } else if page.is_closed {
            out.served.restricted_page((&page.row, &page.path), digest)
        } else {
            Ok(())
        }
    }

    /// Stages the HTML file of a page: a copy in a separate output folder, with links in its head
    /// if the plan asks for links. Returns the digest of the published bytes.
    fn stage(
        &self,
        page: &PageOnDisk,
        pointer: Option<&SitemapPointer>,
        out: &mut LayerOutput<'_>,
    ) -> Result<Option<Digest>, BuildError> {
        let (plan, path) = (self.input.plan, page.path.as_str());
        let is_html = plan.source == SourceKind::Html;
        let injected = self.with_links(page, pointer, out);
        let digest = injected.as_deref().map_or(page.source, |bytes| Some(Digest::of(bytes)));
        match (plan.out.is_some(), injected) {
            (true, Some(bytes)) => {
                out.put(PublishOrder::Heads, path, &bytes)?;
            }
            (true, None) => {
                let missing = self.copy(path, page.source, out)?;
                // The sitemap must list only files that exist, so the build fails.
                if let Some(why) = missing.filter(|_| page.row.visibility.is_listed()) {
                    return Err(BuildError::Unreadable(path.to_owned(), why));
                }
            }
            (false, Some(bytes)) => {
                out.put_shared(PublishOrder::Heads, path, &bytes)?;
            }
            (false, None) => {
                let is_shared = is_html && out.stage.was_shared(path);
                if is_shared && !plan.site.join(path).is_symlink() {
                    return restore(plan, path, digest, out);
                }
            }
        }
        Ok(digest)
    }

    /// Returns the bytes of a public page with links in its head; `None` if the page gets no links.
    fn with_links(
        &self,
        page: &PageOnDisk,
        pointer: Option<&SitemapPointer>,
        out: &mut LayerOutput<'_>,
    ) -> Option<Vec<u8>> {
        let plan = self.input.plan;
        if !plan.layers.inject || plan.source != SourceKind::Html || !page.row.is_public() {
            return None;
        }
        // An unreadable file was already reported when the page was read.
        let bytes = rutter_root::read(&plan.site, &page.path).unwrap_or_default();
        let injected = head_links::insert_links(&bytes, &self.links(&page.links, pointer));
        if injected.is_none() && !bytes.is_empty() {
            out.report(&page.path, &rules::NO_HEAD, "");
        }
        injected
    }

    fn links(&self, page: &PageLinks, pointer: Option<&SitemapPointer>) -> Vec<String> {
        let base = self.input.plan.base.path();
        let mut links = Vec::new();
        let mut alternate = |kind: &str, file: &str| {
            let address = address::file_address(&self.input.plan.base, file);
            let href = address.get(self.input.plan.base.origin().len()..).unwrap_or(&address);
            let href = href.replace('&', "&amp;");
            links.push(format!("<link rel=\"alternate\" type=\"{kind}\" href=\"{href}\">"));
        };
        if let Some(twin) = &page.twin {
            alternate("text/markdown", twin);
        }
        if self.input.has_index() {
            alternate("application/ld+json", rutter_spxi::INDEX_FILE);
        }
        if let Some(packet) = &page.packet {
            alternate("application/ld+json", packet);
        }
        if self.input.plan.layers.llms {
            links.push(format!("<link rel=\"describedby\" href=\"{base}llms.txt\">"));
        }
        if self.input.plan.layers.sitemap {
            links.push(format!(
                "<link rel=\"sitemap\" type=\"application/xml\" href=\"{base}sitemap.xml\">"
            ));
        }
        links.extend(pointer.map(SitemapPointer::to_script));
        links
    }

    /// Stages a copy of a file of the site. If the file cannot be read, the published copy is kept.
    /// If there is no published copy either, the I/O error is returned as text.
    fn copy(
        &self,
        path: &str,
        digest: Option<Digest>,
        out: &mut LayerOutput<'_>,
    ) -> Result<Option<String>, BuildError> {
        let plan = self.input.plan;
        let source = plan.site.join(path);
        let copied = match rutter_root::open(&plan.site, path) {
            Ok(file) => {
                let kind = (Owner::Site, PublishOrder::Site);
                out.stage.copy_file(kind, path, (&source, file), digest)
            }
            Err(error) => Err(BuildError::Io(source.clone(), error)),
        };
        match copied {
            Ok(put) => {
                out.check(path, put);
                Ok(None)
            }
            Err(BuildError::Io(place, error)) if place == source => {
                // Unreadable pages and folders were already reported.
                let is_below = |folder: &String| path.starts_with(folder.as_str());
                if digest.is_none() && !self.input.inventory.unreadable.iter().any(is_below) {
                    out.report(path, &rules::UNREADABLE, error.to_string());
                    out.stage.count_uncopied();
                }
                let wanted = digest.filter(|_| !plan.layers.inject);
                let is_kept = out.stage.keep(path, wanted)?;
                Ok((!is_kept).then(|| error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// Stages copies of the site's files that are not pages.
    fn copy_others(&self, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let LayerInput { plan, inventory, .. } = self.input;
        if plan.out.is_none() {
            return Ok(());
        }
        for name in &inventory.others {
            // Files that Rutter writes itself are not copied from the site.
            let is_made = is_written_by_rutter(plan, &inventory.site_sitemap, name);
            if !is_made && !out.stage.has(name) {
                self.copy(name, None, out)?;
            }
        }
        Ok(())
    }
}

/// Restores a page to which an earlier build added links. Returns the digest of the published bytes.
fn restore(
    plan: &BuildPlan,
    path: &str,
    digest: Option<Digest>,
    out: &mut LayerOutput<'_>,
) -> Result<Option<Digest>, BuildError> {
    match rutter_root::read(&plan.site, path) {
        Ok(bytes) => {
            if let Cow::Owned(bytes) = head_links::remove_links(&bytes) {
                out.stage.restore_original(PublishOrder::Heads, path, &bytes)?;
                return Ok(Some(Digest::of(&bytes)));
            }
        }
        Err(_) => drop(out.stage.keep(path, None)?),
    }
    Ok(digest)
}

/// Returns whether a file has the extension of a page.
pub(crate) fn is_page_name(path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("html" | "htm" | "xhtml"))
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
