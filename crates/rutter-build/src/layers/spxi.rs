//! Writes the SPXI layer: the index and its packets.
//!
//! Input: the declared entities and, from pass 2, the pages in the order of URLs. Output: staged
//! files with the dates from the ledger. The index contains an entity only if the page of the
//! entity is public.
//!
//! The layer contains no statement about an entity that the site owner did not declare, and names
//! no page that does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rutter_page::Timestamp;
use rutter_site::{LedgerRow, PageMetadata, Visibility};
use rutter_spxi::{
    Entity, INDEX_FILE, IndexWriter, MetadataPacket, SemanticIndex, Surface, SurfaceDetail,
    packet_path,
};

use crate::entities::{declared, page_of};
use crate::error::{BuildError, IoErrorContext};
use crate::layers::arc::{free_names, put_all};
use crate::plan::{BuildPlan, EntityDeclaration, SpxiSettings, SurfaceRule};
use crate::stages::project::{ReportFinding, report_blocked};
use crate::staging::{PublishOrder, StageResult, StagingArea};
use crate::{address, rules};

/// `hreflang` value of the links in the sitemap that lead to the SPXI index.
pub(crate) const HREFLANG: &str = "x-spxi";

/// SPXI files to which other layers link from a page.
#[derive(Debug, Default)]
pub(crate) struct SpxiLinks<'i> {
    /// URL of the SPXI index, if the page belongs to an entity.
    pub(crate) index: Option<&'i str>,
    /// Path of the page's packet, relative to the output folder.
    pub(crate) packet: Option<String>,
}

/// Writer of the SPXI index and its packets.
#[derive(Debug)]
pub(crate) struct SpxiLayer<'p> {
    plan: &'p BuildPlan,
    spxi: &'p SpxiSettings,
    /// Paths of the site's files that are not pages, sorted.
    others: &'p [Box<str>],
    /// URL of the SPXI index.
    address: String,
    writer: IndexWriter,
    /// Positions of the declared entities by the URL of their page, for pages that were not added
    /// yet.
    pages: BTreeMap<String, Vec<usize>>,
    /// Entities whose public page was added, by position in the declaration.
    found: BTreeMap<usize, Entity>,
    /// URLs of all public pages that describe entities.
    public: BTreeSet<String>,
    /// Reasons why entities have no public page, by the URL of the declared page.
    why: BTreeMap<String, String>,
    /// Title of the home page.
    home: Option<String>,
    newest: Option<Timestamp>,
}

