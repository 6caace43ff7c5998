//! Assigns pages to the sections of llms.txt.
//!
//! Input: the navigation of the home page, the sections of collections, and the URLs of all public
//! pages. Output: a [`PagePlace`] for each page. Memory is bounded by the size of the navigation
//! and does not grow with the number of pages.

use std::collections::BTreeMap;

use rutter_extract::NavLink;
use rutter_site::{MAIN, Sections};

use super::side_pages::SidePages;
use crate::address;
use crate::plan::BaseUrl;

/// Maximum number of sections of llms.txt. Pages of further sections are listed under `Pages` or
/// `More pages`.
const MAX_SECTIONS: usize = 64;
/// Minimum number of pages for which a navigation group or folder becomes a section.
const MIN_PAGES: usize = 2;

/// Rank of a page that has no link in the navigation.
const UNRANKED: u32 = u32::MAX;

/// Section of llms.txt that lists a page, and the rank of the page in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PagePlace {
    /// Index of the page's section in [`Outline::sections`].
    pub(super) section: usize,
    /// Position of the page's link in the navigation.
    pub(super) rank: u32,
}

/// Kind of a section of llms.txt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    /// The section of the home page and of linked pages without a group, headed `Pages`.
    Main,
    /// The section of a navigation group or of a folder, with its own heading.
    Own,
    /// The section of pages that belong to no other section, headed `More pages`.
    More,
    /// The section of list pages and old versions, headed `Optional`.
    Optional,
}

/// One section of llms.txt.
#[derive(Debug, Clone)]
pub(super) struct OutlineSection {
    pub(super) kind: SectionKind,
    /// Label of the section in the navigation.
    label: Option<String>,
    /// Title of the section's index page.
    index_title: Option<String>,
    /// Path of the folder whose pages the section lists, relative to the base URL.
    pub(super) folder: Option<String>,
    rank: u32,
    n_pages: usize,
}

/// The sections of llms.txt in the order of output.
#[derive(Debug)]
pub(super) struct Outline {
    base: BaseUrl,
    pub(super) sections: Vec<OutlineSection>,
    /// Rank and section of each page that has a link in the navigation, by path.
    links: BTreeMap<String, (u32, Option<usize>)>,
    /// Index of a folder's section in `sections`, by path of the folder.
    folders: BTreeMap<String, usize>,
    side: SidePages,
}

impl Outline {
    pub(super) fn new(base: &BaseUrl, sections: &Sections, links: &[NavLink]) -> Self {
        let fixed = [SectionKind::Main, SectionKind::More, SectionKind::Optional];
        let mut outline = Self {
            base: base.clone(),
            sections: fixed.map(OutlineSection::new).into(),
            links: BTreeMap::new(),
            folders: BTreeMap::new(),
            side: SidePages::default(),
        };
        outline.add_links(links);
        for name in sections.names().into_iter().filter(|name| *name != MAIN) {
            let prefix = sections.prefix(name).and_then(|it| it.strip_prefix(base.path()));
            let Some(folder) = prefix.map(|it| it.trim_end_matches('/')) else { continue };
            if !outline.folders.contains_key(folder)
                && let Some(at) = outline.add(None, UNRANKED)
            {
                outline.folders.insert(folder.to_owned(), at);
                outline.set_folder(at, folder);
            }
        }
        outline
    }

    fn add_links(&mut self, links: &[NavLink]) {
        let mut titles: BTreeMap<String, usize> = BTreeMap::new();
        // Navigation group of each folder; `None` if links to the folder are in several groups.
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
                self.set_folder(at, &path);
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
        (at < MAX_SECTIONS).then(|| {
            self.sections.push(OutlineSection {
                label,
                rank,
                ..OutlineSection::new(SectionKind::Own)
            });
            at
        })
    }

    fn set_folder(&mut self, at: usize, folder: &str) {
        if let Some(section) = self.sections.get_mut(at) {
            section.folder.get_or_insert_with(|| folder.to_owned());
        }
    }

    /// Counts a page for the size of its section, before the sections are fixed.
    pub(super) fn count(&mut self, url: &str) {
        let Some(path) = path_of(&self.base, url) else { return };
        self.side.record(&path);
        let at = self.place_by_path(&path).section;
        if let Some(section) = self.sections.get_mut(at) {
            section.n_pages += 1;
        }
    }

    /// Returns whether the site has version folders, with which all pages must then be compared.
    pub(super) fn has_versions(&self) -> bool {
        self.side.has_versions()
    }

