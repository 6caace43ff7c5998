//! Writes the files of the ARC layer: the sitemap as JSON and YAML, a delta for each day, the
//! policy and the pointer.
//!
//! Input: pages in the order of URLs from pass 2. Output: staged files. Deltas of earlier days are
//! stored in the state and published again unchanged (D60).
//!
//! The layer never replaces a file of the site owner, and writes a policy only if the site owner
//! configured one.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use rutter_arc::delta::{delta_template, format_day, parse_day};
use rutter_arc::pointer::SitemapPointer;
use rutter_arc::{ArcEntry, ArcPolicy, DeltaAnnouncement, JsonWriter, SitemapHeader, YamlWriter};
use rutter_page::{PageUrl, Timestamp};
use rutter_site::{ArcEntryVersion, ArcPublication, LedgerRow, Owner, PageRecord, digest_of};

use crate::arc_publication::{DELTAS, POLICY, SITEMAP, delta_file, head, site_url, undated_policy};
use crate::error::{BuildError, IoErrorContext};
use crate::plan::BuildPlan;
use crate::stages::project::{ReportFinding, report_blocked};
use crate::staging::{PublishOrder, StageResult, StagingArea};
use crate::{arc_entry, rules, staging};

const YAML: &str = "arc-sitemap.yaml";
const POINTER: &str = "arc-sitemap.jsonld";

/// Number of seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// Returns the header of the ARC sitemap.
fn published_head(arc: &ArcPublication, plan: &BuildPlan) -> SitemapHeader {
    let deltas = arc.days.first().zip(arc.days.last()).map(|(from, to)| DeltaAnnouncement {
        template: delta_template(&site_url(plan)),
        from: from.clone(),
        to: to.clone(),
    });
    SitemapHeader { deltas, ..head(plan, arc.changed) }
}

type JsonFile = JsonWriter<BufWriter<File>>;

/// Writer of the files of the ARC layer.
pub(crate) struct ArcLayer<'p> {
    plan: &'p BuildPlan,
    publication: &'p ArcPublication,
    /// Paths of the site's files that are not pages, sorted.
    others: &'p [Box<str>],
    kept: PathBuf,
    next: PathBuf,
    json: (PathBuf, JsonFile),
    yaml: (PathBuf, YamlWriter<BufWriter<File>>),
    /// Day, path and writer of the delta that this build writes, if any.
    today: Option<(String, PathBuf, JsonFile)>,
}

/// The published ARC files that other layers link to.
#[derive(Debug, Default)]
pub(crate) struct ArcLayerResult {
    pub(crate) has_sitemap: bool,
    pub(crate) pointer: Option<SitemapPointer>,
}

impl<'p> ArcLayer<'p> {
    /// Opens the writers of the ARC files. The build writes new deltas to the folder `next` and
    /// moves them into the state later; the folder `kept` holds the deltas of earlier builds.
    pub(crate) fn open(
        plan: &'p BuildPlan,
        publication: &'p ArcPublication,
        others: &'p [Box<str>],
        (kept, next): (PathBuf, PathBuf),
        stage: &mut StagingArea,
    ) -> Result<Self, BuildError> {
        fs::create_dir_all(&next).at(&next)?;
        let head = published_head(publication, plan);
        let json = stage.new_path();
        let yaml = stage.new_path();
        let today = publication.days.last().cloned();
        // The build that makes the last change of a day writes the delta of that day.
        let is_due = |day: &String| {
            *day == format_day(publication.changed)
                && (plan.now <= publication.changed || !kept.join(delta_file(day)).exists())
        };
        let today = match today.filter(is_due) {
            Some(day) => {
                let path = next.join(delta_file(&day));
                let head = head.for_day(delta_start(publication, &day), publication.changed);
                let out = staging::create(&path)?;
                Some((day, path.clone(), JsonWriter::new(out, &head).at(&path)?))
            }
            None => None,
        };
        let json_out = JsonWriter::new(staging::create(&json)?, &head).at(&json)?;
        let yaml_out = YamlWriter::new(staging::create(&yaml)?, &head).at(&yaml)?;
        let (json, yaml) = ((json, json_out), (yaml, yaml_out));
        Ok(Self { plan, publication, others, kept, next, json, yaml, today })
    }

