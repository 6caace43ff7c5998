//! The inventory: one row for each page, with what every layer says of it.
//!
//! Rows are joined by the file an address stands for, so `/a`, `/a.html` and
//! `/a/index.html` may be one page. A row holds numbers and short texts only.

use std::collections::HashMap;

use rutter_page::{LineDigest, PageUrl, Timestamp};

use super::files::{FileKind, Files};
use super::home::Home;
use super::page::PageSeen;
use super::words::Piece;

/// Longest text of a title that is kept, in bytes.
const LONGEST: usize = 240;

/// What is known of a page.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Its address, by which it is told from others.
    pub(crate) url: Box<str>,
    pub(crate) file: Option<u32>,
    /// Its entry in the list of the sitemaps.
    pub(crate) listed: Option<u32>,
    pub(crate) scp: Option<Box<Delivered>>,
    /// A section that delivers it with other content: which one, and where.
    pub(crate) differs: Option<(usize, u32, u64)>,
    pub(crate) arc: Option<Box<ArcEntry>>,
    /// Its surface in the index.
    pub(crate) surface: Option<u32>,
    pub(crate) is_entity: bool,
    pub(crate) twin: Option<u32>,
    pub(crate) page: Option<Box<PageSeen>>,
}

/// A page as a collection has it.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) file: u32,
    pub(crate) line: u64,
    pub(crate) title: Box<str>,
    pub(crate) language: Box<str>,
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) n_words: u32,
    pub(crate) pieces: Vec<Piece>,
    /// Whether it is the line that the build knows; nothing of its text is
    /// kept then.
    pub(crate) is_as_built: bool,
}

/// A page as the ARC sitemap has it.
#[derive(Debug)]
pub(crate) struct ArcEntry {
    pub(crate) idx: u64,
    pub(crate) lastmod: Option<Timestamp>,
    pub(crate) closed: Option<Closed>,
    pub(crate) checksum: Option<Box<str>>,
    /// A number of all that is said.
    pub(crate) said: u64,
}

/// Why a page is not for everybody, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closed {
    /// It asks not to be used by AI; it may be listed.
    NoAi,
    /// robots.txt forbids it to everybody.
    Robots,
    /// It asks not to be indexed.
    NoIndex,
    /// It is not there yet, or only leads elsewhere.
    Away,
    /// It needs a login.
    Login,
}

impl Closed {
    /// For people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoAi => "not for AI",
            Self::Robots => "disallowed by robots.txt",
            Self::NoIndex => "noindex",
            Self::Away => "redirect, draft or without text",
            Self::Login => "needs a login",
        }
    }
}

/// All rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) list: Vec<Row>,
    by_url: HashMap<Box<str>, u32>,
    by_file: HashMap<u32, u32>,
}

impl Rows {
    /// A row for each page among the files.
    pub(crate) fn of(files: &Files, home: &Home) -> Self {
        let mut rows = Self::default();
        for (at, file) in files.iter().filter(|(_, file)| file.kind == FileKind::Page) {
            let url = if files.is_live() {
                Some(file.path.to_string())
            } else {
                address(home, &file.path)
            };
            let Some(url) = url.filter(|url| !rows.by_url.contains_key(url.as_str())) else {
                continue;
            };
            rows.push(Row { url: url.into(), file: Some(at), ..Row::default() });
        }
        rows
    }

    fn push(&mut self, row: Row) -> u32 {
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.by_url.insert(row.url.clone(), at);
        if let Some(file) = row.file {
            self.by_file.insert(file, at);
        }
        self.list.push(row);
        at
    }

    pub(crate) fn get(&self, at: u32) -> Option<&Row> {
        self.list.get(at as usize)
    }

    /// The row of an address of the site, which is made where there is none.
    pub(crate) fn at(&mut self, files: &Files, home: &Home, url: &str) -> Option<&mut Row> {
        let at = self.index(files, home, url)?;
        self.list.get_mut(at as usize)
    }

    /// The same by its number.
    pub(crate) fn index(&mut self, files: &Files, home: &Home, url: &str) -> Option<u32> {
        if let Some(at) = self.find(files, home, url) {
            return Some(at);
        }
        let url = PageUrl::parse(url).ok()?;
        home.target_of(url.key())?;
        let file = files.resolve(home, url.key());
        Some(self.push(Row { url: url.key().into(), file, ..Row::default() }))
    }

    /// The row of an address, where there is one.
    pub(crate) fn find(&self, files: &Files, home: &Home, url: &str) -> Option<u32> {
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

/// The usual address of a file.
pub(crate) fn address(home: &Home, path: &str) -> Option<String> {
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

/// A short text of what may be long.
pub(crate) fn short(text: &str) -> Box<str> {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().into()
}
