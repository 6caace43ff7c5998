//! Parses the files that discovery fetched.
//!
//! Input: the bytes of a response. Output: a [`ParsedFile`], entries for the [`PageSink`],
//! and findings. A function returns `None` for a file of another type than expected. This
//! module has no access to the network.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

use rutter_arc::ArcDocumentKind;
use rutter_extract::{ExtractOptions, html};
use rutter_fetch::{FetchedResponse, ResourceKind, ResponseBody, RobotsRules, Url, decode};
use rutter_finding::{Finding, FindingSink, Place};
use rutter_llms as llms;
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::advert;
use rutter_sitemap as sitemap;
use serde_json::Value;

use crate::discover::budget::{AdvertBudget, UrlList};
use crate::discover::parsed_file::{
    ParsedArc, ParsedFile, ParsedHomePage, ParsedLlms, ParsedSitemap,
};
use crate::discover::rules;
use crate::discover::sink::PageSink;

/// File name of the SPXI index (D18, D82, D83).
pub(crate) const SPXI: &str = "spxi-index.jsonld";

/// Format of a file that a `Sitemap` line announces, detected by the content of the file
/// (D64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Sitemap,
    Arc(ArcDocumentKind),
    /// The file is an HTML page or has an unknown format.
    Other,
}

/// Detects the format of a file by its first bytes.
pub(crate) fn detect_format(start: &[u8]) -> FileFormat {
    if let Some(form) = rutter_arc::detect_format(start) {
        return FileFormat::Arc(form);
    }
    if sitemap::is_sitemap(start) || sitemap::is_url_list(start) {
        return FileFormat::Sitemap;
    }
    let text = String::from_utf8_lossy(start);
    let is_feed = ["<rss", "<feed", "<rdf:RDF"].iter().any(|root| {
        let head = text.get(..1000).unwrap_or(&text);
        head.contains(root)
    });
    if is_feed { FileFormat::Sitemap } else { FileFormat::Other }
}

/// Whether the end of a response body can be verified. If not, a reader cannot distinguish
/// a truncated list from a complete one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known,
    Unknown,
}

/// Reads a sitemap and passes its entries to `pages`. Returns `None` if the file is not a
/// sitemap.
pub(crate) fn sitemap(
    input: impl Read,
    url: &Url,
    ending: BodyLength,
    budget: &mut AdvertBudget,
    pages: &mut dyn PageSink,
    sink: &mut dyn FindingSink,
) -> Option<ParsedSitemap> {
    let mut parsed = ParsedSitemap::default();
    let (mut children, mut spxi) = (UrlList::default(), UrlList::default());
    let mut has_budget = true;
    let mut reader =
        sitemap::SitemapReader::new(BufReader::new(input), sitemap::SitemapLimits::USUAL);
    if let Ok(base) = PageUrl::parse(url.as_str()) {
        reader = reader.with_base(base);
    }
    let is_cut = loop {
        let item = match reader.next(sink) {
            Ok(Some(item)) => item,
            // A sitemap in plain text has no end marker, so a truncated one looks complete.
            Ok(None) => {
                let is_list = reader.kind() == Some(sitemap::SitemapKind::Text);
                break reader.is_truncated() || (is_list && ending == BodyLength::Unknown);
            }
            // The entries before the error are valid, but the list of pages is incomplete.
            Err(sitemap::SitemapError::Refused(refusal)) => {
                sink.report(refusal.into());
                // A file that contains only adverts is a sitemap, too.
                if parsed.n_urls + parsed.n_children == 0 && parsed.adverts.is_empty() {
                    return None;
                }
                break true;
            }
            Err(sitemap::SitemapError::Io(_))
                if 0 < parsed.n_urls + parsed.n_children || !parsed.adverts.is_empty() =>
            {
                break true;
            }
            Err(_) => return None,
        };
        match item {
            sitemap::SitemapItem::Url(entry) => {
                parsed.n_urls += 1;
                for link in &entry.alternates {
                    if link.hreflang.eq_ignore_ascii_case("x-spxi") || is_spxi(link) {
                        spxi.add(url, &link.href, budget);
                    }
                }
                pages.page(url.as_str(), &entry);
            }
            sitemap::SitemapItem::Child(child) => {
                parsed.n_children += 1;
                has_budget &= children.add(url, &child.loc, budget);
            }
            sitemap::SitemapItem::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                let advert = (foreign.name, foreign.attributes, foreign.text);
                if budget.take_advert(&advert) {
                    parsed.adverts.push(advert);
                } else {
                    has_budget = false;
                }
            }
            sitemap::SitemapItem::Foreign(_) => {}
        }
    };
    if !has_budget {
        let detail = "the limit of adverts and child sitemaps was reached";
        sink.report(Finding::new(&rules::OUT_OF_BOUNDS, Place::WHOLE, detail));
    }
    parsed.is_truncated = is_cut || !has_budget;
    (parsed.children, parsed.spxi) = (children.finish(), spxi.finish());
    Some(parsed)
}

