//! ARC and SPXI, taken over: entries with their consent, and entities.
//!
//! On the first visit, discovery hands over what it read. Later the files are
//! requested here, with their validators. A site with dated deltas is followed
//! by these: the pointer file (D53) says when the sitemap last changed, so the
//! days up to then are read. Before that a HEAD request gets the validators of
//! the whole sitemap. A later visit asks with these first, by HEAD: a 304 says
//! that nothing changed. Where the pointer has no new date, the sitemap is
//! requested with its newest validators, and consent that is
//! taken back without a new date is noticed at the next sync. Without a usable
//! pointer the days up to today are read. A missing day, or one that begins after
//! the moment up to which the replica is complete, means the whole sitemap (D60).
//!
//! A file is read twice: once to its end, and only then into the replica, so
//! that memory does not grow with it and a broken one changes nothing.

use std::fs::File;
use std::io::{self, Cursor, Read};

use rutter_arc::pointer::Found;
use rutter_arc::{ArcError, Entry, Limits, delta};
use rutter_discover::{ArcOffer, ArcSaid, Discovery, Outcome, Said};
use rutter_fetch::{Body, Cause, Fetched, Method, Request, Url, Validators, What, decode};
use rutter_finding::{FindingSink, Mode, Report as Findings};
use rutter_page::{Own, Timestamp};

use crate::error::VisitError;
use crate::gate::Gate;
use crate::layers::Gathered;
use crate::left_out::LeftOut;
use crate::memo::{ArcMemo, PointerMemo};
use crate::report::Kind;
use crate::shelf::Shelf;
use crate::visit::Visit;

/// Sitemaps with fewer pages are read whole: it costs no more.
const WORTH_DELTAS: u64 = 200;
/// Days that are followed one by one.
const MOST_DAYS: i64 = 14;
const DAY: i64 = 86_400;
/// Entries of other sites that are listed for one file.
const MOST_FOREIGN: usize = 10_000;
/// How long pointer and deltas are believed without a look at the whole
/// sitemap, in seconds.
const WHOLE_EVERY: i64 = 30 * DAY;

/// Brings entries and entities up to date. Tells whether entries changed.
pub(crate) async fn take(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: &mut Gathered,
) -> Result<bool, VisitError> {
    let has_changed = match found.offer.arc.clone() {
        Some(offer) => take_arc(visit, found, &offer, gathered).await?,
        None => false,
    };
    if let Some(offer) = found.offer.spxi.clone() {
        take_spxi(visit, found, &offer.url, gathered).await?;
    }
    Ok(has_changed)
}

async fn take_arc(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    offer: &ArcOffer,
    gathered: &mut Gathered,
) -> Result<bool, VisitError> {
    let gathered = gathered.take_arc(&offer.url).map_err(|error| lost(visit, &offer.url, error))?;
    if let Some(mut entries) = gathered {
        let sorted = Sorted::of(&visit.gate, entries.by_ref());
        entries.rewind().map_err(|error| lost(visit, &offer.url, error))?;
        if !replace(visit, found, &offer.url, &sorted, &mut entries.by_ref())? {
            return Ok(false);
        }
        entries.finish().map_err(|error| lost(visit, &offer.url, error))?;
        visit.memo.arc = Some(whole_memo(visit, &offer.said));
        return Ok(true);
    }
    let Some(known) = found.memory.files.get(&offer.url).cloned() else { return Ok(false) };
    let is_worth = WORTH_DELTAS <= offer.said.pages && offer.said.deltas.is_some();
    let has_site_changed = found.looks.iter().any(|look| look.outcome == Outcome::Found("sitemap"));
    let mut version = None;
    if let Some(memo) = visit.memo.arc.clone().filter(|_| is_worth) {
        match follow(visit, offer, memo, has_site_changed).await? {
            Followed::Unchanged => return Ok(false),
            Followed::Changed => return Ok(true),
            Followed::Gap => {}
            Followed::Unknown(validators) => version = Some(validators),
        }
    }
    let validators = version.as_ref().unwrap_or(&known.validators);
    let Some(answer) = ask(visit, &offer.url, What::Arc, validators).await? else {
        return Ok(false);
    };
    if answer.is_unchanged() {
        // Validators from a HEAD request say that nothing changed since the
        // deltas, and not that the whole sitemap was read.
        if let Some(memo) = visit.memo.arc.as_mut().filter(|_| version.is_none()) {
            memo.whole = Some(visit.now);
        }
        return Ok(false);
    }
    if !answer.is_new() {
        // What was closed stays closed until somebody says otherwise.
        found.memory.files.remove(&offer.url);
        return Ok(false);
    }
    let (mut said, sorted) = match survey(&visit.gate, &answer) {
        Ok(Surveyed { said, sorted, .. }) => (said, sorted),
        Err(error) => {
            visit.report.trouble(&offer.url, Kind::Integrity, error.to_string());
            found.memory.files.remove(&offer.url);
            discard(&answer);
            return Ok(false);
        }
    };
    let mut entries = Entries::open(&answer).map_err(|error| broken(visit, &offer.url, error))?;
    let is_ours = replace(visit, found, &offer.url, &sorted, &mut entries)?;
    if is_ours {
        entries.finish().map_err(|error| broken(visit, &offer.url, error))?;
    }
    discard(&answer);
    if !is_ours {
        return Ok(false);
    }
    visit.memo.arc = Some(whole_memo(visit, &said));
    if let Some(file) = found.memory.files.get_mut(&offer.url) {
        file.validators = answer.validators;
        file.asked = visit.now;
        if let Some(Said::Arc(old)) = &mut file.said {
            said.crawl_rate = said.crawl_rate.or_else(|| old.crawl_rate.take());
            *old = said;
        }
    }
    Ok(true)
}

