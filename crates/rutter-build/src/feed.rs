//! The files of the ARC layer: the sitemap in its forms, a delta for each day,
//! the policy, the pointer.
//!
//! Entries come in the order of addresses, from the pass that scans ledger and
//! pack. Deltas of earlier days are kept in the state and put out again as
//! they are (D60).
//!
//! Refuses: to stand in the place of a file of the owner, to write a policy the
//! owner did not speak of.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use rutter_arc::delta::{day, day_of, template};
use rutter_arc::pointer::Pointer;
use rutter_arc::{Deltas, Entry, Head, JsonWriter, Policy, YamlWriter};
use rutter_finding::Rule;
use rutter_page::{Digest, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use crate::arc::{self, Said};
use crate::error::{At, BuildError};
use crate::ledger::Row;
use crate::manifest::{Whose, digest_of};
use crate::pack::Record;
use crate::plan::{Checksum, Plan};
use crate::project::say_taken;
use crate::publish::{self, Order, Put, Stage};
use crate::read::{Entries, Reading};
use crate::rules;
use crate::state::Paths;

/// The sitemap, below the site's folder.
pub(crate) const SITEMAP: &str = "arc-sitemap.json";
const YAML: &str = "arc-sitemap.yaml";
const POINTER: &str = "arc-sitemap.jsonld";
pub(crate) const POLICY: &str = ".well-known/arc-policy.json";
/// The folder of deltas.
pub(crate) const DELTAS: &str = "arc-sitemap-deltas";

const DAY_SECONDS: i64 = 86_400;

/// What is published of the layer, beside its pages. Part of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Issue {
    /// What decides about entries, as a digest.
    pub(crate) entries: String,
    /// What stands in the sitemap beside its pages, as a digest.
    pub(crate) head: String,
    /// When any of it last changed.
    pub(crate) changed: Timestamp,
    /// The policy without its date, as a digest, and its date.
    pub(crate) policy: String,
    pub(crate) policy_changed: Timestamp,
    /// Days that have a delta, the first one first; none is left out between.
    pub(crate) days: Vec<String>,
    /// When the layer was first published. Entries of that moment are in the
    /// sitemap and in no delta: a reader without them reads the sitemap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Timestamp>,
}

/// A digest of the settings that decide about entries.
fn entries_of(plan: &Plan) -> String {
    let arc = &plan.arc;
    let text = format!(
        "{:?} {:?} {:?} {}",
        arc.checksum, arc.unlisted, arc.priorities, arc.lists_restricted
    );
    Digest::of(text.as_bytes()).to_string()
}

/// A digest of what stands in a sitemap beside its pages, dates left out.
pub(crate) fn head_of(head: &Head) -> String {
    let text = format!("{:?} {:?}", head.crawl_rate, head.contact);
    Digest::of(text.as_bytes()).to_string()
}

fn head(plan: &Plan, changed: Timestamp) -> Head {
    Head {
        crawl_rate: plan.arc.crawl_rate.clone(),
        contact: plan.arc.contact.clone(),
        ..Head::new(&site(plan), changed)
    }
}

/// The policy, but for its date.
pub(crate) fn undated_policy(plan: &Plan) -> Policy {
    let policy = plan.arc.policy.clone();
    let scope = match plan.arc.checksum {
        Checksum::Content => "content",
        Checksum::Html => "html",
    };
    Policy {
        site: Some(site(plan)),
        updated_at: None,
        contact: policy.contact.or_else(|| plan.arc.contact.clone()),
        checksum_scope: Some(scope.to_owned()),
        ..policy
    }
}

pub(crate) fn policy_digest(policy: &Policy) -> String {
    Digest::of(policy.to_file().as_bytes()).to_string()
}

fn site(plan: &Plan) -> String {
    plan.base.as_str().trim_end_matches('/').to_owned()
}

/// Which entries are to be made, by what was published before.
pub(crate) fn due(plan: &Plan, before: Option<&Issue>) -> Entries {
    match before {
        _ if !plan.layers.arc => Entries::Off,
        Some(before) if before.entries == entries_of(plan) => Entries::Changed,
        _ => Entries::All,
    }
}

