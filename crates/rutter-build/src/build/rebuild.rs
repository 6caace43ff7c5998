//! Finds what a build starts from beside its state: the published folder of
//! a build whose state is lost, and the owner's robots.txt.
//!
//! Rejects a robots.txt that cannot be read: it must not count as none.

use std::io;
use std::path::Path;

use crate::address_scheme::Votes;
use crate::error::BuildError;
use crate::outcome::Listener;
use crate::plan::Plan;
use crate::previous;
use crate::site_sitemap;
use crate::state::Paths;

/// Rebuilds lost state from the folder that the owner names, else from the
/// output folder if a build filled it; gives the folder it was rebuilt from.
pub(super) fn rebuild_state<'p>(
    plan: &'p Plan,
    paths: &Paths,
    has_ledger: bool,
    listener: &mut dyn Listener,
) -> Result<Option<&'p Path>, BuildError> {
    if has_ledger {
        if plan.previous.is_some() {
            listener.says("ignoring the previous folder: the state exists");
        }
        return Ok(None);
    }
    let rebuilt = |folder: &Path, n_pages: usize| {
        format!("state rebuilt from {}: {n_pages} pages", folder.display())
    };
    if let Some(folder) = plan.previous.as_deref() {
        let n_pages = previous::rebuild(plan, folder, paths)?;
        listener.says(&rebuilt(folder, n_pages));
        return Ok(Some(folder));
    }
    // A folder that a build made, and no state: it is the previous one.
    let target = plan.target();
    let Some(sitemap) =
        previous::built_sitemap(plan, target).or_else(|| previous::built_sitemap(plan, &plan.site))
    else {
        return Ok(None);
    };
    match previous::rebuild(plan, target, paths) {
        Ok(n_pages) => {
            listener.says(&rebuilt(target, n_pages));
            Ok(Some(target))
        }
        // Its collections may be somewhere else.
        Err(BuildError::Previous(..) | BuildError::Io(..)) => {
            listener.says(&format!(
                "there is no state, but {sitemap} is Rutter's: --previous with the published folder or its URL keeps dates"
            ));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// How the last build wrote addresses, by its sitemap: the only sign of it where
/// the state is lost and collections are not there to rebuild it from.
pub(super) fn published_votes(plan: &Plan) -> Votes {
    let folders = [plan.target(), &plan.site];
    let found = folders.iter().find_map(|folder| {
        let name = previous::built_sitemap(plan, folder)?;
        Some(site_sitemap::published_votes(plan, folder, &name))
    });
    found.unwrap_or_default()
}

/// The owner's robots.txt. One that cannot be read must not count as none.
pub(super) fn owners_robots(plan: &Plan) -> Result<Vec<u8>, BuildError> {
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
