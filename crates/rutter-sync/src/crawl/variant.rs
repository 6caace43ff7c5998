//! Pages that name another URL of theirs as canonical.
//!
//! Input: a page as it was read and its canonical URL. Output: an alias where
//! the canonical page is stored with the same content, else the page itself: a
//! canonical URL may redirect back, be missing, or have other content. The page
//! waits in memory until the canonical URL was asked for, within bounds; beyond
//! them it is decided at once.

use rutter_store::{Validator, Withheld};
use tokio::task::JoinSet;

use super::{Asked, Walk, why_left};
use crate::crew::Variant;
use crate::damage::remembered;
use crate::error::VisitError;
use crate::keys::number;
use crate::mark::{Mark, is_recent};
use crate::variants;
use crate::visit::Visit;
use crate::writer::Write;

/// Pages that wait, and their bytes.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 16 << 20;

impl Walk<'_, '_, '_> {
    /// Asks for the canonical URL of a page; the page waits for it.
    pub(super) async fn take_variant(
        &mut self,
        variant: Box<Variant>,
        asking: &mut JoinSet<Asked>,
    ) -> Result<(), VisitError> {
        let (key, of) = (variant.page.key.clone(), variant.of.as_str());
        let visit = &*self.visit;
        let moved = remembered(visit.visitor.store.as_ref(), &Mark::Moved.of(of))?;
        let moved = moved.filter(|mark| is_recent(visit.now, mark));
        let leads_here = moved.is_some_and(|mark| mark.etag.as_deref() == Some(&key));
        let is_ours = visit.gate.is_ours(of) && visit.gate.scope().has_url(of);
        if is_ours && !leads_here {
            self.frontier.add(of, None, None);
        }
        let (waiting, bytes) = &mut self.variants;
        let size = variant.page.line.len();
        if MOST <= waiting.len() || MOST_BYTES < bytes.saturating_add(size) {
            return self.settle(variant, asking).await;
        }
        *bytes += size;
        let had_row = variant.failed.had_row;
        if waiting.insert(key, variant).is_some() && !had_row {
            // It was read twice, as its canonical URL leads back to it.
            self.n_new = self.n_new.saturating_sub(1);
        }
        Ok(())
    }

    /// Decides about all pages that wait, now that everything else is done;
    /// tells whether there were any.
    pub(super) async fn settle_variants(
        &mut self,
        asking: &mut JoinSet<Asked>,
    ) -> Result<bool, VisitError> {
        let had_some = !self.variants.0.is_empty();
        // First those that wait for no other page that waits.
        let is_first = |variant: &Variant, walk: &Self| !walk.variants.0.contains_key(&variant.of);
        let (first, others): (Vec<String>, Vec<String>) =
            self.variants.0.keys().cloned().partition(|key| {
                self.variants.0.get(key).is_some_and(|variant| is_first(variant, self))
            });
        for key in first.into_iter().chain(others) {
            if let Some(variant) = self.variants.0.remove(&key) {
                self.settle(variant, asking).await?;
            }
        }
        self.variants.1 = 0;
        Ok(had_some)
    }

    async fn settle(
        &mut self,
        variant: Box<Variant>,
        asking: &mut JoinSet<Asked>,
    ) -> Result<(), VisitError> {
        let Variant { page, of, depth, failed } = *variant;
        let is_open = self.variants.0.contains_key(&of);
        let stored = self.stored_content(&of)?;
        if !is_open && stored == Some(page.content) {
            return self.take_failed(failed, depth).await;
        }
        if stored.is_some() {
            // Where no list names the canonical page, this one does.
            let (url, etag) = (Mark::Why.of(&page.key), Some(failed.why.key()));
            let mark = Validator { url, etag, last_modified: None, checked: self.visit.now };
            self.crew.write(Write::Mark(vec![mark])).await?;
        }
        self.contents.extend(page.comparable());
        match page.twin.clone() {
            Some(twin) => self.ask_twin(page, &twin, asking).await,
            None => self.keep_page(page).await,
        }
    }

    /// Takes the canonical page of a stored page that did not change for listed.
    pub(super) fn list_canonical(&mut self, key: &str) -> Result<(), VisitError> {
        let why = why_left(self.visit, key)?;
        if let Some(of) = why.alias_of().filter(|of| !self.frontier.has(of))
            && self.visit.row(of)?.is_some()
        {
            self.frontier.add(of, None, None);
        }
        Ok(())
    }

    /// The content of a page that is stored, as far as is known by now.
    pub(super) fn stored_content(&self, key: &str) -> Result<Option<u64>, VisitError> {
        if self.gone.contains(key) || self.closed.contains(key) {
            return Ok(None);
        }
        if let Some(content) = self.contents.get(&number(key)) {
            return Ok(Some(*content));
        }
        let line = match self.visit.visitor.store.line(key) {
            // Nothing to compare with; the rest of the site is synced.
            Err(rutter_store::QueryError::Storage(rutter_store::Storage::Damaged(_))) => None,
            line => line?,
        };
        Ok(line.as_deref().and_then(variants::content_of_line))
    }
}

/// Whether an address was left out as an alias of a page that is not stored
/// (any more).
pub(super) fn is_widowed(visit: &Visit<'_>, key: &str) -> Result<bool, VisitError> {
    let why = why_left(visit, key)?;
    let Some(of) = why.alias_of() else { return Ok(false) };
    let is_kept =
        visit.row(of)?.is_some_and(|row| matches!(row.withheld, None | Some(Withheld::Shell)));
    Ok(!is_kept)
}
