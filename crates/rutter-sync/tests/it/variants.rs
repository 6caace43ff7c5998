//! Several URLs of one page: one is stored, the others are listed as aliases.

use rutter_store::prelude::*;
use rutter_sync::{SyncOptions, list_left_out};
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, body};

/// Aliases with the pages that they belong to.
fn aliases(site: &TestSite) -> Vec<(String, String)> {
    let publisher = site.store.publishers().unwrap()[0].id;
    let listed = list_left_out(site.store.as_ref(), publisher, None, 1000).unwrap();
    let short = |url: &str| url.replace("http://harbour.example", "");
    let aliases = listed.iter().filter(|it| it.why.code() == "alias");
    aliases.map(|it| (short(&it.url), short(it.why.detail().unwrap_or("?")))).collect()
}

fn pair(alias: &str, page: &str) -> (String, String) {
    (alias.to_owned(), page.to_owned())
}

#[tokio::test]
async fn session_and_tracking_parameters_name_no_other_page() {
    let site = TestSite::new();
    let links = [
        "/a;jsessionid=1F2E",
        "/a?utm_source=x&amp;utm_medium=y",
        "/b;JSESSIONID=9?q=1",
        "/b?q=1&amp;fbclid=2",
        "/c?phpsessid=3",
        "/m;v=2",
    ];
    let anchors: String = links.iter().map(|it| format!("<a href=\"{it}\">link</a> ")).collect();
    site.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
    for path in ["/a", "/b?q=1", "/c", "/m;v=2"] {
        site.html(path, &body(path, &format!("Text of {path}.")));
    }
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/a", "/b?q=1", "/c", "/m;v=2"]);
    assert_eq!(
        aliases(&site),
        [
            pair("/a;jsessionid=1F2E", "/a"),
            pair("/a?utm_source=x&utm_medium=y", "/a"),
            pair("/b;JSESSIONID=9?q=1", "/b?q=1"),
            pair("/b?q=1&fbclid=2", "/b?q=1"),
            pair("/c?phpsessid=3", "/c"),
        ]
    );
}

#[tokio::test]
async fn case_and_slash_variants_are_one_page_where_there_is_evidence() {
    let site = TestSite::new();
    let paths = [
        "/Docs/",
        "/docs",
        "/docs/",
        "/Other",
        "/other",
        "/same",
        "/same/",
        "/x",
        "/index.html",
        "/",
    ];
    site.sitemap(&[], &paths);
    let canonical =
        |to: &str, text: &str| format!("<link rel=canonical href=\"{to}\">{}", body("Page", text));
    for path in ["/Docs/", "/docs", "/docs/"] {
        site.html(path, &canonical("/docs/", "Text about docs."));
    }
    // Different content: two pages. Equal content: one page.
    site.html("/Other", &body("Other", "Text of one."))
        .html("/other", &body("Other", "Text of two."));
    site.html("/same", &body("Same", "Same text.")).html("/same/", &body("Same", "Same text."));
    // A canonical link to an unrelated page is no evidence.
    site.html("/x", &canonical("/", "Text that only this page has."));
    site.html("/", &body("Home", "Text of the home page."));
    let home = body("Home", "Text of the home page.");
    site.html("/index.html", &format!("<link rel=canonical href=/>{home}"));
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/Other", "/docs/", "/other", "/same", "/x"]);
    assert_eq!(
        aliases(&site),
        [
            pair("/Docs/", "/docs/"),
            pair("/docs", "/docs/"),
            pair("/index.html", "/"),
            pair("/same/", "/same"),
        ]
    );
    // The result does not change.
    assert!(site.sync().await.is_quiet());
    assert_eq!(aliases(&site).len(), 4);
}

#[tokio::test]
async fn copy_with_canonical_link_is_an_alias() {
    let site = TestSite::new();
    site.sitemap(&[], &["/boat/", "/print/boat", "/other", "/p2"]);
    let page = |text: &str| format!("<link rel=canonical href=/boat/>{}", body("Boat", text));
    site.html("/boat/", &page("Text about a boat."));
    site.html("/print/boat", &page("Text about a boat."));
    // Different content: the link is ignored.
    site.html("/other", &page("Text about something else.")).html("/p2", &page("Page two."));
    site.sync().await;
    assert_eq!(site.paths(), ["/boat/", "/other", "/p2"]);
    assert_eq!(aliases(&site), [pair("/print/boat", "/boat/")]);
    assert!(site.sync().await.is_quiet());
    assert_eq!(site.paths(), ["/boat/", "/other", "/p2"]);
}

