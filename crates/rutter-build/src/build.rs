//! The whole way of a build, on one screen: state, names, pass 1, what is due,
//! pass 3, pass 2, pass 4.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_extract::Templates;
use rutter_finding::Rule;
use rutter_page::{Digest, Timestamp};
use rutter_signpost::robots::Robots;

use crate::chain::{Offered, Published};
use crate::collect::{self, Lines, Making};
use crate::error::{At, BuildError};
use crate::inventory::{self, Inventory};
use crate::manifest::{Manifest, Ours, Whose};
use crate::outcome::{Excluded, Listener, Outcome, SectionOutcome};
use crate::plan::{Oversize, Plan, Source};
use crate::project::{self, Projecting};
use crate::publish::{self, MayReplace, Order, Put, Stage};
use crate::read::{self, Reading, Start, Tally};
use crate::section::{ALL, Sections, Segments};
use crate::signs::{Before, SCP};
use crate::sources::{Sources, Taken};
use crate::state::{Lock, Paths, whole};
use crate::table::Table;
use crate::told::{self, ToldWriter};
use crate::{feed, fit, git, previous, private, rules, served, spxi};

/// Builds a site: reads its pages, decides what changed, writes every artefact
/// and swaps them in. The same input and time give the same bytes.
pub fn build(plan: &Plan, listener: &mut dyn Listener) -> Result<Outcome, BuildError> {
    let paths = Paths::new(&plan.state);
    let _lock = Lock::take(&paths)?;
    if publish::roll_forward(&paths)? {
        listener.says("an interrupted publication was finished first");
    }
    Build::open(plan, paths, listener)?.run(listener)
}

/// A build and everything it starts from.
struct Build<'p> {
    plan: &'p Plan,
    paths: Paths,
    next: PathBuf,
    published: Published,
    templates: Templates,
    manifest: Arc<Manifest>,
    names: Arc<inventory::Names>,
    others: Vec<Box<str>>,
    /// Pages that came as lines, until they are read.
    taken: Option<Taken>,
    before: Before,
    counts: BTreeMap<&'static str, u64>,
    learned: usize,
    /// Files we made in the site's own folder, when another is written to now.
    left_behind: Vec<PathBuf>,
    /// Whether the state was rebuilt from the very folder that is written to.
    adopts: bool,
}

