//! Looks a path up: in the response cache, else with the resolver on a blocking thread.

use std::sync::Arc;

use tokio::sync::{Mutex, Semaphore};

use crate::clock::now;
use crate::resolve::catalog::Catalog;
use crate::resolve::error::{ResolveError, ResolveStop};
use crate::resolve::path;
use crate::resolve::resolver::{OpenFile, Resolution, ResolvedFiles, WorkLimit};
use crate::respond::representation::RepresentationContext;
use crate::respond::representation_set::RepresentationSet;
use crate::settings::CacheLifetimes;
use crate::site::Site;

/// Maximum number of attempts to read a file that changes while it is read.
const MAX_ATTEMPTS: usize = 8;

/// Maximum number of large files that are hashed at once: fewer than the blocking threads of a
/// worker.
const MAX_HASHING: usize = 4;

/// Number of locks for requests that hash the same large file.
const N_TURNS: usize = 16;

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum PathTarget {
    /// The representations, with the files that were opened.
    Found(Arc<RepresentationSet>, Vec<OpenFile>),
    /// The path is a directory without trailing slash; this is the path with it.
    Moved(String),
    /// A large file must be hashed first. Requests for the same file have the same number.
    Unread(u64),
}

/// Limits the requests that hash large files at once.
#[derive(Debug)]
pub(crate) struct HashingQueue {
    /// Locks of requests that hash a large file or wait for it.
    pub(super) turns: [Arc<Mutex<()>>; N_TURNS],
    pub(super) permits: Arc<Semaphore>,
}

impl HashingQueue {
    pub(super) fn new() -> Self {
        Self { turns: Default::default(), permits: Arc::new(Semaphore::new(MAX_HASHING)) }
    }

    /// Waits until a file may be hashed; the file is hashed while the returned value exists.
    ///
    /// Of several requests for the same large file, one hashes the file, and only a few files are
    /// hashed at once. The other requests wait here without a thread.
    async fn wait(&self, number: u64) -> Result<impl Send + 'static, ResolveError> {
        let turn = usize::try_from(number).unwrap_or(0) % self.turns.len();
        let turn = self.turns.get(turn).ok_or(ResolveError::Internal)?;
        let turn = Arc::clone(turn).lock_owned().await;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        Ok((turn, permit))
    }
}

impl Site {
    /// Returns the cached representations of a path, if they are still valid.
    pub(super) fn cached(&self, path: &str) -> Option<Arc<RepresentationSet>> {
        let found = self.0.cache.get(&path::cache_key(path))?;
        if found.generation != self.0.reload.catalog.generation() {
            return None;
        }
        let now = self.clock();
        let age = u64::try_from(self.0.settings.limits.recheck.as_millis()).unwrap_or(u64::MAX);
        if !found.is_fresh(now, age) {
            self.check_for_changes(now);
            if !found.is_current(self.0.resolver.root()) {
                return None;
            }
            found.set_checked(now);
        }
        self.0.metrics.cached();
        Some(found)
    }

    /// Resolves a path on a blocking thread, and hashes its large files if necessary.
    pub(super) async fn find_out(&self, path: &str) -> Result<PathTarget, ResolveError> {
        let number = match self.in_thread(path, WorkLimit::Look, ()).await? {
            PathTarget::Unread(number) => number,
            found => return Ok(found),
        };
        // If the client disconnects, hashing continues, so that the next request need not start
        // again.
        let turn = self.0.hashing.wait(number).await?;
        self.in_thread(path, WorkLimit::Hash, turn).await
    }

    /// Returns the representations of a path without hashing large files.
    pub(super) async fn look_at(&self, path: &str) -> Option<Arc<RepresentationSet>> {
        match self.in_thread(path, WorkLimit::Look, ()).await {
            Ok(PathTarget::Found(found, _)) => Some(found),
            _ => None,
        }
    }

    async fn in_thread(
        &self,
        path: &str,
        limit: WorkLimit,
        held: impl Send + 'static,
    ) -> Result<PathTarget, ResolveError> {
        let (site, path) = (self.clone(), path.to_owned());
        let work = move || {
            let found = site.resolve(&path, limit);
            drop(held);
            found
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(ResolveError::Internal))
    }

    /// Resolves a path. Reads files, so it must run on a blocking thread.
    fn resolve(&self, path: &str, limit: WorkLimit) -> Result<PathTarget, ResolveError> {
        self.check_for_changes(self.clock());
        for _ in 0..MAX_ATTEMPTS {
            let generation = self.0.reload.catalog.generation();
            let catalog = self.catalog();
            let started = self.clock();
            match self.0.resolver.try_resolve(path, &catalog, limit) {
                Ok(Resolution::Files(files)) => {
                    return Ok(self.prepare(path, *files, (&catalog, generation), started));
                }
                Ok(Resolution::Moved(to)) => return Ok(PathTarget::Moved(to)),
                Err(ResolveStop::Unread(number)) => return Ok(PathTarget::Unread(number)),
                Err(ResolveStop::Failed(error)) => return Err(error),
                Err(ResolveStop::Changed) => std::thread::yield_now(),
            }
        }
        Err(ResolveError::Publishing)
    }

    /// Prepares the representations of resolved files and puts them into the response cache.
    fn prepare(
        &self,
        path: &str,
        files: ResolvedFiles,
        (catalog, generation): (&Catalog, u64),
        started: u64,
    ) -> PathTarget {
        let lifetimes = self.lifetimes(catalog);
        let context = RepresentationContext {
            mount: catalog.mount(),
            is_restricted: files.is_restricted,
            lifetimes: &lifetimes,
            now: now(),
        };
        let (set, open_files) = RepresentationSet::new(files, context, generation, started);
        let set = Arc::new(set);
        self.0.cache.put(&path::cache_key(path), &set);
        PathTarget::Found(set, open_files)
    }

    /// Returns the cache lifetimes. The lifetime of snapshots is the configured update interval,
    /// otherwise the interval in `served.json`.
    fn lifetimes(&self, catalog: &Catalog) -> CacheLifetimes {
        let settings = &self.0.settings;
        let usual = settings.lifetimes.snapshot;
        let snapshot = settings.update.or(catalog.update).unwrap_or(usual);
        CacheLifetimes { snapshot, ..settings.lifetimes }
    }
}
