//! The threads of a crawl: workers extract pages, and one writer commits them.
//!
//! Input: fetched pages, by [`WorkerPool::extract`]. Output: pages in the replica, and a
//! [`WorkerResult`] for each page. If the writer fails, the next call of the pool returns
//! its error.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rutter_extract::{PageSketch, TemplateSet};
use rutter_fetch::{ResponseBody, Validators, decode};
use rutter_page::PageUrl;
use rutter_store::{NoteKind, UrlNote, UrlRecords};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::crawl::no_page::RejectedPage;
use crate::crawl::page::{self, ExtractedPage, FetchedPage};
use crate::crawl::page_writer::{PageWriter, WriteCommand, WriteSummary};
use crate::error::SyncError;
use crate::report::left_out::LeftOutReason;

/// Maximum number of pages that wait for extraction.
const QUEUED_PAGES: usize = 64;
/// Maximum number of commands that wait for the writer.
const QUEUED_WRITES: usize = 64;
/// Maximum total size, in KiB, of the pages that wait for extraction or are being
/// extracted. Extraction uses about ten times the size of a page in memory, so a page of
/// this size is extracted alone.
const MEMORY_KIB: u32 = 2 << 10;
/// Size in KiB from which a page counts as long. One thread extracts all long pages,
/// because an allocator keeps the memory that a thread has used for the same thread: with
/// several threads, each would keep the memory for a long page.
const LONG_PAGE_KIB: u32 = 128;
/// Estimated ratio between the size of a page and its compressed size.
const COMPRESSION_FACTOR: usize = 6;

/// Result of a worker for one page.
#[derive(Debug)]
pub(crate) struct WorkerResult {
    pub(crate) depth: u32,
    pub(crate) links: Vec<String>,
    /// Links beyond the number of links followed from one page.
    pub(crate) more_links: Vec<String>,
    /// Hashes of the key and the content of the page, if other URLs may be aliases of it.
    pub(crate) content: Option<(u64, u64)>,
    /// The page, if the crawl must store its links before the page is written.
    pub(crate) page: Option<Box<ExtractedPage>>,
    /// The page and the URL of its Markdown twin, if the twin may have more content.
    pub(crate) twin: Option<(Box<ExtractedPage>, String)>,
    /// The response, if it is not a page.
    pub(crate) failed: Option<FailedPage>,
    /// The page, if it names another URL of the site as canonical.
    pub(crate) variant: Option<Box<PossibleAlias>>,
}

/// A page that names another URL as canonical. The page is stored, unless the canonical
/// page is stored with the same content.
#[derive(Debug)]
pub(crate) struct PossibleAlias {
    pub(crate) page: Box<ExtractedPage>,
    pub(crate) of: String,
    pub(crate) depth: u32,
    /// The result to report if the page is not stored.
    pub(crate) failed: FailedPage,
}

/// A response that is not a page.
#[derive(Debug)]
pub(crate) struct FailedPage {
    pub(crate) url: PageUrl<'static>,
    pub(crate) why: LeftOutReason,
    /// Validators for the next request, if the same response would not be a page in a later
    /// sync either.
    pub(crate) known: Option<Validators>,
    /// The URL note with the `lastmod` for which the URL was requested.
    pub(crate) lastmod: Option<UrlNote>,
    /// Whether the replica has the page, and whether the page no longer exists.
    pub(crate) had_row: bool,
    pub(crate) is_gone: bool,
}

/// A message of a worker to the crawl.
enum WorkerMessage {
    Done(Box<WorkerResult>),
    /// The worker ended, because the writer ended or the worker panicked.
    Failed,
}

/// Fetched pages, with their number of links from the home page.
type SampledPages = Vec<(FetchedPage, u32)>;

/// A job for a worker.
enum WorkerJob {
    /// Extract a page. The permit reserves memory for the page until the page is extracted.
    Extract { raw: Box<FetchedPage>, depth: u32, permit: OwnedSemaphorePermit },
    /// Learn the templates of the site from pages, and return the pages.
    Learn(SampledPages, oneshot::Sender<(SampledPages, TemplateSet)>),
}

/// The worker threads and the writer thread of a crawl.
///
/// The pool uses its own threads and not those of the async runtime, because long
/// extractions of several crawls would occupy all threads of the runtime.
pub(crate) struct WorkerPool {
    jobs: Option<Sender<WorkerJob>>,
    long_jobs: Option<Sender<WorkerJob>>,
    writes: Option<Sender<WriteCommand>>,
    results: UnboundedReceiver<WorkerMessage>,
    /// Result of the writer thread, sent when the thread ends.
    written: oneshot::Receiver<Result<WriteSummary, SyncError>>,
    memory: Arc<Semaphore>,
    n_extracting: u64,
}

