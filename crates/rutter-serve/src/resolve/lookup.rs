//! Resolves a request path to files and their representations.
//!
//! Names come from `path.rs`, files from the root directory, metadata from the catalog and from the
//! bytes. All functions here read files, so they run on blocking threads. Hashing a large file
//! requires [`WorkLimit::Hash`], so that only a few requests do it at once.
//!
//! Rejects: names that differ from the name in the directory listing, if the site has restrictions,
//! and compressed files whose content differs from the plain file. A system error, such as too many
//! open files, is never reported as a missing file.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use bytes::Bytes;

use crate::resolve::catalog::{self, Catalog, CatalogFact};
use crate::resolve::compress;
use crate::resolve::facts::{self, FactsScope, FileFacts};
use crate::resolve::kind::{self, FileKind};
use crate::resolve::path::{self, PathFault};
use crate::resolve::root_dir::{Identity, LinkPolicy, OpenedEntry, is_absent};
use crate::respond::refusal::Refusal;
use crate::respond::representation::{
    Representation, RepresentationInput, RepresentationRole, read_small,
};
use crate::respond::response_cache::ResolvedPath;
use crate::settings::CacheLifetimes;
use crate::site::{Site, identity_of, now};

/// Maximum number of attempts to read a file that changes while it is read.
const MAX_ATTEMPTS: usize = 8;

/// The result of resolving a path.
#[derive(Debug)]
pub(crate) enum PathTarget {
    /// The representations, with the files that were opened.
    Files(Arc<ResolvedPath>, OpenFiles),
    /// The path is a directory without trailing slash; this is the path with it.
    Moved(String),
    /// A large file must be hashed first. Requests for the same file have the same number.
    Unread(u64),
}

/// Open files with their identities.
pub(crate) type OpenFiles = Vec<(Identity, Arc<File>)>;

/// How much work a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkLimit {
    Look,
    /// Large files may be hashed.
    Hash,
}

/// What a path refers to.
enum LocatedFile {
    File(String, File, Identity),
    /// A directory with an index, requested without its trailing slash.
    Folder,
}

/// Why an attempt ended early.
enum ResolveStop {
    Refused(Refusal),
    /// A file changed while it was read.
    Changed,
    Unread(u64),
}

impl From<Refusal> for ResolveStop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The facts of a file, with its bytes if it is small.
type InspectedFile = (FileFacts, Option<Bytes>);

