//! The SPXI layer: the index and its packets, from the owner's words and the
//! ledger's dates.
//!
//! Pages come in the order of addresses, from the pass that scans ledger and
//! pack; an entity is in the index when its page went by and is public.
//!
//! Refuses: to say anything of an entity that the owner did not say, to name a
//! page that is not there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rutter_finding::Rule;
use rutter_page::{Private, Timestamp};
use rutter_signpost::robots::AgentGroup;
use rutter_spxi::{
    AGENTS, Entity, INDEX, Index, IndexWriter, Kept, PACKET, Packet, Surface, packet_path,
    without_fragment,
};

use crate::error::{At, BuildError};
use crate::feed::{free, put_all};
use crate::inventory;
use crate::ledger::{Row, Rows, Sight};
use crate::pack::Meta;
use crate::plan::{Declared, Plan, Source, Spxi, SurfaceRule};
use crate::project::say_taken;
use crate::publish::{Order, Put, Stage};
use crate::rules;

/// How links to the index are marked in a sitemap.
pub(crate) const HREFLANG: &str = "x-spxi";

type Tell<'t> = dyn FnMut(&str, &'static Rule, String) + 't;

pub(crate) fn declared(plan: &Plan) -> Option<&Spxi> {
    plan.spxi.as_ref().filter(|_| plan.layers.spxi)
}

/// The group of robots.txt that tells AI agents of the index (D79, D80).
pub(crate) fn group(plan: &Plan) -> Option<AgentGroup> {
    let spxi = declared(plan).filter(|spxi| spxi.robots_group)?;
    let own = spxi.agents.iter().map(String::as_str);
    let mut allow = vec![format!("/{INDEX}")];
    if spxi.packets {
        allow.extend([format!("/{PACKET}"), format!("/*/{PACKET}")]);
    }
    let agents = AGENTS.into_iter().chain(own).map(str::to_owned).collect();
    Some(AgentGroup { agents, allow })
}

/// Where other files name what is said of a page.
#[derive(Debug, Default)]
pub(crate) struct Shown<'i> {
    /// Address of the index, where an entity has this page.
    pub(crate) index: Option<&'i str>,
    /// The file of its packet.
    pub(crate) packet: Option<String>,
}

/// The layer while it is being written.
#[derive(Debug)]
pub(crate) struct Semantic<'p> {
    plan: &'p Plan,
    spxi: &'p Spxi,
    /// Files of the site itself.
    others: &'p [Box<str>],
    /// Address of the index.
    address: String,
    writer: IndexWriter,
    /// Entities by the address of their page.
    pages: BTreeMap<String, Vec<usize>>,
    /// The entities, once their pages have gone by.
    found: BTreeMap<usize, Entity>,
    /// Addresses of entities' pages that are public.
    public: BTreeSet<String>,
    /// Why entities have no page, by the address it was said to have.
    why: BTreeMap<String, String>,
    /// What the home page is called.
    home: Option<String>,
    newest: Option<Timestamp>,
}

impl<'p> Semantic<'p> {
    /// `public` are the pages of entities that are.
    pub(crate) fn new(
        plan: &'p Plan,
        others: &'p [Box<str>],
        public: BTreeSet<String>,
    ) -> Option<Self> {
        let spxi = declared(plan)?;
        let mut pages: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, declared) in spxi.entities.iter().enumerate() {
            let page = page_of(&declared.entity);
            pages.entry(page).or_default().push(at);
        }
        let address = plan.base.join(INDEX);
        let name = spxi.index.name.clone().or_else(|| plan.name.clone());
        let index = Index { id: Some(address.clone()), name, ..spxi.index.clone() };
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

    /// A page of the ledger that is there.
    pub(crate) fn page(
        &mut self,
        (row, path): (&Row, Option<&str>),
        meta: &Meta,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Shown<'_>, BuildError> {
        match row.sight {
            Sight::Public => {}
            // Its address and its name are all that is public of it (D85).
            Sight::Listed => {
                self.miss(row, meta);
                let name = own_title(meta);
                let surface = Surface { id: Some(row.url.clone()), name, ..Surface::default() };
                self.writer.surface(&surface);
                return Ok(Shown::default());
            }
            _ => {
                self.miss(row, meta);
                return Ok(Shown::default());
            }
        }
        self.hint(row);
        self.newest = self.newest.max(Some(row.modified));
        if inventory::is_home(&self.plan.base, &row.url, path) {
            self.home = Some(meta.title.clone()).filter(|title| !title.is_empty());
        }
        self.writer.surface(&self.surface(row, meta));
        let Some(entities) = self.pages.remove(&row.url) else { return Ok(Shown::default()) };
        let packet = self.packet((row, path), &entities, stage, told)?;
        for at in entities {
            let Some(declared) = self.spxi.entities.get(at) else { continue };
            let own = declared.entity.packet_ref.clone();
            let made = packet.as_ref().filter(|_| declared.has_packet);
            let made = made.map(|file| inventory::file_address(&self.plan.base, file));
            let packet_ref = own.or(made);
            self.found.insert(at, Entity { packet_ref, ..declared.entity.clone() });
        }
        Ok(Shown { index: Some(&self.address), packet })
    }

