//! `rutter token`: tokens for partners.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use rutter_page::Timestamp;
use rutter_serve::{NewToken, Scope, new_token, rate_of};

use crate::commands::parse_time;
use crate::exit::Exit;
use crate::output::Output;

/// Commands about tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token, print it once, and add its hash to a file
    New(Args),
}

/// What the arguments of `new` say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Whose token it is; shown in logs
    #[arg(value_name = "NAME")]
    name: String,
    /// What its holder may have; may be given several times
    #[arg(long, value_enum, value_name = "SCOPE", default_values_t = [What::Entries])]
    scope: Vec<What>,
    /// How often its holder may come
    #[arg(long, value_name = "RATE", default_value = "60/m")]
    rate: String,
    /// When it ends, such as 2027-01-01T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    expires: Option<Timestamp>,
    /// File of tokens, as `rutter serve --tokens` reads it; made where there is none
    #[arg(long, value_name = "FILE", default_value = "tokens.toml")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum What {
    /// Full entries of pages that need a login
    Entries,
    /// The pages themselves
    Content,
}

pub(crate) fn run(command: &Token, out: &mut Output) -> anyhow::Result<Exit> {
    let Token::New(args) = command;
    let rate = &args.rate;
    rate_of(rate).with_context(|| format!("--rate {rate}: wanted a rate such as 10/m"))?;
    let mut scopes: Vec<Scope> = args
        .scope
        .iter()
        .map(|what| match what {
            What::Entries => Scope::Entries,
            What::Content => Scope::Content,
        })
        .collect();
    scopes.sort();
    scopes.dedup();
    let new = NewToken { name: &args.name, scopes: &scopes, rate, expires: args.expires };
    let token = new_token(&args.file, &new).with_context(|| args.file.display().to_string())?;
    writeln!(out.data(), "{token}")?;
    out.flush()?;
    out.say("this token is shown once; the file has its hash only");
    Ok(Exit::Clean)
}
