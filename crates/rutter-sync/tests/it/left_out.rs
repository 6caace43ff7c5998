//! Every reason code that a sync counts is also listed, with its URL.

use std::collections::BTreeMap;
use std::time::Duration;

use rutter_store::{Quota, Store};
use rutter_sync::{CrawlLimits, Options, Report, Scope, ScopeRules, left_out};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, body, urlset};

/// A site at which one URL is left out with this code.
struct Case {
    code: &'static str,
    /// A URL that is left out for this reason; empty where it may be any.
    url: &'static str,
    build: fn(&Bay),
    options: fn(&mut Options),
    /// Whether the reason is there only after a second sync of a changed site.
    change: Option<fn(&Bay)>,
}

impl Case {
    fn new(code: &'static str, url: &'static str, build: fn(&Bay)) -> Self {
        Self { code, url, build, options: |_| {}, change: None }
    }

    fn with(self, options: fn(&mut Options)) -> Self {
        Self { options, ..self }
    }

    fn after(self, change: fn(&Bay)) -> Self {
        Self { change: Some(change), ..self }
    }
}

/// A sitemap with three pages.
fn listed(bay: &Bay) {
    bay.sitemap(&[], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        bay.html(path, &body(path, &format!("Text of the page {path}.")));
    }
}

/// A sitemap with a page and one that answers like this.
fn listed_with(bay: &Bay, reply: Reply) {
    listed(bay);
    bay.server.route("/b", [reply]);
}

/// A home page with links to one page and to these URLs.
fn linked(bay: &Bay, links: &[&str]) {
    let anchors: String = links.iter().map(|it| format!("<a href=\"{it}\">link</a> ")).collect();
    bay.html("/", &body("Home", &format!("Text of the home page. <a href=/a>a</a> {anchors}")));
    bay.html("/a", &body("A", "Text of A."));
}

fn arc(bay: &Bay, entries: &str) {
    let arc = format!(
        r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {{"url":"http://harbour.example/a","ai_indexable":true}},{entries}]}}"#
    );
    bay.file("/arc-sitemap.json", "application/json", arc);
    bay.html("/a", &body("A", "Text of A."));
}

/// An ARC sitemap that was built for another site.
fn foreign_arc(bay: &Bay) {
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://other.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://other.example/b","ai_indexable":true}]}"#;
    bay.file("/arc-sitemap.json", "application/json", arc);
}

fn page(text: &str) -> String {
    format!("<!doctype html><html lang=en>{text}</html>")
}

