//! Readers of foreign bytes, each as one function.
//!
//! Input: one worst case. Output: none; a reader may reject its input, as the
//! growth of the work is what counts.

use std::hint::black_box;
use std::io::{Cursor, Read};

use rutter_arc::{Form, Judge as ArcJudge, Policy, pointer};
use rutter_check::format::Format;
use rutter_check::{Judged, Judgement, Judging, Kind, Outcome, Overview, Subject, check};
use rutter_extract::{Options, Sketch, Templates, Wishes, honesty, html, markdown, merged};
use rutter_fetch::header::{self, Coding, ContentRange, Freshness};
use rutter_fetch::{Hosts, Proxies, Url, decode, redacted, shown};
use rutter_finding::{Finding, FindingSink, Mode, Place, Severity, quoted, visible};
use rutter_logs::{Filter, Item, Reader as LogReader, Settings, Tally, Thresholds, Watch, summary};
use rutter_page::{
    Head, HttpUrl, Judge, LanguageTag, PageLimits, PageUrl, Private, ReaderView, Timestamp, Unseen,
    is_uri, order_to_models, to_uri,
};
use rutter_signpost::robots::{AgentGroup, Robots, Wishes as RobotsWishes, judge, merge};
use rutter_signpost::{llms, sitemap};
use rutter_spxi::{Asked, Given, IndexWriter, judge_index, judge_packet};
use rutter_store::Query;
use rutter_survival::{Markers, Places};
use rutter_sync::{Scope, ScopeRules, consent};

const PAGE: &str = "https://harbour.example/a/page.html";

fn now() -> Timestamp {
    Timestamp::parse("2026-06-01T00:00:00Z").unwrap()
}

fn options() -> Options {
    Options::new(PageUrl::parse(PAGE).unwrap(), now())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// First line and the rest, for readers of two texts.
fn two(bytes: &[u8]) -> (&str, &str) {
    text(bytes).split_once('\n').unwrap_or((text(bytes), ""))
}

/// A page, its Markdown, text and findings.
pub(crate) fn page(bytes: &[u8]) {
    let extraction = html(bytes, &options());
    black_box((extraction.to_markdown(), extraction.to_text(), extraction.shown_text()));
    black_box(extraction.inline_links().count());
    black_box(honesty(bytes, &extraction));
    black_box(Wishes::of(&extraction, "rutter"));
    black_box(consent::of_page(&extraction, "rutter", now()));
    black_box(Private::links_of_html(bytes));
    black_box(extraction.page.to_line());
    black_box(merged(extraction.page.content, 1000));
}

/// Templates learned from twelve copies of a page.
pub(crate) fn template(bytes: &[u8]) {
    let limits = rutter_extract::Limits::USUAL;
    let sketches: Vec<Sketch> = (0..12).map(|_| Sketch::of_html(bytes, None, &limits)).collect();
    let mut templates = Templates::default();
    templates.adapt(&sketches, &sketches);
    templates.adapt(&sketches, &sketches);
    black_box(templates.fit(&sketches[0]));
}

pub(crate) fn markdown_page(bytes: &[u8]) {
    let extraction = markdown(bytes, &options());
    black_box((extraction.to_markdown(), extraction.to_text()));
}

/// Secrets, personal data, invisible characters and orders to models.
pub(crate) fn privacy(bytes: &[u8]) {
    let text = text(bytes);
    black_box(Private::of(text).personal());
    black_box(Private::of_json(text));
    black_box(Private::links_of_html(bytes));
    black_box((Unseen::of(text), order_to_models(text)));
}

/// One line of a collection.
pub(crate) fn page_line(bytes: &[u8]) {
    let line = text(bytes);
    black_box(Head::of_line(line));
    black_box(ReaderView::of(line).is_ok());
    let mut findings: Vec<Finding> = Vec::new();
    if let Ok(Some(page)) = Judge::new(PageLimits::SPEC).read(line, 2, &mut findings) {
        black_box((page.to_line(), page.to_markdown(), page.to_text()));
    }
}

fn checked(name: &str, bytes: &[u8]) {
    let open = || Ok((Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read + Send>, None));
    let subject = Subject { name: name.to_owned(), open: &open };
    let judging = Judging { now: Some(now()), ..Judging::default() };
    black_box(check(&subject, &judging).is_ok());
}

pub(crate) fn collection(bytes: &[u8]) {
    checked("all.scp", bytes);
}

pub(crate) fn sitemap_xml(bytes: &[u8]) {
    checked("sitemap.xml", bytes);
    let base = PageUrl::parse(PAGE).unwrap();
    let mut reader = sitemap::Reader::new(bytes, sitemap::Limits::USUAL).with_base(base);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        black_box(item);
    }
}

