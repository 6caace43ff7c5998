//! Dates a page and renders its line.

use rutter_page::{LineDigest, Page, Timestamp};
use rutter_site::{DateSource, UNKNOWN_DIGEST};

use super::PageReader;
use crate::stages::read::read_job::ReadJob;
use crate::stages::read::{dates, schema_org};

/// A page with its modification date, its line and the digest of the line.
pub(super) struct DatedPage {
    pub(super) page: Page<'static>,
    pub(super) line: Vec<u8>,
    pub(super) digest: LineDigest,
    pub(super) modified: Timestamp,
    /// Source of the modification date; used only for pages that are not in the ledger.
    pub(super) date_source: DateSource,
}

impl PageReader<'_> {
    /// Dates a page. The line of a page depends only on its content and date: if the date in the
    /// ledger gives the published line again, the content is unchanged and the date is kept.
    pub(super) fn date(
        &self,
        job: &ReadJob,
        page: Page<'static>,
        own: Option<Timestamp>,
    ) -> DatedPage {
        let page = rutter_scp::canonical(page);
        let (now, no_authors) = (self.plan.now, self.plan.privacy.no_authors);
        let render = |modified: Timestamp, date_source: DateSource| {
            let schema = page.schema.as_ref().and_then(|schema| {
                schema_org::prepare(schema, schema_org::SchemaRules { modified, no_authors })
            });
            let author = page.author.clone().filter(|_| !no_authors);
            let page = Page { modified, schema, author, ..page.clone() };
            let line = page.to_line().into_bytes();
            let digest = LineDigest::of(&line);
            DatedPage { page, line, digest, modified, date_source }
        };
        let Some(known) = &job.known else {
            let (modified, date_source) = dates::first(dates::DateHints { own, ..job.hints }, now);
            return render(modified, date_source);
        };
        let same = render(known.modified, DateSource::Seen);
        if same.digest == known.digest || known.digest == UNKNOWN_DIGEST {
            return same;
        }
        render(dates::next(known.modified, own, now), DateSource::Seen)
    }
}