impl<'p> Build<'p> {
    fn open(plan: &'p Plan, paths: Paths, listener: &mut dyn Listener) -> Result<Self, BuildError> {
        fs::create_dir_all(plan.target()).at(plan.target())?;
        let has_ledger = paths.ledger().exists();
        if has_ledger && plan.previous.is_some() {
            listener.says("there is a state; --previous is for lost ones and was not looked at");
        }
        // A folder that a build made, and no state: it is the previous one.
        let own = plan.out.as_deref().filter(|out| is_built(out));
        let previous = plan.previous.as_deref().or(own).filter(|_| !has_ledger);
        if !has_ledger && previous.is_none() && is_built(&plan.site) {
            listener.says(
                "there is no state, but a sitemap of Rutter's: --previous with the published folder keeps dates",
            );
        }
        if let Some(folder) = previous {
            let n_pages = previous::rebuild(plan, folder, &paths)?;
            listener.says(&format!("state rebuilt from {}: {n_pages} pages", folder.display()));
        }
        let adopts = previous
            .is_some_and(|folder| folder.canonicalize().ok() == plan.target().canonicalize().ok());
        let published = Published::load(&paths)?;
        let published = published.unwrap_or_else(|| Published::new(plan.base.as_str()));
        if published.base != plan.base.as_str() {
            let (theirs, ours) = (published.base, plan.base.as_str().to_owned());
            return Err(BuildError::OtherSite(paths.folder, theirs, ours));
        }
        let (target, site) = (whole(plan.target()), whole(&plan.site));
        // A list of another folder counts for nothing here, but what was made
        // in the site's own folder is not the owner's for that.
        let list = Manifest::load(&paths.files());
        let list = list.map(|(folder, list)| (folder, Arc::new(list)));
        let about = |wanted: &Path| {
            let list = list.as_ref().filter(|(folder, _)| folder == wanted);
            list.map(|(_, list)| Arc::clone(list)).unwrap_or_default()
        };
        let (in_site, manifest) = (about(&site), about(&target));
        drop(list);
        let inventory = match plan.source {
            Source::Lines => Inventory::default(),
            Source::Html | Source::Markdown => {
                inventory::list(plan, &|name| in_site.is_ours(&plan.site, name))?
            }
        };
        if inventory.pages.is_empty() && plan.source != Source::Lines {
            return Err(BuildError::NoPages(plan.site.clone()));
        }
        let mut counts = BTreeMap::new();
        for (place, finding) in &inventory.findings {
            *counts.entry(finding.rule.code).or_default() += 1;
            listener.finding(place, finding);
        }
        let taken = match plan.source {
            Source::Html | Source::Markdown => None,
            Source::Lines => Some(Sources::lines(plan, &mut |place, finding| {
                *counts.entry(finding.rule.code).or_default() += 1;
                listener.finding(place, &finding);
            })?),
        };
        // Our own sitemap in the site's folder is no news.
        let is_ours = plan.out.is_none() && manifest.is_ours(&plan.site, "sitemap.xml");
        let before = match previous {
            Some(folder) => Before::of_folder(plan, folder),
            _ if plan.source == Source::Lines || is_ours => Before::default(),
            _ => Before::read(plan),
        };
        let is_left = |(name, ours): &(&str, Ours)| {
            ours.whose == Whose::Made && target != site && in_site.is_ours(&site, name)
        };
        let left_behind = in_site.iter().filter(is_left).map(|(name, _)| site.join(name));
        let left_behind: Vec<PathBuf> = left_behind.collect();
        let next = paths.folder.join("next");
        drop(fs::remove_dir_all(&next));
        fs::create_dir_all(&next).at(&next)?;
        let templates = load_templates(&paths)?;
        let had_templates = !templates.is_empty();
        let Inventory { pages, others, .. } = inventory;
        let mut build = Self {
            plan,
            next,
            published,
            templates,
            manifest,
            names: Arc::new(pages),
            others,
            taken,
            before,
            counts,
            learned: 0,
            left_behind,
            adopts,
            paths,
        };
        build.choose_sections();
        let (ledger, pack) = (build.paths.ledger(), build.paths.pack());
        build.learned = fit::fit(plan, &build.names, &ledger, &pack, &mut build.templates)?;
        if 0 < build.learned && had_templates {
            listener
                .says("the site looks different: what its pages have in common was learned anew");
        }
        Ok(build)
    }

    /// The owner's choice, else what was chosen before, else what is there.
    fn choose_sections(&mut self) {
        let published = &mut self.published;
        if !self.plan.sections.is_empty() {
            published.sections = Sections::given(&self.plan.base, &self.plan.sections);
            published.is_given = true;
        } else if published.is_given || published.collections.is_empty() {
            let mut of_files = Segments::default();
            for name in self.names.iter() {
                of_files.count(&self.plan.base, name.url);
            }
            let segments = self.taken.as_ref().map_or(&of_files, |taken| &taken.segments);
            published.sections = Sections::found(&self.plan.base, segments);
            published.is_given = false;
        }
    }

