//! The settings of a site, each with its source.

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::config::sections::arc::ArcTable;
use crate::config::sections::check::CheckTable;
use crate::config::sections::extract::ExtractTable;
use crate::config::sections::layers::LayersTable;
use crate::config::sections::policy::PolicyTable;
use crate::config::sections::privacy::PrivacyTable;
use crate::config::sections::spxi::SpxiTable;
use crate::config::sections::top::TopTable;
use crate::config::value::{ConfigValue, InvalidValue, TomlValue, ValueType};

/// The settings that one source or several sources give: one field for each table.
#[derive(Debug, Default)]
pub(crate) struct SiteSettings {
    /// Keys at the top of the file.
    pub(crate) top: TopTable,
    pub(crate) extract: ExtractTable,
    pub(crate) layers: LayersTable,
    pub(crate) arc: ArcTable,
    pub(crate) spxi: SpxiTable,
    pub(crate) policy: PolicyTable,
    pub(crate) privacy: PrivacyTable,
    pub(crate) check: CheckTable,
}

/// The value of a key, and its source.
#[derive(Debug, Clone)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) by: SettingSource,
}

impl<T> Setting<T> {
    pub(crate) fn value(self) -> T {
        self.value
    }
}

/// The source of the value of a key, for error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// A place in a settings file, such as `rutter.toml:3:1`.
    File(String),
    /// The name of an environment variable, such as `RUTTER_BASE_URL`.
    Variable(String),
    /// The name of a flag, such as `--base-url`.
    Flag(String),
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => f.write_str(place),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// An error in the settings or arguments, with an optional hint.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct SettingsError {
    what: String,
    pub(crate) hint: Option<String>,
}

impl SettingsError {
    pub(crate) fn new(by: &SettingSource, what: impl fmt::Display) -> Self {
        Self { what: format!("{by}: {what}"), hint: None }
    }

    /// Adds a hint to the error.
    pub(crate) fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// Creates an error about something that is missing.
    pub(crate) fn missing(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()) }
    }
}

/// The place of a value in the settings.
///
/// Sources are read in the order of their precedence: a value that is already there stays, but the
/// new value is checked.
pub(crate) trait SettingSlot {
    fn shape(&self) -> ValueType;

    fn read_toml(&mut self, value: &TomlValue<'_>, by: SettingSource) -> Result<(), InvalidValue>;

    fn read_variable(&mut self, text: &OsStr, by: SettingSource) -> Result<(), String>;

    fn read_flag(&mut self, texts: &[OsString], by: SettingSource) -> Result<(), String>;
}

impl<T: ConfigValue> SettingSlot for Option<Setting<T>> {
    fn shape(&self) -> ValueType {
        T::SHAPE
    }

    fn read_toml(&mut self, value: &TomlValue<'_>, by: SettingSource) -> Result<(), InvalidValue> {
        let value = T::from_toml(value)?;
        self.get_or_insert(Setting { value, by });
        Ok(())
    }

    fn read_variable(&mut self, text: &OsStr, by: SettingSource) -> Result<(), String> {
        let value = T::from_os(text)?;
        self.get_or_insert(Setting { value, by });
        Ok(())
    }

    fn read_flag(&mut self, texts: &[OsString], by: SettingSource) -> Result<(), String> {
        let value = T::from_flag(texts)?;
        self.get_or_insert(Setting { value, by });
        Ok(())
    }
}
