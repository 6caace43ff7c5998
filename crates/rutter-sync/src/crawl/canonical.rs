//! Handles pages that name another URL of the site as canonical.
//!
//! Input: an extracted page and its canonical URL. Output: an alias if the canonical page
//! is stored with the same content; otherwise the page itself, because the canonical URL
//! may redirect back, be missing, or have other content. The page waits in memory until its
//! canonical URL was requested. If too many pages wait already, the decision is made at
//! once.

use rutter_store::{NoteValue, UrlNote, WithheldReason};
use tokio::task::JoinSet;

use super::crawler::{CrawlRun, PageResponse};
use crate::context::SiteContext;
use crate::crawl::page_writer::WriteCommand;
use crate::crawl::variants;
use crate::crawl::waiting_pages::{MOST, MOST_BYTES};
use crate::crawl::worker_pool::PossibleAlias;
use crate::error::SyncError;
use crate::state::url_note::{is_recent, redirect_target};
use crate::state::url_set::stable_hash;

impl CrawlRun<'_, '_, '_> {
    /// Adds the canonical URL of a page to the frontier; the page waits until that URL was
    /// requested.
    pub(super) async fn wait_for_canonical(
        &mut self,
        variant: Box<PossibleAlias>,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<(), SyncError> {
        let (key, of) = (variant.page.key.clone(), variant.of.as_str());
        let run = &*self.run;
        let moved = redirect_target(run.context.store.as_ref(), of)?;
        let moved = moved.filter(|(_, noted)| is_recent(run.context.now, *noted));
        let leads_here = moved.is_some_and(|(target, _)| target == key);
        let is_site_url = run.page_policy.is_site_url(of) && run.page_policy.scope().has_url(of);
        if is_site_url && !leads_here {
            self.frontier.add(of, None, None);
        }
        let waiting = &mut self.waiting;
        let size = variant.page.line.len();
        if MOST <= waiting.pages.len() || MOST_BYTES < waiting.bytes.saturating_add(size) {
            return self.settle(variant, in_flight).await;
        }
        waiting.bytes += size;
        let had_row = variant.failed.had_row;
        if waiting.pages.insert(key, variant).is_some() && !had_row {
            // The page was extracted twice, because its canonical URL redirects to the
            // page.
            self.progress.n_new = self.progress.n_new.saturating_sub(1);
        }
        Ok(())
    }

    /// Decides about all waiting pages when no other URL is left to fetch. Returns whether
    /// any page was waiting.
    pub(super) async fn settle_variants(
        &mut self,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<bool, SyncError> {
        let had_some = !self.waiting.pages.is_empty();
        // Pages whose canonical page is not waiting itself are decided first.
        let is_first =
            |variant: &PossibleAlias, crawl: &Self| !crawl.waiting.pages.contains_key(&variant.of);
        let (first, others): (Vec<String>, Vec<String>) =
            self.waiting.pages.keys().cloned().partition(|key| {
                self.waiting.pages.get(key).is_some_and(|variant| is_first(variant, self))
            });
        for key in first.into_iter().chain(others) {
            if let Some(variant) = self.waiting.pages.remove(&key) {
                self.settle(variant, in_flight).await?;
            }
        }
        self.waiting.bytes = 0;
        Ok(had_some)
    }

    async fn settle(
        &mut self,
        variant: Box<PossibleAlias>,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<(), SyncError> {
        let PossibleAlias { page, of, depth, failed } = *variant;
        let is_open = self.waiting.pages.contains_key(&of);
        let stored = self.stored_content(&of)?;
        if !is_open && stored == Some(page.content) {
            return self.handle_no_page(failed, depth).await;
        }
        if stored.is_some() {
            // The note with the canonical URL keeps the canonical page listed, even if no
            // list contains it.
            let value = NoteValue::NoPageReason(failed.why.key());
            let note = UrlNote::new(&page.key, value, self.run.context.now);
            self.workers.write(WriteCommand::Records(note.into())).await?;
        }
        self.found.contents.extend(page.comparable());
        match page.twin.clone() {
            Some(twin) => self.request_twin(page, &twin, in_flight).await,
            None => self.keep_page(page).await,
        }
    }

    /// Adds the canonical page of an unchanged page to the frontier, as if a list contained
    /// it.
    pub(super) fn list_canonical(&mut self, key: &str) -> Result<(), SyncError> {
        let why = self.run.context.reason_left_out(key)?;
        if let Some(of) = why.alias_of().filter(|of| !self.frontier.has(of))
            && self.run.context.row(of)?.is_some()
        {
            self.frontier.add(of, None, None);
        }
        Ok(())
    }

    /// Returns the content hash of a stored page; `None` if the page is not stored, missing
    /// at the site or damaged.
    pub(super) fn stored_content(&self, key: &str) -> Result<Option<u64>, SyncError> {
        if self.found.gone.contains(key) || self.found.closed.contains(key) {
            return Ok(None);
        }
        if let Some(content) = self.found.contents.get(&stable_hash(key)) {
            return Ok(Some(*content));
        }
        let line = match self.run.context.store.line(key) {
            // Damaged content cannot be compared, but must not stop the sync of the other
            // pages.
            Err(rutter_store::QueryError::Storage(rutter_store::StorageError::Damaged(_))) => None,
            line => line?,
        };
        Ok(line.as_deref().and_then(variants::content_of_line))
    }
}

/// Returns whether a URL was left out as an alias of a page that the replica no longer has
/// with content.
pub(super) fn has_lost_canonical(context: &SiteContext<'_>, key: &str) -> Result<bool, SyncError> {
    let why = context.reason_left_out(key)?;
    let Some(of) = why.alias_of() else { return Ok(false) };
    let is_kept = context
        .row(of)?
        .is_some_and(|row| matches!(row.withheld, None | Some(WithheldReason::Shell)));
    Ok(!is_kept)
}
