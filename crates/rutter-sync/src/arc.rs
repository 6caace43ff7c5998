//! Syncs the ARC sitemap and the SPXI index of a site into the replica.
//!
//! Input: the entries that discovery read, or files that this module requests with their
//! validators. Output: ARC entries with their consent, and entities. A file that cannot be
//! read, or that lists only pages of other sites, does not change the replica.
//!
//! If an ARC sitemap has daily deltas, a sync reads the deltas instead of the whole
//! sitemap. The pointer file (D53) says when the sitemap last changed, so the sync reads
//! the deltas up to that day. Before it reads them, it gets the validators of the whole
//! sitemap by a HEAD request. A later sync first sends a HEAD request with these
//! validators: status 304 means that the sitemap has not changed. If the pointer has no new
//! date, the whole sitemap is requested with its newest validators, so that the next sync
//! notices consent that was withdrawn without a new date. Without a usable pointer, the
//! sync reads the deltas up to today. If a delta is missing, or starts after the time up to
//! which the replica is complete, the sync reads the whole sitemap (D60).
//!
//! Each file is read twice: first to its end for validation, then into the replica. The
//! memory use does not grow with the file, and an invalid file does not change the replica.

use std::fs::File;
use std::io::{self, Cursor, Read};

use crate::context::SiteContext;
use crate::discover::{ArcOffer, Discovery, LookupOutcome, ParsedArc, ParsedFile};
use rutter_arc::pointer::JsonLdFile;
use rutter_arc::{ArcEntry, ArcError, Limits, delta};
use rutter_fetch::{
    FailureCause, FetchedResponse, Method, Request, ResourceKind, ResponseBody, Url, Validators,
    decode,
};
use rutter_finding::{FindingSink, Report as Findings, Strictness};
use rutter_page::{IntoOwned, Timestamp};

use crate::consent::page_policy::PagePolicy;
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::site_state::{ArcState, PointerState};
use crate::state::spool_dir::SpoolDir;

/// Minimum number of pages from which deltas of a sitemap are used; a sitemap with fewer
/// pages is always read whole.
const WORTH_DELTAS: u64 = 200;
/// Maximum number of days between the first and the last delta that a sync reads.
const MOST_DAYS: i64 = 14;
const DAY: i64 = 86_400;
/// Maximum number of entries of other sites, per file, whose URLs the report lists.
const MOST_FOREIGN: usize = 10_000;
/// Seconds after which the whole sitemap is requested again, even if pointer and deltas
/// show no change.
const WHOLE_EVERY: i64 = 30 * DAY;

/// Updates the ARC entries and the entities of a site. Returns whether ARC entries changed.
pub(crate) async fn sync_arc_and_spxi(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: &mut DiscoveredEntries,
) -> Result<bool, SyncError> {
    let has_changed = match discovery.offer.arc.clone() {
        Some(offer) => sync_arc(run, discovery, &offer, discovered).await?,
        None => false,
    };
    if let Some(offer) = discovery.offer.spxi.clone() {
        sync_spxi(run, discovery, &offer.url, discovered).await?;
    }
    Ok(has_changed)
}

