//! Reads the small state files at the start of a build.
//!
//! A missing file counts as empty. A file that exists but cannot be read is an error, because the
//! build would decide differently without its content.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rutter_extract::{Templates, VersionId};
use rutter_page::Timestamp;
use rutter_page::checksum::{ChecksumStatus, append_checksum, verify_checksum};

use crate::chain::Publication;
use crate::error::{BuildError, IoErrorContext};
use crate::ledger::LedgerReader;
use crate::plan::BuildPlan;
use crate::state::StatePaths;
use crate::summary::BuildEvents;

/// Loads the templates that are stored in the state.
pub(crate) fn load_templates(paths: &StatePaths) -> Result<Templates, BuildError> {
    let path = paths.templates();
    match fs::read(&path) {
        Ok(bytes)
            if verify_checksum(&*bytes).is_ok_and(|found| found == ChecksumStatus::Mismatch) =>
        {
            Err(BuildError::DamagedState(path, 1))
        }
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| BuildError::DamagedState(path, error.line() as u64)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Templates::default()),
        Err(error) => Err(BuildError::Io(path, error)),
    }
}

/// Templates that the last build learned.
#[derive(Debug, Default)]
pub struct LearnedTemplates {
    /// Templates of the site.
    pub templates: Templates,
    /// Template version with which each page was read, by URL.
    pub versions: HashMap<String, Option<VersionId>>,
}

/// Loads the templates that the last build learned; empty if there is no state.
pub fn load_learned_templates(state: &Path) -> Result<LearnedTemplates, BuildError> {
    let paths = StatePaths::new(state);
    let templates = load_templates(&paths)?;
    let mut versions = HashMap::new();
    let mut rows = LedgerReader::open(&paths.ledger())?;
    while let Some(row) = rows.next()? {
        versions.insert(row.url, row.template);
    }
    Ok(LearnedTemplates { templates, versions })
}

/// Loads the publication record. If the plan sets `redate`, entries that are later than the time of
/// the build are removed.
pub(crate) fn load_publication(
    plan: &BuildPlan,
    paths: &StatePaths,
) -> Result<Publication, BuildError> {
    let published = Publication::load(paths)?;
    let mut published = published.unwrap_or_else(|| Publication::new(plan.base.as_str()));
    if published.base != plan.base.as_str() {
        let (state_base, plan_base) = (published.base, plan.base.as_str().to_owned());
        return Err(BuildError::OtherSite(paths.folder.clone(), state_base, plan_base));
    }
    if plan.redate {
        published.forget_later(plan.now);
    }
    check_not_in_future(published.newest(), plan.now)?;
    Ok(published)
}

/// Reports the state files that were lost in an interrupted publication, and returns whether there
/// are any.
pub(crate) fn report_lost_files(
    paths: &StatePaths,
    events: &mut dyn BuildEvents,
) -> Result<bool, BuildError> {
    match fs::read_to_string(paths.incomplete()) {
        Ok(names) => {
            let names: Vec<&str> = names.lines().collect();
            let names = names.join(", ");
            events.message(&format!(
                "an interrupted publication lost {names}; comparing all files again"
            ));
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(BuildError::Io(paths.incomplete(), error)),
    }
}

/// Writes the templates to a file with a checksum.
pub(crate) fn save_templates(path: &Path, templates: &Templates) -> Result<(), BuildError> {
    let text = serde_json::to_string(templates).expect("templates serialize to JSON");
    fs::write(path, append_checksum(&text, 1)).at(path)
}

/// Returns whether `served.json` exists and is undamaged. If not, the build writes it again.
pub(crate) fn is_served_list_intact(paths: &StatePaths) -> bool {
    let file = File::open(paths.served());
    file.is_ok_and(|file| matches!(verify_checksum(file), Ok(ChecksumStatus::Valid(_))))
}

/// Tolerated difference between the clocks of two machines, in seconds.
const CLOCK_TOLERANCE: i64 = 600;

/// Returns an error if `newest`, the newest time in the state, is later than `now`. Dates of pages
/// never decrease, so wrong dates in the state would stay. Either the clock was wrong when the
/// state was written, or it is wrong now.
pub(crate) fn check_not_in_future(
    newest: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), BuildError> {
    match newest {
        Some(newest) if now.plus_seconds(CLOCK_TOLERANCE) < newest => {
            Err(BuildError::FutureState { newest, now })
        }
        _ => Ok(()),
    }
}
