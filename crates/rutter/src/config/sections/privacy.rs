//! Keys of `[privacy]`.

use std::path::PathBuf;

use crate::config::key::{Key, Slot};
use crate::config::settings::Setting;

/// The settings of `[privacy]`.
#[derive(Debug, Default)]
pub(crate) struct PrivacyTable {
    pub(crate) strict: Option<Setting<bool>>,
    pub(crate) no_authors: Option<Setting<bool>>,
    pub(crate) acknowledged: Option<Setting<PathBuf>>,
}

impl PrivacyTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("strict", |settings| &mut settings.privacy.strict)
            .about("Fail on mail addresses and telephone numbers")
            .detail("By default, only secrets such as keys and passwords fail the build.")
            .default("false")
            .flag("privacy-strict"),
        key("no-authors", |settings| &mut settings.privacy.no_authors)
            .about("Omit the authors of pages")
            .default("false"),
        key("acknowledged", |settings| &mut settings.privacy.acknowledged)
            .about("File with the marks of accepted privacy findings, one per line")
            .detail("Lines that start with # are comments.")
            .placeholder("FILE")
            .example(r#""rutter-acknowledged.txt""#),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("privacy", name, slot).heading("Privacy")
}