async fn sync_arc(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    offer: &ArcOffer,
    discovered: &mut DiscoveredEntries,
) -> Result<bool, SyncError> {
    let discovered = discovered
        .take_arc(&offer.url)
        .map_err(|error| spool_error(&run.context, &offer.url, error))?;
    if let Some(mut entries) = discovered {
        let sorted = EntryCounts::of(&run.page_policy, entries.by_ref());
        entries.rewind().map_err(|error| spool_error(&run.context, &offer.url, error))?;
        if !replace(run, discovery, &offer.url, &sorted, &mut entries.by_ref())? {
            return Ok(false);
        }
        entries.finish().map_err(|error| spool_error(&run.context, &offer.url, error))?;
        run.state.arc = Some(state_of_whole_sitemap(&run.context, &offer.parsed));
        return Ok(true);
    }
    let Some(known) = discovery.cache.files.get(&offer.url).cloned() else { return Ok(false) };
    let is_worth = WORTH_DELTAS <= offer.parsed.pages && offer.parsed.deltas.is_some();
    let has_site_changed =
        discovery.lookups.iter().any(|look| look.outcome == LookupOutcome::Found("sitemap"));
    let mut version = None;
    if let Some(state) = run.state.arc.clone().filter(|_| is_worth) {
        match follow(run, offer, state, has_site_changed).await? {
            DeltaOutcome::Unchanged => return Ok(false),
            DeltaOutcome::Changed => return Ok(true),
            DeltaOutcome::Gap => {}
            DeltaOutcome::Unknown(validators) => version = Some(validators),
        }
    }
    let validators = version.as_ref().unwrap_or(&known.validators);
    let Some(response) = fetch_file(run, &offer.url, ResourceKind::Arc, validators).await? else {
        return Ok(false);
    };
    if response.is_not_modified() {
        // If the validators come from a HEAD request, status 304 only shows that the
        // sitemap has not changed since the deltas were read. It does not show that the
        // whole sitemap was read.
        if let Some(state) = run.state.arc.as_mut().filter(|_| version.is_none()) {
            state.whole_checked = Some(run.context.now);
        }
        return Ok(false);
    }
    if !response.is_success() {
        // Pages that ARC withholds stay withheld until an ARC sitemap allows their use.
        discovery.cache.files.remove(&offer.url);
        return Ok(false);
    }
    let (mut said, sorted) = match summarize(&run.page_policy, &response) {
        Ok(ArcSummary { said, sorted, .. }) => (said, sorted),
        Err(error) => {
            run.report.add_problem(&offer.url, ProblemKind::Integrity, error.to_string());
            discovery.cache.files.remove(&offer.url);
            discard(&response);
            return Ok(false);
        }
    };
    let mut entries = ArcEntryReader::open(&response)
        .map_err(|error| read_error(&run.context, &offer.url, error))?;
    let is_replaced = replace(run, discovery, &offer.url, &sorted, &mut entries)?;
    if is_replaced {
        entries.finish().map_err(|error| read_error(&run.context, &offer.url, error))?;
    }
    discard(&response);
    if !is_replaced {
        return Ok(false);
    }
    run.state.arc = Some(state_of_whole_sitemap(&run.context, &said));
    if let Some(file) = discovery.cache.files.get_mut(&offer.url) {
        file.validators = response.validators;
        file.requested = run.context.now;
        if let Some(ParsedFile::Arc(old)) = &mut file.parsed {
            said.crawl_rate = said.crawl_rate.or_else(|| old.crawl_rate.take());
            *old = said;
        }
    }
    Ok(true)
}

/// Returns the ARC state of a site after a sync read the whole ARC sitemap.
fn state_of_whole_sitemap(context: &SiteContext<'_>, said: &ParsedArc) -> ArcState {
    ArcState {
        day: delta::format_day(said.generated.unwrap_or(context.now)),
        delta: None,
        version: None,
        until: said.generated,
        whole_checked: Some(context.now),
        pointer: PointerState::Unknown,
    }
}

/// Replaces the stored ARC entries by those of a sitemap, and returns whether it did. A
/// sitemap without any entry of this site is ignored, so withheld pages stay withheld.
fn replace(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    url: &str,
    sorted: &EntryCounts,
    entries: &mut dyn Iterator<Item = ArcEntry<'static>>,
) -> Result<bool, SyncError> {
    sorted.report(run, url);
    if sorted.n_own == 0 && 0 < sorted.n_foreign {
        // Without its cache entry, the sitemap is read and reported again in every sync.
        // Without its offer, this sync uses another access method.
        discovery.cache.files.remove(url);
        discovery.offer.arc = None;
        run.foreign_arc = Some(url.to_owned());
        return Ok(false);
    }
    let page_policy = run.page_policy.clone();
    let mut own = entries.filter(|entry| page_policy.is_site_url(entry.url.key()));
    run.context.store.replace_arc(run.context.lease_guard.lease(), &mut own)?;
    Ok(true)
}