impl WorkerPool {
    /// Starts the writer, `n_workers` workers (at least one), and one worker for long
    /// pages.
    pub(crate) fn start(page_writer: PageWriter, n_workers: usize) -> Result<Self, SyncError> {
        let returns_pages = page_writer.commits_on_demand;
        let (jobs, jobs_in) = channel::<WorkerJob>(QUEUED_PAGES);
        let (writes, writes_in) = channel::<WriteCommand>(QUEUED_WRITES);
        let (results_out, results) = unbounded_channel();
        let (written_out, written) = oneshot::channel();
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map(drop).map_err(|_| SyncError::Worker)
        };
        let write = move || {
            let written = page_writer.run(writes_in);
            // The store is dropped before the result is sent. Otherwise this thread may be
            // its last user, and close the replica while the process exits.
            drop(page_writer);
            drop(written_out.send(written));
        };
        spawn("writer", Box::new(write))?;
        let (long_jobs, long_in) = channel::<WorkerJob>(QUEUED_PAGES);
        let [jobs_in, long_in] = [jobs_in, long_in].map(|jobs| Arc::new(Mutex::new(jobs)));
        let readers = std::iter::repeat_n(("page worker", jobs_in), n_workers.max(1));
        for (name, jobs) in readers.chain([("long-page worker", long_in)]) {
            let (writes, results) = (writes.clone(), results_out.clone());
            spawn(name, Box::new(move || run_worker(&jobs, &writes, &results, returns_pages)))?;
        }
        let (jobs, long_jobs, writes) = (Some(jobs), Some(long_jobs), Some(writes));
        let memory = Arc::new(Semaphore::new(MEMORY_KIB as usize));
        Ok(Self { jobs, long_jobs, writes, results, written, memory, n_extracting: 0 })
    }

    /// Queues a page for extraction and writing.
    pub(crate) async fn extract(&mut self, raw: FetchedPage, depth: u32) -> Result<(), SyncError> {
        self.n_extracting += 1;
        let size = memory_of(&raw);
        let permit = Arc::clone(&self.memory).acquire_many_owned(size).await;
        let jobs = if size < LONG_PAGE_KIB { &self.jobs } else { &self.long_jobs };
        let is_taken = match (jobs, permit) {
            (Some(jobs), Ok(permit)) => {
                let raw = Box::new(raw);
                jobs.send(WorkerJob::Extract { raw, depth, permit }).await.is_ok()
            }
            _ => false,
        };
        if is_taken { Ok(()) } else { Err(self.failure().await) }
    }

    /// Learns the templates of the site from pages, and returns the pages.
    pub(crate) async fn learn(
        &mut self,
        sample: SampledPages,
    ) -> Result<(SampledPages, TemplateSet), SyncError> {
        let (learned_out, learned) = oneshot::channel();
        // The worker for long pages runs the job, because some of the pages may be long.
        let is_taken = match &self.long_jobs {
            Some(jobs) => jobs.send(WorkerJob::Learn(sample, learned_out)).await.is_ok(),
            None => false,
        };
        match learned.await {
            Ok(learned) if is_taken => Ok(learned),
            _ => Err(self.failure().await),
        }
    }

    /// Sends a command to the writer.
    pub(crate) async fn write(&mut self, write: WriteCommand) -> Result<(), SyncError> {
        let is_taken = match &self.writes {
            Some(writes) => writes.send(write).await.is_ok(),
            None => false,
        };
        if is_taken { Ok(()) } else { Err(self.failure().await) }
    }

    /// Sends a command to the writer if its queue is not full. Returns whether the command
    /// was sent.
    pub(crate) fn try_write(&self, write: WriteCommand) -> bool {
        self.writes.as_ref().is_some_and(|writes| writes.try_send(write).is_ok())
    }

    /// Returns a result without waiting; `None` if no result is available.
    pub(crate) async fn try_result(&mut self) -> Result<Option<WorkerResult>, SyncError> {
        match self.results.try_recv() {
            Ok(message) => self.receive(Some(message)).await.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Returns whether a page is being extracted.
    pub(crate) fn is_extracting(&self) -> bool {
        0 < self.n_extracting
    }

    /// Waits for the next result; `None` if no page is being extracted.
    pub(crate) async fn next_result(&mut self) -> Result<Option<WorkerResult>, SyncError> {
        if self.n_extracting == 0 {
            return Ok(None);
        }
        let message = self.results.recv().await;
        self.receive(message).await.map(Some)
    }

    async fn receive(&mut self, message: Option<WorkerMessage>) -> Result<WorkerResult, SyncError> {
        let Some(WorkerMessage::Done(note)) = message else { return Err(self.failure().await) };
        self.n_extracting = self.n_extracting.saturating_sub(1);
        Ok(*note)
    }

    /// Waits until all jobs and commands are done, ends the threads, and returns the
    /// summary of the writer.
    pub(crate) async fn end(self) -> Result<WriteSummary, SyncError> {
        let Self { jobs, long_jobs, writes, written, mut results, .. } = self;
        // Workers end when their queues close. The writer ends when the last worker has
        // ended.
        drop((jobs, long_jobs, writes));
        let written = written.await.map_err(|_| SyncError::Worker)??;
        while let Some(message) = results.recv().await {
            if matches!(message, WorkerMessage::Failed) {
                return Err(SyncError::Worker);
            }
        }
        Ok(written)
    }

    /// Closes all queues and returns the error because of which the threads ended.
    async fn failure(&mut self) -> SyncError {
        // If only one worker ended, the other workers and the writer still wait for input.
        (self.jobs, self.long_jobs, self.writes) = (None, None, None);
        match (&mut self.written).await {
            Ok(Err(error)) => error,
            _ => SyncError::Worker,
        }
    }
}

/// Returns the estimated size of a page in KiB, at most [`MEMORY_KIB`].
fn memory_of(raw: &FetchedPage) -> u32 {
    let ResponseBody::Memory(bytes) = &raw.response.body else { return 1 };
    let is_packed = raw.response.fields.content_encoding.is_some() || decode::is_compressed(bytes);
    let size = bytes.len().saturating_mul(if is_packed { COMPRESSION_FACTOR } else { 1 });
    u32::try_from(size >> 10).unwrap_or(MEMORY_KIB).clamp(1, MEMORY_KIB)
}

/// Runs a worker: executes jobs until the queue closes or the writer ends.
fn run_worker(
    jobs: &Mutex<Receiver<WorkerJob>>,
    writes: &Sender<WriteCommand>,
    results: &UnboundedSender<WorkerMessage>,
    returns_pages: bool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let (raw, depth, permit) = match job {
            None => return,
            Some(WorkerJob::Extract { raw, depth, permit }) => (raw, depth, permit),
            Some(WorkerJob::Learn(sample, learned)) => {
                drop(learned.send(learn(sample)));
                continue;
            }
        };
        let mut guard = ExitGuard { results, has_failed: true };
        let Some(note) = extract_page(*raw, depth, writes, returns_pages) else { return };
        guard.has_failed = false;
        drop(permit);
        drop(results.send(WorkerMessage::Done(Box::new(note))));
    }
}