/// What is remembered of a sitemap that was read whole now.
fn whole_memo(visit: &Visit<'_>, said: &ArcSaid) -> ArcMemo {
    ArcMemo {
        day: delta::day_of(said.generated.unwrap_or(visit.now)),
        delta: None,
        version: None,
        until: said.generated,
        whole: Some(visit.now),
        pointer: PointerMemo::Unknown,
    }
}

/// Puts entries in the place of those that are here, unless none of them is
/// about this site: such a file says nothing about it, and what was closed
/// stays closed. Tells whether it did.
fn replace(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    url: &str,
    sorted: &Sorted,
    entries: &mut dyn Iterator<Item = Entry<'static>>,
) -> Result<bool, VisitError> {
    sorted.report(visit, url);
    if sorted.n_ours == 0 && 0 < sorted.n_foreign {
        // It is told again until it is mended, and other ways are gone.
        found.memory.files.remove(url);
        found.offer.arc = None;
        visit.foreign_arc = Some(url.to_owned());
        return Ok(false);
    }
    let gate = visit.gate.clone();
    let mut ours = entries.filter(|entry| gate.is_ours(entry.url.key()));
    visit.visitor.store.replace_arc(visit.hold.lease(), &mut ours)?;
    Ok(true)
}

/// Whose pages the entries of a file are about; what others are is not this
/// site's to say (D88).
#[derive(Debug, Default)]
struct Sorted {
    n_ours: u64,
    /// Of those, what only says that a page is gone.
    n_gone: u64,
    n_foreign: u64,
    /// The origin of the first that is not ours.
    foreign: Option<String>,
    /// Some of those that are not ours.
    foreign_urls: Vec<String>,
}

impl Sorted {
    fn of(gate: &Gate, entries: impl Iterator<Item = Entry<'static>>) -> Self {
        let mut sorted = Self::default();
        entries.for_each(|entry| sorted.count(gate, &entry));
        sorted
    }

    fn count(&mut self, gate: &Gate, entry: &Entry<'_>) {
        if gate.is_ours(entry.url.key()) {
            self.n_ours += 1;
            self.n_gone += u64::from(entry.removed);
            return;
        }
        self.n_foreign += 1;
        if self.foreign_urls.len() < MOST_FOREIGN {
            self.foreign_urls.push(entry.url.key().to_owned());
        }
        if self.foreign.is_none() {
            let url = Url::parse(entry.url.as_str()).ok();
            self.foreign = url.map(|url| url.origin().ascii_serialization());
        }
    }

    fn report(&self, visit: &mut Visit<'_>, url: &str) {
        let report = &mut visit.report;
        *report.arc.get_or_insert(0) += self.n_ours - self.n_gone;
        let Some(first) = &self.foreign else { return };
        report.count_left_out(LeftOut::ARC_OTHER_SITE, self.n_foreign);
        for url in &self.foreign_urls {
            report.list_left_out(url, LeftOut::ARC_OTHER_SITE);
        }
        if self.n_ours == 0 {
            let text = format!(
                "it speaks of other sites only, such as {first}, and is not used; where that is \
                 the same site, `--alias` says so"
            );
            report.trouble(url, Kind::Integrity, text);
        }
    }
}

enum Followed {
    Unchanged,
    Changed,
    /// The deltas do not lead from what is here to the newest sitemap.
    Gap,
    /// Deltas say nothing new: whether the whole sitemap changed is to be asked
    /// with these validators.
    Unknown(Validators),
}

