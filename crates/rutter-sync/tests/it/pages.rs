//! Sites with none of the specifications: pages one by one.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_page::Page;
use rutter_store::{Cause, Quota, Store, Withheld};
use rutter_sync::{Options, Scope, ScopeRules};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, body, urlset};

fn line(bay: &Bay, path: &str) -> String {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap().unwrap()
}

#[tokio::test] // ARC-061 SCP-104
async fn spec_a_site_with_a_sitemap_alone() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/gone", "/other.pdf"]);
    bay.html("/a", &body("A", "Words of A.")).html("/b", &body("B", "Words of B."));
    bay.file("/other.pdf", "application/pdf", "%PDF");
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Sitemap, 2));
    assert_eq!(report.left_out_by_code()["http-status"], 1);
    assert_eq!(report.left_out_by_code()["media-type"], 1);
    assert_eq!(bay.paths(), ["/a", "/b"]);
    let a = line(&bay, "/a");
    let page: Page<'_> = serde_json::from_str(&a).unwrap();
    assert_eq!((&*page.title, page.to_text().as_str()), ("A", "A\n\nWords of A.\n"));
    assert!(report.better.is_some());

    // Nothing changed: conditional requests, and the same lines.
    let before = bay.seen();
    bay.clock.advance(Duration::from_hours(1));
    let report = bay.visit().await;
    assert!(report.is_quiet(), "{report:?}");
    assert_eq!(bay.seen(), before);
    let asked = bay.server.seen();
    let last = asked.iter().rev().find(|seen| seen.path == "/a").unwrap();
    assert!(last.header("if-none-match").is_some());

    // One is edited, one goes, one comes.
    bay.html("/a", &body("A", "Other words of A.")).html("/c", &body("C", "Words of C."));
    bay.sitemap(&[], &["/a", "/c"]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.changed, report.removed), (1, 1, 1));
    assert_eq!(bay.paths(), ["/a", "/c"]);
    let publisher = bay.store.publishers().unwrap()[0].id;
    let tombs = bay.store.tombstones(publisher, None, 10).unwrap();
    assert_eq!((tombs.len(), tombs[0].cause), (1, Cause::Absent));

    // What answers that it is gone goes, although the sitemap lists it.
    bay.server.route("/c", [Reply::status(410)]);
    assert_eq!(bay.visit().await.removed, 1);
}

#[tokio::test] // B03
async fn ours_a_sitemap_that_is_cut_removes_nothing() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b"]);
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    bay.visit().await;
    let whole = urlset("<url><loc>http://harbour.example/a</loc></url><url><loc>http://harb");
    let cut = whole.split("<loc>http://harb</urlset>").next().unwrap();
    let cut = cut.trim_end_matches("</urlset>").to_owned();
    bay.file("/sitemap.xml", "application/xml", cut);
    let report = bay.visit().await;
    assert_eq!(report.removed, 0);
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // Nor does one that cannot be had.
    bay.server.route("/sitemap.xml", [Reply::status(500)]);
    assert_eq!(bay.visit().await.removed, 0);
    assert_eq!(bay.paths(), ["/a", "/b"]);
}

#[tokio::test] // D16 of the cases for fetching
async fn ours_a_site_with_links_alone_is_walked_within_bounds() {
    let bay = Bay::new();
    let links = "<p><a href=/a>a</a> <a href=/b rel=nofollow>b</a> <a href=/x/x/x/x>x</a> \
                 <a href='http://other.example/'>o</a> <a href=/pic.png>p</a></p>";
    bay.html(
        "/",
        &format!("<title>Home</title><main><p>Words of the home page.</p>{links}</main>"),
    );
    bay.html("/a", "<title>A</title><main><p>Words of A.</p><a href=/c>c</a></main>");
    bay.html("/b", &body("B", "Words.")).html("/c", &body("C", "Words of C."));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Links, 3));
    assert_eq!(bay.paths(), ["/", "/a", "/c"]);
    assert_eq!(report.left_out_by_code()["path-repeats"], 1);
    // A page that is gone goes; one that nothing links to stays.
    bay.server.route("/c", [Reply::status(404)]);
    assert_eq!(bay.visit().await.removed, 1);
    // Bounded, and said so.
    let more = format!("{links}<p><a href=/d>d</a></p>");
    bay.html("/", &format!("<title>Home</title><main><p>Words of the home page.</p>{more}</main>"));
    bay.html("/d", &body("D", "Words of D."));
    let report = bay.visit_with(Options { most_pages: 1, ..Options::default() }).await.unwrap();
    assert!(report.left_out_by_code().contains_key("page-limit"), "{report:?}");
}

