//! Pages without content of their own: script shells and logins.

use rutter_store::WithheldReason;
use rutter_store::prelude::*;

use crate::test_site::{TestSite, body};

#[tokio::test]
async fn shells_are_withheld() {
    let site = TestSite::new();
    let script = "<title>App</title><div id=root></div><script src=/app.js></script>";
    let noscript = "<title>App</title><noscript>You need to enable JavaScript to run this app.\
                    </noscript><div id=root></div><script src=/app.js></script>";
    let login = "<title>Sign in</title><main><h1>Sign in</h1><form><label>Name <input name=n>\
                 </label><label>Password <input type=password></label><button>Sign in</button>\
                 </form></main>";
    let short = "<title>Short</title><main><h1>Short</h1><p>Closed on Sundays.</p></main>\
                 <script src=/count.js></script>";
    let heading = "<title>App</title><h1>App</h1><script src=/app.js></script>";
    let loading = "<title>App</title><div id=app><p>Loading</p></div><script src=/app.js></script>";
    let pages = [
        ("/script", script),
        ("/noscript", noscript),
        ("/login", login),
        ("/short", short),
        ("/heading", heading),
        ("/loading", loading),
    ];
    site.sitemap(&[], &pages.map(|(path, _)| path));
    for (path, page) in pages {
        site.html(path, page);
    }
    site.sync().await;
    let of = |path: &str| site.store.page(&format!("http://harbour.example{path}")).unwrap();
    for path in ["/script", "/noscript", "/login", "/heading", "/loading"] {
        let row = of(path).unwrap_or_else(|| panic!("{path} is reported"));
        assert_eq!(row.withheld.map(WithheldReason::word), Some("shell"), "{path}");
    }
    assert_eq!(of("/short").unwrap().withheld, None);
    // The page gets content.
    site.html("/script", &body("App", "Text of the app, written by the server."));
    assert_eq!(site.sync().await.added, 1);
    assert_eq!(of("/script").unwrap().withheld, None);
}

#[tokio::test]
async fn short_page_with_text_of_its_own_is_no_shell() {
    let site = TestSite::new();
    let login = "<form><label>Password <input type=\"password\"></label></form>";
    let script = "<script src=/count.js></script>";
    let pages = [
        ("/contact", format!("<header>{login}</header>{}", body("Contact", "Call 555 0100."))),
        ("/forms", body("Forms", "Write <code>&lt;input type=\"password\"&gt;</code>.")),
        ("/scripts", body("What is JavaScript?", "JavaScript is a language.") + script),
    ];
    site.sitemap(&[], &pages.each_ref().map(|(path, _)| *path));
    for (path, page) in &pages {
        site.html(path, page);
    }
    site.sync().await;
    for (path, _) in &pages {
        let row = site.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap();
        assert_eq!(row.withheld, None, "{path}");
    }
}

#[tokio::test]
async fn text_of_a_shell_is_stored_from_the_data_of_the_page() {
    let site = TestSite::new();
    let text = "The gate opens two hours before high water and closes one hour after it. Boats \
                that miss it wait at the pontoon outside, where there is room for nine of them. \
                The keeper listens on channel 11, day and night, in every season.";
    let state = serde_json::json!({ "props": { "pageProps": { "title": "Gate", "body": text } } });
    let page = format!(
        "<title>Gate</title><div id=__next></div><script id=__NEXT_DATA__ \
         type=application/json>{state}</script><script src=/_next/a.js></script>"
    );
    site.sitemap(&[], &["/gate"]);
    site.html("/gate", &page);
    site.sync().await;
    let key = "http://harbour.example/gate";
    assert_eq!(site.store.page(key).unwrap().unwrap().withheld, None);
    let line = site.store.line(key).unwrap().unwrap();
    assert!(line.contains("closes one hour after it"), "{line}");
}
