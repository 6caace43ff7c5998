//! Prints the URLs of a sitemap with their dates, and its problems to stderr: `list_urls FILE`.

use std::fs::File;
use std::io::{self, BufReader, Write};

use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: list_urls FILE"))?;
    let input = BufReader::new(File::open(file)?);
    let mut reader = SitemapReader::new(input, SitemapLimits::default());
    let mut findings = Vec::new();
    let (mut out, mut problems) = (io::stdout().lock(), io::stderr().lock());
    while let Some(item) = reader.next(&mut findings).map_err(io::Error::other)? {
        let (loc, lastmod) = match item {
            SitemapItem::Url(entry) => (entry.loc, entry.lastmod),
            SitemapItem::Child(child) => (child.loc, child.lastmod),
            SitemapItem::Foreign(_) => continue,
        };
        let date = lastmod.map(|time| time.to_string()).unwrap_or_default();
        writeln!(out, "{loc}\t{date}")?;
    }
    for finding in findings {
        let rule = finding.rule;
        writeln!(problems, "{}: {} {}: {}", finding.place, rule.code, rule.title, finding.detail)?;
    }
    Ok(())
}
