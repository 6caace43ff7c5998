//! AI systems that answer questions: a folder of transcripts, or a command.
//!
//! A command gets the question on standard input and prints the answer. It runs in its own process
//! group, which is killed when the time limit is over, when the output is too long, or when child
//! processes remain. One short line of its standard error is kept, from which the values of
//! environment variables are removed.
//!
//! Rejects answers over the limits for time and size.

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

use super::query::EntityQuestion;
use super::store::file_name;

/// Maximum length of the line that is kept of the standard error of a program.
const MAX_LINE_LENGTH: usize = 160;
/// Timeout that is used instead of a timeout that the clock cannot represent.
const MAX_TIMEOUT: Duration = Duration::from_hours(24);
/// Time for reading the remaining output after a program has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Minimum length of an environment variable's value that is hidden in error messages.
const MIN_SECRET_LENGTH: usize = 6;

/// An AI system that answers questions.
#[derive(Debug, Clone)]
pub struct AiSystem {
    /// Name of the system, as used in the history.
    pub name: String,
    /// Source of the answers of the system.
    pub source: AnswerSource,
}

/// Source of the answers of a system.
#[derive(Debug, Clone)]
pub enum AnswerSource {
    /// A folder with files `<entity>/<question>.txt` or `.md`. The entity is named by
    /// [`slugs`](super::slugs), the question by its [`key`](super::StandardQuestion::key).
    Transcripts(PathBuf),
    /// A command that prints answers.
    Program(AnswerProgram),
}

/// A command that prints answers.
#[derive(Debug, Clone)]
pub struct AnswerProgram {
    /// Path of the executable. No shell is used.
    pub program: OsString,
    /// Arguments of the command.
    pub args: Vec<OsString>,
    /// Time limit for one answer.
    pub timeout: Duration,
    /// Maximum number of attempts for one question; at least one.
    pub tries: u32,
    /// Maximum size of an answer in bytes.
    pub most_bytes: usize,
}

impl AnswerProgram {
    /// Creates a command with a timeout of two minutes, two attempts and at most 1 MiB.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            timeout: Duration::from_mins(2),
            tries: 2,
            most_bytes: DEFAULT_MAX_BYTES,
        }
    }
}

/// Default maximum size of an answer in bytes.
const DEFAULT_MAX_BYTES: usize = 1 << 20;

/// Answer of a system to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemAnswer {
    /// Text of the answer; invalid bytes are replaced.
    pub text: String,
    /// Whether bytes were replaced.
    pub is_lossy: bool,
}

