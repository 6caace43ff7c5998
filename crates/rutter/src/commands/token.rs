//! `rutter token`: tokens for partners, made, listed and taken back.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use rutter_finding::quoted;
use rutter_page::Timestamp;
use rutter_serve::{NewToken, Scope, Tokens, new_token, rate_of, revoke_token};

use crate::commands::{now, parse_time};
use crate::exit::Exit;
use crate::output::Output;

/// The file, unless told otherwise.
const FILE: &str = "tokens.toml";

/// Commands about tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token, print it once, and add its hash to a file
    New(Args),
    /// List the tokens of a file: names, scopes, rates, ends; never hashes
    List(ListArgs),
    /// Take a token back: take it out of the file, and leave the rest as it is
    Revoke(RevokeArgs),
}

/// What the arguments of `list` say.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// File of tokens
    #[arg(long, value_name = "FILE", default_value = FILE)]
    file: PathBuf,
}

/// What the arguments of `revoke` say.
#[derive(Debug, clap::Args)]
pub(crate) struct RevokeArgs {
    /// Whose token it is
    #[arg(value_name = "NAME")]
    name: String,
    /// File of tokens
    #[arg(long, value_name = "FILE", default_value = FILE)]
    file: PathBuf,
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
    #[arg(long, value_name = "FILE", default_value = FILE)]
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
    match command {
        Token::New(args) => make(args, out),
        Token::List(args) => list(args, out),
        Token::Revoke(args) => {
            let name = || args.file.display().to_string();
            revoke_token(&args.file, &args.name).with_context(name)?;
            out.say("taken back; a server that reads this file refuses it from now on");
            Ok(Exit::Clean)
        }
    }
}

fn list(args: &ListArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let tokens = Tokens::load(&args.file).with_context(|| args.file.display().to_string())?;
    let now = now()?.unix_seconds();
    for grant in tokens.grants() {
        let scopes: Vec<&str> = grant.scopes.iter().map(|scope| scope.name()).collect();
        let end = match grant.expires {
            Some(end) => {
                let has_ended = if end <= now { " (ended)" } else { "" };
                let end = Timestamp::from_unix_seconds(end).context("an end that is no time")?;
                format!("until {end}{has_ended}")
            }
            None => "without end".to_owned(),
        };
        let every = grant.rate.every.as_secs_f64();
        let name = quoted(&grant.name);
        writeln!(out.data(), "{name}: {}, one in {every} s, {end}", scopes.join(" and "))?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

fn make(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let rate = &args.rate;
    rate_of(rate).with_context(|| format!("--rate {rate}: wanted a rate such as 10/m"))?;
    if let Some(end) = args.expires.filter(|end| now().is_ok_and(|now| *end <= now)) {
        anyhow::bail!("--expires {end}: is over already");
    }
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
