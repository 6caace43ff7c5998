//! The spool: page lines on disk, hashed and written by a thread of their own
//! while the caller makes the next ones.
//!
//! The file has no name, so that nothing is left behind however we end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use rutter_page::{Digest, LineDigest};
use sha2::{Digest as _, Sha256};

use crate::error::WriteError;
use crate::state::State;
use crate::writer::Track;

/// Bytes handed over at once.
const CHUNK: usize = 256 << 10;

/// Chunks that may wait, so that neither side stops for the other.
const QUEUED: usize = 6;

/// Lines on their way to disk, each after a line feed.
#[derive(Debug, Default)]
struct Chunk {
    text: Vec<u8>,
    keys: String,
    /// Where each key and each line ends.
    ends: Vec<(usize, usize)>,
}

/// Takes lines and writes them behind the caller's back.
#[derive(Debug)]
pub(crate) struct Spooler {
    folder: PathBuf,
    chunk: Chunk,
    bytes: u64,
    track: Track,
    /// Dropped to tell the thread that there is no more.
    chunks: SyncSender<Chunk>,
    /// Chunks that come back empty, so that their memory is used again.
    empties: Receiver<Chunk>,
    /// `None` once it has been asked why it stopped.
    thread: Option<JoinHandle<io::Result<Done>>>,
}

/// What the thread found out.
#[derive(Debug)]
struct Done {
    file: File,
    state: State,
    hash: Option<Sha256>,
}

/// All lines on disk.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    pub(crate) folder: PathBuf,
    /// Sum over the lines, where it was tracked.
    pub(crate) state: Option<State>,
    /// Digest of line 1 and the lines, where line 1 was known.
    pub(crate) digest: Option<Digest>,
    pub(crate) bytes: u64,
}

impl Spooler {
    /// `line_1` is hashed before the lines, where it is known already.
    pub(crate) fn start(
        folder: &Path,
        track: Track,
        line_1: Option<&str>,
    ) -> Result<Self, WriteError> {
        // The kind alone: a name nobody chose would only confuse.
        let at = |error: io::Error| WriteError::Io(folder.to_owned(), error.kind().into());
        let out = tempfile::tempfile_in(folder).map_err(at)?;
        let (chunks, arriving) = mpsc::sync_channel(QUEUED);
        let (returning, empties) = mpsc::channel();
        let hash = line_1.map(|line_1| Sha256::new().chain_update(line_1.as_bytes()));
        let write = move || write_all(&arriving, &returning, out, track, hash);
        let thread = Some(thread::Builder::new().spawn(write).map_err(at)?);
        let folder = folder.to_owned();
        Ok(Self { folder, chunk: Chunk::default(), bytes: 0, track, chunks, empties, thread })
    }

    pub(crate) fn push(&mut self, key: &str, line: &[u8]) -> Result<(), WriteError> {
        let chunk = &mut self.chunk;
        chunk.text.push(b'\n');
        chunk.text.extend_from_slice(line);
        self.bytes += 1 + line.len() as u64;
        if self.track == Track::State {
            chunk.keys.push_str(key);
            chunk.ends.push((chunk.keys.len(), chunk.text.len()));
        }
        if CHUNK <= chunk.text.len() && self.send().is_err() {
            let folder = self.folder.clone();
            return Err(WriteError::Io(folder, self.why_stopped()));
        }
        Ok(())
    }

    /// The error of a thread that no longer takes chunks.
    fn why_stopped(&mut self) -> io::Error {
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => error,
            _ => io::Error::other("the spool has failed before"),
        }
    }

    fn send(&mut self) -> Result<(), mpsc::SendError<Chunk>> {
        let empty = self.empties.try_recv().unwrap_or_default();
        self.chunks.send(std::mem::replace(&mut self.chunk, empty))
    }

    /// Waits until everything is written.
    pub(crate) fn finish(mut self) -> Result<Spool, WriteError> {
        // Where this fails the thread has stopped, and says why.
        drop(self.send());
        let Self { folder, bytes, track, chunks, thread, .. } = self;
        drop(chunks);
        let gone = || io::Error::other("the spool has failed before");
        let done = thread
            .map_or_else(|| Err(gone()), |thread| thread.join().unwrap_or_else(|_| Err(gone())));
        let done = done.map_err(|error| WriteError::Io(folder.clone(), error))?;
        let Done { file, state, hash } = done;
        let state = (track == Track::State).then_some(state);
        let digest = hash.map(|hash| Digest(hash.finalize().into()));
        Ok(Spool { file, folder, state, digest, bytes })
    }
}

impl Spool {
    /// Reads the lines from their beginning; several may read at once.
    pub(crate) fn reader(&self) -> SpoolReader<'_> {
        SpoolReader { file: &self.file, at: 0 }
    }
}

/// Reads a spool by position, because a file without a name cannot be opened
/// twice.
pub(crate) struct SpoolReader<'s> {
    file: &'s File,
    at: u64,
}

impl Read for SpoolReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(self.file, buf, self.at)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(self.file, buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

fn write_all(
    chunks: &Receiver<Chunk>,
    empties: &Sender<Chunk>,
    mut out: File,
    track: Track,
    mut hash: Option<Sha256>,
) -> io::Result<Done> {
    let mut state = State::EMPTY;
    for mut chunk in chunks {
        if track == Track::State {
            let (mut key_start, mut line_start) = (0, 0);
            for &(key_end, line_end) in &chunk.ends {
                let key = chunk.keys.get(key_start..key_end).unwrap_or_default();
                // The line feed before it is not part of the line.
                let line = chunk.text.get(line_start + 1..line_end).unwrap_or_default();
                state.add(key, LineDigest::of(line));
                (key_start, line_start) = (key_end, line_end);
            }
        }
        if let Some(hash) = &mut hash {
            hash.update(&chunk.text);
        }
        out.write_all(&chunk.text)?;
        chunk.text.clear();
        chunk.keys.clear();
        chunk.ends.clear();
        // One long line must not keep its memory; nobody may be waiting.
        if chunk.text.capacity() <= 4 * CHUNK {
            drop(empties.send(chunk));
        }
    }
    Ok(Done { file: out, state, hash })
}
