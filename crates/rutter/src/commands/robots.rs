//! `rutter robots`: tests whether a crawler may fetch URLs, and prints the deciding rule.

use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use anyhow::Context;
use rutter_finding::visible;
use rutter_robots::{FetchVerdict, RobotsRule, RobotsTxt};
use serde_json::json;

use crate::exit::ExitStatus;
use crate::input::InputFile;
use crate::output::Output;
use crate::records::{RecordArgs, RecordWriter};

/// Arguments of `rutter robots`.
#[derive(Debug, clap::Args)]
pub(crate) struct RobotsArgs {
    /// The robots.txt file, - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Product token of the crawler, such as `GPTBot`
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// URLs or paths to test, - for standard input
    ///
    /// Standard input has one URL per line.
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    #[command(flatten)]
    rows: RecordArgs,
}

pub(crate) fn run(args: &RobotsArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let n_stdin = args.urls.iter().filter(|url| *url == "-").count();
    anyhow::ensure!(
        n_stdin + usize::from(args.file.as_os_str() == "-") <= 1,
        "only one input can be standard input"
    );
    let source = InputFile::new(&args.file)?;
    let mut bytes = Vec::new();
    // The parser ignores bytes beyond its size limit; reading one more byte shows whether the file
    // is larger.
    let most = RobotsTxt::MAX_BYTES as u64 + 1;
    let (input, _) = source.open().with_context(|| source.name().to_owned())?;
    input.take(most).read_to_end(&mut bytes).with_context(|| source.name().to_owned())?;
    let robots = RobotsTxt::parse(&bytes);
    let mut exit = ExitStatus::Clean;
    let mut rows = args.rows.rows("urls");
    for url in &args.urls {
        if url != "-" {
            exit = exit.max(answer(args, &robots, url, &mut rows, out)?);
            continue;
        }
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        while 0 < input.read_until(b'\n', &mut line).context("<stdin>")? {
            let url = String::from_utf8_lossy(&line);
            let url = url.trim();
            if !url.is_empty() {
                exit = exit.max(answer(args, &robots, url, &mut rows, out)?);
            }
            line.clear();
        }
    }
    rows.finish(out)?;
    Ok(exit)
}

/// Prints the result for one URL.
fn answer(
    args: &RobotsArgs,
    robots: &RobotsTxt,
    url: &str,
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let FetchVerdict { is_allowed, rule } = robots.verdict(&args.agent, url);
    if !rows.is_text() {
        let answer = json!({
            "url": url,
            "agent": args.agent,
            "allowed": is_allowed,
            "line": rule.map(|rule| rule.line),
            "rule": rule.map(written),
        });
        rows.push(answer.to_string(), out)?;
    } else {
        let word = if is_allowed { "allow" } else { "deny" };
        let why = rule.map_or("no rule".to_owned(), |rule| {
            format!("line {}: {}", rule.line, visible(&written(rule)))
        });
        writeln!(out.data(), "{word:<5}  {}  ({why})", visible(url))?;
    }
    Ok(if is_allowed { ExitStatus::Clean } else { ExitStatus::Findings })
}

fn written(rule: &RobotsRule) -> String {
    let word = if rule.is_allow { "Allow" } else { "Disallow" };
    format!("{word}: {}", rule.pattern)
}
