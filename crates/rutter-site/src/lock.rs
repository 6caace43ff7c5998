//! The lock of the state folder, which lets only one build at a time write the state.

use std::fs::{self, File, TryLockError};

use crate::error::{IoErrorContext, StateError};
use crate::paths::StatePaths;

/// Names in the state folder that do not belong in version control: caches, staged files, the lock.
const IGNORED: &str = "pages.pack\nfiles.tsv\nserved.json\ntold.jsonl\njournal.json\nlock\nstage.path\nincomplete\nstage/\nnext/\nprivate/\nnginx.conf\n*.new\n";

/// Exclusive lock of the state folder, which is released when this value is dropped or the process
/// ends.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateLock {
    /// Creates the state folder if it is missing, and locks it.
    pub fn acquire(paths: &StatePaths) -> Result<Self, StateError> {
        fs::create_dir_all(&paths.folder).at(&paths.folder)?;
        let ignore = paths.folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, IGNORED).at(&ignore)?;
        }
        let path = paths.folder.join("lock");
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).at(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StateError::Busy(paths.folder.clone())),
            Err(TryLockError::Error(error)) => Err(StateError::Io(path, error)),
        }
    }
}