#[tokio::test]
async fn canonical_page_that_no_list_has_is_fetched() {
    let site = TestSite::new();
    site.sitemap(&[], &["/docs"]);
    for path in ["/docs", "/docs/"] {
        let page = format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text about docs."));
        site.html(path, &page);
    }
    for _ in 0..2 {
        let report = site.sync().await;
        assert_eq!((site.paths(), report.removed), (vec!["/docs/".to_owned()], 0));
    }
}

#[tokio::test]
async fn page_whose_canonical_url_is_no_page_is_stored() {
    let site = TestSite::new();
    let canonical =
        |to: &str, text: &str| format!("<link rel=canonical href=\"{to}\">{}", body("Page", text));
    site.sitemap(&[], &["/moved", "/lost", "/tls", "/list?page=2", "/one", "/One"]);
    // To a URL that redirects back, to a missing one, to another scheme.
    site.html("/moved", &canonical("/moved/", "Text of the page that moved."));
    site.server.route("/moved/", [Reply::redirect(301, "http://harbour.example/moved")]);
    site.html("/lost", &canonical("/lost/index.html", "Text of the page that is lost."));
    site.html("/tls", &canonical("https://harbour.example/tls", "Text of the page by TLS."));
    // To a page with different text.
    site.html("/list?page=2", &canonical("/list", "Text of the second piece."));
    site.html("/list", &canonical("/list", "Text of the first piece."));
    // To each other.
    site.html("/one", &canonical("/One", "Text of one."))
        .html("/One", &canonical("/one", "Text of one."));
    let wanted = ["/One", "/list", "/list?page=2", "/lost", "/moved", "/tls"];
    for n in 0..3 {
        let report = site.sync().await;
        assert_eq!((site.paths(), report.removed), (wanted.map(str::to_owned).to_vec(), 0), "{n}");
    }
    assert_eq!(aliases(&site), [pair("/one", "/One")]);
}

#[tokio::test]
async fn alias_is_stored_once_its_canonical_page_is_gone() {
    let site = TestSite::new();
    site.sitemap(&[], &["/docs", "/docs/", "/a", "/b"]);
    let docs = format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text about docs."));
    site.html("/docs", &docs).html("/docs/", &docs);
    for path in ["/a", "/b"] {
        site.html(path, &body(path, &format!("Text of {path}.")));
    }
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b", "/docs/"]);
    site.server.route("/docs/", [Reply::status(404)]);
    site.sync().await;
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b", "/docs"]);
}

#[tokio::test]
async fn parameters_of_listed_urls_are_kept() {
    let site = TestSite::new();
    let paths = ["/story?sid=0", "/story?sid=1", "/talk?session_id=7&amp;utm_source=list"];
    site.sitemap(&[], &paths);
    for path in paths {
        let path = path.replace("&amp;", "&");
        site.html(&path, &body(&path, &format!("Text of {path}.")));
    }
    for _ in 0..2 {
        assert_eq!(site.sync().await.removed, 0);
        let wanted = ["/story?sid=0", "/story?sid=1", "/talk?session_id=7&utm_source=list"];
        assert_eq!(site.paths(), wanted);
    }
}

#[tokio::test]
async fn page_that_a_listed_url_stands_for_is_listed() {
    let site = TestSite::new();
    site.sitemap(&[], &["/", "/docs", "/old", "/a?utm_source=list"]);
    site.html("/", &body("Home", "Text of the home page. <a href=/a>a</a> <a href=/b>b</a>"));
    for path in ["/docs", "/docs/"] {
        site.html(path, &format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text.")));
    }
    site.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    for path in ["/new", "/b"] {
        site.html(path, &body(path, &format!("Text of {path}.")));
    }
    for path in ["/a", "/a?utm_source=list"] {
        site.html(path, &format!("<link rel=canonical href=/a>{}", body("A", "Text of a.")));
    }
    for _ in 0..2 {
        let options = SyncOptions { follows_links: true, ..SyncOptions::default() };
        let report = site.sync_with(options).await.unwrap();
        assert_eq!(site.paths(), ["/", "/a", "/b", "/docs/", "/new"]);
        assert_eq!(report.unlisted, ["http://harbour.example/b"]);
    }
}
