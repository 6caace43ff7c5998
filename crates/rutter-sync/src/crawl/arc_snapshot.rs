//! Stores pages from the snapshots in their ARC entries, without requesting the pages
//! (ARC-058).

use rutter_store::{NoteKind, NoteValue, UrlNote, WithheldReason};

use super::crawler::CrawlRun;
use crate::crawl::page;
use crate::crawl::page_writer::WriteCommand;
use crate::error::SyncError;
use crate::report::left_out::LeftOutReason;
use crate::state::url_note::known_note;

impl CrawlRun<'_, '_, '_> {
    /// Stores the pages whose ARC entries have snapshots (ARC-058).
    pub(super) async fn store_arc_snapshots(&mut self) -> Result<(), SyncError> {
        let mut after: Option<String> = None;
        while let Some(entries) = self.run.context.arc_entries(&mut after)? {
            for entry in entries.iter().filter(|entry| entry.ai_snapshot.is_some()) {
                let key = entry.url.key();
                if self.collection_urls.has(key) {
                    continue;
                }
                match self.run.page_policy.judge(key) {
                    None => {}
                    Some(WithheldReason::Robots) => {
                        self.run.report.leave_out(key, LeftOutReason::ROBOTS);
                        continue;
                    }
                    Some(WithheldReason::Scope) => {
                        self.run.report.leave_out(key, LeftOutReason::SCOPE);
                        continue;
                    }
                    Some(_) => {
                        self.run.report.leave_out(key, LeftOutReason::CONSENT);
                        continue;
                    }
                }
                if let Some(page) = self.snapshot(entry)? {
                    self.workers.write(WriteCommand::Page(Box::new(page))).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns the page that the snapshot of an ARC entry describes; `None` if the replica
    /// has the same page.
    fn snapshot(
        &self,
        entry: &rutter_arc::ArcEntry<'_>,
    ) -> Result<Option<page::ExtractedPage>, SyncError> {
        let (run, store) = (&*self.run, &self.run.context.store);
        let key = entry.url.key();
        let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
        let known = known_note(store.as_ref(), NoteKind::ArcChecksum, key)?.map(|note| note.value);
        let row = run.context.row(key)?;
        if run.context.damaged_rows.has(key) {
            return Ok(None);
        }
        let has_content = row.as_ref().is_some_and(|row| row.withheld.is_none());
        if has_content
            && checksum.is_some()
            && known == Some(NoteValue::ArcChecksum(checksum.clone()))
        {
            return Ok(None);
        }
        let page = page::of_snapshot(entry, row.as_ref(), run.context.now);
        Ok(page.map(|page| {
            let note = UrlNote::new(key, NoteValue::ArcChecksum(checksum), run.context.now);
            page::ExtractedPage { records: note.into(), ..page }
        }))
    }
}
