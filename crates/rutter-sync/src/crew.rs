//! The threads beside a walk: workers read pages, one writer commits them.
//!
//! Pages go in by [`Crew::read`] and come to rest in the replica; what is
//! learned from them for the walk itself comes back as a [`Note`].
//!
//! Refuses: to go on where nothing can be written. The walk is told why.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use rutter_fetch::Validators;
use rutter_page::PageUrl;
use rutter_store::Outlook;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::JoinHandle;

use crate::error::VisitError;
use crate::page::{self, Raw};
use crate::writer::{Write, Writer};

/// Pages that wait to be read.
const WAITING: usize = 64;
/// Pages that wait to be written.
const WRITTEN: usize = 256;

/// What a worker tells about a page beside the page.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) depth: u32,
    pub(crate) links: Vec<String>,
    /// Links of the page beyond these.
    pub(crate) n_more_links: u64,
    /// The page, and where its twin is.
    pub(crate) twin: Option<(PageUrl<'static>, String)>,
    /// The page that is none, why, and how to ask whether it still is none.
    pub(crate) failed: Option<(PageUrl<'static>, String, Validators)>,
}

/// The threads.
pub(crate) struct Crew {
    jobs: Sender<(Raw, u32)>,
    writes: Option<SyncSender<Write>>,
    notes: UnboundedReceiver<Note>,
    writer: JoinHandle<Result<Outlook, VisitError>>,
    workers: Vec<JoinHandle<()>>,
    n_reading: u64,
}

impl Crew {
    /// Starts a worker for each core, and one thread that writes.
    pub(crate) fn start(writer: Writer) -> Self {
        let (jobs, jobs_in) = channel::<(Raw, u32)>(WAITING);
        let (writes, writes_in) = sync_channel::<Write>(WRITTEN);
        let (notes_out, notes) = unbounded_channel();
        let writer = tokio::task::spawn_blocking(move || writer.run(&writes_in));
        let jobs_in = Arc::new(Mutex::new(jobs_in));
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..n_workers)
            .map(|_| {
                let (jobs, writes, notes) =
                    (Arc::clone(&jobs_in), writes.clone(), notes_out.clone());
                tokio::task::spawn_blocking(move || {
                    loop {
                        let job =
                            jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
                        let Some((raw, depth)) = job else { return };
                        if !work(raw, depth, &writes, &notes) {
                            // Nobody may wait for this queue any more.
                            jobs.lock().unwrap_or_else(PoisonError::into_inner).close();
                            return;
                        }
                    }
                })
            })
            .collect();
        Self { jobs, writes: Some(writes), notes, writer, workers, n_reading: 0 }
    }

    /// Has a page read and written.
    pub(crate) async fn read(&mut self, raw: Raw, depth: u32) -> Result<(), VisitError> {
        self.n_reading += 1;
        if self.jobs.send((raw, depth)).await.is_ok() { Ok(()) } else { Err(self.lost().await) }
    }

    /// Tells the writer something.
    pub(crate) async fn write(&mut self, write: Write) -> Result<(), VisitError> {
        let writes = self.writes.clone();
        let send = move || writes.is_some_and(|writes| writes.send(write).is_ok());
        let sent = tokio::task::spawn_blocking(send);
        if sent.await.unwrap_or(false) { Ok(()) } else { Err(self.lost().await) }
    }

    /// The same, where the writer has room at once.
    pub(crate) fn try_write(&self, write: Write) -> bool {
        self.writes.as_ref().is_some_and(|writes| writes.try_send(write).is_ok())
    }

    /// What is known by now.
    pub(crate) fn note(&mut self) -> Option<Note> {
        let note = self.notes.try_recv().ok()?;
        self.n_reading = self.n_reading.saturating_sub(1);
        Some(note)
    }

    /// The next note; `None` where nothing is being read.
    pub(crate) async fn wait(&mut self) -> Result<Option<Note>, VisitError> {
        if self.n_reading == 0 {
            return Ok(None);
        }
        let Some(note) = self.notes.recv().await else { return Err(self.lost().await) };
        self.n_reading -= 1;
        Ok(Some(note))
    }

    /// Ends the threads; gives what was written.
    pub(crate) async fn end(self) -> Result<Outlook, VisitError> {
        let Self { jobs, writes, writer, workers, .. } = self;
        drop(jobs);
        for worker in workers {
            worker.await.map_err(|_| VisitError::Worker)?;
        }
        drop(writes);
        writer.await.map_err(|_| VisitError::Worker)?
    }

    /// Why nothing can be written any more.
    async fn lost(&mut self) -> VisitError {
        // Where only the workers are gone, the writer still waits for pages.
        self.writes = None;
        match (&mut self.writer).await {
            Ok(Err(error)) => error,
            _ => VisitError::Worker,
        }
    }
}

/// Reads one page and hands it on; tells whether it could.
fn work(raw: Raw, depth: u32, writes: &SyncSender<Write>, notes: &UnboundedSender<Note>) -> bool {
    let (url, validators) = (raw.url.clone(), raw.answer.validators.clone());
    let note = match page::read(raw) {
        Ok(mut page) => {
            let links = std::mem::take(&mut page.links);
            let n_more_links = page.n_more_links;
            let twin = page.twin.take().map(|twin| (url, twin));
            if writes.send(Write::Page(Box::new(page))).is_err() {
                return false;
            }
            Note { depth, links, n_more_links, twin, failed: None }
        }
        Err(reason) => {
            let failed = Some((url, reason, validators));
            Note { depth, links: Vec::new(), n_more_links: 0, twin: None, failed }
        }
    };
    // Whoever has gone does not want to know.
    drop(notes.send(note));
    true
}