fn is_spxi(link: &sitemap::AlternateLink) -> bool {
    link.media_type.as_deref() == Some("application/ld+json") && link.href.ends_with(SPXI)
}

/// Reads an ARC sitemap and passes its entries to `pages`, or reads a pointer to an ARC
/// sitemap.
pub(crate) fn arc(
    input: impl Read,
    form: ArcDocumentKind,
    url: &Url,
    pages: &mut dyn PageSink,
    sink: &mut dyn FindingSink,
) -> Option<ParsedFile> {
    if form == ArcDocumentKind::Pointer {
        return match rutter_arc::pointer::read(input, sink).ok()? {
            rutter_arc::pointer::JsonLdFile::Pointer(pointer) => {
                Some(ParsedFile::ArcPointer { url: pointer.json })
            }
            _ => None,
        };
    }
    if form == ArcDocumentKind::Policy {
        return None;
    }
    let mut parsed = ParsedArc::default();
    let opened = rutter_arc::open_sitemap(input, form, rutter_arc::Limits::DEFAULT);
    let read = opened.and_then(|mut reader| {
        let mut take = |entry: rutter_arc::ArcEntry<'_>| {
            pages.arc(url.as_str(), &entry);
            parsed.count(&entry);
        };
        while reader.next(sink, &mut take)?.is_some() {}
        reader.finish(sink)
    });
    let receipt = match read {
        Ok(receipt) => receipt,
        Err(rutter_arc::ArcError::Refused(refusal)) => {
            sink.report(refusal.into());
            return None;
        }
        Err(_) => return None,
    };
    Some(ParsedFile::Arc(parsed.finish(receipt)))
}

/// Reads llms.txt. Returns `None` if the file is an HTML page.
pub(crate) fn llms(text: &[u8], url: &Url) -> Option<ParsedLlms> {
    let text = String::from_utf8_lossy(text);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.is_empty() || start.starts_with('<') {
        return None;
    }
    let read = llms::parse(&text);
    let (mut links, mut spxi) = (UrlList::default(), UrlList::default());
    // The maximum size of llms.txt bounds its links, so they are not charged to the budget
    // of the run.
    let mut budget = AdvertBudget::DEFAULT;
    for link in read.links() {
        links.add(url, &link.url, &mut budget);
    }
    // Any mention of the file name of the SPXI index in the text counts as an announcement
    // (D82).
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | '`' | '"' | ',')
    };
    for word in text.split(is_end).filter(|word| word.ends_with(SPXI)) {
        if word.starts_with('/') || word.contains("://") {
            spxi.add(url, word, &mut budget);
        }
    }
    Some(ParsedLlms { title: read.title.clone(), links: links.finish(), spxi: spxi.finish() })
}

