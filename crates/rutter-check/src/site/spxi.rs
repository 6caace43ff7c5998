//! Checks the semantic index and its packets against the site.

use rutter_report::FileKind;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use rutter_extract::{ExtractOptions, html};
use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::survival::MarkerSearch;
use rutter_spxi::{
    CheckInput, Entity, INDEX_FILE, MAX_INDEX_BYTES, MAX_PACKET_BYTES, MarkerStatus, PACKET_FILE,
    PacketSelector, PageFacts, PageLookup, ResourceLookup, SiteEvidence, check_index, check_packet,
    packet_addresses, without_fragment,
};

use super::SiteView;
use super::files::LARGEST_PAGE;
use super::page_signals::{names_of, signals};

rutter_finding::rules! {
    PACKET_ALONE = "XL053" "packet-alone" (advice, "D68") {
        title: "packet does not belong to an entity of the index",
        why: "The packet describes an entity that the index no longer contains.",
        fix: "Delete the packet, or declare the entity.",
        wrong: "`/west/spxi-packet.jsonld`, but no entity at `/west` in the index.",
        right: "One packet for each entity, and no other packets.",
    }
    PACKET_DIFFERS = "XL054" "packet-differs" (advice, "D68") {
        title: "packet and index give the entity different names or types",
        why: "The file that a reader uses decides which value it sees.",
        fix: "Build the site again.",
        wrong: r#"`"spxi:canonicalName": "Nordlicht"` in the packet, `"North Light"` in the index."#,
        right: "The same name in both.",
    }
    PACKET_ABSENT = "XL055" "packet-absent" (warning, "SPX-030") {
        title: "index references a packet that does not exist",
        why: "Readers request the packet and get an error.",
        fix: "Build the site again, or delete the reference.",
        wrong: r#"`"spxi:packetRef": "https://lights.example/north/spxi-packet.jsonld"`, but no such file."#,
        right: "The packet at that URL, or no reference.",
    }
}

/// The minimum number of pages for which a link that all pages lack is reported once.
const MANY_PAGES: usize = 20;

