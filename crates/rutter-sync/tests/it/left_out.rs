//! Every reason code that a sync counts is listed with its URL.

use std::collections::BTreeMap;
use std::time::Duration;

use rutter_store::Quota;
use rutter_store::prelude::*;
use rutter_sync::{CrawlLimits, Scope, ScopeRules, SyncOptions, SyncReport, list_left_out};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{TestSite, body, urlset};

/// A site with one URL that is left out with this code.
struct Case {
    code: &'static str,
    /// The left-out URL; empty if it may be any.
    url: &'static str,
    build: fn(&TestSite),
    options: fn(&mut SyncOptions),
    /// Whether the reason occurs only in a second sync of a changed site.
    change: Option<fn(&TestSite)>,
}

impl Case {
    fn new(code: &'static str, url: &'static str, build: fn(&TestSite)) -> Self {
        Self { code, url, build, options: |_| {}, change: None }
    }

    fn with(self, options: fn(&mut SyncOptions)) -> Self {
        Self { options, ..self }
    }

    fn after(self, change: fn(&TestSite)) -> Self {
        Self { change: Some(change), ..self }
    }
}

/// A sitemap with three pages.
fn listed(site: &TestSite) {
    site.sitemap(&[], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        site.html(path, &body(path, &format!("Text of the page {path}.")));
    }
}

/// A sitemap with a page and one with this response.
fn listed_with(site: &TestSite, reply: Reply) {
    listed(site);
    site.server.route("/b", [reply]);
}

/// A home page with links to one page and to these URLs.
fn linked(site: &TestSite, links: &[&str]) {
    let anchors: String = links.iter().map(|it| format!("<a href=\"{it}\">link</a> ")).collect();
    site.html("/", &body("Home", &format!("Text of the home page. <a href=/a>a</a> {anchors}")));
    site.html("/a", &body("A", "Text of A."));
}

fn arc(site: &TestSite, entries: &str) {
    let arc = format!(
        r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {{"url":"http://harbour.example/a","ai_indexable":true}},{entries}]}}"#
    );
    site.file("/arc-sitemap.json", "application/json", arc);
    site.html("/a", &body("A", "Text of A."));
}

/// An ARC sitemap that was built for another site.
fn foreign_arc(site: &TestSite) {
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://other.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://other.example/b","ai_indexable":true}]}"#;
    site.file("/arc-sitemap.json", "application/json", arc);
}

fn page(text: &str) -> String {
    format!("<!doctype html><html lang=en>{text}</html>")
}

