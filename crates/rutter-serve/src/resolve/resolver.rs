//! Resolves a request path to open files and the facts about them, in three steps: find the file
//! (`locate.rs`), open its other forms, read the facts (`inspect.rs`).
//!
//! Names come from `path.rs`, files from the root directory, metadata from the catalog and from the
//! bytes. All functions here read files, so they run on blocking threads. Hashing a large file
//! requires [`WorkLimit::Hash`], so that only a few requests do it at once.
//!
//! Rejects: names that differ from the name in the directory listing, if the site has restrictions,
//! and compressed files whose content differs from the plain file. A system error, such as too many
//! open files, is never reported as a missing file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::monitor::metrics::Metrics;
use crate::resolve::catalog::Catalog;
use crate::resolve::error::{ResolveError, ResolveStop};
use crate::resolve::facts::{FactsCache, FactsScope, FileFacts};
use crate::resolve::kind::{self, ContentCoding, FileKind};
use crate::resolve::pending::PendingCatalogs;
use crate::resolve::root_dir::{FileIdentity, LinkPolicy, OpenedEntry, RootDir, is_absent};
use crate::settings::SiteSettings;

/// How much work a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkLimit {
    Look,
    /// Large files may be hashed.
    Hash,
}

/// An open file, which cannot be confused with another version of the file.
#[derive(Debug, Clone)]
pub(crate) struct OpenFile {
    pub(crate) file: Arc<File>,
    pub(crate) identity: FileIdentity,
}

/// The result of resolving a path.
#[derive(Debug)]
pub(crate) enum Resolution {
    Files(Box<ResolvedFiles>),
    /// The path is a directory without trailing slash; this is the path with it.
    Moved(String),
}

/// The files of a path: one for each representation.
#[derive(Debug)]
pub(crate) struct ResolvedFiles {
    pub(crate) plain: ResolvedFile,
    pub(crate) gzip: Option<ResolvedFile>,
    pub(crate) markdown: Option<ResolvedFile>,
    pub(crate) is_restricted: bool,
    /// Names that the result depends on, with the identity of each file.
    pub(crate) seen: SeenFiles,
}

/// Names with the identities of their files; `None` for a file that does not exist.
pub(crate) type SeenFiles = Vec<(String, Option<FileIdentity>)>;

/// A file with its metadata and the facts about its bytes.
#[derive(Debug)]
pub(crate) struct ResolvedFile {
    pub(crate) name: String,
    pub(crate) open: OpenFile,
    /// The bytes of a small file.
    pub(crate) bytes: Option<Bytes>,
    pub(crate) facts: FileFacts,
    pub(crate) media_type: Box<str>,
    pub(crate) coding: Option<ContentCoding>,
    pub(crate) kind: FileKind,
    /// Modification time in seconds since 1970.
    pub(crate) modified: i64,
    /// When a collection expires, according to the build.
    pub(crate) expires: Option<i64>,
    /// Whether the bytes are those that the build recorded.
    pub(crate) is_as_built: bool,
}

/// Finds and reads the files of a site.
#[derive(Debug)]
pub(crate) struct Resolver {
    pub(super) root: RootDir,
    pub(super) known: FactsCache,
    pub(super) pending: PendingCatalogs,
    /// The state directory.
    pub(super) state: Option<PathBuf>,
    /// Maximum size of a file that is kept in memory.
    pub(super) small: u64,
}

impl Resolver {
    pub(crate) fn new(settings: &SiteSettings, metrics: &Arc<Metrics>) -> Self {
        Self {
            root: RootDir::new(&settings.root),
            known: FactsCache::new(),
            pending: PendingCatalogs::new(metrics),
            state: settings.state.clone(),
            small: settings.limits.small,
        }
    }

    pub(crate) fn root(&self) -> &RootDir {
        &self.root
    }

    /// Deletes the catalogs that were loaded before they were in force.
    pub(crate) fn clear_pending(&self) {
        self.pending.clear();
    }

    /// Resolves a path with one version of the catalog.
    pub(crate) fn try_resolve(
        &self,
        path: &str,
        catalog: &Catalog,
        limit: WorkLimit,
    ) -> Result<Resolution, ResolveStop> {
        let Some(located) = self.locate(path, catalog)? else {
            return Ok(Resolution::Moved(format!("{path}/")));
        };
        let forms = self.open_forms(located, catalog)?;
        let files = self.inspect(forms, catalog, limit)?;
        // The restrictions of one publication must not be applied to the files of another: a page
        // may be restricted in one and public in the next. So the files must be unchanged after the
        // restrictions were read. Without a state directory and without restrictions, this is not
        // checked.
        let is_judged = self.state.is_some() || catalog.has_restricted();
        if is_judged && !files.is_restricted && !self.root.is_unchanged(&files.seen) {
            return Err(ResolveStop::Changed);
        }
        Ok(Resolution::Files(Box::new(files)))
    }

    /// Opens a file; `None` if there is none with this name.
    pub(super) fn open_file(
        &self,
        name: &str,
        links: LinkPolicy,
    ) -> Result<Option<OpenFile>, ResolveError> {
        match self.root.open(name, links) {
            Ok(OpenedEntry::File(file, identity)) => {
                Ok(Some(OpenFile { file: Arc::new(file), identity }))
            }
            Ok(OpenedEntry::Folder) => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            Err(_) => Err(ResolveError::Overloaded),
        }
    }

    /// Opens a file again; `None` if it was replaced.
    ///
    /// The name was checked when the path was resolved, and the comparison of identities makes sure
    /// that a symbolic link still leads to the same file.
    pub(crate) fn reopen(&self, name: &str, identity: FileIdentity) -> Option<Arc<File>> {
        let opened = self.open_file(name, LinkPolicy::Inside).ok()?;
        opened.filter(|open| open.identity == identity).map(|open| open.file)
    }

    /// Reads the facts about a file into the cache, by the name of the file only.
    pub(crate) fn warm(&self, name: &str) -> Option<FileFacts> {
        let open = self.open_file(name, LinkPolicy::Never).ok()??;
        let (media_type, coding, _) = kind::of(name);
        self.known.find(&open.file, open.identity, FactsScope::of(media_type, coding)).ok()?
    }
}
