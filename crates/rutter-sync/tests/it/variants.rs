//! Several URLs of one page: one is stored, the others are listed as aliases.

use rutter_store::Store;
use rutter_sync::{Options, left_out};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, body};

/// Aliases and the pages they stand for.
fn aliases(bay: &Bay) -> Vec<(String, String)> {
    let publisher = bay.store.publishers().unwrap()[0].id;
    let listed = left_out(bay.store.as_ref(), publisher, None, 1000).unwrap();
    let short = |url: &str| url.replace("http://harbour.example", "");
    let aliases = listed.iter().filter(|it| it.why.code() == "alias");
    aliases.map(|it| (short(&it.url), short(it.why.detail().unwrap_or("?")))).collect()
}

fn pair(alias: &str, page: &str) -> (String, String) {
    (alias.to_owned(), page.to_owned())
}

#[tokio::test]
async fn session_and_tracking_parameters_name_no_other_page() {
    let bay = Bay::new();
    let links = [
        "/a;jsessionid=1F2E",
        "/a?utm_source=x&amp;utm_medium=y",
        "/b;JSESSIONID=9?q=1",
        "/b?q=1&amp;fbclid=2",
        "/c?phpsessid=3",
        "/m;v=2",
    ];
    let anchors: String = links.iter().map(|it| format!("<a href=\"{it}\">link</a> ")).collect();
    bay.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
    for path in ["/a", "/b?q=1", "/c", "/m;v=2"] {
        bay.html(path, &body(path, &format!("Text of {path}.")));
    }
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/a", "/b?q=1", "/c", "/m;v=2"]);
    assert_eq!(
        aliases(&bay),
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
    let bay = Bay::new();
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
    bay.sitemap(&[], &paths);
    let canonical =
        |to: &str, text: &str| format!("<link rel=canonical href=\"{to}\">{}", body("Page", text));
    for path in ["/Docs/", "/docs", "/docs/"] {
        bay.html(path, &canonical("/docs/", "Text about docs."));
    }
    // Different content: two pages. The same content: one.
    bay.html("/Other", &body("Other", "Text of one."))
        .html("/other", &body("Other", "Text of two."));
    bay.html("/same", &body("Same", "Same text.")).html("/same/", &body("Same", "Same text."));
    // A canonical link to an unrelated page is no evidence.
    bay.html("/x", &canonical("/", "Text that only this page has."));
    bay.html("/", &body("Home", "Text of the home page."));
    let home = body("Home", "Text of the home page.");
    bay.html("/index.html", &format!("<link rel=canonical href=/>{home}"));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/Other", "/docs/", "/other", "/same", "/x"]);
    assert_eq!(
        aliases(&bay),
        [
            pair("/Docs/", "/docs/"),
            pair("/docs", "/docs/"),
            pair("/index.html", "/"),
            pair("/same/", "/same"),
        ]
    );
    // They stay what they are.
    assert!(bay.visit().await.is_quiet());
    assert_eq!(aliases(&bay).len(), 4);
}

#[tokio::test]
async fn a_copy_that_names_another_page_as_canonical_is_its_alias() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/boat/", "/print/boat", "/other", "/p2"]);
    let page = |text: &str| format!("<link rel=canonical href=/boat/>{}", body("Boat", text));
    bay.html("/boat/", &page("Text about a boat."));
    bay.html("/print/boat", &page("Text about a boat."));
    // Other content: the link is not believed.
    bay.html("/other", &page("Text about something else.")).html("/p2", &page("Page two."));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/boat/", "/other", "/p2"]);
    assert_eq!(aliases(&bay), [pair("/print/boat", "/boat/")]);
    assert!(bay.visit().await.is_quiet());
    assert_eq!(bay.paths(), ["/boat/", "/other", "/p2"]);
}

