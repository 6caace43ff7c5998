//! The journal: what a publication moves where. Once it is on disk, the
//! publication happens, in this process or in the next (design: redo is
//! idempotent, a staged file that is missing was moved already).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{At, BuildError};
use crate::state::Paths;

/// Everything a publication does, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    format: u32,
    /// Staged files and where they belong, referenced before referring.
    pub(crate) moves: Vec<(PathBuf, PathBuf)>,
    /// State files, after everything they speak of.
    pub(crate) state: Vec<(PathBuf, PathBuf)>,
    /// Files nobody names any more.
    pub(crate) removals: Vec<PathBuf>,
    /// Folders with staged files.
    pub(crate) stages: Vec<PathBuf>,
}

impl Journal {
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, BuildError> {
        let path = paths.journal();
        match fs::read(&path) {
            // A journal appears by being renamed, so it is whole or not there.
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| BuildError::State(path, error.line() as u64)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BuildError::Io(path, error)),
        }
    }

    /// Puts the journal on disk: from here on the publication happens.
    pub(crate) fn commit(&self, paths: &Paths) -> Result<(), BuildError> {
        let (path, temporary) = (paths.journal(), paths.folder.join("journal.new"));
        let bytes = serde_json::to_vec(self).expect("a journal is JSON");
        fs::write(&temporary, bytes).at(&temporary)?;
        fs::File::open(&temporary).and_then(|file| file.sync_all()).at(&temporary)?;
        fs::rename(&temporary, &path).at(&path)?;
        sync_folder(&paths.folder)
    }

    /// Does what is left to do.
    pub(crate) fn redo(&self, paths: &Paths) -> Result<(), BuildError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for (from, to) in self.moves.iter().chain(&self.state) {
            if let Some(folder) = to.parent()
                && folders.last().is_none_or(|last| last != folder)
            {
                fs::create_dir_all(folder).at(folder)?;
                folders.push(folder.to_owned());
            }
            match fs::rename(from, to) {
                Ok(()) => {}
                // Moved already, by whoever was interrupted.
                Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => {}
                Err(error) => return Err(BuildError::Io(to.clone(), error)),
            }
        }
        folders.sort();
        folders.dedup();
        for folder in &folders {
            sync_folder(folder)?;
        }
        for path in &self.removals {
            match fs::remove_file(path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BuildError::Io(path.clone(), error)),
            }
        }
        let journal = paths.journal();
        fs::remove_file(&journal).at(&journal)?;
        for stage in &self.stages {
            // Only litter is left there.
            drop(fs::remove_dir_all(stage));
        }
        Ok(())
    }
}

/// A name is only safe once its folder is.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), BuildError> {
    #[cfg(unix)]
    fs::File::open(folder).and_then(|file| file.sync_all()).at(folder)?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