impl SiteView<'_> {
    /// Checks the index, then each packet.
    pub(crate) fn check_spxi(&mut self) {
        let Some((at, index)) = self.machine_files.index.take() else {
            self.check_packets(&[], &CheckInput::default());
            return;
        };
        let Ok(Some(bytes)) = self.files.read(at, MAX_INDEX_BYTES as u64 + 1) else { return };
        let mut file_report =
            crate::blank(self.files.path(at), FileKind::SpxiIndex, &self.options.check_options);
        let has_pages = self.rows.list.iter().any(|row| row.page.is_some());
        let pages = EntityPages::new(self, &index.entities);
        let robots = match &self.machine_files.robots {
            Some((_, robots)) => ResourceLookup::Found(signals(robots)),
            None => self.absent(ResourceKind::Robots, "robots.txt"),
        };
        let root_llms = self.files.at_root(self.home, "llms.txt");
        let llms = self.machine_files.llms.iter().find(|(at, _)| Some(*at) == root_llms);
        let sitemap = if self.machine_files.sitemaps.files.is_empty() {
            self.absent(ResourceKind::Sitemap, "sitemap.xml")
        } else if self.machine_files.sitemaps.is_cut {
            ResourceLookup::NotChecked
        } else {
            ResourceLookup::Found(
                self.machine_files.sitemaps.listed.iter().map(|(_, it)| it.clone()).collect(),
            )
        };
        let given = CheckInput {
            address: None,
            types: &self.options.types,
            now: self.options.check_options.now,
            site: SiteEvidence {
                sitemap,
                foreign: self
                    .machine_files
                    .sitemaps
                    .foreign
                    .iter()
                    .map(|(_, line, name)| (*line, name.clone()))
                    .collect(),
                robots: if self.home.is_none_or(super::SiteBase::is_root) {
                    robots
                } else {
                    ResourceLookup::NotChecked
                },
                llms: llms.map_or_else(
                    || self.absent(ResourceKind::Llms, "llms.txt"),
                    |(_, text)| ResourceLookup::Found(text.clone()),
                ),
                pages: (self.home.is_some() && has_pages).then_some(&pages as &dyn PageLookup),
            },
        };
        match check_index(&bytes, &given, &mut file_report.report) {
            Ok(judged) => file_report.entries = Some(judged.index.entities.len() as u64),
            Err(refusal) => {
                file_report.refused = Some(refusal.rule);
                file_report.report.report(Finding::from(refusal));
            }
        }
        let options = self.options;
        let alone = CheckInput {
            types: &options.types,
            now: options.check_options.now,
            ..CheckInput::default()
        };
        self.findings.add_report(file_report);
        self.check_packets(&index.entities, &alone);
        self.machine_files.index = Some((at, index));
    }

    /// Returns the result of looking up a file that was not read.
    fn absent<T>(&self, what: ResourceKind, name: &str) -> ResourceLookup<T> {
        if self.files.may_be_more(what) {
            return ResourceLookup::NotChecked;
        }
        ResourceLookup::Unreachable(format!("{name} does not exist"))
    }

    /// Checks the packets that entities reference, then all other packets.
    fn check_packets(&mut self, entities: &[Entity], given: &CheckInput<'_>) {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let index = self.files.at_root(self.home, INDEX_FILE);
        for (n, entity) in entities.iter().enumerate() {
            let Some(home) = self.home else { break };
            // Of a live site only some packets are fetched, and failed requests were reported
            // already.
            if let (Some(packet), Some(index)) = (&entity.packet_ref, index)
                && !self.files.is_live()
                && self.is_own(packet)
                && self.files.resolve(home, packet).is_none()
            {
                let pointer = format!("/spxi:hasEntity/{n}/spxi:packetRef");
                let place = Place { line: None, pointer };
                self.findings.add(index, Finding::new(&PACKET_ABSENT, place, quoted(packet)));
            }
            let addresses = packet_addresses(entity, None);
            let found = addresses
                .iter()
                .find_map(|url| Some((url.as_str(), self.files.resolve(home, url)?)));
            let Some((url, at)) = found.filter(|(_, at)| !seen.contains(at)) else { continue };
            seen.insert(at);
            let asked = PacketSelector { page: entity.id.as_deref(), packet: Some(url) };
            self.check_packet(at, &asked, given, Some(entity));
        }
        let all: Vec<u32> = self
            .files
            .iter()
            .filter(|(_, file)| file.path.rsplit('/').next() == Some(PACKET_FILE))
            .map(|(at, _)| at)
            .collect();
        for at in all.into_iter().filter(|at| !seen.contains(at)) {
            self.check_packet(at, &PacketSelector::default(), given, None);
            if index.is_some() {
                self.findings.add(at, Finding::new(&PACKET_ALONE, Place::WHOLE, ""));
            }
        }
    }

    fn check_packet(
        &mut self,
        at: u32,
        asked: &PacketSelector<'_>,
        given: &CheckInput<'_>,
        entity: Option<&Entity>,
    ) {
        let bytes = match self.files.read(at, MAX_PACKET_BYTES as u64 + 1) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return self.unreadable(at, &error),
        };
        let mut file_report =
            crate::blank(self.files.path(at), FileKind::SpxiPacket, &self.options.check_options);
        match check_packet(&bytes, asked, given, &mut file_report.report) {
            Ok(packet) => {
                file_report.entries = Some(packet.about.len() as u64);
                let own = entity
                    .and_then(|entity| packet.about.iter().find(|about| about.id == entity.id));
                if let (Some(own), Some(entity)) = (own, entity) {
                    let mut differs =
                        |what: &str, ours: &Option<String>, theirs: &Option<String>| {
                            if let (Some(ours), Some(theirs)) = (ours, theirs)
                                && ours != theirs
                            {
                                let detail = format!(
                                    "{what} {}, the index has {}",
                                    quoted(ours),
                                    quoted(theirs)
                                );
                                file_report.report.report(Finding::new(
                                    &PACKET_DIFFERS,
                                    Place::WHOLE,
                                    detail,
                                ));
                            }
                        };
                    differs("name", &own.name, &entity.name);
                    differs("type", &own.entity_type, &entity.entity_type);
                }
            }
            Err(refusal) => {
                file_report.refused = Some(refusal.rule);
                file_report.report.report(Finding::from(refusal));
            }
        }
        self.findings.add_report(file_report);
    }
}

/// Finds the pages of entities. A page with several entities is read only once.
struct EntityPages<'p, 'v> {
    view: &'p SiteView<'v>,
    asked: HashMap<u32, PageQueries<'p>>,
    seen: RefCell<HashMap<u32, Option<Rc<EntityPage>>>>,
}

/// The fragments and markers of entities that are searched on one page.
#[derive(Default)]
struct PageQueries<'p> {
    fragments: BTreeSet<&'p str>,
    markers: BTreeSet<&'p str>,
}

/// The data of a page that the checks of its entities need.
struct EntityPage {
    moved_to: Option<String>,
    fragments: Arc<BTreeSet<String>>,
    markers: HashMap<String, MarkerStatus>,
}