/// robots.txt; its last line is also the path that is asked for.
pub(crate) fn robots(bytes: &[u8]) {
    judge(bytes, &mut Vec::<Finding>::new());
    let robots = Robots::parse(bytes);
    let last = text(bytes).lines().last().unwrap_or_default();
    let target = last.split_once(' ').map_or(last, |(_, target)| target);
    for agent in ["rutter", "*"] {
        black_box(robots.is_allowed(agent, target));
        black_box((robots.crawl_delay(agent), robots.signals(agent, target)));
    }
    black_box(consent::Signals::of_robots(bytes, "rutter").withholds(target));
    let group = AgentGroup { agents: vec!["GPTBot".into()], allow: vec!["/x".into()] };
    let sitemaps = vec!["https://h.example/sitemap.xml".into()];
    let wishes = RobotsWishes { sitemaps, group: Some(group), ..RobotsWishes::default() };
    black_box(merge(Some(bytes), &wishes));
}

pub(crate) fn llms_txt(bytes: &[u8]) {
    black_box(llms::parse(text(bytes)).links().count());
    llms::judge(text(bytes), &mut Vec::<Finding>::new());
}

fn arc(bytes: &[u8], form: Form) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut judge = ArcJudge::new(Some(now()));
    let Ok(mut reader) = rutter_arc::open(bytes, form, rutter_arc::Limits::USUAL) else { return };
    let see =
        |judge: &mut ArcJudge, entry: &rutter_arc::Entry<'_>, at, sink: &mut dyn FindingSink| {
            judge.see(entry, at, sink);
            black_box((entry.to_json(), entry.consent()));
        };
    while let Ok(Some(())) =
        reader.visit(&mut findings, |entry, at, sink| see(&mut judge, &entry, at, sink))
    {}
    black_box(reader.finish(&mut findings).is_ok());
}

pub(crate) fn arc_json(bytes: &[u8]) {
    arc(bytes, Form::Json);
}

pub(crate) fn arc_yaml(bytes: &[u8]) {
    arc(bytes, Form::Yaml);
}

/// The ARC policy and the pointer to a sitemap.
pub(crate) fn arc_policy(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    black_box(Policy::read(bytes, &mut findings).is_ok());
    black_box(pointer::read(bytes, &mut findings).is_ok());
}

pub(crate) fn spxi_index(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    let given = Given { now: Some(now()), ..Given::default() };
    if let Ok(judged) = judge_index(bytes, &given, &mut findings) {
        let modified = judged.index.modified;
        black_box(IndexWriter::new(judged.index).finish(modified));
    }
}

pub(crate) fn spxi_packet(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    let given = Given { now: Some(now()), ..Given::default() };
    black_box(judge_packet(bytes, &Asked::default(), &given, &mut findings).is_ok());
}

/// Fields of a response.
pub(crate) fn response_fields(bytes: &[u8]) {
    let text = text(bytes);
    black_box((header::retry_after(text, now()), header::etag(text), ContentRange::parse(text)));
    black_box(Freshness::parse(Some(text), Some(text), now()));
    black_box((header::media_type(text), header::charset(text), header::http_date(text)));
    black_box(Coding::parse_list(text).is_ok());
    black_box(Proxies::from_lookup(|_| Some(text.to_owned())).is_ok());
    let tags = [text.to_owned()];
    black_box(consent::of_tags(&tags, "rutter", now()));
    black_box(consent::of_signal(consent::Origin::Signal, text));
    black_box(decode::whole(bytes, None, 1 << 24).is_ok());
    black_box(LanguageTag::parse(text).is_some());
    black_box(Timestamp::parse(text).is_ok());
}

