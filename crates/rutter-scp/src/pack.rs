//! Packs JSON Lines of pages into a collection, for databases and content systems that publish
//! without HTML.
//!
//! Pages are checked, written in canonical form and sorted by key: the same pages give the same
//! file in whichever order they arrive.
//!
//! Rejects pages with errors. In lenient mode, repairs the errors that readers would repair.

use std::path::Path;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Severity, Strictness, quoted};
use rutter_page::{LanguageTag, Page};

use crate::cursor::{CollectionInput, InputOrder};
use crate::diff::MergeError;
use crate::error::{ReadError, WriteError};
use crate::header::{CollectionHeader, CollectionKind};
use crate::limits::Limits;
use crate::lines::{LineReader, PageRecord};
use crate::merge::{self, MergeDecision};
use crate::rules;
use crate::sort::{KeyedLine, LineSorter};
use crate::writer::{CollectionWriter, OutputTarget, StateTracking, WrittenCollection};

/// Options of [`pack`].
#[derive(Debug, Clone, Copy)]
pub struct PackOptions {
    /// Size limits for the inputs.
    pub limits: Limits,
    /// Whether the inputs are already sorted by key.
    pub order: InputOrder,
    /// Whether pages with errors are rejected (strict) or repaired as readers would do (lenient).
    pub mode: Strictness,
    /// Whether a snapshot includes its state.
    pub track: StateTracking,
    /// Whether a collection without pages is written.
    pub empty: EmptyInputPolicy,
}

/// Whether a collection without pages may be written.
///
/// An empty collection usually comes from an earlier failure, and it deletes the whole section at
/// its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyInputPolicy {
    /// Fail with [`MergeError::Empty`].
    Refused,
    /// Write the empty collection.
    Allowed,
}

/// Packs the pages of all inputs, in order, into the targets.
pub fn pack(
    mut inputs: Vec<CollectionInput<'_>>,
    header: CollectionHeader,
    how: PackOptions,
    targets: &[OutputTarget],
    folder: &Path,
) -> Result<Vec<WrittenCollection>, MergeError> {
    let mut writer = CollectionWriter::new(folder, how.track, how.limits)?;
    let mut collector = match how.order {
        InputOrder::Given => LineCollector::Direct(&mut writer, None),
        InputOrder::Sort => LineCollector::Sorted(LineSorter::new(folder)),
    };
    for (number, input) in inputs.iter_mut().enumerate() {
        read_all(input, number, &how, &mut collector)?;
    }
    if let LineCollector::Sorted(sorter) = collector {
        for (number, finding) in write_sorted(sorter, &mut writer, how.mode)? {
            if let Some(input) = inputs.get_mut(number) {
                input.sink.report(finding);
            }
        }
    }
    let spooled = writer.close()?;
    if spooled.pages() == 0 && how.empty == EmptyInputPolicy::Refused {
        return Err(MergeError::Empty);
    }
    let chain = spooled.snapshot_chain().filter(|_| header.kind == CollectionKind::Snapshot);
    Ok(spooled.finish(CollectionHeader { chain, ..header }, targets)?)
}

/// Destination of the page lines that [`pack`] reads.
enum LineCollector<'w> {
    /// Each line is written at once. The second value is the key of the last page, to check the
    /// order.
    Direct(&'w mut CollectionWriter, Option<String>),
    Sorted(LineSorter),
}

fn read_all(
    input: &mut CollectionInput<'_>,
    number: usize,
    how: &PackOptions,
    collector: &mut LineCollector<'_>,
) -> Result<(), MergeError> {
    let read_error = MergeError::read(number);
    let (bytes, size) = (input.open)().map_err(|error| read_error(error.into()))?;
    let mut lines = LineReader::open(bytes, size, how.limits).map_err(&read_error)?;
    let mut sink = StrictSink { mode: how.mode, inner: input.sink, refused: None };
    loop {
        let taken = lines.next(&mut sink, |record| collector.take(record, number));
        if let Some(refusal) = sink.refused.take() {
            return Err(MergeError::Read(number, refusal.into()));
        }
        match taken.map_err(&read_error)? {
            Some(taken) => taken?,
            None => return Ok(()),
        }
    }
}