/// What is published now, after all pages were read.
pub(crate) fn issue(
    plan: &Plan,
    before: Option<&Issue>,
    reading: &Reading,
    stamp: Timestamp,
) -> Option<Issue> {
    if !plan.layers.arc {
        return None;
    }
    let said = reading.said;
    let (entries, head) = (entries_of(plan), head_of(&head(plan, stamp)));
    let policy = policy_digest(&undated_policy(plan));
    let policy_changed = match before {
        Some(before) if before.policy == policy => before.policy_changed,
        _ => stamp,
    };
    let is_changed = match before {
        Some(before) => before.head != head || said.is_some_and(|said| before.changed < said),
        None => true,
    };
    let (mut changed, mut days, begun) = match before {
        Some(before) => (before.changed, before.days.clone(), before.begun),
        None => (stamp, Vec::new(), (!reading.was_said).then_some(stamp)),
    };
    // Older files say what may no longer be said.
    if reading.is_taken_back {
        days.clear();
    }
    if is_changed {
        changed = stamp;
        add_days(&mut days, stamp, plan.arc.days);
    }
    // They go in time, whether or not something changes.
    let first = day_of(plan.now.plus_seconds(-(i64::from(plan.arc.days.max(1)) - 1) * DAY_SECONDS));
    days.retain(|day| first <= *day);
    Some(Issue { entries, head, changed, policy, policy_changed, days, begun })
}

/// Enters today and the days since the last one, and forgets old ones.
fn add_days(days: &mut Vec<String>, today: Timestamp, most: u32) {
    let end = day(&day_of(today)).unwrap_or(today);
    let first = end.plus_seconds(-(i64::from(most.max(1)) - 1) * DAY_SECONDS);
    let next = days.last().and_then(|last| day(last)).map(|last| last.plus_seconds(DAY_SECONDS));
    let mut at = next.unwrap_or(end).max(first);
    while at <= end {
        days.push(day_of(at));
        at = at.plus_seconds(DAY_SECONDS);
    }
    let first = day_of(first);
    days.retain(|day| first <= *day);
}

/// Forgets the days before one that is missing.
pub(crate) fn close_up(days: &mut Vec<String>) {
    let is_next = |pair: &[String]| {
        let next = pair.first().and_then(|first| day(first)).map(|at| at.plus_seconds(DAY_SECONDS));
        next.map(day_of).as_ref() == pair.get(1)
    };
    let gap = days.windows(2).rposition(|pair| !is_next(pair));
    days.drain(..gap.map_or(0, |at| at + 1));
}

impl Issue {
    /// The kept deltas may have been lost while they are still published; one
    /// that is in neither place ends the row of those before it.
    pub(crate) fn restore(&mut self, paths: &Paths, target: &Path) -> Result<(), BuildError> {
        let folder = paths.deltas();
        fs::create_dir_all(&folder).at(&folder)?;
        for day in &self.days {
            let (kept, there) = (folder.join(file(day)), target.join(DELTAS).join(file(day)));
            if !kept.exists() && there.exists() {
                crate::state::copy_whole(&there, &kept)?;
            }
        }
        let lost = self.days.iter().rposition(|day| !folder.join(file(day)).exists());
        self.days.drain(..lost.map_or(0, |at| at + 1));
        for entry in fs::read_dir(&folder).at(&folder)? {
            let path = entry.at(&folder)?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            if !self.days.iter().any(|day| Some(file(day)) == name) {
                fs::remove_file(&path).at(&path)?;
            }
        }
        Ok(())
    }

    fn head(&self, plan: &Plan) -> Head {
        let deltas = self.days.first().zip(self.days.last()).map(|(from, to)| Deltas {
            template: template(&site(plan)),
            from: from.clone(),
            to: to.clone(),
        });
        Head { deltas, ..head(plan, self.changed) }
    }
}

/// The name of a day's file.
pub(crate) fn file(day: &str) -> String {
    format!("{day}.json")
}

type JsonFile = JsonWriter<BufWriter<File>>;
type Tell<'t> = dyn FnMut(&str, &'static Rule, String) + 't;

/// The layer while it is being written.
pub(crate) struct Feed<'p> {
    plan: &'p Plan,
    issue: &'p Issue,
    /// Files of the site itself.
    others: &'p [Box<str>],
    kept: PathBuf,
    next: PathBuf,
    json: (PathBuf, JsonFile),
    yaml: (PathBuf, YamlWriter<BufWriter<File>>),
    /// The day that changed in this build.
    today: Option<(String, PathBuf, JsonFile)>,
}

/// What of it is there in the end.
#[derive(Debug, Default)]
pub(crate) struct Fed {
    pub(crate) has_sitemap: bool,
    pub(crate) pointer: Option<Pointer>,
}

