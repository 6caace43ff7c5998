//! Reads pages of a JSON Lines source, which have no HTML.

use rutter_extract::UsageSignals;
use rutter_page::{IntoOwned, Page, SensitiveData};
use rutter_site::{ExclusionReason, PageMetadata};

use super::PageReader;
use crate::arc_entry;
use crate::stages::read::cache_match::CacheMatch;
use crate::stages::read::read_job::{ReadJob, ReadOutcome, ReadPage};
use crate::stages::read::visibility::{VisibilityDecision, find_private_data};

impl PageReader<'_> {
    /// Reads a page of a JSON Lines source.
    pub(super) fn read_line(
        &self,
        job: &ReadJob,
        line: &[u8],
        source: [u8; 32],
        matched: CacheMatch,
    ) -> ReadOutcome {
        // The line was already validated when the source was loaded.
        let page = std::str::from_utf8(line).ok();
        let page = page.and_then(|text| serde_json::from_str::<Page<'_>>(text).ok());
        let Some(page) = page.map(IntoOwned::into_owned) else {
            return ReadOutcome::Failed("the line is not a page object".to_owned());
        };
        let decide = || self.decide_line_visibility(job, &page);
        if let Some(renewed) = self.renew_visibility(job, source, matched, decide) {
            return ReadOutcome::Reevaluated(Box::new(renewed));
        }
        let mut decision = decide();
        let exclusion = decision.exclusion();
        let mut meta = PageMetadata {
            title: page.title.to_string(),
            description: page.description.to_string(),
            exclusion: exclusion.map(|exclusion| exclusion.as_str().to_owned()),
            exclusion_source: decision.source(),
            bytes: line.len() as u64,
            ..PageMetadata::default()
        };
        let own = Some(page.modified);
        let dated_page = self.date(job, page, own);
        if exclusion.is_some() {
            meta.arc = std::mem::take(&mut decision.excluded_fields);
        } else {
            let private = SensitiveData::find_in(&dated_page.page.to_text());
            find_private_data(private, (&dated_page.line, &meta.arc), 0, &mut meta.findings);
            meta.findings.append(&mut decision.findings);
        }
        let mut record = self.record(job, &decision, meta, (source, None, dated_page.digest));
        if exclusion.is_none() {
            record.markdown = dated_page.page.to_markdown().into_bytes();
            record.line = dated_page.line;
        }
        ReadOutcome::Read(Box::new(ReadPage {
            record,
            digest: dated_page.digest,
            modified: dated_page.modified,
            date_source: dated_page.date_source,
            template: None,
            exclusion,
            is_same_source: matched != CacheMatch::Changed,
        }))
    }

    fn decide_line_visibility(&self, job: &ReadJob, page: &Page<'_>) -> VisibilityDecision {
        let is_later = page.published.is_some_and(|published| self.plan.now < published);
        let own = if is_later {
            Some((ExclusionReason::Scheduled, "`published` of the line".to_owned()))
        } else {
            page.content
                .is_empty()
                .then(|| (ExclusionReason::Empty, "the line has no content".to_owned()))
        };
        let exclusions = [job.exclusion, own.as_ref().map(|(exclusion, _)| *exclusion)];
        let mut decision = VisibilityDecision {
            by_url: job.exclusion,
            own,
            excluded_fields: arc_entry::excluded_fields(&UsageSignals::default(), exclusions),
            ..VisibilityDecision::default()
        };
        if let Some(marked) = self.marked.as_ref().filter(|_| decision.exclusion().is_none()) {
            marked.check_line(&job.url, page, &mut decision.findings);
        }
        decision
    }
}