/// Applies the changes of each day from the last one known.
async fn follow(
    visit: &mut Visit<'_>,
    offer: &ArcOffer,
    mut memo: ArcMemo,
    has_site_changed: bool,
) -> Result<Followed, VisitError> {
    let Some(template) = &offer.said.deltas else { return Ok(Followed::Gap) };
    let is_due = |whole: Timestamp| WHOLE_EVERY <= visit.now.seconds_since(whole);
    if !template.contains("YYYY-MM-DD") || memo.whole.is_some_and(is_due) {
        return Ok(Followed::Gap);
    }
    if let Some(version) = memo.version.as_ref().filter(|_| !has_site_changed) {
        // One request, and no body: a sitemap that is unchanged says it all.
        let answer = ask_head(visit, &offer.url, version).await;
        if answer.is_some_and(|answer| answer.is_unchanged()) {
            return Ok(Followed::Unchanged);
        }
    }
    let before = memo.pointer.date();
    memo.pointer = ask_pointer(visit, &offer.url, &memo).await?;
    visit.memo.arc = Some(memo.clone());
    let changed = memo.pointer.date();
    let has_new_date = changed.is_some_and(|changed| {
        let is_later = memo.until.is_none_or(|until| until < changed);
        is_later || (Some(changed) != before && Some(changed) != memo.until)
    });
    // A page may be closed without a new date. The whole sitemap is requested
    // with its newest validators; where the server names none, the last delta
    // is requested.
    let is_told = has_new_date || (changed.is_none() && has_site_changed);
    if !is_told {
        if changed.is_some() && memo.delta.is_none() {
            return Ok(Followed::Gap);
        }
        if let Some(version) = &memo.version {
            return Ok(Followed::Unknown(version.clone()));
        }
    }
    // Before the deltas: a change in between gives another version.
    let version = if is_told { ask_version(visit, &offer.url).await } else { None };
    let today = delta::day_of(visit.now);
    // Consent may be withdrawn without a change to the XML sitemap. The file
    // of the last known day then has its own changes only: on a later day the
    // whole sitemap is requested.
    let is_telling = has_site_changed || (memo.delta.is_some() && memo.day == today);
    let last = match changed {
        Some(changed) => delta::day_of(changed),
        None if is_telling => today,
        None => return Ok(Followed::Gap),
    };
    let Some(days) = days(&memo.day, &last) else { return Ok(Followed::Gap) };
    // Every file is read to its end before anything is written: a gap leaves
    // no half.
    let mut changes: Vec<(String, Fetched, Sorted)> = Vec::new();
    for (n, day) in days.iter().enumerate() {
        let url = template.replace("YYYY-MM-DD", day);
        let known = memo.delta.take().filter(|_| n == 0).unwrap_or_default();
        let answer = ask(visit, &url, What::Arc, &known).await?;
        if answer.as_ref().is_some_and(Fetched::is_unchanged) {
            memo.delta = Some(known);
            continue;
        }
        let said = answer.as_ref().filter(|answer| answer.is_new());
        let said = said.and_then(|answer| survey(&visit.gate, answer).ok());
        let said = said.filter(|said| said.continues(day, memo.until));
        let (Some(answer), Some(said)) = (&answer, said) else {
            for answer in answer.iter().chain(changes.iter().map(|(_, answer, _)| answer)) {
                discard(answer);
            }
            return Ok(Followed::Gap);
        };
        memo.delta = Some(answer.validators.clone());
        memo.until = memo.until.max(said.until);
        changes.push((url, answer.clone(), said.sorted));
    }
    let is_behind = changed.is_some_and(|changed| memo.until.is_none_or(|until| until < changed));
    if is_behind || (has_new_date && changes.is_empty()) {
        for (_, answer, _) in &changes {
            discard(answer);
        }
        return Ok(Followed::Gap);
    }
    memo.day = last;
    let has_changed = !changes.is_empty();
    if has_changed {
        memo.version = version;
    }
    for (url, answer, sorted) in changes {
        sorted.report(visit, &url);
        let mut entries = Entries::open(&answer).map_err(|error| broken(visit, &url, error))?;
        let gate = visit.gate.clone();
        let mut ours = entries.by_ref().filter(|entry| gate.is_ours(entry.url.key()));
        visit.visitor.store.merge_arc(visit.hold.lease(), &mut ours)?;
        entries.finish().map_err(|error| broken(visit, &url, error))?;
        discard(&answer);
    }
    visit.memo.arc = Some(memo);
    Ok(if has_changed { Followed::Changed } else { Followed::Unchanged })
}