/// Reads the announcements of machine-readable files on the home page.
pub(crate) fn home(
    bytes: &[u8],
    url: &Url,
    charset: Option<String>,
    now: Timestamp,
) -> ParsedHomePage {
    let mut parsed = ParsedHomePage::default();
    let Ok(page_url) = PageUrl::parse(url.as_str().to_owned()) else { return parsed };
    let options = ExtractOptions { charset, ..ExtractOptions::new(page_url, now) };
    let extraction = html(bytes, &options);
    let mut budget = AdvertBudget::DEFAULT;
    let [mut spxi, mut sitemaps, mut llms, mut arc] = [(); 4].map(|()| UrlList::default());
    for link in &extraction.facts.head_links {
        let media = link.media_type.as_deref().unwrap_or_default();
        let is_alternate = link.has("alternate");
        let is_index = media == "application/ld+json" || link.hreflang.as_deref() == Some("x-spxi");
        // A page may have several links of this type; the file name identifies the SPXI
        // index (D83).
        if is_alternate && is_index && link.href.ends_with(SPXI) {
            spxi.add(url, &link.href, &mut budget);
        }
        if link.has("sitemap") {
            sitemaps.add(url, &link.href, &mut budget);
        }
        if link.href.ends_with("llms.txt") && (link.has("describedby") || is_alternate) {
            llms.add(url, &link.href, &mut budget);
        }
        if is_alternate && media == "text/markdown" && parsed.markdown.is_none() {
            parsed.markdown = Some(link.href.clone());
        }
    }
    for block in &extraction.facts.json_ld {
        let found = rutter_arc::pointer::read(block.as_bytes(), &mut ());
        if let Ok(rutter_arc::pointer::JsonLdFile::Pointer(pointer)) = found {
            arc.add(url, &pointer.json, &mut budget);
        }
    }
    (parsed.spxi, parsed.sitemaps) = (spxi.finish(), sitemaps.finish());
    (parsed.llms, parsed.arc) = (llms.finish(), arc.finish());
    let host = url.host_str();
    let mut seen = std::collections::BTreeSet::new();
    let onward = extraction.facts.leads_to.as_deref();
    for link in onward.into_iter().chain(extraction.links.iter().map(|link| &*link.href)) {
        if let Ok(link) = Url::parse(link)
            && link.host_str() == host
            && link.path() != url.path()
        {
            seen.insert(link.path().to_owned());
        }
    }
    parsed.n_links = seen.len() as u64;
    parsed
}

/// Returns whether a document looks like an SPXI index.
pub(crate) fn is_spxi_index(bytes: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return false };
    let graph = value.get("@graph").and_then(Value::as_array);
    let roots: Vec<&Value> = graph.map_or_else(|| vec![&value], |list| list.iter().collect());
    let local = |name: &str| name.rsplit([':', '#', '/']).next().unwrap_or_default().to_owned();
    roots.iter().any(|root| {
        let kinds = root.get("@type").map_or_else(Vec::new, |kind| match kind {
            Value::Array(list) => list.iter().filter_map(Value::as_str).map(local).collect(),
            other => other.as_str().map(local).into_iter().collect(),
        });
        let is_kind = |wanted: &str| kinds.iter().any(|kind| kind == wanted);
        let has = |wanted: &str| {
            root.as_object().is_some_and(|members| members.keys().any(|key| local(key) == wanted))
        };
        is_kind("SemanticIndex")
            || is_kind("HolographicKernel")
            || has("hasEntity")
            || has("siteKernel")
    })
}

/// Returns whether a document may be an ARC policy: any JSON object.
pub(crate) fn is_policy(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value.is_object())
}

/// Guesses the type of a file by the path of its URL, to choose the maximum size.
pub(crate) fn file_kind_of_path(url: &Url) -> ResourceKind {
    let path = url.path().trim_end_matches(".gz");
    let is_arc = [".json", ".jsonld", ".yaml", ".yml"].iter().any(|end| path.ends_with(end));
    if is_arc { ResourceKind::Arc } else { ResourceKind::Sitemap }
}

/// Opens the body of a response and decodes its content coding.
pub(crate) fn open(
    answer: &FetchedResponse,
    what: ResourceKind,
) -> io::Result<Box<dyn Read + Send + '_>> {
    let coding = answer.fields.content_encoding.as_deref();
    let raw: Box<dyn Read + Send + '_> = match &answer.body {
        ResponseBody::Absent => Box::new(io::empty()),
        ResponseBody::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
        ResponseBody::Spooled { path, .. } => Box::new(File::open(path)?),
    };
    decode::open(raw, coding, what.size_limits().decoded).map_err(io::Error::other)
}

/// Returns whether an `Allow` line of robots.txt names the SPXI index (SPX-057). Such a
/// line only announces the file; a `Disallow` line is still obeyed (D80).
pub(crate) fn is_index_allowed(rules: &RobotsRules) -> bool {
    let RobotsRules::Rules(robots) = rules else { return false };
    let path = format!("/{SPXI}");
    robots.agents().take(1000).chain(["*"]).any(|agent| {
        let rule = robots.verdict(agent, &path).rule;
        rule.is_some_and(|rule| rule.is_allow && rule.pattern.contains(SPXI))
    })
}
