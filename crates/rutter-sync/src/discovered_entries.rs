//! Entries that discovery reads in addition to the offer: sitemap URLs, ARC entries, the
//! SPXI index.
//!
//! The entries are kept until it is known whether their file is valid. ARC entries are
//! written to a temporary file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

use rutter_arc::ArcEntry;
use rutter_page::Timestamp;
use rutter_sitemap::SitemapEntry;
use serde::{Deserialize, Serialize};

use crate::discover::PageSink;
use crate::limits::CrawlLimits;
use crate::report::left_out::MOST_URLS;

/// One URL that a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedUrl {
    #[serde(rename = "u")]
    pub(crate) url: String,
    /// Time of the last change of the page, according to the sitemap; for a date without
    /// time, the end of that day.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub(crate) lastmod: Option<Timestamp>,
}

/// Sitemap URLs, ARC entries and SPXI indexes that one discovery run read.
#[derive(Debug)]
pub(crate) struct DiscoveredEntries {
    /// Maximum number of URLs that are kept of all sitemaps together.
    most_listed: usize,
    /// Listed URLs, by the URL of the sitemap.
    pub(crate) listed: BTreeMap<String, Vec<ListedUrl>>,
    n_listed: usize,
    /// Number of sitemap URLs above the limit, and the first of these URLs.
    pub(crate) n_over: u64,
    pub(crate) over: Vec<String>,
    arc: BTreeMap<String, ArcSpool>,
    pub(crate) spxi: BTreeMap<String, Vec<u8>>,
}

/// ARC entries as lines in an unnamed temporary file, or the error that prevented writing
/// them. The error is kept, because otherwise a full disk would make restrictions of the
/// site disappear.
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
    /// Creates a value without entries.
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

    /// Returns the entries of an ARC sitemap; `None` if discovery did not read the sitemap
    /// in this run.
    ///
    /// If the only sitemap that was read has another URL, its entries are returned: its
    /// request was redirected.
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

    /// Returns the SPXI index, if discovery read it in this run.
    pub(crate) fn take_spxi(&mut self, url: &str) -> Option<Vec<u8>> {
        let found = self.spxi.remove(url);
        found.or_else(|| {
            if self.spxi.len() == 1 { self.spxi.pop_first() } else { None }.map(|it| it.1)
        })
    }
}

/// Iterator over the ARC entries in a temporary file.
#[derive(Debug)]
pub(crate) struct ArcEntries {
    input: BufReader<File>,
    n_lines: u64,
    n_read: u64,
    error: Option<io::Error>,
}

impl ArcEntries {
    /// Moves the iterator back to the first entry.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.n_read = 0;
        self.input.rewind()
    }

    /// Returns an error unless all entries were read.
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