/// Reasons why a system gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerFailure {
    /// The folder has no file for this question.
    #[error("the transcript file is missing")]
    NoTranscript,
    /// The transcript exists but cannot be read.
    #[error("cannot read the transcript")]
    Unreadable(#[source] io::Error),
    /// The program could not be started.
    #[error("cannot start the program")]
    NotStarted(#[source] io::Error),
    /// The program exceeded the time limit.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The program failed; contains its exit status and the first line of its standard error.
    #[error("the program failed ({0}){1}")]
    Failed(String, String),
    /// The answer exceeds the size limit.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The answer is empty.
    #[error("the answer is empty")]
    Empty,
}

impl AiSystem {
    /// Asks a question about an entity; `slug` is the folder name of the entity. A program that
    /// fails is started again, up to the maximum number of attempts.
    pub fn ask(&self, slug: &str, query: &EntityQuestion) -> Result<SystemAnswer, AnswerFailure> {
        match &self.source {
            AnswerSource::Transcripts(folder) => transcript(folder, slug, query),
            AnswerSource::Program(program) => {
                let mut answer = run(program, &query.text);
                for _ in 1..program.tries {
                    // Do not try again if the program cannot be started.
                    let is_final = matches!(answer, Ok(_) | Err(AnswerFailure::NotStarted(_)));
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

fn transcript(
    folder: &Path,
    slug: &str,
    query: &EntityQuestion,
) -> Result<SystemAnswer, AnswerFailure> {
    let folder = folder.join(slug);
    let names = [file_name(query.question), format!("{}.md", query.question.key())];
    for path in names.map(|name| folder.join(name)) {
        match fs::metadata(&path) {
            // Reject other types of files, such as a pipe without a writer.
            Ok(about) if about.is_file() => {}
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(AnswerFailure::Unreadable(error)),
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(AnswerFailure::Unreadable)?;
        let most = DEFAULT_MAX_BYTES as u64 + 1;
        file.take(most).read_to_end(&mut bytes).map_err(AnswerFailure::Unreadable)?;
        return if DEFAULT_MAX_BYTES < bytes.len() {
            Err(AnswerFailure::TooLong(DEFAULT_MAX_BYTES))
        } else {
            answer_of(&bytes)
        };
    }
    Err(AnswerFailure::NoTranscript)
}

fn answer_of(bytes: &[u8]) -> Result<SystemAnswer, AnswerFailure> {
    let text = String::from_utf8_lossy(bytes);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(AnswerFailure::Empty);
    }
    Ok(SystemAnswer { text: text.to_owned(), is_lossy })
}

/// Event of a running program.
enum ProgramEvent {
    /// The program has ended, and its exit status was not collected yet.
    Ended,
    /// The program closed its standard output.
    Closed,
    /// The program closed its standard error.
    Silent,
    /// The output of the program exceeds the limit.
    TooMuch,
}

/// Process id of the running program; 0 if no program is running. Only one program runs at a time.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// Kills the running program and its process group. Callers that exit the process without unwinding
/// must call this function.
pub fn stop_programs() {
    let id = RUNNING.swap(0, Ordering::SeqCst);
    if id != 0 {
        kill_group_of(id);
    }
}

/// A running program with its process group, which is killed when this value is dropped.
struct RunningProgram {
    child: Child,
    /// Set after the exit status was collected, because the id may then belong to another process.
    is_over: bool,
}

impl RunningProgram {
    /// Kills the remaining process group, then the program, and returns the exit status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            kill_group(&self.child);
            // Needed on platforms without process groups.
            self.child.kill().ok();
        }
        self.is_over = true;
        RUNNING.store(0, Ordering::SeqCst);
        self.child.wait()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end().ok();
    }
}

fn run(program: &AnswerProgram, prompt: &str) -> Result<SystemAnswer, AnswerFailure> {
    let now = Instant::now();
    let deadline = now.checked_add(program.timeout).unwrap_or(now + MAX_TIMEOUT);
    let mut command = Command::new(&program.program);
    command.args(&program.args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let child = command.spawn().map_err(AnswerFailure::NotStarted)?;
    RUNNING.store(child.id(), Ordering::SeqCst);
    let mut running = RunningProgram { child, is_over: false };
    let (events, happened) = mpsc::channel();
    let said = Arc::new(Mutex::new(Vec::new()));
    let complaint = Arc::new(Mutex::new(Vec::new()));
    if let Some(mut input) = running.child.stdin.take() {
        let prompt = format!("{prompt}\n");
        // A program may close its input without reading it.
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
            events.send(ProgramEvent::Silent).ok();
        });
    }
    watch(&running.child, events);
    let (mut has_ended, mut is_closed, mut is_silent) = (false, false, false);
    while !has_ended {
        match happened.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(ProgramEvent::Ended) => has_ended = true,
            Ok(ProgramEvent::Closed) => {
                is_closed = true;
                // On other platforms the end of the program cannot be observed, so assume that it
                // has ended.
                has_ended |= cfg!(not(unix));
            }
            Ok(ProgramEvent::Silent) => is_silent = true,
            Ok(ProgramEvent::TooMuch) => return Err(AnswerFailure::TooLong(program.most_bytes)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(AnswerFailure::TimedOut(program.timeout));
            }
        }
    }
    let status = running.end().map_err(AnswerFailure::NotStarted)?;
    // All writers have ended; only the pipes may still contain output.
    let patience = Instant::now() + DRAIN_TIMEOUT;
    while !(is_closed && is_silent) {
        match happened.recv_timeout(patience.saturating_duration_since(Instant::now())) {
            Ok(ProgramEvent::Closed) => is_closed = true,
            Ok(ProgramEvent::Silent) => is_silent = true,
            Ok(ProgramEvent::TooMuch) => return Err(AnswerFailure::TooLong(program.most_bytes)),
            Ok(ProgramEvent::Ended) => {}
            Err(_) => break,
        }
    }
    if !status.success() {
        let complaint = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        return Err(AnswerFailure::Failed(how(status), first_line(&complaint)));
    }
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    answer_of(&said)
}

/// Reads up to `most` bytes. If `events` is given, further output is an error; otherwise further
/// output is dropped.
fn listen(
    mut output: impl Read,
    said: &Mutex<Vec<u8>>,
    most: usize,
    events: Option<&Sender<ProgramEvent>>,
) {
    let mut buffer = [0; 8192];
    loop {
        let n = match output.read(&mut buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        if n == 0 {
            events.map(|events| events.send(ProgramEvent::Closed));
            return;
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let room = most - said.len().min(most);
        said.extend(buffer.iter().take(n.min(room)));
        if room < n
            && let Some(events) = events
        {
            events.send(ProgramEvent::TooMuch).ok();
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

/// Returns the first line of an error message: shortened, and without control characters and values
/// of environment variables.
fn first_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let secrets = std::env::vars_os().map(|(_, value)| value.to_string_lossy().into_owned());
    let line = without(line, secrets);
    let line: String = rutter_finding::visible(&line).chars().take(MAX_LINE_LENGTH).collect();
    format!(": {line}")
}

fn without(line: &str, secrets: impl Iterator<Item = String>) -> String {
    let mut secrets: Vec<String> =
        secrets.filter(|it| MIN_SECRET_LENGTH <= it.trim().len()).collect();
    // Replace long values first, because one may contain another.
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

/// Waits for the end of a program without collecting its exit status. Until the status is
/// collected, the ids of the program and its group cannot be reused.
#[cfg(unix)]
fn watch(child: &Child, events: Sender<ProgramEvent>) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let pid = pid_of(child);
    thread::spawn(move || {
        if let Some(pid) = pid {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        }
        events.send(ProgramEvent::Ended)
    });
}

#[cfg(not(unix))]
fn watch(_: &Child, events: Sender<ProgramEvent>) {
    drop(events);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_values_are_hidden() {
        let secrets = ["sk-12345678", "sk-1234567890", "1", "", "   "].map(str::to_owned);
        let line = without("key sk-1234567890 is wrong (1), not sk-12345678", secrets.into_iter());
        assert_eq!(line, "key [hidden] is wrong (1), not [hidden]");
    }

    #[test]
    fn error_message_is_one_short_line() {
        let line = first_line(format!("\n \u{1b}[31mbad{}\nsecond", "x".repeat(999)).as_bytes());
        assert!(line.starts_with(": [31mbadxxx") && line.chars().count() == MAX_LINE_LENGTH + 2);
        assert_eq!(first_line(b" \n"), "");
        assert_eq!(first_line(b"\xff!"), ": \u{fffd}!");
    }
}
