//! Finds the state folder of a served site, and finishes an interrupted publication.

use std::path::{Path, PathBuf};

use rutter_site::StateError;

use super::{STATE, ServeArgs, VARIABLE};
use crate::config;
use crate::output::Output;

/// Returns the state folder: the given one, else the first of [`places`] that has a `served.json`.
/// Rejects a given folder without `served.json`, because restricted pages would be unknown.
pub(super) fn state(args: &ServeArgs) -> anyhow::Result<Option<PathBuf>> {
    let is_state = |place: &PathBuf| {
        // After an interrupted publication, the journal restores served.json.
        ["served.json", "journal.json"].iter().any(|name| place.join(name).is_file())
    };
    // CI systems set variables to the empty string to unset them.
    let variable = config::environment(VARIABLE).filter(|text| !text.is_empty());
    let (named, by) = match (&args.state, variable) {
        (Some(state), _) => (Some(state.clone()), "--state"),
        (None, variable) => (variable.map(PathBuf::from), VARIABLE),
    };
    if let Some(state) = named {
        let why = format!("build the site, or do not set {by}");
        anyhow::ensure!(is_state(&state), "folder {} has no served.json; {why}", state.display());
        return Ok(Some(state));
    }
    Ok(places(&args.folder).find(is_state))
}

/// Returns the folders in which the state is searched.
pub(super) fn places(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let beside = [folder.parent(), whole.parent()].map(|it| it.map(|it| it.join(STATE)));
    let [given, real] = beside;
    let places = [Some(folder.join(STATE)), given, real, Some(PathBuf::from(STATE))];
    places.into_iter().flatten()
}

/// Returns whether `rutter serve` finds the state of a folder without `--state`.
pub(crate) fn finds(folder: &Path, state: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(state)
        .is_some_and(|state| places(folder).any(|place| real(&place).as_ref() == Some(&state)))
}

/// Completes an interrupted publication.
pub(super) fn recover(state: &Path, out: &mut Output) -> anyhow::Result<()> {
    if !state.join("journal.json").is_file() {
        return Ok(());
    }
    match rutter_site::recover(state) {
        Ok(true) => out.say("completed an interrupted publication"),
        Ok(false) => {}
        // The running build completes the publication itself.
        Err(StateError::Busy(_)) => out.say("a build is running"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Rejects secret files in the served folder: keys, tokens, logs and the state must not have a name
/// that is served.
pub(super) fn must_not_be_shown(args: &ServeArgs, state: Option<&Path>) -> anyhow::Result<()> {
    let is_file = !matches!(args.access_log.to_str(), Some("-" | "off"));
    let files = [
        ("the private key", args.tls_key.as_deref()),
        ("the token file", args.tokens.as_deref()),
        ("the access log", is_file.then_some(&*args.access_log)),
        ("the state", state),
    ];
    for (what, path) in files {
        if let Some(path) = path
            && rutter_serve::is_served(&args.folder, path)
        {
            let (path, folder) = (path.display(), args.folder.display());
            anyhow::bail!(
                "{what} {path} would be public, because it is inside {folder}; move it elsewhere"
            );
        }
    }
    Ok(())
}
