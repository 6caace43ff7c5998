//! The access log: lines wait in memory until a thread of their own has
//! written them.
//!
//! Whoever answers adds a line and goes on. So a log that takes nothing, such
//! as a terminal that was stopped or a pipe that nobody reads, holds nobody up.
//!
//! Refuses: to keep more than [`MOST`] bytes. Lines beyond are lost, counted,
//! and told of once.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rutter_logs::Record;

use crate::access::AccessSink;

/// Most bytes that wait.
const MOST: usize = 4 << 20;

/// From how many bytes on they are written at once, and what of a buffer is
/// kept for the next lines.
const ENOUGH: usize = 64 << 10;

/// How long fewer may wait.
const EVERY: Duration = Duration::from_millis(500);

/// How long [`LogWriter::flush`] waits.
const PATIENCE: Duration = Duration::from_secs(2);

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogForm {
    /// The combined format of Apache and nginx.
    Text,
    /// A JSON object.
    Json,
}

/// Where lines are written.
type Out = Box<dyn Write + Send>;

/// Writes a line for each request, half a second later at most.
pub struct LogWriter {
    form: LogForm,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_work: Condvar,
    is_written: Condvar,
    n_lost: AtomicU64,
    on_loss: OnceLock<Arc<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct Queue {
    lines: Vec<u8>,
    /// Where lines go from this byte on.
    next: Option<(usize, Out)>,
    /// How often it was asked that everything be written, and how often that
    /// was done.
    asked: u64,
    done: u64,
    /// Why the last lines could not be written.
    failure: Option<io::Error>,
    is_over: bool,
}

impl Queue {
    fn is_due(&self) -> bool {
        let is_enough = ENOUGH <= self.lines.len();
        is_enough || self.next.is_some() || self.done < self.asked || self.is_over
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, n_lines: u64) {
        if n_lines == 0 || 0 < self.n_lost.fetch_add(n_lines, Ordering::Relaxed) {
            return;
        }
        if let Some(tell) = self.on_loss.get().cloned() {
            // Whoever is told may be as stuck as the log.
            drop(thread::Builder::new().name("log-loss".to_owned()).spawn(move || tell()));
        }
    }

    /// Writes lines; those that a disk does not take are lost.
    fn put(&self, out: &mut Out, lines: &[u8]) -> io::Result<()> {
        let result = put(out, lines);
        if result.is_err() {
            self.lose(memchr::memchr_iter(b'\n', lines).count() as u64);
        }
        result
    }

    fn write(&self, mut out: Out) {
        let mut lines = Vec::new();
        loop {
            let queue = self.queue();
            let wait = self.has_work.wait_while(queue, |it| it.lines.is_empty() && !it.is_due());
            let queue = wait.unwrap_or_else(PoisonError::into_inner);
            let wait = self.has_work.wait_timeout_while(queue, EVERY, |it| !it.is_due());
            let (mut queue, _) = wait.unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut queue.lines, &mut lines);
            let (asked, next, is_over) = (queue.asked, queue.next.take(), queue.is_over);
            drop(queue);
            let old = next.as_ref().map_or(lines.len(), |(at, _)| *at);
            let (before, behind) = lines.split_at_checked(old).unwrap_or((&lines, &[]));
            let mut result = self.put(&mut out, before);
            if let Some((_, next)) = next {
                out = next;
                result = result.and(self.put(&mut out, behind));
            }
            lines.clear();
            lines.shrink_to(ENOUGH);
            let mut queue = self.queue();
            (queue.done, queue.failure) = (asked, result.err());
            drop(queue);
            self.is_written.notify_all();
            if is_over {
                return;
            }
        }
    }
}

fn put(out: &mut Out, lines: &[u8]) -> io::Result<()> {
    out.write_all(lines)?;
    out.flush()
}

impl fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogWriter").field("form", &self.form).finish_non_exhaustive()
    }
}

