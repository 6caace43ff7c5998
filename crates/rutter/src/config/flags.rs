//! Command-line flags for the keys of `rutter.toml`, generated from the table of keys.
//!
//! Output: the values as text, by key. Their types are checked when the values are merged with the
//! other sources.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

use crate::config::key::{HEADINGS, Key, keys};
use crate::config::settings::{SettingSource, SettingsError, SiteSettings};
use crate::config::value::ValueType;

/// The values of command-line flags as text, by key.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    given: Vec<(&'static Key, Vec<OsString>)>,
}

impl Flags {
    /// Returns these values of flags, as if they had been given on the command line.
    pub(crate) fn of(typed: impl Iterator<Item = (&'static str, OsString)>) -> Self {
        let key = |name: &str| keys().find(|key| key.flag == name);
        let given = typed.filter_map(|(name, text)| Some((key(name)?, vec![text])));
        Self { given: given.collect() }
    }

    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static Key, &[OsString])> {
        self.given.iter().map(|(key, texts)| (*key, texts.as_slice()))
    }
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for key in keys().filter(|key| !key.is_of_file()) {
            if let Some(texts) = matches.get_many::<OsString>(key.flag) {
                self.given.retain(|(known, _)| known.flag != key.flag);
                self.given.push((key, texts.cloned().collect()));
            }
        }
        Ok(())
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        let mut keys: Vec<&'static Key> = keys().filter(|key| !key.is_of_file()).collect();
        // The first flag of a heading decides where the heading appears.
        keys.sort_by_key(|key| HEADINGS.iter().position(|heading| *heading == key.heading));
        command.args(keys.into_iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(key: &'static Key) -> Arg {
    let shape = key.shape();
    let help = match key.default {
        "" | "[]" => key.about.to_owned(),
        default if default.contains(' ') => key.about.to_owned(),
        default => format!("{} [default: {default}]", key.about),
    };
    let arg = Arg::new(key.flag).help(help).long_help(long_help(key));
    let arg = arg.value_parser(OsStringValueParser::new());
    if key.is_positional() {
        return arg.value_name("SITE");
    }
    let arg = arg.long(key.flag).help_heading(key.heading);
    let arg = arg.value_name(key.value_name()).action(ArgAction::Set);
    match shape {
        ValueType::Switch => {
            let names = PossibleValuesParser::new(["true", "false"]).map(OsString::from);
            let arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            arg.value_parser(names).hide_possible_values(true)
        }
        ValueType::Choice(names) => {
            arg.value_parser(PossibleValuesParser::new(names()).map(OsString::from))
        }
        ValueType::Texts | ValueType::TextOrTexts | ValueType::Tables(_) => {
            arg.action(ArgAction::Append)
        }
        _ => arg,
    }
}

/// Reads the values of flags into the settings.
pub(crate) fn read_flags(settings: &mut SiteSettings, flags: &Flags) -> Result<(), SettingsError> {
    for (key, texts) in flags.given() {
        let by = SettingSource::Flag(key.typed());
        let read = key.slot(settings).read_flag(texts, by.clone());
        read.map_err(|what| SettingsError::new(&by, what))?;
    }
    Ok(())
}

/// Returns the long help of a flag: the description, the details, the default, and the key of the
/// settings file.
fn long_help(key: &Key) -> String {
    let mut help = key.about.to_owned();
    if !key.detail.is_empty() {
        help.extend(["\n\n", key.detail]);
    }
    let default = match key.default {
        "" => String::new(),
        "[]" => "Default: none. ".to_owned(),
        default => format!("Default: {default}. "),
    };
    help.extend(["\n\n", &default, "Setting: ", &key.place(), "."]);
    help
}
