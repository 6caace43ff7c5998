//! Exports the pages of a site as an SCP snapshot.
//!
//! A line without errors is written byte for byte, so that the state equals the state at the
//! publisher. Other pages are corrected: URLs are encoded as URIs, unsafe URLs are removed
//! (SCP-188), and blocks are merged to the limit of collections (D36). Rejects an export without
//! pages.

use std::borrow::Cow;
use std::path::Path;

use rutter_finding::{Report, Severity, Strictness};
use rutter_page::{PageLimits, PageReader, ReaderView, Timestamp};
use rutter_scp::{
    CollectionHeader, CollectionKind, CollectionWriter, FormatVersion, Limits, OutputTarget,
    StateTracking, canonical, collection_id, is_name,
};

use super::{PageColumns, PageSink};
use crate::commands::counted;
use crate::output::Output;

pub(super) struct CollectionSink {
    writer: CollectionWriter,
    mended: u64,
    left_out: u64,
}

impl CollectionSink {
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let writer = CollectionWriter::new(folder, StateTracking::State, Limits::SPEC)?;
        Ok(Self { writer, mended: 0, left_out: 0 })
    }

    pub(super) fn finish(
        self,
        section: &str,
        generated: Timestamp,
        target: OutputTarget,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(is_name(section), "--section: not a valid name of a collection");
        if 0 < self.mended {
            out.say(format_args!("{} corrected", counted(self.mended, "page")));
        }
        if 0 < self.left_out {
            let pages = counted(self.left_out, "page");
            out.say(format_args!("{pages} not exported: no content"));
        }
        let spooled = self.writer.close()?;
        anyhow::ensure!(0 < spooled.pages(), "no pages to export");
        let kind = CollectionKind::Snapshot;
        let header = CollectionHeader {
            id: collection_id(section, kind, generated),
            section: section.to_owned(),
            kind,
            generated,
            version: FormatVersion::CURRENT,
            checksum: None,
            chain: spooled.snapshot_chain(),
            extra: Vec::new(),
        };
        spooled.finish(header, &[target])?;
        Ok(())
    }
}

impl PageSink for CollectionSink {
    fn page(&mut self, columns: &PageColumns<'_>) -> anyhow::Result<()> {
        let Some(line) = columns.line else { return Ok(()) };
        let Some(view) = ReaderView::of(line)?.filter(|view| !view.page.content.is_empty()) else {
            self.left_out += 1;
            return Ok(());
        };
        let most = Limits::SPEC.parts.blocks;
        let is_as_stored = matches!(view.line(), Cow::Borrowed(_));
        if is_as_stored && view.page.content.len() <= most && is_accepted(line)? {
            self.writer.line(&columns.row.url, line.as_bytes())?;
            return Ok(());
        }
        self.mended += 1;
        let mut page = canonical(view.page);
        if most < page.content.len() {
            page.content = rutter_extract::merged(std::mem::take(&mut page.content), most);
        }
        self.writer.page(&page)?;
        Ok(())
    }
}

/// Returns whether the line of a page has no errors.
fn is_accepted(line: &str) -> anyhow::Result<bool> {
    let mut report = Report::new(Strictness::Strict);
    let page = PageReader::new(PageLimits::SPEC).read(line, 1, &mut report)?;
    Ok(page.is_some() && report.count(Severity::Error) == 0)
}
