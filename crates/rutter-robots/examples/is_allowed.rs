//! Says whether an agent may fetch a URL, and which line decides:
//! `is_allowed robots.txt AGENT URL`.

use std::io::{self, Write};

use rutter_robots::RobotsTxt;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, agent, url] = arguments.as_slice() else {
        return Err(io::Error::other("usage: is_allowed robots.txt AGENT URL"));
    };
    let robots = RobotsTxt::parse(&std::fs::read(file)?);
    let verdict = robots.verdict(agent, url);
    let answer = if verdict.is_allowed { "allowed" } else { "disallowed" };
    let mut out = io::stdout().lock();
    match verdict.rule {
        Some(rule) => writeln!(out, "{answer} by line {}: {}", rule.line, rule.pattern),
        None => writeln!(out, "{answer}: no rule matches"),
    }
}