fn cases() -> Vec<Case> {
    vec![
        Case::new("robots", "/b", |site| {
            listed(site);
            site.robots("user-agent: *\ndisallow: /b\n");
        }),
        Case::new("consent", "/b", |site| {
            listed(site);
            arc(site, r#"{"url":"http://harbour.example/b","ai_indexable":false}"#);
        }),
        Case::new("scope", "/b", listed).with(|options| {
            let rules = ScopeRules { exclude: vec!["/b".into()], ..ScopeRules::default() };
            options.scope = Scope::new(rules).unwrap();
        }),
        Case::new("quota", "/c", listed)
            .with(|options| options.quota = Quota { pages: 2, ..Quota::DEFAULT }),
        Case::new("depth-limit", "/a", |site| linked(site, &[]))
            .with(|options| options.limits.depth = 0),
        Case::new("link-limit", "/one-too-many", |site| linked(site, &["/one-too-many"]))
            .with(|options| options.limits.links_per_page = 1),
        Case::new("url-length", "/long-long-long-long-long", |site| {
            linked(site, &["/long-long-long-long-long"]);
        })
        .with(|options| options.limits.url_length = 40),
        Case::new("path-depth", "/x/y/z", |site| linked(site, &["/x/y/z"]))
            .with(|options| options.limits.path_segments = 2),
        Case::new("path-repeats", "/r/r/r", |site| linked(site, &["/r/r/r"])),
        Case::new("queries-limit", "/a?n=2", |site| linked(site, &["/a?n=1", "/a?n=2"]))
            .with(|options| options.limits.queries_per_path = 1),
        Case::new("session", "/a?PHPSESSID=1", |site| linked(site, &["/a?PHPSESSID=1"]))
            .with(|options| options.limits.merges_variants = false),
        Case::new("alias", "/a?utm_source=x", |site| linked(site, &["/a?utm_source=x"])),
        Case::new("page-limit", "/c", listed).with(|options| options.most_pages = 2),
        Case::new("queue-limit", "/c", listed)
            .with(|options| (options.limits.queue, options.most_pages) = (2, 2)),
        Case::new("remembered-limit", "", |site| linked(site, &["/b", "/c", "/d"]))
            .with(|options| (options.limits.remembered_links, options.most_pages) = (1, 1)),
        Case::new("sitemap-limit", "/c", listed).with(|options| options.limits.sitemap_urls = 2),
        Case::new("time-limit", "/a", listed)
            .with(|options| options.limits.time = Some(Duration::ZERO)),
        Case::new("network", "/0", broken),
        Case::new("stopped", "/5", broken),
        Case::new("http-status", "/b", |site| listed_with(site, Reply::status(404))),
        Case::new("media-type", "/b", |site| listed_with(site, Reply::ok("image/png", "x"))),
        Case::new("no-text", "/b", |site| {
            listed_with(site, Reply::ok("text/html", page("<body></body>")));
        }),
        Case::new("redirect-page", "/b", |site| {
            let refresh = "<title>Moved</title><meta http-equiv=refresh content='0; url=/a'>\
                           <p>Moved to <a href=/a>a</a>.</p>";
            listed_with(site, Reply::ok("text/html", page(refresh)));
        }),
        Case::new("undecodable", "/b", |site| {
            let broken = b"\x1f\x8b\x08\x00 and no more of it";
            listed_with(site, Reply::ok("text/html", broken).with("Content-Encoding", "gzip"));
        }),
        Case::new("redirect-elsewhere", "/b", |site| {
            listed_with(site, Reply::redirect(301, "http://docs.harbour.example/moved"));
            site.html("/moved", &body("Moved", "Text of another site."));
            site.names.add("docs.harbour.example", &[crate::test_site::HARBOUR]);
        }),
        Case::new("fetch-refused", "/b", |site| {
            listed_with(site, Reply::redirect(301, "http://other.example/b"));
        }),
        Case::new("temporary-redirect", "/b", listed).after(|site| {
            site.server.route("/b", [Reply::redirect(302, "http://harbour.example/a")]);
        }),
        Case::new("soft-404", "/b", |site| {
            site.sitemap(&[], &["/a", "/b"]);
            site.html("/a", &body("A", "Text of A."));
            let lost = page(&body("Page not found", "There is no such page here."));
            site.server.fallback(Reply::ok("text/html", lost));
        }),
        Case::new("bad-response", "/b", |site| listed_with(site, Reply::status(206))),
        Case::new("invalid-url", "http://harbour.example:99999/b", |site| {
            listed(site);
            let entry = |url: &str| format!("<url><loc>{url}</loc></url>");
            let urls = [entry("http://harbour.example/a"), entry("http://harbour.example:99999/b")];
            site.file("/sitemap.xml", "application/xml", urlset(&urls.concat()));
        }),
        Case::new("other-site", "http://other.example/b", |site| {
            listed(site);
            let entry = |url: &str| format!("<url><loc>{url}</loc></url>");
            let urls = [entry("http://harbour.example/a"), entry("http://other.example/b")];
            site.file("/sitemap.xml", "application/xml", urlset(&urls.concat()));
        }),
        Case::new("file", "/b.pdf", |site| {
            let first = site.snapshot(1, &[("/a", "a")]);
            site.sitemap(&[first], &["/a", "/b.pdf"]);
        }),
        Case::new("arc-other-site", "http://other.example/b", |site| {
            listed(site);
            foreign_arc(site);
        }),
        // The same with collections, so that no page is crawled.
        Case::new("arc-other-site", "http://other.example/b", |site| {
            let first = site.snapshot(1, &[("/a", "a")]);
            site.sitemap(&[first], &["/a"]);
            foreign_arc(site);
        }),
    ]
}

/// Pages whose connections break, more than the limit of a crawl.
fn broken(site: &TestSite) {
    let paths = ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7"];
    site.sitemap(&[], &paths);
    for path in paths {
        site.server.route(path, [Reply::ok("text/html", "x").but(Fault::HangUp)]);
    }
}

/// Listed URLs by code.
fn listing(site: &TestSite) -> BTreeMap<&'static str, Vec<String>> {
    let publisher = site.store.publishers().unwrap()[0].id;
    let mut listed: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for url in list_left_out(site.store.as_ref(), publisher, None, 1_000_000).unwrap() {
        let path = url.url.replace("http://harbour.example/", "/");
        listed.entry(url.why.code()).or_default().push(path);
    }
    listed
}

fn assert_listed(case: &Case, site: &TestSite, report: &SyncReport) -> Result<(), String> {
    let listed = listing(site);
    let n_listed: BTreeMap<&str, u64> =
        listed.iter().map(|(code, urls)| (*code, urls.len() as u64)).collect();
    let counted = report.left_out_by_code();
    let has_url =
        listed.get(case.code).is_some_and(|urls| urls.iter().any(|it| it.starts_with(case.url)));
    if counted == n_listed && has_url {
        return Ok(());
    }
    Err(format!("{}: counted {counted:?}, listed {listed:?}", case.code))
}

#[tokio::test]
async fn every_code_that_a_sync_counts_is_listed_with_its_urls() {
    let mut faults = Vec::new();
    for case in cases() {
        let site = TestSite::new();
        (case.build)(&site);
        let mut options = SyncOptions { limits: CrawlLimits::default(), ..SyncOptions::default() };
        (case.options)(&mut options);
        let mut report = site.sync_with(options.clone()).await.unwrap();
        if let Some(change) = case.change {
            change(&site);
            report = site.sync_with(options.clone()).await.unwrap();
        }
        faults.extend(assert_listed(&case, &site, &report).err());
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test] // D88
async fn entries_of_another_site_are_listed_until_the_arc_sitemap_is_corrected() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a"]);
    foreign_arc(&site);
    for _ in 0..2 {
        site.sync().await;
        assert_eq!(listing(&site)["arc-other-site"], ["http://other.example/b"]);
    }
    arc(&site, r#"{"url":"http://harbour.example/b","ai_indexable":false}"#);
    let report = site.sync().await;
    assert_eq!((report.arc, listing(&site)), (Some(2), BTreeMap::new()));
}
