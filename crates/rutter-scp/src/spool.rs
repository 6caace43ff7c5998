//! Spool file: page lines on disk before line 1 is known.
//!
//! A separate thread hashes and writes the lines while the caller produces the next ones. The file
//! is anonymous, so nothing is left behind when the process ends.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use rutter_page::{Digest, LineDigest};
use sha2::{Digest as _, Sha256};

use crate::error::WriteError;
use crate::state::SectionState;
use crate::writer::StateTracking;

/// Size in bytes of the chunks of lines that are handed over to the writing thread.
const CHUNK: usize = 256 << 10;

/// Maximum number of chunks in a queue between the two threads. With this many chunks, neither
/// thread waits for the other.
const QUEUED: usize = 6;

/// Page lines that are not written to the spool file yet, each with a line feed before it.
#[derive(Debug, Default)]
struct SpoolChunk {
    text: Vec<u8>,
    keys: String,
    /// End offset of each key in `keys` and of each line in `text`.
    ends: Vec<(usize, usize)>,
}

/// Queues lines for the thread that writes them.
#[derive(Debug)]
pub(crate) struct SpoolWriter {
    folder: PathBuf,
    chunk: SpoolChunk,
    bytes: u64,
    track: StateTracking,
    /// Channel to the writing thread. Dropping it tells the thread that no more lines follow.
    chunks: SyncSender<SpoolChunk>,
    /// Channel that returns written chunks, so that their memory is reused.
    returned_chunks: Receiver<SpoolChunk>,
    /// Handle of the writing thread; `None` once the thread was joined to obtain its error.
    thread: Option<JoinHandle<io::Result<SpoolOutcome>>>,
}

/// Result of the thread that writes the spool file.
#[derive(Debug)]
struct SpoolOutcome {
    file: File,
    state: SectionState,
    hash: Option<Sha256>,
}

/// A complete spool file.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    file: File,
    pub(crate) folder: PathBuf,
    /// State of the pages; `None` if tracking was not requested.
    pub(crate) state: Option<SectionState>,
    /// Digest of line 1 and all page lines; `None` if line 1 was not known in advance.
    pub(crate) digest: Option<Digest>,
    pub(crate) bytes: u64,
}

impl SpoolWriter {
    /// Starts the writing thread. If line 1 is known already, it is hashed before the page lines.
    pub(crate) fn start(
        folder: &Path,
        track: StateTracking,
        line_1: Option<&str>,
    ) -> Result<Self, WriteError> {
        // Report the error kind only: the message would show a random temporary name.
        let at = |error: io::Error| WriteError::Io(folder.to_owned(), error.kind().into());
        let out = tempfile::tempfile_in(folder).map_err(at)?;
        let (chunks, arriving) = mpsc::sync_channel(QUEUED);
        let (returning, returned_chunks) = mpsc::channel();
        let hash = line_1.map(|line_1| Sha256::new().chain_update(line_1.as_bytes()));
        let write = move || write_all(&arriving, &returning, out, track, hash);
        let thread = Some(thread::Builder::new().spawn(write).map_err(at)?);
        let folder = folder.to_owned();
        Ok(Self {
            folder,
            chunk: SpoolChunk::default(),
            bytes: 0,
            track,
            chunks,
            returned_chunks,
            thread,
        })
    }

    pub(crate) fn push(&mut self, key: &str, line: &[u8]) -> Result<(), WriteError> {
        let chunk = &mut self.chunk;
        chunk.text.push(b'\n');
        chunk.text.extend_from_slice(line);
        self.bytes += 1 + line.len() as u64;
        if self.track == StateTracking::State {
            chunk.keys.push_str(key);
            chunk.ends.push((chunk.keys.len(), chunk.text.len()));
        }
        if CHUNK <= chunk.text.len() && self.send().is_err() {
            let folder = self.folder.clone();
            return Err(WriteError::Io(folder, self.why_stopped()));
        }
        Ok(())
    }

    /// Joins the writing thread and returns the error that stopped it.
    fn why_stopped(&mut self) -> io::Error {
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => error,
            _ => io::Error::other("writing the spool file has failed before"),
        }
    }

    fn send(&mut self) -> Result<(), mpsc::SendError<SpoolChunk>> {
        let empty = self.returned_chunks.try_recv().unwrap_or_default();
        self.chunks.send(std::mem::replace(&mut self.chunk, empty))
    }

    /// Waits until all lines are written to the spool file.
    pub(crate) fn finish(mut self) -> Result<SpoolFile, WriteError> {
        // If sending fails, the thread has stopped; joining it below returns the reason.
        drop(self.send());
        let Self { folder, bytes, track, chunks, thread, .. } = self;
        drop(chunks);
        let gone = || io::Error::other("writing the spool file has failed before");
        let done = thread
            .map_or_else(|| Err(gone()), |thread| thread.join().unwrap_or_else(|_| Err(gone())));
        let done = done.map_err(|error| WriteError::Io(folder.clone(), error))?;
        let SpoolOutcome { file, state, hash } = done;
        let state = (track == StateTracking::State).then_some(state);
        let digest = hash.map(|hash| Digest(hash.finalize().into()));
        Ok(SpoolFile { file, folder, state, digest, bytes })
    }
}

impl SpoolFile {
    /// Returns a reader of the lines, from the first one. Several readers may exist at once.
    pub(crate) fn reader(&self) -> SpoolReader<'_> {
        SpoolReader { file: &self.file, at: 0 }
    }
}

/// Reads a spool file by position, because an anonymous file cannot be opened twice.
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
    chunks: &Receiver<SpoolChunk>,
    returned_chunks: &Sender<SpoolChunk>,
    mut out: File,
    track: StateTracking,
    mut hash: Option<Sha256>,
) -> io::Result<SpoolOutcome> {
    let mut state = SectionState::EMPTY;
    for mut chunk in chunks {
        if track == StateTracking::State {
            let (mut key_start, mut line_start) = (0, 0);
            for &(key_end, line_end) in &chunk.ends {
                let key = chunk.keys.get(key_start..key_end).unwrap_or_default();
                // Every line is stored with a line feed before it, which is not part of the line.
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
        // Free the memory of a chunk with a very long line. The writer may already have stopped, so
        // sending the chunk back may fail.
        if chunk.text.capacity() <= 4 * CHUNK {
            drop(returned_chunks.send(chunk));
        }
    }
    Ok(SpoolOutcome { file: out, state, hash })
}
