//! `rutter check --fix`: mends what can be mended without asking.
//!
//! A folder that Rutter built is built again: that brings index, adverts,
//! collections, twins and head links up to date, and touches nothing but files
//! of ours and blocks between our marks. Any other folder gets one line: the
//! sitemap is named in a block of ours in robots.txt.
//!
//! Refuses: to write into anything else of the owner's.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use rutter_build::Listener;
use rutter_check::{Home, SiteOutcome, rules};
use rutter_finding::Finding;
use rutter_signpost::robots::{Wishes, merge};

use super::site::{Settings, SiteArgs};
use crate::commands::{counted, now};
use crate::output::Output;
use crate::settle::{Asked, settle};

/// What a build puts right.
const BY_BUILD: [&str; 36] = [
    "SC064", "SE010", "SE011", "SX097", "SX098", "SX099", "SX103", "SX105", "SX107", "XL010",
    "XL011", "XL012", "XL020", "XL021", "XL022", "XL023", "XL024", "XL025", "XL026", "XL028",
    "XL030", "XL040", "XL041", "XL042", "XL046", "XL047", "XL048", "XL050", "XL051", "XL052",
    "XL055", "XL061", "XL062", "XL070", "XL072", "XL082",
];
/// The rule about links in the heads of pages.
const HEAD_LINK: &str = "SX103";

/// Mends what can be mended; tells whether something was changed.
pub(super) fn fix(
    dir: &Path,
    args: &SiteArgs,
    outcome: &SiteOutcome,
    out: &mut Output,
) -> anyhow::Result<bool> {
    let counts = outcome.judgements.iter().flat_map(|one| one.report.counts().keys());
    let codes: BTreeSet<&str> = counts.copied().collect();
    let settings = Settings::of(dir, args)?;
    if settings.state.is_some() {
        if !codes.iter().any(|code| BY_BUILD.contains(code)) {
            return Ok(false);
        }
        return rebuild(settings, codes.contains(HEAD_LINK), out);
    }
    let is_unnamed = codes.contains(rules::ROBOTS_SILENT.code);
    match outcome.home.as_ref().filter(|_| is_unnamed) {
        Some(home) => name_sitemap(dir, home, out),
        None => Ok(false),
    }
}

/// Builds the site once more, as its settings say.
fn rebuild(settings: Settings, links: bool, out: &mut Output) -> anyhow::Result<bool> {
    let Some(config) = settings.config else { return Ok(false) };
    let mut settled = settle(config, &Asked::default(), now()?)?;
    if let Some(target) = settings.target {
        settled.plan.out = Some(target).filter(|target| *target != settled.plan.site);
    }
    if links && !settled.plan.layers.inject {
        out.say(
            "fix: links are put into the heads of pages; `inject = true` in rutter.toml keeps them",
        );
        settled.plan.layers.inject = true;
    }
    let outcome = rutter_build::build(&settled.plan, &mut Quiet)?;
    out.say(format_args!(
        "fix: built again: {} written, {} taken away",
        counted(outcome.written, "file"),
        counted(outcome.deleted, "file")
    ));
    Ok(!outcome.is_unchanged())
}

/// Names the sitemap in a block of ours.
fn name_sitemap(dir: &Path, home: &Home, out: &mut Output) -> anyhow::Result<bool> {
    let path = dir.join("robots.txt");
    let place = || path.display().to_string();
    let before = fs::read(&path).with_context(place)?;
    let wishes = Wishes { sitemaps: vec![home.join("sitemap.xml")], ..Wishes::default() };
    let after = merge(Some(&before), &wishes);
    if after == before {
        return Ok(false);
    }
    let about = fs::metadata(&path).with_context(place)?;
    let mut beside = tempfile::NamedTempFile::new_in(dir).with_context(place)?;
    beside.write_all(&after).with_context(place)?;
    beside.as_file().set_permissions(about.permissions()).with_context(place)?;
    beside.persist(&path).with_context(place)?;
    out.say(format_args!("fix: {}: the sitemap is named between our marks", path.display()));
    Ok(true)
}

/// Hears nothing: what is wrong is told by the check that follows.
struct Quiet;

impl Listener for Quiet {
    fn finding(&mut self, _: &str, _: &Finding) {}
    fn says(&mut self, _: &str) {}
    fn progress(&mut self, _: usize, _: usize) {}
}
