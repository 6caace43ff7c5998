//! Entries that discovery reads beside the offer: sitemap URLs, ARC entries, the SPXI
//! index.
//!
//! They are kept until it is known whether their file is valid. ARC entries go to a
//! temporary file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

use rutter_arc::ArcEntry;
use rutter_discover::PageSink;
use rutter_page::Timestamp;
use rutter_signpost::sitemap::SitemapEntry;
use serde::{Deserialize, Serialize};

use crate::left_out::MOST_URLS;
use crate::limits::CrawlLimits;

/// One URL of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedUrl {
    #[serde(rename = "u")]
    pub(crate) url: String,
    /// Date of the last change; for a date without time, the end of that day.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub(crate) lastmod: Option<Timestamp>,
}

/// Entries that discovery read.
#[derive(Debug)]
pub(crate) struct DiscoveredEntries {
    /// Maximum number of URLs of all sitemaps together.
    most_listed: usize,
    /// URLs by sitemap.
    pub(crate) listed: BTreeMap<String, Vec<ListedUrl>>,
    n_listed: usize,
    /// Number of URLs beyond the limit, and some of them.
    pub(crate) n_over: u64,
    pub(crate) over: Vec<String>,
    arc: BTreeMap<String, ArcSpool>,
    pub(crate) spxi: BTreeMap<String, Vec<u8>>,
}

/// Lines in an unnamed temporary file, or the error that prevented it. A full disk must not
/// make restrictions of the site disappear.
#[derive(Debug)]
struct ArcSpool {
    file: io::Result<BufWriter<File>>,
    n_lines: u64,
}

impl PageSink for DiscoveredEntries {
    fn page(&mut self, sitemap: &str, entry: &SitemapEntry) {
        let listed = match self.listed.get_mut(sitemap) {
            Some(listed) => listed,
            None => self.listed.entry(sitemap.to_owned()).or_default(),
        };
        if self.most_listed <= self.n_listed {
            self.n_over += 1;
            if self.over.len() < MOST_URLS {
                self.over.push(entry.loc.clone());
            }
            return;
        }
        self.n_listed += 1;
        let whole = if entry.is_day { 86_400 } else { 0 };
        let lastmod = entry.lastmod.map(|time| time.plus_seconds(whole));
        listed.push(ListedUrl { url: entry.loc.clone(), lastmod });
    }

    fn arc(&mut self, sitemap: &str, entry: &ArcEntry<'_>) {
        let lines = self.arc.entry(sitemap.to_owned()).or_insert_with(|| ArcSpool {
            file: tempfile::tempfile().map(BufWriter::new),
            n_lines: 0,
        });
        lines.n_lines += 1;
        if let Ok(file) = &mut lines.file {
            let mut line = entry.to_json();
            line.push('\n');
            if let Err(error) = file.write_all(line.as_bytes()) {
                lines.file = Err(error);
            }
        }
    }

    fn spxi(&mut self, url: &str, bytes: &[u8]) {
        self.spxi.insert(url.to_owned(), bytes.to_vec());
    }
}

impl DiscoveredEntries {
    /// Creates an empty value.
    pub(crate) fn new(limits: &CrawlLimits) -> Self {
        Self {
            most_listed: limits.sitemap_urls,
            listed: BTreeMap::new(),
            n_listed: 0,
            n_over: 0,
            over: Vec::new(),
            arc: BTreeMap::new(),
            spxi: BTreeMap::new(),
        }
    }

    /// Returns the entries of an ARC sitemap; `None` if it was not read in this run.
    ///
    /// A redirected sitemap is stored under its final URL.
    pub(crate) fn take_arc(&mut self, url: &str) -> io::Result<Option<ArcEntries>> {
        let lines = match self.arc.remove(url) {
            Some(lines) => lines,
            None if self.arc.len() == 1 => match self.arc.pop_first() {
                Some((_, lines)) => lines,
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        let mut file = lines.file?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let input = BufReader::new(file);
        Ok(Some(ArcEntries { input, n_lines: lines.n_lines, n_read: 0, error: None }))
    }

    /// Returns the SPXI index, if it was read in this run.
    pub(crate) fn take_spxi(&mut self, url: &str) -> Option<Vec<u8>> {
        let found = self.spxi.remove(url);
        found.or_else(|| {
            if self.spxi.len() == 1 { self.spxi.pop_first() } else { None }.map(|it| it.1)
        })
    }
}

/// Iterator over ARC entries in a file.
#[derive(Debug)]
pub(crate) struct ArcEntries {
    input: BufReader<File>,
    n_lines: u64,
    n_read: u64,
    error: Option<io::Error>,
}

impl ArcEntries {
    /// Returns to the first entry.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.n_read = 0;
        self.input.rewind()
    }

    /// Checks that all entries were read.
    pub(crate) fn finish(self) -> io::Result<()> {
        let is_short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match self.error {
            Some(error) => Err(error),
            None if self.n_read < self.n_lines => Err(is_short()),
            None => Ok(()),
        }
    }
}

impl Iterator for ArcEntries {
    type Item = ArcEntry<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            match self.input.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => self.n_read += 1,
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
            if let Some(entry) = ArcEntry::from_json(&line) {
                return Some(entry);
            }
        }
    }
}
