//! Reads pages in parallel: workers take jobs in the order of rows, what they
//! found is put back in that order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use rutter_finding::{Finding, Place};
use rutter_page::Timestamp;

use super::View;
use super::files::{FileKind, Files, LARGEST_PAGE};
use super::page::{self, Job, Looked};
use super::page_links::SiteTargets;
use super::rows::Row;
use crate::rules;

/// Answers that may wait to be taken.
const WAITING: usize = 64;

/// What came of a row.
enum Answer {
    Looked(Box<Looked>),
    TooLarge(u64),
    Failed(String),
}

impl View<'_> {
    /// Looks at every page; gives how many there were, and of how many the
    /// build knew the bytes.
    pub(crate) fn read_pages(&mut self) -> (u64, u64) {
        let Some(now) = self.judging.judging.now.or_else(|| Timestamp::from_unix_seconds(0)) else {
            return (0, 0);
        };
        let rows = &self.rows.list;
        let (files, known) = (self.files, &self.known);
        let find = |row: &Row| {
            let at = known.binary_search_by(|one| one.url.cmp(&row.url)).ok()?;
            known.get(at)
        };
        // A live site is fetched in part only; without a base URL it is not
        // known where the path of a link begins.
        let home = self.home.filter(|home| !files.is_live() && !home.is_placeholder());
        let targets = home.map(|home| SiteTargets::new(files, home));
        let next = AtomicUsize::new(0);
        let work = |out: mpsc::SyncSender<(usize, Answer)>| loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(at) else { break };
            let Some(file) = row.file.filter(|file| files.get(*file).kind == FileKind::Page) else {
                continue;
            };
            let answer = catch_unwind(AssertUnwindSafe(|| {
                look(files, row, (file, targets.as_ref()), find(row), now)
            }));
            let answer = answer.unwrap_or_else(|_| {
                Answer::Failed("looking at it failed inside Rutter; please report the page".into())
            });
            if out.send((at, answer)).is_err() {
                break;
            }
        };
        let mut answers: Vec<(usize, Answer)> = Vec::new();
        let mut seen: Vec<(usize, Box<page::PageSeen>)> = Vec::new();
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(WAITING);
            for _ in 0..self.judging.threads.max(1) {
                let sender = sender.clone();
                scope.spawn(move || work(sender));
            }
            drop(sender);
            for (at, answer) in receiver {
                match answer {
                    // Most pages have nothing to say.
                    Answer::Looked(looked)
                        if looked.of_page.is_empty()
                            && looked.of_twin.is_empty()
                            && looked.of_scp.is_empty() =>
                    {
                        seen.push((at, Box::new(looked.seen)));
                    }
                    other => answers.push((at, other)),
                }
            }
        });
        let mut counts = (0, 0);
        for (at, page) in seen {
            counts.0 += 1;
            counts.1 += u64::from(page.is_as_built == Some(true));
            if let Some(row) = self.rows.list.get_mut(at) {
                row.page = Some(page);
            }
        }
        answers.sort_by_key(|(at, _)| *at);
        for (at, answer) in answers {
            let Some(row) = self.rows.list.get_mut(at) else { continue };
            let (Some(file), twin) = (row.file, row.twin) else { continue };
            let scp = row.scp.as_ref().map(|scp| scp.file);
            let one = |rule, detail: String| vec![Finding::new(rule, Place::WHOLE, detail)];
            let looked = match answer {
                Answer::Looked(looked) => *looked,
                Answer::TooLarge(n_bytes) => Looked {
                    of_page: one(
                        &rules::PAGE_TOO_LARGE,
                        format!("{n_bytes} bytes, at most {LARGEST_PAGE}"),
                    ),
                    ..Looked::default()
                },
                Answer::Failed(why) => {
                    Looked { of_page: one(&rules::UNREADABLE, why), ..Looked::default() }
                }
            };
            counts.0 += 1;
            counts.1 += u64::from(looked.seen.is_as_built == Some(true));
            row.page = Some(Box::new(looked.seen));
            for finding in looked.of_page {
                self.book.say(file, finding);
            }
            for finding in looked.of_twin {
                if let Some(twin) = twin {
                    self.book.say(twin, finding);
                }
            }
            for finding in looked.of_scp {
                if let Some(scp) = scp {
                    self.book.say(scp, finding);
                }
            }
        }
        // What was compared is no longer needed.
        for row in &mut self.rows.list {
            if let Some(scp) = &mut row.scp {
                scp.pieces = Vec::new();
            }
        }
        counts
    }
}

fn look(
    files: &Files,
    row: &Row,
    (file, targets): (u32, Option<&SiteTargets<'_>>),
    known: Option<&super::Known>,
    now: Timestamp,
) -> Answer {
    let n_bytes = files.get(file).bytes;
    if LARGEST_PAGE < n_bytes {
        return Answer::TooLarge(n_bytes);
    }
    let bytes = match files.read(file, LARGEST_PAGE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Answer::TooLarge(n_bytes),
        Err(error) => return Answer::Failed(error.to_string()),
    };
    let twin = row.twin.and_then(|twin| files.read(twin, LARGEST_PAGE).ok().flatten());
    let job = Job {
        url: &row.url,
        bytes: &bytes,
        twin: twin.as_deref(),
        scp: row.scp.as_deref(),
        known,
        closed: row.arc.as_ref().and_then(|arc| arc.closed),
        now,
    };
    let mut looked = page::look(&job);
    if let Some(targets) = targets {
        looked.seen.broken = targets.broken(&row.url, &bytes);
    }
    Answer::Looked(Box::new(looked))
}
