//! Writes the files of the ARC layer: the sitemap as JSON and YAML, a delta for each day, the
//! policy and the pointer.
//!
//! Input: pages in the order of URLs from pass 2. Output: staged files. Deltas of earlier days are
//! stored in the state and published again unchanged (D60).
//!
//! The layer never replaces a file of the site owner, and writes a policy only if the site owner
//! configured one.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;

use rutter_arc::delta::{delta_template, format_day, parse_day};
use rutter_arc::pointer::SitemapPointer;
use rutter_arc::{ArcEntry, ArcPolicy, DeltaAnnouncement, JsonWriter, SitemapHeader, YamlWriter};
use rutter_page::{PageUrl, Timestamp};
use rutter_site::{ArcEntryVersion, ArcPublication, LedgerRow, Owner, PageRecord, digest_of};

use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer};
use crate::arc_publication::{DELTAS, POLICY, SITEMAP, delta_file, head, site_url, undated_policy};
use crate::error::{BuildError, IoErrorContext};
use crate::plan::BuildPlan;
use crate::staging::{self, PublishOrder, StagingArea};
use crate::{arc_entry, rules};

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
struct ArcLayer<'p> {
    input: &'p LayerInput<'p>,
    plan: &'p BuildPlan,
    publication: &'p ArcPublication,
    /// Folder of the deltas of earlier builds.
    kept: PathBuf,
    /// Folder of the deltas of this build, which moves them into the state later.
    next: PathBuf,
    json: (PathBuf, JsonFile),
    yaml: (PathBuf, YamlWriter<BufWriter<File>>),
    /// Day, path and writer of the delta that this build writes, if any.
    today: Option<(String, PathBuf, JsonFile)>,
}

/// Opens the writers of the ARC files; `None` if the layer is off.
pub(crate) fn open<'p>(
    input: &'p LayerInput<'p>,
    stage: &mut StagingArea,
) -> Result<Option<OpenLayer<'p>>, BuildError> {
    let Some(publication) = &input.published.arc else { return Ok(None) };
    let (plan, kept, next) = (input.plan, input.paths.deltas(), input.draft.deltas());
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
    Ok(Some(Box::new(ArcLayer { input, plan, publication, kept, next, json, yaml, today })))
}

impl Layer for ArcLayer<'_> {
    fn entry(&mut self, entry: &mut Entry<'_>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        match entry {
            Entry::Page(page) => self.page(page.row, Some(page.record)),
            Entry::Removed(row) => self.page(row, None),
            Entry::Unread(_) => Ok(()),
        }
    }

    /// Stages all files of the ARC layer. Each file is staged before the files that refer to it.
    fn finish(mut self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let today = match self.today.take() {
            Some((day, path, writer)) => {
                staging::close(writer.finish().at(&path)?, &path)?;
                Some(day)
            }
            None => None,
        };
        self.deltas(today.as_deref(), out)?;
        self.policy(out)?;
        let Self { input, plan, publication, json, yaml, .. } = *self;
        let has_yaml = put_yaml(input, yaml, out)?;
        if !put_json(input, json, out)? {
            return Ok(());
        }
        let pointer = SitemapPointer {
            json: plan.base.join(SITEMAP),
            yaml: has_yaml.then(|| plan.base.join(YAML)),
            modified: Some(publication.changed),
        };
        if out.is_free(input, POINTER) {
            out.put(PublishOrder::Arc, POINTER, pointer.to_file().as_bytes())?;
        }
        out.links.arc = Some(pointer);
        Ok(())
    }
}

/// Stages the ARC sitemap as YAML. Returns whether it is published.
fn put_yaml(
    input: &LayerInput<'_>,
    (path, writer): (PathBuf, YamlWriter<BufWriter<File>>),
    out: &mut LayerOutput<'_>,
) -> Result<bool, BuildError> {
    let Some(file) = writer.finish().at(&path)? else {
        fs::remove_file(&path).at(&path)?;
        out.report(YAML, &rules::NO_YAML, "");
        return Ok(false);
    };
    staging::close(file, &path)?;
    let names: &[&str] = if out.is_free(input, YAML) { &[YAML] } else { &[] };
    out.put_all(names, &path)
}

/// Stages the ARC sitemap as JSON. Returns whether it is published under its main name.
fn put_json(
    input: &LayerInput<'_>,
    (path, writer): (PathBuf, JsonFile),
    out: &mut LayerOutput<'_>,
) -> Result<bool, BuildError> {
    staging::close(writer.finish().at(&path)?, &path)?;
    let well_known = format!(".well-known/{SITEMAP}");
    let mut names: Vec<&str> = vec![SITEMAP];
    if input.plan.base.is_root() {
        names.push(&well_known);
    }
    names.retain(|name| out.is_free(input, name));
    Ok(names.first() == Some(&SITEMAP) && out.put_all(&names, &path)?)
}

impl ArcLayer<'_> {
    /// Adds a page of the ledger to the ARC files. A page without a record was removed.
    fn page(&mut self, row: &LedgerRow, record: Option<&PageRecord>) -> Result<(), BuildError> {
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

    /// Stages the ARC delta of each day: the delta of today, stored deltas, and new empty deltas
    /// for days without a stored one.
    fn deltas(&self, today: Option<&str>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
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
            if !out.is_free(self.input, &path) {
                continue;
            }
            let kind = (Owner::Rutter, PublishOrder::Deltas);
            let put = out.stage.copy(kind, &path, &source, Some(digest))?;
            out.check(&path, put);
            let coded = out.compress_gzip(&source)?;
            let path = format!("{path}.gz");
            let put = out.stage.take(PublishOrder::Deltas, &path, &coded)?;
            out.check(&path, put);
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

    fn policy(&self, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        // A policy is a statement of the site owner and has an effect only at the root of the host.
        if self.plan.arc.policy == ArcPolicy::default()
            || !self.plan.base.is_root()
            || !out.is_free(self.input, POLICY)
        {
            return Ok(());
        }
        let policy = ArcPolicy {
            updated_at: Some(self.publication.policy_changed),
            ..undated_policy(self.plan)
        };
        out.put(PublishOrder::Arc, POLICY, policy.to_file().as_bytes())?;
        Ok(())
    }
}

/// Returns the start of the period that the delta of a day covers: the start of the day, or the
/// first publication if that is later.
fn delta_start(arc: &ArcPublication, day: &str) -> Timestamp {
    parse_day(day).max(arc.first_published).unwrap_or(arc.changed)
}
