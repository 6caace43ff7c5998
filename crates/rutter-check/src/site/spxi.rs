//! Judges the semantic index and its packets with the site they describe.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use rutter_extract::{Options, html};
use rutter_fetch::What;
use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::{
    Asked, Entity, Given, INDEX, LARGEST_INDEX, LARGEST_PACKET, Look, MarkerStatus, PACKET,
    PageFacts, Pages, Site, judge_index, judge_packet, packet_addresses, without_fragment,
};
use rutter_survival::Markers;

use super::View;
use super::files::LARGEST_PAGE;
use super::told::{names_of, signals};
use crate::{Kind, rules};

/// Pages beyond which a link that no page has is told once.
const MANY_PAGES: usize = 20;

impl View<'_> {
    /// Judges the index, then each packet.
    pub(crate) fn judge_spxi(&mut self) {
        let Some((at, index)) = self.machine.index.take() else {
            self.judge_packets(&[], &Given::default());
            return;
        };
        let Ok(Some(bytes)) = self.files.read(at, LARGEST_INDEX as u64 + 1) else { return };
        let mut judgement =
            crate::blank(self.files.path(at), Kind::SpxiIndex, &self.judging.judging);
        let has_pages = self.rows.list.iter().any(|row| row.page.is_some());
        let pages = ViewPages::new(self, &index.entities);
        let robots = match &self.machine.robots {
            Some((_, robots)) => Look::Found(signals(robots)),
            None => self.absent(What::Robots, "robots.txt"),
        };
        let root_llms = self.files.at_root(self.home, "llms.txt");
        let llms = self.machine.llms.iter().find(|(at, _)| Some(*at) == root_llms);
        let sitemap = if self.machine.sitemaps.is_empty() {
            self.absent(What::Sitemap, "sitemap.xml")
        } else if self.machine.is_cut {
            Look::NotChecked
        } else {
            Look::Found(self.machine.listed.iter().map(|(_, it)| it.clone()).collect())
        };
        let given = Given {
            address: None,
            types: &self.judging.types,
            now: self.judging.judging.now,
            site: Site {
                sitemap,
                foreign: self
                    .machine
                    .foreign
                    .iter()
                    .map(|(_, line, name)| (*line, name.clone()))
                    .collect(),
                robots: if self.home.is_none_or(super::Home::is_root) {
                    robots
                } else {
                    Look::NotChecked
                },
                llms: llms.map_or_else(
                    || self.absent(What::Llms, "llms.txt"),
                    |(_, text)| Look::Found(text.clone()),
                ),
                pages: (self.home.is_some() && has_pages).then_some(&pages as &dyn Pages),
            },
        };
        match judge_index(&bytes, &given, &mut judgement.report) {
            Ok(judged) => judgement.entries = Some(judged.index.entities.len() as u64),
            Err(refusal) => {
                judgement.refused = Some(refusal.rule);
                judgement.report.report(Finding::from(refusal));
            }
        }
        let judging = self.judging;
        let alone = Given { types: &judging.types, now: judging.judging.now, ..Given::default() };
        self.book.enter(judgement);
        self.judge_packets(&index.entities, &alone);
        self.machine.index = Some((at, index));
    }

    /// What is to be said of a file that is not among those that were read.
    fn absent<T>(&self, what: What, name: &str) -> Look<T> {
        if self.files.may_be_more(what) {
            return Look::NotChecked;
        }
        Look::Unreachable(format!("there is no {name}"))
    }

    /// Judges the packets that entities lead to, then those nobody leads to.
    fn judge_packets(&mut self, entities: &[Entity], given: &Given<'_>) {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let index = self.files.at_root(self.home, INDEX);
        for (n, entity) in entities.iter().enumerate() {
            let Some(home) = self.home else { break };
            // Of a live site only some are asked for; what failed is told where it failed.
            if let (Some(packet), Some(index)) = (&entity.packet_ref, index)
                && !self.files.is_live()
                && self.is_own(packet)
                && self.files.resolve(home, packet).is_none()
            {
                let pointer = format!("/spxi:hasEntity/{n}/spxi:packetRef");
                let place = Place { line: None, pointer };
                self.book.say(index, Finding::new(&rules::PACKET_ABSENT, place, quoted(packet)));
            }
            let addresses = packet_addresses(entity, None);
            let found = addresses
                .iter()
                .find_map(|url| Some((url.as_str(), self.files.resolve(home, url)?)));
            let Some((url, at)) = found.filter(|(_, at)| !seen.contains(at)) else { continue };
            seen.insert(at);
            let asked = Asked { page: entity.id.as_deref(), packet: Some(url) };
            self.judge_packet(at, &asked, given, Some(entity));
        }
        let all: Vec<u32> = self
            .files
            .iter()
            .filter(|(_, file)| file.path.rsplit('/').next() == Some(PACKET))
            .map(|(at, _)| at)
            .collect();
        for at in all.into_iter().filter(|at| !seen.contains(at)) {
            self.judge_packet(at, &Asked::default(), given, None);
            if index.is_some() {
                self.book.say(at, Finding::new(&rules::PACKET_ALONE, Place::WHOLE, ""));
            }
        }
    }

    fn judge_packet(
        &mut self,
        at: u32,
        asked: &Asked<'_>,
        given: &Given<'_>,
        entity: Option<&Entity>,
    ) {
        let bytes = match self.files.read(at, LARGEST_PACKET as u64 + 1) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return self.unreadable(at, &error),
        };
        let mut judgement =
            crate::blank(self.files.path(at), Kind::SpxiPacket, &self.judging.judging);
        match judge_packet(&bytes, asked, given, &mut judgement.report) {
            Ok(packet) => {
                judgement.entries = Some(packet.about.len() as u64);
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
                                judgement.report.report(Finding::new(
                                    &rules::PACKET_DIFFERS,
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
                judgement.refused = Some(refusal.rule);
                judgement.report.report(Finding::from(refusal));
            }
        }
        self.book.enter(judgement);
    }
}