impl<'p> Feed<'p> {
    /// Deltas of this build are written to `next`, from where they move into
    /// the state; `kept` holds those of earlier builds.
    pub(crate) fn open(
        plan: &'p Plan,
        issue: &'p Issue,
        others: &'p [Box<str>],
        (kept, next): (PathBuf, PathBuf),
        stage: &mut Stage,
    ) -> Result<Self, BuildError> {
        fs::create_dir_all(&next).at(&next)?;
        let head = issue.head(plan);
        let json = stage.fresh();
        let yaml = stage.fresh();
        let today = issue.days.last().cloned();
        // The day of the last change is written by the build that makes it.
        let is_due = |day: &String| {
            *day == day_of(issue.changed) && (issue.is_new(plan) || !kept.join(file(day)).exists())
        };
        let today = match today.filter(is_due) {
            Some(day) => {
                let path = next.join(file(&day));
                let head = head.of_day(issue.since(&day), issue.changed);
                let out = publish::create(&path)?;
                Some((day, path.clone(), JsonWriter::new(out, &head).at(&path)?))
            }
            None => None,
        };
        let json_out = JsonWriter::new(publish::create(&json)?, &head).at(&json)?;
        let yaml_out = YamlWriter::new(publish::create(&yaml)?, &head).at(&yaml)?;
        let (json, yaml) = ((json, json_out), (yaml, yaml_out));
        Ok(Self { plan, issue, others, kept, next, json, yaml, today })
    }

    /// A page of the ledger; its record is there unless it went away.
    pub(crate) fn page(&mut self, row: &Row, record: Option<&Record>) -> Result<(), BuildError> {
        let entry = record.and_then(|record| arc::entry(self.plan, row, record));
        if let Some(entry) = &entry {
            self.json.1.push(entry).at(&self.json.0)?;
            self.yaml.1.push(entry).at(&self.yaml.0)?;
        }
        let Some((day, path, today)) = &mut self.today else { return Ok(()) };
        let begun = self.issue.begun;
        let is_change =
            |said: Said| day_of(said.at) == *day && begun.is_none_or(|begun| begun < said.at);
        if !Said::parse(&row.arc).is_some_and(is_change) {
            return Ok(());
        }
        match entry {
            Some(entry) => today.push(&entry).at(path),
            None => {
                let Ok(url) = PageUrl::parse(row.url.as_str()) else { return Ok(()) };
                today.push(&Entry::tombstone(url)).at(path)
            }
        }
    }

