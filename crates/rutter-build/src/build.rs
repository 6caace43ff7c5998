//! The whole way of a build, on one screen: state, names, pass 1, what is due,
//! pass 3, pass 2, pass 4.

mod finish;
mod rebuild;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_extract::Templates;
use rutter_finding::Rule;
use rutter_page::{Digest, Timestamp};
use rutter_signpost::robots::Robots;

use self::rebuild::{owners_robots, rebuild_state};
use crate::address_scheme::AddressScheme;
use crate::chain::{CodedFile, Offered, Published};
use crate::collect::{self, Lines, Making};
use crate::error::{At, BuildError};
use crate::gate;
use crate::git::GitDates;
use crate::inventory::{self, Inventory};
use crate::manifest::{Manifest, Ours, Whose};
use crate::outcome::{Listener, Outcome, SectionOutcome};
use crate::own_marks::{self, OwnMarks};
use crate::plan::{Oversize, Plan, Source};
use crate::project::{self, Projecting};
use crate::publish::{self, MayReplace, Order, Put, Stage};
use crate::read::{self, Reading, Start, Tally};
use crate::section::{ALL, Sections, Segments};
use crate::signs::SCP;
use crate::site_sitemap::{Before, SiteSitemap, Standing};
use crate::sources::{Sources, Taken};
use crate::state::{Lock, Paths, copy_whole, remove_folder, whole};
use crate::table::Table;
use crate::told::{self, ToldWriter};
use crate::{feed, fit, git, listing, recall, rules, served, spxi};

/// Builds a site: reads its pages, decides what changed, writes every artefact
/// and swaps them in. The same input and time give the same bytes.
pub fn build(plan: &Plan, listener: &mut dyn Listener) -> Result<Outcome, BuildError> {
    let paths = Paths::new(&plan.state);
    let _lock = Lock::take(&paths)?;
    if publish::roll_forward(&paths)? {
        listener.says("an interrupted publication was finished first");
    }
    let resolved = spxi::with_published_pages(plan)?;
    Build::open(resolved.as_ref().unwrap_or(plan), paths, listener)?.run(listener)
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
    /// Folders of the site that cannot be read.
    unreadable: Vec<String>,
    /// Files of the site, without pages, that could not be copied.
    n_unread: u64,
    /// Pages that came as lines, until they are read.
    taken: Option<Taken>,
    before: Before,
    /// The sitemap that others wrote.
    theirs: SiteSitemap,
    counts: BTreeMap<&'static str, u64>,
    learned: usize,
    /// Files we made in the site's own folder, when another is written to now.
    left_behind: Vec<PathBuf>,
    /// Whether the state was rebuilt from the very folder that is written to.
    adopts: bool,
    /// Whether an interrupted publication lost state files.
    is_incomplete: bool,
}