impl<'p> SpxiLayer<'p> {
    /// Creates the layer; `None` if no entity is declared or the layer is off. `public` holds the
    /// URLs of the public pages that describe entities.
    pub(crate) fn new(
        plan: &'p BuildPlan,
        others: &'p [Box<str>],
        public: BTreeSet<String>,
    ) -> Option<Self> {
        let spxi = declared(plan)?;
        let mut pages: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, declared) in spxi.entities.iter().enumerate() {
            let page = page_of(&declared.entity);
            pages.entry(page).or_default().push(at);
        }
        let address = plan.base.join(INDEX_FILE);
        let name = spxi.index.name.clone().or_else(|| plan.name.clone());
        let index = SemanticIndex { id: Some(address.clone()), name, ..spxi.index.clone() };
        Some(Self {
            plan,
            spxi,
            others,
            address,
            writer: IndexWriter::new(index),
            pages,
            found: BTreeMap::new(),
            public,
            why: BTreeMap::new(),
            home: None,
            newest: None,
        })
    }

    /// Adds a page that still exists, with its ledger row and metadata.
    pub(crate) fn page(
        &mut self,
        (row, path): (&LedgerRow, Option<&str>),
        meta: &PageMetadata,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<SpxiLinks<'_>, BuildError> {
        match row.visibility {
            Visibility::Public => {}
            // Only the URL and the name of such a page are public (D85).
            Visibility::Listed => {
                self.record_exclusion(row, meta);
                let name = own_title(meta);
                let surface = Surface { id: Some(row.url.clone()), name, ..Surface::default() };
                self.writer.surface(&surface);
                return Ok(SpxiLinks::default());
            }
            _ => {
                self.record_exclusion(row, meta);
                return Ok(SpxiLinks::default());
            }
        }
        self.record_similar(row);
        self.newest = self.newest.max(Some(row.modified));
        if address::is_home(&self.plan.base, &row.url, path) {
            self.home = Some(meta.title.clone()).filter(|title| !title.is_empty());
        }
        self.writer.surface(&self.surface(row, meta));
        let Some(entities) = self.pages.remove(&row.url) else { return Ok(SpxiLinks::default()) };
        let packet = self.packet((row, path), &entities, stage, report)?;
        for at in entities {
            let Some(declared) = self.spxi.entities.get(at) else { continue };
            let own = declared.entity.packet_ref.clone();
            let made = packet.as_ref().filter(|_| declared.has_packet);
            let made = made.map(|file| address::file_address(&self.plan.base, file));
            let packet_ref = own.or(made);
            self.found.insert(at, Entity { packet_ref, ..declared.entity.clone() });
        }
        Ok(SpxiLinks { index: Some(&self.address), packet })
    }

    /// Returns whether the index will contain an entity.
    fn is_public(&self, entity: &Entity) -> bool {
        self.public.contains(&page_of(entity))
    }

    /// Records why the entities of an excluded page have no public page.
    fn record_exclusion(&mut self, row: &LedgerRow, meta: &PageMetadata) {
        if self.pages.contains_key(&row.url) {
            let exclusion = meta.exclusion.as_deref().unwrap_or("not public");
            self.why.insert(row.url.clone(), format!("the page is excluded: {exclusion}"));
        }
    }

    /// Records the page as a suggestion if an entity names another form of its URL.
    fn record_similar(&mut self, row: &LedgerRow) {
        let url = row.url.as_str();
        let folder = url.strip_suffix('/');
        let others = [
            folder.map(str::to_owned),
            folder.map(|folder| format!("{folder}.html")),
            folder.map(|folder| format!("{folder}/index.html")),
            url.strip_suffix(".html").map(str::to_owned),
            url.strip_suffix(".html").map(|stem| format!("{stem}/")),
        ];
        for other in others.into_iter().flatten().filter(|other| self.pages.contains_key(other)) {
            let path = url.get(self.plan.base.origin().len()..).unwrap_or(url);
            self.why.entry(other).or_insert_with(|| format!("did you mean {path}?"));
        }
    }

    fn surface(&self, row: &LedgerRow, meta: &PageMetadata) -> Surface {
        let path = row.url.get(self.plan.base.origin().len()..).unwrap_or("/");
        let rule = rule_of(&self.spxi.surfaces, path);
        // Entities without a public page must not be named.
        let ids = rule.map_or(&[][..], |rule| &rule.protects).iter().filter_map(|name| {
            let is_named = |one: &&EntityDeclaration| {
                one.entity.name.as_ref() == Some(name) && self.is_public(&one.entity)
            };
            self.spxi.entities.iter().find(is_named)?.entity.id.clone()
        });
        Surface {
            id: Some(row.url.clone()),
            name: own_title(meta),
            surface_type: rule.and_then(|rule| rule.surface_type.clone()),
            function: rule.and_then(|rule| rule.function.clone()),
            protects: ids.collect(),
            modified: Some(row.modified.into()),
        }
    }

    /// Writes the packet of a page and returns the path of the packet.
    fn packet(
        &self,
        (row, path): (&LedgerRow, Option<&str>),
        entities: &[usize],
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<Option<String>, BuildError> {
        let declared = entities.iter().filter_map(|at| self.spxi.entities.get(*at));
        let about: Vec<&EntityDeclaration> = declared.filter(|one| one.has_packet).collect();
        if !self.spxi.packets || about.is_empty() {
            return Ok(None);
        }
        let base = &self.plan.base;
        let derived = row.url.get(base.origin().len()..).and_then(packet_path);
        let Some(address) = derived.map(|path| format!("{}{path}", base.origin())) else {
            return Ok(None);
        };
        // If the URL has percent-encoded characters, the path of the packet follows from the file
        // of the page.
        let of_file = || {
            packet_path(&format!("/{}", path?)).map(|file| file.trim_start_matches('/').to_owned())
        };
        let file = address::path_inside(base, &address).map(str::to_owned).or_else(of_file);
        let is_there = |file: &String| address::file_address(base, file) == address;
        let Some(file) = file.filter(is_there) else { return Ok(None) };
        // The folder of the packet cannot be created if a file has its name.
        let in_the_way = Path::new(&file)
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .find(|folder| {
                self.plan.site.join(folder).is_file() || self.plan.target().join(folder).is_file()
            });
        if let Some(other) = in_the_way {
            report(&file, &rules::FOREIGN_FILE, format!("{} is a file", other.display()));
            return Ok(None);
        }
        if free_names(self.others, self.plan, &[&file], stage, report).is_empty() {
            return Ok(None);
        }
        let entity = |one: &&EntityDeclaration| {
            let packet_ref = one.entity.packet_ref.clone().or_else(|| Some(address.clone()));
            Entity { packet_ref, ..one.entity.clone() }
        };
        let packet = MetadataPacket {
            id: Some(address.clone()),
            page: Some(row.url.clone()),
            index: Some(self.address.clone()),
            modified: Some(row.modified.into()),
            about: about.iter().map(entity).collect(),
            kernel: about.iter().find_map(|one| one.kernel.clone()),
            questions: about.iter().flat_map(|one| one.questions.iter().cloned()).collect(),
        };
        let put = stage.put(PublishOrder::Deltas, &file, packet.to_json().as_bytes())?;
        report_blocked(&file, put, report);
        Ok(matches!(put, StageResult::Staged | StageResult::Unchanged).then_some(file))
    }

    /// Stages the SPXI index and reports the entities without a public page.
    pub(crate) fn finish(
        mut self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        for (page, entities) in &self.pages {
            for declared in entities.iter().filter_map(|at| self.spxi.entities.get(*at)) {
                let name = declared.entity.name.as_deref().unwrap_or_default();
                let why = self.why.get(page).map_or("no page has this URL", String::as_str);
                let name = rutter_finding::quoted(name);
                report(page, &rules::ENTITY_PAGE, format!("{name}: {why}"));
            }
        }
        // An index without entities would be empty and is not written.
        if self.found.is_empty() {
            return Ok(());
        }
        if !self.plan.base.is_root() {
            report(INDEX_FILE, &rules::UNDER_A_PATH, String::new());
        }
        let index = self.writer.index();
        index.entities = self.found.into_values().collect();
        index.name = index.name.take().or(self.home);
        let written = self.writer.finish(self.newest.map(Into::into));
        match written.kept {
            SurfaceDetail::Everything => {}
            SurfaceDetail::Addresses => report(
                INDEX_FILE,
                &rules::INDEX_SIZE,
                "the index lists only the URLs of pages".to_owned(),
            ),
            SurfaceDetail::Declared => {
                let detail = "the index lists only pages with a surface rule";
                report(INDEX_FILE, &rules::INDEX_SIZE, detail.to_owned());
            }
        }
        if free_names(self.others, self.plan, &[INDEX_FILE], stage, report).is_empty() {
            return Ok(());
        }
        let path = stage.new_path();
        fs::write(&path, &written.bytes).at(&path)?;
        put_all(&[INDEX_FILE], &path, stage, report)?;
        Ok(())
    }
}

