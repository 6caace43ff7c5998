//! The inventory of a site: one row per page with the data of every layer.
//!
//! Rows are joined by the file that a URL resolves to, so `/a`, `/a.html` and `/a/index.html` may
//! be the same page. A row contains only numbers and short texts.

use std::collections::HashMap;

use rutter_page::{LineDigest, PageUrl, Timestamp};

use super::files::{MediaKind, SiteFiles};
use super::page::PageSummary;
use super::site_base::SiteBase;
use super::text_match::TextPiece;

/// The maximum stored length of a title in bytes.
const LONGEST: usize = 240;

/// The data of all layers about one page.
#[derive(Debug, Default)]
pub(crate) struct PageRow {
    /// The normalised URL of the page, which identifies the row.
    pub(crate) url: Box<str>,
    pub(crate) file: Option<u32>,
    /// The index of the sitemap entry of the page.
    pub(crate) listed: Option<u32>,
    pub(crate) scp: Option<Box<DeliveredPage>>,
    /// The section that contains the page with different content, and the file and line there.
    pub(crate) differs: Option<(usize, u32, u64)>,
    pub(crate) arc: Option<Box<ArcPageEntry>>,
    /// The index of the surface of the page in the semantic index.
    pub(crate) surface: Option<u32>,
    pub(crate) is_entity: bool,
    pub(crate) twin: Option<u32>,
    pub(crate) page: Option<Box<PageSummary>>,
}

/// The data of a page in a collection.
#[derive(Debug)]
pub(crate) struct DeliveredPage {
    pub(crate) file: u32,
    pub(crate) line: u64,
    pub(crate) title: Box<str>,
    pub(crate) language: Box<str>,
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) n_words: u32,
    pub(crate) pieces: Vec<TextPiece>,
    /// Whether the line is unchanged since the build. If so, its text is not stored.
    pub(crate) is_as_built: bool,
}

/// The data of a page in the ARC sitemap.
#[derive(Debug)]
pub(crate) struct ArcPageEntry {
    pub(crate) idx: u64,
    pub(crate) lastmod: Option<Timestamp>,
    pub(crate) closed: Option<RestrictionReason>,
    pub(crate) checksum: Option<Box<str>>,
    /// A hash of the whole entry of the page.
    pub(crate) hash: u64,
}

/// The reason why a page is restricted, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RestrictionReason {
    /// AI must not use the page, but layers may list it.
    NoAi,
    /// robots.txt disallows the page for all agents.
    Robots,
    /// Search engines must not index the page.
    NoIndex,
    /// The page is a draft, a redirect or empty.
    Away,
    /// The page requires a login.
    Login,
}

impl RestrictionReason {
    /// Returns a short description for findings.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoAi => "not for AI",
            Self::Robots => "disallowed by robots.txt",
            Self::NoIndex => "noindex",
            Self::Away => "redirect, draft or page without text",
            Self::Login => "requires a login",
        }
    }
}

/// The rows of all pages.
#[derive(Debug, Default)]
pub(crate) struct PageRows {
    pub(crate) list: Vec<PageRow>,
    by_url: HashMap<Box<str>, u32>,
    by_file: HashMap<u32, u32>,
}

impl PageRows {
    /// Creates one row for each page among the files.
    pub(crate) fn of(files: &SiteFiles, home: &SiteBase) -> Self {
        let mut rows = Self::default();
        for (at, file) in files.iter().filter(|(_, file)| file.kind == MediaKind::Page) {
            let url = if files.is_live() {
                Some(file.path.to_string())
            } else {
                address(home, &file.path)
            };
            let Some(url) = url.filter(|url| !rows.by_url.contains_key(url.as_str())) else {
                continue;
            };
            rows.push(PageRow { url: url.into(), file: Some(at), ..PageRow::default() });
        }
        rows
    }

    fn push(&mut self, row: PageRow) -> u32 {
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.by_url.insert(row.url.clone(), at);
        if let Some(file) = row.file {
            self.by_file.insert(file, at);
        }
        self.list.push(row);
        at
    }

    pub(crate) fn get(&self, at: u32) -> Option<&PageRow> {
        self.list.get(at as usize)
    }

    /// Returns the row of a URL. The row is created if it does not exist.
    pub(crate) fn at(
        &mut self,
        files: &SiteFiles,
        home: &SiteBase,
        url: &str,
    ) -> Option<&mut PageRow> {
        let at = self.index(files, home, url)?;
        self.list.get_mut(at as usize)
    }

    /// Like [`at`](Self::at), but returns the index of the row.
    pub(crate) fn index(&mut self, files: &SiteFiles, home: &SiteBase, url: &str) -> Option<u32> {
        if let Some(at) = self.find(files, home, url) {
            return Some(at);
        }
        let url = PageUrl::parse(url).ok()?;
        home.target_of(url.key())?;
        let file = files.resolve(home, url.key());
        Some(self.push(PageRow { url: url.key().into(), file, ..PageRow::default() }))
    }

    /// Returns the index of the row of a URL, if it exists.
    pub(crate) fn find(&self, files: &SiteFiles, home: &SiteBase, url: &str) -> Option<u32> {
        if let Some(at) = self.by_url.get(url) {
            return Some(*at);
        }
        let url = PageUrl::parse(url).ok()?;
        if let Some(at) = self.by_url.get(url.key()) {
            return Some(*at);
        }
        let file = files.resolve(home, url.key())?;
        self.by_file.get(&file).copied()
    }
}

/// Returns the URL at which most hosts serve a file.
pub(crate) fn address(home: &SiteBase, path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let name = if matches!(name, "index.html" | "index.htm" | "index.xhtml") { "" } else { name };
    let mut url = String::from(home.as_str());
    for part in folder.split('/').filter(|part| !part.is_empty()).chain([name]) {
        url.push('/');
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@'".contains(&byte) {
                url.push(char::from(byte));
            } else {
                let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
                url.push('%');
                url.extend([digit(byte >> 4), digit(byte & 15)].map(|c| c.to_ascii_uppercase()));
            }
        }
    }
    PageUrl::parse(url).ok().map(|url| url.key().to_owned())
}

/// Truncates a text to the maximum stored length.
pub(crate) fn short(text: &str) -> Box<str> {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().into()
}