/// Finds pages among the rows. A page is read once, however many entities stand
/// on it.
struct ViewPages<'p, 'v> {
    view: &'p View<'v>,
    asked: HashMap<u32, AskedOf<'p>>,
    seen: RefCell<HashMap<u32, Option<Rc<EntityPage>>>>,
}

/// What the entities of a page ask of it.
#[derive(Default)]
struct AskedOf<'p> {
    fragments: BTreeSet<&'p str>,
    markers: BTreeSet<&'p str>,
}

/// What was found of that.
struct EntityPage {
    moved_to: Option<String>,
    fragments: Arc<BTreeSet<String>>,
    markers: HashMap<String, MarkerStatus>,
}

impl<'p, 'v> ViewPages<'p, 'v> {
    fn new(view: &'p View<'v>, entities: &'p [Entity]) -> Self {
        let mut asked: HashMap<u32, AskedOf<'p>> = HashMap::new();
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
        let nothing = AskedOf::default();
        let asked = self.asked.get(&at).unwrap_or(&nothing);
        let row = self.view.rows.get(at)?;
        let bytes = self.view.files.read(row.file?, LARGEST_PAGE).ok().flatten()?;
        let names = names_of(&String::from_utf8_lossy(&bytes));
        let is_asked = |name: &String| asked.fragments.contains(name.as_str());
        let url = PageUrl::parse(without_fragment(url).to_owned()).ok()?;
        let now = self.view.judging.judging.now.or_else(|| Timestamp::from_unix_seconds(0))?;
        let seen = html(&bytes, &Options::new(url, now));
        let shown = seen.shown_text();
        let metas = seen.facts.metas.iter().map(|(_, content)| content.as_str());
        let places = rutter_survival::Places {
            visible: &shown,
            metas: metas.chain([seen.page.title.as_ref()]).collect(),
            json_ld: seen.facts.json_ld.iter().map(String::as_str).collect(),
        };
        let ids: Vec<usize> = (0..asked.markers.len()).collect();
        let statuses = Markers::new(asked.markers.iter().copied()).look(&ids, &places);
        let refresh = row.page.as_ref().and_then(|page| page.refresh.as_deref());
        Some(EntityPage {
            moved_to: refresh.map(str::to_owned),
            fragments: Arc::new(names.into_iter().filter(is_asked).collect()),
            markers: asked.markers.iter().map(|it| (*it).to_owned()).zip(statuses).collect(),
        })
    }
}

impl Pages for ViewPages<'_, '_> {
    fn look(&self, url: &str) -> Look<PageFacts> {
        let key = PageUrl::parse(url).map(|url| url.key().to_owned()).unwrap_or_default();
        if !self.view.is_own(&key) {
            return Look::NotChecked;
        }
        let Some(page) = self.page(url) else {
            if self.view.files.is_live() {
                return Look::NotChecked;
            }
            return Look::Unreachable("the folder has no such file".to_owned());
        };
        Look::Found(PageFacts {
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
        // Pages that the sitemap does not name are not meant to be found.
        let has_sitemap = !self.view.machine.sitemaps.is_empty();
        let named = rows.iter().filter(|row| !has_sitemap || row.listed.is_some());
        let named = named.filter(|row| self.view.closed(row).is_none());
        let links =
            named.filter_map(|row| Some((row.url.to_string(), row.page.as_ref()?.links_index)));
        let links: Vec<(String, bool)> = links.collect();
        // Whoever put the link into no page at all is told once.
        if MANY_PAGES < links.len() && links.iter().all(|(_, has_link)| !has_link) {
            return Some(links.into_iter().take(1).collect());
        }
        Some(links)
    }
}