#[tokio::test]
async fn ours_a_site_with_llms_txt_alone() {
    let bay = Bay::new();
    bay.file("/llms.txt", "text/plain", "# Harbour\n\n## Pages\n\n- [Tides](/tides.md)\n");
    bay.file("/tides.md", "text/markdown", "# Tides\n\nHigh water is at noon.\n");
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Llms, 1));
    assert!(line(&bay, "/tides.md").contains("High water is at noon."));
}

#[tokio::test] // ARC-033 D58
async fn spec_pages_that_do_not_want_to_be_used_are_not() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ndisallow: /private\n");
    bay.sitemap(&[], &["/a", "/noindex", "/tag", "/signal", "/private/x"]);
    bay.html("/a", &body("A", "Words of A."));
    bay.html("/noindex", &format!("<meta name=robots content=noindex>{}", body("N", "Words.")));
    let page = format!("<html lang=en>{}</html>", body("T", "Words."));
    let reply = Reply::ok("text/html", page);
    bay.server.route("/tag", [reply.clone().with("X-Robots-Tag", "noai")]);
    bay.server.route("/signal", [reply.with("Content-Signal", "ai-input=no")]);
    let report = bay.visit().await;
    assert_eq!(report.left_out_by_code()["robots"], 1);
    assert!(!bay.server.paths().contains(&"/private/x".to_owned()));
    for path in ["/noindex", "/tag", "/signal"] {
        let row = bay.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap();
        assert_eq!(row.withheld, Some(Withheld::Consent), "{path}");
        assert_eq!(bay.store.line(&row.url).unwrap(), None, "{path}");
    }
    assert!(line(&bay, "/a").contains("Words of A."));
    // Withdrawn later: the words go with the next visit.
    bay.html("/a", &format!("<meta name=robots content=noai>{}", body("A", "Words of A.")));
    bay.visit().await;
    assert_eq!(bay.store.line("http://harbour.example/a").unwrap(), None);
}

#[tokio::test] // ARC-058 ARC-059 D60
async fn spec_an_arc_sitemap_says_what_to_ask_for() {
    let bay = Bay::new();
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
    bay.file("/arc-sitemap.json", "application/json", arc(&"a".repeat(64)));
    bay.html("/a", &body("A", "Words of A."));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Arc, 2));
    assert_eq!(bay.paths(), ["/a", "/s"]);
    assert!(line(&bay, "/s").contains("High water at noon"));
    let asked = bay.server.paths();
    assert!(!asked.contains(&"/s".to_owned()) && !asked.contains(&"/closed".to_owned()));
    // The checksum decides.
    let n = bay.server.seen().len();
    bay.visit().await;
    assert!(!bay.asked(n).contains(&"/a".to_owned()));
    bay.file("/arc-sitemap.json", "application/json", arc(&"b".repeat(64)));
    bay.html("/a", &body("A", "Other words of A."));
    assert_eq!(bay.visit().await.changed, 1);
}

#[tokio::test]
async fn ours_a_host_that_breaks_is_given_up_and_nothing_is_lost() {
    let bay = Bay::new();
    let paths: Vec<String> = (0..20).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    bay.sitemap(&[], &names);
    for path in &paths {
        bay.html(path, &body(path, "Words of this page."));
    }
    bay.visit().await;
    let before = bay.seen();
    assert_eq!(before.len(), 20);
    for path in &paths {
        bay.server.route(path, [Reply::status(200).but(Fault::HangUp)]);
    }
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(rutter_sync::Kind::Network));
    assert_eq!(bay.seen(), before);
}

