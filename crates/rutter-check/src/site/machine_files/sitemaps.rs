//! Reads robots.txt, sitemaps, llms.txt and the semantic index, and finds the
//! Markdown twins of pages.

use std::collections::HashSet;

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place};
use rutter_robots::RobotsTxt;
use rutter_scp::advert::{self, Advert};
use rutter_sitemap::{self as sitemap, SitemapItem};
use rutter_spxi::{
    INDEX_FILE, MAX_INDEX_BYTES, ModifiedDate, SPXI, SitemapEntry, SitemapLink, read_index,
};

use super::{CollectionAdvert, LARGEST_TEXT};
use crate::rules;
use crate::site::SiteView;
use crate::site::files::MediaKind;
use crate::site::page_rows::RestrictionReason;

rutter_finding::rules! {
    SITEMAP_LOOP = "XL007" "sitemap-loop" (warning, "D17") {
        title: "sitemap index contains another index or itself",
        why: "Crawlers follow one level only, and some follow a cycle without end.",
        fix: "List only sitemaps with pages.",
        wrong in "sitemap.xml": r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://harbour.example/sitemap.xml</loc></sitemap></sitemapindex>"#,
        right: r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://harbour.example/sitemap-pages.xml</loc></sitemap></sitemapindex>"#,
    }
    TWIN_ALONE = "XL060" "twin-alone" (advice, "D84") {
        title: "Markdown twin does not belong to a page",
        why: "The twin describes a page that was removed.",
        fix: "Delete the twin.",
        wrong: "`old.md`, but no `old.html`.",
        right: "Only twins of existing pages.",
    }
}

/// The maximum number of sitemaps that are read.
const MOST_SITEMAPS: usize = 1000;

