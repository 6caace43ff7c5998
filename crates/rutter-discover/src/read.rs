//! Files become [`Said`]: no network here, only bytes.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

use rutter_arc::Form;
use rutter_extract::{Options, html};
use rutter_fetch::{Body, Fetched, RobotsRules, Url, What, decode};
use rutter_finding::{Finding, FindingSink, Place};
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::advert;
use rutter_signpost::{llms, sitemap};
use serde_json::Value;

use crate::room::{Addresses, Room};
use crate::rules;
use crate::said::{ArcSaid, HomeSaid, LlmsSaid, Said, SitemapSaid};
use crate::sink::PageSink;

/// Where the SPXI index lies, by its last part (D18, D82, D83).
pub(crate) const SPXI: &str = "spxi-index.jsonld";

/// What a file on a `Sitemap` line turns out to be (D64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Sitemap,
    Arc(Form),
    /// A page for people, or nothing we know.
    Other,
}

/// Sorts a file by its beginning.
pub(crate) fn sort(start: &[u8]) -> Sort {
    if let Some(form) = rutter_arc::form(start) {
        return Sort::Arc(form);
    }
    if sitemap::is_sitemap(start) || sitemap::is_url_list(start) {
        return Sort::Sitemap;
    }
    let text = String::from_utf8_lossy(start);
    let is_feed = ["<rss", "<feed", "<rdf:RDF"].iter().any(|root| {
        let head = text.get(..1000).unwrap_or(&text);
        head.contains(root)
    });
    if is_feed { Sort::Sitemap } else { Sort::Other }
}

/// Whether the bytes of a file may have been cut without a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Known,
    Unknown,
}

/// Reads a sitemap; its entries go to `pages`. `None` where it is none.
pub(crate) fn sitemap(
    input: impl Read,
    url: &Url,
    ending: Ending,
    room: &mut Room,
    pages: &mut dyn PageSink,
    sink: &mut dyn FindingSink,
) -> Option<SitemapSaid> {
    let mut said = SitemapSaid::default();
    let (mut children, mut spxi) = (Addresses::default(), Addresses::default());
    let mut is_room = true;
    let mut reader = sitemap::Reader::new(BufReader::new(input), sitemap::Limits::USUAL);
    if let Ok(base) = PageUrl::parse(url.as_str()) {
        reader = reader.with_base(base);
    }
    let is_cut = loop {
        let item = match reader.next(sink) {
            Ok(Some(item)) => item,
            // A list of addresses has nothing that says where it ends.
            Ok(None) => {
                let is_list = reader.kind() == Some(sitemap::Kind::Text);
                break reader.is_truncated() || (is_list && ending == Ending::Unknown);
            }
            // What was read before it stands, but it is not all.
            Err(sitemap::SitemapError::Refused(refusal)) => {
                sink.report(refusal.into());
                // Adverts alone are a sitemap, too.
                if said.n_urls + said.n_children == 0 && said.adverts.is_empty() {
                    return None;
                }
                break true;
            }
            Err(sitemap::SitemapError::Io(_))
                if 0 < said.n_urls + said.n_children || !said.adverts.is_empty() =>
            {
                break true;
            }
            Err(_) => return None,
        };
        match item {
            sitemap::Item::Url(entry) => {
                said.n_urls += 1;
                for link in &entry.alternates {
                    if link.hreflang.eq_ignore_ascii_case("x-spxi") || is_spxi(link) {
                        spxi.keep(url, &link.href, room);
                    }
                }
                pages.page(url.as_str(), &entry);
            }
            sitemap::Item::Child(child) => {
                said.n_children += 1;
                is_room &= children.keep(url, &child.loc, room);
            }
            sitemap::Item::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                let advert = (foreign.name, foreign.attributes, foreign.text);
                if room.advert(&advert) {
                    said.adverts.push(advert);
                } else {
                    is_room = false;
                }
            }
            sitemap::Item::Foreign(_) => {}
        }
    };
    if !is_room {
        let detail = "more adverts or sitemaps are named than are kept";
        sink.report(Finding::new(&rules::OUT_OF_BOUNDS, Place::WHOLE, detail));
    }
    said.is_truncated = is_cut || !is_room;
    (said.children, said.spxi) = (children.finish(), spxi.finish());
    Some(said)
}

fn is_spxi(link: &sitemap::AlternateLink) -> bool {
    link.media_type.as_deref() == Some("application/ld+json") && link.href.ends_with(SPXI)
}

