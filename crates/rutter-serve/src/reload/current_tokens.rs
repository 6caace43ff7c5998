//! The tokens that are in force.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::admission::token::{TokenError, Tokens};
use crate::reload::{CHECK_INTERVAL, LoadAttempt, is_passing};
use crate::resolve::root_dir::{FileIdentity, identity_of};

/// The tokens of the token file.
#[derive(Debug)]
pub(crate) struct CurrentTokens {
    /// The token file; `None` without tokens.
    path: Option<PathBuf>,
    tokens: RwLock<Option<Arc<Tokens>>>,
    /// Identity of the file that was read last, successfully or not.
    read: Mutex<Option<FileIdentity>>,
    /// When the tokens were last checked. Locked while the token file is read, so that old tokens
    /// never replace newer ones.
    checked: Mutex<u64>,
}

impl CurrentTokens {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self {
            path: path.map(Path::to_owned),
            tokens: RwLock::default(),
            read: Mutex::default(),
            checked: Mutex::default(),
        }
    }

    pub(crate) fn get(&self) -> Option<Arc<Tokens>> {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the site has a token file.
    pub(crate) fn is_there(&self) -> bool {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn load(&self, attempt: LoadAttempt) -> Result<(), TokenError> {
        let Some(path) = &self.path else { return Ok(()) };
        let _turn = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_file(path, attempt)
    }

    /// Reloads the token file if it changed, unless it was checked within [`CHECK_INTERVAL`]
    /// milliseconds. Returns `None` if the file was not read.
    ///
    /// The check runs before a token is accepted, so a revoked token is rejected after that
    /// interval, even if the server was idle.
    pub(crate) fn check(&self, now: u64) -> Option<Result<(), TokenError>> {
        let path = self.path.as_ref()?;
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if now < *checked + CHECK_INTERVAL {
            return None;
        }
        *checked = now;
        self.has_changed().then(|| self.read_file(path, LoadAttempt::Again))
    }

    /// Returns whether the token file has changed since it was read.
    pub(crate) fn has_changed(&self) -> bool {
        let Some(path) = &self.path else { return false };
        let identity = identity_of(path);
        identity != *self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_read(&self, identity: Option<FileIdentity>) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = identity;
    }

    /// The caller must hold the lock on `checked`.
    fn read_file(&self, path: &Path, attempt: LoadAttempt) -> Result<(), TokenError> {
        let before = identity_of(path);
        let loaded = Tokens::load(path);
        if !matches!(&loaded, Err(TokenError::Io(error)) if is_passing(error)) {
            // The failure is permanent until the file or its permissions change.
            self.set_read(before);
        }
        let tokens = match loaded {
            // Deleting the file revokes all tokens.
            Err(TokenError::Io(error))
                if attempt == LoadAttempt::Again && error.kind() == io::ErrorKind::NotFound =>
            {
                self.set_read(None);
                Tokens::default()
            }
            loaded => loaded?,
        };
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tokens));
        Ok(())
    }
}