impl SiteView<'_> {
    pub(super) fn read_robots(&mut self) {
        let Some(at) = self.files.at_root(self.home, "robots.txt") else { return };
        self.check_file(at);
        if let Ok(Some(bytes)) = self.files.read(at, LARGEST_TEXT) {
            self.machine_files.robots = Some((at, RobotsTxt::parse(&bytes)));
        }
    }

    /// Reads sitemap.xml, the sitemaps that robots.txt lists, and all sitemaps that these
    /// reference, each file once.
    pub(super) fn read_sitemaps(&mut self) {
        let mut waiting: Vec<(u32, bool)> = Vec::new();
        waiting.extend(self.files.at_root(self.home, "sitemap.xml").map(|at| (at, true)));
        let named: Vec<String> = self
            .machine_files
            .robots
            .iter()
            .flat_map(|(_, robots)| robots.sitemaps())
            .map(|(_, url)| url.to_owned())
            .collect();
        for url in named {
            let at = self.home.and_then(|home| self.files.resolve(home, &url));
            waiting.extend(at.filter(|at| is_xml(self.files.path(*at))).map(|at| (at, true)));
        }
        // Sitemaps that no other file references are checked too.
        let is_sitemap = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with("sitemap") && is_xml(name)
        };
        let others = self.files.iter().filter(|(_, file)| is_sitemap(&file.path));
        let others: Vec<u32> = others.map(|(at, _)| at).collect();
        self.machine_files.sitemaps.is_cut = self.files.may_be_more(ResourceKind::Sitemap);
        waiting.reverse();
        let mut seen: HashSet<u32> = HashSet::new();
        while let Some((at, is_entry)) = waiting.pop() {
            if seen.contains(&at) {
                continue;
            }
            if MOST_SITEMAPS <= self.machine_files.sitemaps.files.len() {
                self.findings
                    .add_about_site(&rules::STOPPED, format!("more than {MOST_SITEMAPS} sitemaps"));
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
                            &SITEMAP_LOOP,
                            Place::line(line),
                            rutter_finding::quoted(&url),
                        );
                        self.findings.add(at, finding);
                    }
                    Some(child) if seen.contains(&child) => {}
                    Some(child) => waiting.push((child, false)),
                    None if is_own && !self.files.is_live() => {
                        let finding = Finding::new(
                            &rules::LINK_BROKEN,
                            Place::line(line),
                            rutter_finding::quoted(&url),
                        );
                        self.findings.add(at, finding);
                    }
                    None => {}
                }
            }
        }
        for at in others {
            if !seen.contains(&at) && self.machine_files.sitemaps.files.len() < MOST_SITEMAPS {
                self.check_file(at);
            }
        }
    }

    /// Reads one sitemap; returns the sitemaps that it lists.
    fn read_sitemap(&mut self, at: u32) -> Vec<(u64, String)> {
        let mut children = Vec::new();
        let (mut listed, mut adverts, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
        let open = || self.files.open(at);
        let subject = crate::CheckTarget { name: self.files.path(at).to_owned(), open: &open };
        let judged =
            crate::check_sitemap(&subject, &self.options.check_options, &mut |item, line| {
                match item {
                    SitemapItem::Url(entry) => {
                        // XML fragments of extensions contain their own namespace declarations.
                        if entry.extensions.iter().any(|xml| xml.contains(SPXI)) {
                            foreign.push((at, entry.line, SPXI.to_owned()));
                        }
                        listed.push((at, listed_of(entry)));
                    }
                    SitemapItem::Child(child) => children.push((line, child.loc.clone())),
                    SitemapItem::Foreign(element) => {
                        foreign.push((at, line, element.namespace.clone()));
                        if element.namespace == advert::NAMESPACE {
                            let attributes = element.attributes.iter();
                            let attributes: Vec<(&str, &str)> = attributes
                                .map(|(key, value)| (key.as_str(), value.as_str()))
                                .collect();
                            if let Some(Ok(advert)) =
                                Advert::read(&element.name, &attributes, &element.text)
                            {
                                adverts.push((line, advert));
                            }
                        }
                    }
                }
            });
        self.machine_files.sitemaps.files.push(at);
        match judged {
            Ok(file_report) => {
                self.machine_files.sitemaps.is_cut |= file_report.refused.is_some();
                self.findings.add_report(file_report);
            }
            Err(error) => self.unreadable(at, &error),
        }
        for (line, advert) in adverts {
            match advert {
                Advert::Collection(advert) => {
                    let file = self.home.and_then(|home| self.files.resolve(home, &advert.url));
                    self.machine_files.sitemaps.adverts.push(CollectionAdvert {
                        advert,
                        sitemap: at,
                        line,
                        file,
                    });
                }
                Advert::Section(section) => {
                    self.machine_files.sitemaps.sections.push((at, line, section));
                }
                Advert::Compression(codings) => {
                    self.machine_files.sitemaps.codings = Some((at, line, codings));
                }
                _ => {}
            }
        }
        self.machine_files.sitemaps.foreign.extend(foreign);
        if let Some(home) = self.home {
            for (n, (_, listed)) in listed.iter().enumerate() {
                let n =
                    u32::try_from(self.machine_files.sitemaps.listed.len() + n).unwrap_or(u32::MAX);
                if let Some(row) = self.rows.at(self.files, home, &listed.url) {
                    row.listed.get_or_insert(n);
                }
            }
        }
        self.machine_files.sitemaps.listed.extend(listed);
        children
    }

    pub(super) fn read_index(&mut self) {
        let Some(at) = self.files.at_root(self.home, INDEX_FILE) else { return };
        let Ok(Some(bytes)) = self.files.read(at, MAX_INDEX_BYTES as u64 + 1) else { return };
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
        self.machine_files.index = Some((at, index));
    }

    pub(super) fn read_llms(&mut self) {
        let is_llms =
            |path: &str| matches!(path.rsplit('/').next(), Some("llms.txt" | "llms-full.txt"));
        let all: Vec<u32> =
            self.files.iter().filter(|(_, file)| is_llms(&file.path)).map(|(at, _)| at).collect();
        for at in all.into_iter().take(MOST_SITEMAPS) {
            self.check_file(at);
            if let Ok(Some(bytes)) = self.files.read(at, LARGEST_TEXT) {
                self.machine_files.llms.push((at, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }

    /// Assigns Markdown files to their pages.
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
        // A Markdown file to which a page links is not a twin without a page.
        let all = self.files.iter().filter(|(_, file)| file.kind == MediaKind::Markdown);
        for (at, _) in all {
            let is_twin = twins.binary_search(&at).is_ok();
            if !is_twin && looks_like_twin(self.files.read(at, LARGEST_TEXT).ok().flatten()) {
                self.findings.add(at, Finding::new(&TWIN_ALONE, Place::WHOLE, ""));
            }
        }
    }

    /// Returns the strongest restriction of a page from all layers.
    pub(crate) fn closed(
        &self,
        row: &crate::site::page_rows::PageRow,
    ) -> Option<RestrictionReason> {
        let own = row.page.as_ref().and_then(|page| page.closed);
        let arc = row.arc.as_ref().and_then(|arc| arc.closed);
        own.max(arc).max(self.closed_by_robots(&row.url))
    }

    /// Returns a restriction if robots.txt disallows the URL for all agents.
    pub(crate) fn closed_by_robots(&self, url: &str) -> Option<RestrictionReason> {
        let (_, robots) = self.machine_files.robots.as_ref()?;
        let home = self.home.filter(|home| home.is_root() || self.files.is_live())?;
        let target = home.target_of(url)?;
        (!robots.is_allowed("*", target)).then_some(RestrictionReason::Robots)
    }

    /// Checks a single file of the site and adds its report.
    pub(crate) fn check_file(&mut self, at: u32) {
        let open = || self.files.open(at);
        let subject = crate::CheckTarget { name: self.files.path(at).to_owned(), open: &open };
        match crate::check(&subject, &self.options.check_options) {
            Ok(file_report) => self.findings.add_report(file_report),
            Err(error) => self.unreadable(at, &error),
        }
    }

    pub(crate) fn unreadable(&mut self, at: u32, error: &std::io::Error) {
        let finding = Finding::new(&rules::UNREADABLE, Place::WHOLE, error.to_string());
        self.findings.add(at, finding);
    }

    /// Returns whether a URL belongs to the site.
    pub(crate) fn is_own(&self, url: &str) -> bool {
        self.home.is_some_and(|home| home.path_of(url).is_some())
    }
}

fn is_xml(path: &str) -> bool {
    let path = path.strip_suffix(".gz").unwrap_or(path);
    matches!(path.rsplit_once('.'), Some((_, "xml" | "txt")))
}

/// Returns whether a Markdown file states the page that it belongs to.
fn looks_like_twin(bytes: Option<Vec<u8>>) -> bool {
    let bytes = bytes.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let (front, _) = crate::site::page::twin::front_matter(&text);
    front.is_some_and(|front| crate::site::page::twin::member(front, "url").is_some())
}

fn listed_of(entry: &sitemap::SitemapEntry) -> SitemapEntry {
    let links = entry.alternates.iter().map(|link| SitemapLink {
        hreflang: link.hreflang.clone(),
        media_type: link.media_type.clone(),
        href: link.href.clone(),
    });
    SitemapEntry {
        modified: entry.lastmod.map(|time| ModifiedDate { time, is_day: entry.is_day }),
        links: links.collect(),
        url: entry.loc.clone(),
        line: entry.line,
    }
}
