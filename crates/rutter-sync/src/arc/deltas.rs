//! Applies the daily deltas of an ARC sitemap, and finds out whether the sitemap changed (D53, D60).

use rutter_arc::delta;
use rutter_arc::pointer::JsonLdFile;
use rutter_fetch::{FetchedResponse, Request, RequestMethod, ResourceKind, Url, Validators};
use rutter_page::Timestamp;

use super::entries::{ArcEntryReader, EntryCounts, discard, summarize};
use super::fetch::{fetch_file, read_error};
use crate::context::SiteContext;
use crate::discover::ArcOffer;
use crate::error::SyncError;
use crate::run::SyncRun;
use crate::state::site_state::{ArcState, PointerState};

/// Maximum number of days between the first and the last delta that a sync reads.
pub(super) const MOST_DAYS: i64 = 14;

pub(super) const DAY: i64 = 86_400;

/// Seconds after which the whole sitemap is requested again, even if pointer and deltas
/// show no change.
pub(super) const WHOLE_EVERY: i64 = 30 * DAY;

pub(super) enum DeltaOutcome {
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
pub(super) async fn follow(
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
    let Some(files) = read_deltas(run, template, &days, &mut state).await? else {
        return Ok(DeltaOutcome::Gap);
    };
    let is_behind = changed.is_some_and(|changed| state.until.is_none_or(|until| until < changed));
    if is_behind || (has_new_date && files.is_empty()) {
        for file in &files {
            discard(&file.response);
        }
        return Ok(DeltaOutcome::Gap);
    }
    state.day = last;
    let has_changed = !files.is_empty();
    if has_changed {
        state.version = version;
    }
    store_deltas(run, files)?;
    run.state.arc = Some(state);
    Ok(if has_changed { DeltaOutcome::Changed } else { DeltaOutcome::Unchanged })
}

/// A daily delta that was read to its end.
struct DeltaFile {
    url: String,
    response: FetchedResponse,
    counts: EntryCounts,
}

/// Requests the deltas of all days, and notes their versions in `state`; `None` if one is
/// missing, invalid or leaves a gap. Every delta is read to its end before the first one is
/// stored, so that a gap leaves no partial update.
async fn read_deltas(
    run: &mut SyncRun<'_>,
    template: &str,
    days: &[String],
    state: &mut ArcState,
) -> Result<Option<Vec<DeltaFile>>, SyncError> {
    let mut files: Vec<DeltaFile> = Vec::new();
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
            response.iter().chain(files.iter().map(|file| &file.response)).for_each(discard);
            return Ok(None);
        };
        state.delta = Some(response.validators.clone());
        state.until = state.until.max(said.until);
        files.push(DeltaFile { url, response: response.clone(), counts: said.sorted });
    }
    Ok(Some(files))
}

/// Stores the entries of deltas, and deletes the files.
fn store_deltas(run: &mut SyncRun<'_>, files: Vec<DeltaFile>) -> Result<(), SyncError> {
    for DeltaFile { url, response, counts } in files {
        counts.report(run, &url);
        let mut entries = ArcEntryReader::open(&response)
            .map_err(|error| read_error(&run.context, &url, error))?;
        let page_policy = run.page_policy.clone();
        let mut own = entries.by_ref().filter(|entry| page_policy.is_site_url(entry.url.key()));
        run.context.store.merge_arc(run.context.lease_guard.lease(), &mut own)?;
        entries.finish().map_err(|error| read_error(&run.context, &url, error))?;
        discard(&response);
    }
    Ok(())
}

/// Returns all days from `first` to `last`; `None` if there are more than `MOST_DAYS`
/// between them, or if `last` is earlier.
pub(super) fn days(first: &str, last: &str) -> Option<Vec<String>> {
    let (first, last) = (delta::parse_day(first)?, delta::parse_day(last)?);
    let n_days = last.seconds_since(first) / DAY;
    let day = |n| delta::format_day(first.plus_seconds(n * DAY));
    (0..=MOST_DAYS).contains(&n_days).then(|| (0..=n_days).map(day).collect())
}

/// Sends a HEAD request for the whole ARC sitemap. A failure is not reported: either the
/// next request to the host fails too, or the failure has no consequence.
pub(super) async fn fetch_head(
    context: &SiteContext<'_>,
    url: &str,
    known: &Validators,
) -> Option<FetchedResponse> {
    let (site, known) = (Some(context.site.clone()), known.clone());
    let address = Url::parse(url).ok()?;
    let request = Request {
        method: RequestMethod::Head,
        site,
        validators: known,
        ..Request::new(address, ResourceKind::Arc)
    };
    context.client.fetch(&request).await.ok()
}

/// Returns the current validators of the whole ARC sitemap, by a HEAD request.
pub(super) async fn fetch_version(context: &SiteContext<'_>, url: &str) -> Option<Validators> {
    let response = fetch_head(context, url, &Validators::default()).await?;
    Some(response.validators).filter(|validators| response.status == 200 && !validators.is_empty())
}

/// Requests the pointer file, which says when the ARC sitemap last changed.
///
/// If the first known date of the pointer is older than the stored entries, the pointer is
/// useless: the site does not update it together with the sitemap.
pub(super) async fn fetch_pointer(
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
