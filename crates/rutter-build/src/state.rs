//! The state of the last build: locked, recovered, loaded, or rebuilt from published files.

pub(crate) mod draft;
pub(crate) mod rebuild;
pub(crate) mod saved_state;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rutter_extract::TemplateSet;
use rutter_page::Timestamp;
use rutter_site::{
    Manifest, Publication, StateLock, StatePaths, absolute_path, load_templates, roll_forward,
};

use self::draft::DraftFolder;
use crate::error::{BuildError, IoErrorContext};
use crate::plan::BuildPlan;
use crate::summary::BuildEvents;

/// Locks the state, and completes an interrupted publication.
pub(crate) fn lock(
    plan: &BuildPlan,
    events: &mut dyn BuildEvents,
) -> Result<(StatePaths, StateLock), BuildError> {
    let paths = StatePaths::new(&plan.state);
    let lock = StateLock::acquire(&paths)?;
    if roll_forward(&paths)? {
        events.message("completed an interrupted publication");
    }
    Ok((paths, lock))
}

/// The state of the last build, and the folder for the state of this build.
#[derive(Debug)]
pub(crate) struct SavedState<'p> {
    pub(crate) paths: StatePaths,
    pub(crate) draft: DraftFolder,
    pub(crate) published: Publication,
    pub(crate) templates: TemplateSet,
    /// Files that Rutter wrote into the output folder.
    pub(crate) manifest: Arc<Manifest>,
    /// Files that Rutter wrote into the site's own folder.
    pub(crate) site_manifest: Arc<Manifest>,
    /// Folder from which the state was rebuilt.
    pub(crate) previous: Option<&'p Path>,
    /// Whether the state was rebuilt from the output folder.
    pub(crate) owns_output: bool,
    /// Whether state files were lost in an interrupted publication.
    pub(crate) is_incomplete: bool,
}

impl<'p> SavedState<'p> {
    /// Loads the state. A lost state is rebuilt from published files.
    pub(crate) fn open(
        plan: &'p BuildPlan,
        paths: StatePaths,
        events: &mut dyn BuildEvents,
    ) -> Result<Self, BuildError> {
        fs::create_dir_all(plan.target()).at(plan.target())?;
        let previous = rebuild_state(plan, &paths, events)?;
        // All files of a separate output folder belong to Rutter; in the site's own folder, marks
        // identify the files that Rutter wrote.
        let owns_output = plan.out.is_some()
            && previous
                .is_some_and(|it| it.canonicalize().ok() == plan.target().canonicalize().ok());
        let is_incomplete = saved_state::report_lost_files(&paths, events)?;
        let published = saved_state::load_publication(plan, &paths)?;
        // A manifest that was written for another output folder does not apply to this one, but it
        // still identifies artifacts in the site's own folder.
        let list = Manifest::load(&paths.files()).map(|(folder, list)| (folder, Arc::new(list)));
        let manifest_of = |wanted: &Path| {
            let list = list.as_ref().filter(|(folder, _)| *folder == absolute_path(wanted));
            list.map(|(_, list)| Arc::clone(list)).unwrap_or_default()
        };
        let (site_manifest, manifest) = (manifest_of(&plan.site), manifest_of(plan.target()));
        let templates = load_templates(&paths)?;
        let draft = DraftFolder::create(&paths)?;
        Ok(Self {
            paths,
            draft,
            published,
            templates,
            manifest,
            site_manifest,
            previous,
            owns_output,
            is_incomplete,
        })
    }

    /// Returns the publication time of this build: the current time, or one second after the newest
    /// time in the publication record if that is later.
    pub(crate) fn stamp(&self, plan: &BuildPlan) -> Timestamp {
        let after = self.published.newest().map(|newest| newest.plus_seconds(1));
        after.map_or(plan.now, |after| after.max(plan.now))
    }
}

/// Rebuilds a lost state from published files: from the folder that the plan names, else from the
/// output folder if an earlier build wrote it. Returns the folder that was used.
fn rebuild_state<'p>(
    plan: &'p BuildPlan,
    paths: &StatePaths,
    events: &mut dyn BuildEvents,
) -> Result<Option<&'p Path>, BuildError> {
    if paths.ledger().exists() {
        if plan.previous.is_some() {
            events.message("ignoring the folder with published files: the state exists");
        }
        return Ok(None);
    }
    let rebuilt = |folder: &Path, n_pages: usize| {
        format!("rebuilt the state from {}: {n_pages} pages", folder.display())
    };
    if let Some(folder) = plan.previous.as_deref() {
        let n_pages = rebuild::rebuild(plan, folder, paths)?;
        events.message(&rebuilt(folder, n_pages));
        return Ok(Some(folder));
    }
    // An output folder with a sitemap of Rutter was written by an earlier build, whose state is
    // lost.
    let target = plan.target();
    let Some(sitemap) =
        rebuild::built_sitemap(plan, target).or_else(|| rebuild::built_sitemap(plan, &plan.site))
    else {
        return Ok(None);
    };
    match rebuild::rebuild(plan, target, paths) {
        Ok(n_pages) => {
            events.message(&rebuilt(target, n_pages));
            Ok(Some(target))
        }
        // The collections may have been published from another folder.
        Err(BuildError::UnusablePrevious(..) | BuildError::Io(..)) => {
            events.message(&format!(
                "there is no state, but Rutter wrote {sitemap}; to keep dates, name the previously published folder or URL"
            ));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
