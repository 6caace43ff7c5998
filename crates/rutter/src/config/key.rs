//! The description of a key: its names in all sources, its documentation and its place in the
//! settings.
//!
//! The readers of the three sources, the flags, the JSON Schema and the documentation use these
//! descriptions. Each description is beside the field of its key, in `sections`.

use crate::config::sections::arc::ArcTable;
use crate::config::sections::check::CheckTable;
use crate::config::sections::extract::ExtractTable;
use crate::config::sections::layers::LayersTable;
use crate::config::sections::policy::PolicyTable;
use crate::config::sections::privacy::PrivacyTable;
use crate::config::sections::spxi::SpxiTable;
use crate::config::sections::top::TopTable;
use crate::config::settings::{SettingSlot, SiteSettings};
use crate::config::value::ValueType;

/// Heading for flags about overwriting and deleting files.
pub(crate) const OVERWRITING: &str = "Overwriting and deletion";

/// Heading for flags about speed and about a lost state.
pub(crate) const RECOVERY: &str = "Performance and recovery";

/// Headings of `rutter build --help`, in their order: headings of common flags first.
pub(crate) const HEADINGS: [&str; 10] = [
    "Site",
    "Layers",
    "Content extraction",
    "Dates",
    "Privacy",
    OVERWRITING,
    "Policy for AI consumers",
    "ARC sitemap",
    "SPXI entities",
    RECOVERY,
];

/// The keys of each table, in the order of the documentation.
const TABLES: [&[Key]; 8] = [
    TopTable::KEYS,
    ExtractTable::KEYS,
    LayersTable::KEYS,
    ArcTable::KEYS,
    SpxiTable::KEYS,
    PolicyTable::KEYS,
    PrivacyTable::KEYS,
    CheckTable::KEYS,
];

/// Returns all keys, in the order of the documentation.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    TABLES.into_iter().flatten()
}

/// Returns the keys of a table of `rutter.toml`; the empty name means the top of the file.
pub(crate) fn keys_of(table: &str) -> impl Iterator<Item = &'static Key> {
    keys().filter(move |key| key.table == table)
}

/// Returns the names of the tables of `rutter.toml`.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().filter_map(|keys| keys.first()).map(|key| key.table).skip(1)
}

/// Returns the place of the value of a key in the settings.
pub(super) type Slot = fn(&mut SiteSettings) -> &mut dyn SettingSlot;

/// A key of the settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// The table of `rutter.toml` that contains the key; empty for keys at the top of the file.
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    pub(crate) flag: &'static str,
    /// Description of the default value; empty if the key has no default.
    pub(crate) default: &'static str,
    /// Short description of the key: one line, imperative or a noun phrase, at most 70 characters,
    /// without a full stop.
    pub(crate) about: &'static str,
    /// Further description of the key: sentences with units, examples and the behaviour by default;
    /// may be empty.
    pub(crate) detail: &'static str,
    /// Heading of the flag in `rutter build --help`; one of [`HEADINGS`].
    pub(crate) heading: &'static str,
    /// Placeholder for the value in help texts; empty for the placeholder of its type.
    placeholder: &'static str,
    /// An example value in TOML; empty for an example of its type.
    pub(crate) example: &'static str,
    slot: Slot,
}

impl Key {
    /// Describes a key whose flag has the name of the key.
    pub(super) const fn new(table: &'static str, name: &'static str, slot: Slot) -> Self {
        Self {
            table,
            name,
            flag: name,
            default: "",
            about: "",
            detail: "",
            heading: "",
            placeholder: "",
            example: "",
            slot,
        }
    }

    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) const fn detail(self, detail: &'static str) -> Self {
        Self { detail, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn flag(self, flag: &'static str) -> Self {
        Self { flag, ..self }
    }

    pub(super) const fn heading(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    pub(super) const fn placeholder(self, placeholder: &'static str) -> Self {
        Self { placeholder, ..self }
    }

    pub(super) const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Returns the place of the value in the settings.
    pub(super) fn slot<'s>(&self, settings: &'s mut SiteSettings) -> &'s mut dyn SettingSlot {
        (self.slot)(settings)
    }

    /// Returns the type of the value.
    pub(crate) fn shape(&self) -> ValueType {
        self.slot(&mut SiteSettings::default()).shape()
    }

    /// Returns the placeholder for the value in help texts.
    pub(crate) fn value_name(&self) -> &'static str {
        if self.placeholder.is_empty() { self.shape().placeholder() } else { self.placeholder }
    }

    /// Returns the name of the environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("RUTTER_{}", self.flag.to_uppercase().replace('-', "_"))
    }

    /// Returns whether the key is a positional argument.
    pub(crate) fn is_positional(&self) -> bool {
        self.flag == "site"
    }

    /// Returns the place of the key in the file, for help texts.
    pub(crate) fn place(&self) -> String {
        match self.table {
            "" => format!("`{}`", self.name),
            table => format!("`{}` in [{table}]", self.name),
        }
    }

    /// Returns the short and the further description as sentences.
    pub(crate) fn sentences(&self) -> String {
        match self.detail {
            "" => format!("{}.", self.about),
            detail => format!("{}. {detail}", self.about),
        }
    }

    /// Returns whether only the settings file can set the key.
    pub(crate) fn is_of_file(&self) -> bool {
        // `rutter check` has its own flags for the settings of `[check]`.
        self.table == "check"
            || matches!(self.shape(), ValueType::Tables(form) if form.placeholder.is_empty())
    }

    /// Returns the argument of the key as it is written on the command line.
    pub(crate) fn typed(&self) -> String {
        if self.is_positional() { "SITE".to_owned() } else { format!("--{}", self.flag) }
    }
}
