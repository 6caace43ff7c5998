//! Checks one SCP collection: reports the findings of the reader, and compares the pages with each
//! other, with line 1 and with the current time.

use rutter_finding::{Finding, FindingSink, Place, Refusal, quoted};
use rutter_page::{Page, Timestamp};
use rutter_scp::merge::{self, CollectionAge};
use rutter_scp::{
    CollectionKind, CollectionOpener, CollectionReader, KeyedLine, LineSorter, PageRecord,
    ReadError, ReadOptions, ReadReceipt, ReaderThreads, SectionState, advert, rules,
};
use serde::Deserialize;

use crate::CheckOptions;

/// Reads and checks a whole collection, and passes each page to `take`.
pub(crate) fn check(
    open: &CollectionOpener<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&PageRecord<'_>),
    sink: &mut dyn FindingSink,
) -> Result<ReadReceipt, ReadError> {
    let (bytes, size) = open()?;
    let options = ReadOptions { limits: check_options.limits, size, threads: ReaderThreads::Two };
    let mut reader = CollectionReader::open(bytes, options, sink)?;
    if let Some(now) = check_options.now {
        check_age(reader.header().generated, now, sink);
    }
    if let Some(advert) = &check_options.advert {
        advert::compare(advert, reader.header(), None, sink)?;
    }
    let header = reader.header();
    let mut pages =
        PageTally::new(header.kind == CollectionKind::Snapshot && header.chain.is_some());
    while let Some(mut batch) = reader.batch(sink)? {
        while let Some(record) = batch.next_page(sink)? {
            pages.see(&record, sink);
            take(&record);
        }
    }
    let receipt = reader.finish_again(|| open().map(|(bytes, _)| bytes), sink)?;
    pages.report_duplicates(open, options, sink)?;
    if let Some(advert) = &check_options.advert {
        advert::compare(advert, &receipt.header, Some(&receipt), sink)?;
    }
    pages.prove(&receipt)?;
    Ok(receipt)
}

fn check_age(generated: Timestamp, now: Timestamp, sink: &mut dyn FindingSink) {
    let rule = match merge::classify_age(generated, now) {
        CollectionAge::Fine => return,
        CollectionAge::Future => &rules::FROM_THE_FUTURE,
        CollectionAge::Past => &rules::FROM_THE_PAST,
    };
    let place = Place::pointer(1, "/collection/generated");
    sink.report(Finding::new(rule, place, generated.to_string()));
}

/// Data over all pages of a collection: their order and the sum of their digests.
struct PageTally {
    last_key: String,
    is_sorted: bool,
    state: Option<SectionState>,
}

impl PageTally {
    fn new(has_chain: bool) -> Self {
        let state = has_chain.then_some(SectionState::EMPTY);
        Self { last_key: String::new(), is_sorted: true, state }
    }

    fn see(&mut self, record: &PageRecord<'_>, sink: &mut dyn FindingSink) {
        let key = record.page.url.key();
        if self.is_sorted {
            self.is_sorted = *self.last_key < *key;
            self.last_key.clear();
            self.last_key.push_str(key);
        }
        if let Some(state) = &mut self.state {
            state.add(key, record.digest());
        }
        compare_dates(&record.page, record.line, sink);
    }

    /// Reports duplicate pages. A collection sorted by key has none. The keys of an unsorted
    /// collection are read again and sorted on disk.
    fn report_duplicates(
        &self,
        open: &CollectionOpener<'_>,
        options: ReadOptions,
        sink: &mut dyn FindingSink,
    ) -> Result<(), ReadError> {
        if self.is_sorted {
            return Ok(());
        }
        let mut sorter = LineSorter::new(&std::env::temp_dir());
        let mut reader = CollectionReader::open(open()?.0, options, &mut ())?;
        while let Some(pushed) = reader.next(&mut (), |record| {
            let line = record.line.to_le_bytes();
            sorter.push(record.page.url.key(), record.page.modified, &line)
        })? {
            pushed?;
        }
        let mut sorted = sorter.finish()?;
        let (mut entry, mut next) = (KeyedLine::empty(), KeyedLine::empty());
        let number = |entry: &KeyedLine| {
            u64::from_le_bytes(entry.line.as_slice().try_into().unwrap_or_default())
        };
        sorted.next(&mut entry)?;
        while sorted.next(&mut next)? {
            if entry.key == next.key {
                let detail = format!("{}, also in line {}", quoted(&next.key), number(&entry));
                let place = Place::pointer(number(&next), "/url");
                sink.report(Finding::new(&rules::DUPLICATE_PAGE, place, detail));
            }
            std::mem::swap(&mut entry, &mut next);
        }
        Ok(())
    }

    /// Rejects a snapshot whose pages do not match the state in line 1.
    fn prove(&self, receipt: &ReadReceipt) -> Result<(), Refusal> {
        let (Some(found), Some(chain)) = (self.state, &receipt.header.chain) else { return Ok(()) };
        let pages = receipt.tally.pages;
        // The key of a skipped page is unknown, so the state cannot be computed.
        let is_whole = receipt.tally.skipped == 0;
        if !is_whole || (found, pages) == (chain.state, chain.pages) {
            return Ok(());
        }
        let detail = format!(
            "{pages} pages have the state {found}, line 1 states {} pages and the state {}",
            chain.pages, chain.state
        );
        let place = Place::pointer(1, "/collection/rutter");
        Err(Refusal::new(&rules::STATE_MISMATCH, place, detail))
    }
}

/// Reports schema.org dates that differ from the dates of the page (D41).
fn compare_dates(page: &Page<'_>, line: u64, sink: &mut dyn FindingSink) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct PageDates {
        date_modified: Option<String>,
        date_published: Option<String>,
    }
    let Some(schema) = &page.schema else { return };
    let Ok(dates) = serde_json::from_str::<PageDates>(schema.get()) else { return };
    let mut differs = |name: &str, ours: Option<Timestamp>, theirs: Option<String>| {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        let Ok((time, _)) = Timestamp::parse_lenient(&theirs) else { return };
        // If the date has no time of day, compare only the days.
        let is_same = if theirs.len() == 10 { is_same_day(time, ours) } else { time == ours };
        if !is_same {
            let place = Place::pointer(line, format!("/schema/{name}"));
            let detail = format!("{}, the page has {ours}", quoted(&theirs));
            sink.report(Finding::new(&rules::SCHEMA_DIFFERS, place, detail));
        }
    };
    differs("dateModified", Some(page.modified), dates.date_modified);
    differs("datePublished", page.published, dates.date_published);
}

fn is_same_day(a: Timestamp, b: Timestamp) -> bool {
    a.unix_seconds().div_euclid(86_400) == b.unix_seconds().div_euclid(86_400)
}
