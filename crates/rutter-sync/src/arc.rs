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

mod deltas;
mod entries;
mod fetch;

use rutter_arc::{ArcEntry, delta};
use rutter_fetch::ResourceKind;
use rutter_finding::{Report as Findings, Strictness};

use self::deltas::{DeltaOutcome, follow};
use self::entries::{ArcEntryReader, ArcSummary, EntryCounts, discard, summarize};
use self::fetch::{fetch_file, read_error, spool_error};
use crate::context::SiteContext;
use crate::discover::{ArcOffer, Discovery, LookupOutcome, ParsedArc, ParsedFile};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::report::ProblemKind;
use crate::run::SyncRun;
use crate::state::site_state::{ArcState, PointerState};

/// Minimum number of pages from which deltas of a sitemap are used; a sitemap with fewer
/// pages is always read whole.
const WORTH_DELTAS: u64 = 200;
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
