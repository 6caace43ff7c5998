//! Files on their way: fetched, and not yet in the replica.
//!
//! A publisher's folder beside the replica holds one file for each collection
//! that was asked for. A note beside a file says that it is complete, so that
//! a visit that was killed after the download asks nobody again. What was
//! applied, or did not verify, is taken away; what nobody came back for goes
//! after a while (SCP-186).
//!
//! Refuses: to let anything foreign choose a name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rutter_fetch::Validators;
use rutter_page::{Digest, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::VisitError;

/// Deletes what was downloaded of a site and not applied yet.
pub fn remove_spool(root: &Path, origin: &str) -> io::Result<()> {
    match fs::remove_dir_all(root.join(name_of(origin))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The folder of one publisher.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    folder: PathBuf,
}

/// What is known of a file that is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Complete {
    pub(crate) url: String,
    pub(crate) length: u64,
    pub(crate) validators: Validators,
}

impl Shelf {
    /// Makes the folder where it is not there.
    pub(crate) fn open(root: &Path, origin: &str) -> Result<Self, VisitError> {
        let folder = root.join(name_of(origin));
        fs::create_dir_all(&folder).map_err(|error| VisitError::Spool(folder.clone(), error))?;
        Ok(Self { folder })
    }

    /// Deletes the folder where nothing is in it.
    pub(crate) fn tidy(&self) {
        // It fails where there are files, and that is as it should be.
        drop(fs::remove_dir(&self.folder));
    }

    /// Where a collection goes: by its address and when it was made.
    pub(crate) fn place(&self, url: &str, generated: Timestamp) -> PathBuf {
        self.folder.join(format!("{}.scp", name_of(&format!("{url}\n{generated}"))))
    }

    /// Where a file goes that is read and taken away at once.
    pub(crate) fn beside(&self, url: &str) -> PathBuf {
        self.folder.join(format!("{}.part", name_of(url)))
    }

    /// A file that needs no network any more.
    pub(crate) fn complete(place: &Path, url: &str) -> Option<Complete> {
        let text = fs::read(note_of(place)).ok()?;
        let complete: Complete = serde_json::from_slice(&text).ok()?;
        let length = fs::metadata(place).ok()?.len();
        (complete.url == url && complete.length == length).then_some(complete)
    }

    /// Says that a file is complete. It is flushed already.
    pub(crate) fn seal(place: &Path, complete: &Complete) -> Result<(), VisitError> {
        put(&note_of(place), complete)
    }

    /// Takes a file away.
    pub(crate) fn discard(place: &Path) {
        drop(fs::remove_file(note_of(place)));
        drop(fs::remove_file(place));
    }

    /// Takes away what was last written before `oldest`.
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

    /// A small file of ours, where it is there and can be read.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Writes a small file of ours.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), VisitError> {
        put(&self.folder.join(name), value)
    }

    /// Where a file of ours lies.
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

/// Writes beside its place and moves, so that it is whole or not there.
fn put(path: &Path, value: &impl Serialize) -> Result<(), VisitError> {
    let fresh = path.with_extension("new");
    let text = serde_json::to_vec(value).map_err(io::Error::other);
    text.and_then(|text| fs::write(&fresh, text))
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| VisitError::Spool(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test] // SCP-186
    fn spec_old_collections_go_and_everything_else_stays() {
        let root = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(root.path(), "https://harbour.example").unwrap();
        for (name, seconds) in [("old.scp", 99), ("old.ok", 99), ("new.scp", 101), ("a.json", 1)] {
            let file = fs::File::create(shelf.path(name)).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        shelf.sweep(Timestamp::from_unix_seconds(100).unwrap());
        let is_there = ["old.scp", "old.ok", "new.scp", "a.json"].map(|it| shelf.path(it).exists());
        assert_eq!(is_there, [false, false, true, true]);
    }
}
