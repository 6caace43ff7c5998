//! Reads the small state files at the start of a build.
//!
//! A missing file counts as empty. A file that exists but cannot be read is an error, because the
//! build would decide differently without its content.

use std::fs::{self};
use std::io;

use rutter_page::Timestamp;
use rutter_site::{Publication, StatePaths};

use crate::error::BuildError;
use crate::plan::BuildPlan;
use crate::summary::BuildEvents;

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
