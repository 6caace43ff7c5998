//! Prints the links of an llms.txt by section, and its problems to stderr: `list_links llms.txt`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: list_links FILE"))?;
    let text = std::fs::read_to_string(file)?;
    let (mut out, mut problems) = (io::stdout().lock(), io::stderr().lock());
    for section in rutter_llms::parse(&text).sections {
        writeln!(out, "{}", section.title)?;
        for link in section.links {
            writeln!(out, "  {} {}", link.url, link.title)?;
        }
    }
    let mut findings = Vec::new();
    rutter_llms::check(&text, &mut findings);
    for finding in findings {
        let rule = finding.rule;
        writeln!(problems, "{}: {} {}: {}", finding.place, rule.code, rule.title, finding.detail)?;
    }
    Ok(())
}