/// Reads an ARC sitemap to its end, or a pointer to one; its entries go to
/// `pages`.
pub(crate) fn arc(
    input: impl Read,
    form: Form,
    url: &Url,
    pages: &mut dyn PageSink,
    sink: &mut dyn FindingSink,
) -> Option<Said> {
    if form == Form::Pointer {
        return match rutter_arc::pointer::read(input, sink).ok()? {
            rutter_arc::pointer::Found::Pointer(pointer) => {
                Some(Said::ArcPointer { url: pointer.json })
            }
            _ => None,
        };
    }
    if form == Form::Policy {
        return None;
    }
    let mut said = ArcSaid::default();
    let opened = rutter_arc::open(input, form, rutter_arc::Limits::USUAL);
    let read = opened.and_then(|mut reader| {
        let mut take = |entry: rutter_arc::Entry<'_>| {
            pages.arc(url.as_str(), &entry);
            said.count(&entry);
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
    Some(Said::Arc(said.finish(receipt)))
}

/// Reads llms.txt; `None` where it is a page for people.
pub(crate) fn llms(text: &[u8], url: &Url) -> Option<LlmsSaid> {
    let text = String::from_utf8_lossy(text);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.is_empty() || start.starts_with('<') {
        return None;
    }
    let read = llms::parse(&text);
    let (mut links, mut spxi) = (Addresses::default(), Addresses::default());
    // One file of its own limit; what it says is bounded by that.
    let mut room = Room::USUAL;
    for link in read.links() {
        links.keep(url, &link.url, &mut room);
    }
    // Any mention counts, wherever it stands (D82).
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | '`' | '"' | ',')
    };
    for word in text.split(is_end).filter(|word| word.ends_with(SPXI)) {
        if word.starts_with('/') || word.contains("://") {
            spxi.keep(url, word, &mut room);
        }
    }
    Some(LlmsSaid { title: read.title.clone(), links: links.finish(), spxi: spxi.finish() })
}

/// Reads what the home page says about other files.
pub(crate) fn home(bytes: &[u8], url: &Url, charset: Option<String>, now: Timestamp) -> HomeSaid {
    let mut said = HomeSaid::default();
    let Ok(page_url) = PageUrl::parse(url.as_str().to_owned()) else { return said };
    let options = Options { charset, ..Options::new(page_url, now) };
    let extraction = html(bytes, &options);
    let mut room = Room::USUAL;
    let [mut spxi, mut sitemaps, mut llms, mut arc] = [(); 4].map(|()| Addresses::default());
    for link in &extraction.facts.head_links {
        let media = link.media_type.as_deref().unwrap_or_default();
        let is_alternate = link.has("alternate");
        let is_index = media == "application/ld+json" || link.hreflang.as_deref() == Some("x-spxi");
        // Several such links: the index is the one with its name (D83).
        if is_alternate && is_index && link.href.ends_with(SPXI) {
            spxi.keep(url, &link.href, &mut room);
        }
        if link.has("sitemap") {
            sitemaps.keep(url, &link.href, &mut room);
        }
        if link.href.ends_with("llms.txt") && (link.has("describedby") || is_alternate) {
            llms.keep(url, &link.href, &mut room);
        }
        if is_alternate && media == "text/markdown" && said.markdown.is_none() {
            said.markdown = Some(link.href.clone());
        }
    }
    for block in &extraction.facts.json_ld {
        let found = rutter_arc::pointer::read(block.as_bytes(), &mut ());
        if let Ok(rutter_arc::pointer::Found::Pointer(pointer)) = found {
            arc.keep(url, &pointer.json, &mut room);
        }
    }
    (said.spxi, said.sitemaps) = (spxi.finish(), sitemaps.finish());
    (said.llms, said.arc) = (llms.finish(), arc.finish());
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
    said.n_links = seen.len() as u64;
    said
}

/// Tells whether a document is an SPXI index, in the lenient sense.
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

/// Tells whether a document is an ARC policy.
pub(crate) fn is_policy(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value.is_object())
}

/// What a `Sitemap` line may be by its name; only for the limit of its size.
pub(crate) fn kind_of_path(url: &Url) -> What {
    let path = url.path().trim_end_matches(".gz");
    let is_arc = [".json", ".jsonld", ".yaml", ".yml"].iter().any(|end| path.ends_with(end));
    if is_arc { What::Arc } else { What::Sitemap }
}

/// The decoded body of an answer.
pub(crate) fn open(answer: &Fetched, what: What) -> io::Result<Box<dyn Read + Send + '_>> {
    let coding = answer.fields.content_encoding.as_deref();
    let raw: Box<dyn Read + Send + '_> = match &answer.body {
        Body::Nothing => Box::new(io::empty()),
        Body::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
        Body::Spooled { path, .. } => Box::new(File::open(path)?),
    };
    decode::open(raw, coding, what.sizes().decoded).map_err(io::Error::other)
}

/// Tells whether some group allows the index by name (SPX-057). It is a sign
/// that it exists, nothing more: a Disallow is obeyed all the same (D80).
pub(crate) fn is_index_allowed(rules: &RobotsRules) -> bool {
    let RobotsRules::Rules(robots) = rules else { return false };
    let path = format!("/{SPXI}");
    robots.agents().take(1000).chain(["*"]).any(|agent| {
        let rule = robots.verdict(agent, &path).rule;
        rule.is_some_and(|rule| rule.is_allow && rule.pattern.contains(SPXI))
    })
}
