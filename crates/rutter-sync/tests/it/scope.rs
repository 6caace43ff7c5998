//! Syncs that are limited to a part of a site, and links beside a sitemap.

use rutter_scp::MassDeletion;
use rutter_store::{ChangeKind, Store, Withheld};
use rutter_sync::{LeftOut, Options, Scope, ScopeRules, VisitError};

use crate::bay::{Bay, Chained, body, state_of};

fn options(rules: ScopeRules) -> Options {
    Options { scope: Scope::new(rules).unwrap(), ..Options::default() }
}

fn below(prefix: &str) -> Options {
    options(ScopeRules { prefixes: vec![prefix.to_owned()], ..ScopeRules::default() })
}

fn withheld(bay: &Bay, path: &str) -> Option<Withheld> {
    let url = format!("http://harbour.example{path}");
    bay.store.page(&url).unwrap().unwrap().withheld
}

fn left_out(report: &rutter_sync::Report, code: &str) -> u64 {
    let of_code = report.left_out.iter().filter(|(why, _)| LeftOut::code(why) == code);
    of_code.map(|(_, n)| *n).sum()
}

#[tokio::test] // D95
async fn a_scope_keeps_the_state_of_a_section_provable() {
    let bay = Bay::new();
    bay.robots("");
    let pages = [("/docs/a", "a"), ("/docs/b", "b"), ("/blog/c", "c")];
    let snapshot = bay.chained(&Chained {
        day: 1,
        since: None,
        from: None,
        state: state_of(&pages),
        n_after: 3,
        pages: &pages,
        removed: &[],
    });
    bay.sitemap(std::slice::from_ref(&snapshot), &["/docs/a", "/docs/b", "/blog/c"]);
    let report = bay.visit_with(below("/docs")).await.unwrap();
    assert!(report.sections["all"].is_proved, "{report:?}");
    assert_eq!((report.pages, report.withheld, report.added), (3, 1, 2));
    assert_eq!(withheld(&bay, "/blog/c"), Some(Withheld::Scope));
    assert_eq!(bay.store.line("http://harbour.example/blog/c").unwrap(), None);
    // A delta that changes pages inside and outside.
    let after = [("/docs/a", "aaaa"), ("/docs/b", "b"), ("/blog/c", "cccc")];
    let delta = bay.chained(&Chained {
        day: 2,
        since: Some(1),
        from: Some(state_of(&pages)),
        state: state_of(&after),
        n_after: 3,
        pages: &[("/docs/a", "aaaa"), ("/blog/c", "cccc")],
        removed: &[],
    });
    bay.sitemap(&[snapshot, delta], &["/docs/a", "/docs/b", "/blog/c"]);
    let report = bay.visit_with(below("/docs")).await.unwrap();
    assert!(report.sections["all"].is_proved, "{report:?}");
    assert_eq!((report.changed, report.withheld, report.worst()), (1, 1, None));
    assert_eq!(withheld(&bay, "/blog/c"), Some(Withheld::Scope));
    // No page outside was asked for.
    assert!(!bay.server.paths().iter().any(|path| path.starts_with("/blog")));
    // A wider scope brings the content.
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld, report.worst()), (1, 0, None), "{report:?}");
    assert_eq!(withheld(&bay, "/blog/c"), None);
    assert!(report.sections["all"].is_proved, "{report:?}");
}

#[tokio::test]
async fn a_crawl_by_sitemap_asks_for_no_page_outside() {
    let bay = Bay::new();
    bay.robots("");
    for path in ["/docs/a", "/docs/old/b", "/blog/c"] {
        bay.html(path, &body(path, "Text of the page."));
    }
    bay.sitemap(&[], &["/docs/a", "/docs/old/b", "/blog/c"]);
    let rules = ScopeRules {
        include: vec!["/docs/**".to_owned()],
        exclude: vec!["/docs/old/".to_owned()],
        ..ScopeRules::default()
    };
    let report = bay.visit_with(options(rules.clone())).await.unwrap();
    assert_eq!(bay.paths(), ["/docs/a"]);
    assert_eq!(left_out(&report, "scope"), 2, "{report:?}");
    assert!(!bay.server.paths().iter().any(|path| path == "/blog/c" || path == "/docs/old/b"));
    // The same again is the same again.
    let report = bay.visit_with(options(rules)).await.unwrap();
    assert_eq!((report.is_quiet(), left_out(&report, "scope")), (true, 2), "{report:?}");
}

#[tokio::test]
async fn a_walk_by_links_starts_at_the_path_and_stays_below() {
    let bay = Bay::new();
    bay.robots("");
    bay.html("/", &body("Home", "Text <a href=/docs/x>x</a> <a href=/blog>b</a>."));
    bay.html("/docs/", &body("Docs", "Text <a href=/docs/a>a</a> <a href=/blog>b</a>."));
    bay.html("/docs/a", &body("A", "Text of a."));
    bay.html("/docs/x", &body("X", "Text of x."));
    bay.html("/blog", &body("Blog", "Text of the blog."));
    let report = bay.visit_with(below("/docs/")).await.unwrap();
    let has_content = |path: &str| withheld(&bay, path).is_none();
    assert_eq!(bay.paths(), ["/", "/docs/", "/docs/a", "/docs/x"]);
    assert!(has_content("/docs/") && has_content("/docs/a") && has_content("/docs/x"));
    // The home page only leads to others.
    assert_eq!(withheld(&bay, "/"), Some(Withheld::Scope));
    assert_eq!(left_out(&report, "scope"), 1, "{report:?}");
}

