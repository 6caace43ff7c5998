//! The layers of a site, one file per output, behind one trait.
//!
//! Input: the pages of the new ledger in the order of URLs. Output: staged files. Files of the site owner are never
//! overwritten; a conflict with such a file is reported.

mod adverts;
pub(crate) mod arc;
pub(crate) mod headers;
pub(crate) mod llms;
pub(crate) mod pages;
pub(crate) mod partner_pages;
pub(crate) mod robots;
pub(crate) mod scp;
pub(crate) mod served;
pub(crate) mod sitemap;
pub(crate) mod spxi;
pub(crate) mod twins;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use rutter_arc::pointer::SitemapPointer;
use rutter_finding::Rule;
use rutter_page::Digest;
use rutter_site::marked_block::{self, BlockMarkers};
use rutter_site::{
    LedgerRow, Owner, PageRecord, Publication, SitemapPart, StatePaths, digest_of, file_marks,
};

use self::served::ServedWriter;
use crate::error::{BuildError, IoErrorContext};
use crate::plan::BuildPlan;
use crate::stages::inventory::Inventory;
use crate::stages::read::SectionTally;
use crate::staging::{self, PublishOrder, StageResult, StagingArea};
use crate::state::draft::DraftFolder;
use crate::{exclusion, rules};

/// One output of the site.
///
/// `open` of a layer writes its header. Then the layer gets every entry once, in the order of URLs, and finally stages
/// its files. A layer uses constant memory: it keeps no list of pages.
pub(crate) trait Layer {
    /// Adds an entry. Layers that come later in the list of layers see what this layer published for the page.
    fn entry(
        &mut self,
        _entry: &mut Entry<'_>,
        _out: &mut LayerOutput<'_>,
    ) -> Result<(), BuildError> {
        Ok(())
    }

    /// Stages the files of the layer. Layers that come later see the names of these files.
    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError>;
}

/// An open layer.
pub(crate) type OpenLayer<'p> = Box<dyn Layer + 'p>;

/// One row of the ledger or one page file, as the layers get it.
pub(crate) enum Entry<'e> {
    /// A page that exists.
    Page(PageEntry<'e>),
    /// A page that was removed from the site.
    Removed(&'e LedgerRow),
    /// A page file that could not be read as a page, by its path.
    Unread(&'e str),
}

/// A page that exists, and what the layers published for it so far.
pub(crate) struct PageEntry<'e> {
    pub(crate) row: &'e LedgerRow,
    /// Path of the page's file; `None` for a page of a JSON Lines source.
    pub(crate) path: Option<&'e str>,
    pub(crate) record: &'e PageRecord,
    pub(crate) links: PageLinks,
}

/// Artifacts that were published for one page.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageLinks {
    /// Path of the Markdown twin.
    pub(crate) twin: Option<String>,
    /// Path of the SPXI packet.
    pub(crate) packet: Option<String>,
    /// Whether the SPXI index describes an entity of the page.
    pub(crate) has_entity: bool,
}

impl PageEntry<'_> {
    /// Returns whether only authenticated readers may see the page.
    pub(crate) fn is_closed(&self, plan: &BuildPlan) -> bool {
        !self.row.is_public()
            && (self.record.meta.arc.needs_login || exclusion::is_restricted(plan, &self.row.url))
    }

    /// Returns the digest of the page's source.
    pub(crate) fn source(&self) -> Option<Digest> {
        Digest::parse(&self.record.meta.source)
    }
}

/// Artifacts to which later layers refer.
#[derive(Debug, Default)]
pub(crate) struct SiteLinks {
    /// Names of the sitemaps; the main sitemap is first.
    pub(crate) sitemaps: Vec<String>,
    /// Files of the main sitemap.
    pub(crate) sitemap_parts: Vec<SitemapPart>,
    /// Pointer to the ARC sitemap; `None` if no ARC sitemap is published.
    pub(crate) arc: Option<SitemapPointer>,
}

/// Inputs that all layers of a build share.
pub(crate) struct LayerInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) inventory: &'p Inventory,
    pub(crate) published: &'p Publication,
    pub(crate) tallies: &'p [SectionTally],
    pub(crate) paths: &'p StatePaths,
    pub(crate) draft: &'p DraftFolder,
    pub(crate) n_public: usize,
    /// URLs of the public pages that describe entities.
    pub(crate) entity_pages: &'p BTreeSet<String>,
}

impl LayerInput<'_> {
    /// Returns whether an SPXI index is written: only if an entity has a public page, because the
    /// index would be empty otherwise.
    pub(crate) fn has_index(&self) -> bool {
        !self.entity_pages.is_empty()
    }

    /// Returns whether the site has a file with this name that is not a page.
    fn has_other(&self, name: &str) -> bool {
        self.inventory.others.binary_search_by(|other| (**other).cmp(name)).is_ok()
    }
}

