//! Catalogs that are not in force yet, such as the one of a running publication.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::monitor::metrics::Metrics;
use crate::resolve::catalog::Catalog;
use crate::resolve::error::ResolveError;
use crate::resolve::root_dir::{FileIdentity, identity_of};

/// At most two catalogs: the one in place and the next one.
#[derive(Debug)]
pub(crate) struct PendingCatalogs {
    loaded: Mutex<Vec<(FileIdentity, Arc<Catalog>)>>,
    metrics: Arc<Metrics>,
}

impl PendingCatalogs {
    pub(super) fn new(metrics: &Arc<Metrics>) -> Self {
        Self { loaded: Mutex::default(), metrics: Arc::clone(metrics) }
    }

    pub(super) fn clear(&self) {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Loads a catalog. If several requests need it, one reads the file and the others wait.
    pub(super) fn load(&self, path: &Path) -> Result<Arc<Catalog>, ResolveError> {
        let identity = identity_of(path).ok_or(ResolveError::Publishing)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // The file keeps its bytes when it is moved into place.
        if let Some((_, catalog)) = loaded.iter().find(|(known, _)| known.is_same_bytes(&identity))
        {
            return Ok(Arc::clone(catalog));
        }
        let catalog = Arc::new(Catalog::load(path).map_err(|_| ResolveError::Publishing)?);
        self.metrics.loaded_ahead();
        if let Some(identity) = catalog.identity {
            loaded.truncate(1);
            loaded.insert(0, (identity, Arc::clone(&catalog)));
        }
        Ok(catalog)
    }
}
