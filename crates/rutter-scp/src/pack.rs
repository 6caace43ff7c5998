//! Makes a collection from JSON Lines of pages: how a database or a content
//! system publishes without HTML.
//!
//! Pages are judged, written in canonical form and sorted by key, so that the
//! same pages give the same file whatever order they came in.
//!
//! Refuses: pages with faults, unless told to mend what readers would mend.

use std::path::Path;

use rutter_finding::{Finding, FindingSink, Mode, Place, Refusal, Severity, quoted};
use rutter_page::{LanguageTag, Page};

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
    /// Whether a collection without pages is written.
    pub empty: Empty,
}

/// Whether a collection without pages is written. Mostly it means that
/// something went wrong before, and readers would lose the whole section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// Stop and ask.
    Refused,
    /// It is meant.
    Allowed,
}

/// Packs the pages of all inputs, in order, into the targets.
pub fn pack(
    mut inputs: Vec<Input<'_>>,
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
    for (number, input) in inputs.iter_mut().enumerate() {
        read_all(input, number, &how, &mut gather)?;
    }
    if let Gather::Sorted(sorter) = gather {
        for (number, finding) in write_sorted(sorter, &mut writer, how.mode)? {
            if let Some(input) = inputs.get_mut(number) {
                input.sink.report(finding);
            }
        }
    }
    let spooled = writer.close()?;
    if spooled.pages() == 0 && how.empty == Empty::Refused {
        return Err(MergeError::Empty);
    }
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
                // Where it came from goes along, for whoever finds it twice.
                let mut line = Origin { input: number, line: record.line }.to_bytes().to_vec();
                line.extend_from_slice(page.to_line().as_bytes());
                let pushed = sorter.push(page.url.key(), page.modified, &line);
                pushed.map_err(|error| MergeError::Read(number, error.into()))?;
            }
        }
        Ok(())
    }
}

/// The page as we write it: every URL a URI, its language in the customary
/// case, and unknown where the schema's pattern has no place for it (D42).
pub fn canonical(page: Page<'_>) -> Page<'_> {
    let page = page.with_uris();
    // Two lower-case letters are what they should be.
    if page.language.as_str().len() == 2 && page.language.is_regular() {
        return page;
    }
    let language = page.language.canonical();
    let language = if language.is_regular() { language } else { LanguageTag::UNDETERMINED };
    Page { language, ..page }
}

/// Where a line came from, in front of it while it is sorted.
#[derive(Clone, Copy)]
struct Origin {
    input: usize,
    line: u64,
}

impl Origin {
    const SIZE: usize = 16;

    fn to_bytes(self) -> [u8; Self::SIZE] {
        (u128::from(self.line) << 64 | self.input as u128).to_le_bytes()
    }

    /// Takes the origin off again.
    fn split(bytes: &[u8]) -> (Self, &[u8]) {
        let (origin, line) = bytes.split_at_checked(Self::SIZE).unwrap_or((&[], bytes));
        let number = u128::from_le_bytes(origin.try_into().unwrap_or_default());
        let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0);
        let input = usize::try_from(half(number)).unwrap_or(0);
        (Self { input, line: half(number >> 64) }, line)
    }
}

/// Writes what was sorted, one page per key; gives what came twice.
fn write_sorted(
    sorter: Sorter,
    writer: &mut Writer,
    mode: Mode,
) -> Result<Vec<(usize, Finding)>, MergeError> {
    /// Doubles that are told one by one.
    const MOST_TOLD: usize = 1000;
    let read_error = |error: std::io::Error| MergeError::Read(0, ReadError::Io(error));
    let mut sorted = sorter.finish().map_err(read_error)?;
    let (mut entry, mut next) = (Entry::empty(), Entry::empty());
    let mut doubles = Vec::new();
    if !sorted.next(&mut entry).map_err(read_error)? {
        return Ok(doubles);
    }
    while sorted.next(&mut next).map_err(read_error)? {
        if entry.key != next.key {
            writer.line(&entry.key, Origin::split(&entry.line).1)?;
            std::mem::swap(&mut entry, &mut next);
            continue;
        }
        let (origin, _) = Origin::split(&next.line);
        let (place, detail) = (Place::pointer(origin.line, "/url"), quoted(&next.key));
        if mode == Mode::Strict {
            let refusal = Refusal::new(&rules::DUPLICATE_PAGE, place, detail);
            return Err(MergeError::Read(origin.input, refusal.into()));
        }
        if doubles.len() < MOST_TOLD {
            doubles.push((origin.input, Finding::new(&rules::DUPLICATE_PAGE, place, detail)));
        }
        if merge::delta(Some(entry.modified), next.modified) == Merge::Replace {
            std::mem::swap(&mut entry, &mut next);
        }
    }
    writer.line(&entry.key, Origin::split(&entry.line).1)?;
    Ok(doubles)
}
