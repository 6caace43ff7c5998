//! The parsers, one function each.
//!
//! Input: one worst case. Output: none; a reader may reject its input, as the
//! growth of the work is what counts.

use std::hint::black_box;
use std::io::{Cursor, Read};

use rutter_arc::{ArcDocumentKind, ArcPolicy, SitemapChecker as ArcJudge, pointer};
use rutter_check::{CheckOptions, CheckTarget, check};
use rutter_extract::{
    ExtractOptions, PageSketch, TemplateSet, UsageSignals, honesty, html, markdown, merged,
};
use rutter_fetch::header::{self, ContentCoding, ContentRange, Freshness};
use rutter_fetch::{HostPolicy, Proxies, Url, decode, redact, redact_url};
use rutter_finding::{Finding, FindingSink, Place, Severity, Strictness, quoted, visible};
use rutter_llms as llms;
use rutter_logs::{
    AccessTally, ClientMonitor, LogItem, LogReader, OddClientThresholds, RequestFilter,
    TallySettings, summary,
};
use rutter_page::{
    HiddenCharacters, HttpUrl, LanguageTag, PageHead, PageLimits, PageReader, PageUrl, ReaderView,
    SensitiveData, Timestamp, find_model_instruction, is_uri, to_uri,
};
use rutter_report::format::ReportFormat;
use rutter_report::{CheckedFile, DetailLevel, FileKind, FileReport, Outcome, Overview};
use rutter_robots::{AgentGroup, RobotsAdditions, RobotsTxt, check as check_robots, merge};
use rutter_sitemap as sitemap;
use rutter_spxi::survival::{MarkerSearch, PageTexts};
use rutter_spxi::{CheckInput, IndexWriter, PacketSelector, check_index, check_packet};
use rutter_store::SearchQuery;
use rutter_sync::{Scope, ScopeRules, consent};

const PAGE: &str = "https://harbour.example/a/page.html";

fn now() -> Timestamp {
    Timestamp::parse("2026-06-01T00:00:00Z").unwrap()
}

fn options() -> ExtractOptions {
    ExtractOptions::new(PageUrl::parse(PAGE).unwrap(), now())
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
    black_box(UsageSignals::of(&extraction, "rutter"));
    black_box(consent::of_page(&extraction, "rutter", now()));
    black_box(SensitiveData::count_contact_links(bytes));
    black_box(extraction.page.to_line());
    black_box(merged(extraction.page.content, 1000));
}

/// Templates learned from twelve copies of a page.
pub(crate) fn template(bytes: &[u8]) {
    let limits = rutter_extract::Limits::USUAL;
    let sketches: Vec<PageSketch> =
        (0..12).map(|_| PageSketch::of_html(bytes, None, &limits)).collect();
    let mut templates = TemplateSet::default();
    templates.adapt(&sketches, &sketches);
    templates.adapt(&sketches, &sketches);
    black_box(templates.fit(&sketches[0]));
}

pub(crate) fn markdown_page(bytes: &[u8]) {
    let extraction = markdown(bytes, &options());
    black_box((extraction.to_markdown(), extraction.to_text()));
}

/// Secrets, personal data, invisible characters and instructions to models.
pub(crate) fn privacy(bytes: &[u8]) {
    let text = text(bytes);
    black_box(SensitiveData::find_in(text).personal());
    black_box(SensitiveData::find_in_json(text));
    black_box(SensitiveData::count_contact_links(bytes));
    black_box((HiddenCharacters::count_in(text), find_model_instruction(text)));
}

/// One line of a collection.
pub(crate) fn page_line(bytes: &[u8]) {
    let line = text(bytes);
    black_box(PageHead::of_line(line));
    black_box(ReaderView::of(line).is_ok());
    let mut findings: Vec<Finding> = Vec::new();
    if let Ok(Some(page)) = PageReader::new(PageLimits::SPEC).read(line, 2, &mut findings) {
        black_box((page.to_line(), page.to_markdown(), page.to_text()));
    }
}

