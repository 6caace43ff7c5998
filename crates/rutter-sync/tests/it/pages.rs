//! Sites without SCP, ARC and SPXI: crawled pages.

use std::time::Duration;

use rutter_page::Page;
use rutter_store::prelude::*;
use rutter_store::{NoteKind, Quota, RemovalCause, WithheldReason};
use rutter_sync::discover::AccessMethod;
use rutter_sync::{Scope, ScopeRules, SyncOptions};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{TestSite, body, urlset};

fn line(site: &TestSite, path: &str) -> String {
    site.store.line(&format!("http://harbour.example{path}")).unwrap().unwrap()
}

#[tokio::test] // ARC-061 SCP-104
async fn syncs_site_with_a_sitemap_only() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/gone", "/other.pdf"]);
    site.html("/a", &body("A", "Words of A.")).html("/b", &body("B", "Words of B."));
    site.file("/other.pdf", "application/pdf", "%PDF");
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Sitemap, 2));
    assert_eq!(report.left_out_by_code()["http-status"], 1);
    assert_eq!(report.left_out_by_code()["media-type"], 1);
    assert_eq!(site.paths(), ["/a", "/b"]);
    let a = line(&site, "/a");
    let page: Page<'_> = serde_json::from_str(&a).unwrap();
    assert_eq!((&*page.title, page.to_text().as_str()), ("A", "A\n\nWords of A.\n"));
    assert!(report.better_method.is_some());

    // No change: conditional requests, and the same lines.
    let before = site.stored_pages();
    site.clock.advance(Duration::from_hours(1));
    let report = site.sync().await;
    assert!(report.is_quiet(), "{report:?}");
    assert_eq!(site.stored_pages(), before);
    let asked = site.server.seen();
    let last = asked.iter().rev().find(|seen| seen.path == "/a").unwrap();
    assert!(last.header("if-none-match").is_some());

    // One page is edited, one is removed, one is added.
    site.html("/a", &body("A", "Other words of A.")).html("/c", &body("C", "Words of C."));
    site.sitemap(&[], &["/a", "/c"]);
    let report = site.sync().await;
    assert_eq!((report.added, report.changed, report.removed), (1, 1, 1));
    assert_eq!(site.paths(), ["/a", "/c"]);
    let publisher = site.store.publishers().unwrap()[0].id;
    let tombs = site.store.tombstones(publisher, None, 10).unwrap();
    assert_eq!((tombs.len(), tombs[0].cause), (1, RemovalCause::Absent));

    // A page that answers 410 is removed although the sitemap lists it.
    site.server.route("/c", [Reply::status(410)]);
    assert_eq!(site.sync().await.removed, 1);
}

#[tokio::test] // B03
async fn truncated_sitemap_removes_no_page() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b"]);
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    site.sync().await;
    let whole = urlset("<url><loc>http://harbour.example/a</loc></url><url><loc>http://harb");
    let cut = whole.split("<loc>http://harb</urlset>").next().unwrap();
    let cut = cut.trim_end_matches("</urlset>").to_owned();
    site.file("/sitemap.xml", "application/xml", cut);
    let report = site.sync().await;
    assert_eq!(report.removed, 0);
    assert_eq!(site.paths(), ["/a", "/b"]);
    // Nor does a sitemap that cannot be fetched.
    site.server.route("/sitemap.xml", [Reply::status(500)]);
    assert_eq!(site.sync().await.removed, 0);
    assert_eq!(site.paths(), ["/a", "/b"]);
}

#[tokio::test]
async fn crawls_site_by_links_within_limits() {
    let site = TestSite::new();
    let links = "<p><a href=/a>a</a> <a href=/b rel=nofollow>b</a> <a href=/x/x/x/x>x</a> \
                 <a href='http://other.example/'>o</a> <a href=/pic.png>p</a></p>";
    site.html(
        "/",
        &format!("<title>Home</title><main><p>Words of the home page.</p>{links}</main>"),
    );
    site.html("/a", "<title>A</title><main><p>Words of A.</p><a href=/c>c</a></main>");
    site.html("/b", &body("B", "Words.")).html("/c", &body("C", "Words of C."));
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Links, 3));
    assert_eq!(site.paths(), ["/", "/a", "/c"]);
    assert_eq!(report.left_out_by_code()["path-repeats"], 1);
    // A missing page is removed; a page without links to it stays.
    site.server.route("/c", [Reply::status(404)]);
    assert_eq!(site.sync().await.removed, 1);
    // The limit is reported.
    let more = format!("{links}<p><a href=/d>d</a></p>");
    site.html(
        "/",
        &format!("<title>Home</title><main><p>Words of the home page.</p>{more}</main>"),
    );
    site.html("/d", &body("D", "Words of D."));
    let report =
        site.sync_with(SyncOptions { most_pages: 1, ..SyncOptions::default() }).await.unwrap();
    assert!(report.left_out_by_code().contains_key("page-limit"), "{report:?}");
}

