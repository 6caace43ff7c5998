//! The workspace's own chores: `cargo xtask CHORE`.
//!
//! `test` is what CI and the README run; it installs the outside programs it
//! needs where it may. Every chore is also a function another one can call.

#![expect(clippy::print_stdout, reason = "a chore talks to whoever runs it")]

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

const USAGE: &str = "usage: cargo xtask CHORE

  test             everything: format, lints, tidy, docs, all tests, outside programs
  tidy             crate edges, file sizes, module docs, paths in ARCHITECTURE.md
  clauses [SPEC]   which clauses of the specifications a test names, and which none
  docs [--check]   write what docs/ gets from the program, or see that it is up to date
  browser          the HTML report of `rutter check` in Chromium, with pictures to look at
  deny             licences, bans and sources of dependencies, by cargo-deny
  release [--twice]   build target/release/rutter without paths of this machine; twice:
                   build it again elsewhere and compare the bytes
  markdown         hostile pages as Markdown, rendered by others, in Chromium: nothing runs
  interop          files we write, read by Python's gzip and zstandard
  score [DIR...]   quality of extraction: the own set, or what the folders hold
  outside DIR [--part train|tune|look-once] [--scores-only]   extraction on the open sets in DIR
                   with all peers, on documentation packages and on generated sites; robots
                   verdicts, sitemaps, schemas and SPXI indexes where DIR has them
  generators [--phrases | --replay] [NAME...]   build the same site with each generator and check
                   it; --phrases: required phrases in the Markdown twins; --replay: rebuilds and
                   edits (a long run: installs the generators the first time)
  features SET_DIR OUT_DIR   write the features of a set of pages, for training
  agents FILE      write the table of AI agents from the robots.json of ai.robots.txt
  schemaorg FILE   write the table of schema.org's types from its types-RELEASE.csv
  bench [scp]      speed and memory of collections beside peers
  bench extract [--news DIR]   speed and memory of extraction beside peers
  bench build      time, memory and bytes of building a site of ten thousand pages
  bench scale [--pages N]   memory of building a site of a million pages
  bench sitemap    speed and memory of sitemaps beside peers
  bench store [--pages N] [--large N]   the replica beside a bare insert, and a very large one
  bench arc        speed and memory of ARC sitemaps beside bare streaming
  bench markers    time of looking for a site's SPXI markers beside extraction
  bench spxi       speed of judging an SPXI index beside parsing it
  bench logs [--lines N]   speed and memory of reading access logs beside splitting lines
  bench serve      requests and bytes a second of `rutter serve` beside nginx, and its memory
  bench sync [--only scp|layers|html|many|large] [--scrapy N]   `rutter sync` beside scrapy,
                   wget, and curl with check and a bare insert
  load             `rutter serve` with slow clients, swaps under load and kills
  growth [--size BYTES] [READER [CASE]]   worst cases of every reader of foreign bytes: steps
                   at 1, 2 and 4 times the size (16 KiB); fails where they are not linear
  fuzz TARGET [--seconds N]   try random input on a reader of foreign bytes";

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

/// Everything, in the order in which it fails fastest.
fn test() -> anyhow::Result<()> {
    run(cargo(&["fmt", "--all", "--check"]))?;
    tidy::run()?;
    deny::check()?;
    let lints =
        ["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    run(cargo(&lints))?;
    run(cargo(&["test", "--quiet", "--workspace", "--locked"]))?;
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
    let mut command = cargo(&["run", "--release", "--quiet", "--package", "rutter-bench", "--"]);
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
        return run(command.arg("serve").arg("--rutter").arg(release()?).args(rest));
    }
    if let ["sync", rest @ ..] = rest {
        outside::need("curl", "curl")?;
        outside::need("wget", "wget")?;
        let python = outside::pypi(&["scrapy"])?;
        let site = score::large_site()?;
        command.arg("sync").arg("--rutter").arg(release()?).arg("--python").arg(python);
        command.arg("--site").arg(site).args(["--home", score::LARGE_HOME]);
        return run(command.args(rest));
    }
    outside::need("zstd", "zstd")?;
    outside::need("openssl", "openssl")?;
    let rest = if rest.is_empty() { &["scp"][..] } else { rest };
    run(command.args(rest))
}

/// `rutter serve` under duress.
fn load(rest: &[&str]) -> anyhow::Result<()> {
    outside::need("wrk", "wrk")?;
    let mut command = cargo(&["run", "--release", "--quiet", "--package", "rutter-bench", "--"]);
    run(command.arg("load").arg("--rutter").arg(release()?).args(rest))
}

/// The program as it is released.
fn release() -> anyhow::Result<PathBuf> {
    release::build(&release::target())
}

/// The folder of the workspace.
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
