//! Tasks of this workspace: `cargo xtask TASK`.
//!
//! `test` is what CI runs; it installs the programs that it needs if it may. Each task is a
//! module with a function that other tasks can call.

#![expect(clippy::print_stdout, reason = "a task reports to the terminal")]

mod agents;
mod browser;
mod clauses;
mod deny;
mod docs;
mod features;
mod fuzz;
mod generators;
mod growth;
mod interop;
mod markdown;
mod outside;
mod release;
mod schemaorg;
mod score;
mod signpost;
mod tidy;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};

const USAGE: &str = "usage: cargo xtask TASK

checks
  test             run everything: format, lints, tidy, docs, all tests, external programs
  tidy             check dependencies, file lengths, module docs, references, words, type names
  clauses [SPEC]   list the clauses of the specifications that tests name, and those that none does
  docs [--check]   write the generated pages of docs/, or check that they are up to date
  deny             check licences, bans and sources of dependencies with cargo-deny
  browser          open the HTML report of `rutter check` in Chromium and take pictures
  markdown         render hostile pages as Markdown with other programs in Chromium
  interop          read files of Rutter with Python's gzip and zstandard
  generators [--phrases | --replay] [NAME...]
                   build one site with each site generator and check it; --phrases: required
                   phrases in the Markdown twins; --replay: rebuilds and edits (a long run that
                   installs the generators the first time)
  fuzz TARGET [--seconds N]
                   run random input against a parser
  growth [--size BYTES] [READER [CASE]]
                   count the steps of worst cases at 1, 2 and 4 times the size (16 KiB); fails
                   where they do not grow linearly
  load             run `rutter serve` with slow clients, new builds under load, and kills

quality of extraction
  score [DIR...]   score the own set of pages, or the sets in the folders
  outside DIR [--part train|tune|look-once] [--scores-only|--dates]
                   score the open sets in DIR with all peers, documentation packages and
                   generated sites; also robots.txt, sitemaps, schemas and SPXI where DIR has them
  features SET_DIR OUT_DIR
                   write the features of a set of pages for training

benchmarks
  bench [scp]      speed and memory of collections, compared with other programs
  bench extract [--news DIR]
                   speed and memory of extraction, compared with other programs
  bench build      time, memory and bytes of building a site of 10,000 pages
  bench scale [--pages N]
                   memory of building a site of 1,000,000 pages
  bench check      time and memory of checking a site
  bench sitemap    speed and memory of sitemaps, compared with other programs
  bench store [--pages N] [--large N]
                   the replica compared with a plain insert, and a very large replica
  bench arc        speed and memory of ARC sitemaps, compared with plain streaming
  bench markers    time of searching the SPXI markers of a site, compared with extraction
  bench spxi       speed of checking an SPXI index, compared with parsing it
  bench logs [--lines N]
                   speed and memory of reading access logs, compared with splitting lines
  bench serve      throughput and memory of `rutter serve`, compared with nginx
  bench sync [--only scp|layers|html|many|large] [--scrapy N]
                   `rutter sync` compared with scrapy, wget and curl

