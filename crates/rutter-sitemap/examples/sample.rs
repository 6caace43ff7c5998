//! Prints a small sitemap, or an index of sitemaps: `sample urlset|index`.
//!
//! `cargo xtask test` validates both outputs with a schema processor.

use std::io::{self, Write};

use rutter_page::Timestamp;
use rutter_sitemap::{
    AlternateLink, ChangeFreq, ChildSitemap, ForeignElement, PushOutcome, SitemapEntry,
    UrlsetWriter, write_index,
};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let noon = Timestamp::parse("2026-05-01T12:00:00.25Z").ok();
    if std::env::args().nth(1).as_deref() == Some("index") {
        let child = |n: u32| ChildSitemap {
            loc: format!("https://harbour.example/sitemap-{n}.xml?a&b"),
            lastmod: noon.filter(|_| n == 1),
        };
        write_index(&mut out, &[child(1), child(2)])?;
        return out.flush();
    }
    let mut writer = UrlsetWriter::new(&mut out, &adverts())?;
    let full = SitemapEntry {
        loc: "https://harbour.example/?a=1&b=2".to_owned(),
        lastmod: noon,
        changefreq: Some(ChangeFreq::Weekly),
        priority: Some(0.85),
        alternates: vec![
            AlternateLink {
                hreflang: "de".to_owned(),
                href: "https://harbour.example/de/".to_owned(),
                media_type: None,
            },
            AlternateLink {
                hreflang: "x-spxi".to_owned(),
                href: "https://harbour.example/spxi-index.jsonld".to_owned(),
                media_type: Some("application/ld+json".to_owned()),
            },
        ],
        extensions: vec![
            "<i:image xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\">\
             <i:loc>https://harbour.example/a.png</i:loc></i:image>"
                .to_owned(),
        ],
        ..SitemapEntry::default()
    };
    let day = SitemapEntry { is_day: true, priority: Some(1.0), lastmod: noon, ..full.clone() };
    let bare =
        SitemapEntry { loc: "https://harbour.example/tides".to_owned(), ..SitemapEntry::default() };
    for entry in [full, day, bare] {
        if writer.push(&entry)? == PushOutcome::Full {
            return Err(io::Error::other("the sitemap is full after three entries"));
        }
    }
    writer.finish()?.flush()
}

/// Returns one element of each type that SCP 0.1 defines.
fn adverts() -> Vec<ForeignElement> {
    let element = |name: &str, attributes: &[(&str, &str)], text: &str| ForeignElement {
        namespace: "https://scp-protocol.org/schemas/sitemap/1.0".to_owned(),
        name: name.to_owned(),
        attributes: attributes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        text: text.to_owned(),
    };
    let file = [
        ("section", "docs"),
        ("url", "https://harbour.example/docs.scp.gz?a&b"),
        ("generated", "2026-05-01T12:00:00Z"),
        ("expires", "2026-06-01T12:00:00Z"),
        ("pages", "3"),
        ("size", "1024"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [file.as_slice(), more].concat();
    vec![
        element("version", &[], "0.1"),
        element("compression", &[], "zstd,gzip"),
        element("section", &[("name", "docs"), ("updateFreq", "daily"), ("pages", "~3")], ""),
        element("collection", &with(&[("type", "snapshot")]), ""),
        element("delta", &with(&[("period", "2026-05-01"), ("since", "2026-04-30T00:00:00Z")]), ""),
    ]
}