fn checked(name: &str, bytes: &[u8]) {
    let open = || Ok((Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read + Send>, None));
    let subject = CheckTarget { name: name.to_owned(), open: &open };
    let judging = CheckOptions { now: Some(now()), ..CheckOptions::default() };
    black_box(check(&subject, &judging).is_ok());
}

pub(crate) fn collection(bytes: &[u8]) {
    checked("all.scp", bytes);
}

pub(crate) fn sitemap_xml(bytes: &[u8]) {
    checked("sitemap.xml", bytes);
    let base = PageUrl::parse(PAGE).unwrap();
    let mut reader =
        sitemap::SitemapReader::new(bytes, sitemap::SitemapLimits::USUAL).with_base(base);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        black_box(item);
    }
}

/// robots.txt; its last line is also the requested path.
pub(crate) fn robots(bytes: &[u8]) {
    check_robots(bytes, &mut Vec::<Finding>::new());
    let robots = RobotsTxt::parse(bytes);
    let last = text(bytes).lines().last().unwrap_or_default();
    let target = last.split_once(' ').map_or(last, |(_, target)| target);
    for agent in ["rutter", "*"] {
        black_box(robots.is_allowed(agent, target));
        black_box((robots.crawl_delay(agent), robots.signals(agent, target)));
    }
    black_box(consent::RobotsSignals::of_robots(bytes, "rutter").withholds(target));
    let group = AgentGroup { agents: vec!["GPTBot".into()], allow: vec!["/x".into()] };
    let sitemaps = vec!["https://h.example/sitemap.xml".into()];
    let wishes = RobotsAdditions { sitemaps, group: Some(group), ..RobotsAdditions::default() };
    black_box(merge(Some(bytes), &wishes));
}

pub(crate) fn llms_txt(bytes: &[u8]) {
    black_box(llms::parse(text(bytes)).links().count());
    llms::check(text(bytes), &mut Vec::<Finding>::new());
}

fn arc(bytes: &[u8], form: ArcDocumentKind) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut judge = ArcJudge::new(Some(now()));
    let Ok(mut reader) = rutter_arc::open_sitemap(bytes, form, rutter_arc::Limits::DEFAULT) else {
        return;
    };
    let see =
        |judge: &mut ArcJudge, entry: &rutter_arc::ArcEntry<'_>, at, sink: &mut dyn FindingSink| {
            judge.check_entry(entry, at, sink);
            black_box((entry.to_json(), entry.consent()));
        };
    while let Ok(Some(())) =
        reader.visit(&mut findings, |entry, at, sink| see(&mut judge, &entry, at, sink))
    {}
    black_box(reader.finish(&mut findings).is_ok());
}

pub(crate) fn arc_json(bytes: &[u8]) {
    arc(bytes, ArcDocumentKind::Json);
}

pub(crate) fn arc_yaml(bytes: &[u8]) {
    arc(bytes, ArcDocumentKind::Yaml);
}

/// The ARC policy and the pointer to a sitemap.
pub(crate) fn arc_policy(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    black_box(ArcPolicy::read(bytes, &mut findings).is_ok());
    black_box(pointer::read(bytes, &mut findings).is_ok());
}

pub(crate) fn spxi_index(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    let given = CheckInput { now: Some(now()), ..CheckInput::default() };
    if let Ok(judged) = check_index(bytes, &given, &mut findings) {
        let modified = judged.index.modified;
        black_box(IndexWriter::new(judged.index).finish(modified));
    }
}

pub(crate) fn spxi_packet(bytes: &[u8]) {
    let mut findings: Vec<Finding> = Vec::new();
    let given = CheckInput { now: Some(now()), ..CheckInput::default() };
    black_box(check_packet(bytes, &PacketSelector::default(), &given, &mut findings).is_ok());
}