fn cases() -> Vec<Case> {
    vec![
        Case::new("robots", "/b", |bay| {
            listed(bay);
            bay.robots("user-agent: *\ndisallow: /b\n");
        }),
        Case::new("consent", "/b", |bay| {
            listed(bay);
            arc(bay, r#"{"url":"http://harbour.example/b","ai_indexable":false}"#);
        }),
        Case::new("scope", "/b", listed).with(|options| {
            let rules = ScopeRules { exclude: vec!["/b".into()], ..ScopeRules::default() };
            options.scope = Scope::new(rules).unwrap();
        }),
        Case::new("quota", "/c", listed)
            .with(|options| options.quota = Quota { pages: 2, ..Quota::USUAL }),
        Case::new("depth-limit", "/a", |bay| linked(bay, &[]))
            .with(|options| options.limits.depth = 0),
        Case::new("link-limit", "/one-too-many", |bay| linked(bay, &["/one-too-many"]))
            .with(|options| options.limits.links_per_page = 1),
        Case::new("url-length", "/long-long-long-long-long", |bay| {
            linked(bay, &["/long-long-long-long-long"]);
        })
        .with(|options| options.limits.url_length = 40),
        Case::new("path-depth", "/x/y/z", |bay| linked(bay, &["/x/y/z"]))
            .with(|options| options.limits.path_segments = 2),
        Case::new("path-repeats", "/r/r/r", |bay| linked(bay, &["/r/r/r"])),
        Case::new("queries-limit", "/a?n=2", |bay| linked(bay, &["/a?n=1", "/a?n=2"]))
            .with(|options| options.limits.queries_per_path = 1),
        Case::new("session", "/a?PHPSESSID=1", |bay| linked(bay, &["/a?PHPSESSID=1"]))
            .with(|options| options.limits.merges_variants = false),
        Case::new("alias", "/a?utm_source=x", |bay| linked(bay, &["/a?utm_source=x"])),
        Case::new("page-limit", "/c", listed).with(|options| options.most_pages = 2),
        Case::new("queue-limit", "/c", listed)
            .with(|options| (options.limits.queue, options.most_pages) = (2, 2)),
        Case::new("remembered-limit", "", |bay| linked(bay, &["/b", "/c", "/d"]))
            .with(|options| (options.limits.remembered_links, options.most_pages) = (1, 1)),
        Case::new("sitemap-limit", "/c", listed).with(|options| options.limits.sitemap_urls = 2),
        Case::new("time-limit", "/a", listed)
            .with(|options| options.limits.time = Some(Duration::ZERO)),
        Case::new("network", "/0", broken),
        Case::new("stopped", "/5", broken),
        Case::new("http-status", "/b", |bay| listed_with(bay, Reply::status(404))),
        Case::new("media-type", "/b", |bay| listed_with(bay, Reply::ok("image/png", "x"))),
        Case::new("no-text", "/b", |bay| {
            listed_with(bay, Reply::ok("text/html", page("<body></body>")));
        }),
        Case::new("redirect-page", "/b", |bay| {
            let refresh = "<title>Moved</title><meta http-equiv=refresh content='0; url=/a'>\
                           <p>Moved to <a href=/a>a</a>.</p>";
            listed_with(bay, Reply::ok("text/html", page(refresh)));
        }),
        Case::new("undecodable", "/b", |bay| {
            let broken = b"\x1f\x8b\x08\x00 and no more of it";
            listed_with(bay, Reply::ok("text/html", broken).with("Content-Encoding", "gzip"));
        }),
        Case::new("redirect-elsewhere", "/b", |bay| {
            listed_with(bay, Reply::redirect(301, "http://docs.harbour.example/moved"));
            bay.html("/moved", &body("Moved", "Text of another site."));
            bay.names.add("docs.harbour.example", &[crate::bay::HARBOUR]);
        }),
        Case::new("fetch-refused", "/b", |bay| {
            listed_with(bay, Reply::redirect(301, "http://other.example/b"));
        }),
        Case::new("temporary-redirect", "/b", listed).after(|bay| {
            bay.server.route("/b", [Reply::redirect(302, "http://harbour.example/a")]);
        }),
        Case::new("soft-404", "/b", |bay| {
            bay.sitemap(&[], &["/a", "/b"]);
            bay.html("/a", &body("A", "Text of A."));
            let lost = page(&body("Page not found", "There is no such page here."));
            bay.server.fallback(Reply::ok("text/html", lost));
        }),
        Case::new("bad-response", "/b", |bay| listed_with(bay, Reply::status(206))),
        Case::new("invalid-url", "http://harbour.example:99999/b", |bay| {
            listed(bay);
            let entry = |url: &str| format!("<url><loc>{url}</loc></url>");
            let urls = [entry("http://harbour.example/a"), entry("http://harbour.example:99999/b")];
            bay.file("/sitemap.xml", "application/xml", urlset(&urls.concat()));
        }),
        Case::new("other-site", "http://other.example/b", |bay| {
            listed(bay);
            let entry = |url: &str| format!("<url><loc>{url}</loc></url>");
            let urls = [entry("http://harbour.example/a"), entry("http://other.example/b")];
            bay.file("/sitemap.xml", "application/xml", urlset(&urls.concat()));
        }),
        Case::new("file", "/b.pdf", |bay| {
            let first = bay.snapshot(1, &[("/a", "a")]);
            bay.sitemap(&[first], &["/a", "/b.pdf"]);
        }),
        Case::new("arc-other-site", "http://other.example/b", |bay| {
            listed(bay);
            foreign_arc(bay);
        }),
        // Beside collections, where no page is crawled.
        Case::new("arc-other-site", "http://other.example/b", |bay| {
            let first = bay.snapshot(1, &[("/a", "a")]);
            bay.sitemap(&[first], &["/a"]);
            foreign_arc(bay);
        }),
    ]
}

/// Pages whose connections break, more than end a crawl.
fn broken(bay: &Bay) {
    let paths = ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7"];
    bay.sitemap(&[], &paths);
    for path in paths {
        bay.server.route(path, [Reply::ok("text/html", "x").but(Fault::HangUp)]);
    }
}

/// What is listed, by code.
fn listing(bay: &Bay) -> BTreeMap<&'static str, Vec<String>> {
    let publisher = bay.store.publishers().unwrap()[0].id;
    let mut listed: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for url in left_out(bay.store.as_ref(), publisher, None, 1_000_000).unwrap() {
        let path = url.url.replace("http://harbour.example/", "/");
        listed.entry(url.why.code()).or_default().push(path);
    }
    listed
}

fn assert_listed(case: &Case, bay: &Bay, report: &Report) -> Result<(), String> {
    let listed = listing(bay);
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
        let bay = Bay::new();
        (case.build)(&bay);
        let mut options = Options { limits: CrawlLimits::default(), ..Options::default() };
        (case.options)(&mut options);
        let mut report = bay.visit_with(options.clone()).await.unwrap();
        if let Some(change) = case.change {
            change(&bay);
            report = bay.visit_with(options.clone()).await.unwrap();
        }
        faults.extend(assert_listed(&case, &bay, &report).err());
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test] // D88
async fn entries_of_another_site_are_listed_until_the_arc_sitemap_is_corrected() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a"]);
    foreign_arc(&bay);
    for _ in 0..2 {
        bay.visit().await;
        assert_eq!(listing(&bay)["arc-other-site"], ["http://other.example/b"]);
    }
    arc(&bay, r#"{"url":"http://harbour.example/b","ai_indexable":false}"#);
    let report = bay.visit().await;
    assert_eq!((report.arc, listing(&bay)), (Some(2), BTreeMap::new()));
}