    /// Adds a page of the ledger to the ARC files. A page without a record was removed.
    pub(crate) fn page(
        &mut self,
        row: &LedgerRow,
        record: Option<&PageRecord>,
    ) -> Result<(), BuildError> {
        let entry = record.and_then(|record| arc_entry::entry(self.plan, row, record));
        if let Some(entry) = &entry {
            self.json.1.push(entry).at(&self.json.0)?;
            self.yaml.1.push(entry).at(&self.yaml.0)?;
        }
        let Some((day, path, today)) = &mut self.today else { return Ok(()) };
        let first_published = self.publication.first_published;
        let is_change = |version: ArcEntryVersion| {
            format_day(version.at) == *day
                && first_published.is_none_or(|first_published| first_published < version.at)
        };
        if !ArcEntryVersion::parse(&row.arc).is_some_and(is_change) {
            return Ok(());
        }
        match entry {
            Some(entry) => today.push(&entry).at(path),
            None => {
                let Ok(url) = PageUrl::parse(row.url.as_str()) else { return Ok(()) };
                today.push(&ArcEntry::tombstone(url)).at(path)
            }
        }
    }

    /// Stages all files of the ARC layer. Each file is staged before the files that refer to it.
    pub(crate) fn finish(
        mut self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<ArcLayerResult, BuildError> {
        let today = match self.today.take() {
            Some((day, path, writer)) => {
                let out = writer.finish().at(&path)?;
                staging::close(out, &path)?;
                Some(day)
            }
            None => None,
        };
        self.deltas(today.as_deref(), stage, report)?;
        self.policy(stage, report)?;
        let (others, plan) = (self.others, self.plan);
        let (yaml, writer) = self.yaml;
        let has_yaml = match writer.finish().at(&yaml)? {
            Some(out) => {
                staging::close(out, &yaml)?;
                let names = free_names(others, plan, &[YAML], stage, report);
                let pages = put_all(&names, &yaml, stage, report)?;
                pages == StageResult::Staged || pages == StageResult::Unchanged
            }
            None => {
                fs::remove_file(&yaml).at(&yaml)?;
                report(YAML, &rules::NO_YAML, String::new());
                false
            }
        };
        let (json, writer) = self.json;
        staging::close(writer.finish().at(&json)?, &json)?;
        let well_known = format!(".well-known/{SITEMAP}");
        let names: &[&str] =
            if self.plan.base.is_root() { &[SITEMAP, &well_known] } else { &[SITEMAP] };
        let names = free_names(others, plan, names, stage, report);
        let put = if names.first() == Some(&SITEMAP) {
            put_all(&names, &json, stage, report)?
        } else {
            StageResult::ForeignFile
        };
        let has_sitemap = put == StageResult::Staged || put == StageResult::Unchanged;
        if !has_sitemap {
            return Ok(ArcLayerResult::default());
        }
        let base = &self.plan.base;
        let pointer = SitemapPointer {
            json: base.join(SITEMAP),
            yaml: has_yaml.then(|| base.join(YAML)),
            modified: Some(self.publication.changed),
        };
        if free_names(others, plan, &[POINTER], stage, report).is_empty() {
            return Ok(ArcLayerResult { has_sitemap, pointer: Some(pointer) });
        }
        report_blocked(
            POINTER,
            stage.put(PublishOrder::Arc, POINTER, pointer.to_file().as_bytes())?,
            report,
        );
        Ok(ArcLayerResult { has_sitemap, pointer: Some(pointer) })
    }

    /// Stages the ARC delta of each day: the delta of today, stored deltas, and new empty deltas
    /// for days without a stored one.
    fn deltas(
        &self,
        today: Option<&str>,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        for name in &self.publication.days {
            let kept = self.kept.join(delta_file(name));
            let source = if Some(name.as_str()) == today {
                self.next.join(delta_file(name))
            } else if kept.exists() {
                kept
            } else {
                self.empty(name)?
            };
            let digest = digest_of(&source).at(&source)?;
            let path = format!("{DELTAS}/{}", delta_file(name));
            if free_names(self.others, self.plan, &[&path], stage, report).is_empty() {
                continue;
            }
            let kind = (Owner::Rutter, PublishOrder::Deltas);
            report_blocked(&path, stage.copy(kind, &path, &source, Some(digest))?, report);
            let coded = compress_gzip(&source, stage)?;
            let path = format!("{path}.gz");
            report_blocked(&path, stage.take(PublishOrder::Deltas, &path, &coded)?, report);
        }
        Ok(())
    }

    /// Writes the ARC delta of a day without changes.
    fn empty(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.next.join(delta_file(name));
        let since = parse_day(name).unwrap_or(self.publication.changed);
        let head = published_head(self.publication, self.plan)
            .for_day(since, since.plus_seconds(DAY_SECONDS));
        let writer = JsonWriter::new(staging::create(&path)?, &head).at(&path)?;
        staging::close(writer.finish().at(&path)?, &path)?;
        Ok(path)
    }

    fn policy(
        &self,
        stage: &mut StagingArea,
        report: &mut ReportFinding<'_>,
    ) -> Result<(), BuildError> {
        // A policy is a statement of the site owner and has an effect only at the root of the host.
        if self.plan.arc.policy == ArcPolicy::default()
            || !self.plan.base.is_root()
            || free_names(self.others, self.plan, &[POLICY], stage, report).is_empty()
        {
            return Ok(());
        }
        let policy = ArcPolicy {
            updated_at: Some(self.publication.policy_changed),
            ..undated_policy(self.plan)
        };
        report_blocked(
            POLICY,
            stage.put(PublishOrder::Arc, POLICY, policy.to_file().as_bytes())?,
            report,
        );
        Ok(())
    }
}

/// Returns the start of the period that the delta of a day covers: the start of the day, or the
/// first publication if that is later.
fn delta_start(arc: &ArcPublication, day: &str) -> Timestamp {
    parse_day(day).max(arc.first_published).unwrap_or(arc.changed)
}

/// Returns those of the names that no file of the site owner has. In a separate output folder, an
/// artifact with such a name would replace the copy of the owner's file.
pub(crate) fn free_names<'n>(
    others: &[Box<str>],
    plan: &BuildPlan,
    names: &[&'n str],
    stage: &StagingArea,
    report: &mut ReportFinding<'_>,
) -> Vec<&'n str> {
    let is_owners = |name: &str| {
        plan.out.is_some()
            && others.binary_search_by(|other| (**other).cmp(name)).is_ok()
            && !stage.may_replace(name)
    };
    let mut free = Vec::new();
    for name in names {
        if is_owners(name) {
            report_blocked(name, StageResult::ForeignFile, report);
        } else {
            free.push(*name);
        }
    }
    free
}

