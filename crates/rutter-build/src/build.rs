//! Runs a build: opens the state, lists the pages, reads them (pass 1), writes the collections
//! (pass 3) and the other layers (pass 2), and publishes (pass 4).

mod finish;
mod inputs;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_extract::Templates;
use rutter_finding::Rule;
use rutter_page::{Digest, Timestamp};
use rutter_robots::Robots;
use rutter_site::{
    ALL, EncodedFile, FileRecord, Manifest, Owner, Publication, PublishedCollection, StateLock,
    StatePaths, absolute_path, copy_atomically,
    file_marks::{self, FileMarks},
    remove_folder,
};
use rutter_site::{
    FindingsLogWriter, SERVED_REVISION, SERVED_VERSION, for_each_finding, is_served_intact,
    load_templates, roll_forward,
};

use self::inputs::{read_robots, rebuild_state};
use crate::address::SCP;
use crate::error::{BuildError, IoErrorContext};
use crate::layers::llms;
use crate::name_table::NameTable;
use crate::plan::{BuildPlan, OversizePolicy, SourceKind};
use crate::section::SegmentCounts;
use crate::stages::collect::{CollectionContext, SectionLines};
use crate::stages::inventory::Inventory;
use crate::stages::inventory::address_scheme::AddressScheme;
use crate::stages::inventory::site_sitemap::{PreviousSitemap, SiteSitemap, SitemapDecision};
use crate::stages::inventory::sources::{LoadedLines, PageSources};
use crate::stages::project::LayerPass;
use crate::stages::read::git::GitDates;
use crate::stages::read::{PassInput, ReadTotals, SectionTally, git, templates};
use crate::stages::{collect, inventory, project, read};
use crate::staging::{PublishOrder, ReplacePolicy, StageResult, StagingArea};
use crate::state::saved_state;
use crate::summary::{BuildEvents, BuildSummary, SectionSummary};
use crate::{arc_publication, entities, exclusion, rules, section};

/// Builds a site: reads its pages, decides what changed, writes all artifacts and publishes them in
/// one transaction. The same input and time produce the same bytes.
///
/// # Errors
///
/// Returns an error if the build cannot be done or would publish what the plan forbids. The
/// published files are then unchanged, unless the error occurs while files are moved into place:
/// then the next command completes the publication.
pub fn build(plan: &BuildPlan, events: &mut dyn BuildEvents) -> Result<BuildSummary, BuildError> {
    let paths = StatePaths::new(&plan.state);
    let _lock = StateLock::acquire(&paths)?;
    if roll_forward(&paths)? {
        events.message("completed an interrupted publication");
    }
    let resolved = entities::with_published_pages(plan)?;
    Build::open(resolved.as_ref().unwrap_or(plan), paths, events)?.run(events)
}

/// A running build: its plan, its inputs and the state of the last build.
struct Build<'p> {
    plan: &'p BuildPlan,
    paths: StatePaths,
    next: PathBuf,
    published: Publication,
    templates: Templates,
    manifest: Arc<Manifest>,
    names: Arc<inventory::PageFiles>,
    others: Vec<Box<str>>,
    /// Folders of the site that cannot be read.
    unreadable: Vec<String>,
    /// Number of files of the site, except pages, that could not be copied.
    n_uncopied: u64,
    /// Pages of a JSON Lines source; `None` for other sources, and after the pages were read.
    lines: Option<LoadedLines>,
    previous_sitemap: PreviousSitemap,
    /// The sitemap of the site's generator.
    site_sitemap: SiteSitemap,
    counts: BTreeMap<&'static str, u64>,
    learned: usize,
    /// Artifacts of earlier builds in the site's own folder, which are obsolete because the output
    /// now goes to another folder.
    obsolete: Vec<PathBuf>,
    /// Whether the state was rebuilt from the output folder.
    owns_output: bool,
    /// Whether state files were lost in an interrupted publication.
    is_incomplete: bool,
}