impl LogWriter {
    /// Writes to `out`, which gets many lines at a time.
    pub fn new(form: LogForm, out: Box<dyn Write + Send>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writing = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || writing.write(out))?;
        Ok(Self { form, shared })
    }

    /// Calls `tell` when the first line is lost, from a thread of its own. The
    /// first that is given counts.
    pub fn on_loss(&self, tell: impl Fn() + Send + Sync + 'static) {
        drop(self.shared.on_loss.set(Arc::new(tell)));
    }

    /// Waits until everything is written, but not for a log that takes nothing.
    pub fn flush(&self) -> io::Result<()> {
        let mut queue = self.shared.queue();
        queue.asked += 1;
        let mine = queue.asked;
        self.shared.has_work.notify_one();
        let wait = self.shared.is_written.wait_timeout_while(queue, PATIENCE, |it| it.done < mine);
        let (mut queue, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        queue.failure.take().map_or(Ok(()), Err)
    }

    /// Writes to something else from now on, such as a file that was rotated.
    pub fn replace(&self, out: Box<dyn Write + Send>) {
        let mut queue = self.shared.queue();
        let at = queue.next.as_ref().map_or(queue.lines.len(), |(at, _)| *at);
        queue.next = Some((at, out));
        drop(queue);
        self.shared.has_work.notify_one();
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.shared.queue().is_over = true;
        self.shared.has_work.notify_one();
    }
}

impl AccessSink for LogWriter {
    fn access(&self, record: &Record<'_>) {
        let mut line = match self.form {
            LogForm::Text => record.to_combined(),
            LogForm::Json => record.to_json(),
        };
        line.push('\n');
        let mut queue = self.shared.queue();
        let before = queue.lines.len();
        if MOST < before + line.len() {
            drop(queue);
            self.shared.lose(1);
            return;
        }
        queue.lines.extend_from_slice(line.as_bytes());
        let is_enough = before < ENOUGH && ENOUGH <= queue.lines.len();
        drop(queue);
        if before == 0 || is_enough {
            self.shared.has_work.notify_one();
        }
    }

    fn lost(&self) -> u64 {
        self.shared.n_lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::mpsc;

    use rutter_page::Timestamp;

    use super::*;

    /// A file that can be looked into.
    #[derive(Clone, Default)]
    pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A pipe that takes nothing until it is told to.
    struct Stuck(Arc<Mutex<()>>, Kept);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _gate = self.0.lock().unwrap();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(target: &str) -> Record<'static> {
        let time = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        Record { target: target.to_owned().into(), ..Record::new(time, "192.0.2.1", 200) }
    }

    #[test]
    fn ours_a_log_can_move_to_another_file() {
        let (one, two) = (Kept::default(), Kept::default());
        let log = LogWriter::new(LogForm::Text, Box::new(one.clone())).unwrap();
        log.access(&record("/a"));
        log.replace(Box::new(two.clone()));
        log.access(&record("/b"));
        log.flush().unwrap();
        let is =
            |kept: &Kept, target| kept.text().contains(target) && kept.text().lines().count() == 1;
        assert!(is(&one, "/a") && is(&two, "/b"), "{} {}", one.text(), two.text());
    }

    #[test]
    fn ours_a_log_that_takes_nothing_holds_nobody_up() {
        let (gate, kept) = (Arc::new(Mutex::new(())), Kept::default());
        let log = LogWriter::new(LogForm::Text, Box::new(Stuck(Arc::clone(&gate), kept.clone())));
        let log = log.unwrap();
        let (tell, told) = mpsc::channel();
        log.on_loss(move || tell.send(()).unwrap());
        let closed = gate.lock().unwrap();
        let long = format!("/{}", "a".repeat(60_000));
        let mut n = 0;
        // Some wait in the writer's hands, the rest in ours.
        while log.lost() < 3 {
            log.access(&record(&long));
            n += 1;
            assert!(n < 1000, "nothing is ever lost");
        }
        told.recv().unwrap();
        drop(closed);
        log.access(&record("/last"));
        log.flush().unwrap();
        assert_eq!(kept.text().lines().count() as u64 + log.lost(), n + 1, "all are accounted for");
        assert!(told.try_recv().is_err(), "told once");
        let lost = log.lost();
        log.access(&record("/more"));
        log.flush().unwrap();
        assert!(kept.text().contains("/more") && log.lost() == lost);
    }

    /// A disk that is full.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn ours_lines_that_a_full_disk_does_not_take_are_counted() {
        let log = LogWriter::new(LogForm::Text, Box::new(Full)).unwrap();
        let (tell, told) = mpsc::channel();
        log.on_loss(move || tell.send(()).unwrap());
        log.access(&record("/a"));
        log.access(&record("/b"));
        assert!(log.flush().is_err());
        assert_eq!(log.lost(), 2);
        told.recv().unwrap();
    }
}
