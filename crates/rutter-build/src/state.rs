//! The state folder (`.rutter`): paths of its files, and its lock.
//!
//! The lock lets only one build at a time write the state.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{BuildError, IoErrorContext};

/// Paths of the files in the state folder.
#[derive(Debug, Clone)]
pub(crate) struct StatePaths {
    pub(crate) folder: PathBuf,
}

impl StatePaths {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: absolute_path(folder) }
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger.tsv")
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.folder.join("chain.json")
    }

    pub(crate) fn templates(&self) -> PathBuf {
        self.folder.join("templates.json")
    }

    pub(crate) fn pack(&self) -> PathBuf {
        self.folder.join("pages.pack")
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.folder.join("files.tsv")
    }

    pub(crate) fn served(&self) -> PathBuf {
        self.folder.join("served.json")
    }

    pub(crate) fn findings_log(&self) -> PathBuf {
        self.folder.join("told.jsonl")
    }

    pub(crate) fn collections(&self) -> PathBuf {
        self.folder.join("collections")
    }

    /// Folder of the daily ARC deltas as they were published.
    pub(crate) fn deltas(&self) -> PathBuf {
        self.folder.join("arc")
    }

    /// File of the pages that only partners may read.
    pub(crate) fn private(&self) -> PathBuf {
        self.folder.join("private").join("pages.jsonl")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join("journal.json")
    }

    /// File that lists the state files that were lost in an interrupted publication.
    pub(crate) fn incomplete(&self) -> PathBuf {
        self.folder.join("incomplete")
    }

    /// File that contains the path of the staging folder if that folder is not in the state folder.
    pub(crate) fn stage_note(&self) -> PathBuf {
        self.folder.join("stage.path")
    }

    pub(crate) fn stage(&self) -> PathBuf {
        self.folder.join("stage")
    }
}

/// Returns the absolute form of a path, or the path itself if it has none.
pub(crate) fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Deletes a folder and its contents; a missing folder is not an error.
pub(crate) fn remove_folder(path: &Path) -> Result<(), BuildError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(BuildError::Io(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

/// Copies a file atomically: the copy is complete or does not exist.
pub(crate) fn copy_atomically(from: &Path, to: &Path) -> Result<(), BuildError> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = to.with_file_name(name);
    fs::copy(from, &beside).at(from)?;
    fs::rename(&beside, to).at(to)
}

/// Exclusive lock of the state folder, which is released when this value is dropped or the process
/// ends.
#[derive(Debug)]
pub(crate) struct StateLock {
    _file: File,
}

impl StateLock {
    pub(crate) fn acquire(paths: &StatePaths) -> Result<Self, BuildError> {
        fs::create_dir_all(&paths.folder).at(&paths.folder)?;
        // The folder gets a `.gitignore`, because caches, staged files and the lock do not belong
        // in version control.
        let ignore = paths.folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "pages.pack\nfiles.tsv\nserved.json\ntold.jsonl\njournal.json\nlock\nstage.path\nincomplete\nstage/\nnext/\nprivate/\nnginx.conf\n*.new\n")
                .at(&ignore)?;
        }
        let path = paths.folder.join("lock");
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).at(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(BuildError::Busy(paths.folder.clone())),
            Err(TryLockError::Error(error)) => Err(BuildError::Io(path, error)),
        }
    }
}