#[tokio::test]
async fn syncs_site_with_llms_txt_only() {
    let site = TestSite::new();
    site.file("/llms.txt", "text/plain", "# Harbour\n\n## Pages\n\n- [Tides](/tides.md)\n");
    site.file("/tides.md", "text/markdown", "# Tides\n\nHigh water is at noon.\n");
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Llms, 1));
    assert!(line(&site, "/tides.md").contains("High water is at noon."));
}

#[tokio::test] // ARC-033 D58
async fn withholds_pages_that_refuse_use() {
    let site = TestSite::new();
    site.robots("user-agent: *\ndisallow: /private\n");
    site.sitemap(&[], &["/a", "/noindex", "/tag", "/signal", "/private/x"]);
    site.html("/a", &body("A", "Words of A."));
    site.html("/noindex", &format!("<meta name=robots content=noindex>{}", body("N", "Words.")));
    let page = format!("<html lang=en>{}</html>", body("T", "Words."));
    let reply = Reply::ok("text/html", page);
    site.server.route("/tag", [reply.clone().with("X-Robots-Tag", "noai")]);
    site.server.route("/signal", [reply.with("Content-Signal", "ai-input=no")]);
    let report = site.sync().await;
    assert_eq!(report.left_out_by_code()["robots"], 1);
    assert!(!site.server.paths().contains(&"/private/x".to_owned()));
    for path in ["/noindex", "/tag", "/signal"] {
        let row = site.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap();
        assert_eq!(row.withheld, Some(WithheldReason::Consent), "{path}");
        assert_eq!(site.store.line(&row.url).unwrap(), None, "{path}");
    }
    assert!(line(&site, "/a").contains("Words of A."));
    // Withdrawn later: the next sync removes the content.
    site.html("/a", &format!("<meta name=robots content=noai>{}", body("A", "Words of A.")));
    site.sync().await;
    assert_eq!(site.store.line("http://harbour.example/a").unwrap(), None);
}

#[tokio::test] // ARC-058 ARC-059 D60
async fn requests_pages_by_arc_checksum() {
    let site = TestSite::new();
    let arc = |sum: &str| {
        format!(
            r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
            "generated_at":"2027-01-02T00:00:00Z","pages":[
            {{"url":"http://harbour.example/a","ai_indexable":true,"ai_checksum":"sha256:{sum}"}},
            {{"url":"http://harbour.example/closed","ai_indexable":false}},
            {{"url":"http://harbour.example/s","ai_indexable":true,"ai_summary":"About tides",
              "ai_snapshot":{{"page":"tides","title":"Tides","summary":"High water at noon"}}}}]}}"#
        )
    };
    site.file("/arc-sitemap.json", "application/json", arc(&"a".repeat(64)));
    site.html("/a", &body("A", "Words of A."));
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Arc, 2));
    assert_eq!(site.paths(), ["/a", "/s"]);
    assert!(line(&site, "/s").contains("High water at noon"));
    let asked = site.server.paths();
    assert!(!asked.contains(&"/s".to_owned()) && !asked.contains(&"/closed".to_owned()));
    // The checksum decides.
    let n = site.server.seen().len();
    site.sync().await;
    assert!(!site.asked(n).contains(&"/a".to_owned()));
    site.file("/arc-sitemap.json", "application/json", arc(&"b".repeat(64)));
    site.html("/a", &body("A", "Other words of A."));
    assert_eq!(site.sync().await.changed, 1);
}

#[tokio::test]
async fn gives_up_a_failing_host_without_losing_pages() {
    let site = TestSite::new();
    let paths: Vec<String> = (0..20).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.sitemap(&[], &names);
    for path in &paths {
        site.html(path, &body(path, "Words of this page."));
    }
    site.sync().await;
    let before = site.stored_pages();
    assert_eq!(before.len(), 20);
    for path in &paths {
        site.server.route(path, [Reply::status(200).but(Fault::HangUp)]);
    }
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(rutter_sync::ProblemKind::Network));
    assert_eq!(site.stored_pages(), before);
}