    fn run(mut self, listener: &mut dyn Listener) -> Result<Outcome, BuildError> {
        let plan = self.plan;
        let stamp = self.stamp();
        let reading = match self.read(stamp, listener) {
            // A cache that is broken is a cache that is lost.
            Err(BuildError::State(path, _)) if path == self.paths.pack() => {
                fs::remove_file(&path).at(&path)?;
                listener.says("the cache of pages was broken; every page is read anew");
                self.read(stamp, listener)?
            }
            other => other?,
        };
        let words = spxi::secrets(plan);
        for (name, detail) in &words {
            listener.finding(name, &project::finding(&rules::SECRET, detail.clone()));
        }
        let n_private = reading.private + words.len() as u64;
        if n_private != 0 {
            return Err(BuildError::Private(n_private));
        }
        let oversize = reading.findings.get(rules::OVERSIZE.code).copied().unwrap_or(0);
        if oversize != 0 && plan.oversize == Oversize::Stop {
            return Err(BuildError::Oversize(oversize));
        }
        let settings = self.settings();
        let is_other_plan = self.published.settings != settings;
        self.published.settings = settings;
        let before = self.published.collections.clone();
        let sections = self.collect(&reading, stamp, listener)?;
        let expired = collect::expire(&mut self.published, plan);
        if let Some(arc) = &mut self.published.arc {
            arc.restore(&self.paths, plan.target())?;
        }
        let issued = self.published.arc.take();
        self.published.arc =
            feed::issue(plan, issued.as_ref(), (reading.said, reading.is_taken_back), stamp);
        let is_quiet = self.paths.served().is_file()
            && !reading.is_other
            && reading.read == 0
            && !is_other_plan
            && self.learned == 0
            && expired.is_empty()
            && before == self.published.collections
            && issued == self.published.arc;
        self.write_changes()?;
        let (mut written, mut deleted) = (0, 0);
        if is_quiet && self.is_in_place() {
            // What still holds is still said.
            told::each(&self.paths.told(), &mut |rule, place, detail| {
                *self.counts.entry(rule.code).or_default() += 1;
                listener.finding(place, &project::finding(rule, detail));
            });
        } else {
            (written, deleted) = self.publish(&reading, is_quiet, listener)?;
        }
        let outcome = self.outcome(reading, sections, written, deleted);
        Ok(outcome)
    }

    /// When what is published now is said to be published: now, and later than
    /// everything before.
    fn stamp(&self) -> Timestamp {
        let after = self.published.newest().map(|newest| newest.plus_seconds(1));
        after.map_or(self.plan.now, |after| after.max(self.plan.now))
    }

    fn read(
        &mut self,
        stamp: Timestamp,
        listener: &mut dyn Listener,
    ) -> Result<Reading, BuildError> {
        let plan = self.plan;
        let robots = Robots::parse(&owners_robots(plan)?);
        let (sources, n_pages) = match plan.source {
            Source::Html | Source::Markdown => {
                (Sources::files(plan, Arc::clone(&self.names)), self.names.len())
            }
            Source::Lines => {
                // Read once more only after a broken cache; all was said then.
                let taken = match self.taken.take() {
                    Some(taken) => taken,
                    None => Sources::lines(plan, &mut |_, _| {})?,
                };
                (taken.sources, taken.n_pages)
            }
        };
        let git_dates = if plan.git_dates { git::dates(&plan.site) } else { Table::default() };
        let start = Start {
            plan,
            robots: &robots,
            sections: &self.published.sections,
            templates: Arc::new(self.templates.clone()),
            stamp,
            old_ledger: self.paths.ledger(),
            old_pack: self.paths.pack(),
            new_ledger: self.next.join("ledger"),
            new_pack: self.next.join("pack"),
            changes: self.next.join("changes"),
            sitemap_dates: &self.before.dates,
            git_dates,
            n_pages,
            arc: feed::due(plan, self.published.arc.as_ref()),
        };
        let reading = read::read(&start, sources, listener)?;
        if reading.pages == 0 && plan.source == Source::Lines && n_pages == 0 {
            return Err(BuildError::NoPages(plan.site.clone()));
        }
        Ok(reading)
    }

