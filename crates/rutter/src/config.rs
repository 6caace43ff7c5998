//! Reads settings from `rutter.toml`, `RUTTER_*` variables and flags.
//!
//! Each table of `rutter.toml` has a file in `sections`: a struct of its settings and the
//! descriptions of its keys. The readers of the three sources, the flags, the JSON Schema and the
//! documentation are generated from these descriptions. [`make_plan`](crate::plan::make_plan) turns
//! the settings into a build plan. Rejects unknown keys and values of the wrong type, with file,
//! line and column.

pub(crate) mod accept;
pub(crate) mod document;
pub(crate) mod entity;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod flags;
pub(crate) mod ignore;
pub(crate) mod key;
pub(crate) mod named_value;
pub(crate) mod rows;
pub(crate) mod sections;
pub(crate) mod selectors;
pub(crate) mod settings;
pub(crate) mod similarity;
pub(crate) mod table;
pub(crate) mod value;

#[cfg(test)]
pub(crate) mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::config::flags::Flags;

pub(crate) use environment::{environment, misspelt};
pub(crate) use file::{FILE, find, real};
pub(crate) use key::{OVERWRITING, RECOVERY};
pub(crate) use settings::{Setting, SettingSource, SettingsError, SiteSettings};

/// Default name of the state folder.
pub(crate) const STATE: &str = ".rutter";

/// The settings of all sources, merged by precedence.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: SiteSettings,
    /// The `rutter.toml` that was read. Relative paths in it start at its folder.
    pub(crate) file: Option<PathBuf>,
}

/// Merges flags, variables and the file. Flags take precedence over variables, and variables over
/// the file.
pub(crate) fn load(
    flags: &Flags,
    file: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Config> {
    let mut settings = SiteSettings::default();
    flags::read_flags(&mut settings, flags)?;
    environment::read_environment(&mut settings, environment)?;
    let found = match file {
        Some(file) => Some(file.to_owned()),
        None => find(settings.top.site.as_ref().map(|site| site.value.as_path()))?,
    };
    let Some(file) = found else { return Ok(Config { settings, file: None }) };
    let name = file.display().to_string();
    let text = fs::read_to_string(&file).with_context(|| name.clone())?;
    file::read_file(&mut settings, &name, &text)?;
    Ok(Config { settings, file: Some(file) })
}