data and releases
  release [--twice]
                   build target/dist/rutter without paths of this machine; --twice: build it
                   again in another folder and compare the bytes
  agents FILE      write the table of AI agents from the robots.json of ai.robots.txt
  schemaorg FILE   write the table of schema.org types from its types-RELEASE.csv";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test"] => test(),
        ["tidy"] => tidy::run(),
        ["clauses", rest @ ..] => clauses::run(rest.first().copied()),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["browser"] => browser::pictures(),
        ["deny"] => deny::check(),
        ["release", rest @ ..] => release::run_args(rest),
        ["markdown"] => markdown::check(),
        ["interop"] => interop::run_all(),
        ["score", rest @ ..] => score::score(rest),
        ["outside", rest @ ..] => score::outside(rest),
        ["features", set, out] => features::run_in(set, out),
        ["generators", rest @ ..] => generators::run_named(rest),
        ["agents", file, rest @ ..] => agents::run(file, rest.first().copied()),
        ["schemaorg", file] => schemaorg::run(file),
        ["bench", rest @ ..] => bench(rest),
        ["load", rest @ ..] => load(rest),
        ["growth", rest @ ..] => growth::run_args(rest),
        ["fuzz", target, rest @ ..] => fuzz::run_args(target, rest),
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// Runs all checks, the fastest first.
fn test() -> anyhow::Result<()> {
    run(cargo(&["fmt", "--all", "--check"]))?;
    tidy::run()?;
    deny::check()?;
    let lints =
        ["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    run(cargo(&lints))?;
    // Without the variable, tests of rendering are skipped if Chromium is missing.
    outside::need("chromium", "chromium")?;
    run(cargo(&["test", "--quiet", "--workspace", "--locked"]).env("CHROMIUM", "1"))?;
    outside::need("strace", "strace")?;
    run(cargo(&["test", "--quiet", "--locked", "--package", "rutter", "kill"]).env("STRACE", "1"))?;
    let document = ["doc", "--quiet", "--workspace", "--no-deps", "--locked"];
    run(cargo(&document).env("RUSTDOCFLAGS", "-D warnings"))?;
    docs::check()?;
    clauses::check()?;
    interop::run_all()?;
    signpost::schemas(None)?;
    signpost::built_site(None)?;
    browser::check()?;
    markdown::check()?;
    fuzz::build()?;
    println!("xtask test: everything passed");
    Ok(())
}

fn bench(rest: &[&str]) -> anyhow::Result<()> {
    let mut command = bench_program();
    if let ["extract", rest @ ..] = rest {
        let docs = score::documentation()?;
        let python = outside::python(&["resiliparse"])?;
        let peer = score::peers()?;
        command.arg("extract").arg("--docs").arg(docs).arg("--python").arg(python);
        let here = std::env::current_dir()?;
        let rest =
            rest.iter().map(|arg| if arg.starts_with("--") { arg.into() } else { here.join(arg) });
        return run(command.arg("--peer").arg(peer).args(rest));
    }
    if let ["build", rest @ ..] = rest {
        let (site, docs) = (score::large_site()?, score::documentation()?);
        let python = outside::python(&["resiliparse", "trafilatura"])?;
        command.arg("build").arg("--site").arg(site).arg("--docs").arg(docs);
        return run(command.arg("--python").arg(python).args(rest));
    }
    if let ["check", rest @ ..] = rest {
        let site = score::large_site()?;
        return run(command.arg("check").arg("--site").arg(site).args(rest));
    }
    if let ["markers", rest @ ..] = rest {
        let docs = score::documentation()?;
        return run(command.arg("markers").arg("--docs").arg(docs).args(rest));
    }
    if let ["sitemap", rest @ ..] = rest {
        return run(command.arg("sitemap").arg("--peer").arg(score::peers()?).args(rest));
    }
    if let [chore @ ("arc" | "logs" | "spxi" | "store"), rest @ ..] = rest {
        return run(command.arg(chore).args(rest));
    }
    if let ["serve", rest @ ..] = rest {
        outside::need("nginx", "nginx-light")?;
        outside::need("wrk", "wrk")?;
        outside::need("curl", "curl")?;
        return run(command.arg("serve").arg("--rutter").arg(dist()?).args(rest));
    }
    if let ["sync", rest @ ..] = rest {
        outside::need("curl", "curl")?;
        outside::need("wget", "wget")?;
        let python = outside::pypi(&["scrapy"])?;
        let site = score::large_site()?;
        command.arg("sync").arg("--rutter").arg(dist()?).arg("--python").arg(python);
        command.arg("--site").arg(site).args(["--home", score::LARGE_HOME]);
        return run(command.args(rest));
    }
    outside::need("zstd", "zstd")?;
    outside::need("openssl", "openssl")?;
    let rest = if rest.is_empty() { &["scp"][..] } else { rest };
    run(command.args(rest))
}

/// Runs the load tests of `rutter serve`.
fn load(rest: &[&str]) -> anyhow::Result<()> {
    outside::need("wrk", "wrk")?;
    let mut command = bench_program();
    run(command.arg("load").arg("--rutter").arg(dist()?).args(rest))
}

/// Returns the command that builds and runs the benchmarks with the profile of packages.
fn bench_program() -> Command {
    cargo(&["run", "--profile", "dist", "--quiet", "--package", "rutter-bench", "--"])
}

/// Builds the binary that packages contain, and returns its path.
fn dist() -> anyhow::Result<PathBuf> {
    release::build(&release::target())
}

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

fn run(command: impl std::borrow::BorrowMut<Command>) -> anyhow::Result<()> {
    let mut command = command;
    let command = command.borrow_mut();
    println!("xtask: {}", shown(command));
    let status = command.status().with_context(|| shown(command))?;
    ensure!(status.success(), "{} failed", shown(command));
    Ok(())
}

fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    [name].into_iter().chain(args).collect::<Vec<_>>().join(" ")
}
