//! Prints the problems of a robots.txt with their lines: `check_file robots.txt`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: check_file FILE"))?;
    let mut findings = Vec::new();
    rutter_robots::check(&std::fs::read(file)?, &mut findings);
    let mut out = io::stdout().lock();
    for finding in findings {
        let rule = finding.rule;
        writeln!(out, "{}: {} {}: {}", finding.place, rule.code, rule.title, finding.detail)?;
    }
    Ok(())
}
