//! Sites of every kind, looked at from outside.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod hostile;
mod places;
mod rungs;
mod visits;

use std::sync::Arc;
use std::time::Duration;

use rutter_discover::{Bounds, Clue, Discovery, Memory, Outcome, discover};
use rutter_fetch::rehearse::{ManualClock, Names, Switchboard};
use rutter_fetch::{Client, Clock, FetchError, Means, Settings, Url};
use rutter_page::Timestamp;
use rutter_testkit::server::{Hands, Reply, Server};

const HARBOUR: &str = "93.184.216.34";
const SITE: &str = "http://harbour.example/";

/// A site and a client that visits it.
struct Bay {
    server: Server,
    clock: ManualClock,
    names: Names,
    lines: Switchboard,
}

impl Bay {
    fn new() -> Self {
        let clock = ManualClock::new(Timestamp::parse("2027-01-01T00:00:00Z").unwrap());
        let (now, advance, armed) = (clock.clone(), clock.clone(), clock.clone());
        let server = Server::start(Hands {
            now: Arc::new(move || now.moment()),
            advance: Arc::new(move |by| advance.advance(by)),
            armed: Arc::new(move || armed.armed()),
        });
        let (names, lines) = (Names::default(), Switchboard::default());
        names.add("harbour.example", &[HARBOUR]);
        lines.lead(&format!("{HARBOUR}:80"), server.address());
        Self { server, clock, names, lines }
    }

    fn client(&self) -> Client {
        let settings = Settings {
            allow_http: true,
            pace: Duration::ZERO,
            seed: Some(1),
            ..Settings::default()
        };
        let means = Means {
            clock: Arc::new(self.clock.clone()),
            resolver: Arc::new(self.names.clone()),
            dialer: Arc::new(self.lines.clone()),
            log: Arc::new(()),
        };
        Client::new(settings, means)
    }

    async fn visit(&self, memory: &Memory) -> Result<Discovery, FetchError> {
        self.visit_with(memory, Bounds::LOOK).await
    }

    async fn visit_with(&self, memory: &Memory, bounds: Bounds) -> Result<Discovery, FetchError> {
        let site = Url::parse(SITE).unwrap();
        discover(&self.client(), &site, memory, bounds, &mut ()).await
    }

    async fn look(&self) -> Discovery {
        self.visit(&Memory::default()).await.unwrap()
    }

    fn robots(&self, text: &str) -> &Self {
        self.server.route("/robots.txt", [Reply::ok("text/plain", text)]);
        self
    }

    fn xml(&self, path: &str, text: &str) -> &Self {
        self.server.route(path, [Reply::file("application/xml", "\"1\"", text)]);
        self
    }

    fn file(&self, path: &str, media_type: &str, text: &str) -> &Self {
        self.server.route(path, [Reply::file(media_type, "\"1\"", text)]);
        self
    }
}

/// A sitemap with these children of its root.
fn urlset(inner: &str) -> String {
    format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">{inner}</urlset>"
    )
}

fn index(children: &[&str]) -> String {
    let inner: Vec<String> = children
        .iter()
        .map(|child| format!("<sitemap><loc>http://harbour.example{child}</loc></sitemap>"))
        .collect();
    format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</sitemapindex>",
        inner.concat()
    )
}

fn entry(path: &str) -> String {
    format!("<url><loc>http://harbour.example{path}</loc></url>")
}

fn collection(url: &str, generated: &str) -> String {
    format!(
        "<scp:collection section=\"all\" type=\"snapshot\" url=\"{url}\" generated=\"{generated}\" \
         expires=\"2028-01-01T00:00:00Z\" pages=\"5\" size=\"1000\"/>"
    )
}

fn arc() -> &'static str {
    r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example","generated_at":"2026-12-01T00:00:00Z",
       "crawl_rate":"1/s","pages":[{"url":"http://harbour.example/a","ai_indexable":true},
       {"url":"http://harbour.example/b","ai_indexable":false}]}"#
}

fn spxi() -> &'static str {
    r#"{"@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"},
       "@type":"spxi:SemanticIndex","@id":"http://harbour.example/spxi-index.jsonld"}"#
}

/// What came of looking at a place.
fn outcome<'d>(found: &'d Discovery, path: &str) -> Option<(&'d Outcome, Clue)> {
    let url = format!("http://harbour.example{path}");
    found.looks.iter().find(|look| look.url == url).map(|look| (&look.outcome, look.by))
}

fn codes(found: &Discovery) -> Vec<&'static str> {
    found.findings.iter().map(|(_, finding)| finding.rule.code).collect()
}
