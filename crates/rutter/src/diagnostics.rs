//! Prints diagnostic events of the libraries to stderr, for `-v`, `-vv` and `RUTTER_LOG`.
//!
//! Input: the number of `-v` flags and the value of `RUTTER_LOG`, which takes precedence. Without
//! both, no subscriber is installed, and an event costs one comparison. Rejects a `RUTTER_LOG` that
//! is not a list of levels.

use std::io;

use anyhow::anyhow;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::time;
use tracing_subscriber::prelude::*;

/// Environment variable with the levels of the events to print.
pub(crate) const VARIABLE: &str = "RUTTER_LOG";

/// Installs the subscriber if the user asked for diagnostic events.
///
/// Returns whether it was installed.
pub(crate) fn install(n_verbose: u8, variable: Option<&str>) -> anyhow::Result<bool> {
    let Some(targets) = targets(n_verbose, variable)? else { return Ok(false) };
    let events = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_timer(time::uptime());
    tracing_subscriber::registry().with(events.with_filter(targets)).init();
    Ok(true)
}

/// Returns the events to print, by target; `None` if no events were asked for.
fn targets(n_verbose: u8, variable: Option<&str>) -> anyhow::Result<Option<Targets>> {
    if let Some(text) = variable.filter(|text| !text.is_empty()) {
        let targets = text.parse().map_err(|_| {
            anyhow!("{VARIABLE} is not a level or a list like rutter_sync=debug: {text:?}")
        })?;
        return Ok(Some(targets));
    }
    let level = match n_verbose {
        0 => return Ok(None),
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    // The prefix matches all crates of this project, and no other crate.
    Ok(Some(Targets::new().with_target("rutter", level)))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::targets;

    #[test]
    fn flags_choose_the_level_of_own_crates() {
        assert!(targets(0, None).unwrap().is_none());
        assert!(targets(0, Some("")).unwrap().is_none());
        let info = targets(1, None).unwrap().unwrap();
        assert!(info.would_enable("rutter_sync::syncer", &Level::INFO));
        assert!(!info.would_enable("rutter_sync::syncer", &Level::DEBUG));
        assert!(!info.would_enable("h2::client", &Level::INFO));
        let debug = targets(2, None).unwrap().unwrap();
        assert!(debug.would_enable("rutter_fetch::client", &Level::DEBUG));
    }

    #[test]
    fn variable_takes_precedence_over_flags() {
        let targets = |text| targets(2, Some(text));
        let fetch = targets("rutter_fetch=debug").unwrap().unwrap();
        assert!(fetch.would_enable("rutter_fetch::client", &Level::DEBUG));
        assert!(!fetch.would_enable("rutter_sync::syncer", &Level::INFO));
        let error = targets("rutter_fetch=loud").unwrap_err().to_string();
        assert_eq!(
            error,
            "RUTTER_LOG is not a level or a list like rutter_sync=debug: \"rutter_fetch=loud\""
        );
    }
}
