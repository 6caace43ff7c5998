//! The threads beside a walk: workers read pages, one writer commits them.
//!
//! Pages go in by [`Crew::read`] and come to rest in the replica; what is
//! learned from them for the walk itself comes back as a [`Note`].
//!
//! Refuses: to go on where nothing can be written. The walk is told why.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rutter_extract::{Sketch, Templates};
use rutter_fetch::{Body, Validators, decode};
use rutter_page::PageUrl;
use rutter_store::Validator;
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::VisitError;
use crate::left_out::LeftOut;
use crate::mark::Mark;
use crate::page::{self, Raw, Ready};
use crate::writer::{Write, Writer, Written};

/// Pages that wait to be read.
const WAITING: usize = 64;
/// Pages that wait to be written.
const WRITTEN: usize = 64;
/// Kibibytes of pages that wait to be read or are being read. Reading takes
/// about ten times a page's bytes, so a page of this size is read alone.
const ROOM: u32 = 2 << 10;
/// Kibibytes of a page from which it is long: one thread reads all of these,
/// so that the memory they take is taken once. (An allocator keeps what a
/// thread used for that thread.)
const LONG: u32 = 128;
/// What a compressed page may take more than its bytes, by experience.
const PACKED: usize = 6;

/// What a worker tells about a page beside the page.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) depth: u32,
    pub(crate) links: Vec<String>,
    /// Links of the page beyond those that are followed.
    pub(crate) more_links: Vec<String>,
    /// Numbers for the key of the page and for its content.
    pub(crate) content: Option<(u64, u64)>,
    /// The page, where it is written only after its links are known.
    pub(crate) page: Option<Box<Ready>>,
    /// The page as it was read, and where a twin is that may say more.
    pub(crate) twin: Option<(Box<Ready>, String)>,
    /// The page that is none.
    pub(crate) failed: Option<Failed>,
    /// The page, where it names another URL of its own as canonical.
    pub(crate) variant: Option<Box<Variant>>,
}

/// A page that is stored unless the page it names as canonical is, with the
/// same content.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) page: Box<Ready>,
    pub(crate) of: String,
    pub(crate) depth: u32,
    /// What to report where it is not stored.
    pub(crate) failed: Failed,
}

/// An answer that is no page.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) url: PageUrl<'static>,
    pub(crate) why: LeftOut,
    /// How to ask whether it still is none, where that is worth remembering.
    pub(crate) known: Option<Validators>,
    /// `lastmod` it was fetched with.
    pub(crate) lastmod: Option<Validator>,
    /// Whether there was a page in the replica, and whether it is no more.
    pub(crate) had_row: bool,
    pub(crate) is_gone: bool,
}

/// What a worker sends.
enum Message {
    Note(Box<Note>),
    /// It could not go on: nothing is written, or it broke.
    Lost,
}

/// Pages with their distance from the home page.
type Sampled = Vec<(Raw, u32)>;

/// What a worker is to do.
enum Job {
    /// To read a page, which takes some room.
    Read { raw: Box<Raw>, depth: u32, room: OwnedSemaphorePermit },
    /// To find out what pages have in common, and give them back.
    Learn(Sampled, oneshot::Sender<(Sampled, Templates)>),
}

/// The threads. They are plain ones: those of the runtime are few, are wanted
/// for short work, and would be held by many walks at once.
pub(crate) struct Crew {
    jobs: Option<Sender<Job>>,
    long_jobs: Option<Sender<Job>>,
    writes: Option<Sender<Write>>,
    notes: UnboundedReceiver<Message>,
    /// What the writer says at its end.
    written: oneshot::Receiver<Result<Written, VisitError>>,
    room: Arc<Semaphore>,
    n_reading: u64,
}

