//! Reads settings from `RUTTER_*` variables.

use std::ffi::OsString;

use crate::config::key::{Key, keys};
use crate::config::settings::{SettingSource, SettingsError, SiteSettings};
use crate::config::similarity::nearest;

/// Reads an environment variable of the process.
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Reads the variables of all keys into the settings; `get` returns the value of a variable.
pub(crate) fn read_environment(
    settings: &mut SiteSettings,
    get: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(), SettingsError> {
    for key in keys().filter(|key| !key.is_of_file()) {
        // CI systems set variables to the empty string to unset them.
        let Some(text) = get(&key.variable()).filter(|text| !text.is_empty()) else { continue };
        let by = SettingSource::Variable(key.variable());
        let read = key.slot(settings).read_variable(&text, by.clone());
        read.map_err(|what| SettingsError::new(&by, what))?;
    }
    Ok(())
}

/// Returns a message for each `RUTTER_*` variable that is not a setting, with the most similar
/// setting.
pub(crate) fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let settable = || keys().filter(|key| !key.is_of_file());
    let known: Vec<String> = settable().map(Key::variable).collect();
    let flags = || settable().map(|key| key.flag);
    let mut messages = Vec::new();
    for name in names {
        let Some(name) = name.to_str() else { continue };
        // Rutter sets the first two variables for render commands.
        let is_other =
            matches!(name, "RUTTER_URL" | "RUTTER_FILE") || name == crate::diagnostics::VARIABLE;
        let Some(setting) = name.strip_prefix("RUTTER_").filter(|_| !is_other) else { continue };
        if known.iter().any(|known| known == name) {
            continue;
        }
        let meant = nearest(setting, flags());
        let meant = meant.and_then(|flag| keys().find(|key| key.flag == flag));
        let meant = meant.map(|key| format!("; did you mean {}?", key.variable()));
        let shown = rutter_finding::visible(name);
        messages.push(format!("ignoring {shown}: not a setting{}", meant.unwrap_or_default()));
    }
    messages.sort();
    messages
}
