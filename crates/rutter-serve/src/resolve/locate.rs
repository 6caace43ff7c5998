//! Finds the file of a path, and decides whether it may be served to everyone.

use crate::resolve::catalog::{Catalog, CatalogFact, DigestPrefix};
use crate::resolve::error::{ResolveError, ResolveStop};
use crate::resolve::kind;
use crate::resolve::path;
use crate::resolve::resolver::{OpenFile, Resolver};
use crate::resolve::root_dir::{FileIdentity, LinkPolicy, OpenedEntry, identity_of, is_absent};

/// The file of a path.
pub(super) struct LocatedFile {
    pub(super) name: String,
    pub(super) open: OpenFile,
    pub(super) fact: CatalogFact,
    pub(super) is_restricted: bool,
}

/// Returns which symbolic links may be followed.
pub(super) fn link_policy(catalog: &Catalog) -> LinkPolicy {
    if catalog.has_restricted() { LinkPolicy::Never } else { LinkPolicy::Inside }
}

impl Resolver {
    /// Finds the file of a request path; `None` for a directory with an index, requested without
    /// its trailing slash.
    pub(super) fn locate(
        &self,
        path: &str,
        catalog: &Catalog,
    ) -> Result<Option<LocatedFile>, ResolveStop> {
        let Some(below) = catalog.below_mount(path) else { return Ok(None) };
        let Some((name, open)) = self.find(below, link_policy(catalog))? else {
            return Ok(None);
        };
        if !self.is_spelled(&name, catalog)? {
            return Err(ResolveError::Missing.into());
        }
        let fact = fact_of(catalog, &name);
        let is_restricted = self.is_restricted(&name, &open.identity, catalog)?;
        Ok(Some(LocatedFile { name, open, fact, is_restricted }))
    }

    /// Finds the file of a path: the file itself, the index of a directory, or a page whose
    /// extension was omitted. `None` is a directory with an index, without its trailing slash.
    fn find(
        &self,
        below: &str,
        links: LinkPolicy,
    ) -> Result<Option<(String, OpenFile)>, ResolveError> {
        let asked = path::read(below)?;
        let file = |name: String| match self.open_file(&name, links)? {
            Some(open) => Ok(Some((name, open))),
            None => Err(ResolveError::Missing),
        };
        let index = match asked.name.as_str() {
            "" => "index.html".to_owned(),
            name => format!("{name}/index.html"),
        };
        if asked.is_folder {
            return file(index);
        }
        match self.root.open(&asked.name, links) {
            Ok(OpenedEntry::File(file, identity)) => {
                return Ok(Some((asked.name, OpenFile { file: file.into(), identity })));
            }
            // A page and a directory may have the same name.
            Ok(OpenedEntry::Folder) if self.open_file(&index, links)?.is_some() => {
                return Ok(None);
            }
            Err(error) if !is_absent(&error) => return Err(ResolveError::Overloaded),
            Ok(OpenedEntry::Folder) | Err(_) => {}
        }
        file(format!("{}.html", asked.name))
    }

    /// Returns whether a name is spelled as its directory lists it.
    ///
    /// Restrictions are stored by name, so a restricted file that is opened by another spelling of
    /// its name would be treated as public. Names in the catalog are spelled correctly.
    pub(super) fn is_spelled(&self, name: &str, catalog: &Catalog) -> Result<bool, ResolveError> {
        if !catalog.has_restricted() || catalog.knows(name) {
            return Ok(true);
        }
        match self.root.is_spelled(name) {
            Ok(is_spelled) => Ok(is_spelled),
            Err(error) if is_absent(&error) => Ok(false),
            Err(_) => Err(ResolveError::Overloaded),
        }
    }

    /// Returns whether a file requires a token. A file that is newer than the loaded `served.json`
    /// may be described by a later version: by the `served.json` in place, if it is not loaded yet,
    /// or by the next one of a running publication. Both are checked.
    pub(super) fn is_restricted(
        &self,
        name: &str,
        identity: &FileIdentity,
        catalog: &Catalog,
    ) -> Result<bool, ResolveStop> {
        if catalog.is_restricted(name) {
            return Ok(true);
        }
        let Some(state) = self.state.as_deref() else { return Ok(false) };
        if !catalog.is_there() || !catalog.may_precede(identity) {
            return Ok(false);
        }
        let served = state.join("served.json");
        let in_place = identity_of(&served);
        if in_place != catalog.identity && self.pending.load(&served)?.is_restricted(name) {
            return Ok(true);
        }
        if state.join("journal.json").exists() {
            // The next catalog has this name until the publication moves it into place.
            let next = self.pending.load(&state.join("next/served"));
            let next = next.map_err(|_| ResolveStop::Changed)?;
            if next.is_restricted(name) {
                return Ok(true);
            }
        }
        // A publication ends by moving `served.json` into place and deleting its journal, so
        // without a journal the identity is compared again.
        if identity_of(&served) == in_place { Ok(false) } else { Err(ResolveStop::Changed) }
    }
}

/// Returns the metadata of a file from the catalog, else from its name.
pub(super) fn fact_of(catalog: &Catalog, name: &str) -> CatalogFact {
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
    CatalogFact {
        media_type: media_type.into(),
        coding,
        kind,
        dated: None,
        bytes: DigestPrefix::default(),
        expires: None,
        twin,
    }
}
