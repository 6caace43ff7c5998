//! What discovery comes upon beside the offer, kept until it is known whether
//! the file it stood in can be used: addresses of sitemaps, ARC entries, the
//! SPXI index.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

use rutter_arc::Entry as ArcEntry;
use rutter_discover::PageSink;
use rutter_page::Timestamp;
use rutter_signpost::sitemap::Entry;
use serde::{Deserialize, Serialize};

use crate::left_out::MOST_URLS;
use crate::limits::CrawlLimits;

/// An address in a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    #[serde(rename = "u")]
    pub(crate) url: String,
    /// When the page is said to have changed for good: of a bare day, its end.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub(crate) lastmod: Option<Timestamp>,
}

/// Everything that was come upon.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// Addresses that are kept of all sitemaps together.
    most_listed: usize,
    /// By sitemap.
    pub(crate) listed: BTreeMap<String, Vec<Listed>>,
    n_listed: usize,
    /// Addresses beyond what is kept, and some of them.
    pub(crate) n_over: u64,
    pub(crate) over: Vec<String>,
    arc: BTreeMap<String, Lines>,
    pub(crate) spxi: BTreeMap<String, Vec<u8>>,
}

/// Lines in a file without a name, or why there is none: what a site closes
/// must not be lost because our disk is full.
#[derive(Debug)]
struct Lines {
    file: io::Result<BufWriter<File>>,
    n_lines: u64,
}

impl PageSink for Gathered {
    fn page(&mut self, sitemap: &str, entry: &Entry) {
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
        listed.push(Listed { url: entry.loc.clone(), lastmod });
    }

    fn arc(&mut self, sitemap: &str, entry: &ArcEntry<'_>) {
        let lines = self.arc.entry(sitemap.to_owned()).or_insert_with(|| Lines {
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

impl Gathered {
    /// Nothing so far.
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

    /// The entries of an ARC sitemap; `None` where it was not read now.
    ///
    /// A sitemap that moved is known by where it came from in the end.
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

    /// The SPXI index, where it was read now.
    pub(crate) fn take_spxi(&mut self, url: &str) -> Option<Vec<u8>> {
        let found = self.spxi.remove(url);
        found.or_else(|| {
            if self.spxi.len() == 1 { self.spxi.pop_first() } else { None }.map(|it| it.1)
        })
    }
}

/// ARC entries out of a file.
#[derive(Debug)]
pub(crate) struct ArcEntries {
    input: BufReader<File>,
    n_lines: u64,
    n_read: u64,
    error: Option<io::Error>,
}

impl ArcEntries {
    /// Begins anew.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.n_read = 0;
        self.input.rewind()
    }

    /// Says that all of them were handed out.
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
