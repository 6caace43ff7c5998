//! Keys of `[check]`.

use std::path::PathBuf;

use rutter_finding::Severity;

use crate::config::ignore::IgnoreRule;
use crate::config::key::{Key, Slot};
use crate::config::settings::Setting;

/// The settings of `[check]`.
#[derive(Debug, Default)]
pub(crate) struct CheckTable {
    pub(crate) fail_on: Option<Setting<Severity>>,
    pub(crate) select: Option<Setting<Vec<String>>>,
    pub(crate) ignore: Option<Setting<Vec<IgnoreRule>>>,
    pub(crate) baseline: Option<Setting<PathBuf>>,
}

impl CheckTable {
    /// The keys, in the order of the documentation.
    pub(in crate::config) const KEYS: &[Key] = &[
        key("fail-on", |settings| &mut settings.check.fail_on)
            .about("Minimum severity that fails `rutter check`")
            .default("error")
            .flag("check-fail-on"),
        key("select", |settings| &mut settings.check.select)
            .about("Rules to which `rutter check` is limited")
            .detail("Codes, names, or layers such as SC. By default, all rules are reported.")
            .flag("check-select")
            .example(r#"["SC", "AR"]"#),
        key("ignore", |settings| &mut settings.check.ignore)
            .about("Findings that `rutter check` ignores")
            .flag("check-ignore"),
        key("baseline", |settings| &mut settings.check.baseline)
            .about("File of known findings, which do not fail `rutter check`")
            .flag("check-baseline")
            .example(r#""rutter-baseline.json""#),
    ];
}

const fn key(name: &'static str, slot: Slot) -> Key {
    Key::new("check", name, slot)
}
