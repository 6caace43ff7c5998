//! A site in a temporary folder, and the results of its builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_build::{BaseUrl, BuildError, BuildEvents, BuildPlan, BuildSummary, build};
use rutter_finding::Finding;
use rutter_page::Timestamp;
use rutter_scp::advert::{Advert, AdvertisedCollection};
use rutter_scp::{CollectionHeader, CollectionReader, ReadOptions};
use rutter_sitemap::{SitemapEntry, SitemapItem, SitemapLimits, SitemapReader};
use tempfile::TempDir;

/// Base URL of all sites in these tests.
pub(crate) const BASE: &str = "https://harbour.example/";

/// A site and its state.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    /// Advanced by every build.
    pub(crate) now: Timestamp,
}

/// Events of a build.
#[derive(Default)]
pub(crate) struct RecordedEvents {
    pub(crate) findings: Vec<(String, &'static str, String)>,
    pub(crate) messages: Vec<String>,
    /// Page, reason and source.
    pub(crate) excluded: Vec<(String, &'static str, String)>,
}

impl BuildEvents for RecordedEvents {
    fn finding(&mut self, place: &str, finding: &Finding) {
        self.findings.push((place.to_owned(), finding.rule.code, finding.detail.clone()));
    }

    fn message(&mut self, message: &str) {
        self.messages.push(message.to_owned());
    }

    fn progress(&mut self, _: usize, _: usize) {}

    fn excluded(&mut self, page: &rutter_build::ExcludedPage<'_>) {
        self.excluded.push((page.page.to_owned(), page.reason, page.source.to_owned()));
    }
}

impl RecordedEvents {
    pub(crate) fn codes(&self, place: &str) -> Vec<&'static str> {
        self.findings.iter().filter(|found| found.0 == place).map(|found| found.1).collect()
    }
}

impl Site {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("site")).unwrap();
        Self { folder, now: Timestamp::parse("2026-05-01T12:00:00Z").unwrap() }
    }

    /// Returns a site with this many pages in two folders, with a menu.
    pub(crate) fn of(n_pages: usize) -> Self {
        let site = Self::new();
        site.put("index.html", &page("Home", "Harbour", "The harbour is open."));
        for n in 0..n_pages {
            let folder = if n % 2 == 0 { "docs" } else { "blog" };
            site.put(
                &format!("{folder}/{n:04}.html"),
                &page("Home", &format!("Page {n}"), &words(n)),
            );
        }
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path("site").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path("site").join(name)).unwrap();
    }

    pub(crate) fn plan(&self) -> BuildPlan {
        let base = BaseUrl::parse(BASE).unwrap();
        let mut plan = BuildPlan::new(self.path("site"), self.path("state"), base, self.now);
        plan.out = Some(self.path("out"));
        plan
    }

    /// Builds an hour later.
    pub(crate) fn build(&mut self) -> BuildSummary {
        self.build_with(|_| {}).unwrap().0
    }

    pub(crate) fn build_with(
        &mut self,
        change: impl FnOnce(&mut BuildPlan),
    ) -> Result<(BuildSummary, RecordedEvents), BuildError> {
        self.now = self.now.plus_seconds(3600);
        let mut plan = self.plan();
        change(&mut plan);
        let mut events = RecordedEvents::default();
        let outcome = build(&plan, &mut events)?;
        Ok((outcome, events))
    }

    /// Returns every file of the output folder.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.path("out"))
    }

    pub(crate) fn ledger(&self) -> String {
        fs::read_to_string(self.path("state/ledger.tsv")).unwrap()
    }

    /// Returns the columns of a page's ledger row.
    pub(crate) fn row(&self, path: &str) -> Vec<String> {
        let url = format!("{BASE}{path}\t");
        let ledger = self.ledger();
        let line = ledger.lines().find(|line| line.starts_with(&url)).unwrap_or_default();
        line.split('\t').map(str::to_owned).collect()
    }

    pub(crate) fn sitemap(&self) -> (Vec<SitemapEntry>, Vec<AdvertisedCollection>) {
        read_sitemap(&self.path("out/sitemap.xml"))
    }

    /// Returns the newest collection of a section and kind, with its lines.
    pub(crate) fn newest(
        &self,
        section: &str,
        kind: &str,
    ) -> Option<(CollectionHeader, Vec<String>)> {
        let (_, offers) = self.sitemap();
        let offer = offers
            .iter()
            .filter(|offer| offer.section == section && offer.kind.name() == kind)
            .filter(|offer| offer.url.ends_with(".zst"))
            .max_by_key(|offer| offer.generated)?;
        let path = offer.url.strip_prefix(BASE).unwrap();
        Some(read_collection(&self.path("out").join(path)))
    }
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

pub(crate) fn read_sitemap(path: &Path) -> (Vec<SitemapEntry>, Vec<AdvertisedCollection>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = SitemapReader::new(file, SitemapLimits::USUAL);
    let mut findings = Vec::new();
    let (mut entries, mut offers) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next(&mut findings).unwrap() {
        match item {
            SitemapItem::Url(entry) => entries.push(entry),
            SitemapItem::Foreign(foreign) => {
                let attributes: Vec<(&str, &str)> = foreign
                    .attributes
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                let advert = Advert::read(&foreign.name, &attributes, &foreign.text).unwrap();
                if let Advert::Collection(offer) = advert.unwrap() {
                    offers.push(offer);
                }
            }
            SitemapItem::Child(_) => {}
        }
    }
    assert!(findings.is_empty(), "{findings:?}");
    (entries, offers)
}

pub(crate) fn read_collection(path: &Path) -> (CollectionHeader, Vec<String>) {
    let mut findings = Vec::new();
    let file = fs::File::open(path).unwrap();
    let mut reader = CollectionReader::open(file, ReadOptions::default(), &mut findings).unwrap();
    let header = reader.header().clone();
    let mut lines = Vec::new();
    while let Some(line) = reader.next(&mut findings, |record| record.page.to_line()).unwrap() {
        lines.push(line);
    }
    reader.finish(&mut findings).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    (header, lines)
}

/// Returns a page with a menu, a title and a text.
pub(crate) fn page(menu: &str, title: &str, text: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><title>{title}</title>\
         <meta name=\"description\" content=\"About {title}.\"></head>\n<body>\
         <nav><ul><li><a href=\"/\">{menu}</a></li><li><a href=\"/docs/\">Documents</a></li></ul></nav>\
         <main><h1>{title}</h1><p>{text}</p></main>\
         <footer>Built on Monday by the harbour office.</footer></body></html>\n"
    )
}

/// Returns a text that no two pages share.
pub(crate) fn words(n: usize) -> String {
    let names = ["quay", "mole", "basin", "lamp", "rope", "tide", "gauge", "berth", "sail", "net"];
    let name = |n: usize| names[n % names.len()];
    format!(
        "Paragraph {n} tells of the {} and the {}, which {} boats pass in a year, and of the {} \
         that was built {} years before the {}.",
        name(n),
        name(n / 3 + 1),
        n * 7 + 1,
        name(n / 7 + 2),
        n % 90 + 3,
        name(n / 11 + 5),
    )
}
