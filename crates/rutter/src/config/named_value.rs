//! Types of settings with a fixed list of named values.

use rutter_arc::policy::AccessDefault;
use rutter_build::{ChecksumScope, HostKind, OversizePolicy, SourceKind, TwinPolicy};
use rutter_extract::LinkBlocks;
use rutter_finding::Severity;
use rutter_scp::advert::UpdateFrequency;

use crate::config::value::{ConfigValue, ValueType, wanted};

/// A type of setting with a fixed list of named values.
pub(crate) trait NamedValue: Sized + Copy + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl NamedValue for LinkBlocks {
    const ALL: &'static [(&'static str, Self)] = &[("on", Self::All), ("off", Self::Lone)];
}

impl NamedValue for SourceKind {
    const ALL: &'static [(&'static str, Self)] =
        &[("html", Self::Html), ("markdown", Self::Markdown), ("lines", Self::Lines)];
}

impl NamedValue for UpdateFrequency {
    const ALL: &'static [(&'static str, Self)] = &[
        ("hourly", Self::Hourly),
        ("daily", Self::Daily),
        ("weekly", Self::Weekly),
        ("monthly", Self::Monthly),
    ];
}

impl NamedValue for TwinPolicy {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];
}

impl NamedValue for OversizePolicy {
    const ALL: &'static [(&'static str, Self)] = &[("merge", Self::Merge), ("stop", Self::Stop)];
}

impl NamedValue for HostKind {
    const ALL: &'static [(&'static str, Self)] =
        &[("nginx", Self::Nginx), ("netlify", Self::Netlify)];
}

impl NamedValue for ChecksumScope {
    const ALL: &'static [(&'static str, Self)] =
        &[("content", Self::Content), ("html", Self::Html)];
}

impl NamedValue for AccessDefault {
    const ALL: &'static [(&'static str, Self)] = &[("allow", Self::Allow), ("deny", Self::Deny)];
}

impl NamedValue for Severity {
    const ALL: &'static [(&'static str, Self)] =
        &[("note", Self::Note), ("warning", Self::Warning), ("error", Self::Error)];
}

impl<T: NamedValue> ConfigValue for T {
    const SHAPE: ValueType = ValueType::Choice(names::<T>);

    fn from_text(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(wanted::<Self>)
    }
}

fn names<T: NamedValue>() -> Vec<&'static str> {
    T::ALL.iter().map(|(name, _)| *name).collect()
}