#[tokio::test]
async fn canonical_page_that_no_list_has_is_fetched() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/docs"]);
    for path in ["/docs", "/docs/"] {
        let page = format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text about docs."));
        bay.html(path, &page);
    }
    for _ in 0..2 {
        let report = bay.visit().await;
        assert_eq!((bay.paths(), report.removed), (vec!["/docs/".to_owned()], 0));
    }
}

#[tokio::test]
async fn page_whose_canonical_url_is_no_page_is_stored() {
    let bay = Bay::new();
    let canonical =
        |to: &str, text: &str| format!("<link rel=canonical href=\"{to}\">{}", body("Page", text));
    bay.sitemap(&[], &["/moved", "/lost", "/tls", "/list?page=2", "/one", "/One"]);
    // To a URL that redirects back, to one that is not there, to another scheme.
    bay.html("/moved", &canonical("/moved/", "Text of the page that moved."));
    bay.server.route("/moved/", [Reply::redirect(301, "http://harbour.example/moved")]);
    bay.html("/lost", &canonical("/lost/index.html", "Text of the page that is lost."));
    bay.html("/tls", &canonical("https://harbour.example/tls", "Text of the page by TLS."));
    // To a page with other text.
    bay.html("/list?page=2", &canonical("/list", "Text of the second piece."));
    bay.html("/list", &canonical("/list", "Text of the first piece."));
    // To each other.
    bay.html("/one", &canonical("/One", "Text of one."))
        .html("/One", &canonical("/one", "Text of one."));
    let wanted = ["/One", "/list", "/list?page=2", "/lost", "/moved", "/tls"];
    for n in 0..3 {
        let report = bay.visit().await;
        assert_eq!((bay.paths(), report.removed), (wanted.map(str::to_owned).to_vec(), 0), "{n}");
    }
    assert_eq!(aliases(&bay), [pair("/one", "/One")]);
}

#[tokio::test]
async fn alias_is_stored_once_its_canonical_page_is_gone() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/docs", "/docs/", "/a", "/b"]);
    let docs = format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text about docs."));
    bay.html("/docs", &docs).html("/docs/", &docs);
    for path in ["/a", "/b"] {
        bay.html(path, &body(path, &format!("Text of {path}.")));
    }
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b", "/docs/"]);
    bay.server.route("/docs/", [Reply::status(404)]);
    bay.visit().await;
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b", "/docs"]);
}

#[tokio::test]
async fn parameters_of_listed_urls_are_kept() {
    let bay = Bay::new();
    let paths = ["/story?sid=0", "/story?sid=1", "/talk?session_id=7&amp;utm_source=list"];
    bay.sitemap(&[], &paths);
    for path in paths {
        let path = path.replace("&amp;", "&");
        bay.html(&path, &body(&path, &format!("Text of {path}.")));
    }
    for _ in 0..2 {
        assert_eq!(bay.visit().await.removed, 0);
        let wanted = ["/story?sid=0", "/story?sid=1", "/talk?session_id=7&utm_source=list"];
        assert_eq!(bay.paths(), wanted);
    }
}

#[tokio::test]
async fn page_that_a_listed_url_stands_for_is_listed() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/", "/docs", "/old", "/a?utm_source=list"]);
    bay.html("/", &body("Home", "Text of the home page. <a href=/a>a</a> <a href=/b>b</a>"));
    for path in ["/docs", "/docs/"] {
        bay.html(path, &format!("<link rel=canonical href=/docs/>{}", body("Docs", "Text.")));
    }
    bay.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    for path in ["/new", "/b"] {
        bay.html(path, &body(path, &format!("Text of {path}.")));
    }
    for path in ["/a", "/a?utm_source=list"] {
        bay.html(path, &format!("<link rel=canonical href=/a>{}", body("A", "Text of a.")));
    }
    for _ in 0..2 {
        let options = Options { follows_links: true, ..Options::default() };
        let report = bay.visit_with(options).await.unwrap();
        assert_eq!(bay.paths(), ["/", "/a", "/b", "/docs/", "/new"]);
        assert_eq!(report.unlisted, ["http://harbour.example/b"]);
    }
}
