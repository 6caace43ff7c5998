//! Judges one SCP collection: what the reader finds, and what only shows when
//! pages are compared with each other, with line 1 and with the clock.

use rutter_finding::{Finding, FindingSink, Place, Refusal, quoted};
use rutter_page::{Page, Timestamp};
use rutter_scp::merge::{self, Age};
use rutter_scp::{
    Entry, Kind, Opener, Options, ReadError, Reader, Receipt, Record, Sorter, State, Threads,
    advert, rules,
};
use serde::Deserialize;

use crate::Judging;

/// Reads a collection to its end, compares what can be compared, and hands
/// each page on.
pub(crate) fn judge(
    open: &Opener<'_>,
    judging: &Judging,
    take: &mut dyn FnMut(&Record<'_>),
    sink: &mut dyn FindingSink,
) -> Result<Receipt, ReadError> {
    let (bytes, size) = open()?;
    let options = Options { limits: judging.limits, size, threads: Threads::Two };
    let mut reader = Reader::open(bytes, options, sink)?;
    if let Some(now) = judging.now {
        judge_age(reader.header().generated, now, sink);
    }
    if let Some(advert) = &judging.advert {
        advert::compare(advert, reader.header(), None, sink)?;
    }
    let header = reader.header();
    let mut pages = Pages::new(header.kind == Kind::Snapshot && header.chain.is_some());
    while let Some(mut batch) = reader.batch(sink)? {
        while let Some(record) = batch.next_page(sink)? {
            pages.see(&record, sink);
            take(&record);
        }
    }
    let receipt = reader.finish_again(|| open().map(|(bytes, _)| bytes), sink)?;
    pages.report_duplicates(open, options, sink)?;
    if let Some(advert) = &judging.advert {
        advert::compare(advert, &receipt.header, Some(&receipt), sink)?;
    }
    pages.prove(&receipt)?;
    Ok(receipt)
}

fn judge_age(generated: Timestamp, now: Timestamp, sink: &mut dyn FindingSink) {
    let rule = match merge::age(generated, now) {
        Age::Fine => return,
        Age::Future => &rules::FROM_THE_FUTURE,
        Age::Past => &rules::FROM_THE_PAST,
    };
    let place = Place::pointer(1, "/collection/generated");
    sink.report(Finding::new(rule, place, generated.to_string()));
}

/// What is remembered of the pages: whether they are sorted, and one sum.
struct Pages {
    last_key: String,
    is_sorted: bool,
    state: Option<State>,
}

impl Pages {
    fn new(has_chain: bool) -> Self {
        let state = has_chain.then_some(State::EMPTY);
        Self { last_key: String::new(), is_sorted: true, state }
    }

    fn see(&mut self, record: &Record<'_>, sink: &mut dyn FindingSink) {
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

    /// Names pages that occur twice. A collection in strict key order has
    /// none; the keys of any other are read again and sorted on disk.
    fn report_duplicates(
        &self,
        open: &Opener<'_>,
        options: Options,
        sink: &mut dyn FindingSink,
    ) -> Result<(), ReadError> {
        if self.is_sorted {
            return Ok(());
        }
        let mut sorter = Sorter::new(&std::env::temp_dir());
        let mut reader = Reader::open(open()?.0, options, &mut ())?;
        while let Some(pushed) = reader.next(&mut (), |record| {
            let line = record.line.to_le_bytes();
            sorter.push(record.page.url.key(), record.page.modified, &line)
        })? {
            pushed?;
        }
        let mut sorted = sorter.finish()?;
        let (mut entry, mut next) = (Entry::empty(), Entry::empty());
        let number = |entry: &Entry| {
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

    /// A snapshot that names its state must have it.
    fn prove(&self, receipt: &Receipt) -> Result<(), Refusal> {
        let (Some(found), Some(chain)) = (self.state, &receipt.header.chain) else { return Ok(()) };
        let pages = receipt.tally.pages;
        // A skipped page counts for its publisher, but we do not know its key.
        let is_whole = receipt.tally.skipped == 0;
        if !is_whole || (found, pages) == (chain.state, chain.pages) {
            return Ok(());
        }
        let detail = format!(
            "{pages} pages give state {found}, line 1 says {} pages and {}",
            chain.pages, chain.state
        );
        let place = Place::pointer(1, "/collection/rutter");
        Err(Refusal::new(&rules::STATE_MISMATCH, place, detail))
    }
}

/// Says where schema.org data gives another date than the page (D41).
fn compare_dates(page: &Page<'_>, line: u64, sink: &mut dyn FindingSink) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Dates {
        date_modified: Option<String>,
        date_published: Option<String>,
    }
    let Some(schema) = &page.schema else { return };
    let Ok(dates) = serde_json::from_str::<Dates>(schema.get()) else { return };
    let mut differs = |name: &str, ours: Option<Timestamp>, theirs: Option<String>| {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        let Ok((time, _)) = Timestamp::parse_lenient(&theirs) else { return };
        // A date alone only says which day.
        let is_same = if theirs.len() == 10 { is_same_day(time, ours) } else { time == ours };
        if !is_same {
            let place = Place::pointer(line, format!("/schema/{name}"));
            let detail = format!("{} beside {ours}", quoted(&theirs));
            sink.report(Finding::new(&rules::SCHEMA_DIFFERS, place, detail));
        }
    };
    differs("dateModified", Some(page.modified), dates.date_modified);
    differs("datePublished", page.published, dates.date_published);
}

fn is_same_day(a: Timestamp, b: Timestamp) -> bool {
    a.unix_seconds().div_euclid(86_400) == b.unix_seconds().div_euclid(86_400)
}