/// A callback that receives a finding: the file or page, the rule and the detail.
pub(crate) type ReportFinding<'t> = dyn FnMut(&str, &'static Rule, String) + 't;

/// The outputs of all layers: staged files, the list of served files, findings, and links between layers.
pub(crate) struct LayerOutput<'o> {
    pub(crate) stage: &'o mut StagingArea,
    pub(crate) report: &'o mut ReportFinding<'o>,
    pub(crate) served: ServedWriter,
    pub(crate) links: SiteLinks,
}

impl LayerOutput<'_> {
    /// Reports a finding.
    pub(crate) fn report(&mut self, place: &str, rule: &'static Rule, detail: impl Into<String>) {
        (self.report)(place, rule, detail.into());
    }

    /// Reports a file of the site owner or a symbolic link that blocks an artifact. Returns whether the artifact is
    /// published.
    pub(crate) fn check(&mut self, path: &str, put: StageResult) -> bool {
        match put {
            StageResult::ForeignFile => self.report(path, &rules::FOREIGN_FILE, ""),
            StageResult::Symlink => self.report(path, &rules::SYMLINK, ""),
            StageResult::Staged | StageResult::Unchanged => return true,
        }
        false
    }

    /// Stages an artifact, and reports a file that blocks it. Returns whether the artifact is published.
    pub(crate) fn put(
        &mut self,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<bool, BuildError> {
        let put = self.stage.put(order, name, bytes)?;
        Ok(self.check(name, put))
    }

    /// Stages a file of the site owner with a block of Rutter, like [`Self::put`].
    pub(crate) fn put_shared(
        &mut self,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<bool, BuildError> {
        let put = self.stage.put_shared(order, name, bytes)?;
        Ok(self.check(name, put))
    }

    /// Returns whether no file of the site owner has this name. In a separate output folder, an
    /// artifact with such a name would replace the copy of the owner's file.
    pub(crate) fn is_free(&mut self, input: &LayerInput<'_>, name: &str) -> bool {
        let is_owners =
            input.plan.out.is_some() && input.has_other(name) && !self.stage.may_replace(name);
        if is_owners {
            self.check(name, StageResult::ForeignFile);
        }
        !is_owners
    }

    /// Stages a file under several names, each also compressed with gzip. Returns whether the file
    /// is published under the first name.
    pub(crate) fn put_all(&mut self, names: &[&str], source: &Path) -> Result<bool, BuildError> {
        let mut first = None;
        let mut taken = Vec::new();
        let coded = self.compress_gzip(source)?;
        for (file, ending) in [(source, ""), (&coded, ".gz")] {
            let digest = digest_of(file).at(file)?;
            for name in names {
                // No gzip file is staged next to a foreign file, because its content would differ
                // from that file.
                if taken.contains(name) {
                    continue;
                }
                let coded = format!("{name}{ending}");
                let kind = (Owner::Rutter, PublishOrder::Arc);
                let put = self.stage.copy(kind, &coded, file, Some(digest))?;
                let is_published = self.check(&coded, put);
                if !is_published {
                    taken.push(name);
                }
                first.get_or_insert(is_published);
            }
            fs::remove_file(file).at(file)?;
        }
        Ok(first.unwrap_or(false))
    }

    /// Compresses a file with gzip. The same bytes always produce the same compressed bytes.
    pub(crate) fn compress_gzip(&mut self, source: &Path) -> Result<PathBuf, BuildError> {
        let path = self.stage.new_path();
        let mut out = GzBuilder::new().mtime(0).write(staging::create(&path)?, Compression::new(6));
        io::copy(&mut BufReader::new(File::open(source).at(source)?), &mut out).at(source)?;
        staging::close(out.finish().at(&path)?, &path)?;
        Ok(path)
    }

    /// Returns the text of the site owner's file to which Rutter adds its block; `None` if there is
    /// no such file or Rutter wrote all of it.
    pub(crate) fn owner_file(
        &self,
        plan: &BuildPlan,
        name: &str,
        marks: &BlockMarkers,
    ) -> Option<String> {
        let text = String::from_utf8(rutter_root::read(&plan.site, name).ok()?).ok()?;
        let is_whole = (plan.out.is_none() && self.stage.was_own_file(name))
            || text.contains(file_marks::WHOLE_FILE);
        let own = marked_block::without_block(&text, marks);
        (!is_whole && !own.trim().is_empty()).then_some(text)
    }
}