/// Stages a file under several names, each also compressed with gzip. Returns the result for the
/// first name.
pub(crate) fn put_all(
    names: &[&str],
    source: &Path,
    stage: &mut StagingArea,
    report: &mut ReportFinding<'_>,
) -> Result<StageResult, BuildError> {
    let mut first = None;
    let mut taken = Vec::new();
    let coded = compress_gzip(source, stage)?;
    for (file, ending) in [(source, ""), (&coded, ".gz")] {
        let digest = digest_of(file).at(file)?;
        for name in names {
            // No gzip file is staged next to a foreign file, because its content would differ from
            // that file.
            if taken.contains(name) {
                continue;
            }
            let coded = format!("{name}{ending}");
            let put = stage.copy((Owner::Rutter, PublishOrder::Arc), &coded, file, Some(digest))?;
            report_blocked(&coded, put, report);
            if matches!(put, StageResult::ForeignFile | StageResult::Symlink) {
                taken.push(name);
            }
            first.get_or_insert(put);
        }
        fs::remove_file(file).at(file)?;
    }
    Ok(first.unwrap_or(StageResult::ForeignFile))
}

/// Compresses a file with gzip. The same bytes always produce the same compressed bytes.
fn compress_gzip(source: &Path, stage: &mut StagingArea) -> Result<PathBuf, BuildError> {
    let path = stage.new_path();
    let mut out = GzBuilder::new().mtime(0).write(staging::create(&path)?, Compression::new(6));
    io::copy(&mut BufReader::new(File::open(source).at(source)?), &mut out).at(source)?;
    staging::close(out.finish().at(&path)?, &path)?;
    Ok(path)
}
