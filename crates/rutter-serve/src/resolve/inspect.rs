//! Opens the other forms of a file, and reads the facts about the bytes of all forms.

use bytes::Bytes;

use crate::resolve::catalog::{Catalog, CatalogFact};
use crate::resolve::compress;
use crate::resolve::error::{ResolveError, ResolveStop};
use crate::resolve::facts::{self, FactsScope, FileFacts};
use crate::resolve::kind::{self, ContentCoding, FileKind};
use crate::resolve::locate::{LocatedFile, fact_of, link_policy};
use crate::resolve::resolver::{
    OpenFile, ResolvedFile, ResolvedFiles, Resolver, SeenFiles, WorkLimit,
};
use crate::resolve::root_dir::read_small;

/// A file with its other forms, all open.
pub(super) struct OpenedForms {
    located: LocatedFile,
    /// The file with the extension `.gz`.
    gzip: Option<OpenFile>,
    /// The Markdown twin, with its name.
    twin: Option<(String, OpenFile)>,
    seen: SeenFiles,
}

/// The facts of a file, with its bytes if it is small.
struct InspectedBytes {
    facts: FileFacts,
    bytes: Option<Bytes>,
}

fn gzip_name(name: &str) -> String {
    format!("{name}.gz")
}

impl Resolver {
    /// Opens the compressed file and the Markdown twin of a file.
    pub(super) fn open_forms(
        &self,
        located: LocatedFile,
        catalog: &Catalog,
    ) -> Result<OpenedForms, ResolveStop> {
        let mut seen = vec![(located.name.clone(), Some(located.open.identity))];
        let LocatedFile { name, fact, is_restricted, .. } = &located;
        let has_gzip = kind::has_coded_twin(&fact.media_type) && fact.coding.is_none();
        let gzip = if has_gzip {
            self.open_form(&gzip_name(name), *is_restricted, catalog, &mut seen)?
        } else {
            None
        };
        let twin = fact.twin.clone().filter(|_| fact.kind == FileKind::Page && !is_restricted);
        let twin = match twin {
            Some(name) => {
                self.open_form(&name, false, catalog, &mut seen)?.map(|open| (name, open))
            }
            None => None,
        };
        Ok(OpenedForms { located, gzip, twin, seen })
    }

    /// Opens another form of a file, unless that form is restricted and the file is not.
    fn open_form(
        &self,
        name: &str,
        is_file_restricted: bool,
        catalog: &Catalog,
        seen: &mut SeenFiles,
    ) -> Result<Option<OpenFile>, ResolveStop> {
        // The identity of a file that exists and cannot be opened is recorded as well.
        let before = self.root.stat_identity(name);
        let opened = self.open_file(name, link_policy(catalog))?;
        let identity = opened.as_ref().map(|open| open.identity);
        seen.push((name.to_owned(), identity.or(before)));
        let Some(open) = opened else { return Ok(None) };
        let is_served = is_file_restricted || !self.is_restricted(name, &open.identity, catalog)?;
        let is_served = is_served && self.is_spelled(name, catalog)?;
        Ok(is_served.then_some(open))
    }

