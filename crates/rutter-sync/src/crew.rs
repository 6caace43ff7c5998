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
    /// The page that is none, why, and how to ask whether it still is none,
    /// where that is worth remembering.
    pub(crate) failed: Option<(PageUrl<'static>, String, Option<Validators>)>,
}

/// What a worker sends.
enum Message {
    Note(Box<Note>),
    /// It could not go on: nothing is written, or it broke.
    Lost,
}

/// The threads.
pub(crate) struct Crew {
    jobs: Option<Sender<(Raw, u32)>>,
    writes: Option<SyncSender<Write>>,
    notes: UnboundedReceiver<Message>,
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
                        let mut alarm = Alarm { notes: &notes, is_lost: true };
                        let Some(note) = work(raw, depth, &writes) else { return };
                        alarm.is_lost = false;
                        // Whoever has gone does not want to know.
                        drop(notes.send(Message::Note(Box::new(note))));
                    }
                })
            })
            .collect();
        let (jobs, writes) = (Some(jobs), Some(writes));
        Self { jobs, writes, notes, writer, workers, n_reading: 0 }
    }

    /// Has a page read and written.
    pub(crate) async fn read(&mut self, raw: Raw, depth: u32) -> Result<(), VisitError> {
        self.n_reading += 1;
        let is_taken = match &self.jobs {
            Some(jobs) => jobs.send((raw, depth)).await.is_ok(),
            None => false,
        };
        if is_taken { Ok(()) } else { Err(self.lost().await) }
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
    pub(crate) async fn note(&mut self) -> Result<Option<Note>, VisitError> {
        match self.notes.try_recv() {
            Ok(message) => self.taken(Some(message)).await.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The next note; `None` where nothing is being read.
    pub(crate) async fn wait(&mut self) -> Result<Option<Note>, VisitError> {
        if self.n_reading == 0 {
            return Ok(None);
        }
        let message = self.notes.recv().await;
        self.taken(message).await.map(Some)
    }

    async fn taken(&mut self, message: Option<Message>) -> Result<Note, VisitError> {
        let Some(Message::Note(note)) = message else { return Err(self.lost().await) };
        self.n_reading = self.n_reading.saturating_sub(1);
        Ok(*note)
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
        // Where only a worker is gone, the others and the writer still wait.
        (self.jobs, self.writes) = (None, None);
        match (&mut self.writer).await {
            Ok(Err(error)) => error,
            _ => VisitError::Worker,
        }
    }
}

/// Tells the walk where a worker ends without having done its work.
struct Alarm<'a> {
    notes: &'a UnboundedSender<Message>,
    is_lost: bool,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if self.is_lost {
            drop(self.notes.send(Message::Lost));
        }
    }
}

/// Reads one page and hands it on; `None` where nobody takes it.
fn work(raw: Raw, depth: u32, writes: &SyncSender<Write>) -> Option<Note> {
    let (url, validators, is_twin) = (raw.url.clone(), raw.answer.validators.clone(), raw.is_twin);
    let nothing = Note { depth, links: Vec::new(), n_more_links: 0, twin: None, failed: None };
    match page::read(raw) {
        Ok(mut page) => {
            let links = std::mem::take(&mut page.links);
            let n_more_links = page.n_more_links;
            let twin = page.twin.take().map(|twin| (url, twin));
            writes.send(Write::Page(Box::new(page))).ok()?;
            Some(Note { links, n_more_links, twin, ..nothing })
        }
        Err(reason) => {
            let known = (!is_twin && reason.is_lasting()).then_some(validators);
            Some(Note { failed: Some((url, reason.to_string(), known)), ..nothing })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rutter_fetch::{Body, Fetched, Fields};
    use rutter_page::Timestamp;
    use rutter_store::{MemoryStore, Quota, Store};

    use super::*;

    fn raw(path: &str) -> Raw {
        let url = format!("http://harbour.example{path}");
        let now = Timestamp::parse("2027-01-10T00:00:00Z").unwrap();
        let text = "<html lang=en><title>T</title><main><p>Words of this page.</p></main>";
        Raw {
            url: PageUrl::parse(url.clone()).unwrap(),
            answer: Fetched {
                url: rutter_fetch::Url::parse(&url).unwrap(),
                status: 200,
                fields: Fields { content_type: Some("text/html".into()), ..Fields::default() },
                validators: Validators::default(),
                body: Body::Memory(text.into()),
                digest: None,
                hops: Vec::new(),
                is_length_known: true,
                wire_bytes: 0,
                at: now,
            },
            row: None,
            said: Vec::new(),
            template: rutter_extract::Use::Nothing,
            token: "Rutter".into(),
            now,
            marks: Vec::new(),
            is_twin: false,
        }
    }

    #[tokio::test]
    async fn ours_a_writer_that_fails_ends_the_walk_with_its_reason() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let now = Timestamp::parse("2027-01-10T00:00:00Z").unwrap();
        let publisher = store.register("http://harbour.example", &[], "").unwrap();
        let lease = store.lease(publisher, now, now.plus_seconds(60)).unwrap();
        // Lost before anything is committed.
        store.release(lease.clone()).unwrap();
        let mut crew = Crew::start(Writer { store, lease, quota: Quota::USUAL, now });
        crew.read(raw("/a"), 0).await.unwrap();
        assert!(crew.wait().await.unwrap().is_some());
        crew.write(Write::Commit).await.unwrap();
        // One more page, fewer than there are workers: nobody may wait for ever.
        let mut error = None;
        for n in 0..100 {
            let sent = crew.read(raw(&format!("/{n}")), 0).await;
            let done = match sent {
                Ok(()) => crew.wait().await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(found) = done {
                error = Some(found);
                break;
            }
        }
        let error = error.unwrap();
        assert!(!matches!(error, VisitError::Worker), "{error}");
    }
}