#[tokio::test]
async fn a_narrower_scope_takes_most_content_only_if_that_is_allowed() {
    let bay = Bay::new();
    bay.robots("");
    let paths: Vec<String> =
        (0..30).map(|n| format!("/{}/{n}", if n < 5 { "docs" } else { "x" })).collect();
    for path in &paths {
        bay.html(path, &body(path, "Text of the page."));
    }
    let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
    bay.sitemap(&[], &listed);
    assert_eq!(bay.visit().await.added, 30);
    let error = bay.visit_with(below("/docs")).await.unwrap_err();
    let is_told = matches!(error, VisitError::Scope { outside: 25, pages: 30, .. });
    assert!(is_told, "{error:?}");
    assert_eq!(bay.seen().iter().filter(|(_, _, line)| line.is_some()).count(), 30);
    let start = bay.store.cursor().unwrap();
    let allowed = Options { mass_deletion: MassDeletion::Allowed, ..below("/docs") };
    let report = bay.visit_with(allowed).await.unwrap();
    // Nothing is removed, and the history tells each page.
    assert_eq!((report.pages, report.withheld, report.removed), (30, 25, 0), "{report:?}");
    let events = bay.store.changes_since(Some(start), 100).unwrap().events;
    assert!(events.iter().all(|event| event.kind == ChangeKind::Withheld) && events.len() == 25);
    // The wider scope brings them back.
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld), (25, 0), "{report:?}");
}

#[tokio::test]
async fn a_language_limits_collections_and_pages() {
    let german = |rules: &str| {
        options(ScopeRules { languages: vec![rules.to_owned()], ..ScopeRules::default() })
    };
    let bay = Bay::new();
    bay.robots("");
    bay.html("/en", &body("English", "Text of the page."));
    let page =
        format!("<!doctype html><html lang=de>{}</html>", body("Deutsch", "Text der Seite."));
    bay.file("/de", "text/html", page);
    bay.sitemap(&[], &["/en", "/de"]);
    let report = bay.visit_with(german("de")).await.unwrap();
    assert_eq!((report.added, report.withheld), (1, 1), "{report:?}");
    assert_eq!(withheld(&bay, "/en"), Some(Withheld::Scope));
    // What is outside is asked for by its tag from then on.
    let before = bay.server.seen().len();
    assert!(bay.visit_with(german("de")).await.unwrap().is_quiet());
    let seen = bay.server.seen().split_off(before);
    let asked = seen.iter().find(|seen| seen.path == "/en").unwrap();
    assert!(asked.header("if-none-match").is_some(), "{asked:?}");
    let report = bay.visit_with(german("en")).await.unwrap();
    assert_eq!((report.added, withheld(&bay, "/de")), (1, Some(Withheld::Scope)), "{report:?}");

    let bay = Bay::new();
    bay.robots("");
    let snapshot = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[snapshot], &["/a"]);
    let report = bay.visit_with(german("de")).await.unwrap();
    assert_eq!((report.added, report.withheld), (0, 1), "{report:?}");
}

#[tokio::test]
async fn links_are_followed_beside_a_sitemap_and_unlisted_pages_are_reported() {
    let bay = Bay::new();
    bay.robots("");
    bay.html("/a", &body("A", "Text <a href=/hidden>h</a>."));
    bay.html("/hidden", &body("Hidden", "Text <a href=/deeper>d</a>."));
    bay.html("/deeper", &body("Deeper", "Text of the page."));
    bay.html("/b", &body("B", "Text of the page."));
    bay.sitemap(&[], &["/a", "/b"]);
    assert_eq!(bay.visit().await.pages, 2);
    let follow = || Options { follows_links: true, ..Options::default() };
    // What did not change says nothing of its links.
    bay.html("/a", &body("A", "New text <a href=/hidden>h</a>."));
    let report = bay.visit_with(follow()).await.unwrap();
    assert_eq!(bay.paths(), ["/a", "/b", "/deeper", "/hidden"], "{report:?}");
    let unlisted = ["http://harbour.example/deeper", "http://harbour.example/hidden"];
    assert_eq!((report.n_unlisted, report.unlisted), (2, unlisted.map(str::to_owned).to_vec()));
    // They stay, and are reported again.
    let report = bay.visit_with(follow()).await.unwrap();
    assert_eq!((report.n_unlisted, report.is_quiet()), (2, true), "{report:?}");
    // One that is gone goes.
    bay.server.route("/deeper", [rutter_testkit::server::Reply::status(404)]);
    let report = bay.visit_with(follow()).await.unwrap();
    assert_eq!((report.removed, report.n_unlisted), (1, 1), "{report:?}");
}
