//! A flag for every key, made from the table.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

use crate::config::value::Shape;
use crate::config::{KEYS, Key};

/// What was typed, by key, still text.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    given: Vec<(&'static Key, Vec<OsString>)>,
}

impl Flags {
    /// Flags by their names, as if they had been typed.
    pub(crate) fn of(typed: impl Iterator<Item = (&'static str, OsString)>) -> Self {
        let key = |name: &str| KEYS.iter().find(|key| key.flag == name);
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
        for key in KEYS.iter().filter(|key| !key.is_of_file()) {
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
        command.args(KEYS.iter().filter(|key| !key.is_of_file()).map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(key: &'static Key) -> Arg {
    let shape = key.shape;
    let help = match key.default {
        "" | "[]" => key.about.to_owned(),
        default => format!("{} [default: {default}]", key.about),
    };
    let arg = Arg::new(key.flag).help(help).value_parser(OsStringValueParser::new());
    if key.is_positional() {
        return arg.value_name("SITE");
    }
    let arg = arg.long(key.flag).help_heading("Settings, as in rutter.toml");
    let arg = arg.value_name(key.placeholder()).action(ArgAction::Set);
    match shape {
        Shape::Switch => {
            let names = PossibleValuesParser::new(["true", "false"]).map(OsString::from);
            let arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            arg.value_parser(names).hide_possible_values(true)
        }
        Shape::Choice(names) => {
            arg.value_parser(PossibleValuesParser::new(names()).map(OsString::from))
        }
        Shape::Texts | Shape::Tables(_) => arg.action(ArgAction::Append),
        _ => arg,
    }
}
