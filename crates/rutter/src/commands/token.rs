//! `rutter token`: creates, lists and revokes access tokens for partners.
//!
//! The token file has hashes only; a token is printed once, when it is created.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use rutter_finding::quoted;
use rutter_page::Timestamp;
use rutter_serve::{NewToken, TokenScope, Tokens, create_token, parse_rate, revoke_token};

use crate::commands::{now, parse_time};
use crate::exit::ExitStatus;
use crate::output::Output;

/// Default name of the token file.
const FILE: &str = "tokens.toml";

/// Subcommands of `rutter token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token, print it and store its hash
    New(NewTokenArgs),
    /// List the tokens of a file, without their hashes
    List(ListTokensArgs),
    /// Revoke a token
    Revoke(RevokeTokenArgs),
}

/// Arguments of `rutter token list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListTokensArgs {
    /// Token file
    #[arg(long, value_name = "FILE", default_value = FILE)]
    file: PathBuf,
}

/// Arguments of `rutter token revoke`.
#[derive(Debug, clap::Args)]
pub(crate) struct RevokeTokenArgs {
    /// Name of the partner
    #[arg(value_name = "NAME")]
    name: String,
    /// Token file
    #[arg(long, value_name = "FILE", default_value = FILE)]
    file: PathBuf,
}

/// Arguments of `rutter token new`.
#[derive(Debug, clap::Args)]
pub(crate) struct NewTokenArgs {
    /// Name of the partner, as shown in access logs
    #[arg(value_name = "NAME")]
    name: String,
    /// Content that the partner may read; may be repeated
    #[arg(long, value_enum, value_name = "SCOPE", default_values_t = [ScopeArg::Entries])]
    scope: Vec<ScopeArg>,
    /// Maximum request rate of the partner
    ///
    /// Examples: 1/s, 60/m.
    #[arg(long, value_name = "RATE", default_value = "60/m")]
    rate: String,
    /// Time when the token expires
    ///
    /// By default, the token does not expire. Example: 2027-01-01T00:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    expires: Option<Timestamp>,
    /// Token file, for `rutter serve --tokens`
    ///
    /// The file is created if it does not exist.
    #[arg(long, value_name = "FILE", default_value = FILE)]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum ScopeArg {
    /// Complete ARC entries of pages that need a login
    Entries,
    /// Content of pages that need a login
    Content,
}

pub(crate) fn run(command: &TokenCommand, out: &mut Output) -> anyhow::Result<ExitStatus> {
    match command {
        TokenCommand::New(args) => make(args, out),
        TokenCommand::List(args) => list(args, out),
        TokenCommand::Revoke(args) => {
            let name = || args.file.display().to_string();
            revoke_token(&args.file, &args.name).with_context(name)?;
            out.say("revoked; a server that uses this file rejects the token from now on");
            Ok(ExitStatus::Clean)
        }
    }
}

fn list(args: &ListTokensArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let tokens = Tokens::load(&args.file).with_context(|| args.file.display().to_string())?;
    let now = now()?.unix_seconds();
    for grant in tokens.grants() {
        let scopes: Vec<&str> = grant.scopes.iter().map(|scope| scope.name()).collect();
        let end = match grant.expires {
            Some(end) => {
                let has_ended = if end <= now { " (expired)" } else { "" };
                let end =
                    Timestamp::from_unix_seconds(end).context("the expiry time is out of range")?;
                format!("expires {end}{has_ended}")
            }
            None => "does not expire".to_owned(),
        };
        let every = grant.rate.every.as_secs_f64();
        let name = quoted(&grant.name);
        let scopes = scopes.join(" and ");
        writeln!(out.data(), "{name}: {scopes}, one request every {every} s, {end}")?;
    }
    out.flush()?;
    Ok(ExitStatus::Clean)
}

fn make(args: &NewTokenArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let rate = &args.rate;
    parse_rate(rate).with_context(|| format!("--rate {rate}: expected a rate, such as 10/m"))?;
    if let Some(end) = args.expires.filter(|end| now().is_ok_and(|now| *end <= now)) {
        anyhow::bail!("--expires {end} is in the past");
    }
    let mut scopes: Vec<TokenScope> = args
        .scope
        .iter()
        .map(|what| match what {
            ScopeArg::Entries => TokenScope::Entries,
            ScopeArg::Content => TokenScope::Content,
        })
        .collect();
    scopes.sort();
    scopes.dedup();
    let new = NewToken { name: &args.name, scopes: &scopes, rate, expires: args.expires };
    let token = create_token(&args.file, &new).with_context(|| args.file.display().to_string())?;
    writeln!(out.data(), "{token}")?;
    out.flush()?;
    out.say("this token is shown only now; the file stores its hash");
    Ok(ExitStatus::Clean)
}