impl Site {
    /// Resolves a path. Reads files, so it must run on a blocking thread.
    pub(crate) fn resolve(&self, path: &str, leave: WorkLimit) -> Result<PathTarget, Refusal> {
        self.check_for_changes(self.clock());
        for _ in 0..MAX_ATTEMPTS {
            let generation = self.0.generation.load(Ordering::Acquire);
            let catalog = self.catalog();
            match self.try_resolve(path, (&catalog, generation), leave) {
                Ok(found) => return Ok(found),
                Err(ResolveStop::Unread(number)) => return Ok(PathTarget::Unread(number)),
                Err(ResolveStop::Refused(refusal)) => return Err(refusal),
                Err(ResolveStop::Changed) => std::thread::yield_now(),
            }
        }
        Err(Refusal::Busy)
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one step after another, in the order of the protocol"
    )]
    fn try_resolve(
        &self,
        path: &str,
        (catalog, generation): (&Catalog, u64),
        leave: WorkLimit,
    ) -> Result<PathTarget, ResolveStop> {
        let started = self.clock();
        let Some(below) = catalog.below_mount(path) else {
            return Ok(PathTarget::Moved(format!("{path}/")));
        };
        let links = if catalog.has_restricted() { LinkPolicy::Never } else { LinkPolicy::Inside };
        let (name, file, identity) = match self.find(below, links)? {
            LocatedFile::File(name, file, identity) => (name, file, identity),
            LocatedFile::Folder => return Ok(PathTarget::Moved(format!("{path}/"))),
        };
        if !self.is_spelled(&name, catalog)? {
            return Err(Refusal::Missing.into());
        }
        let fact = fact_of(catalog, &name);
        let is_restricted = self.is_restricted(&name, &identity, catalog)?;
        let mut seen = vec![(name.clone(), Some(identity))];
        // Opens another representation of the file, unless it is restricted and the file is not.
        let mut form = |name: &str| -> Result<Option<(File, Identity)>, ResolveStop> {
            // The identity of a file that exists and cannot be opened is recorded as well.
            let before = self.0.root.stat_identity(name);
            let opened = self.open_file(name, links)?;
            let identity = opened.as_ref().map(|(_, identity)| *identity);
            seen.push((name.to_owned(), identity.or(before)));
            let Some((file, identity)) = opened else { return Ok(None) };
            let is_served = is_restricted || !self.is_restricted(name, &identity, catalog)?;
            let is_served = is_served && self.is_spelled(name, catalog)?;
            Ok(is_served.then_some((file, identity)))
        };
        let coded_name = format!("{name}.gz");
        let has_coded = kind::has_coded_twin(&fact.media_type) && fact.coding.is_none();
        let coded = if has_coded { form(&coded_name)? } else { None };
        let twin_name = fact.twin.clone().filter(|_| fact.kind == FileKind::Page && !is_restricted);
        let twin = match &twin_name {
            Some(name) => form(name)?.map(|opened| (name, opened)),
            None => None,
        };
        let looked =
            self.look(&file, identity, FactsScope::of(&fact.media_type, fact.coding), leave)?;
        let coded = match coded {
            Some((file, identity)) => {
                let (facts, bytes) = self.look(&file, identity, FactsScope::Gzip, leave)?;
                // A compressed file with other content is older or newer than the plain file.
                let is_same = facts.text.is_some() && facts.text == looked.0.stored;
                is_same.then_some((file, identity, (facts, bytes)))
            }
            None => None,
        };
        let coded = match coded {
            None if fact.coding.is_none() => {
                Self::compress((&file, identity), &fact.media_type, &looked, leave)?
            }
            coded => coded,
        };
        let role = match (&coded, fact.kind) {
            (Some(_), _) => RepresentationRole::Plain,
            (None, FileKind::Page) => {
                RepresentationRole::Page(twin.as_ref().map(|(name, _)| name.as_str()))
            }
            _ => RepresentationRole::Itself,
        };
        let mut open_files = OpenFiles::new();
        let lifetimes = self.lifetimes(catalog);
        let mut make = |name: &str, role, fact: &CatalogFact, (file, identity, looked), coding| {
            let (facts, bytes): InspectedFile = looked;
            let was_there = catalog.describes(&identity);
            let dated = fact.dated.filter(|dated| dated.is_of(facts.stored, was_there));
            let about = RepresentationInput {
                name,
                mount: catalog.mount(),
                media_type: &fact.media_type,
                coding,
                kind: fact.kind,
                modified: dated.map_or_else(|| identity.modified_seconds(), |it| it.modified),
                expires: fact.expires,
                now: now(),
                is_restricted,
                is_as_built: fact.bytes.are(facts.stored),
                role,
            };
            open_files.push((identity, Arc::new(file)));
            Representation::new(&about, identity, &facts, bytes, &lifetimes)
        };
        let plain = make(&name, role, &fact, (file, identity, looked), fact.coding);
        let gzip = coded.map(|coded| {
            // The catalog records the bytes under the name of the compressed file.
            let fact = CatalogFact { bytes: fact_of(catalog, &coded_name).bytes, ..fact.clone() };
            make(
                &coded_name,
                RepresentationRole::Coded,
                &fact,
                coded,
                Some(kind::ContentCoding::Gzip),
            )
        });
        let markdown = match twin {
            Some((name, (file, identity))) => {
                let fact = fact_of(catalog, name);
                let need = FactsScope::of(&fact.media_type, None);
                let looked = self.look(&file, identity, need, leave)?;
                Some(make(name, RepresentationRole::Twin, &fact, (file, identity, looked), None))
            }
            None => None,
        };
        let checked = AtomicU64::new(started);
        let resolved = Arc::new(ResolvedPath {
            plain,
            gzip,
            markdown,
            is_restricted,
            seen,
            generation,
            checked,
        });
        // The restrictions of one publication must not be applied to the files of another: a page
        // may be restricted in one and public in the next. So the files must be unchanged after the
        // restrictions were read. Without a state directory and without restrictions, this is not
        // checked.
        let is_judged = self.0.settings.state.is_some() || catalog.has_restricted();
        if is_judged && !is_restricted && !resolved.is_current(&self.0.root) {
            return Err(ResolveStop::Changed);
        }
        self.0.cache.put(&path::cache_key(path), &resolved);
        Ok(PathTarget::Files(resolved, open_files))
    }

    /// Returns the cache lifetimes. The lifetime of snapshots is the configured update interval,
    /// otherwise the interval in `served.json`.
    fn lifetimes(&self, catalog: &Catalog) -> CacheLifetimes {
        let settings = &self.0.settings;
        let usual = settings.lifetimes.snapshot;
        let snapshot = settings.update.or(catalog.update).unwrap_or(usual);
        CacheLifetimes { snapshot, ..settings.lifetimes }
    }

    fn open_file(
        &self,
        name: &str,
        links: LinkPolicy,
    ) -> Result<Option<(File, Identity)>, Refusal> {
        match self.0.root.open(name, links) {
            Ok(OpenedEntry::File(file, identity)) => Ok(Some((file, identity))),
            Ok(OpenedEntry::Folder) => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            Err(_) => Err(Refusal::Strained),
        }
    }

    /// Finds the file of a path: the file itself, the index of a directory, or a page whose
    /// extension was omitted.
    fn find(&self, below: &str, links: LinkPolicy) -> Result<LocatedFile, Refusal> {
        let asked = path::read(below).map_err(|fault| match fault {
            PathFault::Bad => Refusal::Bad,
            PathFault::Hidden => Refusal::Missing,
        })?;
        let file = |name: String| match self.open_file(&name, links)? {
            Some((file, identity)) => Ok(LocatedFile::File(name, file, identity)),
            None => Err(Refusal::Missing),
        };
        let index = match asked.name.as_str() {
            "" => "index.html".to_owned(),
            name => format!("{name}/index.html"),
        };
        if asked.is_folder {
            return file(index);
        }
        match self.0.root.open(&asked.name, links) {
            Ok(OpenedEntry::File(file, identity)) => {
                return Ok(LocatedFile::File(asked.name, file, identity));
            }
            // A page and a directory may have the same name.
            Ok(OpenedEntry::Folder) if self.open_file(&index, links)?.is_some() => {
                return Ok(LocatedFile::Folder);
            }
            Err(error) if !is_absent(&error) => return Err(Refusal::Strained),
            Ok(OpenedEntry::Folder) | Err(_) => {}
        }
        file(format!("{}.html", asked.name))
    }

    /// Reads the facts about an open file, and its bytes if it is small.
    fn look(
        &self,
        file: &File,
        identity: Identity,
        need: FactsScope,
        leave: WorkLimit,
    ) -> Result<InspectedFile, ResolveStop> {
        let failed = |_| ResolveStop::Refused(Refusal::Internal);
        if identity.size <= self.0.settings.limits.small {
            // The `ETag` is computed from the bytes that are kept in memory.
            let bytes = read_small(file, &identity).map_err(failed)?.ok_or(ResolveStop::Changed)?;
            let facts = facts::find(|| Bytes::as_ref(&bytes), need).map_err(failed)?;
            return Ok((facts, Some(bytes)));
        }
        if let Some(facts) = self.0.known.get(identity, need) {
            return Ok((facts, None));
        }
        if leave == WorkLimit::Look {
            return Err(ResolveStop::Unread(identity.inode));
        }
        let facts = self.0.known.find(file, identity, need).map_err(failed)?;
        facts.map(|facts| (facts, None)).ok_or(ResolveStop::Changed)
    }

    /// Compresses a text file that has no `.gz` file. A large file requires [`WorkLimit::Hash`].
    fn compress(
        (file, identity): (&File, Identity),
        media_type: &str,
        (facts, bytes): &InspectedFile,
        leave: WorkLimit,
    ) -> Result<Option<(File, Identity, InspectedFile)>, ResolveStop> {
        let failed = |_| ResolveStop::Refused(Refusal::Internal);
        if !compress::is_compressible(media_type, &identity) {
            return Ok(None);
        }
        if bytes.is_none() && leave == WorkLimit::Look {
            return Err(ResolveStop::Unread(identity.inode));
        }
        let coded = compress::gzip(file, bytes.as_ref()).map_err(failed)?;
        if bytes.is_none() && !identity.is_unwritten(file).map_err(failed)? {
            return Err(ResolveStop::Changed);
        }
        let Some(coded) = coded else { return Ok(None) };
        let file = file.try_clone().map_err(|_| Refusal::Strained)?;
        Ok(Some((file, identity, (compress::facts(facts, &coded), Some(coded)))))
    }

    /// Returns whether a name is spelled as its directory lists it.
    ///
    /// Restrictions are stored by name, so a restricted file that is opened by another spelling of
    /// its name would be treated as public. Names in the catalog are spelled correctly.
    fn is_spelled(&self, name: &str, catalog: &Catalog) -> Result<bool, Refusal> {
        if !catalog.has_restricted() || catalog.knows(name) {
            return Ok(true);
        }
        match self.0.root.is_spelled(name) {
            Ok(is_spelled) => Ok(is_spelled),
            Err(error) if is_absent(&error) => Ok(false),
            Err(_) => Err(Refusal::Strained),
        }
    }

    /// Returns whether a file requires a token. A file that is newer than the loaded `served.json`
    /// may be described by a later version: by the `served.json` in place, if it is not loaded yet,
    /// or by the next one of a running publication. Both are checked.
    fn is_restricted(
        &self,
        name: &str,
        identity: &Identity,
        catalog: &Catalog,
    ) -> Result<bool, ResolveStop> {
        if catalog.is_restricted(name) {
            return Ok(true);
        }
        let Some(state) = self.0.settings.state.as_deref() else { return Ok(false) };
        if !catalog.is_there() || !catalog.may_precede(identity) {
            return Ok(false);
        }
        let served = state.join("served.json");
        let in_place = identity_of(&served);
        if in_place != catalog.identity && self.coming(&served)?.is_restricted(name) {
            return Ok(true);
        }
        if state.join("journal.json").exists() {
            // The next catalog has this name until the publication moves it into place.
            let next = self.coming(&state.join("next/served")).map_err(|_| ResolveStop::Changed)?;
            if next.is_restricted(name) {
                return Ok(true);
            }
        }
        // A publication ends by moving `served.json` into place and deleting its journal, so
        // without a journal the identity is compared again.
        if identity_of(&served) == in_place { Ok(false) } else { Err(ResolveStop::Changed) }
    }

    /// Loads a catalog that is not in force yet. If several requests need it, one reads the file
    /// and the others wait.
    fn coming(&self, path: &Path) -> Result<Arc<Catalog>, Refusal> {
        let identity = identity_of(path).ok_or(Refusal::Busy)?;
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        // The file keeps its bytes when it is moved into place.
        if let Some((_, catalog)) = next.iter().find(|(known, _)| known.is_same_bytes(&identity)) {
            return Ok(Arc::clone(catalog));
        }
        let catalog = Arc::new(Catalog::load(path).map_err(|_| Refusal::Busy)?);
        self.0.metrics.loaded_ahead();
        if let Some(identity) = catalog.identity {
            // Keep at most two: the catalog in place and the next one.
            next.truncate(1);
            next.insert(0, (identity, Arc::clone(&catalog)));
        }
        Ok(catalog)
    }
}

/// Returns the metadata of a file from the catalog, else from its name.
fn fact_of(catalog: &Catalog, name: &str) -> CatalogFact {
    match catalog.get(name) {
        // The build only copied such a file, so its name determines the media type.
        Some(fact) if &*fact.media_type == "application/octet-stream" => {
            let CatalogFact { media_type, coding, kind, twin, .. } = fact_of_name(name);
            CatalogFact { media_type, coding, kind, twin, ..fact }
        }
        Some(fact) => fact,
        None => fact_of_name(name),
    }
}

fn fact_of_name(name: &str) -> CatalogFact {
    let (media_type, coding, kind) = kind::of(name);
    let twin = name.strip_suffix(".html").map(|stem| format!("{stem}.md"));
    let bytes = catalog::DigestPrefix::default();
    CatalogFact {
        media_type: media_type.into(),
        coding,
        kind,
        dated: None,
        bytes,
        expires: None,
        twin,
    }
}