    /// Compares the path of a page with the paths in the version folders.
    pub(super) fn compare(&mut self, url: &str) {
        if let Some(path) = path_of(&self.base, url) {
            self.side.compare(&path);
        }
    }

    /// Fixes the sections after all pages are counted: removes small sections and sorts the other
    /// sections in the order of the navigation.
    pub(super) fn finish_sections(&mut self) {
        let links = &self.links;
        self.side.find_old_versions(&|folder| {
            let is_inside = |path: &String| {
                path.strip_prefix(folder)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            links.keys().any(is_inside)
        });
        let is_kept = |section: &OutlineSection| {
            section.kind != SectionKind::Own || MIN_PAGES <= section.n_pages
        };
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
        // A navigation without links to pages of the site says nothing about their order.
        let has_own = self.sections.iter().any(|section| section.kind == SectionKind::Own);
        let n_main = self.sections.first().map_or(0, |main| main.n_pages);
        if !has_own && n_main <= 1 {
            self.links.clear();
        }
    }

    /// Returns the section and rank of a page. [`Self::finish_sections`] must have been called
    /// before.
    pub(super) fn place(&self, url: &str) -> PagePlace {
        let path = path_of(&self.base, url).unwrap_or_default();
        let place = self.place_by_path(&path);
        if self.side.has(&path) {
            return PagePlace { section: self.first(SectionKind::Optional), ..place };
        }
        place
    }

    fn place_by_path(&self, path: &str) -> PagePlace {
        if path.is_empty() {
            return PagePlace { section: self.first(SectionKind::Main), rank: 0 };
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
        let other = if is_main { SectionKind::Main } else { SectionKind::More };
        PagePlace { section: section.unwrap_or_else(|| self.first(other)), rank }
    }

    fn first(&self, kind: SectionKind) -> usize {
        self.sections.iter().position(|section| section.kind == kind).unwrap_or(0)
    }

    /// Stores the title of a page if the page is the index page of a section.
    pub(super) fn learn_title(&mut self, url: &str, title: &str) {
        let Some(path) = path_of(&self.base, url) else { return };
        let section = self.folders.get(&path).and_then(|at| self.sections.get_mut(*at));
        if let Some(section) = section.filter(|it| it.folder.as_ref() == Some(&path)) {
            section.index_title = Some(title.to_owned());
        }
    }
}

impl OutlineSection {
    fn new(kind: SectionKind) -> Self {
        Self { kind, label: None, index_title: None, folder: None, rank: UNRANKED, n_pages: 0 }
    }

    /// Returns the heading of the section. `site` is the title of the home page, which is removed
    /// from the end of other titles.
    pub(super) fn title(&self, site: &str) -> String {
        let title = match self.kind {
            SectionKind::Main => return "Pages".to_owned(),
            SectionKind::More => return "More pages".to_owned(),
            SectionKind::Optional => return "Optional".to_owned(),
            SectionKind::Own => {
                self.label.as_deref().or(self.index_title.as_deref()).unwrap_or_default()
            }
        };
        let title = without_site(title, site);
        if title.is_empty() {
            return readable(self.folder.as_deref().unwrap_or_default());
        }
        // The llms.txt format lets readers skip a section named `Optional`, so the heading must
        // differ.
        if title.eq_ignore_ascii_case("optional") {
            format!("{title} pages")
        } else {
            title.to_owned()
        }
    }
}

/// Removes the name of the site from the end of a title such as `Guide | Site`.
fn without_site<'t>(title: &'t str, site: &str) -> &'t str {
    let rest = title.strip_suffix(site).filter(|_| !site.is_empty()).map(str::trim_end);
    let rest =
        rest.and_then(|rest| rest.strip_suffix(['|', '-', '–', '—', '·', ':', '•', '/', '»']));
    rest.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or_else(|| title.trim())
}

/// Turns the last segment of a folder into a heading: `sea-charts` becomes `Sea charts`.
fn readable(folder: &str) -> String {
    let name = address::decoded(folder.rsplit('/').next().unwrap_or_default());
    let text = name.replace(['-', '_', '+'], " ");
    let mut chars = text.trim().chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => "Pages".to_owned(),
    }
}

/// Returns the path of a page relative to the base URL. All forms of a URL have the same path:
/// `guide/a` for `guide/a/`, `guide/a.html` and `guide/a/index.html`. Returns `None` for URLs
/// outside the site.
fn path_of(base: &BaseUrl, url: &str) -> Option<String> {
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
