//! Makes a collection from JSON Lines of pages: how a database or a content
//! system publishes without HTML.
//!
//! Pages are judged, written in canonical form and sorted by key, so that the
//! same pages give the same file whatever order they came in.
//!
//! Refuses: pages with faults, unless told to mend what readers would mend.

use std::path::Path;

use rutter_finding::{Finding, FindingSink, Mode, Place, Refusal, Severity, quoted};
use rutter_page::{LanguageTag, Page, Str};

use crate::cursor::{Input, Order};
use crate::diff::MergeError;
use crate::error::{ReadError, WriteError};
use crate::header::{Header, Kind};
use crate::limits::Limits;
use crate::lines::{Lines, Record};
use crate::merge::{self, Merge};
use crate::rules;
use crate::sort::{Entry, Sorter};
use crate::writer::{Target, Track, Writer, Written};

/// How pages are packed.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// Ceilings for the inputs.
    pub limits: Limits,
    /// Whether the inputs are taken to be sorted by key.
    pub order: Order,
    /// Strict: a fault stops. Lenient: what readers would mend is mended.
    pub mode: Mode,
    /// Whether a snapshot carries its state.
    pub track: Track,
}

/// Packs the pages of all inputs, in order, into the targets.
pub fn pack(
    inputs: Vec<Input<'_>>,
    header: Header,
    how: Packing,
    targets: &[Target],
    folder: &Path,
) -> Result<Vec<Written>, MergeError> {
    let mut writer = Writer::new(folder, how.track, how.limits)?;
    let mut gather = match how.order {
        Order::Given => Gather::Direct(&mut writer, None),
        Order::Sort => Gather::Sorted(Sorter::new(folder)),
    };
    for (number, mut input) in inputs.into_iter().enumerate() {
        read_all(&mut input, number, &how, &mut gather)?;
    }
    if let Gather::Sorted(sorter) = gather {
        write_sorted(sorter, &mut writer, &how)?;
    }
    let spooled = writer.close()?;
    let chain = spooled.snapshot_chain().filter(|_| header.kind == Kind::Snapshot);
    Ok(spooled.finish(Header { chain, ..header }, targets)?)
}

/// Where pages go as they come.
enum Gather<'w> {
    /// Straight to the writer; the key of the last page.
    Direct(&'w mut Writer, Option<String>),
    Sorted(Sorter),
}

fn read_all(
    input: &mut Input<'_>,
    number: usize,
    how: &Packing,
    gather: &mut Gather<'_>,
) -> Result<(), MergeError> {
    let read_error = MergeError::read(number);
    let (bytes, size) = (input.open)().map_err(|error| read_error(error.into()))?;
    let mut lines = Lines::open(bytes, size, how.limits).map_err(&read_error)?;
    let mut sink = Gatekeeper { mode: how.mode, inner: input.sink, refused: None };
    loop {
        let taken = lines.next(&mut sink, |record| gather.take(record, number));
        if let Some(refusal) = sink.refused.take() {
            return Err(MergeError::Read(number, refusal.into()));
        }
        match taken.map_err(&read_error)? {
            Some(taken) => taken?,
            None => return Ok(()),
        }
    }
}

/// Passes findings on; in strict mode turns the first error into a refusal.
struct Gatekeeper<'s> {
    mode: Mode,
    inner: &'s mut dyn FindingSink,
    refused: Option<Refusal>,
}

impl FindingSink for Gatekeeper<'_> {
    fn report(&mut self, finding: Finding) {
        let is_error = finding.rule.severity(self.mode) == Some(Severity::Error);
        if is_error && self.refused.is_none() {
            let Finding { rule, place, detail } = finding;
            self.refused = Some(Refusal::new(rule, place, detail));
        } else {
            self.inner.report(finding);
        }
    }
}

impl Gather<'_> {
    fn take(&mut self, record: Record<'_>, number: usize) -> Result<(), MergeError> {
        let place = Place::line(record.line);
        let page = canonical(record.page);
        if page.content.is_empty() {
            // A reader keeps such a page; nobody may write it (D32). The
            // finding about it has been reported.
            return Ok(());
        }
        match self {
            Self::Direct(writer, last) => {
                if last.as_deref().is_some_and(|last| page.url.key() <= last) {
                    return Err(MergeError::Unsorted(number));
                }
                writer.page(&page).map_err(|error| match error {
                    WriteError::Refused(refusal) => {
                        MergeError::Read(number, Refusal { place, ..refusal }.into())
                    }
                    other => other.into(),
                })?;
                *last = Some(page.url.key().to_owned());
            }
            Self::Sorted(sorter) => {
                let line = page.to_line();
                let pushed = sorter.push(page.url.key(), page.modified, line.as_bytes());
                pushed.map_err(|error| MergeError::Read(number, error.into()))?;
            }
        }
        Ok(())
    }
}

/// The page as we write it: its language in the customary case.
fn canonical(page: Page<'_>) -> Page<'_> {
    if page.language.is_regular() {
        return page;
    }
    let canonical = page.language.canonical();
    let text = Str::from(canonical.as_str().to_owned());
    let language = LanguageTag::parse(text).unwrap_or(LanguageTag::UNDETERMINED);
    Page { language, ..page }
}

/// Writes what was sorted, one page per key.
fn write_sorted(sorter: Sorter, writer: &mut Writer, how: &Packing) -> Result<(), MergeError> {
    let read_error = |error: std::io::Error| MergeError::Read(0, ReadError::Io(error));
    let mut sorted = sorter.finish().map_err(read_error)?;
    let (mut entry, mut next) = (Entry::empty(), Entry::empty());
    if !sorted.next(&mut entry).map_err(read_error)? {
        return Ok(());
    }
    while sorted.next(&mut next).map_err(read_error)? {
        if entry.key != next.key {
            writer.line(&entry.key, &entry.line)?;
            std::mem::swap(&mut entry, &mut next);
            continue;
        }
        if how.mode == Mode::Strict {
            let detail = quoted(&entry.key);
            let refusal = Refusal::new(&rules::DUPLICATE_PAGE, Place::WHOLE, detail);
            return Err(WriteError::Refused(refusal).into());
        }
        if merge::delta(Some(entry.modified), next.modified) == Merge::Replace {
            std::mem::swap(&mut entry, &mut next);
        }
    }
    writer.line(&entry.key, &entry.line)?;
    Ok(())
}
