//! The catalog that is in force, from `served.json` or from the ARC sitemap of the directory.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::reload::{LoadAttempt, announced, is_passing};
use crate::resolve::catalog::{Catalog, CatalogError};
use crate::resolve::root_dir::{FileIdentity, identity_of};
use crate::settings::{SiteSettings, UnknownAccess};

/// The catalog in force, with its generation.
#[derive(Debug, Default)]
pub(crate) struct CurrentCatalog {
    catalog: RwLock<Arc<Catalog>>,
    generation: AtomicU64,
    read: Mutex<ReadFiles>,
}

/// Identities of the files that were read last, successfully or not.
#[derive(Debug, Default)]
struct ReadFiles {
    served: Option<FileIdentity>,
    announced: announced::SitemapIdentities,
}

impl CurrentCatalog {
    pub(crate) fn get(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of the catalog in force.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Loads the restrictions from `served.json` or from the ARC sitemap, and puts them in force.
    /// Returns the new catalog; `None` if there is no file and everything is public.
    pub(crate) fn load(
        &self,
        settings: &SiteSettings,
        attempt: LoadAttempt,
    ) -> Result<Option<Arc<Catalog>>, CatalogError> {
        let loaded = match &settings.state {
            Some(state) => Some(self.load_served(&settings.root, state)?),
            None => self.load_announced(settings, attempt)?,
        };
        let Some(catalog) = loaded.map(Arc::new) else { return Ok(None) };
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&catalog);
        self.generation.fetch_add(1, Ordering::Release);
        Ok(Some(catalog))
    }

    fn load_served(&self, root: &Path, state: &Path) -> Result<Catalog, CatalogError> {
        let path = state.join("served.json");
        let before = identity_of(&path);
        let loaded = Catalog::load(&path).and_then(|catalog| {
            catalog.check_output_dir(root, state)?;
            Ok(catalog)
        });
        match &loaded {
            Ok(catalog) => self.read().served = catalog.identity,
            Err(CatalogError::Io(error)) if is_passing(error) => {}
            // The failure is permanent until the file or its permissions change.
            Err(_) => self.read().served = before,
        }
        loaded
    }

    /// Loads the restrictions from the ARC sitemap of the directory.
    fn load_announced(
        &self,
        settings: &SiteSettings,
        attempt: LoadAttempt,
    ) -> Result<Option<Catalog>, CatalogError> {
        let is_first = attempt == LoadAttempt::First;
        let is_open = settings.unknown == UnknownAccess::Open;
        self.read().announced = announced::states(&settings.root);
        match announced::load(&settings.root) {
            Ok(None) if self.get().is_there() => Err(CatalogError::Gone),
            Ok(None) if is_first && settings.tokens.is_some() && !is_open => {
                Err(CatalogError::Unknown)
            }
            Err(_) if is_first && is_open => Ok(None),
            loaded => loaded,
        }
    }

    /// Returns whether the files have changed since they were read.
    pub(crate) fn has_changed(&self, settings: &SiteSettings) -> bool {
        match &settings.state {
            Some(state) => identity_of(&state.join("served.json")) != self.read().served,
            None => announced::states(&settings.root) != self.read().announced,
        }
    }

    fn read(&self) -> MutexGuard<'_, ReadFiles> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
