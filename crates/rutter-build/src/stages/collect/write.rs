//! Writes the collections of a section.
//!
//! Input: the new ledger and page cache. Output: files in the state folder, and their entries in the publication
//! record. Rejects cached lines that do not match the digest in the ledger.

use std::path::{Path, PathBuf};

use rutter_finding::Rule;
use rutter_page::{LineDigest, Timestamp};
use rutter_scp::{
    Coding, CollectionHeader, CollectionKind, CollectionWriter, FormatVersion, Limits,
    OutputTarget, StateChain, StateTracking, WriteError, collection_id,
};
use rutter_site::{
    ALL, EncodedFile, LedgerReader, LedgerRow, PageCacheReader, Publication, PublishedCollection,
    Sections,
};

use super::due::{DueCollections, expiry, supersede};
use crate::error::BuildError;
use crate::plan::BuildPlan;
use crate::stages::read::SectionTally;
use crate::summary::{CollectionSize, SectionSummary};

/// Maximum size in bytes of a collection that is compressed with the highest zstd level. For larger
/// collections, that level would slow down the build.
const SMALL_CONTENT_BYTES: u64 = 1 << 20;

/// A callback that receives the ledger row and the line of a page.
type LineVisitor<'t> = dyn FnMut(&LedgerRow, &[u8]) -> Result<(), BuildError> + 't;

/// A callback that receives a finding about a collection: its rule and its detail.
pub(crate) type ReportSectionFinding<'t> = dyn FnMut(&'static Rule, String) + 't;

/// The ledger, page cache and sections from which the lines of a section are read.
#[derive(Debug)]
pub(crate) struct SectionLines<'p> {
    pub(crate) ledger: &'p Path,
    pub(crate) pack: &'p Path,
    pub(crate) sections: &'p Sections,
}

impl SectionLines<'_> {
    /// Passes the public pages of a section to `take`, in the order of their URLs.
    fn for_each(&self, section: &str, take: &mut LineVisitor<'_>) -> Result<(), BuildError> {
        let mask = if section == ALL { u64::MAX } else { self.sections.bit(section) };
        let mut rows = LedgerReader::open(self.ledger)?;
        let mut row = rows.next_row()?;
        PageCacheReader::open(self.pack)?.for_each_in_sections(mask, &mut |url, record| {
            while row.as_ref().is_some_and(|row| row.url.as_str() < url) {
                row = rows.next_row()?;
            }
            match &row {
                Some(row)
                    if row.url == url
                        && row.is_public()
                        && (section == ALL || row.section == section) =>
                {
                    // The published state is computed from the digests in the ledger, so each line
                    // must match its digest.
                    if LineDigest::of(&record.line) != row.digest {
                        return Err(BuildError::DamagedState(self.pack.to_owned(), 0));
                    }
                    take(row, &record.line)
                }
                _ => Ok(()),
            }
        })
    }
}

/// Inputs that all collections of a build share.
#[derive(Debug)]
pub(crate) struct CollectionContext<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) lines: SectionLines<'p>,
    /// Generation time of the collections.
    pub(crate) stamp: Timestamp,
    pub(crate) folder: &'p Path,
}

/// Writes the collections that are due for one section and adds them to the publication record.
pub(crate) fn write_due(
    tally: &SectionTally,
    due: DueCollections,
    context: &CollectionContext<'_>,
    published: &mut Publication,
    report: &mut ReportSectionFinding<'_>,
) -> Result<SectionSummary, BuildError> {
    let CollectionContext { plan, lines, stamp, folder } = context;
    let stamp = *stamp;
    let mut outcome = SectionSummary {
        name: tally.name.clone(),
        pages: tally.pages,
        snapshot: None,
        delta: None,
        removed: 0,
    };
    let expires = expiry(plan, stamp);
    if due.delta
        && let Some(last) = published.last(&tally.name).cloned()
    {
        let kind = CollectionKind::Delta { since: last.generated };
        let chain = StateChain {
            from: Some(tally.before),
            state: tally.state,
            pages: tally.pages,
            removed: tally.removed.clone(),
        };
        let from = last.generated;
        let job = CollectionJob { tally, kind, chain, plan, stamp, expires, folder };
        let wanted = |row: &LedgerRow| from < row.recorded;
        let made = job.write_collection(lines, &wanted, report)?;
        outcome.delta = Some(size_of(&made));
        outcome.removed = tally.removed.len() as u64;
        published.collections.push(made);
    }
    if due.snapshot {
        // The delta of this build leads to the same state as the snapshot and stays published.
        supersede(published, plan, stamp, &|one| {
            one.section == tally.name && one.generated < stamp
        });
        let chain =
            StateChain { from: None, state: tally.state, pages: tally.pages, removed: Vec::new() };
        let job = CollectionJob {
            tally,
            kind: CollectionKind::Snapshot,
            chain,
            plan,
            stamp,
            expires,
            folder,
        };
        let made = job.write_collection(lines, &|_| true, report)?;
        outcome.snapshot = Some(size_of(&made));
        published.collections.push(made);
    }
    Ok(outcome)
}

