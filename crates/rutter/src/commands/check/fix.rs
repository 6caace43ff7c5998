//! `rutter check --fix`: fixes findings that have one safe fix.
//!
//! A folder that Rutter built is built again, which updates the index, adverts, collections, twins
//! and head links. In any other folder, only the sitemap is added to Rutter's block in robots.txt.
//! A fix never changes other files, or text outside Rutter's blocks.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use rutter_build::BuildEvents;
use rutter_check::{SiteBase, SiteOutcome};
use rutter_finding::Finding;
use rutter_robots::{RobotsAdditions, merge};

use super::site::{FolderSettings, SiteCheckArgs};
use crate::commands::{counted, now};
use crate::output::Output;
use crate::plan::{BuildOptions, make_plan};

/// Codes of the rules whose findings disappear when the site is built again.
const BY_BUILD: [&str; 36] = [
    "SC064", "SE010", "SE011", "SX097", "SX098", "SX099", "SX103", "SX105", "SX107", "XL010",
    "XL011", "XL012", "XL020", "XL021", "XL022", "XL023", "XL024", "XL025", "XL026", "XL028",
    "XL030", "XL040", "XL041", "XL042", "XL046", "XL047", "XL048", "XL050", "XL051", "XL052",
    "XL055", "XL061", "XL062", "XL070", "XL072", "XL082",
];
/// Code of the rule about links in the heads of HTML pages.
const HEAD_LINK: &str = "SX103";
/// Code of the rule about a sitemap that robots.txt does not list.
const ROBOTS_SILENT: &str = "XL083";

/// Fixes all findings that have a safe fix, and returns whether a file was changed.
pub(super) fn fix(
    dir: &Path,
    args: &SiteCheckArgs,
    outcome: &SiteOutcome,
    out: &mut Output,
) -> anyhow::Result<bool> {
    let counts = outcome.file_reports.iter().flat_map(|one| one.report.counts().keys());
    let codes: BTreeSet<&str> = counts.copied().collect();
    let settings = FolderSettings::of(dir, args)?;
    if settings.state.is_some() {
        if !codes.iter().any(|code| BY_BUILD.contains(code)) {
            return Ok(false);
        }
        return rebuild(settings, codes.contains(HEAD_LINK), out);
    }
    let is_unnamed = codes.contains(ROBOTS_SILENT);
    match outcome.home.as_ref().filter(|_| is_unnamed) {
        Some(home) => name_sitemap(dir, home, out),
        None => Ok(false),
    }
}

/// Builds the site again with its settings.
fn rebuild(settings: FolderSettings, links: bool, out: &mut Output) -> anyhow::Result<bool> {
    let Some(config) = settings.config else { return Ok(false) };
    let mut settled = make_plan(config, &BuildOptions::default(), now()?)?;
    if let Some(target) = settings.target {
        settled.plan.out = Some(target).filter(|target| *target != settled.plan.site);
    }
    if links && !settled.plan.layers.inject {
        out.say(
            "fix: adding links to the heads of pages; to keep them, set `inject = true` in \
             rutter.toml",
        );
        settled.plan.layers.inject = true;
    }
    let outcome = rutter_build::build(&settled.plan, &mut SilentListener)?;
    out.say(format_args!(
        "fix: built the site again: {} written, {} deleted",
        counted(outcome.written, "file"),
        counted(outcome.deleted, "file")
    ));
    Ok(!outcome.is_unchanged())
}

/// Adds the sitemap to Rutter's block in robots.txt, and returns whether the file was changed.
fn name_sitemap(dir: &Path, home: &SiteBase, out: &mut Output) -> anyhow::Result<bool> {
    let path = dir.join("robots.txt");
    let place = || path.display().to_string();
    let before = fs::read(&path).with_context(place)?;
    let wishes =
        RobotsAdditions { sitemaps: vec![home.join("sitemap.xml")], ..RobotsAdditions::default() };
    let after = merge(Some(&before), &wishes);
    if after == before {
        return Ok(false);
    }
    let about = fs::metadata(&path).with_context(place)?;
    let mut beside = tempfile::NamedTempFile::new_in(dir).with_context(place)?;
    beside.write_all(&after).with_context(place)?;
    beside.as_file().set_permissions(about.permissions()).with_context(place)?;
    beside.persist(&path).with_context(place)?;
    out.say(format_args!("fix: added the sitemap to Rutter's block in {}", path.display()));
    Ok(true)
}

/// Ignores the findings of a build; the check after the build reports them.
struct SilentListener;

impl BuildEvents for SilentListener {
    fn finding(&mut self, _: &str, _: &Finding) {}
    fn message(&mut self, _: &str) {}
    fn progress(&mut self, _: usize, _: usize) {}
}
