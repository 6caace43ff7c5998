//! Who answers: a folder of transcripts, or a command.
//!
//! A command gets the question on its standard input and prints the answer. It
//! runs in a process group of its own, which is ended with it: when its time
//! is over, when it says too much, and when it leaves children behind. What it
//! writes to standard error is dropped but for one short line, and values of
//! the environment are taken out of that.
//!
//! Refuses: to wait longer than it is told, to keep more than it is told.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::query::Query;
use super::store::file_name;

/// Longest line of a program's complaint that is shown.
const LONGEST_LINE: usize = 160;
/// The longest anybody waits, where more is asked for than a clock can count.
const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// How long bytes may still be on their way when a program has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Values of the environment that are shorter are no secret.
const SHORTEST_SECRET: usize = 6;

/// An AI system that is asked.
#[derive(Debug, Clone)]
pub struct System {
    /// What it is called in the history.
    pub name: String,
    /// Where its answers come from.
    pub source: Source,
}

/// Where answers come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder with `<entity>/<question>.txt`, the entity as
    /// [`slugs`](super::slugs) names it, the question by its
    /// [`key`](super::Question::key); `.md` is taken too.
    Transcripts(PathBuf),
    /// A command.
    Program(Program),
}

/// A command that answers.
#[derive(Debug, Clone)]
pub struct Program {
    /// What is run, without a shell.
    pub program: OsString,
    /// What it is given.
    pub args: Vec<OsString>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How often it is tried; at least once.
    pub tries: u32,
    /// Most bytes of an answer.
    pub most_bytes: usize,
}

impl Program {
    /// Two minutes, two tries, 1 MiB.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            timeout: Duration::from_mins(2),
            tries: 2,
            most_bytes: MOST_BYTES,
        }
    }
}

/// Most bytes of an answer.
const MOST_BYTES: usize = 1 << 20;

/// What a system said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its text; bytes that are no text are replaced.
    pub text: String,
    /// Whether any were.
    pub is_mended: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The folder has no file for this question.
    #[error("no transcript")]
    NoTranscript,
    /// The file cannot be read.
    #[error("transcript cannot be read")]
    Unreadable(#[source] io::Error),
    /// The program did not start.
    #[error("program does not start")]
    NotStarted(#[source] io::Error),
    /// It took too long.
    #[error("no answer in {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It failed: how, and the first line of its complaint.
    #[error("program failed ({0}){1}")]
    Failed(String, String),
    /// It said too much.
    #[error("answer is longer than {0} bytes")]
    TooLong(usize),
    /// It said nothing.
    #[error("answer is empty")]
    Empty,
}

impl System {
    /// Asks a question about the entity of a folder; a program is tried again
    /// where it fails.
    pub fn ask(&self, slug: &str, query: &Query) -> Result<Answer, Failure> {
        match &self.source {
            Source::Transcripts(folder) => transcript(folder, slug, query),
            Source::Program(program) => {
                let mut answer = run(program, &query.text);
                for _ in 1..program.tries {
                    // What cannot start will not start, and it has been said.
                    let is_final = matches!(answer, Ok(_) | Err(Failure::NotStarted(_)));
                    if is_final {
                        break;
                    }
                    answer = run(program, &query.text);
                }
                answer
            }
        }
    }
}

fn transcript(folder: &Path, slug: &str, query: &Query) -> Result<Answer, Failure> {
    let folder = folder.join(slug);
    let names = [file_name(query.question), format!("{}.md", query.question.key())];
    for path in names.map(|name| folder.join(name)) {
        match fs::metadata(&path) {
            // Not a pipe that nobody writes to.
            Ok(about) if about.is_file() => {}
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::Unreadable(error)),
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(Failure::Unreadable)?;
        let most = MOST_BYTES as u64 + 1;
        file.take(most).read_to_end(&mut bytes).map_err(Failure::Unreadable)?;
        return if MOST_BYTES < bytes.len() {
            Err(Failure::TooLong(MOST_BYTES))
        } else {
            answer_of(&bytes)
        };
    }
    Err(Failure::NoTranscript)
}

fn answer_of(bytes: &[u8]) -> Result<Answer, Failure> {
    let text = String::from_utf8_lossy(bytes);
    let is_mended = matches!(text, std::borrow::Cow::Owned(_));
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(Failure::Empty);
    }
    Ok(Answer { text: text.to_owned(), is_mended })
}

/// What happened to a running program.
enum Event {
    /// It ended; it is not reaped yet.
    Ended,
    /// It closed its output.
    Closed,
    /// It closed its standard error.
    Silent,
    /// It said more than it may.
    TooMuch,
}

/// The program that runs now; 0 for none. Questions are put one by one.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// Ends the program that is being asked, with its group: for whoever is about
/// to end without coming back here.
pub fn stop_asking() {
    let id = RUNNING.swap(0, Ordering::SeqCst);
    if id != 0 {
        kill_group_of(id);
    }
}

/// A program with its whole group, which ends with this value.
struct Running {
    child: Child,
    /// Once it is reaped, its number may be another's.
    is_over: bool,
}

impl Running {
    /// Ends whatever is left of the group, then the program itself.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            kill_group(&self.child);
            // Where there are no groups.
            self.child.kill().ok();
        }
        self.is_over = true;
        RUNNING.store(0, Ordering::SeqCst);
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end().ok();
    }
}