impl<'p> Build<'p> {
    fn open(
        plan: &'p BuildPlan,
        paths: StatePaths,
        events: &mut dyn BuildEvents,
    ) -> Result<Self, BuildError> {
        fs::create_dir_all(plan.target()).at(plan.target())?;
        let has_ledger = paths.ledger().exists();
        let previous = rebuild_state(plan, &paths, has_ledger, events)?;
        // All files of a separate output folder belong to Rutter; in the site's own folder, marks
        // identify the files that Rutter wrote.
        let owns_output = plan.out.is_some()
            && previous
                .is_some_and(|it| it.canonicalize().ok() == plan.target().canonicalize().ok());
        let is_incomplete = saved_state::report_lost_files(&paths, events)?;
        let published = saved_state::load_publication(plan, &paths)?;
        let (target, site) = (absolute_path(plan.target()), absolute_path(&plan.site));
        // A manifest that was written for another output folder does not apply to this one, but it
        // still identifies artifacts in the site's own folder.
        let list = Manifest::load(&paths.files());
        let list = list.map(|(folder, list)| (folder, Arc::new(list)));
        let manifest_of = |wanted: &Path| {
            let list = list.as_ref().filter(|(folder, _)| folder == wanted);
            list.map(|(_, list)| Arc::clone(list)).unwrap_or_default()
        };
        let (in_site, manifest) = (manifest_of(&site), manifest_of(&target));
        drop(list);
        // If the manifest is lost, the marks in the files identify the Markdown twins.
        let has_twins = in_site.is_empty() && plan.source == SourceKind::Html;
        let is_own_file = |name: &str| {
            in_site.is_own_file(&plan.site, name)
                || (has_twins && file_marks::is_twin(&plan.site, name))
        };
        let mut site_sitemap = SiteSitemap::read(plan, &paths, &is_own_file)?;
        site_sitemap.save(plan, &paths)?;
        let mut votes = std::mem::take(&mut site_sitemap.votes);
        if votes.is_empty() && !paths.ledger().exists() {
            votes = inputs::published_votes(plan);
        }
        let scheme = AddressScheme::of_site(plan, votes, &paths.ledger())?;
        let mut inventory = match plan.source {
            SourceKind::Lines => Inventory::default(),
            SourceKind::Html | SourceKind::Markdown => {
                inventory::list(plan, &scheme, &is_own_file)?
            }
        };
        inventory.keep_unreadable((plan, &scheme), &paths.ledger(), &manifest)?;
        if inventory.pages.is_empty() && plan.source != SourceKind::Lines {
            return Err(BuildError::NoPages(plan.site.clone()));
        }
        if let Some(written) = exclusion::find_unused_restriction(plan) {
            return Err(BuildError::UnusedRestriction(written.clone()));
        }
        let mut counts = BTreeMap::new();
        for (place, finding) in &inventory.findings {
            *counts.entry(finding.rule.code).or_default() += 1;
            events.finding(place, finding);
        }
        let lines = match plan.source {
            SourceKind::Html | SourceKind::Markdown => None,
            SourceKind::Lines => Some(PageSources::lines(plan, &mut |place, finding| {
                *counts.entry(finding.rule.code).or_default() += 1;
                events.finding(place, &finding);
            })?),
        };
        let previous_sitemap = match previous {
            Some(folder) if site_sitemap.decision == SitemapDecision::Absent => {
                PreviousSitemap::of_folder(plan, folder)
            }
            _ => std::mem::take(&mut site_sitemap.previous_sitemap),
        };
        let is_obsolete = |(name, record): &(&str, FileRecord)| {
            record.owner == Owner::Rutter && target != site && in_site.is_own_file(&site, name)
        };
        let obsolete = in_site.iter().filter(is_obsolete).map(|(name, _)| site.join(name));
        let obsolete: Vec<PathBuf> = obsolete.collect();
        let next = paths.folder.join("next");
        remove_folder(&next)?;
        fs::create_dir_all(&next).at(&next)?;
        let templates = load_templates(&paths)?;
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
            n_uncopied: 0,
            lines,
            previous_sitemap,
            site_sitemap,
            counts,
            learned: 0,
            obsolete,
            owns_output,
            is_incomplete,
            paths,
        };
        build.choose_sections();
        let (ledger, pack) = (build.paths.ledger(), build.paths.pack());
        build.learned =
            templates::update_templates(plan, &build.names, &ledger, &pack, &mut build.templates)?;
        if 0 < build.learned && had_templates {
            events.message("the templates of the site changed and were learned again");
        }
        Ok(build)
    }

    /// Sets the sections of the site: the sections of the plan, else the sections of the last
    /// build, else the sections that follow from the page URLs.
    fn choose_sections(&mut self) {
        let published = &mut self.published;
        if !self.plan.sections.is_empty() {
            published.sections = section::from_rules(&self.plan.base, &self.plan.sections);
            published.is_given = true;
        } else if published.is_given || published.collections.is_empty() {
            let mut of_files = SegmentCounts::default();
            for name in self.names.iter() {
                of_files.count(&self.plan.base, name.url);
            }
            let segments = self.lines.as_ref().map_or(&of_files, |lines| &lines.segments);
            published.sections = section::from_segments(&self.plan.base, segments);
            published.is_given = false;
        }
    }

    fn run(mut self, events: &mut dyn BuildEvents) -> Result<BuildSummary, BuildError> {
        let plan = self.plan;
        let stamp = self.stamp();
        let mut reading = match self.read(stamp, events) {
            // A damaged page cache is deleted, and all pages are read again.
            Err(BuildError::DamagedState(path, _)) if path == self.paths.pack() => {
                fs::remove_file(&path).at(&path)?;
                events.message("the page cache is damaged; reading all pages again");
                self.read(stamp, events)?
            }
            other => other?,
        };
        let secrets = entities::find_secrets(plan);
        for (name, detail) in &secrets {
            events.finding(name, &project::finding(&rules::SECRET, detail.clone()));
        }
        let n_private = reading.private + secrets.len() as u64;
        if n_private != 0 {
            return Err(BuildError::PrivateData(n_private));
        }
        let oversize = reading.findings.get(rules::OVERSIZE.code).copied().unwrap_or(0);
        if oversize != 0 && plan.oversize == OversizePolicy::Stop {
            return Err(BuildError::Oversize(oversize));
        }
        if !plan.redate {
            saved_state::check_not_in_future(reading.newest, plan.now)?;
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
        let sections = self.collect(&reading, stamp, events)?;
        let expired = collect::expire(&mut self.published, plan);
        if let Some(arc) = &mut self.published.arc {
            arc_publication::restore_deltas(arc, &self.paths, plan.target())?;
        }
        let issued = self.published.arc.take();
        self.published.arc =
            arc_publication::next_publication(plan, issued.as_ref(), &reading.arc, stamp);
        let is_quiet = is_served_intact(&self.paths.served())
            && !self.is_incomplete
            && !reading.is_ledger_changed
            && reading.read == 0
            && reading.judged == 0
            && !is_other_plan
            && self.learned == 0
            && expired.is_empty()
            && before == self.published.collections
            && issued == self.published.arc;
        self.write_changes()?;
        let (mut written, mut deleted) = (0, 0);
        if is_quiet && self.is_in_place() {
            // The findings of the last publication still apply and are reported again.
            for_each_logged(&self.paths.findings_log(), &mut |rule, place, detail| {
                *self.counts.entry(rule.code).or_default() += 1;
                events.finding(place, &project::finding(rule, detail));
            });
        } else {
            (written, deleted) = self.publish(&reading, is_quiet, events)?;
        }
        let outcome = self.outcome(reading, sections, written, deleted);
        Ok(outcome)
    }

    /// Returns the publication time of this build: the current time, or one second after the newest
    /// time in the publication record if that is later.
    fn stamp(&self) -> Timestamp {
        let after = self.published.newest().map(|newest| newest.plus_seconds(1));
        after.map_or(self.plan.now, |after| after.max(self.plan.now))
    }

    fn read(
        &mut self,
        stamp: Timestamp,
        events: &mut dyn BuildEvents,
    ) -> Result<ReadTotals, BuildError> {
        let plan = self.plan;
        let robots = Robots::parse(&read_robots(plan)?);
        let (sources, n_pages) = match plan.source {
            SourceKind::Html | SourceKind::Markdown => {
                (PageSources::files(Arc::clone(&self.names)), self.names.len())
            }
            SourceKind::Lines => {
                // The lines are read a second time only after the page cache was found damaged;
                // their findings are already reported.
                let lines = match self.lines.take() {
                    Some(lines) => lines,
                    None => PageSources::lines(plan, &mut |_, _| {})?,
                };
                (lines.sources, lines.n_pages)
            }
        };
        let git_dates = match plan.git_dates.then(|| git::dates(plan, &self.names)) {
            Some(GitDates::Found(dates)) => dates,
            Some(GitDates::Unavailable(why)) => {
                events.message(&why);
                NameTable::default()
            }
            None => NameTable::default(),
        };
        let start = PassInput {
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
            sitemap_dates: &self.previous_sitemap.dates,
            git_dates,
            n_pages,
            arc: arc_publication::entry_scope(plan, self.published.arc.as_ref()),
        };
        let reading = read::read(&start, sources, events)?;
        if reading.pages == 0 && plan.source == SourceKind::Lines && n_pages == 0 {
            return Err(BuildError::NoPages(plan.site.clone()));
        }
        Ok(reading)
    }

    /// Returns the sections that get collections. If the site has a single section, that is `all`.
    fn offered<'t>(&self, tallies: &'t [SectionTally]) -> Vec<&'t SectionTally> {
        let is_single =
            tallies.iter().filter(|tally| tally.name != ALL && tally.pages != 0).count() < 2
                && self.published.sections.names().len() < 2;
        let is_offered = |tally: &&SectionTally| {
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
        reading: &ReadTotals,
        stamp: Timestamp,
        events: &mut dyn BuildEvents,
    ) -> Result<Vec<SectionSummary>, BuildError> {
        let plan = self.plan;
        if !plan.layers.collections {
            // All collections are withdrawn if the site owner turns this layer off.
            self.published.collections.clear();
            return Ok(Vec::new());
        }
        let folder = self.paths.collections();
        fs::create_dir_all(&folder).at(&folder)?;
        self.restore_collections(&folder)?;
        let (ledger, pack) = (self.next.join("ledger"), self.next.join("pack"));
        let sections = self.published.sections.clone();
        let section_lines = SectionLines { ledger: &ledger, pack: &pack, sections: &sections };
        let context = CollectionContext { plan, lines: section_lines, stamp, folder: &folder };
        let mut outcomes = Vec::new();
        for tally in self.offered(&reading.tallies) {
            let due = collect::due_collections(tally, &self.published, plan, stamp);
            let counts = &mut self.counts;
            let outcome = collect::write_due(
                tally,
                due,
                &context,
                &mut self.published,
                &mut |rule: &'static Rule, detail| {
                    *counts.entry(rule.code).or_default() += 1;
                    events.finding(&tally.name, &project::finding(rule, detail));
                },
            )?;
            outcomes.push(outcome);
        }
        // Collections that contain pages which are no longer public are withdrawn. A collection of
        // a former section may contain any page.
        let offered: Vec<&str> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
        let any_holds_excluded = reading.tallies.iter().any(|tally| tally.holds_excluded);
        let holds_excluded = |section: &str| {
            let mut tallies = reading.tallies.iter();
            let is_own = tallies.any(|tally| tally.holds_excluded && tally.name == section);
            is_own || (any_holds_excluded && !offered.contains(&section))
        };
        let is_clean =
            |one: &PublishedCollection| one.generated == stamp || !holds_excluded(&one.section);
        self.published.collections.retain(is_clean);
        // Collections of former sections expire.
        let offered: Vec<String> = outcomes.iter().map(|outcome| outcome.name.clone()).collect();
        collect::supersede(&mut self.published, plan, stamp, &|one| {
            !offered.contains(&one.section)
        });
        Ok(outcomes)
    }

    /// Restores collections that are missing in the state from the output folder. A collection that
    /// is in neither folder is removed from the publication record.
    fn restore_collections(&mut self, folder: &Path) -> Result<(), BuildError> {
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
                copy_atomically(&there, &kept)?;
            }
        }
        let is_whole = |file: &EncodedFile| {
            let found = fs::metadata(folder.join(&file.name));
            found.is_ok_and(|found| found.len() == file.bytes)
        };
        let is_there = |one: &PublishedCollection| one.files.iter().all(is_whole);
        self.published.collections.retain(is_there);
        // Files that the publication record does not name are left over from an interrupted build.
        for entry in fs::read_dir(folder).at(folder)? {
            let entry = entry.at(folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !known.contains(&name) {
                fs::remove_file(entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns a digest of all settings, and of the site owner's files that artifacts are merged
    /// with.
    fn settings(&self) -> String {
        let plan = self.plan;
        // Digests of the site owner's files that artifacts are merged with.
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
            SERVED_VERSION,
            SERVED_REVISION,
            llms::RULES,
            self.site_sitemap.digest,
            self.site_sitemap.decision
        );
        Digest::of(text.as_bytes()).to_string()
    }

    /// Returns whether all published files still exist and are unchanged.
    fn is_in_place(&self) -> bool {
        let plan = self.plan;
        let pages = self.names.iter().map(|name| name.path);
        let others = self.others.iter().map(|name| &**name);
        let is_made = |name: &str| project::is_written_by_rutter(plan, &self.site_sitemap, name);
        !plan.force
            && !self.manifest.is_empty()
            && self.manifest.is_in_place(plan.target())
            && self.are_foreign_files_unchanged()
            && (plan.out.is_none()
                || (!plan.layers.inject
                    && self.manifest.has_copies(&plan.site, pages.chain(others), &is_made)))
    }

    /// Returns whether the foreign files that blocked artifacts still exist.
    fn are_foreign_files_unchanged(&self) -> bool {
        let mut are_unchanged = true;
        for_each_logged(&self.paths.findings_log(), &mut |rule, place, _| {
            let path = self.plan.target().join(place);
            are_unchanged &= rule != &rules::FOREIGN_FILE || fs::symlink_metadata(path).is_ok();
        });
        are_unchanged
    }

    fn publish(
        &mut self,
        reading: &ReadTotals,
        is_quiet: bool,
        events: &mut dyn BuildEvents,
    ) -> Result<(u64, u64), BuildError> {
        let plan = self.plan;
        let may_replace = if plan.force || self.owns_output {
            ReplacePolicy::All
        } else {
            let is_replaced = self.site_sitemap.decision == SitemapDecision::Replaced;
            let site_sitemap = self.site_sitemap.files.iter().filter(|_| is_replaced);
            let names = site_sitemap.map(|file| file.name.clone());
            ReplacePolicy::Own(plan.replace.iter().cloned().chain(names).collect())
        };
        let manifest = std::mem::take(&mut self.manifest);
        // An existing ledger shows that this is not the first build.
        let has_lost_manifest = manifest.is_empty() && self.paths.ledger().exists();
        let marks = if manifest.is_empty() {
            FileMarks::read(plan.base.as_str(), plan.target(), &self.paths.deltas())
        } else {
            FileMarks::default()
        };
        let is_manifest_lost = !marks.is_empty();
        let mut stage = StagingArea::open(&self.paths, plan.target(), manifest, may_replace)?;
        stage.recognise(marks);
        let mut unrecognised: Vec<String> = Vec::new();
        let counts = &mut self.counts;
        let log_path = self.next.join("told");
        let mut log = FindingsLogWriter::create(&log_path)?;
        let mut report = |place: &str, rule: &'static Rule, detail: String| {
            *counts.entry(rule.code).or_default() += 1;
            log.push(rule.code, place, &detail);
            let is_in_the_way = is_manifest_lost && rule == &rules::FOREIGN_FILE;
            // A file of a kind that Rutter never writes belongs to the site owner.
            if is_in_the_way && file_marks::may_be_unmarked(plan.target(), place) {
                unrecognised.push(place.to_owned());
            }
            events.finding(place, &project::finding(rule, detail));
        };
        for file in self.published.collections.iter().flat_map(|one| &one.files) {
            let source = self.paths.collections().join(&file.name);
            let name = format!("{SCP}/{}", file.name);
            let kind = (Owner::Rutter, PublishOrder::Collections);
            if stage.copy(kind, &name, &source, None)? == StageResult::ForeignFile {
                report(&name, &rules::FOREIGN_FILE, String::new());
            }
        }
        let (ledger, pack) = (self.next.join("ledger"), self.next.join("pack"));
        let pass = LayerPass {
            plan,
            sections: &self.published.sections,
            names: &self.names,
            others: &self.others,
            unreadable: &self.unreadable,
            ledger: &ledger,
            pack: &pack,
            previous_sitemap: &self.previous_sitemap,
            site_sitemap: &self.site_sitemap,
            published: &self.published,
            tallies: &reading.tallies,
            served: self.next.join("served"),
            private: self.next.join("private"),
            deltas: (self.paths.deltas(), self.next.join("arc")),
            n_public: usize::try_from(reading.pages).unwrap_or(usize::MAX),
            entity_pages: entities::public_pages(plan, &ledger)?,
        };
        let parts = pass.run(&mut stage, &mut report)?;
        if has_lost_manifest {
            stage.remove_strays(self.unlisted_twins());
        }
        self.n_uncopied = stage.n_uncopied();
        self.published.sitemaps = parts;
        log.finish()?;
        // A sitemap of the site's generator belongs to the site owner.
        unrecognised.retain(|name| self.site_sitemap.files.iter().all(|file| file.name != *name));
        if let Some(first) = unrecognised.first() {
            let (folder, n) = (plan.target().to_owned(), unrecognised.len() as u64);
            return Err(BuildError::Unrecognised { folder, n, first: first.clone() });
        }
        let mut obsolete = self.obsolete.clone();
        obsolete.extend(self.replaced_files(&stage));
        if is_quiet && stage.has_no_changes() && obsolete.is_empty() {
            stage.discard();
            return Ok((0, 0));
        }
        let state = self.state_files(reading)?;
        let done = stage.publish(&self.paths, state, &obsolete)?;
        if self.is_incomplete {
            fs::remove_file(self.paths.incomplete()).at(&self.paths.incomplete())?;
        }
        if let Some(folder) = self.paths.private().parent().filter(|_| !plan.arc.private) {
            remove_folder(folder)?;
        }
        self.remove_expired()?;
        Ok(done)
    }

    /// Returns the Markdown twins in the output folder, found by their marks because the manifest
    /// is lost. In the folder of a Markdown site, all Markdown files belong to the site owner.
    fn unlisted_twins(&self) -> Vec<String> {
        let plan = self.plan;
        if plan.source == SourceKind::Markdown && plan.out.is_none() {
            return Vec::new();
        }
        let kept = std::iter::once(&plan.state).chain(&plan.kept_out);
        let kept: Vec<PathBuf> = kept.filter_map(|path| path.canonicalize().ok()).collect();
        file_marks::find_twins(plan.target(), &|name, path| {
            plan.exclude.iter().any(|glob| glob.matches(name))
                || path.canonicalize().is_ok_and(|path| kept.contains(&path))
        })
    }
}

/// Deletes the temporary files of the build. If a journal exists, the files are kept, because the
/// next command publishes them.
impl Drop for Build<'_> {
    fn drop(&mut self) {
        let journal = fs::symlink_metadata(self.paths.journal());
        if journal.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            drop(fs::remove_dir_all(&self.next));
        }
    }
}

/// Passes the rule, place and detail of each finding of the last publication to `take`.
fn for_each_logged(path: &Path, take: &mut dyn FnMut(&'static Rule, &str, String)) {
    for_each_finding(path, &mut |code, place, detail| {
        if let Some(rule) = rules::ALL.iter().find(|rule| rule.code == code) {
            take(rule, place, detail);
        }
    });
}
