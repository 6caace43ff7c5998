//! Spool directory: downloaded collections that are not applied yet.
//!
//! Each publisher has a directory with one file per requested collection. A marker file
//! (`.ok`) states that a download is complete, so that the sync after an interruption does
//! not download the file again. Applied and invalid files are deleted at once, unused files
//! after a while (SCP-186). File names are digests and never contain text from a site.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rutter_fetch::Validators;
use rutter_page::{Digest, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::SyncError;

/// Deletes the spool directory of a site, with the downloads that are not applied yet.
pub fn remove_spool(root: &Path, origin: &str) -> io::Result<()> {
    match fs::remove_dir_all(root.join(name_of(origin))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The spool directory of one publisher.
#[derive(Debug, Clone)]
pub(crate) struct SpoolDir {
    folder: PathBuf,
}

/// Content of the marker file of a complete download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpooledFile {
    pub(crate) url: String,
    pub(crate) length: u64,
    pub(crate) validators: Validators,
}

impl SpoolDir {
    /// Opens the spool directory of a site and creates it if necessary.
    pub(crate) fn open(root: &Path, origin: &str) -> Result<Self, SyncError> {
        let folder = root.join(name_of(origin));
        fs::create_dir_all(&folder).map_err(|error| SyncError::Spool(folder.clone(), error))?;
        Ok(Self { folder })
    }

    /// Deletes the spool directory if it is empty.
    pub(crate) fn tidy(&self) {
        // `remove_dir` fails if the directory contains files, which are kept.
        drop(fs::remove_dir(&self.folder));
    }

    /// Returns the path of the file for a collection, by its URL and its `generated`.
    pub(crate) fn place(&self, url: &str, generated: Timestamp) -> PathBuf {
        self.folder.join(format!("{}.scp", name_of(&format!("{url}\n{generated}"))))
    }

    /// Returns the path of a temporary file for the response of a URL.
    pub(crate) fn beside(&self, url: &str) -> PathBuf {
        self.folder.join(format!("{}.part", name_of(url)))
    }

    /// Returns the marker of a file; `None` if the download is not complete.
    pub(crate) fn complete(place: &Path, url: &str) -> Option<SpooledFile> {
        let text = fs::read(note_of(place)).ok()?;
        let complete: SpooledFile = serde_json::from_slice(&text).ok()?;
        let length = fs::metadata(place).ok()?.len();
        (complete.url == url && complete.length == length).then_some(complete)
    }

    /// Writes the marker of a complete download. The downloaded file must be flushed
    /// already.
    pub(crate) fn seal(place: &Path, complete: &SpooledFile) -> Result<(), SyncError> {
        put(&note_of(place), complete)
    }

    /// Deletes a file and its marker.
    pub(crate) fn discard(place: &Path) {
        drop(fs::remove_file(note_of(place)));
        drop(fs::remove_file(place));
    }

    /// Deletes downloads and markers that were last written before `oldest`.
    pub(crate) fn sweep(&self, oldest: Timestamp) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_spool = ["scp", "ok", "part"]
                .iter()
                .any(|kind| path.extension().is_some_and(|it| it == *kind));
            let written = entry.metadata().and_then(|it| it.modified()).ok();
            let written = written.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
            let seconds = written.and_then(|it| i64::try_from(it.as_secs()).ok());
            if is_spool && seconds.is_some_and(|seconds| seconds < oldest.unix_seconds()) {
                drop(fs::remove_file(path));
            }
        }
    }

    /// Reads a JSON file of the spool directory; `None` if the file is missing or invalid.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Writes a JSON file to the spool directory.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), SyncError> {
        put(&self.folder.join(name), value)
    }

    /// Returns the path of a file in the spool directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn name_of(text: &str) -> String {
    let hex = Digest::of(text.as_bytes()).to_string();
    let hex = hex.rsplit(':').next().unwrap_or_default();
    hex.get(..32).unwrap_or(hex).to_owned()
}

fn note_of(place: &Path) -> PathBuf {
    place.with_extension("ok")
}

/// Writes a JSON file atomically: writes a temporary file and renames it.
fn put(path: &Path, value: &impl Serialize) -> Result<(), SyncError> {
    let fresh = path.with_extension("new");
    let text = serde_json::to_vec(value).map_err(io::Error::other);
    text.and_then(|text| fs::write(&fresh, text))
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| SyncError::Spool(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test] // SCP-186
    fn deletes_only_old_spool_files() {
        let root = tempfile::tempdir().unwrap();
        let spool_dir = SpoolDir::open(root.path(), "https://harbour.example").unwrap();
        for (name, seconds) in [("old.scp", 99), ("old.ok", 99), ("new.scp", 101), ("a.json", 1)] {
            let file = fs::File::create(spool_dir.path(name)).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        spool_dir.sweep(Timestamp::from_unix_seconds(100).unwrap());
        let is_there =
            ["old.scp", "old.ok", "new.scp", "a.json"].map(|it| spool_dir.path(it).exists());
        assert_eq!(is_there, [false, false, true, true]);
    }
}
