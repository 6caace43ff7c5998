//! The journal: what a publication moves where. Once it is on disk, the
//! publication happens, in this process or in the next (design: redo is
//! idempotent, a staged file that is missing was moved already).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{At, BuildError};
use crate::manifest::time_of;
use crate::state::Paths;

/// Everything a publication does, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    format: u32,
    /// Staged files and where they belong, referenced before referring.
    pub(crate) moves: Vec<Move>,
    /// State files, after everything they speak of.
    pub(crate) state: Vec<(PathBuf, PathBuf)>,
    /// Files nobody names any more.
    pub(crate) removals: Vec<PathBuf>,
    /// Folders with staged files.
    pub(crate) stages: Vec<PathBuf>,
}

/// A file that is moved over another, or to where none is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Move {
    from: PathBuf,
    to: PathBuf,
    /// Size and time of the file it takes the place of.
    before: Option<(u64, u128)>,
}

impl Move {
    pub(crate) fn new(from: PathBuf, to: PathBuf) -> Self {
        let before = stat(&to);
        Self { from, to, before }
    }
}

fn stat(path: &Path) -> Option<(u64, u128)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.len(), time_of(&metadata)))
}

const FORMAT: u32 = 2;

impl Journal {
    pub(crate) fn new() -> Self {
        Self { format: FORMAT, ..Self::default() }
    }

    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, BuildError> {
        let path = paths.journal();
        match fs::read(&path) {
            // A journal appears by being renamed, so it is whole or not there.
            Ok(bytes) => match serde_json::from_slice::<Self>(&bytes) {
                Ok(journal) if journal.format == FORMAT => Ok(Some(journal)),
                Ok(_) => Err(BuildError::Newer(path)),
                Err(error) => Err(BuildError::State(path, error.line() as u64)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BuildError::Io(path, error)),
        }
    }

    /// Puts the journal on disk: from here on the publication happens.
    pub(crate) fn commit(&self, paths: &Paths) -> Result<(), BuildError> {
        // What could stop a move must stop it before it is promised.
        for Move { to, .. } in &self.moves {
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).at(folder)?;
            }
            if to.is_dir() {
                let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder is in the way");
                return Err(BuildError::Io(to.clone(), error));
            }
        }
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
        for Move { from, to, before } in &self.moves {
            // Somebody wrote there since: that is newer than what we have.
            let now = stat(to);
            if !from.exists() || (now.is_some() && now != *before) {
                continue;
            }
            rename(from, to, &mut folders)?;
        }
        for (from, to) in &self.state {
            if from.exists() || !to.exists() {
                rename(from, to, &mut folders)?;
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

/// Moves a file and remembers its new folder.
fn rename(from: &Path, to: &Path, folders: &mut Vec<PathBuf>) -> Result<(), BuildError> {
    if let Some(folder) = to.parent()
        && folders.last().is_none_or(|last| last != folder)
    {
        fs::create_dir_all(folder).at(folder)?;
        folders.push(folder.to_owned());
    }
    fs::rename(from, to).at(to)
}

/// A name is only safe once its folder is.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), BuildError> {
    #[cfg(unix)]
    fs::File::open(folder).and_then(|file| file.sync_all()).at(folder)?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
