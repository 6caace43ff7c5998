//! Endless redirects, and empty spool directories.

use rutter_sync::ProblemKind;
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, body};

#[tokio::test]
async fn redirects_that_do_not_end_cost_few_requests() {
    let site = TestSite::new();
    for n in 0..20 {
        let next = format!("http://harbour.example/e{}", n + 1);
        site.server.route(&format!("/e{n}"), [Reply::redirect(302, &next)]);
    }
    site.server.fallback(Reply::redirect(302, "http://harbour.example/e0"));
    site.robots("user-agent: *\nallow: /\n");
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
    assert!(site.server.seen().len() <= 30, "{}", site.server.seen().len());
}

#[tokio::test]
async fn redirect_chains_that_differ_each_time_cost_few_requests() {
    let site = TestSite::new();
    site.robots("user-agent: *\nallow: /\n");
    let paths: Vec<String> = (0..10).map(|n| format!("/p{n}")).collect();
    site.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    for path in &paths {
        site.server.route(path, [Reply::redirect(302, &format!("http://harbour.example{path}-0"))]);
        for n in 0..8 {
            let (from, to) = (format!("{path}-{n}"), format!("{path}-{}", n + 1));
            let to = format!("http://harbour.example{to}");
            site.server.route(&from, [Reply::redirect(302, &to)]);
        }
    }
    site.sync().await;
    let n_asked = site.server.paths().iter().filter(|path| path.starts_with("/p")).count();
    assert!(n_asked <= 2 * 6 + 8 * 3, "{n_asked}");
    // A short chain is followed, and shows that the host works.
    site.server.route("/p0", [Reply::redirect(302, "http://harbour.example/new")]);
    site.html("/new", &body("New", "Text of this page."));
    assert_eq!(site.sync().await.added, 1);
}

#[tokio::test]
async fn spool_has_no_folder_for_a_site_without_files() {
    let site = TestSite::new();
    // A crawl by links stores no open links if all were followed. A site without content
    // leaves no directory either.
    site.robots("user-agent: *\nallow: /\n");
    site.sync().await;
    let left = std::fs::read_dir(site.spools()).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}
