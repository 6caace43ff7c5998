//! Syncs with a scope, and links in addition to a sitemap.

use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{ChangeKind, WithheldReason};
use rutter_sync::{LeftOutReason, Scope, ScopeRules, SyncError, SyncOptions};

use crate::test_site::{ChainedCollection, TestSite, body, state_of};

fn options(rules: ScopeRules) -> SyncOptions {
    SyncOptions { scope: Scope::new(rules).unwrap(), ..SyncOptions::default() }
}

fn below(prefix: &str) -> SyncOptions {
    options(ScopeRules { prefixes: vec![prefix.to_owned()], ..ScopeRules::default() })
}

fn withheld(site: &TestSite, path: &str) -> Option<WithheldReason> {
    let url = format!("http://harbour.example{path}");
    site.store.page(&url).unwrap().unwrap().withheld
}

fn left_out(report: &rutter_sync::SyncReport, code: &str) -> u64 {
    let of_code = report.left_out.iter().filter(|(why, _)| LeftOutReason::code(why) == code);
    of_code.map(|(_, n)| *n).sum()
}

#[tokio::test] // D95
async fn scope_keeps_the_state_of_a_section_provable() {
    let site = TestSite::new();
    site.robots("");
    let pages = [("/docs/a", "a"), ("/docs/b", "b"), ("/blog/c", "c")];
    let snapshot = site.chained(&ChainedCollection {
        day: 1,
        since: None,
        from: None,
        state: state_of(&pages),
        n_after: 3,
        pages: &pages,
        removed: &[],
    });
    site.sitemap(std::slice::from_ref(&snapshot), &["/docs/a", "/docs/b", "/blog/c"]);
    let report = site.sync_with(below("/docs")).await.unwrap();
    assert!(report.sections["all"].is_proved, "{report:?}");
    assert_eq!((report.pages, report.withheld, report.added), (3, 1, 2));
    assert_eq!(withheld(&site, "/blog/c"), Some(WithheldReason::Scope));
    assert_eq!(site.store.line("http://harbour.example/blog/c").unwrap(), None);
    // A delta that changes pages inside and outside.
    let after = [("/docs/a", "aaaa"), ("/docs/b", "b"), ("/blog/c", "cccc")];
    let delta = site.chained(&ChainedCollection {
        day: 2,
        since: Some(1),
        from: Some(state_of(&pages)),
        state: state_of(&after),
        n_after: 3,
        pages: &[("/docs/a", "aaaa"), ("/blog/c", "cccc")],
        removed: &[],
    });
    site.sitemap(&[snapshot, delta], &["/docs/a", "/docs/b", "/blog/c"]);
    let report = site.sync_with(below("/docs")).await.unwrap();
    assert!(report.sections["all"].is_proved, "{report:?}");
    assert_eq!((report.changed, report.withheld, report.worst()), (1, 1, None));
    assert_eq!(withheld(&site, "/blog/c"), Some(WithheldReason::Scope));
    // No page outside was requested.
    assert!(!site.server.paths().iter().any(|path| path.starts_with("/blog")));
    // A wider scope stores the content.
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld, report.worst()), (1, 0, None), "{report:?}");
    assert_eq!(withheld(&site, "/blog/c"), None);
    assert!(report.sections["all"].is_proved, "{report:?}");
}

#[tokio::test]
async fn crawl_by_sitemap_requests_no_page_outside_the_scope() {
    let site = TestSite::new();
    site.robots("");
    for path in ["/docs/a", "/docs/old/b", "/blog/c"] {
        site.html(path, &body(path, "Text of the page."));
    }
    site.sitemap(&[], &["/docs/a", "/docs/old/b", "/blog/c"]);
    let rules = ScopeRules {
        include: vec!["/docs/**".to_owned()],
        exclude: vec!["/docs/old/".to_owned()],
        ..ScopeRules::default()
    };
    let report = site.sync_with(options(rules.clone())).await.unwrap();
    assert_eq!(site.paths(), ["/docs/a"]);
    assert_eq!(left_out(&report, "scope"), 2, "{report:?}");
    assert!(!site.server.paths().iter().any(|path| path == "/blog/c" || path == "/docs/old/b"));
    // The same scope again changes nothing.
    let report = site.sync_with(options(rules)).await.unwrap();
    assert_eq!((report.is_quiet(), left_out(&report, "scope")), (true, 2), "{report:?}");
}

#[tokio::test]
async fn crawl_by_links_starts_at_the_path_and_stays_below() {
    let site = TestSite::new();
    site.robots("");
    site.html("/", &body("Home", "Text <a href=/docs/x>x</a> <a href=/blog>b</a>."));
    site.html("/docs/", &body("Docs", "Text <a href=/docs/a>a</a> <a href=/blog>b</a>."));
    site.html("/docs/a", &body("A", "Text of a."));
    site.html("/docs/x", &body("X", "Text of x."));
    site.html("/blog", &body("Blog", "Text of the blog."));
    let report = site.sync_with(below("/docs/")).await.unwrap();
    let has_content = |path: &str| withheld(&site, path).is_none();
    assert_eq!(site.paths(), ["/", "/docs/", "/docs/a", "/docs/x"]);
    assert!(has_content("/docs/") && has_content("/docs/a") && has_content("/docs/x"));
    // The home page only has links.
    assert_eq!(withheld(&site, "/"), Some(WithheldReason::Scope));
    assert_eq!(left_out(&report, "scope"), 1, "{report:?}");
}