    /// Puts everything out, what is named before what names it.
    pub(crate) fn finish(
        mut self,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Fed, BuildError> {
        let today = match self.today.take() {
            Some((day, path, writer)) => {
                let out = writer.finish().at(&path)?;
                publish::close(out, &path)?;
                Some(day)
            }
            None => None,
        };
        self.deltas(today.as_deref(), stage, told)?;
        self.policy(stage, told)?;
        let (others, plan) = (self.others, self.plan);
        let (yaml, writer) = self.yaml;
        let has_yaml = match writer.finish().at(&yaml)? {
            Some(out) => {
                publish::close(out, &yaml)?;
                let names = free(others, plan, &[YAML], stage, told);
                let pages = put_all(&names, &yaml, stage, told)?;
                pages == Put::Staged || pages == Put::Same
            }
            None => {
                fs::remove_file(&yaml).at(&yaml)?;
                told(YAML, &rules::NO_YAML, String::new());
                false
            }
        };
        let (json, writer) = self.json;
        publish::close(writer.finish().at(&json)?, &json)?;
        let well_known = format!(".well-known/{SITEMAP}");
        let names: &[&str] =
            if self.plan.base.is_root() { &[SITEMAP, &well_known] } else { &[SITEMAP] };
        let names = free(others, plan, names, stage, told);
        let put = if names.first() == Some(&SITEMAP) {
            put_all(&names, &json, stage, told)?
        } else {
            Put::NotOurs
        };
        let has_sitemap = put == Put::Staged || put == Put::Same;
        if !has_sitemap {
            return Ok(Fed::default());
        }
        let base = &self.plan.base;
        let pointer = Pointer {
            json: base.join(SITEMAP),
            yaml: has_yaml.then(|| base.join(YAML)),
            modified: Some(self.issue.changed),
        };
        if free(others, plan, &[POINTER], stage, told).is_empty() {
            return Ok(Fed { has_sitemap, pointer: Some(pointer) });
        }
        say_taken(POINTER, stage.put(Order::Arc, POINTER, pointer.to_file().as_bytes())?, told);
        Ok(Fed { has_sitemap, pointer: Some(pointer) })
    }

    /// A file for each day, the one of today and those that were empty made now.
    fn deltas(
        &self,
        today: Option<&str>,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<(), BuildError> {
        for name in &self.issue.days {
            let kept = self.kept.join(file(name));
            let source = if Some(name.as_str()) == today {
                self.next.join(file(name))
            } else if kept.exists() {
                kept
            } else {
                self.empty(name)?
            };
            let digest = digest_of(&source).at(&source)?;
            let path = format!("{DELTAS}/{}", file(name));
            if free(self.others, self.plan, &[&path], stage, told).is_empty() {
                continue;
            }
            let kind = (Whose::Made, Order::Deltas);
            say_taken(&path, stage.copy(kind, &path, &source, Some(digest))?, told);
            let coded = gzipped(&source, stage)?;
            let path = format!("{path}.gz");
            say_taken(&path, stage.take(Order::Deltas, &path, &coded)?, told);
        }
        Ok(())
    }

    /// The file of a day on which nothing was published.
    fn empty(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.next.join(file(name));
        let since = day(name).unwrap_or(self.issue.changed);
        let head = self.issue.head(self.plan).of_day(since, since.plus_seconds(DAY_SECONDS));
        let writer = JsonWriter::new(publish::create(&path)?, &head).at(&path)?;
        publish::close(writer.finish().at(&path)?, &path)?;
        Ok(path)
    }

    fn policy(&self, stage: &mut Stage, told: &mut Tell<'_>) -> Result<(), BuildError> {
        // A policy is the owner's word; elsewhere nobody looks for it.
        if self.plan.arc.policy == Policy::default()
            || !self.plan.base.is_root()
            || free(self.others, self.plan, &[POLICY], stage, told).is_empty()
        {
            return Ok(());
        }
        let policy =
            Policy { updated_at: Some(self.issue.policy_changed), ..undated_policy(self.plan) };
        say_taken(POLICY, stage.put(Order::Arc, POLICY, policy.to_file().as_bytes())?, told);
        Ok(())
    }
}

impl Issue {
    /// From when on the delta of a day has every change: from its first moment,
    /// or from the first publication.
    fn since(&self, name: &str) -> Timestamp {
        day(name).max(self.begun).unwrap_or(self.changed)
    }

    /// Whether the build of this moment made the last change.
    fn is_new(&self, plan: &Plan) -> bool {
        plan.now <= self.changed
    }
}

/// Those of the names that no file of the owner has; where a folder of its own
/// is filled, the owner's file would otherwise be left out of it.
pub(crate) fn free<'n>(
    others: &[Box<str>],
    plan: &Plan,
    names: &[&'n str],
    stage: &Stage,
    told: &mut Tell<'_>,
) -> Vec<&'n str> {
    let is_owners = |name: &str| {
        plan.out.is_some()
            && others.binary_search_by(|other| (**other).cmp(name)).is_ok()
            && !stage.may_replace(name)
    };
    let mut free = Vec::new();
    for name in names {
        if is_owners(name) {
            say_taken(name, Put::NotOurs, told);
        } else {
            free.push(*name);
        }
    }
    free
}

/// Puts a file of the stage out under several names, each with a gzip twin;
/// tells how the first fared.
pub(crate) fn put_all(
    names: &[&str],
    source: &Path,
    stage: &mut Stage,
    told: &mut Tell<'_>,
) -> Result<Put, BuildError> {
    let mut first = None;
    let mut taken = Vec::new();
    let coded = gzipped(source, stage)?;
    for (file, ending) in [(source, ""), (&coded, ".gz")] {
        let digest = digest_of(file).at(file)?;
        for name in names {
            // A twin belongs to its file; beside another's it would lie.
            if taken.contains(name) {
                continue;
            }
            let coded = format!("{name}{ending}");
            let put = stage.copy((Whose::Made, Order::Arc), &coded, file, Some(digest))?;
            say_taken(&coded, put, told);
            if matches!(put, Put::NotOurs | Put::Linked) {
                taken.push(name);
            }
            first.get_or_insert(put);
        }
        fs::remove_file(file).at(file)?;
    }
    Ok(first.unwrap_or(Put::NotOurs))
}

/// A file as gzip; the same bytes for the same file.
fn gzipped(source: &Path, stage: &mut Stage) -> Result<PathBuf, BuildError> {
    let path = stage.fresh();
    let mut out = GzBuilder::new().mtime(0).write(publish::create(&path)?, Compression::new(6));
    io::copy(&mut BufReader::new(File::open(source).at(source)?), &mut out).at(source)?;
    publish::close(out.finish().at(&path)?, &path)?;
    Ok(path)
}
