//! `.rutter`: what is remembered between builds, and who may write it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{At, BuildError};

/// Where the parts of the state lie.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) folder: PathBuf,
}

impl Paths {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: whole(folder) }
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

    pub(crate) fn told(&self) -> PathBuf {
        self.folder.join("told.jsonl")
    }

    pub(crate) fn collections(&self) -> PathBuf {
        self.folder.join("collections")
    }

    /// Dated deltas for AI agents, as they were published.
    pub(crate) fn deltas(&self) -> PathBuf {
        self.folder.join("arc")
    }

    /// What only partners may read.
    pub(crate) fn private(&self) -> PathBuf {
        self.folder.join("private").join("pages.jsonl")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join("journal.json")
    }

    /// Names state files that an interrupted publication lost.
    pub(crate) fn incomplete(&self) -> PathBuf {
        self.folder.join("incomplete")
    }

    /// Names the stage where that is on another disk.
    pub(crate) fn elsewhere(&self) -> PathBuf {
        self.folder.join("stage.path")
    }

    pub(crate) fn stage(&self) -> PathBuf {
        self.folder.join("stage")
    }
}

/// A path that means the same wherever it is read.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Deletes a folder and everything in it; one that is not there is no error.
pub(crate) fn remove_folder(path: &Path) -> Result<(), BuildError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(BuildError::Io(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

/// Copies a file so that the copy is whole or not there.
pub(crate) fn copy_whole(from: &Path, to: &Path) -> Result<(), BuildError> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = to.with_file_name(name);
    fs::copy(from, &beside).at(from)?;
    fs::rename(&beside, to).at(to)
}

/// Held while a build works; gone with the process, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(paths: &Paths) -> Result<Self, BuildError> {
        fs::create_dir_all(&paths.folder).at(&paths.folder)?;
        // What is cached, staged or locked is nobody's to commit.
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