/// Numbers of the entries of an ARC file that belong to this site and to other sites.
/// Entries of other sites are ignored, because a site cannot state the use of their pages
/// (D88).
#[derive(Debug, Default)]
struct EntryCounts {
    n_own: u64,
    /// Number of entries of this site that only report a removal.
    n_gone: u64,
    n_foreign: u64,
    /// Origin of the first entry that belongs to another site.
    foreign: Option<String>,
    /// URLs of entries that belong to other sites, up to a limit.
    foreign_urls: Vec<String>,
}

impl EntryCounts {
    fn of(page_policy: &PagePolicy, entries: impl Iterator<Item = ArcEntry<'static>>) -> Self {
        let mut sorted = Self::default();
        entries.for_each(|entry| sorted.count(page_policy, &entry));
        sorted
    }

    fn count(&mut self, page_policy: &PagePolicy, entry: &ArcEntry<'_>) {
        if page_policy.is_site_url(entry.url.key()) {
            self.n_own += 1;
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

    fn report(&self, run: &mut SyncRun<'_>, url: &str) {
        let report = &mut run.report;
        *report.arc.get_or_insert(0) += self.n_own - self.n_gone;
        let Some(first) = &self.foreign else { return };
        report.count_left_out(LeftOutReason::ARC_OTHER_SITE, self.n_foreign);
        for url in &self.foreign_urls {
            report.list_left_out(url, LeftOutReason::ARC_OTHER_SITE);
        }
        if self.n_own == 0 {
            let text = format!(
                "ignored: this ARC sitemap lists only pages of other sites, such as {first}; if \
                 {first} is the same site, add it as an alias"
            );
            report.add_problem(url, ProblemKind::Integrity, text);
        }
    }
}

enum DeltaOutcome {
    Unchanged,
    Changed,
    /// The deltas do not lead from the stored state to the newest sitemap, so the whole
    /// sitemap must be read.
    Gap,
    /// The deltas show no changes. A conditional request with these validators must check
    /// whether the whole sitemap changed.
    Unknown(Validators),
}

/// Applies the daily deltas of an ARC sitemap since the last known day.
async fn follow(
    run: &mut SyncRun<'_>,
    offer: &ArcOffer,
    mut state: ArcState,
    has_site_changed: bool,
) -> Result<DeltaOutcome, SyncError> {
    let Some(template) = &offer.parsed.deltas else { return Ok(DeltaOutcome::Gap) };
    let is_due = |whole: Timestamp| WHOLE_EVERY <= run.context.now.seconds_since(whole);
    if !template.contains("YYYY-MM-DD") || state.whole_checked.is_some_and(is_due) {
        return Ok(DeltaOutcome::Gap);
    }
    if let Some(version) = state.version.as_ref().filter(|_| !has_site_changed) {
        // If the sitemap is unchanged, this HEAD request is the only request.
        let response = fetch_head(&run.context, &offer.url, version).await;
        if response.is_some_and(|response| response.is_not_modified()) {
            return Ok(DeltaOutcome::Unchanged);
        }
    }
    let before = state.pointer.date();
    state.pointer = fetch_pointer(run, &offer.url, &state).await?;
    run.state.arc = Some(state.clone());
    let changed = state.pointer.date();
    let has_new_date = changed.is_some_and(|changed| {
        let is_later = state.until.is_none_or(|until| until < changed);
        is_later || (Some(changed) != before && Some(changed) != state.until)
    });
    // A site may withdraw consent without a new date. So the whole sitemap is requested
    // with its newest validators; if the server sends no validators, the last delta is
    // requested.
    let is_reported_change = has_new_date || (changed.is_none() && has_site_changed);
    if !is_reported_change {
        if changed.is_some() && state.delta.is_none() {
            return Ok(DeltaOutcome::Gap);
        }
        if let Some(version) = &state.version {
            return Ok(DeltaOutcome::Unknown(version.clone()));
        }
    }
    // The validators are requested before the deltas, because a change during the sync
    // gives the sitemap other validators.
    let version =
        if is_reported_change { fetch_version(&run.context, &offer.url).await } else { None };
    let today = delta::format_day(run.context.now);
    // A site may withdraw consent without a change to the XML sitemap. The delta of the
    // last known day contains only the changes of that day, so on a later day the whole
    // sitemap is requested.
    let is_telling = has_site_changed || (state.delta.is_some() && state.day == today);
    let last = match changed {
        Some(changed) => delta::format_day(changed),
        None if is_telling => today,
        None => return Ok(DeltaOutcome::Gap),
    };
    let Some(days) = days(&state.day, &last) else { return Ok(DeltaOutcome::Gap) };
    // Every delta is read to its end before the first one is written, so that a gap leaves
    // no partial update.
    let mut changes: Vec<(String, FetchedResponse, EntryCounts)> = Vec::new();
    for (n, day) in days.iter().enumerate() {
        let url = template.replace("YYYY-MM-DD", day);
        let known = state.delta.take().filter(|_| n == 0).unwrap_or_default();
        let response = fetch_file(run, &url, ResourceKind::Arc, &known).await?;
        if response.as_ref().is_some_and(FetchedResponse::is_not_modified) {
            state.delta = Some(known);
            continue;
        }
        let said = response.as_ref().filter(|response| response.is_success());
        let said = said.and_then(|response| summarize(&run.page_policy, response).ok());
        let said = said.filter(|said| said.continues(day, state.until));
        let (Some(response), Some(said)) = (&response, said) else {
            for response in response.iter().chain(changes.iter().map(|(_, response, _)| response)) {
                discard(response);
            }
            return Ok(DeltaOutcome::Gap);
        };
        state.delta = Some(response.validators.clone());
        state.until = state.until.max(said.until);
        changes.push((url, response.clone(), said.sorted));
    }
    let is_behind = changed.is_some_and(|changed| state.until.is_none_or(|until| until < changed));
    if is_behind || (has_new_date && changes.is_empty()) {
        for (_, response, _) in &changes {
            discard(response);
        }
        return Ok(DeltaOutcome::Gap);
    }
    state.day = last;
    let has_changed = !changes.is_empty();
    if has_changed {
        state.version = version;
    }
    for (url, response, sorted) in changes {
        sorted.report(run, &url);
        let mut entries = ArcEntryReader::open(&response)
            .map_err(|error| read_error(&run.context, &url, error))?;
        let page_policy = run.page_policy.clone();
        let mut own = entries.by_ref().filter(|entry| page_policy.is_site_url(entry.url.key()));
        run.context.store.merge_arc(run.context.lease_guard.lease(), &mut own)?;
        entries.finish().map_err(|error| read_error(&run.context, &url, error))?;
        discard(&response);
    }
    run.state.arc = Some(state);
    Ok(if has_changed { DeltaOutcome::Changed } else { DeltaOutcome::Unchanged })
}

/// Returns all days from `first` to `last`; `None` if there are more than `MOST_DAYS`
/// between them, or if `last` is earlier.
fn days(first: &str, last: &str) -> Option<Vec<String>> {
    let (first, last) = (delta::parse_day(first)?, delta::parse_day(last)?);
    let n_days = last.seconds_since(first) / DAY;
    let day = |n| delta::format_day(first.plus_seconds(n * DAY));
    (0..=MOST_DAYS).contains(&n_days).then(|| (0..=n_days).map(day).collect())
}

/// Sends a HEAD request for the whole ARC sitemap. A failure is not reported: either the
/// next request to the host fails too, or the failure has no consequence.
async fn fetch_head(
    context: &SiteContext<'_>,
    url: &str,
    known: &Validators,
) -> Option<FetchedResponse> {
    let (site, known) = (Some(context.site.clone()), known.clone());
    let address = Url::parse(url).ok()?;
    let request = Request {
        method: Method::Head,
        site,
        validators: known,
        ..Request::new(address, ResourceKind::Arc)
    };
    context.client.fetch(&request).await.ok()
}

/// Returns the current validators of the whole ARC sitemap, by a HEAD request.
async fn fetch_version(context: &SiteContext<'_>, url: &str) -> Option<Validators> {
    let response = fetch_head(context, url, &Validators::default()).await?;
    Some(response.validators).filter(|validators| response.status == 200 && !validators.is_empty())
}

/// Requests the pointer file, which says when the ARC sitemap last changed.
///
/// If the first known date of the pointer is older than the stored entries, the pointer is
/// useless: the site does not update it together with the sitemap.
async fn fetch_pointer(
    run: &mut SyncRun<'_>,
    sitemap: &str,
    state: &ArcState,
) -> Result<PointerState, SyncError> {
    let known = match &state.pointer {
        PointerState::Useless => return Ok(PointerState::Useless),
        PointerState::Unknown => Validators::default(),
        PointerState::Known(_, validators) => validators.clone(),
    };
    let Some(url) = sitemap.strip_suffix(".json").map(|stem| format!("{stem}.jsonld")) else {
        return Ok(PointerState::Useless);
    };
    // The request uses the size limit of an ARC policy for the pointer.
    let Some(response) = fetch_file(run, &url, ResourceKind::Policy, &known).await? else {
        return Ok(PointerState::Unknown);
    };
    if response.is_not_modified() {
        return Ok(state.pointer.clone());
    }
    let text = Some(&response).filter(|response| response.is_success());
    let text = text
        .and_then(|response| response.decoded_body(ResourceKind::Policy).ok())
        .unwrap_or_default();
    let changed = match rutter_arc::pointer::read(text.as_slice(), &mut ()) {
        Ok(JsonLdFile::Pointer(pointer)) if pointer.json == sitemap => pointer.modified,
        _ => None,
    };
    let is_useful = |changed: &Timestamp| {
        state.pointer.date().is_some() || state.until.is_some_and(|until| until <= *changed)
    };
    Ok(match changed.filter(is_useful) {
        Some(changed) => PointerState::Known(changed, response.validators),
        None => PointerState::Useless,
    })
}

async fn sync_spxi(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    url: &str,
    discovered: &mut DiscoveredEntries,
) -> Result<(), SyncError> {
    let bytes = match discovered.take_spxi(url) {
        Some(bytes) => bytes,
        None => {
            let known = discovery.cache.files.get(url).map(|file| file.validators.clone());
            let Some(known) = known else { return Ok(()) };
            let Some(response) = fetch_file(run, url, ResourceKind::SpxiIndex, &known).await?
            else {
                return Ok(());
            };
            if response.is_not_modified() {
                return Ok(());
            }
            if !response.is_success() {
                discovery.cache.files.remove(url);
                if matches!(response.status, 404 | 410) {
                    run.context.store.replace_entities(run.context.lease_guard.lease(), &[])?;
                    run.report.entities = Some(0);
                }
                return Ok(());
            }
            if let Some(file) = discovery.cache.files.get_mut(url) {
                file.validators = response.validators.clone();
                file.requested = run.context.now;
            }
            response.decoded_body(ResourceKind::SpxiIndex).unwrap_or_default()
        }
    };
    let mut findings = Findings::new(Strictness::Lenient);
    let index = match rutter_spxi::read_index(&bytes, &mut findings) {
        Ok(index) => index,
        Err(refusal) => {
            run.report.add_problem(url, ProblemKind::Integrity, refusal.to_string());
            discovery.cache.files.remove(url);
            return Ok(());
        }
    };
    run.report.add_findings(url, &findings);
    // Entities of other sites are ignored, because a site can describe only its own
    // entities (D88).
    let is_site_url = |entity: &rutter_spxi::Entity| {
        entity.id.as_deref().is_none_or(|id| run.page_policy.is_site_url(id))
    };
    let entities: Vec<_> = index.entities.iter().filter(|it| is_site_url(it)).cloned().collect();
    run.context.store.replace_entities(run.context.lease_guard.lease(), &entities)?;
    run.report.entities = Some(entities.len() as u64);
    Ok(())
}

/// Requests a file with its known validators; returns `None` if the file cannot be fetched
/// now.
async fn fetch_file(
    run: &mut SyncRun<'_>,
    url: &str,
    what: ResourceKind,
    known: &Validators,
) -> Result<Option<FetchedResponse>, SyncError> {
    let Ok(address) = Url::parse(url) else { return Ok(None) };
    // Each URL has its own spool file, because several deltas are kept at the same time.
    let spool = (what == ResourceKind::Arc).then(|| run.context.spool_dir.beside(url));
    let site = Some(run.context.site.clone());
    let request = Request { validators: known.clone(), site, spool, ..Request::new(address, what) };
    match run.context.client.fetch(&request).await {
        Ok(response) => {
            run.context.traffic.add_bytes(response.wire_bytes);
            Ok(Some(response))
        }
        Err(error) => {
            if let FailureCause::Spool(_) = error.cause {
                return Err(error.into());
            }
            run.add_fetch_problem(&error)?;
            Ok(None)
        }
    }
}

type EntryReader = rutter_arc::ArcReader<Box<dyn Read>>;

/// Opens a fetched ARC sitemap or delta for reading.
fn open(response: &FetchedResponse) -> Result<EntryReader, ArcError> {
    let coding = response.fields.content_encoding.as_deref();
    let most = ResourceKind::Arc.size_limits().decoded;
    let bytes = || -> io::Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = match &response.body {
            ResponseBody::Spooled { path, .. } => Box::new(File::open(path)?),
            ResponseBody::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            ResponseBody::Absent => Box::new(io::empty()),
        };
        decode::open(raw, coding, most).map_err(io::Error::other)
    };
    let mut start = Vec::new();
    bytes()?.take(64 << 10).read_to_end(&mut start)?;
    let form = rutter_arc::detect_format(&start).unwrap_or(rutter_arc::ArcFormat::Json);
    rutter_arc::open_sitemap(bytes()?, form, Limits::DEFAULT)
}

/// Summary of an ARC sitemap or delta that was read to its end.
struct ArcSummary {
    said: ParsedArc,
    sorted: EntryCounts,
    /// Start and end of the time span that a delta covers.
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl ArcSummary {
    /// Returns whether the delta of `day` contains every change after `known`. That is true
    /// if the delta starts at the beginning of the day or earlier, or not after `known`.
    fn continues(&self, day: &str, known: Option<Timestamp>) -> bool {
        self.since.is_none_or(|since| Some(since) <= delta::parse_day(day).max(known))
    }
}

/// Reads an ARC sitemap or delta to its end, and returns its metadata and numbers of
/// entries.
fn summarize(page_policy: &PagePolicy, response: &FetchedResponse) -> Result<ArcSummary, ArcError> {
    let mut findings = Findings::new(Strictness::Lenient);
    let (mut said, mut sorted) = (ParsedArc::default(), EntryCounts::default());
    let sink: &mut dyn FindingSink = &mut findings;
    let mut reader = open(response)?;
    let mut count = |entry: ArcEntry<'_>| {
        said.count(&entry);
        sorted.count(page_policy, &entry);
    };
    while reader.next(sink, &mut count)?.is_some() {}
    let receipt = reader.finish(sink)?;
    let (since, until) = (receipt.head.since, receipt.head.until);
    Ok(ArcSummary { said: said.finish(receipt), sorted, since, until })
}

/// Iterator over the entries of an ARC sitemap or delta that is already validated.
struct ArcEntryReader {
    reader: EntryReader,
    findings: Findings,
    error: Option<ArcError>,
}

impl ArcEntryReader {
    fn open(response: &FetchedResponse) -> Result<Self, ArcError> {
        let (reader, findings) = (open(response)?, Findings::new(Strictness::Lenient));
        Ok(Self { reader, findings, error: None })
    }

    fn finish(self) -> Result<(), ArcError> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Iterator for ArcEntryReader {
    type Item = ArcEntry<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.next(&mut self.findings, |entry| entry.into_owned()) {
            Ok(entry) => entry,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

/// Deletes the spool file of a response.
fn discard(response: &FetchedResponse) {
    if let ResponseBody::Spooled { path, .. } = &response.body {
        SpoolDir::discard(path);
    }
}

/// Returns the error for a spool file that cannot be read again.
fn spool_error(context: &SiteContext<'_>, url: &str, error: io::Error) -> SyncError {
    SyncError::Spool(context.spool_dir.beside(url), error)
}

fn read_error(context: &SiteContext<'_>, url: &str, error: ArcError) -> SyncError {
    spool_error(context, url, io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D60
    fn days_are_in_utc() {
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(delta::format_day(at("2026-05-01T23:59:59Z")), "2026-05-01");
        assert_eq!(delta::parse_day("2026-05-01"), Some(at("2026-05-01T00:00:00Z")));
    }
}