fn size_of(one: &PublishedCollection) -> CollectionSize {
    CollectionSize { pages: one.pages, bytes: one.files.first().map_or(0, |file| file.bytes) }
}

/// One collection that must be written, with all its inputs.
struct CollectionJob<'m> {
    tally: &'m SectionTally,
    kind: CollectionKind,
    chain: StateChain,
    plan: &'m BuildPlan,
    stamp: Timestamp,
    expires: Timestamp,
    folder: &'m Path,
}

impl CollectionJob<'_> {
    fn write_collection(
        &self,
        lines: &SectionLines<'_>,
        is_wanted: &dyn Fn(&LedgerRow) -> bool,
        report: &mut ReportSectionFinding<'_>,
    ) -> Result<PublishedCollection, BuildError> {
        let section = &self.tally.name;
        let write_error = |error: WriteError| BuildError::Collection(section.clone(), error);
        let id = collection_id(section, self.kind, self.stamp);
        let header = CollectionHeader {
            id: id.clone(),
            section: section.clone(),
            kind: self.kind,
            generated: self.stamp,
            version: FormatVersion::CURRENT,
            checksum: None,
            chain: self.plan.layers.chain.then(|| self.chain.clone()),
            extra: Vec::new(),
        };
        let mut codings = vec![Coding::Zstd];
        if self.plan.layers.gzip {
            codings.push(Coding::Gzip);
        }
        let written = self.write(lines, is_wanted, &header, &codings);
        let written = match written {
            // The compression ratio is so high that readers would treat the file as a decompression
            // bomb (D34).
            Err(BuildError::Collection(_, WriteError::Ratio(ratio, _))) => {
                report(&crate::rules::RATIO, format!("`{id}`, {ratio}:1"));
                self.write(lines, is_wanted, &header, &[Coding::Plain])?
            }
            other => other?,
        };
        let first = written.first().ok_or_else(|| {
            write_error(WriteError::Io(
                PathBuf::from(&id),
                std::io::Error::other("no file was written"),
            ))
        })?;
        let name = |path: &Path| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        Ok(PublishedCollection {
            section: section.clone(),
            since: self.kind.since(),
            generated: self.stamp,
            expires: self.expires,
            superseded: None,
            pages: first.pages,
            state: self.chain.state.to_string(),
            checksum: first.header.checksum.map_or_else(String::new, |sum| sum.to_string()),
            files: written
                .iter()
                .map(|one| EncodedFile { name: name(&one.path), bytes: one.coded })
                .collect(),
            id,
        })
    }

    fn write(
        &self,
        lines: &SectionLines<'_>,
        is_wanted: &dyn Fn(&LedgerRow) -> bool,
        header: &CollectionHeader,
        codings: &[Coding],
    ) -> Result<Vec<rutter_scp::WrittenCollection>, BuildError> {
        let section = &self.tally.name;
        let write_error = |error: WriteError| BuildError::Collection(section.clone(), error);
        let mut writer = CollectionWriter::with_header(
            self.folder,
            StateTracking::Nothing,
            header,
            Limits::SPEC,
        )
        .map_err(write_error)?;
        lines.for_each(section, &mut |row, line| {
            if is_wanted(row) {
                writer.line(&row.url, line).map_err(write_error)?;
            }
            Ok(())
        })?;
        let spooled = writer.close().map_err(write_error)?;
        let decoded = spooled.decoded(header);
        let target = |coding: &Coding| {
            let path = self.folder.join(format!("{}{}", header.id, ending(*coding)));
            OutputTarget { path, coding: *coding, level: level(*coding, decoded) }
        };
        let targets: Vec<OutputTarget> = codings.iter().map(target).collect();
        spooled.finish(header.clone(), &targets).map_err(write_error)
    }
}

/// Returns the compression level of a collection. The level depends only on the coding and on the
/// size of the content, so that the same pages always produce the same bytes.
fn level(coding: Coding, decoded: u64) -> u8 {
    match coding {
        Coding::Zstd if decoded <= SMALL_CONTENT_BYTES => coding.max_level(),
        _ => coding.default_level(),
    }
}

fn ending(coding: Coding) -> &'static str {
    match coding {
        Coding::Zstd => ".scp.zst",
        Coding::Gzip => ".scp.gz",
        Coding::Plain => ".scp",
    }
}
