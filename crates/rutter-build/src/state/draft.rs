//! The temporary folder of a build (`next/`): the state files that the publication will move into place.

use std::fs;
use std::io;
use std::path::PathBuf;

use rutter_site::{StatePaths, remove_folder};

use crate::error::{BuildError, IoErrorContext};

/// The folder with the new state files of a build.
///
/// Dropping it deletes the folder. If a journal exists, the folder is kept, because the next command publishes the
/// files.
#[derive(Debug)]
pub(crate) struct DraftFolder {
    folder: PathBuf,
    journal: PathBuf,
}

impl DraftFolder {
    /// Creates an empty folder.
    pub(crate) fn create(paths: &StatePaths) -> Result<Self, BuildError> {
        let folder = paths.folder.join("next");
        remove_folder(&folder)?;
        fs::create_dir_all(&folder).at(&folder)?;
        Ok(Self { folder, journal: paths.journal() })
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    pub(crate) fn pack(&self) -> PathBuf {
        self.folder.join("pack")
    }

    /// File with the URLs of changed and removed pages.
    pub(crate) fn changes(&self) -> PathBuf {
        self.folder.join("changes")
    }

    pub(crate) fn served(&self) -> PathBuf {
        self.folder.join("served")
    }

    /// File with the pages for partners.
    pub(crate) fn private(&self) -> PathBuf {
        self.folder.join("private")
    }

    pub(crate) fn findings_log(&self) -> PathBuf {
        self.folder.join("told")
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.folder.join("chain")
    }

    pub(crate) fn templates(&self) -> PathBuf {
        self.folder.join("templates")
    }

    /// Folder of the new ARC deltas.
    pub(crate) fn deltas(&self) -> PathBuf {
        self.folder.join("arc")
    }
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        let journal = fs::symlink_metadata(&self.journal);
        if journal.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}
