//! Ends a build: which state files are written, which old files are removed,
//! and what the summary says.
//!
//! Input: what the passes of [`Build`] found and staged. Rejects nothing of its
//! own; errors are those of the disk.

use std::fs;
use std::path::PathBuf;

use super::Build;
use crate::error::{At, BuildError};
use crate::outcome::{Excluded, Outcome, SectionOutcome};
use crate::publish::Stage;
use crate::read::Reading;
use crate::site_sitemap::plain_file;
use crate::state::whole;
use crate::{feed, private, recall};

impl Build<'_> {
    /// Writes the files of the state; gives each with its final place.
    pub(super) fn state_files(
        &self,
        reading: &Reading,
    ) -> Result<Vec<(PathBuf, PathBuf)>, BuildError> {
        let plan = self.plan;
        let at = |name: &str| self.next.join(name);
        let (ledger, pack, private) = (at("ledger"), at("pack"), at("private"));
        let (served, told_path) = (at("served"), at("told"));
        let (chain, templates) = (self.next.join("chain"), self.next.join("templates"));
        self.published.save(&chain)?;
        let mut kept = self.templates.clone();
        if 0 < self.learned {
            kept.retain(&reading.used);
        }
        recall::save_templates(&templates, &kept)?;
        let mut state = Vec::new();
        if self.published.arc.is_some() {
            let (made, kept) = (self.next.join("arc"), self.paths.deltas());
            fs::create_dir_all(&kept).at(&kept)?;
            for entry in fs::read_dir(&made).at(&made)? {
                let path = entry.at(&made)?.path();
                let name = path.file_name().map(|name| kept.join(name));
                state.extend(name.map(|to| (path, to)));
            }
        }
        if plan.arc.private {
            private::prepare(&self.paths.private())?;
            state.push((private, self.paths.private()));
            // The cache has the same texts.
            private::close_to_others(&pack)?;
        }
        state.extend([
            (ledger, self.paths.ledger()),
            (pack, self.paths.pack()),
            (templates, self.paths.templates()),
            (served, self.paths.served()),
            (told_path, self.paths.told()),
            (chain, self.paths.chain()),
        ]);
        Ok(state)
    }

    /// Files of the generator's sitemap in the site's own folder that ours took
    /// the place of and that nothing names any longer.
    pub(super) fn replaced_files(&self, stage: &Stage) -> Vec<PathBuf> {
        if self.plan.out.is_some() || !self.plan.layers.sitemap {
            return Vec::new();
        }
        // Where a file of the owner is in the way of ours, theirs is the only one.
        if !stage.has("sitemap.xml") && !stage.has("sitemap-rutter.xml") {
            return Vec::new();
        }
        let replaced = self.theirs.files.iter().map(|file| file.name.as_str());
        let replaced = replaced.filter(|name| self.theirs.is_replaced(name) && !stage.has(name));
        let site = whole(&self.plan.site);
        replaced.filter_map(|name| plain_file(&site, name)).collect()
    }

    /// What is no longer on offer is not kept either.
    pub(super) fn sweep(&self) -> Result<(), BuildError> {
        let names: Vec<String> = self
            .published
            .collections
            .iter()
            .flat_map(|one| one.files.iter().map(|file| file.name.clone()))
            .chain(
                self.published
                    .arc
                    .iter()
                    .flat_map(|arc| arc.days.iter().map(|day| feed::file(day))),
            )
            .collect();
        for folder in [self.paths.collections(), self.paths.deltas()] {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries {
                let entry = entry.at(&folder)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if !names.contains(&name) {
                    fs::remove_file(entry.path()).at(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn write_changes(&self) -> Result<(), BuildError> {
        if let Some(list) = &self.plan.changed_list {
            let changes = self.next.join("changes");
            fs::copy(&changes, list).at(list)?;
        }
        Ok(())
    }

    pub(super) fn outcome(
        &self,
        reading: Reading,
        sections: Vec<SectionOutcome>,
        written: u64,
        deleted: u64,
    ) -> Outcome {
        let mut findings = reading.findings;
        for (code, n) in &self.counts {
            *findings.entry(code).or_default() += n;
        }
        let excluded = reading.excluded.into_iter();
        Outcome {
            pages: reading.pages,
            new: reading.new,
            changed: reading.changed,
            removed: reading.removed,
            read_differently: reading.read_differently,
            read: reading.read,
            closed: reading.closed,
            closed_pages: reading.closed_pages,
            password_pages: reading.password_pages,
            excluded: excluded.map(|(reason, pages)| Excluded { reason, pages }).collect(),
            failed: reading.failed,
            unreadable: self.unreadable.len() as u64 + reading.kept + self.n_unread,
            source_bytes: reading.source_bytes,
            sections,
            learned: self.learned,
            written,
            deleted,
            is_without_twins: self.plan.layers.twins.are_too_many(reading.pages),
            findings: findings.into_iter().collect(),
        }
    }
}
