//! Recovery of an interrupted publication.
//!
//! Input: a state folder. If it has a complete journal, the publication is completed; else the staged files are deleted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StateError;
use crate::journal::Journal;
use crate::lock::StateLock;
use crate::paths::StatePaths;

/// Name of the staging folder in the output folder, used if the output folder and the state are on
/// different file systems.
pub const STAGING_FOLDER: &str = ".rutter-stage";

/// Completes an interrupted publication, or deletes the temporary files of an interrupted build.
/// Returns whether a publication was completed.
pub fn recover(state: &Path) -> Result<bool, StateError> {
    if !state.is_dir() {
        return Ok(false);
    }
    let paths = StatePaths::new(state);
    let _lock = StateLock::acquire(&paths)?;
    roll_forward(&paths)
}

/// Completes an interrupted publication, like [`recover`], for a caller that already holds the lock
/// of the state.
pub fn roll_forward(paths: &StatePaths) -> Result<bool, StateError> {
    let Some(journal) = Journal::load(paths)? else {
        drop(fs::remove_dir_all(paths.stage()));
        remove_remote_stage(paths);
        return Ok(false);
    };
    journal.apply()?;
    remove_remote_stage(paths);
    Ok(true)
}

/// Deletes a staging folder in the output folder, and the note that names this folder.
pub fn remove_remote_stage(paths: &StatePaths) {
    let note = paths.stage_note();
    let Ok(text) = fs::read(&note) else { return };
    let folder: Option<PathBuf> = serde_json::from_slice(&text).ok();
    // Only a folder with the name of a staging folder is deleted, even if the note names another
    // path.
    if let Some(folder) = folder.filter(|folder| folder.ends_with(STAGING_FOLDER)) {
        drop(fs::remove_dir_all(folder));
    }
    drop(fs::remove_file(note));
}
