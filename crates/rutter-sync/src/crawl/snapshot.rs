//! Pages of a crawl that need no request: the ARC sitemap has a snapshot of
//! them (ARC-058).

use rutter_store::{Validator, Withheld};

use super::Walk;
use crate::damage::remembered;
use crate::error::VisitError;
use crate::left_out::LeftOut;
use crate::mark::Mark;
use crate::page;
use crate::urls;
use crate::writer::Write;

impl Walk<'_, '_, '_> {
    /// Pages whose ARC entries have snapshots need no request (ARC-058).
    pub(super) async fn take_snapshots(&mut self) -> Result<(), VisitError> {
        let mut after: Option<String> = None;
        while let Some(entries) = urls::entries(self.visit, &mut after)? {
            for entry in entries.iter().filter(|entry| entry.ai_snapshot.is_some()) {
                let key = entry.url.key();
                if self.healthy.has(key) {
                    continue;
                }
                match self.visit.gate.judge(key) {
                    None => {}
                    Some(Withheld::Robots) => {
                        self.visit.report.leave_out(key, LeftOut::ROBOTS);
                        continue;
                    }
                    Some(Withheld::Scope) => {
                        self.visit.report.leave_out(key, LeftOut::SCOPE);
                        continue;
                    }
                    Some(_) => {
                        self.visit.report.leave_out(key, LeftOut::CONSENT);
                        continue;
                    }
                }
                if let Some(page) = self.snapshot(entry)? {
                    self.crew.write(Write::Page(Box::new(page))).await?;
                }
            }
        }
        Ok(())
    }

    /// The page of a snapshot, where it is not the one that is here.
    fn snapshot(&self, entry: &rutter_arc::Entry<'_>) -> Result<Option<page::Ready>, VisitError> {
        let (visit, store) = (&*self.visit, &self.visit.visitor.store);
        let key = entry.url.key();
        let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
        let mark = remembered(store.as_ref(), &Mark::Arc.of(key))?.and_then(|mark| mark.etag);
        let row = visit.row(key)?;
        if visit.damaged_rows.has(key) {
            return Ok(None);
        }
        let has_words = row.as_ref().is_some_and(|row| row.withheld.is_none());
        if has_words && checksum.is_some() && mark == checksum {
            return Ok(None);
        }
        let page = page::of_snapshot(entry, row.as_ref(), visit.now);
        Ok(page.map(|page| {
            let url = Mark::Arc.of(key);
            let mark = Validator { url, etag: checksum, last_modified: None, checked: visit.now };
            page::Ready { marks: vec![mark], ..page }
        }))
    }
}
