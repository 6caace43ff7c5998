//! Spool file: a file to which a body is written, with a note from which a later run resumes the
//! download.
//!
//! While the spool file is not complete, a note file next to it contains the validator and the
//! flushed length. A later run resumes after the bytes that are certainly on disk: all bytes of the
//! file if the machine has not been restarted, otherwise the bytes that were flushed.
//!
//! Ignores notes of other URLs, notes with weak validators, and files that are longer than
//! announced; the download then starts at the first byte.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_page::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::header::Validators;

/// Number of bytes that are written between two flushes.
const FLUSH_INTERVAL: u64 = 32 << 20;

/// The note about an incomplete spool file, from which the download is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ResumeNote {
    /// The URL of the file.
    url: String,
    /// The validators of the version that is being downloaded.
    validators: Validators,
    /// Size of the body on the wire, if known.
    total: Option<u64>,
    /// `Content-Encoding` as sent.
    coding: Option<String>,
    /// Number of bytes that are flushed to disk.
    flushed: u64,
    /// Boot id of the system that wrote the note.
    boot: Option<String>,
}

/// An open spool file, to which a body is written.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    path: PathBuf,
    file: File,
    hash: Sha256,
    length: u64,
    note: Option<ResumeNote>,
}

/// Length and digest of a complete spool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpoolDigest {
    pub(crate) length: u64,
    pub(crate) digest: Digest,
}

impl SpoolFile {
    /// Opens a spool file. Keeps the bytes of an earlier download that are certainly correct, and
    /// truncates the others.
    pub(crate) fn open(path: &Path, url: &str) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let note = read_note(path).filter(|note| {
            note.url == url && note.validators.strong_etag().is_some() && note.total != Some(0)
        });
        let on_disk = file.metadata()?.len();
        let kept = match &note {
            Some(note) if note.boot.is_some() && note.boot == boot_id() => on_disk,
            Some(note) => note.flushed.min(on_disk),
            None => 0,
        };
        let is_too_long = note.as_ref().and_then(|note| note.total).is_some_and(|n| n < kept);
        let kept = if is_too_long { 0 } else { kept };
        if kept != on_disk {
            // A device has no length and cannot be truncated, so the error is ignored.
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

    /// Returns the length and the strong entity tag of a partial download; `None` if it cannot be
    /// resumed.
    pub(crate) fn resume(&self) -> Option<(u64, &str)> {
        let tag = self.note.as_ref()?.validators.strong_etag()?;
        (0 < self.length).then_some((self.length, tag))
    }

    /// Returns the announced size of the body, if known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.note.as_ref()?.total
    }

    /// Returns the number of bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the validators of the version that is being downloaded.
    pub(crate) fn validators(&self) -> Validators {
        self.note.as_ref().map(|note| note.validators.clone()).unwrap_or_default()
    }

    /// Returns `Content-Encoding` of the version that is being downloaded.
    pub(crate) fn coding(&self) -> Option<String> {
        self.note.as_ref()?.coding.clone()
    }

    /// Starts a new download at the beginning of the file.
    pub(crate) fn begin(
        &mut self,
        url: &str,
        validators: &Validators,
        total: Option<u64>,
        coding: Option<String>,
    ) -> io::Result<()> {
        self.restart()?;
        let note = ResumeNote {
            url: url.to_owned(),
            validators: validators.clone(),
            total,
            coding,
            flushed: 0,
            boot: boot_id(),
        };
        if note.validators.strong_etag().is_some() {
            write_note(&self.path, &note)?;
        }
        self.note = Some(note);
        Ok(())
    }

    /// Truncates the file and deletes its note.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        drop(fs::remove_file(note_path(&self.path)));
        drop(self.file.set_len(0));
        self.file.seek(SeekFrom::Start(0))?;
        self.hash = Sha256::new();
        self.length = 0;
        self.note = None;
        Ok(())
    }

    /// Appends bytes to the file.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        let before = self.length / FLUSH_INTERVAL;
        self.length += bytes.len() as u64;
        if before < self.length / FLUSH_INTERVAL
            && let Some(note) = &mut self.note
            && note.validators.strong_etag().is_some()
        {
            self.file.sync_data()?;
            note.flushed = self.length;
            write_note(&self.path, note)?;
        }
        Ok(())
    }

    /// Flushes the file and deletes its note, which marks the file as complete.
    pub(crate) fn finish(&mut self) -> io::Result<SpoolDigest> {
        self.file.flush()?;
        self.file.sync_all()?;
        drop(fs::remove_file(note_path(&self.path)));
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(SpoolDigest { length: self.length, digest: Digest(self.hash.clone().finalize().into()) })
    }

    /// Deletes the file and its note.
    pub(crate) fn discard(&self) {
        drop(fs::remove_file(note_path(&self.path)));
        drop(fs::remove_file(&self.path));
    }
}

/// Returns the path of the note about a spool file.
fn note_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn read_note(path: &Path) -> Option<ResumeNote> {
    let mut text = Vec::new();
    File::open(note_path(path)).ok()?.take(64 << 10).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Writes a note to a temporary file and renames that file, so that a note is never partial.
fn write_note(path: &Path, note: &ResumeNote) -> io::Result<()> {
    let place = note_path(path);
    let mut fresh = place.clone().into_os_string();
    fresh.push("~");
    let fresh = PathBuf::from(fresh);
    fs::write(&fresh, serde_json::to_vec(note)?)?;
    fs::rename(&fresh, &place)
}

/// Returns the boot id of the running system; `None` on systems without boot ids.
fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong_validators() -> Validators {
        Validators { etag: Some("\"a\"".into()), last_modified: None }
    }

    #[test] // D11
    fn resumes_in_a_later_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.scp");
        let mut spool = SpoolFile::open(&path, "u").unwrap();
        assert_eq!(spool.resume(), None);
        spool.begin("u", &strong_validators(), Some(6), None).unwrap();
        spool.write(b"abc").unwrap();
        drop(spool);
        // A note of another URL is ignored.
        let mut spool = SpoolFile::open(&path, "u").unwrap();
        assert_eq!(spool.resume(), Some((3, "\"a\"")));
        spool.write(b"def").unwrap();
        let done = spool.finish().unwrap();
        assert_eq!(done, SpoolDigest { length: 6, digest: Digest::of(b"abcdef") });
        assert_eq!(fs::read(&path).unwrap(), b"abcdef");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(SpoolFile::open(&path, "u").unwrap().resume(), None);
    }

    #[test]
    fn discards_unflushed_bytes_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.scp");
        let mut spool = SpoolFile::open(&path, "u").unwrap();
        spool.begin("u", &strong_validators(), None, None).unwrap();
        spool.write(b"abcdef").unwrap();
        for (flushed, boot, url, wanted) in [
            (4, Some("another start".to_owned()), "u", Some(4)),
            (4, None, "u", Some(4)),
            (0, None, "u", None),
            (9, boot_id(), "other", None),
        ] {
            fs::write(&path, b"abcdef").unwrap();
            let note = ResumeNote { flushed, boot, ..spool.note.clone().unwrap() };
            write_note(&path, &note).unwrap();
            let again = SpoolFile::open(&path, url).unwrap();
            assert_eq!(again.resume().map(|(length, _)| length), wanted);
        }
        for bad in [&b""[..], b"{", b"{\"url\":1}", b"\xff"] {
            fs::write(&path, b"abcdef").unwrap();
            fs::write(note_path(&path), bad).unwrap();
            assert_eq!(SpoolFile::open(&path, "u").unwrap().resume(), None);
        }
    }
}
