//! Reads small parts of the state that a build starts from.
//!
//! A file that is not there means that nothing is remembered; one that cannot
//! be read is an error, because a build without it would decide otherwise.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rutter_extract::Templates;
use rutter_page::Timestamp;
use rutter_page::seal::{Sealed, check_json, seal_json};

use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::outcome::Listener;
use crate::plan::Plan;
use crate::state::Paths;

/// What the site's pages have in common.
pub(crate) fn templates(paths: &Paths) -> Result<Templates, BuildError> {
    let path = paths.templates();
    match fs::read(&path) {
        Ok(bytes) if check_json(&*bytes).is_ok_and(|found| found == Sealed::Broken) => {
            Err(BuildError::State(path, 1))
        }
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| BuildError::State(path, error.line() as u64)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Templates::default()),
        Err(error) => Err(BuildError::Io(path, error)),
    }
}

/// What is on offer; with `redate`, without what was made later than now.
pub(crate) fn published(plan: &Plan, paths: &Paths) -> Result<Published, BuildError> {
    let published = Published::load(paths)?;
    let mut published = published.unwrap_or_else(|| Published::new(plan.base.as_str()));
    if published.base != plan.base.as_str() {
        let (theirs, ours) = (published.base, plan.base.as_str().to_owned());
        return Err(BuildError::OtherSite(paths.folder.clone(), theirs, ours));
    }
    if plan.redate {
        published.forget_later(plan.now);
    }
    must_not_be_ahead(published.newest(), plan.now)?;
    Ok(published)
}

/// Says which state files an interrupted publication lost; returns whether
/// there are any.
pub(crate) fn tell_lost(paths: &Paths, listener: &mut dyn Listener) -> Result<bool, BuildError> {
    match fs::read_to_string(paths.incomplete()) {
        Ok(names) => {
            let names: Vec<&str> = names.lines().collect();
            let names = names.join(", ");
            listener.says(&format!(
                "an interrupted publication lost {names}; every file is compared again"
            ));
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(BuildError::Io(paths.incomplete(), error)),
    }
}

/// Writes what the site's pages have in common.
pub(crate) fn save_templates(path: &Path, templates: &Templates) -> Result<(), BuildError> {
    let text = serde_json::to_string(templates).expect("templates are JSON");
    fs::write(path, seal_json(&text, 1)).at(path)
}

/// Whether `served.json` is there and is what a build wrote; one of an earlier
/// version, or a damaged one, is written again.
pub(crate) fn is_served_whole(paths: &Paths) -> bool {
    let file = File::open(paths.served());
    file.is_ok_and(|file| matches!(check_json(file), Ok(Sealed::Whole(_))))
}

/// Seconds that clocks of machines may differ.
const TOLERATED: i64 = 600;

/// Refuses a state that was written later than now: dates would never come
/// down again. The clock was wrong then, or is wrong now.
pub(crate) fn must_not_be_ahead(
    newest: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), BuildError> {
    match newest {
        Some(newest) if now.plus_seconds(TOLERATED) < newest => {
            Err(BuildError::Ahead { newest, now })
        }
        _ => Ok(()),
    }
}