fn run(program: &Program, prompt: &str) -> Result<Answer, Failure> {
    let now = Instant::now();
    let deadline = now.checked_add(program.timeout).unwrap_or(now + LONGEST_WAIT);
    let mut command = Command::new(&program.program);
    command.args(&program.args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let child = command.spawn().map_err(Failure::NotStarted)?;
    RUNNING.store(child.id(), Ordering::SeqCst);
    let mut running = Running { child, is_over: false };
    let (events, happened) = mpsc::channel();
    let said = Arc::new(Mutex::new(Vec::new()));
    let complaint = Arc::new(Mutex::new(Vec::new()));
    if let Some(mut input) = running.child.stdin.take() {
        let prompt = format!("{prompt}\n");
        // A program that does not listen closes the pipe, which is its right.
        thread::spawn(move || input.write_all(prompt.as_bytes()).ok());
    }
    if let Some(output) = running.child.stdout.take() {
        let (said, events, most) = (Arc::clone(&said), events.clone(), program.most_bytes);
        thread::spawn(move || listen(output, &said, most, Some(&events)));
    }
    if let Some(output) = running.child.stderr.take() {
        let (complaint, events) = (Arc::clone(&complaint), events.clone());
        thread::spawn(move || {
            listen(output, &complaint, 4096, None);
            events.send(Event::Silent).ok();
        });
    }
    watch(&running.child, events);
    let (mut has_ended, mut is_closed, mut is_silent) = (false, false, false);
    while !has_ended {
        match happened.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Ended) => has_ended = true,
            Ok(Event::Closed) => {
                is_closed = true;
                // Where the end itself cannot be watched.
                has_ended |= cfg!(not(unix));
            }
            Ok(Event::Silent) => is_silent = true,
            Ok(Event::TooMuch) => return Err(Failure::TooLong(program.most_bytes)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(Failure::TimedOut(program.timeout));
            }
        }
    }
    let status = running.end().map_err(Failure::NotStarted)?;
    // Nobody of the group writes any more; what is in the pipes is on its way.
    let patience = Instant::now() + LAST_WORDS;
    while !(is_closed && is_silent) {
        match happened.recv_timeout(patience.saturating_duration_since(Instant::now())) {
            Ok(Event::Closed) => is_closed = true,
            Ok(Event::Silent) => is_silent = true,
            Ok(Event::TooMuch) => return Err(Failure::TooLong(program.most_bytes)),
            Ok(Event::Ended) => {}
            Err(_) => break,
        }
    }
    if !status.success() {
        let complaint = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        return Err(Failure::Failed(how(status), first_line(&complaint)));
    }
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    answer_of(&said)
}

/// Reads up to `most` bytes. With somebody to tell, more is too much; without,
/// the rest is dropped.
fn listen(
    mut output: impl Read,
    said: &Mutex<Vec<u8>>,
    most: usize,
    events: Option<&Sender<Event>>,
) {
    let mut buffer = [0; 8192];
    loop {
        let n = match output.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        if n == 0 {
            events.map(|events| events.send(Event::Closed));
            return;
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let room = most - said.len().min(most);
        said.extend(buffer.iter().take(n.min(room)));
        if room < n
            && let Some(events) = events
        {
            events.send(Event::TooMuch).ok();
            return;
        }
    }
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| "no status".to_owned(), |code| format!("exit code {code}"))
}

/// The first line of a complaint, fit to be shown: cut, without what could
/// steer a terminal, without values of the environment.
fn first_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let secrets = std::env::vars_os().map(|(_, value)| value.to_string_lossy().into_owned());
    let line = without(line, secrets);
    let line: String = rutter_finding::visible(&line).chars().take(LONGEST_LINE).collect();
    format!(": {line}")
}

fn without(line: &str, secrets: impl Iterator<Item = String>) -> String {
    let mut secrets: Vec<String> =
        secrets.filter(|it| SHORTEST_SECRET <= it.trim().len()).collect();
    // The longest first: one may be part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.iter().fold(line.to_owned(), |line, secret| line.replace(secret.trim(), "[hidden]"))
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(unix)]
fn pid_of(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(child.id()).ok()?)
}

fn kill_group(child: &Child) {
    kill_group_of(child.id());
}

#[cfg(unix)]
fn kill_group_of(id: u32) {
    let pid = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
    }
}

#[cfg(not(unix))]
fn kill_group_of(_: u32) {}

/// Tells when a program has ended, without reaping it: until then its number,
/// and that of its group, belong to nobody else.
#[cfg(unix)]
fn watch(child: &Child, events: Sender<Event>) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let pid = pid_of(child);
    thread::spawn(move || {
        if let Some(pid) = pid {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        }
        events.send(Event::Ended)
    });
}

#[cfg(not(unix))]
fn watch(_: &Child, events: Sender<Event>) {
    drop(events);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_values_of_the_environment_are_not_shown() {
        let secrets = ["sk-12345678", "sk-1234567890", "1", "", "   "].map(str::to_owned);
        let line = without("key sk-1234567890 is wrong (1), not sk-12345678", secrets.into_iter());
        assert_eq!(line, "key [hidden] is wrong (1), not [hidden]");
    }

    #[test]
    fn ours_a_complaint_is_one_short_line() {
        let line = first_line(format!("\n \u{1b}[31mbad{}\nsecond", "x".repeat(999)).as_bytes());
        assert!(line.starts_with(": [31mbadxxx") && line.chars().count() == LONGEST_LINE + 2);
        assert_eq!(first_line(b" \n"), "");
        assert_eq!(first_line(b"\xff!"), ": \u{fffd}!");
    }
}