#[tokio::test]
async fn narrower_scope_removes_most_content_only_if_allowed() {
    let site = TestSite::new();
    site.robots("");
    let paths: Vec<String> =
        (0..30).map(|n| format!("/{}/{n}", if n < 5 { "docs" } else { "x" })).collect();
    for path in &paths {
        site.html(path, &body(path, "Text of the page."));
    }
    let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.sitemap(&[], &listed);
    assert_eq!(site.sync().await.added, 30);
    let error = site.sync_with(below("/docs")).await.unwrap_err();
    let is_told = matches!(error, SyncError::Scope { outside: 25, pages: 30, .. });
    assert!(is_told, "{error:?}");
    assert_eq!(site.stored_pages().iter().filter(|(_, _, line)| line.is_some()).count(), 30);
    let start = site.store.cursor().unwrap();
    let allowed = SyncOptions { mass_deletion: MassDeletionPolicy::Allowed, ..below("/docs") };
    let report = site.sync_with(allowed).await.unwrap();
    // Nothing is removed, and the history lists each page.
    assert_eq!((report.pages, report.withheld, report.removed), (30, 25, 0), "{report:?}");
    let events = site.store.changes_since(Some(start), 100).unwrap().events;
    assert!(events.iter().all(|event| event.kind == ChangeKind::Withheld) && events.len() == 25);
    // The wider scope stores them again.
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld), (25, 0), "{report:?}");
}

#[tokio::test]
async fn language_limits_collections_and_pages() {
    let german = |rules: &str| {
        options(ScopeRules { languages: vec![rules.to_owned()], ..ScopeRules::default() })
    };
    let site = TestSite::new();
    site.robots("");
    site.html("/en", &body("English", "Text of the page."));
    let page =
        format!("<!doctype html><html lang=de>{}</html>", body("Deutsch", "Text der Seite."));
    site.file("/de", "text/html", page);
    site.sitemap(&[], &["/en", "/de"]);
    let report = site.sync_with(german("de")).await.unwrap();
    assert_eq!((report.added, report.withheld), (1, 1), "{report:?}");
    assert_eq!(withheld(&site, "/en"), Some(WithheldReason::Scope));
    // From then on, pages outside are requested with their ETag.
    let before = site.server.seen().len();
    assert!(site.sync_with(german("de")).await.unwrap().is_quiet());
    let seen = site.server.seen().split_off(before);
    let asked = seen.iter().find(|seen| seen.path == "/en").unwrap();
    assert!(asked.header("if-none-match").is_some(), "{asked:?}");
    let report = site.sync_with(german("en")).await.unwrap();
    assert_eq!(
        (report.added, withheld(&site, "/de")),
        (1, Some(WithheldReason::Scope)),
        "{report:?}"
    );

    let site = TestSite::new();
    site.robots("");
    let snapshot = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[snapshot], &["/a"]);
    let report = site.sync_with(german("de")).await.unwrap();
    assert_eq!((report.added, report.withheld), (0, 1), "{report:?}");
}

#[tokio::test]
async fn links_are_followed_beside_a_sitemap_and_unlisted_pages_are_reported() {
    let site = TestSite::new();
    site.robots("");
    site.html("/a", &body("A", "Text <a href=/hidden>h</a>."));
    site.html("/hidden", &body("Hidden", "Text <a href=/deeper>d</a>."));
    site.html("/deeper", &body("Deeper", "Text of the page."));
    site.html("/b", &body("B", "Text of the page."));
    site.sitemap(&[], &["/a", "/b"]);
    assert_eq!(site.sync().await.pages, 2);
    let follow = || SyncOptions { follows_links: true, ..SyncOptions::default() };
    // Unchanged pages show no links.
    site.html("/a", &body("A", "New text <a href=/hidden>h</a>."));
    let report = site.sync_with(follow()).await.unwrap();
    assert_eq!(site.paths(), ["/a", "/b", "/deeper", "/hidden"], "{report:?}");
    let unlisted = ["http://harbour.example/deeper", "http://harbour.example/hidden"];
    assert_eq!((report.n_unlisted, report.unlisted), (2, unlisted.map(str::to_owned).to_vec()));
    // They stay, and are reported again.
    let report = site.sync_with(follow()).await.unwrap();
    assert_eq!((report.n_unlisted, report.is_quiet()), (2, true), "{report:?}");
    // A missing page is removed.
    site.server.route("/deeper", [rutter_testkit::server::Reply::status(404)]);
    let report = site.sync_with(follow()).await.unwrap();
    assert_eq!((report.removed, report.n_unlisted), (1, 1), "{report:?}");
}