/// The days from the last one known to another; `None` where these are too
/// many, or none.
fn days(first: &str, last: &str) -> Option<Vec<String>> {
    let (first, last) = (delta::day(first)?, delta::day(last)?);
    let n_days = last.seconds_since(first) / DAY;
    let day = |n| delta::day_of(first.plus_seconds(n * DAY));
    (0..=MOST_DAYS).contains(&n_days).then(|| (0..=n_days).map(day).collect())
}

/// Asks for the whole sitemap without its body. A failure is not reported: the
/// next request to the host fails too, or it does not matter.
async fn ask_head(visit: &Visit<'_>, url: &str, known: &Validators) -> Option<Fetched> {
    let (site, known) = (Some(visit.site.clone()), known.clone());
    let address = Url::parse(url).ok()?;
    let request = Request { method: Method::Head, site, known, ..Request::new(address, What::Arc) };
    visit.visitor.client.fetch(&request).await.ok()
}

/// Asks for the validators of the whole sitemap.
async fn ask_version(visit: &Visit<'_>, url: &str) -> Option<Validators> {
    let answer = ask_head(visit, url, &Validators::default()).await?;
    Some(answer.validators).filter(|validators| answer.status == 200 && !validators.is_empty())
}

/// Asks the pointer when the sitemap last changed.
///
/// It is useless where its first date is older than what was read: then it is
/// not written anew with the sitemap.
async fn ask_pointer(
    visit: &mut Visit<'_>,
    sitemap: &str,
    memo: &ArcMemo,
) -> Result<PointerMemo, VisitError> {
    let known = match &memo.pointer {
        PointerMemo::Useless => return Ok(PointerMemo::Useless),
        PointerMemo::Unknown => Validators::default(),
        PointerMemo::Known(_, validators) => validators.clone(),
    };
    let Some(url) = sitemap.strip_suffix(".json").map(|stem| format!("{stem}.jsonld")) else {
        return Ok(PointerMemo::Useless);
    };
    // As large as a policy at most.
    let Some(answer) = ask(visit, &url, What::Policy, &known).await? else {
        return Ok(PointerMemo::Unknown);
    };
    if answer.is_unchanged() {
        return Ok(memo.pointer.clone());
    }
    let text = Some(&answer).filter(|answer| answer.is_new());
    let text = text.and_then(|answer| answer.text(What::Policy).ok()).unwrap_or_default();
    let changed = match rutter_arc::pointer::read(text.as_slice(), &mut ()) {
        Ok(Found::Pointer(pointer)) if pointer.json == sitemap => pointer.modified,
        _ => None,
    };
    let is_useful = |changed: &Timestamp| {
        memo.pointer.date().is_some() || memo.until.is_some_and(|until| until <= *changed)
    };
    Ok(match changed.filter(is_useful) {
        Some(changed) => PointerMemo::Known(changed, answer.validators),
        None => PointerMemo::Useless,
    })
}

async fn take_spxi(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    url: &str,
    gathered: &mut Gathered,
) -> Result<(), VisitError> {
    let bytes = match gathered.take_spxi(url) {
        Some(bytes) => bytes,
        None => {
            let known = found.memory.files.get(url).map(|file| file.validators.clone());
            let Some(known) = known else { return Ok(()) };
            let Some(answer) = ask(visit, url, What::SpxiIndex, &known).await? else {
                return Ok(());
            };
            if answer.is_unchanged() {
                return Ok(());
            }
            if !answer.is_new() {
                found.memory.files.remove(url);
                if matches!(answer.status, 404 | 410) {
                    visit.visitor.store.replace_entities(visit.hold.lease(), &[])?;
                    visit.report.entities = Some(0);
                }
                return Ok(());
            }
            if let Some(file) = found.memory.files.get_mut(url) {
                file.validators = answer.validators.clone();
                file.asked = visit.now;
            }
            answer.text(What::SpxiIndex).unwrap_or_default()
        }
    };
    let mut findings = Findings::new(Mode::Lenient);
    let index = match rutter_spxi::read_index(&bytes, &mut findings) {
        Ok(index) => index,
        Err(refusal) => {
            visit.report.trouble(url, Kind::Integrity, refusal.to_string());
            found.memory.files.remove(url);
            return Ok(());
        }
    };
    visit.keep_findings(url, &findings);
    // What other sites are is not this one's to say (D88).
    let is_ours =
        |entity: &rutter_spxi::Entity| entity.id.as_deref().is_none_or(|id| visit.gate.is_ours(id));
    let entities: Vec<_> = index.entities.iter().filter(|it| is_ours(it)).cloned().collect();
    visit.visitor.store.replace_entities(visit.hold.lease(), &entities)?;
    visit.report.entities = Some(entities.len() as u64);
    Ok(())
}

