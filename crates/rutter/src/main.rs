//! The `rutter` command: arguments in, exit code out.
//!
//! A newcomer's tour: this file, then one of `commands/`, then the crate it
//! calls. Nothing here knows a rule of a format, and nothing below prints.

mod commands;
mod config;
mod exit;
mod input;
mod output;
mod published;
mod replica;
mod rows;
mod settle;
mod site;
mod suggestion;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::Exit;
use crate::output::{Chatter, Output};

/// Makes websites readable for AI crawlers, and reads such sites exactly and cheaply.
#[derive(Debug, Parser)]
#[command(name = "rutter", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 clean, 1 findings, 2 usage or internal error, 3 network, \
    4 broken integrity or a limit, 5 refused by policy.")]
struct Cli {
    /// Print findings, warnings, errors and data only: no progress, no summary
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write settings for the site in the current folder, and print its CI step
    Init(commands::init::Args),
    /// Make the machine-readable layers of a built website
    Build(commands::build::Args),
    /// Judge files and say what is wrong with them
    Check(commands::check::Args),
    /// Serve a built website over HTTP
    Serve(commands::serve::Args),
    /// Make tokens for partners
    #[command(subcommand)]
    Token(commands::token::Token),
    /// Explain a rule by its code or name
    Explain(commands::explain::Args),
    /// List the rules
    Rules(commands::rules::Args),
    /// Read pages of HTML or Markdown into typed blocks
    Extract(commands::extract::Args),
    /// Look around a site: what it offers to machines, and where it says so
    Discover(commands::discover::Args),
    /// Keep a replica of sites: exactly what they offer, verified, with deletions
    Sync(commands::sync::Args),
    /// Show the status of a replica
    Status(commands::status::Args),
    /// Print one page of a replica
    Get(commands::get::Args),
    /// List the pages of a replica
    List(commands::list::Args),
    /// Show changes since a cursor
    Changes(commands::changes::Args),
    /// Find pages of a replica by their words
    Search(commands::search::Args),
    /// Write the pages of a replica as JSON Lines, CSV, Markdown or a collection
    Export(commands::export::Args),
    /// Erase a site from a replica: content, history and index
    Forget(commands::forget::Args),
    /// Show the entities of the sites of a replica
    Entities(commands::entities::Args),
    /// Say what a site says about the use of its pages
    #[command(subcommand)]
    Policy(commands::policy::Policy),
    /// Ask a robots.txt whether a crawler may fetch addresses
    Robots(commands::robots::Args),
    /// Say which AI agents read what of a site, by its access logs
    Logs(commands::logs::Args),
    /// Show the snapshot of an annotated page, compare ARC sitemaps
    #[command(subcommand)]
    Arc(commands::arc::Arc),
    /// Say what the entities of a site are, and see whether that survives
    #[command(subcommand)]
    Spxi(commands::spxi::Spxi),
    /// Make, read, compare and merge SCP collections
    #[command(subcommand)]
    Scp(commands::Scp),
    /// Print completions for a shell
    Completions(commands::manual::CompletionArgs),
    /// Print the manual page, or write one page per command into a folder
    Man(commands::manual::ManArgs),
    /// Print the generated parts of the documentation
    #[command(hide = true)]
    Docs(commands::manual::DocsArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            suggestion::remove_dissimilar(&mut error);
            let is_error = error.use_stderr();
            // A closed pipe is the reader's decision, not a failure.
            drop(error.print());
            return if is_error { Exit::Failure.into() } else { Exit::Clean.into() };
        }
    };
    let chatter = if cli.quiet { Chatter::Quiet } else { Chatter::Full };
    let mut out = Output::new(chatter);
    let result = match &cli.command {
        Command::Build(args) => commands::build::run(args, &mut out),
        Command::Check(args) => commands::check::run(args, &mut out),
        Command::Discover(args) => commands::discover::run(args, &mut out),
        Command::Status(args) => commands::status::run(args, &mut out),
        Command::Get(args) => commands::get::run(args, &mut out),
        Command::List(args) => commands::list::run(args, &mut out),
        Command::Changes(args) => commands::changes::run(args, &mut out),
        Command::Search(args) => commands::search::run(args, &mut out),
        Command::Export(args) => commands::export::run(args, &mut out),
        Command::Entities(args) => commands::entities::run(args, &mut out),
        Command::Forget(args) => commands::forget::run(args, &mut out),
        Command::Serve(args) => commands::serve::run(args, &mut out),
        Command::Policy(command) => commands::policy::run(command, &mut out),
        Command::Sync(args) => commands::sync::run(args, &mut out),
        Command::Token(command) => commands::token::run(command, &mut out),
        Command::Explain(args) => commands::explain::run(args, &mut out),
        Command::Rules(args) => commands::rules::run(args, &mut out),
        Command::Init(args) => commands::init::run(args, &mut out),
        Command::Extract(args) => commands::extract::run(args, &mut out),
        Command::Robots(args) => commands::robots::run(args, &mut out),
        Command::Logs(args) => commands::logs::run(args, &mut out),
        Command::Arc(command) => commands::arc::run(command, &mut out),
        Command::Spxi(command) => commands::spxi::run(command, &mut out),
        Command::Scp(command) => commands::run_scp(command, &mut out),
        Command::Completions(args) => commands::manual::completions(args, &mut out),
        Command::Man(args) => commands::manual::man(args, &mut out),
        Command::Docs(args) => commands::manual::docs(args, &mut out),
    };
    match result.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_closed_pipe(&error) => Exit::Clean.into(),
        Err(error) => {
            out.error(&error);
            Exit::of(&error).into()
        }
    }
}