/// Returns the title that a page states; `None` if the title was generated from the text.
fn own_title(meta: &PageMetadata) -> Option<String> {
    let made = rutter_extract::rules::NO_TITLE.code;
    let is_made = meta.findings.iter().any(|(code, _)| code == made);
    Some(meta.title.clone()).filter(|title| !title.is_empty() && !is_made)
}

/// Returns the rule for the path of a page: the rule with exactly this path, else the rule with the
/// longest matching prefix.
fn rule_of<'r>(rules: &'r [SurfaceRule], path: &str) -> Option<&'r SurfaceRule> {
    let fits = |rule: &&SurfaceRule| match rule.path.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => path == rule.path,
    };
    let is_own = |rule: &SurfaceRule| !rule.path.ends_with('*');
    rules.iter().filter(fits).max_by_key(|rule| (is_own(rule), rule.path.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_path_wins_then_the_longest_prefix() {
        let rule = |path: &str| SurfaceRule {
            path: path.to_owned(),
            surface_type: None,
            function: None,
            protects: Vec::new(),
        };
        let rules = [rule("/*"), rule("/docs/*"), rule("/docs/"), rule("/docs/api/*")];
        for (path, wanted) in [
            ("/", Some("/*")),
            ("/docs/", Some("/docs/")),
            ("/docs/tides.html", Some("/docs/*")),
            ("/docs/api/v1", Some("/docs/api/*")),
        ] {
            assert_eq!(rule_of(&rules, path).map(|rule| rule.path.as_str()), wanted, "{path}");
        }
        assert_eq!(rule_of(&rules[1..], "/blog/"), None);
    }
}
