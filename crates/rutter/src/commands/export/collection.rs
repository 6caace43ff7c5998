//! The pages of a site as a collection that a site could publish.
//!
//! A line that a judge would accept is written as it came, so that states are
//! equal to the publisher's; one that needed mending is written mended.

use std::path::Path;

use rutter_finding::{Mode, Report, Severity};
use rutter_page::{Judge, PageLimits, Timestamp};
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
        let mut report = Report::new(Mode::Strict);
        let judged = Judge::new(PageLimits::SPEC).read(line, 1, &mut report)?;
        let Some(page) = judged.filter(|page| !page.content.is_empty()) else {
            self.left_out += 1;
            return Ok(());
        };
        if report.count(Severity::Error) == 0 {
            self.writer.line(&columns.row.url, line.as_bytes())?;
        } else {
            self.mended += 1;
            self.writer.page(&canonical(page))?;
        }
        Ok(())
    }
}