impl Crew {
    /// Starts so many workers, and one thread that writes.
    pub(crate) fn start(writer: Writer, n_workers: usize) -> Result<Self, VisitError> {
        let hands_back = writer.waits;
        let (jobs, jobs_in) = channel::<Job>(WAITING);
        let (writes, writes_in) = channel::<Write>(WRITTEN);
        let (notes_out, notes) = unbounded_channel();
        let (written_out, written) = oneshot::channel();
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map(drop).map_err(|_| VisitError::Worker)
        };
        // Whoever has gone does not want to know.
        let write = move || {
            let written = writer.run(writes_in);
            // The replica is closed by whoever has it last, and that is not a
            // thread that nobody waits for.
            drop(writer);
            drop(written_out.send(written));
        };
        spawn("writer", Box::new(write))?;
        let (long_jobs, long_in) = channel::<Job>(WAITING);
        let [jobs_in, long_in] = [jobs_in, long_in].map(|jobs| Arc::new(Mutex::new(jobs)));
        let readers = std::iter::repeat_n(("reader", jobs_in), n_workers.max(1));
        for (name, jobs) in readers.chain([("reader of long pages", long_in)]) {
            let (writes, notes) = (writes.clone(), notes_out.clone());
            spawn(name, Box::new(move || read_all(&jobs, &writes, &notes, hands_back)))?;
        }
        let (jobs, long_jobs, writes) = (Some(jobs), Some(long_jobs), Some(writes));
        let room = Arc::new(Semaphore::new(ROOM as usize));
        Ok(Self { jobs, long_jobs, writes, notes, written, room, n_reading: 0 })
    }

    /// Has a page read and written.
    pub(crate) async fn read(&mut self, raw: Raw, depth: u32) -> Result<(), VisitError> {
        self.n_reading += 1;
        let size = room_of(&raw);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await;
        let jobs = if size < LONG { &self.jobs } else { &self.long_jobs };
        let is_taken = match (jobs, room) {
            (Some(jobs), Ok(room)) => {
                let raw = Box::new(raw);
                jobs.send(Job::Read { raw, depth, room }).await.is_ok()
            }
            _ => false,
        };
        if is_taken { Ok(()) } else { Err(self.lost().await) }
    }

    /// Finds out what pages have in common, and gives them back.
    pub(crate) async fn learn(
        &mut self,
        sample: Sampled,
    ) -> Result<(Sampled, Templates), VisitError> {
        let (learned_out, learned) = oneshot::channel();
        // Some of them may be long.
        let is_taken = match &self.long_jobs {
            Some(jobs) => jobs.send(Job::Learn(sample, learned_out)).await.is_ok(),
            None => false,
        };
        match learned.await {
            Ok(learned) if is_taken => Ok(learned),
            _ => Err(self.lost().await),
        }
    }

    /// Tells the writer something.
    pub(crate) async fn write(&mut self, write: Write) -> Result<(), VisitError> {
        let is_taken = match &self.writes {
            Some(writes) => writes.send(write).await.is_ok(),
            None => false,
        };
        if is_taken { Ok(()) } else { Err(self.lost().await) }
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
    pub(crate) async fn end(self) -> Result<Written, VisitError> {
        let Self { jobs, long_jobs, writes, written, mut notes, .. } = self;
        // Workers end without jobs, and the writer ends with the last of them.
        drop((jobs, long_jobs, writes));
        let written = written.await.map_err(|_| VisitError::Worker)??;
        while let Some(message) = notes.recv().await {
            if matches!(message, Message::Lost) {
                return Err(VisitError::Worker);
            }
        }
        Ok(written)
    }

    /// Why nothing can be written any more.
    async fn lost(&mut self) -> VisitError {
        // Where only a worker is gone, the others and the writer still wait.
        (self.jobs, self.long_jobs, self.writes) = (None, None, None);
        match (&mut self.written).await {
            Ok(Err(error)) => error,
            _ => VisitError::Worker,
        }
    }
}