/// Asks for a file; `None` where it cannot be had now.
async fn ask(
    visit: &mut Visit<'_>,
    url: &str,
    what: What,
    known: &Validators,
) -> Result<Option<Fetched>, VisitError> {
    let Ok(address) = Url::parse(url) else { return Ok(None) };
    // By its address, so that several days can lie here together.
    let spool = (what == What::Arc).then(|| visit.shelf.beside(url));
    let site = Some(visit.site.clone());
    let request = Request { known: known.clone(), site, spool, ..Request::new(address, what) };
    match visit.visitor.client.fetch(&request).await {
        Ok(answer) => {
            visit.tally.add_bytes(answer.wire_bytes);
            Ok(Some(answer))
        }
        Err(error) => {
            if let Cause::Spool(_) = error.cause {
                return Err(error.into());
            }
            visit.fetch_trouble(&error)?;
            Ok(None)
        }
    }
}

type Source = rutter_arc::Reader<Box<dyn Read>>;

/// A sitemap or delta that was fetched, from its beginning.
fn open(answer: &Fetched) -> Result<Source, ArcError> {
    let coding = answer.fields.content_encoding.as_deref();
    let most = What::Arc.sizes().decoded;
    let bytes = || -> io::Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = match &answer.body {
            Body::Spooled { path, .. } => Box::new(File::open(path)?),
            Body::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            Body::Nothing => Box::new(io::empty()),
        };
        decode::open(raw, coding, most).map_err(io::Error::other)
    };
    let mut start = Vec::new();
    bytes()?.take(64 << 10).read_to_end(&mut start)?;
    let form = rutter_arc::form(&start).unwrap_or(rutter_arc::Form::Json);
    rutter_arc::open(bytes()?, form, Limits::USUAL)
}

/// A document that was read to its end.
struct Surveyed {
    said: ArcSaid,
    sorted: Sorted,
    /// The span that a delta covers.
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Surveyed {
    /// Whether the delta of a day has every change after `known`: it begins
    /// with its day, or not later than what is known ends.
    fn continues(&self, day: &str, known: Option<Timestamp>) -> bool {
        self.since.is_none_or(|since| Some(since) <= delta::day(day).max(known))
    }
}

/// Reads a document to its end: what it says as a whole, and of whose pages.
fn survey(gate: &Gate, answer: &Fetched) -> Result<Surveyed, ArcError> {
    let mut findings = Findings::new(Mode::Lenient);
    let (mut said, mut sorted) = (ArcSaid::default(), Sorted::default());
    let sink: &mut dyn FindingSink = &mut findings;
    let mut reader = open(answer)?;
    let mut count = |entry: Entry<'_>| {
        said.count(&entry);
        sorted.count(gate, &entry);
    };
    while reader.next(sink, &mut count)?.is_some() {}
    let receipt = reader.finish(sink)?;
    let (since, until) = (receipt.head.since, receipt.head.until);
    Ok(Surveyed { said: said.finish(receipt), sorted, since, until })
}

/// The entries of a document that was read to its end before.
struct Entries {
    reader: Source,
    findings: Findings,
    error: Option<ArcError>,
}

impl Entries {
    fn open(answer: &Fetched) -> Result<Self, ArcError> {
        let (reader, findings) = (open(answer)?, Findings::new(Mode::Lenient));
        Ok(Self { reader, findings, error: None })
    }

    fn finish(self) -> Result<(), ArcError> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Iterator for Entries {
    type Item = Entry<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.next(&mut self.findings, |entry| entry.own()) {
            Ok(entry) => entry,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

/// Takes a spool away that is done with.
fn discard(answer: &Fetched) {
    if let Body::Spooled { path, .. } = &answer.body {
        Shelf::discard(path);
    }
}

/// A file of ours that cannot be read again.
fn lost(visit: &Visit<'_>, url: &str, error: io::Error) -> VisitError {
    VisitError::Spool(visit.shelf.beside(url), error)
}

fn broken(visit: &Visit<'_>, url: &str, error: ArcError) -> VisitError {
    lost(visit, url, io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D60
    fn ours_days_are_counted_in_utc() {
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(delta::day_of(at("2026-05-01T23:59:59Z")), "2026-05-01");
        assert_eq!(delta::day("2026-05-01"), Some(at("2026-05-01T00:00:00Z")));
    }
}
