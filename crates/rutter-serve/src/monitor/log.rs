//! Writes the access log from a thread of its own.
//!
//! Request threads append a line to a buffer and continue. A log that blocks, such as a stopped
//! terminal or a pipe without a reader, delays no response.
//!
//! Rejects: more than [`MAX_BUFFERED`] buffered bytes. Further lines are dropped, counted, and
//! reported once.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rutter_logs::AccessRecord;

use crate::monitor::access::AccessSink;

/// Maximum number of bytes in the buffer.
const MAX_BUFFERED: usize = 4 << 20;

/// Number of buffered bytes that are written without a delay, and capacity that the buffer keeps.
const WRITE_SIZE: usize = 64 << 10;

/// How long a smaller number of bytes waits in the buffer.
const WRITE_INTERVAL: Duration = Duration::from_millis(500);

/// How long [`LogWriter::flush`] waits at most.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Format of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLogFormat {
    /// The combined format of Apache and nginx.
    Text,
    /// A JSON object.
    Json,
}

/// Destination of the lines.
type LogOutput = Box<dyn Write + Send>;

/// Writes a line for each request, at most half a second later.
pub struct LogWriter {
    form: AccessLogFormat,
    shared: Arc<LogState>,
}

#[derive(Default)]
struct LogState {
    queue: Mutex<LogQueue>,
    has_work: Condvar,
    is_written: Condvar,
    n_lost: AtomicU64,
    on_loss: OnceLock<Arc<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct LogQueue {
    lines: Vec<u8>,
    /// New destination, and the byte of `lines` from which on it applies.
    next: Option<(usize, LogOutput)>,
    /// Number of requested flushes, and of completed ones.
    asked: u64,
    done: u64,
    /// Error of the last write.
    failure: Option<io::Error>,
    is_over: bool,
}

impl LogQueue {
    fn is_due(&self) -> bool {
        let is_enough = WRITE_SIZE <= self.lines.len();
        is_enough || self.next.is_some() || self.done < self.asked || self.is_over
    }
}

impl LogState {
    fn queue(&self) -> MutexGuard<'_, LogQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, n_lines: u64) {
        if n_lines == 0 || 0 < self.n_lost.fetch_add(n_lines, Ordering::Relaxed) {
            return;
        }
        if let Some(tell) = self.on_loss.get().cloned() {
            // The callback may block like the log, so it runs in its own thread.
            drop(thread::Builder::new().name("log-loss".to_owned()).spawn(move || tell()));
        }
    }

    /// Writes lines; lines that cannot be written are counted as lost.
    fn put(&self, out: &mut LogOutput, lines: &[u8]) -> io::Result<()> {
        let result = put(out, lines);
        if result.is_err() {
            self.lose(memchr::memchr_iter(b'\n', lines).count() as u64);
        }
        result
    }

    fn write(&self, mut out: LogOutput) {
        let mut lines = Vec::new();
        loop {
            let queue = self.queue();
            let wait = self.has_work.wait_while(queue, |it| it.lines.is_empty() && !it.is_due());
            let queue = wait.unwrap_or_else(PoisonError::into_inner);
            let wait = self.has_work.wait_timeout_while(queue, WRITE_INTERVAL, |it| !it.is_due());
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
            lines.shrink_to(WRITE_SIZE);
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

fn put(out: &mut LogOutput, lines: &[u8]) -> io::Result<()> {
    out.write_all(lines)?;
    out.flush()
}

impl fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogWriter").field("form", &self.form).finish_non_exhaustive()
    }
}

impl LogWriter {
    /// Starts a writer to `out`, which receives many lines at a time.
    pub fn new(form: AccessLogFormat, out: Box<dyn Write + Send>) -> io::Result<Self> {
        let shared = Arc::new(LogState::default());
        let writing = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || writing.write(out))?;
        Ok(Self { form, shared })
    }

    /// Calls `tell` from a thread of its own when the first line is lost. Only the first callback
    /// is used.
    pub fn on_loss(&self, tell: impl Fn() + Send + Sync + 'static) {
        drop(self.shared.on_loss.set(Arc::new(tell)));
    }