fn learn(sample: SampledPages) -> (SampledPages, TemplateSet) {
    let sketches: Vec<PageSketch> =
        sample.iter().filter_map(|(raw, _)| page::sketch(raw)).collect();
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches, &[]);
    (sample, templates)
}

/// Sends [`WorkerMessage::Failed`] when it is dropped, unless the job was finished.
struct ExitGuard<'a> {
    results: &'a UnboundedSender<WorkerMessage>,
    has_failed: bool,
}

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        if self.has_failed {
            drop(self.results.send(WorkerMessage::Failed));
        }
    }
}

/// Extracts one page, and passes it to the writer unless the crawl has to decide about it
/// first. Returns `None` if the writer ended.
fn extract_page(
    mut raw: FetchedPage,
    depth: u32,
    writes: &Sender<WriteCommand>,
    returns_pages: bool,
) -> Option<WorkerResult> {
    let (url, validators) = (raw.url.clone(), raw.response.validators.clone());
    let had_row = raw.row.is_some();
    let has_content = raw.row.as_ref().is_some_and(|row| row.withheld.is_none());
    let is_lastmod = |note: &&UrlNote| note.kind() == NoteKind::Lastmod && note.url == url.key();
    let lastmod = raw.records.notes.iter().find(is_lastmod).cloned();
    let (links, more_links) = (Vec::new(), Vec::new());
    let nothing = WorkerResult {
        depth,
        links,
        more_links,
        content: None,
        page: None,
        twin: None,
        failed: None,
        variant: None,
    };
    let write = |page: Box<ExtractedPage>| writes.blocking_send(WriteCommand::Page(page)).ok();
    if let Some(page) = raw.instead_of.take() {
        // The Markdown twin replaces the HTML page only if the twin's own usage statements
        // do not withhold it.
        let twin = page::read(raw).ok().filter(|twin| twin.withheld.is_none());
        let page = match twin {
            Some(twin) => Box::new(ExtractedPage { records: page.records, ..twin }),
            None => page,
        };
        write(page)?;
        return Some(nothing);
    }
    match page::read(raw) {
        Ok(mut page) => {
            let links = std::mem::take(&mut page.links);
            let more_links = std::mem::take(&mut page.more_links);
            if let Some(of) = page.variant_of.take() {
                let (why, known) = (LeftOutReason::alias(of.clone()), Some(validators));
                let failed = FailedPage { url, why, known, lastmod, had_row, is_gone: had_row };
                let variant =
                    Some(Box::new(PossibleAlias { page: Box::new(page), of, depth, failed }));
                return Some(WorkerResult { links, more_links, variant, ..nothing });
            }
            let content = page.comparable();
            let note = WorkerResult { links, more_links, content, ..nothing };
            let page = Box::new(page);
            Some(match page.twin.clone() {
                Some(twin) => WorkerResult { twin: Some((page, twin)), ..note },
                None if returns_pages => WorkerResult { page: Some(page), ..note },
                None => {
                    write(page)?;
                    note
                }
            })
        }
        Err(RejectedPage { why, withheld, links, more_links }) => {
            if let Some(withheld) = withheld.filter(|_| has_content) {
                let key = url.key().to_owned();
                writes
                    .blocking_send(WriteCommand::Withhold(key, withheld, UrlRecords::default()))
                    .ok()?;
            }
            let known = why.is_lasting().then_some(validators);
            let is_gone = had_row && why.is_other();
            let why = LeftOutReason::from(why);
            let failed = Some(FailedPage { url, why, known, lastmod, had_row, is_gone });
            Some(WorkerResult { links, more_links, failed, ..nothing })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rutter_fetch::{FetchedResponse, ResponseBody, ResponseFields};
    use rutter_page::Timestamp;
    use rutter_store::prelude::*;
    use rutter_store::{MemoryStore, Quota};

    use super::*;

    fn raw(path: &str) -> FetchedPage {
        let url = format!("http://harbour.example{path}");
        let now = Timestamp::parse("2027-01-10T00:00:00Z").unwrap();
        let text = "<html lang=en><title>T</title><main><p>Words of this page.</p></main>";
        FetchedPage {
            url: PageUrl::parse(url.clone()).unwrap(),
            response: FetchedResponse {
                url: rutter_fetch::Url::parse(&url).unwrap(),
                status: 200,
                fields: ResponseFields {
                    content_type: Some("text/html".into()),
                    ..ResponseFields::default()
                },
                validators: Validators::default(),
                body: ResponseBody::Memory(text.into()),
                digest: None,
                hops: Vec::new(),
                is_length_known: true,
                wire_bytes: 0,
                at: now,
            },
            row: None,
            said: Vec::new(),
            template: rutter_extract::TemplateChoice::Nothing,
            token: "Rutter".into(),
            now,
            records: UrlRecords::default(),
            most_links: 10,
            has: page::StoredNotes::default(),
            merges_variants: true,
            known_spelling: None,
            instead_of: None,
        }
    }

    #[tokio::test]
    async fn failing_writer_ends_the_crawl_with_its_error() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let now = Timestamp::parse("2027-01-10T00:00:00Z").unwrap();
        let publisher = store.register("http://harbour.example", &[]).unwrap();
        let lease = store.lease(publisher, now, now.plus_seconds(60)).unwrap();
        // The lease is lost before the first commit.
        store.release(lease.clone()).unwrap();
        let mut workers = WorkerPool::start(
            PageWriter {
                store,
                lease,
                quota: Quota::DEFAULT,
                now,
                commits_on_demand: false,
                page_policy: Arc::default(),
            },
            2,
        )
        .unwrap();
        workers.extract(raw("/a"), 0).await.unwrap();
        assert!(workers.next_result().await.unwrap().is_some());
        workers.write(WriteCommand::Commit).await.unwrap();
        // Fewer pages than workers: no call may wait forever.
        let mut error = None;
        for n in 0..100 {
            let sent = workers.extract(raw(&format!("/{n}")), 0).await;
            let done = match sent {
                Ok(()) => workers.next_result().await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(found) = done {
                error = Some(found);
                break;
            }
        }
        let error = error.unwrap();
        assert!(!matches!(error, SyncError::Worker), "{error}");
    }
}
