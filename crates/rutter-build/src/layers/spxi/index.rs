//! Writes the SPXI index, with the dates from the ledger.
//!
//! The index contains an entity only if the page of the entity is public.

use std::collections::BTreeMap;
use std::fs;

use rutter_page::Timestamp;
use rutter_site::{LedgerRow, PageMetadata, Visibility};
use rutter_spxi::{Entity, INDEX_FILE, IndexWriter, SemanticIndex, Surface, SurfaceDetail};

use super::{EntitiesByPage, entities_by_page};
use crate::entities::{declared, page_of};
use crate::error::{BuildError, IoErrorContext};
use crate::layers::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageEntry};
use crate::plan::{EntityDeclaration, SpxiSettings, SurfaceRule};
use crate::{address, rules};

/// Writer of the SPXI index.
struct IndexLayer<'p> {
    input: &'p LayerInput<'p>,
    spxi: &'p SpxiSettings,
    writer: IndexWriter,
    /// The declared entities whose page was not added yet.
    pages: EntitiesByPage,
    /// Entities whose public page was added, by position in the declaration.
    found: BTreeMap<usize, Entity>,
    /// Reasons why entities have no public page, by the URL of the declared page.
    why: BTreeMap<String, String>,
    /// Title of the home page.
    home: Option<String>,
    newest: Option<Timestamp>,
}

/// Opens the layer; `None` if no entity is declared or the layer is off.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Option<OpenLayer<'p>> {
    let plan = input.plan;
    let spxi = declared(plan)?;
    let id = Some(plan.base.join(INDEX_FILE));
    let name = spxi.index.name.clone().or_else(|| plan.name.clone());
    let index = SemanticIndex { id, name, ..spxi.index.clone() };
    Some(Box::new(IndexLayer {
        input,
        spxi,
        writer: IndexWriter::new(index),
        pages: entities_by_page(spxi),
        found: BTreeMap::new(),
        why: BTreeMap::new(),
        home: None,
        newest: None,
    }))
}

impl Layer for IndexLayer<'_> {
    fn entry(&mut self, entry: &mut Entry<'_>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let Entry::Page(page) = entry else { return Ok(()) };
        let (row, meta) = (page.row, &page.record.meta);
        match row.visibility {
            Visibility::Public => self.add_public(page),
            // Only the URL and the name of such a page are public (D85).
            Visibility::Listed => {
                self.record_exclusion(row, meta);
                let name = own_title(meta);
                let surface = Surface { id: Some(row.url.clone()), name, ..Surface::default() };
                self.writer.surface(&surface);
            }
            _ => self.record_exclusion(row, meta),
        }
        Ok(())
    }

    /// Stages the index and reports the entities without a public page.
    fn finish(mut self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        for (page, entities) in &self.pages {
            for declared in entities.iter().filter_map(|at| self.spxi.entities.get(*at)) {
                let name = declared.entity.name.as_deref().unwrap_or_default();
                let why = self.why.get(page).map_or("no page has this URL", String::as_str);
                let name = rutter_finding::quoted(name);
                out.report(page, &rules::ENTITY_PAGE, format!("{name}: {why}"));
            }
        }
        // An index without entities would be empty and is not written.
        if self.found.is_empty() {
            return Ok(());
        }
        if !self.input.plan.base.is_root() {
            out.report(INDEX_FILE, &rules::UNDER_A_PATH, "");
        }
        let index = self.writer.index();
        index.entities = self.found.into_values().collect();
        index.name = index.name.take().or(self.home);
        let written = self.writer.finish(self.newest.map(Into::into));
        match written.kept {
            SurfaceDetail::Everything => {}
            SurfaceDetail::Addresses => {
                out.report(
                    INDEX_FILE,
                    &rules::INDEX_SIZE,
                    "the index lists only the URLs of pages",
                );
            }
            SurfaceDetail::Declared => {
                let detail = "the index lists only pages with a surface rule";
                out.report(INDEX_FILE, &rules::INDEX_SIZE, detail);
            }
        }
        if !out.is_free(self.input, INDEX_FILE) {
            return Ok(());
        }
        let path = out.stage.new_path();
        fs::write(&path, &written.bytes).at(&path)?;
        out.put_all(&[INDEX_FILE], &path)?;
        Ok(())
    }
}

impl IndexLayer<'_> {
    /// Adds a public page.
    fn add_public(&mut self, page: &PageEntry<'_>) {
        let PageEntry { row, path, record, links } = page;
        self.record_similar(row);
        self.newest = self.newest.max(Some(row.modified));
        if address::is_home(&self.input.plan.base, &row.url, *path) {
            self.home = Some(record.meta.title.clone()).filter(|title| !title.is_empty());
        }
        self.writer.surface(&self.surface(row, &record.meta));
        let base = &self.input.plan.base;
        for at in self.pages.remove(&row.url).unwrap_or_default() {
            let Some(declared) = self.spxi.entities.get(at) else { continue };
            let own = declared.entity.packet_ref.clone();
            let made = links.packet.as_ref().filter(|_| declared.has_packet);
            let made = made.map(|file| address::file_address(base, file));
            let packet_ref = own.or(made);
            self.found.insert(at, Entity { packet_ref, ..declared.entity.clone() });
        }
    }

    /// Returns whether the index will contain an entity.
    fn is_public(&self, entity: &Entity) -> bool {
        self.input.entity_pages.contains(&page_of(entity))
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
            let path = url.get(self.input.plan.base.origin().len()..).unwrap_or(url);
            self.why.entry(other).or_insert_with(|| format!("did you mean {path}?"));
        }
    }

    fn surface(&self, row: &LedgerRow, meta: &PageMetadata) -> Surface {
        let path = row.url.get(self.input.plan.base.origin().len()..).unwrap_or("/");
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
