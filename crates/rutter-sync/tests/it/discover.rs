//! Discovery of sites of every kind.

mod access_methods;
mod announcements;
mod hostile;
mod repeated_runs;

use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::test_util::{FakeNetwork, FakeResolver, ManualClock};
use rutter_fetch::{Client, ClientSettings, Clock, Environment, FetchError, Url};
use rutter_page::Timestamp;
use rutter_sync::discover::{
    Discovery, DiscoveryCache, DiscoveryLimits, DiscoverySource, LookupOutcome, discover,
};
use rutter_testkit::server::{Reply, Server, TestClock};

const HARBOUR: &str = "93.184.216.34";
const SITE: &str = "http://harbour.example/";

/// A scripted site and a client for it.
struct TestSite {
    server: Server,
    clock: ManualClock,
    names: FakeResolver,
    lines: FakeNetwork,
}

impl TestSite {
    fn new() -> Self {
        let clock = ManualClock::new(Timestamp::parse("2027-01-01T00:00:00Z").unwrap());
        let (now, advance, armed) = (clock.clone(), clock.clone(), clock.clone());
        let server = Server::start(TestClock {
            now: Arc::new(move || now.monotonic()),
            advance: Arc::new(move |by| advance.advance(by)),
            armed: Arc::new(move || armed.armed()),
        });
        let (names, lines) = (FakeResolver::default(), FakeNetwork::default());
        names.add("harbour.example", &[HARBOUR]);
        lines.route(&format!("{HARBOUR}:80"), server.address());
        Self { server, clock, names, lines }
    }

    fn client(&self) -> Client {
        let settings = ClientSettings {
            allow_http: true,
            pace: Duration::ZERO,
            seed: Some(1),
            ..ClientSettings::default()
        };
        let environment = Environment {
            clock: Arc::new(self.clock.clone()),
            resolver: Arc::new(self.names.clone()),
            dialer: Arc::new(self.lines.clone()),
            log: Arc::new(()),
        };
        Client::new(settings, environment)
    }

    async fn discover_with(&self, cache: &DiscoveryCache) -> Result<Discovery, FetchError> {
        self.discover_within(cache, DiscoveryLimits::BRIEF).await
    }

    async fn discover_within(
        &self,
        cache: &DiscoveryCache,
        bounds: DiscoveryLimits,
    ) -> Result<Discovery, FetchError> {
        let site = Url::parse(SITE).unwrap();
        discover(&self.client(), &site, cache, bounds, &mut ()).await
    }

    async fn discover(&self) -> Discovery {
        self.discover_with(&DiscoveryCache::default()).await.unwrap()
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

/// Returns a sitemap with these child elements.
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

/// Returns the outcome for a path, and how it was discovered.
fn outcome<'d>(found: &'d Discovery, path: &str) -> Option<(&'d LookupOutcome, DiscoverySource)> {
    let url = format!("http://harbour.example{path}");
    found.lookups.iter().find(|look| look.url == url).map(|look| (&look.outcome, look.source))
}

fn codes(found: &Discovery) -> Vec<&'static str> {
    found.findings.iter().map(|(_, finding)| finding.rule.code).collect()
}
