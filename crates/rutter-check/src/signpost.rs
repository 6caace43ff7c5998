//! Checks robots.txt, sitemaps and llms.txt, and the `scp:` elements of sitemaps.

use rutter_report::FileKind;
use std::collections::BTreeSet;
use std::io::{self, BufReader, Read};

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_llms as llms_txt;
use rutter_robots as robots_txt;
use rutter_scp::advert::{self, Advert};
use rutter_sitemap::{
    self as sitemap, EntryChecker, ForeignElement, SitemapError, SitemapItem, SitemapLimits,
    SitemapReader,
};

use crate::CheckTarget;

/// The number of bytes that are read to detect the format.
pub(crate) const SNIFFED: u64 = 64 << 10;
/// The maximum number of bytes that are read of robots.txt and llms-full.txt.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum number of `scp:` elements that are compared for duplicates.
const MOST_ADVERTS: usize = 10_000;

/// Detects the format of a file.
pub(crate) fn kind(subject: &CheckTarget<'_>) -> io::Result<FileKind> {
    let name = subject.name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name {
        "robots.txt" => return Ok(FileKind::Robots),
        "llms.txt" | "llms-full.txt" => return Ok(FileKind::Llms),
        // Files with these names are always checked as sitemaps, even if their content is invalid.
        "sitemap.xml" | "sitemap_index.xml" | "sitemap.txt" => return Ok(FileKind::Sitemap),
        _ => {}
    }
    if let Some(kind) = crate::spxi::kind_by_name(&subject.name) {
        return Ok(kind);
    }
    let start = read(subject, SNIFFED)?;
    let spxi = crate::spxi::kind_by_content(&start);
    // An ARC pointer is JSON-LD, as an SPXI file is, and each of the two may mention the other
    // format.
    let arc = crate::arc::kind(&subject.name, &start);
    if let Some(kind) = arc.filter(|_| spxi.is_none() || !crate::arc::is_pointer(&start)).or(spxi) {
        return Ok(kind);
    }
    let is_sitemap = sitemap::is_sitemap(&start) || sitemap::is_url_list(&start);
    Ok(if is_sitemap { FileKind::Sitemap } else { FileKind::Collection })
}

pub(crate) fn read(subject: &CheckTarget<'_>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (subject.open)()?.0.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Checks a robots.txt.
pub(crate) fn robots(subject: &CheckTarget<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    robots_txt::check(&read(subject, MOST_BYTES)?, sink);
    Ok(())
}

/// Checks an llms.txt.
pub(crate) fn llms(subject: &CheckTarget<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    let bytes = read(subject, MOST_BYTES)?;
    llms_txt::check(&String::from_utf8_lossy(&bytes), sink);
    Ok(())
}

/// Returns the format of a file by its path alone.
pub(crate) fn kind_by_path(path: &str) -> FileKind {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    match name {
        "robots.txt" => FileKind::Robots,
        "llms.txt" | "llms-full.txt" => FileKind::Llms,
        _ => match crate::spxi::kind_by_name(path).or_else(|| crate::arc::kind(path, b"")) {
            Some(kind) => kind,
            None if path.contains(".scp") => FileKind::Collection,
            None if name.rsplit_once('.').is_some_and(|(_, ending)| ending == "xml") => {
                FileKind::Sitemap
            }
            None => FileKind::Site,
        },
    }
}

/// Checks a sitemap and its `scp:` elements, passes each item to `take`, and
/// returns the number of entries.
pub(crate) fn sitemap(
    subject: &CheckTarget<'_>,
    take: &mut dyn FnMut(&SitemapItem, u64),
    sink: &mut dyn FindingSink,
) -> Result<u64, SitemapError> {
    let input = BufReader::with_capacity(64 << 10, (subject.open)()?.0);
    let mut reader = SitemapReader::new(input, SitemapLimits::USUAL);
    let mut checker = EntryChecker::default();
    let mut urls = BTreeSet::new();
    // All elements of the sitemap have the same prefix, so one finding is enough.
    let mut has_misnamed = false;
    while let Some(item) = reader.next(sink)? {
        let line = reader.line();
        checker.check_item(&item, line, sink);
        take(&item, line);
        let SitemapItem::Foreign(foreign) = &item else { continue };
        if foreign.namespace == advert::NAMESPACE {
            check_advert(foreign, line, &mut urls, sink);
        } else if advert::is_in_wrong_namespace(&foreign.namespace, &foreign.name) && !has_misnamed
        {
            has_misnamed = true;
            let detail = quoted(&foreign.namespace);
            let rule = &rutter_scp::rules::ADVERT_NAMESPACE;
            sink.report(Finding::new(rule, Place::line(line), detail));
        }
    }
    checker.finish(sink);
    Ok(checker.n_entries())
}

fn check_advert(
    foreign: &ForeignElement,
    line: u64,
    urls: &mut BTreeSet<String>,
    sink: &mut dyn FindingSink,
) {
    let attributes: Vec<(&str, &str)> =
        foreign.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    for (name, value) in advert::nonstandard_times(&attributes) {
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
