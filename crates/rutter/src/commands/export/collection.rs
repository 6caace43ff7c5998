//! The pages of a site as a collection that a site could publish.
//!
//! A line that `check` accepts is written byte for byte, so that states equal
//! the publisher's. Any other is written as a reader must see it: URLs as URIs,
//! unsafe URLs out (SCP-188), blocks merged to the limit of collections (D36).

use std::borrow::Cow;
use std::path::Path;

use rutter_finding::{Mode, Report, Severity};
use rutter_page::{Judge, PageLimits, ReaderView, Timestamp};
use rutter_scp::{
    Header, Kind, Limits, Target, Track, Version, Writer, canonical, collection_id, is_name,
};

use super::{Columns, Sink};
use crate::commands::counted;
use crate::output::Output;

pub(super) struct Collection {
    writer: Writer,
    mended: u64,
    left_out: u64,
}

impl Collection {
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let writer = Writer::new(folder, Track::State, Limits::SPEC)?;
        Ok(Self { writer, mended: 0, left_out: 0 })
    }

    pub(super) fn finish(
        self,
        section: &str,
        generated: Timestamp,
        target: Target,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(is_name(section), "--section: no name a collection can carry");
        if 0 < self.mended {
            out.say(format_args!("{} mended", counted(self.mended, "page")));
        }
        if 0 < self.left_out {
            out.say(format_args!("{} without content left out", counted(self.left_out, "page")));
        }
        let spooled = self.writer.close()?;
        anyhow::ensure!(0 < spooled.pages(), "there are no pages to export");
        let kind = Kind::Snapshot;
        let header = Header {
            id: collection_id(section, kind, generated),
            section: section.to_owned(),
            kind,
            generated,
            version: Version::CURRENT,
            checksum: None,
            chain: spooled.snapshot_chain(),
            extra: Vec::new(),
        };
        spooled.finish(header, &[target])?;
        Ok(())
    }
}

impl Sink for Collection {
    fn page(&mut self, columns: &Columns<'_>) -> anyhow::Result<()> {
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

/// Whether `check` has no error to report about the line of a page.
fn is_accepted(line: &str) -> anyhow::Result<bool> {
    let mut report = Report::new(Mode::Strict);
    let page = Judge::new(PageLimits::SPEC).read(line, 1, &mut report)?;
    Ok(page.is_some() && report.count(Severity::Error) == 0)
}
