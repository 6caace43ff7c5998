//! Reads pages in parallel. The results are stored in the order of the rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use rutter_extract::SiteExtractSettings;
use rutter_finding::{Finding, Place};
use rutter_page::Timestamp;

use super::SiteBase;
use super::SiteView;
use super::files::{LARGEST_PAGE, MediaKind, SiteFiles};
use super::page::{self, PageJob, PageResult};
use super::page_links::UrlLookup;
use super::page_rows::PageRow;
use crate::rules;

rutter_finding::rules! {
    PAGE_TOO_LARGE = "XL004" "page-too-large-to-read" (advice, "D89") {
        title: "page is larger than readers accept",
        why: "Crawlers truncate or skip such pages.",
        fix: "Split the page.",
        wrong: "A page of 50 MB.",
        right: "Several pages of less than 10 MB.",
    }
}

/// The maximum number of results in the queue.
const WAITING: usize = 64;

/// The result of reading the page of a row, or the reason why it was not read.
enum RowOutcome {
    PageResult(Box<PageResult>),
    TooLarge(u64),
    Failed(String),
}

impl RowOutcome {
    /// Converts the outcome to a result. A page that was not read gets a finding.
    fn looked(self) -> PageResult {
        let one = |rule, detail: String| PageResult {
            of_page: vec![Finding::new(rule, Place::WHOLE, detail)],
            ..PageResult::default()
        };
        match self {
            Self::PageResult(looked) => *looked,
            Self::TooLarge(n_bytes) => {
                one(&PAGE_TOO_LARGE, format!("{n_bytes} bytes, at most {LARGEST_PAGE}"))
            }
            Self::Failed(why) => one(&rules::UNREADABLE, why),
        }
    }
}

impl SiteView<'_> {
    /// Reads every page. Returns the number of all pages and the number of unchanged pages.
    pub(crate) fn read_pages(&mut self) -> (u64, u64) {
        let read = self.read_rows();
        let counts = self.store_pages(read);
        // The texts of the pages are not needed after the comparison.
        for row in &mut self.rows.list {
            if let Some(scp) = &mut row.scp {
                scp.pieces = Vec::new();
            }
        }
        counts
    }

    /// Reads the pages of all rows in parallel.
    fn read_rows(&self) -> ReadRows {
        let Some(now) = self.options.check_options.now.or_else(|| Timestamp::from_unix_seconds(0))
        else {
            return ReadRows::default();
        };
        let rows = &self.rows.list;
        let (files, known) = (self.files, &self.known);
        let find = |row: &PageRow| {
            let at = known.binary_search_by(|one| one.url.cmp(&row.url)).ok()?;
            known.get(at)
        };
        // Missing link targets can be found only with all files and the base URL: a live site is
        // fetched only in part, and without a base URL the start of the path in a link is unknown.
        let home = self.home.filter(|home| !files.is_live() && !home.is_placeholder());
        let targets = home.map(|home| UrlLookup::new(files, home));
        let reader = PageReader {
            files,
            home: self.home,
            targets: targets.as_ref(),
            extract: &self.options.extract,
            now,
        };
        let next = AtomicUsize::new(0);
        let work = |out: mpsc::SyncSender<(usize, RowOutcome)>| loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(at) else { break };
            let Some(file) = row.file.filter(|file| files.get(*file).kind == MediaKind::Page)
            else {
                continue;
            };
            let answer = catch_unwind(AssertUnwindSafe(|| reader.look(row, file, find(row))));
            let answer = answer.unwrap_or_else(|_| {
                RowOutcome::Failed("Rutter failed to read the page because of a bug; please report it with the page".into())
            });
            if out.send((at, answer)).is_err() {
                break;
            }
        };
        let mut read = ReadRows::default();
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(WAITING);
            for _ in 0..self.options.threads.max(1) {
                let sender = sender.clone();
                scope.spawn(move || work(sender));
            }
            drop(sender);
            for (at, answer) in receiver {
                match answer {
                    // Most pages have no findings.
                    RowOutcome::PageResult(looked)
                        if looked.of_page.is_empty()
                            && looked.of_twin.is_empty()
                            && looked.of_scp.is_empty() =>
                    {
                        read.clean.push((at, Box::new(looked.seen)));
                    }
                    other => read.others.push((at, other)),
                }
            }
        });
        read.others.sort_by_key(|(at, _)| *at);
        read
    }

    /// Stores the results in the rows, and their findings. Returns the number of all pages and the
    /// number of unchanged pages.
    fn store_pages(&mut self, read: ReadRows) -> (u64, u64) {
        let mut counts = (0, 0);
        for (at, page) in read.clean {
            counts.0 += 1;
            counts.1 += u64::from(page.is_as_built == Some(true));
            if let Some(row) = self.rows.list.get_mut(at) {
                row.page = Some(page);
            }
        }
        for (at, answer) in read.others {
            let Some(row) = self.rows.list.get_mut(at) else { continue };
            let (Some(file), twin) = (row.file, row.twin) else { continue };
            let scp = row.scp.as_ref().map(|scp| scp.file);
            let looked = answer.looked();
            counts.0 += 1;
            counts.1 += u64::from(looked.seen.is_as_built == Some(true));
            row.page = Some(Box::new(looked.seen));
            for finding in looked.of_page {
                self.findings.add(file, finding);
            }
            for finding in looked.of_twin {
                if let Some(twin) = twin {
                    self.findings.add(twin, finding);
                }
            }
            for finding in looked.of_scp {
                if let Some(scp) = scp {
                    self.findings.add(scp, finding);
                }
            }
        }
        counts
    }
}

/// The results of reading pages, by row.
#[derive(Default)]
struct ReadRows {
    /// Pages without findings, which are most pages, in any order.
    clean: Vec<(usize, Box<page::PageSummary>)>,
    /// All other results, sorted by row.
    others: Vec<(usize, RowOutcome)>,
}

/// The input that is shared for reading all pages.
struct PageReader<'r> {
    files: &'r SiteFiles,
    home: Option<&'r SiteBase>,
    targets: Option<&'r UrlLookup<'r>>,
    extract: &'r SiteExtractSettings,
    now: Timestamp,
}

impl PageReader<'_> {
    fn look(&self, row: &PageRow, file: u32, known: Option<&super::BuiltPage>) -> RowOutcome {
        let n_bytes = self.files.get(file).bytes;
        if LARGEST_PAGE < n_bytes {
            return RowOutcome::TooLarge(n_bytes);
        }
        let bytes = match self.files.read(file, LARGEST_PAGE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return RowOutcome::TooLarge(n_bytes),
            Err(error) => return RowOutcome::Failed(error.to_string()),
        };
        let twin = row.twin.and_then(|twin| self.files.read(twin, LARGEST_PAGE).ok().flatten());
        let path = self.home.and_then(|home| home.path_of(&row.url)).unwrap_or(&row.url);
        let job = PageJob {
            url: &row.url,
            bytes: &bytes,
            twin: twin.as_deref(),
            scp: row.scp.as_deref(),
            known,
            closed: row.arc.as_ref().and_then(|arc| arc.closed),
            now: self.now,
            control: self.extract.of_path(path),
        };
        let mut looked = page::look(&job);
        if let Some(targets) = self.targets {
            looked.seen.broken = targets.broken(&row.url, &bytes);
        }
        RowOutcome::PageResult(Box::new(looked))
    }
}