/// The room that reading a page takes.
fn room_of(raw: &Raw) -> u32 {
    let Body::Memory(bytes) = &raw.answer.body else { return 1 };
    let is_packed = raw.answer.fields.content_encoding.is_some() || decode::is_coded(bytes);
    let size = bytes.len().saturating_mul(if is_packed { PACKED } else { 1 });
    u32::try_from(size >> 10).unwrap_or(ROOM).clamp(1, ROOM)
}

/// A worker: reads pages until there are no more.
fn read_all(
    jobs: &Mutex<Receiver<Job>>,
    writes: &Sender<Write>,
    notes: &UnboundedSender<Message>,
    hands_back: bool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let (raw, depth, room) = match job {
            None => return,
            Some(Job::Read { raw, depth, room }) => (raw, depth, room),
            Some(Job::Learn(sample, learned)) => {
                drop(learned.send(learn(sample)));
                continue;
            }
        };
        let mut alarm = Alarm { notes, is_lost: true };
        let Some(note) = work(*raw, depth, writes, hands_back) else { return };
        alarm.is_lost = false;
        drop(room);
        // Whoever has gone does not want to know.
        drop(notes.send(Message::Note(Box::new(note))));
    }
}

fn learn(sample: Sampled) -> (Sampled, Templates) {
    let sketches: Vec<Sketch> = sample.iter().filter_map(|(raw, _)| page::sketch(raw)).collect();
    let mut templates = Templates::default();
    templates.adapt(&sketches, &[]);
    (sample, templates)
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
fn work(mut raw: Raw, depth: u32, writes: &Sender<Write>, hands_back: bool) -> Option<Note> {
    let (url, validators) = (raw.url.clone(), raw.answer.validators.clone());
    let had_row = raw.row.is_some();
    let has_words = raw.row.as_ref().is_some_and(|row| row.withheld.is_none());
    let lastmod = Mark::Lastmod.of(url.key());
    let lastmod = raw.marks.iter().find(|mark| mark.url == lastmod).cloned();
    let (links, more_links) = (Vec::new(), Vec::new());
    let nothing = Note {
        depth,
        links,
        more_links,
        content: None,
        page: None,
        twin: None,
        failed: None,
        variant: None,
    };
    let write = |page: Box<Ready>| writes.blocking_send(Write::Page(page)).ok();
    if let Some(page) = raw.instead_of.take() {
        // What a twin says of its own use is about the twin.
        let twin = page::read(raw).ok().filter(|twin| twin.withheld.is_none());
        let page = match twin {
            Some(twin) => Box::new(Ready { marks: page.marks, ..twin }),
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
                let (why, known) = (LeftOut::alias(of.clone()), Some(validators));
                let failed = Failed { url, why, known, lastmod, had_row, is_gone: had_row };
                let variant = Some(Box::new(Variant { page: Box::new(page), of, depth, failed }));
                return Some(Note { links, more_links, variant, ..nothing });
            }
            let content = page.comparable();
            let note = Note { links, more_links, content, ..nothing };
            let page = Box::new(page);
            Some(match page.twin.clone() {
                Some(twin) => Note { twin: Some((page, twin)), ..note },
                None if hands_back => Note { page: Some(page), ..note },
                None => {
                    write(page)?;
                    note
                }
            })
        }
        Err(page::Nothing { why, withheld, links, more_links }) => {
            if let Some(withheld) = withheld.filter(|_| has_words) {
                let key = url.key().to_owned();
                writes.blocking_send(Write::Withhold(key, withheld, Vec::new())).ok()?;
            }
            let known = why.is_lasting().then_some(validators);
            let is_gone = had_row && why.is_other();
            let why = LeftOut::from(why);
            let failed = Some(Failed { url, why, known, lastmod, had_row, is_gone });
            Some(Note { links, more_links, failed, ..nothing })
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
            most_links: 10,
            has: page::StoredMarks::default(),
            merges_variants: true,
            twin_of: None,
            instead_of: None,
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
        let mut crew = Crew::start(
            Writer { store, lease, quota: Quota::USUAL, now, waits: false, gate: Arc::default() },
            2,
        )
        .unwrap();
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
