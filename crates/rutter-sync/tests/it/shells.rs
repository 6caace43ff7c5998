//! Pages without content of their own: for scripts and for logins.

use rutter_store::{Store, Withheld};

use crate::bay::{Bay, body};

#[tokio::test]
async fn shells_are_withheld() {
    let bay = Bay::new();
    let script = "<title>App</title><div id=root></div><script src=/app.js></script>";
    let noscript = "<title>App</title><noscript>You need to enable JavaScript to run this app.\
                    </noscript><div id=root></div><script src=/app.js></script>";
    let login = "<title>Sign in</title><main><h1>Sign in</h1><form><label>Name <input name=n>\
                 </label><label>Password <input type=password></label><button>Sign in</button>\
                 </form></main>";
    let short = "<title>Short</title><main><h1>Short</h1><p>Closed on Sundays.</p></main>\
                 <script src=/count.js></script>";
    bay.sitemap(&[], &["/script", "/noscript", "/login", "/short"]);
    for (path, page) in
        [("/script", script), ("/noscript", noscript), ("/login", login), ("/short", short)]
    {
        bay.html(path, page);
    }
    bay.visit().await;
    let of = |path: &str| bay.store.page(&format!("http://harbour.example{path}")).unwrap();
    for path in ["/script", "/noscript", "/login"] {
        let row = of(path).unwrap_or_else(|| panic!("{path} is reported"));
        assert_eq!(row.withheld.map(Withheld::word), Some("shell"), "{path}");
    }
    assert_eq!(of("/short").unwrap().withheld, None);
    // It gets content.
    bay.html("/script", &body("App", "Text of the app, written by the server."));
    assert_eq!(bay.visit().await.added, 1);
    assert_eq!(of("/script").unwrap().withheld, None);
}

#[tokio::test]
async fn short_page_with_text_of_its_own_is_no_shell() {
    let bay = Bay::new();
    let login = "<form><label>Password <input type=\"password\"></label></form>";
    let script = "<script src=/count.js></script>";
    let pages = [
        ("/contact", format!("<header>{login}</header>{}", body("Contact", "Call 555 0100."))),
        ("/forms", body("Forms", "Write <code>&lt;input type=\"password\"&gt;</code>.")),
        ("/scripts", body("What is JavaScript?", "JavaScript is a language.") + script),
    ];
    bay.sitemap(&[], &pages.each_ref().map(|(path, _)| *path));
    for (path, page) in &pages {
        bay.html(path, page);
    }
    bay.visit().await;
    for (path, _) in &pages {
        let row = bay.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap();
        assert_eq!(row.withheld, None, "{path}");
    }
}
