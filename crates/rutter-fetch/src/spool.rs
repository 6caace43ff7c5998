//! A body on its way to a file, and what is needed to go on with it later.
//!
//! Beside the file lies a note with the validator, as long as the file is not
//! complete. A later run goes on from what surely is on the disk: all of it
//! where the machine has not been restarted, else what had been flushed.
//!
//! Refuses: to vouch for bytes before they are flushed, to keep a file that
//! could not be written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_page::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::header::Validators;

/// How often what was written is flushed.
const FLUSHED_EVERY: u64 = 32 << 20;

/// What is known of a file that is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// What is being fetched.
    url: String,
    /// Of the version that is being fetched.
    validators: Validators,
    /// Its size on the wire, where known.
    total: Option<u64>,
    /// `Content-Encoding` as it was sent.
    coding: Option<String>,
    /// How much of it is flushed.
    flushed: u64,
    /// Which start of the machine wrote it.
    boot: Option<String>,
}

/// A file that a body is written to.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    file: File,
    hash: Sha256,
    length: u64,
    note: Option<Note>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spooled {
    pub(crate) length: u64,
    pub(crate) digest: Digest,
}

impl Spool {
    /// Opens the file; goes on with what is there where that can be trusted.
    pub(crate) fn open(path: &Path, url: &str) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let note = read_note(path).filter(|note| {
            note.url == url && note.validators.strong_etag().is_some() && note.total != Some(0)
        });
        let on_disk = file.metadata()?.len();
        let kept = match &note {
            Some(note) if note.boot.is_some() && note.boot == boot() => on_disk,
            Some(note) => note.flushed.min(on_disk),
            None => 0,
        };
        let is_too_long = note.as_ref().and_then(|note| note.total).is_some_and(|n| n < kept);
        let kept = if is_too_long { 0 } else { kept };
        if kept != on_disk {
            // Devices have no length; regular files do.
            drop(file.set_len(kept));
        }
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        let mut length = 0;
        file.seek(SeekFrom::Start(0))?;
        let mut part = (&mut file).take(kept);
        loop {
            let n = part.read(&mut buffer)?;
            let Some(piece @ [_, ..]) = buffer.get(..n) else { break };
            hash.update(piece);
            length += n as u64;
        }
        let note = note.filter(|_| 0 < length);
        Ok(Self { path: path.to_owned(), file, hash, length, note })
    }

    /// How much is there, and by which tag the rest may be asked for.
    pub(crate) fn resume(&self) -> Option<(u64, &str)> {
        let tag = self.note.as_ref()?.validators.strong_etag()?;
        (0 < self.length).then_some((self.length, tag))
    }

    /// Size of the whole, where known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.note.as_ref()?.total
    }

    /// Bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The validators of the version that is being fetched.
    pub(crate) fn validators(&self) -> Validators {
        self.note.as_ref().map(|note| note.validators.clone()).unwrap_or_default()
    }

    /// `Content-Encoding` of the version that is being fetched.
    pub(crate) fn coding(&self) -> Option<String> {
        self.note.as_ref()?.coding.clone()
    }

    /// Begins from the beginning.
    pub(crate) fn begin(
        &mut self,
        url: &str,
        validators: &Validators,
        total: Option<u64>,
        coding: Option<String>,
    ) -> io::Result<()> {
        self.restart()?;
        let note = Note {
            url: url.to_owned(),
            validators: validators.clone(),
            total,
            coding,
            flushed: 0,
            boot: boot(),
        };
        if note.validators.strong_etag().is_some() {
            write_note(&self.path, &note)?;
        }
        self.note = Some(note);
        Ok(())
    }

    /// Forgets everything that was written.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        drop(fs::remove_file(note_path(&self.path)));
        drop(self.file.set_len(0));
        self.file.seek(SeekFrom::Start(0))?;
        self.hash = Sha256::new();
        self.length = 0;
        self.note = None;
        Ok(())
    }

    /// Takes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        let before = self.length / FLUSHED_EVERY;
        self.length += bytes.len() as u64;
        if before < self.length / FLUSHED_EVERY
            && let Some(note) = &mut self.note
            && note.validators.strong_etag().is_some()
        {
            self.file.sync_data()?;
            note.flushed = self.length;
            write_note(&self.path, note)?;
        }
        Ok(())
    }

    /// Flushes; only now the file is complete.
    pub(crate) fn finish(&mut self) -> io::Result<Spooled> {
        self.file.flush()?;
        self.file.sync_all()?;
        drop(fs::remove_file(note_path(&self.path)));
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Spooled { length: self.length, digest: Digest(self.hash.clone().finalize().into()) })
    }

    /// Takes the file away.
    pub(crate) fn discard(&self) {
        drop(fs::remove_file(note_path(&self.path)));
        drop(fs::remove_file(&self.path));
    }
}

/// Where the note of a file lies.
fn note_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn read_note(path: &Path) -> Option<Note> {
    let mut text = Vec::new();
    File::open(note_path(path)).ok()?.take(64 << 10).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Writes beside its place and moves, so that a note is whole or not there.
fn write_note(path: &Path, note: &Note) -> io::Result<()> {
    let place = note_path(path);
    let mut fresh = place.clone().into_os_string();
    fresh.push("~");
    let fresh = PathBuf::from(fresh);
    fs::write(&fresh, serde_json::to_vec(note)?)?;
    fs::rename(&fresh, &place)
}

/// A name for this start of the machine; `None` where it has none.
fn boot() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong() -> Validators {
        Validators { etag: Some("\"a\"".into()), last_modified: None }
    }

    #[test] // D11
    fn ours_a_later_run_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.scp");
        let mut spool = Spool::open(&path, "u").unwrap();
        assert_eq!(spool.resume(), None);
        spool.begin("u", &strong(), Some(6), None).unwrap();
        spool.write(b"abc").unwrap();
        drop(spool);
        // Another address is another file.
        let mut spool = Spool::open(&path, "u").unwrap();
        assert_eq!(spool.resume(), Some((3, "\"a\"")));
        spool.write(b"def").unwrap();
        let done = spool.finish().unwrap();
        assert_eq!(done, Spooled { length: 6, digest: Digest::of(b"abcdef") });
        assert_eq!(fs::read(&path).unwrap(), b"abcdef");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(Spool::open(&path, "u").unwrap().resume(), None);
    }

    #[test]
    fn ours_what_was_not_flushed_before_a_power_cut_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.scp");
        let mut spool = Spool::open(&path, "u").unwrap();
        spool.begin("u", &strong(), None, None).unwrap();
        spool.write(b"abcdef").unwrap();
        for (flushed, boot, url, wanted) in [
            (4, Some("another start".to_owned()), "u", Some(4)),
            (4, None, "u", Some(4)),
            (0, None, "u", None),
            (9, boot(), "other", None),
        ] {
            fs::write(&path, b"abcdef").unwrap();
            let note = Note { flushed, boot, ..spool.note.clone().unwrap() };
            write_note(&path, &note).unwrap();
            let again = Spool::open(&path, url).unwrap();
            assert_eq!(again.resume().map(|(length, _)| length), wanted);
        }
        for bad in [&b""[..], b"{", b"{\"url\":1}", b"\xff"] {
            fs::write(&path, b"abcdef").unwrap();
            fs::write(note_path(&path), bad).unwrap();
            assert_eq!(Spool::open(&path, "u").unwrap().resume(), None);
        }
    }
}
