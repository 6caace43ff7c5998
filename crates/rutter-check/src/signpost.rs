//! Judges robots.txt, sitemaps and llms.txt, and what a sitemap says about
//! collections.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read};

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_scp::advert::{self, Advert};
use rutter_signpost::sitemap::{self, Foreign, Item, Limits, Reader, SitemapError};
use rutter_signpost::{llms as llms_txt, robots as robots_txt};

use crate::{Kind, Subject};

/// How much of a file is looked at to see what it is.
pub(crate) const SNIFFED: u64 = 64 << 10;
/// How much of an llms-full.txt is read.
const MOST_BYTES: u64 = 256 << 20;
/// Adverts that are remembered to find one that occurs twice.
const MOST_ADVERTS: usize = 10_000;

/// Sees what a file is.
pub(crate) fn kind(subject: &Subject<'_>) -> io::Result<Kind> {
    let name = subject.name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name {
        "robots.txt" => return Ok(Kind::Robots),
        "llms.txt" | "llms-full.txt" => return Ok(Kind::Llms),
        // Whatever a server sends under these names is meant to be one.
        "sitemap.xml" | "sitemap_index.xml" | "sitemap.txt" => return Ok(Kind::Sitemap),
        _ => {}
    }
    if let Some(kind) = crate::spxi::kind_by_name(&subject.name) {
        return Ok(kind);
    }
    let start = read(subject, SNIFFED)?;
    let spxi = crate::spxi::kind_by_content(&start);
    // A pointer of ARC is JSON-LD, too, and either may mention the other.
    let arc = crate::arc::kind(&subject.name, &start);
    if let Some(kind) = arc.filter(|_| spxi.is_none() || !crate::arc::is_pointer(&start)).or(spxi) {
        return Ok(kind);
    }
    let is_sitemap = sitemap::is_sitemap(&start) || sitemap::is_url_list(&start);
    Ok(if is_sitemap { Kind::Sitemap } else { Kind::Collection })
}

pub(crate) fn read(subject: &Subject<'_>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (subject.open)()?.0.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Judges a robots.txt.
pub(crate) fn robots(subject: &Subject<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    robots_txt::judge(&read(subject, MOST_BYTES)?, sink);
    Ok(())
}

/// Judges an llms.txt.
pub(crate) fn llms(subject: &Subject<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    let bytes = read(subject, MOST_BYTES)?;
    llms_txt::judge(&String::from_utf8_lossy(&bytes), sink);
    Ok(())
}

/// What a file is by its path alone.
pub(crate) fn kind_by_path(path: &str) -> Kind {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    match name {
        "robots.txt" => Kind::Robots,
        "llms.txt" | "llms-full.txt" => Kind::Llms,
        _ => match crate::spxi::kind_by_name(path).or_else(|| crate::arc::kind(path, b"")) {
            Some(kind) => kind,
            None if path.contains(".scp") => Kind::Collection,
            None if name.rsplit_once('.').is_some_and(|(_, ending)| ending == "xml") => {
                Kind::Sitemap
            }
            None => Kind::Site,
        },
    }
}

/// Judges a sitemap and its adverts, and hands each item on; gives the number
/// of its entries.
pub(crate) fn sitemap(
    subject: &Subject<'_>,
    take: &mut dyn FnMut(&Item, u64),
    sink: &mut dyn FindingSink,
) -> Result<u64, SitemapError> {
    let input = BufReader::with_capacity(64 << 10, (subject.open)()?.0);
    let mut reader = Reader::new(input, Limits::USUAL);
    let mut judge = sitemap::Judge::default();
    let mut urls = BTreeSet::new();
    // All elements have the same prefix: one finding is enough.
    let mut has_misnamed = false;
    while let Some(item) = reader.next(sink)? {
        let line = reader.line();
        judge.see(&item, line, sink);
        take(&item, line);
        let Item::Foreign(foreign) = &item else { continue };
        if foreign.namespace == advert::NAMESPACE {
            judge_advert(foreign, line, &mut urls, sink);
        } else if advert::is_misnamed(&foreign.namespace, &foreign.name) && !has_misnamed {
            has_misnamed = true;
            let detail = quoted(&foreign.namespace);
            let rule = &rutter_scp::rules::ADVERT_NAMESPACE;
            sink.report(Finding::new(rule, Place::line(line), detail));
        }
    }
    judge.finish(sink);
    Ok(judge.n_entries())
}

fn judge_advert(
    foreign: &Foreign,
    line: u64,
    urls: &mut BTreeSet<String>,
    sink: &mut dyn FindingSink,
) {
    let attributes: Vec<(&str, &str)> =
        foreign.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    for (name, value) in advert::odd_times(&attributes) {
        let detail = format!("scp:{} {name} {}", foreign.name, quoted(value));
        let rule = &rutter_page::rules::TIME_FORM;
        sink.report(Finding::new(rule, Place::line(line), detail));
    }
    let (rule, detail) = match Advert::read(&foreign.name, &attributes, &foreign.text) {
        None => (&rutter_scp::rules::ADVERT_UNKNOWN, quoted(&foreign.name)),
        Some(Err(error)) => {
            let detail = format!("scp:{}: {error}", foreign.name);
            (&rutter_scp::rules::ADVERT_MALFORMED, detail)
        }
        Some(Ok(Advert::Collection(collection))) => {
            if urls.len() < MOST_ADVERTS && !urls.insert(collection.url.clone()) {
                (&rutter_scp::rules::ADVERT_TWICE, quoted(&collection.url))
            } else {
                return;
            }
        }
        Some(Ok(_)) => return,
    };
    sink.report(Finding::new(rule, Place::line(line), detail));
}
