//! Decides in which section of llms.txt a page is listed, and where in it.
//!
//! Input: the navigation of the home page, the sections of collections, and the addresses of all
//! public pages. Output: a [`Place`] for each page. Memory grows with the navigation, which is
//! bounded, and not with the number of pages.

use std::collections::BTreeMap;

use rutter_extract::NavLink;

use super::side_pages::SidePages;
use crate::inventory;
use crate::plan::Base;
use crate::section::{MAIN, Sections};

/// Sections of llms.txt at most; pages of further ones are listed with the others.
const MOST_SECTIONS: usize = 64;
/// Pages that a section needs.
const FEWEST: usize = 2;

/// The place of a page that the navigation does not link to.
const UNRANKED: u32 = u32::MAX;

/// Where a page is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Which of [`Outline::sections`].
    pub(super) section: usize,
    /// Its place in the navigation.
    pub(super) rank: u32,
}

/// What the pages of a section have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The home page and pages that the navigation links to.
    Main,
    /// A group of the navigation, or a folder.
    Own,
    /// Pages that belong to no section.
    More,
    /// Lists of other pages, and old versions.
    Optional,
}

/// A section of llms.txt.
#[derive(Debug, Clone)]
pub(super) struct OutlineSection {
    pub(super) kind: Kind,
    /// What the navigation calls it.
    label: Option<String>,
    /// The title of its index page.
    index_title: Option<String>,
    /// The folder whose pages it lists, below the site.
    pub(super) folder: Option<String>,
    rank: u32,
    n_pages: usize,
}

/// The sections of llms.txt, in the order in which they are written.
#[derive(Debug)]
pub(super) struct Outline {
    base: Base,
    pub(super) sections: Vec<OutlineSection>,
    /// Place in the navigation and section of pages, by their paths.
    links: BTreeMap<String, (u32, Option<usize>)>,
    /// Sections of folders.
    folders: BTreeMap<String, usize>,
    side: SidePages,
}

impl Outline {
    pub(super) fn new(base: &Base, sections: &Sections, links: &[NavLink]) -> Self {
        let fixed = [Kind::Main, Kind::More, Kind::Optional];
        let mut outline = Self {
            base: base.clone(),
            sections: fixed.map(OutlineSection::new).into(),
            links: BTreeMap::new(),
            folders: BTreeMap::new(),
            side: SidePages::default(),
        };
        outline.take_links(links);
        for name in sections.names().into_iter().filter(|name| *name != MAIN) {
            let prefix = sections.prefix(name).and_then(|it| it.strip_prefix(base.path()));
            let Some(folder) = prefix.map(|it| it.trim_end_matches('/')) else { continue };
            if !outline.folders.contains_key(folder)
                && let Some(at) = outline.add(None, UNRANKED)
            {
                outline.folders.insert(folder.to_owned(), at);
                outline.give_folder(at, folder);
            }
        }
        outline
    }

    fn take_links(&mut self, links: &[NavLink]) {
        let mut titles: BTreeMap<String, usize> = BTreeMap::new();
        // Folders whose links are all in one group.
        let mut grouped: BTreeMap<String, Option<usize>> = BTreeMap::new();
        for (rank, link) in (1..).zip(links) {
            let Some(path) = path_of(&self.base, &link.href).filter(|path| !path.is_empty()) else {
                continue;
            };
            let title = link.group.as_deref().unwrap_or(&link.text);
            let at = match titles.get(&title.to_lowercase()) {
                Some(at) => Some(*at),
                None if title.is_empty() => None,
                None => self.add(Some(title), rank),
            };
            titles.extend(at.map(|at| (title.to_lowercase(), at)));
            let entry = self.links.entry(path.clone()).or_insert((rank, None));
            let Some(at) = at else { continue };
            if link.group.is_some() {
                entry.1.get_or_insert(at);
                let folder = path.rsplit_once('/').map_or(path.as_str(), |(folder, _)| folder);
                let known = grouped.entry(folder.to_owned()).or_insert(Some(at));
                *known = known.filter(|known| *known == at);
            } else {
                self.folders.entry(path.clone()).or_insert(at);
                self.give_folder(at, &path);
            }
        }
        for (folder, at) in grouped {
            if let Some(at) = at {
                self.folders.entry(folder).or_insert(at);
            }
        }
    }

    fn add(&mut self, label: Option<&str>, rank: u32) -> Option<usize> {
        let at = self.sections.len();
        let label = label.map(str::to_owned);
        (at < MOST_SECTIONS).then(|| {
            self.sections.push(OutlineSection { label, rank, ..OutlineSection::new(Kind::Own) });
            at
        })
    }

    fn give_folder(&mut self, at: usize, folder: &str) {
        if let Some(section) = self.sections.get_mut(at) {
            section.folder.get_or_insert_with(|| folder.to_owned());
        }
    }

    /// Takes note of a page, before any is listed.
    pub(super) fn note(&mut self, url: &str) {
        let Some(path) = path_of(&self.base, url) else { return };
        self.side.note(&path);
        let at = self.raw_place(&path).section;
        if let Some(section) = self.sections.get_mut(at) {
            section.n_pages += 1;
        }
    }

    /// Whether all pages have to be compared with versions.
    pub(super) fn has_versions(&self) -> bool {
        self.side.has_versions()
    }

    /// Compares a page with the versions.
    pub(super) fn compare(&mut self, url: &str) {
        if let Some(path) = path_of(&self.base, url) {
            self.side.compare(&path);
        }
    }