    /// Whether an entity will be in the index.
    fn is_there(&self, entity: &Entity) -> bool {
        self.public.contains(&page_of(entity))
    }

    /// Remembers why an entity has no page.
    fn miss(&mut self, row: &Row, meta: &Meta) {
        if self.pages.contains_key(&row.url) {
            let bar = meta.barred.as_deref().unwrap_or("not public");
            self.why.insert(row.url.clone(), format!("the page is left out: {bar}"));
        }
    }

    /// Remembers a page that was probably meant.
    fn hint(&mut self, row: &Row) {
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

    fn surface(&self, row: &Row, meta: &Meta) -> Surface {
        let path = row.url.get(self.plan.base.origin().len()..).unwrap_or("/");
        let rule = rule_of(&self.spxi.surfaces, path);
        // One whose page is not public is not spoken of.
        let ids = rule.map_or(&[][..], |rule| &rule.protects).iter().filter_map(|name| {
            let is_named = |one: &&Declared| {
                one.entity.name.as_ref() == Some(name) && self.is_there(&one.entity)
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

    /// Writes the packet of a page; gives the name of the file.
    fn packet(
        &self,
        (row, path): (&Row, Option<&str>),
        entities: &[usize],
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Option<String>, BuildError> {
        let declared = entities.iter().filter_map(|at| self.spxi.entities.get(*at));
        let about: Vec<&Declared> = declared.filter(|one| one.has_packet).collect();
        if !self.spxi.packets || about.is_empty() {
            return Ok(None);
        }
        let base = &self.plan.base;
        let derived = row.url.get(base.origin().len()..).and_then(packet_path);
        let Some(address) = derived.map(|path| format!("{}{path}", base.origin())) else {
            return Ok(None);
        };
        // Names with characters that addresses encode are known by their files.
        let of_file = || {
            packet_path(&format!("/{}", path?)).map(|file| file.trim_start_matches('/').to_owned())
        };
        let file = inventory::inside(base, &address).map(str::to_owned).or_else(of_file);
        let is_there = |file: &String| inventory::file_address(base, file) == address;
        let Some(file) = file.filter(is_there) else { return Ok(None) };
        // A name is a folder or a file, not both.
        let in_the_way = Path::new(&file)
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .find(|folder| {
                self.plan.site.join(folder).is_file() || self.plan.target().join(folder).is_file()
            });
        if let Some(other) = in_the_way {
            told(&file, &rules::NOT_OURS, format!("{} is a file", other.display()));
            return Ok(None);
        }
        if free(self.others, self.plan, &[&file], stage, told).is_empty() {
            return Ok(None);
        }
        let entity = |one: &&Declared| {
            let packet_ref = one.entity.packet_ref.clone().or_else(|| Some(address.clone()));
            Entity { packet_ref, ..one.entity.clone() }
        };
        let packet = Packet {
            id: Some(address.clone()),
            page: Some(row.url.clone()),
            index: Some(self.address.clone()),
            modified: Some(row.modified.into()),
            about: about.iter().map(entity).collect(),
            kernel: about.iter().find_map(|one| one.kernel.clone()),
            questions: about.iter().flat_map(|one| one.questions.iter().cloned()).collect(),
        };
        let put = stage.put(Order::Deltas, &file, packet.to_json().as_bytes())?;
        say_taken(&file, put, told);
        Ok(matches!(put, Put::Staged | Put::Same).then_some(file))
    }

    /// Puts the index out.
    pub(crate) fn finish(
        mut self,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<(), BuildError> {
        for (page, entities) in &self.pages {
            for declared in entities.iter().filter_map(|at| self.spxi.entities.get(*at)) {
                let name = declared.entity.name.as_deref().unwrap_or_default();
                let why = self.why.get(page).map_or("there is no such page", String::as_str);
                let name = rutter_finding::quoted(name);
                told(page, &rules::ENTITY_PAGE, format!("{name}: {why}"));
            }
        }
        // An index without entities says nothing.
        if self.found.is_empty() {
            return Ok(());
        }
        if !self.plan.base.is_root() {
            told(INDEX, &rules::UNDER_A_PATH, String::new());
        }
        let index = self.writer.index();
        index.entities = self.found.into_values().collect();
        index.name = index.name.take().or(self.home);
        let written = self.writer.finish(self.newest.map(Into::into));
        match written.kept {
            Kept::Everything => {}
            Kept::Addresses => told(INDEX, &rules::INDEX_SIZE, "addresses only".to_owned()),
            Kept::Declared => {
                let detail = "only those that are said to be for something";
                told(INDEX, &rules::INDEX_SIZE, detail.to_owned());
            }
        }
        if free(self.others, self.plan, &[INDEX], stage, told).is_empty() {
            return Ok(());
        }
        let path = stage.fresh();
        fs::write(&path, &written.bytes).at(&path)?;
        put_all(&[INDEX], &path, stage, told)?;
        Ok(())
    }
}

/// Secrets in the owner's words, which leave as pages do (D94): where, and what.
pub(crate) fn secrets(plan: &Plan) -> Vec<(String, String)> {
    let Some(spxi) = declared(plan) else { return Vec::new() };
    let acknowledged = &plan.privacy.acknowledged;
    let mut found = Vec::new();
    let mut look = |place: &str, text: &str| {
        for (kind, mark) in Private::of(text).secrets {
            let is_known = acknowledged.contains(&mark);
            if !is_known {
                found.push((place.to_owned(), format!("{kind}, mark {mark}")));
            }
        }
    };
    look(INDEX, &format!("{:?}", spxi.index));
    for declared in &spxi.entities {
        let name = declared.entity.name.as_deref().unwrap_or_default();
        look(name, &format!("{declared:?}"));
    }
    found
}

/// Which pages of entities are public.
pub(crate) fn public_pages(plan: &Plan, ledger: &Path) -> Result<BTreeSet<String>, BuildError> {
    let mut public = BTreeSet::new();
    let Some(spxi) = declared(plan) else { return Ok(public) };
    let wanted: BTreeSet<String> =
        spxi.entities.iter().map(|declared| page_of(&declared.entity)).collect();
    let mut rows = Rows::open(ledger)?;
    while let Some(row) = rows.next()? {
        if row.is_public() && wanted.contains(&row.url) {
            public.insert(row.url);
        }
    }
    Ok(public)
}

/// A name that the page gives itself, not one made from its text.
fn own_title(meta: &Meta) -> Option<String> {
    let made = rutter_extract::rules::NO_TITLE.code;
    let is_made = meta.findings.iter().any(|(code, _)| code == made);
    Some(meta.title.clone()).filter(|title| !title.is_empty() && !is_made)
}

/// The plan with every entity at the address that the site gives its page:
/// `/a/index.html`, `/a/`, `/a` and `/a.html` may name one file. `None` where
/// the owner wrote these addresses already.
pub(crate) fn with_published_pages(plan: &Plan) -> Result<Option<Plan>, BuildError> {
    let entities = declared(plan).map_or(&[][..], |spxi| &spxi.entities);
    if entities.is_empty() || plan.source == Source::Lines {
        return Ok(None);
    }
    let pages = inventory::pages(plan)?;
    let pages: BTreeSet<&str> = pages.iter().map(|page| page.url.as_str()).collect();
    let ids: BTreeSet<Option<String>> = entities.iter().map(|it| it.entity.id.clone()).collect();
    let mut resolved = plan.clone();
    let mut is_other = false;
    for declared in resolved.spxi.iter_mut().flat_map(|spxi| &mut spxi.entities) {
        let page = page_of(&declared.entity);
        if pages.contains(page.as_str()) {
            continue;
        }
        let bare = page.trim_end_matches('/');
        let bare = bare.strip_suffix("/index.html").or(bare.strip_suffix(".html")).unwrap_or(bare);
        let forms = ["/", "", "/index.html", ".html"].map(|ending| format!("{bare}{ending}"));
        let Some(found) = forms.into_iter().find(|form| pages.contains(form.as_str())) else {
            continue;
        };
        let id = declared.entity.id.as_deref().unwrap_or_default();
        let fragment = id.find('#').and_then(|at| id.get(at..)).unwrap_or_default();
        let id = Some(format!("{found}{fragment}"));
        // Two entities need two addresses.
        if !ids.contains(&id) {
            declared.entity.id = id;
            is_other = true;
        }
    }
    Ok(is_other.then_some(resolved))
}

/// The address of an entity's page, as the ledger writes it.
pub(crate) fn page_of(entity: &Entity) -> String {
    let page = without_fragment(entity.id.as_deref().unwrap_or_default());
    let parsed = rutter_page::PageUrl::parse(page);
    parsed.map_or_else(|_| page.to_owned(), |url| url.key().to_owned())
}

/// What is said of a page: by its own path, else by the longest beginning.
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
    fn ours_the_own_path_counts_then_the_longest_beginning() {
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
