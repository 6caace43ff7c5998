//! The paths of the files in the state folder (`.rutter`), and operations on whole files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{IoErrorContext, StateError};

/// Paths of the files in the state folder.
#[derive(Debug, Clone)]
pub struct StatePaths {
    /// The state folder.
    pub folder: PathBuf,
}

impl StatePaths {
    /// Returns the paths in a state folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: absolute_path(folder) }
    }

    /// File of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join("ledger.tsv")
    }

    /// File of the publication record.
    pub fn chain(&self) -> PathBuf {
        self.folder.join("chain.json")
    }

    /// File of the templates.
    pub fn templates(&self) -> PathBuf {
        self.folder.join("templates.json")
    }

    /// File of the page cache.
    pub fn pack(&self) -> PathBuf {
        self.folder.join("pages.pack")
    }

    /// File of the manifest.
    pub fn files(&self) -> PathBuf {
        self.folder.join("files.tsv")
    }

    /// File with the list of served files.
    pub fn served(&self) -> PathBuf {
        self.folder.join("served.json")
    }

    /// File with the findings of the last publication.
    pub fn findings_log(&self) -> PathBuf {
        self.folder.join("told.jsonl")
    }

    /// Folder of the collections as they were published.
    pub fn collections(&self) -> PathBuf {
        self.folder.join("collections")
    }

    /// Folder of the daily ARC deltas as they were published.
    pub fn deltas(&self) -> PathBuf {
        self.folder.join("arc")
    }

    /// File of the pages that only partners may read.
    pub fn private(&self) -> PathBuf {
        self.folder.join("private").join("pages.jsonl")
    }

    /// File of the publication journal.
    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal.json")
    }

    /// File that lists the state files that were lost in an interrupted publication.
    pub fn incomplete(&self) -> PathBuf {
        self.folder.join("incomplete")
    }

    /// File that contains the path of the staging folder if that folder is not in the state folder.
    pub fn stage_note(&self) -> PathBuf {
        self.folder.join("stage.path")
    }

    /// Default staging folder.
    pub fn stage(&self) -> PathBuf {
        self.folder.join("stage")
    }
}

/// Returns the absolute form of a path, or the path itself if it has none.
pub fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Deletes a folder and its contents; a missing folder is not an error.
pub fn remove_folder(path: &Path) -> Result<(), StateError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StateError::Io(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

/// Copies a file atomically: the copy is complete or does not exist.
pub fn copy_atomically(from: &Path, to: &Path) -> Result<(), StateError> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = to.with_file_name(name);
    fs::copy(from, &beside).at(from)?;
    fs::rename(&beside, to).at(to)
}