    /// Settles the sections once all pages are noted: small ones dissolve, the others are put in
    /// the order of the navigation.
    pub(super) fn settle(&mut self) {
        let links = &self.links;
        self.side.judge(&|folder| {
            let is_inside = |path: &String| {
                path.strip_prefix(folder)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            links.keys().any(is_inside)
        });
        let is_kept =
            |section: &OutlineSection| section.kind != Kind::Own || FEWEST <= section.n_pages;
        let mut order: Vec<usize> = (0..self.sections.len()).collect();
        order.retain(|at| self.sections.get(*at).is_some_and(is_kept));
        let key = |at: &usize| {
            let section = self.sections.get(*at);
            section.map(|it| (it.kind as u8, it.rank, it.folder.clone(), *at))
        };
        order.sort_by_key(key);
        let new: BTreeMap<usize, usize> =
            order.iter().enumerate().map(|(to, at)| (*at, to)).collect();
        self.folders.retain(|_, at| new.get(at).map(|to| *at = *to).is_some());
        for (_, at) in self.links.values_mut() {
            *at = at.and_then(|at| new.get(&at).copied());
        }
        self.sections = order.iter().filter_map(|at| self.sections.get(*at).cloned()).collect();
        // A navigation that leads nowhere tells nothing of the rest.
        let has_own = self.sections.iter().any(|section| section.kind == Kind::Own);
        let n_main = self.sections.first().map_or(0, |main| main.n_pages);
        if !has_own && n_main <= 1 {
            self.links.clear();
        }
    }

    /// Where a page is listed, once the sections are settled.
    pub(super) fn place(&self, url: &str) -> Place {
        let path = path_of(&self.base, url).unwrap_or_default();
        let place = self.raw_place(&path);
        if self.side.has(&path) {
            return Place { section: self.first(Kind::Optional), ..place };
        }
        place
    }

    fn raw_place(&self, path: &str) -> Place {
        if path.is_empty() {
            return Place { section: self.first(Kind::Main), rank: 0 };
        }
        let (rank, section) = self.links.get(path).copied().unwrap_or((UNRANKED, None));
        let section = section.or_else(|| {
            let mut folder = path;
            loop {
                if let Some(at) = self.folders.get(folder) {
                    return Some(*at);
                }
                (folder, _) = folder.rsplit_once('/')?;
            }
        });
        let is_main = rank != UNRANKED || self.links.is_empty();
        let other = if is_main { Kind::Main } else { Kind::More };
        Place { section: section.unwrap_or_else(|| self.first(other)), rank }
    }

    fn first(&self, kind: Kind) -> usize {
        self.sections.iter().position(|section| section.kind == kind).unwrap_or(0)
    }

    /// Learns the title of a section from its index page.
    pub(super) fn learn_title(&mut self, url: &str, title: &str) {
        let Some(path) = path_of(&self.base, url) else { return };
        let section = self.folders.get(&path).and_then(|at| self.sections.get_mut(*at));
        if let Some(section) = section.filter(|it| it.folder.as_ref() == Some(&path)) {
            section.index_title = Some(title.to_owned());
        }
    }
}

impl OutlineSection {
    fn new(kind: Kind) -> Self {
        Self { kind, label: None, index_title: None, folder: None, rank: UNRANKED, n_pages: 0 }
    }

    /// The heading of the section; `site` is the name of the site, which titles often end with.
    pub(super) fn title(&self, site: &str) -> String {
        let title = match self.kind {
            Kind::Main => return "Pages".to_owned(),
            Kind::More => return "More pages".to_owned(),
            Kind::Optional => return "Optional".to_owned(),
            Kind::Own => self.label.as_deref().or(self.index_title.as_deref()).unwrap_or_default(),
        };
        let title = without_site(title, site);
        if title.is_empty() {
            return readable(self.folder.as_deref().unwrap_or_default());
        }
        // Readers skip a section of this name.
        if title.eq_ignore_ascii_case("optional") {
            format!("{title} pages")
        } else {
            title.to_owned()
        }
    }
}

/// A title without the name of the site behind it: `Guide | Site`.
fn without_site<'t>(title: &'t str, site: &str) -> &'t str {
    let rest = title.strip_suffix(site).filter(|_| !site.is_empty()).map(str::trim_end);
    let rest =
        rest.and_then(|rest| rest.strip_suffix(['|', '-', '–', '—', '·', ':', '•', '/', '»']));
    rest.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or_else(|| title.trim())
}

/// The last segment of a folder as a heading: `sea-charts` becomes `Sea charts`.
fn readable(folder: &str) -> String {
    let name = inventory::decoded(folder.rsplit('/').next().unwrap_or_default());
    let words = name.replace(['-', '_', '+'], " ");
    let mut chars = words.trim().chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => "Pages".to_owned(),
    }
}

/// The path of a page below the site, however its address is written: `guide/a` for `guide/a/`,
/// `guide/a.html` and `guide/a/index.html`. `None` for addresses outside the site.
fn path_of(base: &Base, url: &str) -> Option<String> {
    let url = url.split('#').next().unwrap_or_default();
    let (url, query) = url.split_once('?').map_or((url, None), |(url, query)| (url, Some(query)));
    let inside = match base.strip(url) {
        Some(inside) => inside,
        None if base.as_str().strip_suffix('/') == Some(url) => "",
        None => return None,
    };
    let endings = [".html", ".htm", ".xhtml"];
    let stem = endings.iter().find_map(|ending| inside.strip_suffix(ending)).unwrap_or(inside);
    let stem = if stem.len() == inside.len() {
        stem
    } else if stem == "index" {
        ""
    } else {
        stem.strip_suffix("/index").unwrap_or(stem)
    };
    let stem = stem.trim_end_matches('/');
    Some(query.map_or_else(|| stem.to_owned(), |query| format!("{stem}?{query}")))
}