impl<'p, 'v> EntityPages<'p, 'v> {
    fn new(view: &'p SiteView<'v>, entities: &'p [Entity]) -> Self {
        let mut asked: HashMap<u32, PageQueries<'p>> = HashMap::new();
        for entity in entities {
            let id = entity.id.as_deref().unwrap_or_default();
            let (url, fragment) = id.split_once('#').unwrap_or((id, ""));
            let row = view.home.and_then(|home| view.rows.find(view.files, home, url));
            let Some(row) = row else { continue };
            let of_page = asked.entry(row).or_default();
            of_page.fragments.insert(fragment);
            of_page.markers.extend(entity.markers.iter().map(String::as_str));
        }
        Self { view, asked, seen: RefCell::default() }
    }

    fn page(&self, url: &str) -> Option<Rc<EntityPage>> {
        let view = self.view;
        let row = view.rows.find(view.files, view.home?, url)?;
        if let Some(seen) = self.seen.borrow().get(&row) {
            return seen.clone();
        }
        let seen = self.read(row, url).map(Rc::new);
        self.seen.borrow_mut().insert(row, seen.clone());
        seen
    }

    fn read(&self, at: u32, url: &str) -> Option<EntityPage> {
        let nothing = PageQueries::default();
        let asked = self.asked.get(&at).unwrap_or(&nothing);
        let row = self.view.rows.get(at)?;
        let bytes = self.view.files.read(row.file?, LARGEST_PAGE).ok().flatten()?;
        let names = names_of(&String::from_utf8_lossy(&bytes));
        let is_asked = |name: &String| asked.fragments.contains(name.as_str());
        let url = PageUrl::parse(without_fragment(url).to_owned()).ok()?;
        let now =
            self.view.options.check_options.now.or_else(|| Timestamp::from_unix_seconds(0))?;
        let seen = html(&bytes, &ExtractOptions::new(url, now));
        let shown = seen.shown_text();
        let metas = seen.facts.metas.iter().map(|(_, content)| content.as_str());
        let places = rutter_spxi::survival::PageTexts {
            visible: &shown,
            metas: metas.chain([seen.page.title.as_ref()]).collect(),
            json_ld: seen.facts.json_ld.iter().map(String::as_str).collect(),
        };
        let ids: Vec<usize> = (0..asked.markers.len()).collect();
        let statuses = MarkerSearch::new(asked.markers.iter().copied()).classify(&ids, &places);
        let refresh = row.page.as_ref().and_then(|page| page.head.refresh.as_deref());
        Some(EntityPage {
            moved_to: refresh.map(str::to_owned),
            fragments: Arc::new(names.into_iter().filter(is_asked).collect()),
            markers: asked.markers.iter().map(|it| (*it).to_owned()).zip(statuses).collect(),
        })
    }
}

impl PageLookup for EntityPages<'_, '_> {
    fn look(&self, url: &str) -> ResourceLookup<PageFacts> {
        let key = PageUrl::parse(url).map(|url| url.key().to_owned()).unwrap_or_default();
        if !self.view.is_own(&key) {
            return ResourceLookup::NotChecked;
        }
        let Some(page) = self.page(url) else {
            if self.view.files.is_live() {
                return ResourceLookup::NotChecked;
            }
            return ResourceLookup::Unreachable("no such file in the folder".to_owned());
        };
        ResourceLookup::Found(PageFacts {
            moved_to: page.moved_to.clone(),
            fragments: Some(Arc::clone(&page.fragments)),
        })
    }

    fn markers(&self, url: &str, markers: &[String]) -> Option<Vec<MarkerStatus>> {
        let page = self.page(url)?;
        let status = |marker| page.markers.get(marker).cloned().unwrap_or(MarkerStatus::Absent);
        Some(markers.iter().map(status).collect())
    }

    fn head_links(&self) -> Option<Vec<(String, bool)>> {
        let rows = &self.view.rows.list;
        // Only pages that the sitemap lists need a link to the index.
        let has_sitemap = !self.view.machine_files.sitemaps.files.is_empty();
        let named = rows.iter().filter(|row| !has_sitemap || row.listed.is_some());
        let named = named.filter(|row| self.view.closed(row).is_none());
        let links = named
            .filter_map(|row| Some((row.url.to_string(), row.page.as_ref()?.head.links_index)));
        let links: Vec<(String, bool)> = links.collect();
        // If all pages lack the link, report this once.
        if MANY_PAGES < links.len() && links.iter().all(|(_, has_link)| !has_link) {
            return Some(links.into_iter().take(1).collect());
        }
        Some(links)
    }
}
