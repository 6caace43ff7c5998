//! The `rutter` program: parses arguments, runs one command and returns its exit code.
//!
//! To learn the code, read this file first, then one file of `commands/`, then the library crate
//! that the command calls. The rules of the formats are in the library crates. Only `output`
//! prints.

mod commands;
mod config;
mod diagnostics;
mod exit;
mod input;
mod output;
mod plan;
mod published_site;
mod records;
mod render;
mod replica;
mod site;
mod suggestion;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::ExitStatus;
use crate::output::{Detail, Output, Verbosity};

/// Make websites readable for machines, and keep verified copies of them
///
/// For a website: `rutter build` adds sitemaps, collections, ARC and SPXI files, llms.txt and
/// Markdown versions to a built site; `rutter check` validates them; `rutter serve` serves them.
/// For readers: `rutter sync` keeps a local replica of sites; `rutter search`, `rutter get`,
/// `rutter changes` and `rutter export` read it.
#[derive(Debug, Parser)]
#[command(name = "rutter", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 findings, 2 usage or internal error, 3 network \
    error, 4 failed verification or a limit, 5 refused by policy.")]
struct Cli {
    /// Do not print progress and summaries
    ///
    /// Findings, warnings, errors and data are still printed.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print all findings and the steps of the command; -vv prints more
    ///
    /// -v prints the steps of a command to stderr, -vv also every request. `rutter build -v` prints
    /// all findings and all excluded pages; by default, notes are omitted, and at most 3 findings of
    /// each rule are printed. The environment variable `RUTTER_LOG` chooses the level of each
    /// library, such as `RUTTER_LOG=rutter_fetch=debug`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create rutter.toml for the current project and print a CI job
    Init(commands::init::InitArgs),
    /// Add sitemaps, collections and other layers to a built site
    Build(commands::build::BuildArgs),
    /// Validate a site, a live URL or single files
    Check(commands::check::CheckArgs),
    /// Serve a built site over HTTP
    Serve(commands::serve::ServeArgs),
    /// Create, list and revoke access tokens for partners
    #[command(subcommand)]
    Token(commands::token::TokenCommand),
    /// Explain a rule, with a wrong and a right example
    Explain(commands::explain::ExplainArgs),
    /// List all rules
    Rules(commands::rules::RulesArgs),
    /// Extract the content of HTML or Markdown pages
    Extract(commands::extract::ExtractArgs),
    /// Show what a site offers to machines
    Discover(commands::discover::DiscoverArgs),
    /// Create or update a local replica of sites
    Sync(commands::sync::SyncArgs),
    /// Show the status of a replica
    Status(commands::status::StatusArgs),
    /// Print one page of a replica
    Get(commands::get::GetArgs),
    /// List the pages of a replica
    List(commands::list::ListArgs),
    /// Show changes since a cursor
    Changes(commands::changes::ChangesArgs),
    /// Search the pages of a replica
    Search(commands::search::SearchArgs),
    /// Export a replica as JSON Lines, CSV, Markdown or a collection
    Export(commands::export::ExportArgs),
    /// Erase a site from a replica
    Forget(commands::forget::ForgetArgs),
    /// Show the entities of a replica
    Entities(commands::entities::EntitiesArgs),
    /// Show what a site allows others to do with its pages
    #[command(subcommand)]
    Policy(commands::policy::PolicyCommand),
    /// Test URLs against a robots.txt
    Robots(commands::robots::RobotsArgs),
    /// Report what AI agents read, from access logs
    Logs(commands::logs::LogsArgs),
    /// Show ARC snapshots and compare ARC sitemaps
    #[command(subcommand)]
    Arc(commands::arc::ArcCommand),
    /// Describe the entities of a site and test what AI systems know of them
    #[command(subcommand)]
    Spxi(commands::spxi::SpxiCommand),
    /// Create, inspect, compare and merge SCP collections
    #[command(subcommand)]
    Scp(commands::ScpCommand),
    /// Print a completion script for a shell
    Completions(commands::manual::CompletionArgs),
    /// Print the manual page or write all manual pages
    Man(commands::manual::ManArgs),
    /// Print a generated part of the documentation
    #[command(hide = true)]
    Docs(commands::manual::DocsArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            suggestion::remove_dissimilar(&mut error);
            let is_error = error.use_stderr();
            // A closed pipe is not an error.
            drop(error.print());
            return if is_error { ExitStatus::Failure.into() } else { ExitStatus::Clean.into() };
        }
    };
    let verbosity = if cli.quiet { Verbosity::Quiet } else { Verbosity::Full };
    let detail = if cli.verbose == 0 { Detail::Shortened } else { Detail::Complete };
    let mut out = Output::new(verbosity, detail);
    let result = start_diagnostics(&cli).and_then(|()| run(&cli.command, &mut out));
    match result.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_closed_pipe(&error) => ExitStatus::Clean.into(),
        Err(error) => {
            out.error(&error);
            ExitStatus::of(&error).into()
        }
    }
}

/// Installs the printer of diagnostic events, if `-v` or `RUTTER_LOG` asks for it.
fn start_diagnostics(cli: &Cli) -> anyhow::Result<()> {
    let variable = std::env::var_os(diagnostics::VARIABLE);
    let variable = variable.map(|text| text.to_string_lossy().into_owned());
    if diagnostics::install(cli.verbose, variable.as_deref())? {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "rutter started");
    }
    Ok(())
}

/// Runs one command.
fn run(command: &Command, out: &mut Output) -> anyhow::Result<ExitStatus> {
    match command {
        Command::Build(args) => commands::build::run(args, out),
        Command::Check(args) => commands::check::run(args, out),
        Command::Discover(args) => commands::discover::run(args, out),
        Command::Status(args) => commands::status::run(args, out),
        Command::Get(args) => commands::get::run(args, out),
        Command::List(args) => commands::list::run(args, out),
        Command::Changes(args) => commands::changes::run(args, out),
        Command::Search(args) => commands::search::run(args, out),
        Command::Export(args) => commands::export::run(args, out),
        Command::Entities(args) => commands::entities::run(args, out),
        Command::Forget(args) => commands::forget::run(args, out),
        Command::Serve(args) => commands::serve::run(args, out),
        Command::Policy(command) => commands::policy::run(command, out),
        Command::Sync(args) => commands::sync::run(args, out),
        Command::Token(command) => commands::token::run(command, out),
        Command::Explain(args) => commands::explain::run(args, out),
        Command::Rules(args) => commands::rules::run(args, out),
        Command::Init(args) => commands::init::run(args, out),
        Command::Extract(args) => commands::extract::run(args, out),
        Command::Robots(args) => commands::robots::run(args, out),
        Command::Logs(args) => commands::logs::run(args, out),
        Command::Arc(command) => commands::arc::run(command, out),
        Command::Spxi(command) => commands::spxi::run(command, out),
        Command::Scp(command) => commands::run_scp(command, out),
        Command::Completions(args) => commands::manual::completions(args, out),
        Command::Man(args) => commands::manual::man(args, out),
        Command::Docs(args) => commands::manual::docs(args, out),
    }
}
