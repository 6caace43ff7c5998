//! Redirects that do not end, and folders that stay empty.

use rutter_sync::Kind;
use rutter_testkit::server::Reply;

use crate::bay::{Bay, body};

#[tokio::test]
async fn redirects_that_do_not_end_cost_few_requests() {
    let bay = Bay::new();
    for n in 0..20 {
        let next = format!("http://harbour.example/e{}", n + 1);
        bay.server.route(&format!("/e{n}"), [Reply::redirect(302, &next)]);
    }
    bay.server.fallback(Reply::redirect(302, "http://harbour.example/e0"));
    bay.robots("user-agent: *\nallow: /\n");
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
    assert!(bay.server.seen().len() <= 30, "{}", bay.server.seen().len());
}

#[tokio::test]
async fn redirect_chains_that_differ_each_time_cost_few_requests() {
    let bay = Bay::new();
    bay.robots("user-agent: *\nallow: /\n");
    let paths: Vec<String> = (0..10).map(|n| format!("/p{n}")).collect();
    bay.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    for path in &paths {
        bay.server.route(path, [Reply::redirect(302, &format!("http://harbour.example{path}-0"))]);
        for n in 0..8 {
            let (from, to) = (format!("{path}-{n}"), format!("{path}-{}", n + 1));
            let to = format!("http://harbour.example{to}");
            bay.server.route(&from, [Reply::redirect(302, &to)]);
        }
    }
    bay.visit().await;
    let n_asked = bay.server.paths().iter().filter(|path| path.starts_with("/p")).count();
    assert!(n_asked <= 2 * 6 + 8 * 3, "{n_asked}");
    // A short chain is always followed, and shows that the host works again.
    bay.server.route("/p0", [Reply::redirect(302, "http://harbour.example/new")]);
    bay.html("/new", &body("New", "Text of this page."));
    assert_eq!(bay.visit().await.added, 1);
}

#[tokio::test]
async fn spool_has_no_folder_for_a_site_without_files() {
    let bay = Bay::new();
    // A crawl by links remembers nothing where all was followed; a site
    // without anything leaves no folder either.
    bay.robots("user-agent: *\nallow: /\n");
    bay.visit().await;
    let left = std::fs::read_dir(bay.spools()).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}