impl<'p> Build<'p> {
    fn open(plan: &'p Plan, paths: Paths, listener: &mut dyn Listener) -> Result<Self, BuildError> {
        fs::create_dir_all(plan.target()).at(plan.target())?;
        let has_ledger = paths.ledger().exists();
        let previous = rebuild_state(plan, &paths, has_ledger, listener)?;
        // What is in a folder that Rutter filled is its own; in the site's own
        // folder, marks tell.
        let adopts = plan.out.is_some()
            && previous
                .is_some_and(|it| it.canonicalize().ok() == plan.target().canonicalize().ok());
        let is_incomplete = recall::tell_lost(&paths, listener)?;
        let published = recall::published(plan, &paths)?;
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
        // Where the list is lost, a twin is known by its mark.
        let has_twins = in_site.is_empty() && plan.source == Source::Html;
        let is_ours = |name: &str| {
            in_site.is_ours(&plan.site, name) || (has_twins && own_marks::is_twin(&plan.site, name))
        };
        let mut theirs = SiteSitemap::read(plan, &paths, &is_ours)?;
        theirs.save(plan, &paths)?;
        let mut votes = std::mem::take(&mut theirs.votes);
        if votes.is_empty() && !paths.ledger().exists() {
            votes = rebuild::published_votes(plan);
        }
        let scheme = AddressScheme::of_site(plan, votes, &paths.ledger())?;
        let mut inventory = match plan.source {
            Source::Lines => Inventory::default(),
            Source::Html | Source::Markdown => inventory::list(plan, &scheme, &is_ours)?,
        };
        inventory.keep_unreadable((plan, &scheme), &paths.ledger(), &manifest)?;
        if inventory.pages.is_empty() && plan.source != Source::Lines {
            return Err(BuildError::NoPages(plan.site.clone()));
        }
        if let Some(written) = gate::unused_restriction(plan) {
            return Err(BuildError::Unused(written.clone()));
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
        let before = match previous {
            Some(folder) if theirs.standing == Standing::Absent => Before::of_folder(plan, folder),
            _ => std::mem::take(&mut theirs.before),
        };
        let is_left = |(name, ours): &(&str, Ours)| {
            ours.whose == Whose::Made && target != site && in_site.is_ours(&site, name)
        };
        let left_behind = in_site.iter().filter(is_left).map(|(name, _)| site.join(name));
        let left_behind: Vec<PathBuf> = left_behind.collect();
        let next = paths.folder.join("next");
        remove_folder(&next)?;
        fs::create_dir_all(&next).at(&next)?;
        let templates = recall::templates(&paths)?;
        let had_templates = !templates.is_empty();
        let Inventory { pages, others, unreadable, .. } = inventory;
        let mut build = Self {
            plan,
            next,
            published,
            templates,
            manifest,
            names: Arc::new(pages),
            others,
            unreadable,
            n_unread: 0,
            taken,
            before,
            theirs,
            counts,
            learned: 0,
            left_behind,
            adopts,
            is_incomplete,
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
        let mut reading = match self.read(stamp, listener) {
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
        if !plan.redate {
            recall::must_not_be_ahead(reading.newest, plan.now)?;
        }
        if plan.purge {
            reading.purge(&self.published);
        }
        if !plan.allow_mass_delete {
            reading.guarded.check(reading.pages, reading.removed)?;
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
        self.published.arc = feed::issue(plan, issued.as_ref(), &reading, stamp);
        let is_quiet = recall::is_served_whole(&self.paths)
            && !self.is_incomplete
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
                (Sources::files(Arc::clone(&self.names)), self.names.len())
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
        let git_dates = match plan.git_dates.then(|| git::dates(plan, &self.names)) {
            Some(GitDates::Found(dates)) => dates,
            Some(GitDates::Nothing(why)) => {
                listener.says(&why);
                Table::default()
            }
            None => Table::default(),
        };
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
        }
        // Earlier collections hold what may no longer be shown, also those of
        // sections that are no longer offered: any of them may hold the page.
        let offered: Vec<&str> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
        let is_any_barred = reading.tallies.iter().any(|tally| tally.is_barred);
        let is_barred = |section: &str| {
            let mut tallies = reading.tallies.iter();
            let is_own = tallies.any(|tally| tally.is_barred && tally.name == section);
            is_own || (is_any_barred && !offered.contains(&section))
        };
        let is_clean = |one: &Offered| one.generated == stamp || !is_barred(&one.section);
        self.published.collections.retain(is_clean);
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
                copy_whole(&there, &kept)?;
            }
        }
        let is_whole = |file: &CodedFile| {
            let found = fs::metadata(folder.join(&file.name));
            found.is_ok_and(|found| found.len() == file.bytes)
        };
        let is_there = |one: &Offered| one.files.iter().all(is_whole);
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
            for name in ["robots.txt", "llms.txt", "_headers"] {
                let bytes = rutter_root::read(&plan.site, name).unwrap_or_default();
                parts.push_str(&Digest::of(&bytes).to_string());
            }
        }
        let text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {}.{}.{} {parts} {} {:?}",
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
            served::REVISION,
            listing::RULES,
            self.theirs.digest,
            self.theirs.standing
        );
        Digest::of(text.as_bytes()).to_string()
    }

    /// Whether everything that was published is still there, untouched.
    fn is_in_place(&self) -> bool {
        let plan = self.plan;
        let pages = self.names.iter().map(|name| name.path);
        let others = self.others.iter().map(|name| &**name);
        let is_made = |name: &str| project::is_made(plan, &self.theirs, name);
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
            let is_replaced = self.theirs.standing == Standing::Replaced;
            let theirs = self.theirs.files.iter().filter(|_| is_replaced);
            let names = theirs.map(|file| file.name.clone());
            MayReplace::Ours(plan.replace.iter().cloned().chain(names).collect())
        };
        let manifest = std::mem::take(&mut self.manifest);
        // A ledger shows that this is not the first build.
        let has_lost_list = manifest.is_empty() && self.paths.ledger().exists();
        let marks = if manifest.is_empty() {
            OwnMarks::read(&plan.base, plan.target(), &self.paths.deltas())
        } else {
            OwnMarks::default()
        };
        let is_list_lost = !marks.is_empty();
        let mut stage = Stage::open(&self.paths, plan.target(), manifest, may_replace)?;
        stage.recognise(marks);
        let mut unrecognised: Vec<String> = Vec::new();
        let counts = &mut self.counts;
        let told_path = self.next.join("told");
        let mut kept = ToldWriter::create(&told_path)?;
        let mut told = |place: &str, rule: &'static Rule, detail: String| {
            *counts.entry(rule.code).or_default() += 1;
            kept.push(rule, place, &detail);
            let is_in_the_way = is_list_lost && rule == &rules::NOT_OURS;
            // What Rutter never writes is the owner's.
            if is_in_the_way && own_marks::may_be_unmarked(plan.target(), place) {
                unrecognised.push(place.to_owned());
            }
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
        let projecting = Projecting {
            plan,
            sections: &self.published.sections,
            names: &self.names,
            others: &self.others,
            unreadable: &self.unreadable,
            ledger: &ledger,
            pack: &pack,
            before: &self.before,
            theirs: &self.theirs,
            published: &self.published,
            tallies: &reading.tallies,
            served: self.next.join("served"),
            private: self.next.join("private"),
            deltas: (self.paths.deltas(), self.next.join("arc")),
            n_public: usize::try_from(reading.pages).unwrap_or(usize::MAX),
            entity_pages: spxi::public_pages(plan, &ledger)?,
        };
        let parts = projecting.run(&mut stage, &mut told)?;
        if has_lost_list {
            stage.take_away(self.stray_twins());
        }
        self.n_unread = stage.n_unread();
        self.published.sitemaps = parts;
        kept.finish()?;
        // A sitemap that is kept is known to be somebody else's.
        unrecognised.retain(|name| self.theirs.files.iter().all(|file| file.name != *name));
        if let Some(first) = unrecognised.first() {
            let (folder, n) = (plan.target().to_owned(), unrecognised.len() as u64);
            return Err(BuildError::Unrecognised { folder, n, first: first.clone() });
        }
        let mut left_behind = self.left_behind.clone();
        left_behind.extend(self.replaced_files(&stage));
        if is_quiet && stage.is_idle() && left_behind.is_empty() {
            stage.forget();
            return Ok((0, 0));
        }
        let state = self.state_files(reading)?;
        let done = stage.publish(&self.paths, state, &left_behind)?;
        if self.is_incomplete {
            fs::remove_file(self.paths.incomplete()).at(&self.paths.incomplete())?;
        }
        if let Some(folder) = self.paths.private().parent().filter(|_| !plan.arc.private) {
            remove_folder(folder)?;
        }
        self.sweep()?;
        Ok(done)
    }

    /// The twins of the target, where no list tells which are there. Where
    /// Markdown is the source, the owner's own files lie there.
    fn stray_twins(&self) -> Vec<String> {
        let plan = self.plan;
        if plan.source == Source::Markdown && plan.out.is_none() {
            return Vec::new();
        }
        let kept = std::iter::once(&plan.state).chain(&plan.kept_out);
        let kept: Vec<PathBuf> = kept.filter_map(|path| path.canonicalize().ok()).collect();
        own_marks::twins(plan.target(), &|name, path| {
            plan.exclude.iter().any(|glob| glob.matches(name))
                || path.canonicalize().is_ok_and(|path| kept.contains(&path))
        })
    }
}

/// Deletes the files of a build that ended, unless a journal names them: then
/// they are published by the next command.
impl Drop for Build<'_> {
    fn drop(&mut self) {
        let journal = fs::symlink_metadata(self.paths.journal());
        if journal.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            drop(fs::remove_dir_all(&self.next));
        }
    }
}
