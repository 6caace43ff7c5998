//! Ends a build: writes the state files, deletes obsolete files and returns the summary.
//!
//! Input: the results of the build's passes. The functions fail only on I/O errors.

use std::fs;
use std::path::PathBuf;

use rutter_site::{absolute_path, save_templates};

use super::Build;
use crate::address::regular_file;
use crate::arc_publication;
use crate::error::{BuildError, IoErrorContext};
use crate::layers::partner_pages;
use crate::stages::read::ReadTotals;
use crate::staging::StagingArea;
use crate::summary::{BuildSummary, ExclusionCount, SectionSummary};

impl Build<'_> {
    /// Writes the state files to temporary paths and returns the temporary and the final path of
    /// each.
    pub(super) fn state_files(
        &self,
        reading: &ReadTotals,
    ) -> Result<Vec<(PathBuf, PathBuf)>, BuildError> {
        let plan = self.plan;
        let at = |name: &str| self.next.join(name);
        let (ledger, pack, private) = (at("ledger"), at("pack"), at("private"));
        let (served, log_path) = (at("served"), at("told"));
        let (chain, templates) = (self.next.join("chain"), self.next.join("templates"));
        self.published.save(&chain)?;
        let mut kept = self.templates.clone();
        if 0 < self.learned {
            kept.retain(&reading.used);
        }
        save_templates(&templates, &kept)?;
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
            partner_pages::prepare(&self.paths.private())?;
            state.push((private, self.paths.private()));
            // The page cache contains the same private content as the partner pages.
            partner_pages::restrict_permissions(&pack)?;
        }
        state.extend([
            (ledger, self.paths.ledger()),
            (pack, self.paths.pack()),
            (templates, self.paths.templates()),
            (served, self.paths.served()),
            (log_path, self.paths.findings_log()),
            (chain, self.paths.chain()),
        ]);
        Ok(state)
    }

    /// Returns the files of the generator's sitemap in the site's own folder that are obsolete,
    /// because Rutter's sitemap replaces them under other names.
    pub(super) fn replaced_files(&self, stage: &StagingArea) -> Vec<PathBuf> {
        if self.plan.out.is_some() || !self.plan.layers.sitemap {
            return Vec::new();
        }
        // If Rutter wrote no sitemap, the generator's sitemap is the only one and must stay.
        if !stage.has("sitemap.xml") && !stage.has("sitemap-rutter.xml") {
            return Vec::new();
        }
        let replaced = self.site_sitemap.files.iter().map(|file| file.name.as_str());
        let replaced =
            replaced.filter(|name| self.site_sitemap.is_replaced(name) && !stage.has(name));
        let site = absolute_path(&self.plan.site);
        replaced.filter_map(|name| regular_file(&site, name)).collect()
    }

    /// Deletes stored collections and ARC deltas that are no longer published.
    pub(super) fn remove_expired(&self) -> Result<(), BuildError> {
        let names: Vec<String> =
            self.published
                .collections
                .iter()
                .flat_map(|one| one.files.iter().map(|file| file.name.clone()))
                .chain(
                    self.published.arc.iter().flat_map(|arc| {
                        arc.days.iter().map(|day| arc_publication::delta_file(day))
                    }),
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
        reading: ReadTotals,
        sections: Vec<SectionSummary>,
        written: u64,
        deleted: u64,
    ) -> BuildSummary {
        let mut findings = reading.findings;
        for (code, n) in &self.counts {
            *findings.entry(code).or_default() += n;
        }
        let excluded = reading.excluded.into_iter();
        BuildSummary {
            pages: reading.pages,
            new: reading.new,
            changed: reading.changed,
            removed: reading.removed,
            read_differently: reading.read_differently,
            read: reading.read,
            judged: reading.judged,
            closed: reading.closed,
            closed_pages: reading.closed_pages,
            password_pages: reading.password_pages,
            excluded: excluded.map(|(reason, pages)| ExclusionCount { reason, pages }).collect(),
            failed: reading.failed,
            unreadable: self.unreadable.len() as u64 + reading.kept + self.n_uncopied,
            source_bytes: reading.source_bytes,
            sections,
            learned: self.learned,
            written,
            deleted,
            is_without_twins: self.plan.layers.twins.are_too_many(reading.pages),
            coverage: reading.coverage,
            findings: findings.into_iter().collect(),
        }
    }
}