/// Forwards findings to the caller. In strict mode, the first error becomes a refusal.
struct StrictSink<'s> {
    mode: Strictness,
    inner: &'s mut dyn FindingSink,
    refused: Option<Refusal>,
}

impl FindingSink for StrictSink<'_> {
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

impl LineCollector<'_> {
    fn take(&mut self, record: PageRecord<'_>, number: usize) -> Result<(), MergeError> {
        let place = Place::line(record.line);
        let page = canonical(record.page);
        if page.content.is_empty() {
            // Readers accept a page without content, but writing one is not allowed (D32). The
            // finding was reported already.
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
                // The origin is stored with the line, so that a duplicate can be reported with its
                // line number.
                let mut line = LineOrigin { input: number, line: record.line }.to_bytes().to_vec();
                line.extend_from_slice(page.to_line().as_bytes());
                let pushed = sorter.push(page.url.key(), page.modified, &line);
                pushed.map_err(|error| MergeError::Read(number, error.into()))?;
            }
        }
        Ok(())
    }
}

/// Returns the page in canonical form.
///
/// Every URL becomes a URI. The language tag gets its usual case, or becomes undetermined if the
/// pattern of the schema does not allow it (D42).
pub fn canonical(page: Page<'_>) -> Page<'_> {
    let page = page.with_uris();
    // Two lower-case letters are canonical already.
    if page.language.as_str().len() == 2 && page.language.is_regular() {
        return page;
    }
    let language = page.language.canonical();
    let language = if language.is_regular() { language } else { LanguageTag::UNDETERMINED };
    Page { language, ..page }
}

/// Input and line number of a page, stored in front of its line while sorting.
#[derive(Clone, Copy)]
struct LineOrigin {
    input: usize,
    line: u64,
}

impl LineOrigin {
    const SIZE: usize = 16;

    fn to_bytes(self) -> [u8; Self::SIZE] {
        (u128::from(self.line) << 64 | self.input as u128).to_le_bytes()
    }

    /// Splits a stored line into its origin and the page line.
    fn split(bytes: &[u8]) -> (Self, &[u8]) {
        let (origin, line) = bytes.split_at_checked(Self::SIZE).unwrap_or((&[], bytes));
        let number = u128::from_le_bytes(origin.try_into().unwrap_or_default());
        let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0);
        let input = usize::try_from(half(number)).unwrap_or(0);
        (Self { input, line: half(number >> 64) }, line)
    }
}

/// Writes the sorted lines, one page per key, and returns a finding for each duplicate.
fn write_sorted(
    sorter: LineSorter,
    writer: &mut CollectionWriter,
    mode: Strictness,
) -> Result<Vec<(usize, Finding)>, MergeError> {
    /// Maximum number of duplicates that are reported one by one.
    const MAX_REPORTED: usize = 1000;
    let read_error = |error: std::io::Error| MergeError::Read(0, ReadError::Io(error));
    let mut sorted = sorter.finish().map_err(read_error)?;
    let (mut entry, mut next) = (KeyedLine::empty(), KeyedLine::empty());
    let mut doubles = Vec::new();
    if !sorted.next(&mut entry).map_err(read_error)? {
        return Ok(doubles);
    }
    while sorted.next(&mut next).map_err(read_error)? {
        if entry.key != next.key {
            writer.line(&entry.key, LineOrigin::split(&entry.line).1)?;
            std::mem::swap(&mut entry, &mut next);
            continue;
        }
        let (origin, _) = LineOrigin::split(&next.line);
        let (place, detail) = (Place::pointer(origin.line, "/url"), quoted(&next.key));
        if mode == Strictness::Strict {
            let refusal = Refusal::new(&rules::DUPLICATE_PAGE, place, detail);
            return Err(MergeError::Read(origin.input, refusal.into()));
        }
        if doubles.len() < MAX_REPORTED {
            doubles.push((origin.input, Finding::new(&rules::DUPLICATE_PAGE, place, detail)));
        }
        if merge::decide_delta_page(Some(entry.modified), next.modified) == MergeDecision::Replace {
            std::mem::swap(&mut entry, &mut next);
        }
    }
    writer.line(&entry.key, LineOrigin::split(&entry.line).1)?;
    Ok(doubles)
}
