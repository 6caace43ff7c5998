//! Stores the list of URLs that a sync left out, for `rutter list --left-out`.

use rutter_store::{NoteKind, UrlNote};

use crate::error::SyncError;
use crate::limits::BATCH_ROWS;
use crate::report::left_out::{LeftOutReason, LeftOutUrl};
use crate::run::SyncRun;

impl SyncRun<'_> {
    /// Stores the left-out URLs of this sync. An entry of an earlier sync is deleted if this
    /// sync covered every URL (`is_all`), if the replica has the page by now, or if the entry
    /// comes from an ARC sitemap that this sync read again.
    pub(crate) fn store_left_out(&self, is_all: bool) -> Result<(), SyncError> {
        let (store, lease) = (&self.context.store, self.context.lease_guard.lease());
        let urls = &self.report.left_out_urls;
        let is_arc_read = self.report.arc.is_some();
        let mut stale = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let kind = NoteKind::LeftOut;
            let known =
                store.url_notes(self.context.publisher, kind, after.as_deref(), BATCH_ROWS)?;
            let Some(last) = known.last() else { break };
            let last = match last {
                Ok(note) => &note.url,
                Err(damaged) => &damaged.url,
            };
            after = Some(last.clone());
            for note in known {
                let LeftOutUrl { url, why, .. } = match note {
                    Ok(note) => LeftOutUrl::of_note(note),
                    Err(damaged) => {
                        stale.push(damaged.url);
                        continue;
                    }
                };
                let is_old_arc = is_arc_read && why == LeftOutReason::ARC_OTHER_SITE;
                let is_over = || {
                    Ok::<_, SyncError>(is_all || is_old_arc || self.context.row(&url)?.is_some())
                };
                if !urls.contains_key(&url) && is_over()? {
                    stale.push(url);
                }
            }
        }
        for batch in stale.chunks(BATCH_ROWS) {
            store.delete_url_notes(lease, NoteKind::LeftOut, batch)?;
        }
        let notes: Vec<UrlNote> =
            urls.iter().map(|(key, why)| why.note(key, self.context.now)).collect();
        for batch in notes.chunks(BATCH_ROWS) {
            store.store_url_records(lease, &batch.to_vec().into())?;
        }
        Ok(())
    }
}