    /// The sections that have collections: `all` alone where there is but one.
    fn offered<'t>(&self, tallies: &'t [Tally]) -> Vec<&'t Tally> {
        let is_single =
            tallies.iter().filter(|tally| tally.name != ALL && tally.pages != 0).count() < 2
                && self.published.sections.names().len() < 2;
        let is_offered = |tally: &&Tally| {
            if tally.name == ALL {
                is_single || self.plan.layers.all
            } else {
                !is_single && (tally.pages != 0 || self.published.last(&tally.name).is_some())
            }
        };
        tallies.iter().filter(is_offered).collect()
    }

    fn collect(
        &mut self,
        reading: &Reading,
        stamp: Timestamp,
        listener: &mut dyn Listener,
    ) -> Result<Vec<SectionOutcome>, BuildError> {
        let plan = self.plan;
        if !plan.layers.collections {
            // What is not offered is taken back.
            self.published.collections.clear();
            return Ok(Vec::new());
        }
        let folder = self.paths.collections();
        fs::create_dir_all(&folder).at(&folder)?;
        self.restore(&folder)?;
        let (ledger, pack) = (self.next.join("ledger"), self.next.join("pack"));
        let sections = self.published.sections.clone();
        let lines = Lines { ledger: &ledger, pack: &pack, sections: &sections };
        let making = Making { plan, lines, stamp, folder: &folder };
        let mut outcomes = Vec::new();
        for tally in self.offered(&reading.tallies) {
            let due = collect::due(tally, &self.published, plan, stamp);
            let counts = &mut self.counts;
            let outcome = collect::make(
                tally,
                due,
                &making,
                &mut self.published,
                &mut |rule: &'static Rule, detail| {
                    *counts.entry(rule.code).or_default() += 1;
                    listener.finding(&tally.name, &project::finding(rule, detail));
                },
            )?;
            outcomes.push(outcome);
            // Earlier ones hold what may no longer be shown.
            if tally.is_barred {
                let is_clean = |one: &Offered| one.section != tally.name || one.generated == stamp;
                self.published.collections.retain(is_clean);
            }
        }
        // Sections that are no longer offered have had their time.
        let offered: Vec<String> = outcomes.iter().map(|outcome| outcome.name.clone()).collect();
        collect::supersede(&mut self.published, plan, stamp, &|one| {
            !offered.contains(&one.section)
        });
        Ok(outcomes)
    }

    /// The store of collections may have been lost while they are still
    /// published; what is in neither place cannot be offered any longer.
    fn restore(&mut self, folder: &Path) -> Result<(), BuildError> {
        let published = self.plan.target().join(SCP);
        let known: Vec<String> = self
            .published
            .collections
            .iter()
            .flat_map(|one| one.files.iter().map(|file| file.name.clone()))
            .collect();
        for name in &known {
            let (kept, there) = (folder.join(name), published.join(name));
            if !kept.exists() && there.exists() {
                fs::copy(&there, &kept).at(&there)?;
            }
        }
        let is_there =
            |one: &Offered| one.files.iter().all(|file| folder.join(&file.name).exists());
        self.published.collections.retain(is_there);
        // What an interrupted build left behind.
        for entry in fs::read_dir(folder).at(folder)? {
            let entry = entry.at(folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !known.contains(&name) {
                fs::remove_file(entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    /// A digest of every choice that decides what is written.
    fn settings(&self) -> String {
        let plan = self.plan;
        // Files of the owner that ours are made of.
        let mut parts = String::new();
        if plan.out.is_some() {
            for name in ["robots.txt", "sitemap.xml", "llms.txt", "_headers"] {
                let bytes = fs::read(plan.site.join(name)).unwrap_or_default();
                parts.push_str(&Digest::of(&bytes).to_string());
            }
        }
        let text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {}.{} {parts}",
            plan.layers,
            plan.arc,
            plan.spxi,
            plan.name,
            plan.summary,
            plan.update,
            plan.target().display(),
            plan.sections,
            plan.replace,
            plan.restricted,
            served::VERSION,
            served::REVISION
        );
        Digest::of(text.as_bytes()).to_string()
    }

    /// Whether everything that was published is still there, untouched.
    fn is_in_place(&self) -> bool {
        let plan = self.plan;
        let pages = self.names.iter().map(|name| name.path);
        let others = self.others.iter().map(|name| &**name);
        let is_made = |name: &str| project::is_made(plan, name);
        !plan.force
            && !self.manifest.is_empty()
            && self.manifest.is_in_place(plan.target())
            && self.are_places_taken()
            && (plan.out.is_none()
                || (!plan.layers.inject
                    && self.manifest.has_copies(&plan.site, pages.chain(others), &is_made)))
    }

    /// Whether the files of others that were in the way still are.
    fn are_places_taken(&self) -> bool {
        let mut are_taken = true;
        told::each(&self.paths.told(), &mut |rule, place, _| {
            let path = self.plan.target().join(place);
            are_taken &= rule != &rules::NOT_OURS || fs::symlink_metadata(path).is_ok();
        });
        are_taken
    }

    fn publish(
        &mut self,
        reading: &Reading,
        is_quiet: bool,
        listener: &mut dyn Listener,
    ) -> Result<(u64, u64), BuildError> {
        let plan = self.plan;
        let may_replace = if plan.force || self.adopts {
            MayReplace::All
        } else {
            MayReplace::Ours(plan.replace.clone())
        };
        let manifest = std::mem::take(&mut self.manifest);
        let mut stage = Stage::open(&self.paths, plan.target(), manifest, may_replace)?;
        let counts = &mut self.counts;
        let told_path = self.next.join("told");
        let mut kept = ToldWriter::create(&told_path)?;
        let mut told = |place: &str, rule: &'static Rule, detail: String| {
            *counts.entry(rule.code).or_default() += 1;
            kept.push(rule, place, &detail);
            listener.finding(place, &project::finding(rule, detail));
        };
        for file in self.published.collections.iter().flat_map(|one| &one.files) {
            let source = self.paths.collections().join(&file.name);
            let name = format!("{SCP}/{}", file.name);
            let kind = (Whose::Made, Order::Collections);
            if stage.copy(kind, &name, &source, None)? == Put::NotOurs {
                told(&name, &rules::NOT_OURS, String::new());
            }
        }
        let (ledger, pack) = (self.next.join("ledger"), self.next.join("pack"));
        let (served, private) = (self.next.join("served"), self.next.join("private"));
        let projecting = Projecting {
            plan,
            sections: &self.published.sections,
            names: &self.names,
            others: &self.others,
            ledger: &ledger,
            pack: &pack,
            before: &self.before,
            published: &self.published,
            tallies: &reading.tallies,
            served: served.clone(),
            private: private.clone(),
            deltas: (self.paths.deltas(), self.next.join("arc")),
            n_public: usize::try_from(reading.pages).unwrap_or(usize::MAX),
            entity_pages: spxi::public_pages(plan, &ledger)?,
        };
        projecting.run(&mut stage, &mut told)?;
        kept.finish()?;
        if is_quiet && stage.is_idle() {
            stage.forget();
            return Ok((0, 0));
        }
        let (chain, templates) = (self.next.join("chain"), self.next.join("templates"));
        self.published.save(&chain)?;
        let mut kept = self.templates.clone();
        if 0 < self.learned {
            kept.retain(&reading.used);
        }
        let text = serde_json::to_vec(&kept).expect("templates are JSON");
        fs::write(&templates, text).at(&templates)?;
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
        } else if let Some(folder) = self.paths.private().parent().filter(|it| it.exists()) {
            fs::remove_dir_all(folder).at(folder)?;
        }
        state.extend([
            (ledger, self.paths.ledger()),
            (pack, self.paths.pack()),
            (templates, self.paths.templates()),
            (served, self.paths.served()),
            (told_path, self.paths.told()),
            (chain, self.paths.chain()),
        ]);
        let done = stage.publish(&self.paths, state, &self.left_behind)?;
        self.sweep()?;
        Ok(done)
    }

    /// What is no longer on offer is not kept either.
    fn sweep(&self) -> Result<(), BuildError> {
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

    fn write_changes(&self) -> Result<(), BuildError> {
        if let Some(list) = &self.plan.changed_list {
            let changes = self.next.join("changes");
            fs::copy(&changes, list).at(list)?;
        }
        Ok(())
    }

    fn outcome(
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
            excluded: excluded.map(|(reason, pages)| Excluded { reason, pages }).collect(),
            failed: reading.failed,
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

/// What was being made goes, however the build ends.
impl Drop for Build<'_> {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.next));
    }
}

/// Whether a folder has a sitemap that a build wrote.
fn is_built(folder: &Path) -> bool {
    let text = fs::read(folder.join("sitemap.xml")).unwrap_or_default();
    let start = text.get(..4096).unwrap_or(&text);
    memchr::memmem::find(start, b"<scp:version>").is_some()
}

/// The owner's robots.txt. One that cannot be read must not count as none.
fn owners_robots(plan: &Plan) -> Result<Vec<u8>, BuildError> {
    let path = plan.site.join("robots.txt");
    match fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(BuildError::Io(path, error)),
    }
}

fn load_templates(paths: &Paths) -> Result<Templates, BuildError> {
    let path = paths.templates();
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| BuildError::State(path, error.line() as u64)),
        Err(_) => Ok(Templates::default()),
    }
}
