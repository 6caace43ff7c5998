//! Reads what a build needs in addition to its state: the published files from which a lost state
//! is rebuilt, and the robots.txt of the site owner.
//!
//! The module rejects a robots.txt that cannot be read, because it must not count as missing.

use std::io;
use std::path::Path;

use rutter_site::StatePaths;

use crate::error::BuildError;
use crate::plan::BuildPlan;
use crate::stages::inventory::address_scheme::AddressVotes;
use crate::stages::inventory::site_sitemap;
use crate::state::rebuild;
use crate::summary::BuildEvents;

/// Rebuilds a lost state from published files: from the folder that the plan names, else from the
/// output folder if an earlier build wrote it. Returns the folder that was used.
pub(super) fn rebuild_state<'p>(
    plan: &'p BuildPlan,
    paths: &StatePaths,
    has_ledger: bool,
    events: &mut dyn BuildEvents,
) -> Result<Option<&'p Path>, BuildError> {
    if has_ledger {
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

/// Counts the forms of the URLs in the sitemap that Rutter published. They are the only evidence if
/// the state is lost and cannot be rebuilt.
pub(super) fn published_votes(plan: &BuildPlan) -> AddressVotes {
    let folders = [plan.target(), &plan.site];
    let found = folders.iter().find_map(|folder| {
        let name = rebuild::built_sitemap(plan, folder)?;
        Some(site_sitemap::published_votes(plan, folder, &name))
    });
    found.unwrap_or_default()
}

/// Returns the bytes of the site owner's robots.txt, or no bytes if it is missing. A robots.txt
/// that exists but cannot be read is an error.
pub(super) fn read_robots(plan: &BuildPlan) -> Result<Vec<u8>, BuildError> {
    let path = plan.site.join("robots.txt");
    match rutter_root::read(&plan.site, "robots.txt") {
        Ok(bytes) => Ok(bytes),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(BuildError::Io(path, error)),
    }
}
