//! Reads the entries of an ARC sitemap or delta that was fetched.
//!
//! Each file is read twice: first to its end for validation, then into the replica.

use std::fs::File;
use std::io::{self, Cursor, Read};

use rutter_arc::{ArcEntry, ArcError, Limits, delta};
use rutter_fetch::{FetchedResponse, ResourceKind, ResponseBody, Url, decode};
use rutter_finding::{FindingSink, Report as Findings, Strictness};
use rutter_page::{IntoOwned, Timestamp};

use crate::consent::page_policy::PagePolicy;
use crate::discover::ParsedArc;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::spool_dir::SpoolDir;

/// Maximum number of entries of other sites, per file, whose URLs the report lists.
pub(super) const MOST_FOREIGN: usize = 10_000;

/// Numbers of the entries of an ARC file that belong to this site and to other sites.
/// Entries of other sites are ignored, because a site cannot state the use of their pages
/// (D88).
#[derive(Debug, Default)]
pub(super) struct EntryCounts {
    pub(super) n_own: u64,
    /// Number of entries of this site that only report a removal.
    pub(super) n_gone: u64,
    pub(super) n_foreign: u64,
    /// Origin of the first entry that belongs to another site.
    pub(super) foreign: Option<String>,
    /// URLs of entries that belong to other sites, up to a limit.
    pub(super) foreign_urls: Vec<String>,
}

impl EntryCounts {
    pub(super) fn of(
        page_policy: &PagePolicy,
        entries: impl Iterator<Item = ArcEntry<'static>>,
    ) -> Self {
        let mut sorted = Self::default();
        entries.for_each(|entry| sorted.count(page_policy, &entry));
        sorted
    }

    pub(super) fn count(&mut self, page_policy: &PagePolicy, entry: &ArcEntry<'_>) {
        if page_policy.is_site_url(entry.url.key()) {
            self.n_own += 1;
            self.n_gone += u64::from(entry.removed);
            return;
        }
        self.n_foreign += 1;
        if self.foreign_urls.len() < MOST_FOREIGN {
            self.foreign_urls.push(entry.url.key().to_owned());
        }
        if self.foreign.is_none() {
            let url = Url::parse(entry.url.as_str()).ok();
            self.foreign = url.map(|url| url.origin().ascii_serialization());
        }
    }

    pub(super) fn report(&self, run: &mut SyncRun<'_>, url: &str) {
        let report = &mut run.report;
        *report.arc.get_or_insert(0) += self.n_own - self.n_gone;
        let Some(first) = &self.foreign else { return };
        report.count_left_out(LeftOutReason::ARC_OTHER_SITE, self.n_foreign);
        for url in &self.foreign_urls {
            report.list_left_out(url, LeftOutReason::ARC_OTHER_SITE);
        }
        if self.n_own == 0 {
            let text = format!(
                "ignored: this ARC sitemap lists only pages of other sites, such as {first}; if \
                 {first} is the same site, add it as an alias"
            );
            report.add_problem(url, ProblemKind::Integrity, text);
        }
    }
}

pub(super) type EntryReader = rutter_arc::ArcReader<Box<dyn Read>>;

/// Opens a fetched ARC sitemap or delta for reading.
pub(super) fn open(response: &FetchedResponse) -> Result<EntryReader, ArcError> {
    let coding = response.fields.content_encoding.as_deref();
    let most = ResourceKind::Arc.size_limits().decoded;
    let bytes = || -> io::Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = match &response.body {
            ResponseBody::Spooled { path, .. } => Box::new(File::open(path)?),
            ResponseBody::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            ResponseBody::Absent => Box::new(io::empty()),
        };
        decode::open(raw, coding, most).map_err(io::Error::other)
    };
    let mut start = Vec::new();
    bytes()?.take(64 << 10).read_to_end(&mut start)?;
    let form = rutter_arc::detect_format(&start).unwrap_or(rutter_arc::ArcDocumentKind::Json);
    rutter_arc::open_sitemap(bytes()?, form, Limits::DEFAULT)
}

/// Summary of an ARC sitemap or delta that was read to its end.
pub(super) struct ArcSummary {
    pub(super) said: ParsedArc,
    pub(super) sorted: EntryCounts,
    /// Start and end of the time span that a delta covers.
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl ArcSummary {
    /// Returns whether the delta of `day` contains every change after `known`. That is true
    /// if the delta starts at the beginning of the day or earlier, or not after `known`.
    pub(super) fn continues(&self, day: &str, known: Option<Timestamp>) -> bool {
        self.since.is_none_or(|since| Some(since) <= delta::parse_day(day).max(known))
    }
}

/// Reads an ARC sitemap or delta to its end, and returns its metadata and numbers of
/// entries.
pub(super) fn summarize(
    page_policy: &PagePolicy,
    response: &FetchedResponse,
) -> Result<ArcSummary, ArcError> {
    let mut findings = Findings::new(Strictness::Lenient);
    let (mut said, mut sorted) = (ParsedArc::default(), EntryCounts::default());
    let sink: &mut dyn FindingSink = &mut findings;
    let mut reader = open(response)?;
    let mut count = |entry: ArcEntry<'_>| {
        said.count(&entry);
        sorted.count(page_policy, &entry);
    };
    while reader.next(sink, &mut count)?.is_some() {}
    let receipt = reader.finish(sink)?;
    let (since, until) = (receipt.head.since, receipt.head.until);
    Ok(ArcSummary { said: said.finish(receipt), sorted, since, until })
}

/// Iterator over the entries of an ARC sitemap or delta that is already validated.
pub(super) struct ArcEntryReader {
    pub(super) reader: EntryReader,
    pub(super) findings: Findings,
    pub(super) error: Option<ArcError>,
}

impl ArcEntryReader {
    pub(super) fn open(response: &FetchedResponse) -> Result<Self, ArcError> {
        let (reader, findings) = (open(response)?, Findings::new(Strictness::Lenient));
        Ok(Self { reader, findings, error: None })
    }

    pub(super) fn finish(self) -> Result<(), ArcError> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Iterator for ArcEntryReader {
    type Item = ArcEntry<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.next(&mut self.findings, |entry| entry.into_owned()) {
            Ok(entry) => entry,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

/// Deletes the spool file of a response.
pub(super) fn discard(response: &FetchedResponse) {
    if let ResponseBody::Spooled { path, .. } = &response.body {
        SpoolDir::discard(path);
    }
}