    /// Waits until all lines are written, at most two seconds.
    pub fn flush(&self) -> io::Result<()> {
        let mut queue = self.shared.queue();
        queue.asked += 1;
        let mine = queue.asked;
        self.shared.has_work.notify_one();
        let wait =
            self.shared.is_written.wait_timeout_while(queue, FLUSH_TIMEOUT, |it| it.done < mine);
        let (mut queue, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        queue.failure.take().map_or(Ok(()), Err)
    }

    /// Changes the destination, for example after log rotation.
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
    fn access(&self, record: &AccessRecord<'_>) {
        let mut line = match self.form {
            AccessLogFormat::Text => record.to_combined(),
            AccessLogFormat::Json => record.to_json(),
        };
        line.push('\n');
        let mut queue = self.shared.queue();
        let before = queue.lines.len();
        if MAX_BUFFERED < before + line.len() {
            drop(queue);
            self.shared.lose(1);
            return;
        }
        queue.lines.extend_from_slice(line.as_bytes());
        let is_enough = before < WRITE_SIZE && WRITE_SIZE <= queue.lines.len();
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

    /// An output whose content a test can read.
    #[derive(Clone, Default)]
    pub(crate) struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

    impl CapturedOutput {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for CapturedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A pipe that blocks until it is released.
    struct BlockedPipe(Arc<Mutex<()>>, CapturedOutput);

    impl Write for BlockedPipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _gate = self.0.lock().unwrap();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(target: &str) -> AccessRecord<'static> {
        let time = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        AccessRecord {
            target: target.to_owned().into(),
            ..AccessRecord::new(time, "192.0.2.1", 200)
        }
    }

    #[test]
    fn changes_the_destination() {
        let (one, two) = (CapturedOutput::default(), CapturedOutput::default());
        let log = LogWriter::new(AccessLogFormat::Text, Box::new(one.clone())).unwrap();
        log.access(&record("/a"));
        log.replace(Box::new(two.clone()));
        log.access(&record("/b"));
        log.flush().unwrap();
        let is = |kept: &CapturedOutput, target| {
            kept.text().contains(target) && kept.text().lines().count() == 1
        };
        assert!(is(&one, "/a") && is(&two, "/b"), "{} {}", one.text(), two.text());
    }

    #[test]
    fn a_blocked_log_does_not_delay_requests() {
        let (gate, kept) = (Arc::new(Mutex::new(())), CapturedOutput::default());
        let log = LogWriter::new(
            AccessLogFormat::Text,
            Box::new(BlockedPipe(Arc::clone(&gate), kept.clone())),
        );
        let log = log.unwrap();
        let (sender, receiver) = mpsc::channel();
        log.on_loss(move || sender.send(()).unwrap());
        let closed = gate.lock().unwrap();
        let long = format!("/{}", "a".repeat(60_000));
        let mut n = 0;
        // Some bytes wait in the writer, the rest in the buffer.
        while log.lost() < 3 {
            log.access(&record(&long));
            n += 1;
            assert!(n < 1000, "nothing is ever lost");
        }
        receiver.recv().unwrap();
        drop(closed);
        log.access(&record("/last"));
        log.flush().unwrap();
        assert_eq!(kept.text().lines().count() as u64 + log.lost(), n + 1, "all are accounted for");
        assert!(receiver.try_recv().is_err(), "reported once");
        let lost = log.lost();
        log.access(&record("/more"));
        log.flush().unwrap();
        assert!(kept.text().contains("/more") && log.lost() == lost);
    }

    /// A full disk.
    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn counts_lines_lost_to_a_full_disk() {
        let log = LogWriter::new(AccessLogFormat::Text, Box::new(FullDisk)).unwrap();
        let (sender, receiver) = mpsc::channel();
        log.on_loss(move || sender.send(()).unwrap());
        log.access(&record("/a"));
        log.access(&record("/b"));
        assert!(log.flush().is_err());
        assert_eq!(log.lost(), 2);
        receiver.recv().unwrap();
    }
}
