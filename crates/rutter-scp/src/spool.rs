//! The spool: page lines on disk, hashed and written by a thread of their own
//! while the caller makes the next ones.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use rutter_page::{Digest, LineDigest};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::error::WriteError;
use crate::state::State;
use crate::writer::Track;

/// Bytes handed over at once.
const CHUNK: usize = 256 << 10;

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
    file: NamedTempFile,
    path: PathBuf,
    chunk: Chunk,
    bytes: u64,
    track: Track,
    /// Dropped to tell the thread that there is no more.
    chunks: SyncSender<Chunk>,
    /// Chunks that come back empty, so that their memory is used again.
    empties: Receiver<Chunk>,
    thread: JoinHandle<io::Result<Done>>,
}

/// What the thread found out.
#[derive(Debug)]
struct Done {
    state: State,
    hash: Option<Sha256>,
}

/// All lines on disk.
#[derive(Debug)]
pub(crate) struct Spool {
    pub(crate) file: NamedTempFile,
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
        let at = |error| WriteError::Io(folder.to_owned(), error);
        let file = tempfile::Builder::new().prefix(".rutter-").tempfile_in(folder).map_err(at)?;
        let out = file.reopen().map_err(at)?;
        let path = file.path().to_owned();
        let (chunks, arriving) = mpsc::sync_channel(4);
        let (returning, empties) = mpsc::channel();
        let hash = line_1.map(|line_1| Sha256::new().chain_update(line_1.as_bytes()));
        let thread = thread::spawn(move || write_all(&arriving, &returning, out, track, hash));
        Ok(Self { file, path, chunk: Chunk::default(), bytes: 0, track, chunks, empties, thread })
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
            return Err(WriteError::Io(self.path.clone(), io::Error::other("the spool is full")));
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), mpsc::SendError<Chunk>> {
        let empty = self.empties.try_recv().unwrap_or_default();
        self.chunks.send(std::mem::replace(&mut self.chunk, empty))
    }

    /// Waits until everything is written.
    pub(crate) fn finish(mut self) -> Result<Spool, WriteError> {
        // Where this fails the thread has stopped, and says why.
        drop(self.send());
        let Self { file, path, bytes, track, chunks, thread, .. } = self;
        drop(chunks);
        let done = thread.join().expect("the spooling thread does not panic");
        let Done { state, hash } = done.map_err(|error| WriteError::Io(path, error))?;
        let state = (track == Track::State).then_some(state);
        let digest = hash.map(|hash| Digest(hash.finalize().into()));
        Ok(Spool { file, state, digest, bytes })
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
    Ok(Done { state, hash })
}
