//! Publishes the collections, and announces them in a sitemap.
//!
//! Input: the publication record and the collections in the state folder. Output: staged files, and the `scp:` elements
//! for the sitemap, which may be a separate file (D16).

use rutter_site::{LedgerReader, Owner, PageMetadata};

use super::adverts::adverts;
use super::sitemap::{SitemapFinish, SitemapLayout, SitemapWriter};
use super::{Layer, LayerInput, LayerOutput, OpenLayer};
use crate::address::SCP;
use crate::error::BuildError;
use crate::rules;
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::staging::{PublishOrder, StageResult};

/// Publisher of the collections.
struct ScpLayer<'p> {
    input: &'p LayerInput<'p>,
}

/// Stages the collections, and opens the layer.
pub(crate) fn open<'p>(
    input: &'p LayerInput<'p>,
    out: &mut LayerOutput<'_>,
) -> Result<OpenLayer<'p>, BuildError> {
    for file in input.published.collections.iter().flat_map(|one| &one.files) {
        let source = input.paths.collections().join(&file.name);
        let name = format!("{SCP}/{}", file.name);
        let kind = (Owner::Rutter, PublishOrder::Collections);
        if out.stage.copy(kind, &name, &source, None)? == StageResult::ForeignFile {
            out.report(&name, &rules::FOREIGN_FILE, "");
        }
    }
    Ok(Box::new(ScpLayer { input }))
}

impl Layer for ScpLayer<'_> {
    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let layers = &self.input.plan.layers;
        if layers.separate_sitemap && layers.collections {
            self.write_sitemap(out)?;
        }
        Ok(())
    }
}

impl ScpLayer<'_> {
    /// Stages a separate sitemap that announces the collections; its entries are the index pages of
    /// the sections (D16).
    fn write_sitemap(&self, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let LayerInput { plan, published, inventory, .. } = self.input;
        let foreign = adverts(plan, published, self.input.tallies);
        let previous = &inventory.previous_sitemap;
        let mut sitemap = SitemapWriter::new(plan, previous, foreign, SitemapLayout::Together);
        let sections = &published.sections;
        let start = |name: &&str| match sections.prefix(name) {
            Some(prefix) => format!("{}{prefix}", plan.base.origin()),
            None => plan.base.as_str().to_owned(),
        };
        let starts: Vec<String> = sections.names().iter().map(start).collect();
        let mut rows = LedgerReader::open(&self.input.draft.ledger())?;
        let mut first = None;
        let mut n_entries = 0;
        while let Some(row) = rows.next_row()? {
            // The index page of a section may have no final slash.
            let is_start =
                |start: &String| *start == row.url || start.strip_suffix('/') == Some(&row.url);
            if row.is_public() && starts.iter().any(is_start) {
                sitemap.page(&row, &PageMetadata::default(), None, out.stage)?;
                n_entries += 1;
            }
            if first.is_none() && row.is_public() {
                first = Some(row);
            }
        }
        // The sitemap schema requires at least one entry, so the first public page is listed.
        if let (0, Some(row)) = (n_entries, first) {
            sitemap.page(&row, &PageMetadata::default(), None, out.stage)?;
        }
        let site_sitemap = SiteSitemap::default();
        let finish =
            SitemapFinish { name: "sitemap-scp.xml", site_sitemap: &site_sitemap, parts: &[] };
        let finished = sitemap.finish(finish, out.stage)?;
        if let Some((blocked, why)) = finished.blocked {
            out.report(&blocked, &rules::FOREIGN_FILE, why);
        }
        out.links.sitemaps.extend(finished.name);
        Ok(())
    }
}