/// An access log, and the drawing of its summary.
pub(crate) fn access_log(bytes: &[u8]) {
    let limits = rutter_logs::Limits::USUAL;
    let Ok(mut reader) = LogReader::open(Cursor::new(bytes.to_vec()), limits) else { return };
    let mut tally = Tally::new(Settings::USUAL, Filter::default());
    let mut watch = Watch::new(Thresholds::USUAL);
    while let Ok(Some(item)) = reader.next_item() {
        match item {
            Item::Record(_, record) => {
                tally.see(&record);
                black_box(watch.see(&record));
                black_box((record.to_json(), record.to_combined()));
            }
            Item::Broken(_, why, _) => tally.broken(why),
        }
    }
    let summary = tally.finish();
    black_box(summary::svg::chart(&summary));
    summary::text::write(&mut Vec::new(), &summary).unwrap();
}

/// Addresses: normal form, joining, variants, without secrets.
pub(crate) fn url(bytes: &[u8]) {
    let text = text(bytes);
    black_box((is_uri(text), to_uri(text), redacted(text)));
    black_box(HttpUrl::parse(text.to_owned()).map(HttpUrl::into_uri).is_ok());
    if let Ok(page) = PageUrl::parse(text.to_owned()) {
        black_box((page.key(), page.join("../../x").is_ok()));
    }
    let base = PageUrl::parse(PAGE).unwrap();
    black_box(base.join(text.split_once("example").map_or(text, |(_, path)| path)).is_ok());
    if let Ok(url) = Url::parse(text) {
        black_box((shown(&url), Hosts::SameSite.allows(&url, &url)));
    }
    black_box(rutter_sync::stripped(text));
}

/// Globs on the first line, a path on the second.
pub(crate) fn scope(bytes: &[u8]) {
    let (globs, path) = two(bytes);
    let include = globs.split(' ').map(str::to_owned).collect();
    let rules = ScopeRules { include, ..ScopeRules::default() };
    if let Ok(scope) = Scope::new(rules) {
        black_box(scope.has_url(&format!("https://h.example{path}")));
    }
}

pub(crate) fn query(bytes: &[u8]) {
    black_box(Query::parse(text(bytes)).map(|query| query.to_match()));
}

pub(crate) fn terminal(bytes: &[u8]) {
    let text = text(bytes);
    black_box((visible(text), rutter_finding::shown(text).len(), quoted(text)));
}

/// Findings about files with foreign names, in every format of a report.
pub(crate) fn report(bytes: &[u8]) {
    let mut files = Vec::new();
    for name in text(bytes).lines() {
        let mut judgement = Judgement::clean("public", name, Kind::Page);
        let place = Place::pointer(7, name);
        judgement.report.report(Finding::new(rutter_page::rules::ALL[0], place, name));
        files.push(Judged { judgement, excerpts: Vec::new() });
    }
    let outcome = Outcome {
        detail: rutter_check::Detail::default(),
        files,
        overview: Overview::default(),
        mode: Mode::Strict,
        fail_on: Severity::Error,
        ignored: 0,
        known: 0,
        gone: 0,
        version: "0",
    };
    for (_, format) in Format::ALL {
        format.write(&mut Vec::new(), &outcome).unwrap();
    }
}

/// Markers on the first line, separated by `|`, in the text that follows.
pub(crate) fn markers(bytes: &[u8]) {
    let (phrases, visible) = two(bytes);
    let markers = Markers::new(phrases.split('|'));
    let wanted: Vec<usize> = (0..markers.len()).collect();
    black_box(markers.standing(visible));
    black_box(markers.near(&wanted, visible));
    let places = Places { visible, metas: vec![visible], json_ld: vec![visible] };
    black_box(markers.look(&wanted, &places));
}
