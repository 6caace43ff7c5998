//! robots.txt, sitemaps, llms.txt, the semantic index, and which page has a
//! Markdown twin.

use std::collections::HashSet;

use rutter_fetch::What;
use rutter_finding::{Finding, Place};
use rutter_scp::advert::{self, Advert};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{Entry, Item};
use rutter_spxi::{INDEX, LARGEST_INDEX, Link, Listed, Modified, SPXI, read_index};

use super::{Advertised, LARGEST_TEXT};
use crate::rules;
use crate::site::View;
use crate::site::files::FileKind;
use crate::site::rows::Closed;

/// Most sitemaps that are read.
const MOST_SITEMAPS: usize = 1000;

impl View<'_> {
    pub(super) fn read_robots(&mut self) {
        let Some(at) = self.files.at_root(self.home, "robots.txt") else { return };
        self.judge(at);
        if let Ok(Some(bytes)) = self.files.read(at, LARGEST_TEXT) {
            self.machine.robots = Some((at, Robots::parse(&bytes)));
        }
    }

    /// Reads sitemap.xml, whatever robots.txt names, and whatever these lead
    /// to, each file once.
    pub(super) fn read_sitemaps(&mut self) {
        let mut waiting: Vec<(u32, bool)> = Vec::new();
        waiting.extend(self.files.at_root(self.home, "sitemap.xml").map(|at| (at, true)));
        let named: Vec<String> = self
            .machine
            .robots
            .iter()
            .flat_map(|(_, robots)| robots.sitemaps())
            .map(|(_, url)| url.to_owned())
            .collect();
        for url in named {
            let at = self.home.and_then(|home| self.files.resolve(home, &url));
            waiting.extend(at.filter(|at| is_xml(self.files.path(*at))).map(|at| (at, true)));
        }
        // Those nobody names are judged, too.
        let is_sitemap = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with("sitemap") && is_xml(name)
        };
        let others = self.files.iter().filter(|(_, file)| is_sitemap(&file.path));
        let others: Vec<u32> = others.map(|(at, _)| at).collect();
        self.machine.is_cut = self.files.may_be_more(What::Sitemap);
        waiting.reverse();
        let mut seen: HashSet<u32> = HashSet::new();
        while let Some((at, is_entry)) = waiting.pop() {
            if seen.contains(&at) {
                continue;
            }
            if MOST_SITEMAPS <= self.machine.sitemaps.len() {
                self.book.site(&rules::STOPPED, format!("more than {MOST_SITEMAPS} sitemaps"));
                break;
            }
            seen.insert(at);
            let children = self.read_sitemap(at);
            for (line, url) in children {
                let child = self.home.and_then(|home| self.files.resolve(home, &url));
                let is_own = self.is_own(&url);
                match child {
                    Some(child) if !is_entry || child == at => {
                        let finding = Finding::new(
                            &rules::SITEMAP_LOOP,
                            Place::line(line),
                            rutter_finding::quoted(&url),
                        );
                        self.book.say(at, finding);
                    }
                    Some(child) if seen.contains(&child) => {}
                    Some(child) => waiting.push((child, false)),
                    None if is_own && !self.files.is_live() => {
                        let finding = Finding::new(
                            &rules::LINK_BROKEN,
                            Place::line(line),
                            rutter_finding::quoted(&url),
                        );
                        self.book.say(at, finding);
                    }
                    None => {}
                }
            }
        }
        for at in others {
            if !seen.contains(&at) && self.machine.sitemaps.len() < MOST_SITEMAPS {
                self.judge(at);
            }
        }
    }

    /// Reads one sitemap; gives the sitemaps it names.
    fn read_sitemap(&mut self, at: u32) -> Vec<(u64, String)> {
        let mut children = Vec::new();
        let (mut listed, mut adverts, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
        let open = || self.files.open(at);
        let subject = crate::Subject { name: self.files.path(at).to_owned(), open: &open };
        let judged = crate::judge_sitemap(&subject, &self.judging.judging, &mut |item, line| {
            match item {
                Item::Url(entry) => {
                    // What we keep for rewriting declares its own namespaces.
                    if entry.extensions.iter().any(|xml| xml.contains(SPXI)) {
                        foreign.push((at, entry.line, SPXI.to_owned()));
                    }
                    listed.push((at, listed_of(entry)));
                }
                Item::Child(child) => children.push((line, child.loc.clone())),
                Item::Foreign(element) => {
                    foreign.push((at, line, element.namespace.clone()));
                    if element.namespace == advert::NAMESPACE {
                        let attributes = element.attributes.iter();
                        let attributes: Vec<(&str, &str)> =
                            attributes.map(|(key, value)| (key.as_str(), value.as_str())).collect();
                        if let Some(Ok(advert)) =
                            Advert::read(&element.name, &attributes, &element.text)
                        {
                            adverts.push((line, advert));
                        }
                    }
                }
            }
        });
        self.machine.sitemaps.push(at);
        match judged {
            Ok(judgement) => {
                self.machine.is_cut |= judgement.refused.is_some();
                self.book.enter(judgement);
            }
            Err(error) => self.unreadable(at, &error),
        }
        for (line, advert) in adverts {
            match advert {
                Advert::Collection(advert) => {
                    let file = self.home.and_then(|home| self.files.resolve(home, &advert.url));
                    self.machine.adverts.push(Advertised { advert, sitemap: at, line, file });
                }
                Advert::Section(section) => self.machine.sections.push((at, line, section)),
                Advert::Compression(codings) => self.machine.codings = Some((at, line, codings)),
                _ => {}
            }
        }
        self.machine.foreign.extend(foreign);
        if let Some(home) = self.home {
            for (n, (_, listed)) in listed.iter().enumerate() {
                let n = u32::try_from(self.machine.listed.len() + n).unwrap_or(u32::MAX);
                if let Some(row) = self.rows.at(self.files, home, &listed.url) {
                    row.listed.get_or_insert(n);
                }
            }
        }
        self.machine.listed.extend(listed);
        children
    }

    pub(super) fn read_index(&mut self) {
        let Some(at) = self.files.at_root(self.home, INDEX) else { return };
        let Ok(Some(bytes)) = self.files.read(at, LARGEST_INDEX as u64 + 1) else { return };
        let index = read_index(&bytes, &mut ()).unwrap_or_default();
        if let Some(home) = self.home {
            for (n, surface) in (0..).zip(&index.surfaces) {
                let row = surface.id.as_deref().and_then(|id| self.rows.at(self.files, home, id));
                if let Some(row) = row {
                    row.surface.get_or_insert(n);
                }
            }
            for id in index.entities.iter().filter_map(|entity| entity.id.as_deref()) {
                let url = rutter_spxi::without_fragment(id);
                if let Some(row) = self.rows.at(self.files, home, url) {
                    row.is_entity = true;
                }
            }
        }
        self.machine.index = Some((at, index));
    }

    pub(super) fn read_llms(&mut self) {
        let is_llms =
            |path: &str| matches!(path.rsplit('/').next(), Some("llms.txt" | "llms-full.txt"));
        let all: Vec<u32> =
            self.files.iter().filter(|(_, file)| is_llms(&file.path)).map(|(at, _)| at).collect();
        for at in all.into_iter().take(MOST_SITEMAPS) {
            self.judge(at);
            if let Ok(Some(bytes)) = self.files.read(at, LARGEST_TEXT) {
                self.machine.llms.push((at, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }

    /// Which page each Markdown file is a twin of.
    pub(super) fn find_twins(&mut self) {
        if self.files.is_live() {
            return;
        }
        for row in &mut self.rows.list {
            row.twin = row.file.and_then(|file| self.files.twin_of(file));
        }
        let mut twins: Vec<u32> = self.rows.list.iter().filter_map(|row| row.twin).collect();
        twins.sort_unstable();
        if twins.is_empty() {
            return;
        }
        // Markdown that something links to is no twin that was left behind.
        let all = self.files.iter().filter(|(_, file)| file.kind == FileKind::Markdown);
        for (at, _) in all {
            let is_twin = twins.binary_search(&at).is_ok();
            if !is_twin && looks_like_twin(self.files.read(at, LARGEST_TEXT).ok().flatten()) {
                self.book.say(at, Finding::new(&rules::TWIN_ALONE, Place::WHOLE, ""));
            }
        }
    }

    /// Why a page is closed, whoever says so; the strongest counts.
    pub(crate) fn closed(&self, row: &crate::site::rows::Row) -> Option<Closed> {
        let own = row.page.as_ref().and_then(|page| page.closed);
        let arc = row.arc.as_ref().and_then(|arc| arc.closed);
        own.max(arc).max(self.closed_by_robots(&row.url))
    }

    /// Whether robots.txt closes an address to everybody.
    pub(crate) fn closed_by_robots(&self, url: &str) -> Option<Closed> {
        let (_, robots) = self.machine.robots.as_ref()?;
        let home = self.home.filter(|home| home.is_root() || self.files.is_live())?;
        let target = home.target_of(url)?;
        (!robots.is_allowed("*", target)).then_some(Closed::Robots)
    }

    /// Judges a file by itself.
    pub(crate) fn judge(&mut self, at: u32) {
        let open = || self.files.open(at);
        let subject = crate::Subject { name: self.files.path(at).to_owned(), open: &open };
        match crate::check(&subject, &self.judging.judging) {
            Ok(judgement) => self.book.enter(judgement),
            Err(error) => self.unreadable(at, &error),
        }
    }

    pub(crate) fn unreadable(&mut self, at: u32, error: &std::io::Error) {
        let finding = Finding::new(&rules::UNREADABLE, Place::WHOLE, error.to_string());
        self.book.say(at, finding);
    }

    /// Whether an address belongs to the site.
    pub(crate) fn is_own(&self, url: &str) -> bool {
        self.home.is_some_and(|home| home.path_of(url).is_some())
    }
}

fn is_xml(path: &str) -> bool {
    let path = path.strip_suffix(".gz").unwrap_or(path);
    matches!(path.rsplit_once('.'), Some((_, "xml" | "txt")))
}

/// A twin says which page it belongs to.
fn looks_like_twin(bytes: Option<Vec<u8>>) -> bool {
    let bytes = bytes.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let (front, _) = crate::site::page::front_matter(&text);
    front.is_some_and(|front| crate::site::page::member(front, "url").is_some())
}

fn listed_of(entry: &Entry) -> Listed {
    let links = entry.alternates.iter().map(|link| Link {
        hreflang: link.hreflang.clone(),
        media_type: link.media_type.clone(),
        href: link.href.clone(),
    });
    Listed {
        modified: entry.lastmod.map(|time| Modified { time, is_day: entry.is_day }),
        links: links.collect(),
        url: entry.loc.clone(),
        line: entry.line,
    }
}