    /// Reads the facts about the opened files. A text file without a compressed form is compressed.
    pub(super) fn inspect(
        &self,
        forms: OpenedForms,
        catalog: &Catalog,
        limit: WorkLimit,
    ) -> Result<ResolvedFiles, ResolveStop> {
        let OpenedForms { located, gzip, twin, seen } = forms;
        let LocatedFile { name, open, fact, is_restricted } = located;
        let scope = FactsScope::of(&fact.media_type, fact.coding);
        let plain = self.inspect_bytes(&open, scope, limit)?;
        let stored_gzip = match gzip {
            Some(gzip) => {
                let inspected = self.inspect_bytes(&gzip, FactsScope::Gzip, limit)?;
                let text = inspected.facts.text;
                // A compressed file with other content is older or newer than the plain file.
                let is_same = text.is_some() && text == plain.facts.stored;
                is_same.then_some((gzip, inspected))
            }
            None => None,
        };
        let gzip = match stored_gzip {
            None if fact.coding.is_none() => compress(&open, &fact.media_type, &plain, limit)?,
            gzip => gzip,
        };
        let gzip = gzip.map(|(open, inspected)| {
            let name = gzip_name(&name);
            // The catalog records the bytes under the name of the compressed file.
            let bytes = fact_of(catalog, &name).bytes;
            let coding = Some(ContentCoding::Gzip);
            let fact = CatalogFact { coding, bytes, ..fact.clone() };
            resolved(name, open, fact, inspected, catalog)
        });
        let plain = resolved(name, open, fact, plain, catalog);
        let markdown = match twin {
            Some((name, open)) => {
                let fact = CatalogFact { coding: None, ..fact_of(catalog, &name) };
                let scope = FactsScope::of(&fact.media_type, None);
                let inspected = self.inspect_bytes(&open, scope, limit)?;
                Some(resolved(name, open, fact, inspected, catalog))
            }
            None => None,
        };
        Ok(ResolvedFiles { plain, gzip, markdown, is_restricted, seen })
    }

    /// Reads the facts about an open file, and its bytes if it is small.
    fn inspect_bytes(
        &self,
        open: &OpenFile,
        scope: FactsScope,
        limit: WorkLimit,
    ) -> Result<InspectedBytes, ResolveStop> {
        let OpenFile { file, identity } = open;
        let failed = |_| ResolveError::Internal;
        if identity.size <= self.small {
            // The `ETag` is computed from the bytes that are kept in memory.
            let bytes = read_small(file, identity).map_err(failed)?;
            let bytes = bytes.ok_or(ResolveStop::Changed)?;
            let facts = facts::find(|| Bytes::as_ref(&bytes), scope).map_err(failed)?;
            return Ok(InspectedBytes { facts, bytes: Some(bytes) });
        }
        if let Some(facts) = self.known.get(*identity, scope) {
            return Ok(InspectedBytes { facts, bytes: None });
        }
        if limit == WorkLimit::Look {
            return Err(ResolveStop::Unread(identity.inode));
        }
        let facts = self.known.find(file, *identity, scope).map_err(failed)?;
        let facts = facts.ok_or(ResolveStop::Changed)?;
        Ok(InspectedBytes { facts, bytes: None })
    }
}

/// Compresses a text file that has no `.gz` file. A large file requires [`WorkLimit::Hash`].
fn compress(
    open: &OpenFile,
    media_type: &str,
    plain: &InspectedBytes,
    limit: WorkLimit,
) -> Result<Option<(OpenFile, InspectedBytes)>, ResolveStop> {
    let OpenFile { file, identity } = open;
    let failed = |_| ResolveError::Internal;
    if !compress::is_compressible(media_type, identity) {
        return Ok(None);
    }
    let is_large = plain.bytes.is_none();
    if is_large && limit == WorkLimit::Look {
        return Err(ResolveStop::Unread(identity.inode));
    }
    let coded = compress::gzip(file, plain.bytes.as_ref()).map_err(failed)?;
    if is_large && !identity.is_unwritten(file).map_err(failed)? {
        return Err(ResolveStop::Changed);
    }
    let Some(coded) = coded else { return Ok(None) };
    let facts = compress::facts(&plain.facts, &coded);
    Ok(Some((open.clone(), InspectedBytes { facts, bytes: Some(coded) })))
}

/// Combines the metadata of a file with the facts about its bytes.
fn resolved(
    name: String,
    open: OpenFile,
    fact: CatalogFact,
    inspected: InspectedBytes,
    catalog: &Catalog,
) -> ResolvedFile {
    let InspectedBytes { facts, bytes } = inspected;
    let was_there = catalog.describes(&open.identity);
    let dated = fact.dated.filter(|dated| dated.is_of(facts.stored, was_there));
    ResolvedFile {
        name,
        modified: dated.map_or_else(|| open.identity.modified_seconds(), |dated| dated.modified),
        open,
        bytes,
        facts,
        media_type: fact.media_type,
        coding: fact.coding,
        kind: fact.kind,
        expires: fact.expires,
        is_as_built: fact.bytes.are(facts.stored),
    }
}