/// Fields of a response.
pub(crate) fn response_fields(bytes: &[u8]) {
    let text = text(bytes);
    black_box((
        header::parse_retry_after(text, now()),
        header::parse_etag(text),
        ContentRange::parse(text),
    ));
    black_box(Freshness::parse(Some(text), Some(text), now()));
    black_box((header::media_type(text), header::charset(text), header::parse_http_date(text)));
    black_box(ContentCoding::parse_list(text).is_ok());
    black_box(Proxies::from_lookup(|_| Some(text.to_owned())).is_ok());
    let tags = [text.to_owned()];
    black_box(consent::of_tags(&tags, "rutter", now()));
    black_box(consent::of_signal(consent::StatementSource::Signal, text));
    black_box(decode::decode_all(bytes, None, 1 << 24).is_ok());
    black_box(LanguageTag::parse(text).is_some());
    black_box(Timestamp::parse(text).is_ok());
}

/// An access log and the chart of its summary.
pub(crate) fn access_log(bytes: &[u8]) {
    let limits = rutter_logs::ReadLimits::DEFAULT;
    let Ok(mut reader) = LogReader::open(Cursor::new(bytes.to_vec()), limits) else { return };
    let mut tally = AccessTally::new(TallySettings::DEFAULT, RequestFilter::default());
    let mut watch = ClientMonitor::new(OddClientThresholds::DEFAULT);
    while let Ok(Some(item)) = reader.next_item() {
        match item {
            LogItem::Record(_, record) => {
                tally.add(&record);
                black_box(watch.observe(&record));
                black_box((record.to_json(), record.to_combined()));
            }
            LogItem::Broken(_, why, _) => tally.broken(why),
        }
    }
    let summary = tally.finish();
    black_box(summary::svg::chart(&summary));
    summary::text::write(&mut Vec::new(), &summary).unwrap();
}

/// URLs: normal form, joining, variants, removal of secrets.
pub(crate) fn url(bytes: &[u8]) {
    let text = text(bytes);
    black_box((is_uri(text), to_uri(text), redact(text)));
    black_box(HttpUrl::parse(text.to_owned()).map(HttpUrl::into_uri).is_ok());
    if let Ok(page) = PageUrl::parse(text.to_owned()) {
        black_box((page.key(), page.join("../../x").is_ok()));
    }
    let base = PageUrl::parse(PAGE).unwrap();
    black_box(base.join(text.split_once("example").map_or(text, |(_, path)| path)).is_ok());
    if let Ok(url) = Url::parse(text) {
        black_box((redact_url(&url), HostPolicy::SameSite.allows(&url, &url)));
    }
    black_box(rutter_sync::strip_parameters(text));
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
    black_box(SearchQuery::parse(text(bytes)).map(|query| query.to_match()));
}

pub(crate) fn terminal(bytes: &[u8]) {
    let text = text(bytes);
    black_box((visible(text), rutter_finding::shown(text).len(), quoted(text)));
}

/// Findings about files with foreign names, in every format of a report.
pub(crate) fn report(bytes: &[u8]) {
    let mut files = Vec::new();
    for name in text(bytes).lines() {
        let mut judgement = FileReport::clean("public", name, FileKind::Page);
        let place = Place::pointer(7, name);
        judgement.report.report(Finding::new(rutter_page::rules::ALL[0], place, name));
        files.push(CheckedFile { file_report: judgement, excerpts: Vec::new() });
    }
    let outcome = Outcome {
        detail: DetailLevel::default(),
        files,
        overview: Overview::default(),
        mode: Strictness::Strict,
        fail_on: Severity::Error,
        ignored: 0,
        known: 0,
        gone: 0,
        version: "0",
    };
    for (_, format) in ReportFormat::ALL {
        format.write(&mut Vec::new(), &outcome).unwrap();
    }
}

/// Markers on the first line, separated by `|`, in the text that follows.
pub(crate) fn markers(bytes: &[u8]) {
    let (phrases, visible) = two(bytes);
    let markers = MarkerSearch::new(phrases.split('|'));
    let wanted: Vec<usize> = (0..markers.len()).collect();
    black_box(markers.find_in_blocks(visible));
    black_box(markers.find_near(&wanted, visible));
    let places = PageTexts { visible, metas: vec![visible], json_ld: vec![visible] };
    black_box(markers.classify(&wanted, &places));
}