#[tokio::test] // ARC-060
async fn spec_page_without_arc_snapshot_gives_its_own() {
    let bay = Bay::new();
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":true},
        {"url":"http://harbour.example/s","ai_indexable":true,
          "ai_snapshot":{"page":"tides","title":"Tides","summary":"High water at noon"}}]}"#;
    bay.file("/arc-sitemap.json", "application/json", arc);
    let page = "<title>Berths</title><main data-ai-page=berths data-ai-summary='Free berths'>\
        <p>Berths for visitors.</p><form data-ai-component=form data-ai-purpose='Book a berth'>\
        <input name=length data-ai-field=length><button data-ai-action=book>Book</button></form>\
        </main>";
    bay.html("/a", page);
    bay.visit().await;
    let snapshot = |path: &str| {
        let key = format!("http://harbour.example{path}");
        rutter_sync::arc_snapshot(bay.store.as_ref(), &key).unwrap()
    };
    let own = snapshot("/a").unwrap();
    assert_eq!(own.source, rutter_sync::SnapshotSource::Page);
    for part in ["berths", "Free berths", "length", "book"] {
        assert!(own.json.contains(part), "{part}: {}", own.json);
    }
    // One that the sitemap has comes first.
    let theirs = snapshot("/s").unwrap();
    assert_eq!(theirs.source, rutter_sync::SnapshotSource::Sitemap);
    assert!(theirs.json.contains("High water at noon"));
    // Attributes that go, and a page that may not be used, leave none.
    bay.html("/a", &body("Berths", "Berths for visitors."));
    bay.visit().await;
    assert_eq!(snapshot("/a"), None);
    bay.html("/a", &page.replace("<main ", "<main data-ai-indexable=false "));
    bay.visit().await;
    assert_eq!(snapshot("/a"), None);
}

#[tokio::test] // ARC-060
async fn own_snapshot_is_deleted_with_the_content_of_its_page() {
    let annotated = "<title>Berths</title><main data-ai-page=berths data-ai-summary='Free berths'>\
        <p>Berths for visitors.</p></main>";
    let closed = annotated.replace("<main ", "<main data-ai-indexable=false ");
    let mark = |bay: &Bay| bay.store.validator("snapshot:http://harbour.example/a").unwrap();
    let site = async || {
        let bay = Bay::new();
        bay.sitemap(&[], &["/a", "/b"]);
        bay.html("/a", annotated).html("/b", &body("Tides", "High water at noon."));
        bay.visit().await;
        assert!(mark(&bay).is_some());
        bay
    };
    let bay = site().await;
    bay.html("/a", &closed);
    bay.visit().await;
    assert_eq!(mark(&bay), None);
    let bay = site().await;
    bay.server.route("/a", [Reply::status(410)]);
    bay.visit().await;
    assert_eq!((bay.paths(), mark(&bay)), (vec!["/b".to_owned()], None));
    let bay = site().await;
    bay.robots("User-agent: *\nDisallow: /a\n");
    bay.clock.advance(Duration::from_hours(48));
    bay.visit().await;
    assert_eq!(mark(&bay), None);
    // Content that is never stored has no snapshot either.
    for options in [
        Options { quota: Quota { bytes: 1, ..Quota::USUAL }, ..Options::default() },
        Options {
            scope: Scope::new(ScopeRules { languages: vec!["de".into()], ..ScopeRules::default() })
                .unwrap(),
            ..Options::default()
        },
    ] {
        let bay = Bay::new();
        bay.sitemap(&[], &["/a"]).html("/a", annotated);
        bay.visit_with(options).await.unwrap();
        assert_eq!((bay.paths().len(), mark(&bay)), (1, None));
    }
}

#[tokio::test] // D36
async fn crawled_page_of_many_blocks_is_kept_whole() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/long"]);
    let blocks: String = (0..1500).map(|n| format!("<h2>{n}</h2><pre>code {n}</pre>")).collect();
    bay.html("/long", &format!("<title>Long</title><body><main>{blocks}</main>"));
    let report = bay.visit().await;
    assert_eq!((report.added, report.left_out.len()), (1, 0), "{report:?}");
    let line = bay.seen().pop().and_then(|(.., line)| line).unwrap();
    assert_eq!(line.matches("\"type\":\"heading\"").count(), 1500);
    assert_eq!(line.matches("\"type\":\"code\"").count(), 1500);
}