#[tokio::test] // ARC-060
async fn stores_snapshot_of_the_pages_own_attributes() {
    let site = TestSite::new();
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":true},
        {"url":"http://harbour.example/s","ai_indexable":true,
          "ai_snapshot":{"page":"tides","title":"Tides","summary":"High water at noon"}}]}"#;
    site.file("/arc-sitemap.json", "application/json", arc);
    let page = "<title>Berths</title><main data-ai-page=berths data-ai-summary='Free berths'>\
        <p>Berths for visitors.</p><form data-ai-component=form data-ai-purpose='Book a berth'>\
        <input name=length data-ai-field=length><button data-ai-action=book>Book</button></form>\
        </main>";
    site.html("/a", page);
    site.sync().await;
    let snapshot = |path: &str| {
        let key = format!("http://harbour.example{path}");
        rutter_sync::find_arc_snapshot(site.store.as_ref(), &key).unwrap()
    };
    let own = snapshot("/a").unwrap();
    assert_eq!(own.source, rutter_sync::SnapshotSource::Page);
    for part in ["berths", "Free berths", "length", "book"] {
        assert!(own.json.contains(part), "{part}: {}", own.json);
    }
    // A snapshot of the ARC sitemap takes precedence.
    let theirs = snapshot("/s").unwrap();
    assert_eq!(theirs.source, rutter_sync::SnapshotSource::Sitemap);
    assert!(theirs.json.contains("High water at noon"));
    // Removed attributes, and a withheld page, leave no snapshot.
    site.html("/a", &body("Berths", "Berths for visitors."));
    site.sync().await;
    assert_eq!(snapshot("/a"), None);
    site.html("/a", &page.replace("<main ", "<main data-ai-indexable=false "));
    site.sync().await;
    assert_eq!(snapshot("/a"), None);
}

#[tokio::test] // ARC-060
async fn own_snapshot_is_deleted_with_the_content_of_its_page() {
    let annotated = "<title>Berths</title><main data-ai-page=berths data-ai-summary='Free berths'>\
        <p>Berths for visitors.</p></main>";
    let closed = annotated.replace("<main ", "<main data-ai-indexable=false ");
    let mark = |site: &TestSite| {
        site.store.url_note(NoteKind::ArcSnapshot, "http://harbour.example/a").unwrap()
    };
    let new_site = async || {
        let site = TestSite::new();
        site.sitemap(&[], &["/a", "/b"]);
        site.html("/a", annotated).html("/b", &body("Tides", "High water at noon."));
        site.sync().await;
        assert!(mark(&site).is_some());
        site
    };
    let site = new_site().await;
    site.html("/a", &closed);
    site.sync().await;
    assert_eq!(mark(&site), None);
    let site = new_site().await;
    site.server.route("/a", [Reply::status(410)]);
    site.sync().await;
    assert_eq!((site.paths(), mark(&site)), (vec!["/b".to_owned()], None));
    let site = new_site().await;
    site.robots("User-agent: *\nDisallow: /a\n");
    site.clock.advance(Duration::from_hours(48));
    site.sync().await;
    assert_eq!(mark(&site), None);
    // Content that was never stored has no snapshot either.
    for options in [
        SyncOptions { quota: Quota { bytes: 1, ..Quota::DEFAULT }, ..SyncOptions::default() },
        SyncOptions {
            scope: Scope::new(ScopeRules { languages: vec!["de".into()], ..ScopeRules::default() })
                .unwrap(),
            ..SyncOptions::default()
        },
    ] {
        let site = TestSite::new();
        site.sitemap(&[], &["/a"]).html("/a", annotated);
        site.sync_with(options).await.unwrap();
        assert_eq!((site.paths().len(), mark(&site)), (1, None));
    }
}

#[tokio::test] // D36
async fn crawled_page_of_many_blocks_is_kept_whole() {
    let site = TestSite::new();
    site.sitemap(&[], &["/long"]);
    let blocks: String = (0..1500).map(|n| format!("<h2>{n}</h2><pre>code {n}</pre>")).collect();
    site.html("/long", &format!("<title>Long</title><body><main>{blocks}</main>"));
    let report = site.sync().await;
    assert_eq!((report.added, report.left_out.len()), (1, 0), "{report:?}");
    let line = site.stored_pages().pop().and_then(|(.., line)| line).unwrap();
    assert_eq!(line.matches("\"type\":\"heading\"").count(), 1500);
    assert_eq!(line.matches("\"type\":\"code\"").count(), 1500);
}

#[tokio::test] // SCP-055 D45
async fn links_of_crawled_pages_are_stored_and_not_read_twice() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a"]);
    let text = "The lock is described <a href=\"/lock\" rel=\"nofollow\">on another page</a>.";
    site.html("/a", &body("A", text));
    site.sync().await;
    let a = line(&site, "/a");
    let page: Page<'_> = serde_json::from_str(&a).unwrap();
    let link = r#"{"type":"link","url":"http://harbour.example/lock","text":"on another page","rel":["nofollow"]}"#;
    assert!(a.contains(link), "{a}");
    assert_eq!(page.to_text(), "A\n\nThe lock is described on another page.\n");
    assert!(
        page.to_markdown().contains("described [on another page](http://harbour.example/lock).")
    );
}
