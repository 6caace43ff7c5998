//! What plain HTML pages say of their own use is obeyed.

use std::time::Duration;

use rutter_store::{Store, Withheld};
use rutter_sync::TrainingTerms;
use rutter_testkit::server::Reply;

use crate::bay::{Bay, body};

fn withheld(bay: &Bay, path: &str) -> Option<Withheld> {
    bay.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap().withheld
}

#[tokio::test] // D56 D57 D58
async fn page_that_refuses_its_use_keeps_no_content() {
    let text = "<main><p>Text of this page.</p></main>";
    let cases = [
        (
            "/meta-indexable",
            format!("<meta name=ai-indexable content=false><title>T</title>{text}"),
        ),
        ("/indexable", "<title>T</title><main data-ai-indexable=false><p>Text.</p></main>".into()),
        ("/login", "<title>T</title><main data-ai-auth-required><p>Text.</p></main>".into()),
        ("/rutter", format!("<meta name=Rutter content=noindex><title>T</title>{text}")),
        ("/noarchive", format!("<meta name=robots content=noarchive><title>T</title>{text}")),
        ("/nosnippet", format!("<meta name=robots content=nosnippet><title>T</title>{text}")),
        (
            "/expired",
            format!(
                "<meta name=robots content=\"unavailable_after: 25 Jun 2010 15:00:00 GMT\">\
                 <title>T</title>{text}"
            ),
        ),
    ];
    let bay = Bay::new();
    let mut paths: Vec<&str> = cases.iter().map(|(path, _)| *path).collect();
    paths.extend(["/open", "/tag-1", "/tag-2", "/tag-3"]);
    bay.sitemap(&[], &paths);
    for (path, page) in &cases {
        bay.html(path, page);
    }
    let open = "<meta name=robots content=\"unavailable_after: 2040-01-01\">\
                <meta name=otherbot content=noindex><title>T</title>\
                <main data-ai-indexable=true><p>Text.</p></main>";
    bay.html("/open", open);
    let reply = Reply::ok("text/html", format!("<html lang=en><title>T</title>{text}"));
    for (path, tag) in [
        ("/tag-1", "noarchive"),
        ("/tag-2", "nosnippet"),
        ("/tag-3", "unavailable_after: 25 Jun 2010 15:00:00 GMT"),
    ] {
        bay.server.route(path, [reply.clone().with("X-Robots-Tag", tag)]);
    }
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld), (1, 10), "{report:?}");
    for path in paths {
        let wanted = (path != "/open").then_some(Withheld::Consent);
        assert_eq!(withheld(&bay, path), wanted, "{path}");
    }
}

#[tokio::test]
async fn training_that_is_forbidden_is_known_to_the_replica() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ncontent-signal: /docs/ ai-train=no\nallow: /\n");
    bay.sitemap(&[], &["/a", "/docs/b", "/c"]);
    bay.html("/a", &body("A", "Text of A.")).html("/docs/b", &body("B", "Text of B."));
    let page = format!("<html lang=en>{}", body("C", "Text of C."));
    let reply = Reply::ok("text/html", page);
    bay.server.route("/c", [reply.clone().with("Content-Signal", "search=yes, ai-train=no")]);
    assert_eq!(bay.visit().await.added, 3);
    let trains = |path: &str| {
        let publisher = bay.store.publishers().unwrap().remove(0);
        let key = format!("http://harbour.example{path}");
        TrainingTerms::of(&publisher).allows(bay.store.as_ref(), &key).unwrap()
    };
    assert_eq!([trains("/a"), trains("/docs/b"), trains("/c")], [None, Some(false), Some(false)]);
    // Taken back.
    bay.server.route("/c", [reply]);
    bay.robots("user-agent: *\nallow: /\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert_eq!([trains("/docs/b"), trains("/c")], [None, None]);
}
