//! A scripted site, and syncs of it with a manual clock.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rutter_fetch::test_util::{FakeNetwork, FakeResolver, ManualClock};
use rutter_fetch::{ClientSettings, Clock, Environment, FetchRecord, Url};
use rutter_page::{Digest, LineDigest, Timestamp};
use rutter_scp::SectionState;
use rutter_store::prelude::*;
use rutter_store::{MemoryStore, PageSelection};
use rutter_sync::{SyncError, SyncOptions, SyncReport, Syncer};
use rutter_testkit::server::{Reply, Server, ServerCertificate, TestClock, authority};

pub(crate) const HARBOUR: &str = "93.184.216.34";
pub(crate) const SITE: &str = "http://harbour.example/";

pub(crate) struct TestSite {
    pub(crate) server: Server,
    pub(crate) clock: ManualClock,
    pub(crate) names: FakeResolver,
    pub(crate) lines: FakeNetwork,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) log: Arc<Mutex<Vec<FetchRecord>>>,
    folder: tempfile::TempDir,
}

/// A stored page: URL, digest, content.
pub(crate) type StoredPage = (String, String, Option<String>);

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::with_server(80, Server::start)
    }

    /// A site on a loopback port, with its clock at another time.
    pub(crate) fn on_loopback(port: u16, now: &str) -> Self {
        let site = Self::new();
        site.lines.route(&format!("127.0.0.1:{port}"), site.server.address());
        Self { clock: ManualClock::new(Timestamp::parse(now).unwrap()), ..site }
    }

    /// A site that is served over https only.
    pub(crate) fn with_tls() -> Self {
        Self::with_server(443, |hands| Server::start_tls(hands, ServerCertificate::Good))
    }

    fn with_server(port: u16, start: impl FnOnce(TestClock) -> Server) -> Self {
        let clock = ManualClock::new(Timestamp::parse("2027-01-10T00:00:00Z").unwrap());
        let (now, advance, armed) = (clock.clone(), clock.clone(), clock.clone());
        let server = start(TestClock {
            now: Arc::new(move || now.monotonic()),
            advance: Arc::new(move |by| advance.advance(by)),
            armed: Arc::new(move || armed.armed()),
        });
        let (names, lines) = (FakeResolver::default(), FakeNetwork::default());
        names.add("harbour.example", &[HARBOUR]);
        lines.route(&format!("{HARBOUR}:{port}"), server.address());
        let (store, log) = (Arc::new(MemoryStore::new()), Arc::default());
        let folder = tempfile::tempdir().unwrap();
        Self { server, clock, names, lines, store, log, folder }
    }

    pub(crate) fn settings() -> ClientSettings {
        ClientSettings {
            allow_http: true,
            pace: Duration::ZERO,
            seed: Some(1),
            ..ClientSettings::default()
        }
    }

    pub(crate) fn syncer_with(&self, settings: ClientSettings, options: SyncOptions) -> Syncer {
        self.syncer_of(Arc::clone(&self.store) as Arc<dyn Store>, settings, options)
    }

    /// Returns a syncer for this site with another store.
    pub(crate) fn syncer_of(
        &self,
        store: Arc<dyn Store>,
        settings: ClientSettings,
        options: SyncOptions,
    ) -> Syncer {
        let environment = Environment {
            clock: Arc::new(self.clock.clone()),
            resolver: Arc::new(self.names.clone()),
            dialer: Arc::new(self.lines.clone()),
            log: Arc::clone(&self.log) as _,
        };
        Syncer::new(settings, environment, store, self.spools(), options)
    }

    pub(crate) fn spools(&self) -> PathBuf {
        self.folder.path().join("spools")
    }

    pub(crate) async fn try_sync(&self) -> Result<SyncReport, SyncError> {
        self.sync_with(SyncOptions::default()).await
    }

    pub(crate) async fn sync_with(&self, options: SyncOptions) -> Result<SyncReport, SyncError> {
        let syncer = self.syncer_with(Self::settings(), options);
        syncer.sync(&Url::parse(SITE).unwrap(), &()).await
    }

    /// Syncs a site of [`Self::with_tls`]; plain http is refused.
    pub(crate) async fn sync_by_tls(&self) -> SyncReport {
        let settings =
            ClientSettings { allow_http: false, roots: vec![authority()], ..Self::settings() };
        let syncer = self.syncer_with(settings, SyncOptions::default());
        syncer.sync(&Url::parse("https://harbour.example/").unwrap(), &()).await.unwrap()
    }

    pub(crate) async fn sync(&self) -> SyncReport {
        self.try_sync().await.unwrap()
    }

    /// Returns all stored pages, in order.
    pub(crate) fn stored_pages(&self) -> Vec<StoredPage> {
        let selection = PageSelection { with_withheld: true, ..PageSelection::default() };
        let rows = self.store.list(&selection, None, 100_000).unwrap();
        rows.into_iter()
            .map(|row| {
                let line = self.store.line(&row.url).unwrap();
                (row.url, row.digest.to_string(), line)
            })
            .collect()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let seen = self.stored_pages();
        seen.iter().map(|(url, ..)| url.replace("http://harbour.example", "")).collect()
    }

    pub(crate) fn asked(&self, from: usize) -> Vec<String> {
        let mut asked = self.server.paths().split_off(from);
        asked.sort();
        asked
    }

    pub(crate) fn robots(&self, text: &str) -> &Self {
        self.server.route("/robots.txt", [Reply::ok("text/plain", text)]);
        self
    }

    pub(crate) fn file(&self, path: &str, media: &str, body: impl Into<Vec<u8>>) -> &Self {
        let body = body.into();
        let tag = format!("\"{}\"", &Digest::of(&body).to_string()[7..23]);
        self.server.route(path, [Reply::file(media, &tag, body)]);
        self
    }

    pub(crate) fn html(&self, path: &str, body: &str) -> &Self {
        self.file(path, "text/html", format!("<!doctype html><html lang=en>{body}</html>"))
    }

    /// Publishes a sitemap with adverts and pages.
    pub(crate) fn sitemap(&self, adverts: &[String], paths: &[&str]) -> &Self {
        let urls: String = paths
            .iter()
            .map(|path| format!("<url><loc>http://harbour.example{path}</loc></url>"))
            .collect();
        self.file("/sitemap.xml", "application/xml", urlset(&format!("{}{urls}", adverts.concat())))
    }

    /// Publishes a snapshot and returns its advert.
    pub(crate) fn snapshot(&self, day: u32, pages: &[(&str, &str)]) -> String {
        let body = snapshot(day, pages);
        let path = format!("/all-{day}.scp");
        let size = body.len();
        self.file(&path, "application/scp", body);
        advert(&path, day, None, pages.len(), size)
    }

    pub(crate) fn delta(&self, day: u32, pages: &[(&str, &str)]) -> String {
        let body = collection("delta", day, Some(day - 1), pages);
        let path = format!("/all-{day}-delta.scp");
        let size = body.len();
        self.file(&path, "application/scp", body);
        advert(&path, day, Some(day - 1), pages.len(), size)
    }
}

/// Publishes and syncs a collection of two pages, which can also be crawled.
pub(crate) async fn synced_collection(site: &TestSite) -> String {
    for path in ["/a", "/b"] {
        site.html(path, &body(path, "As it is read."));
    }
    site.html("/", &body("Home", "Words <a href=/a>a</a> <a href=/b>b</a>."));
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    site.sync().await;
    first
}

/// Returns the body of an HTML page.
pub(crate) fn body(title: &str, text: &str) -> String {
    format!("<title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>")
}

pub(crate) fn urlset(inner: &str) -> String {
    format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\">{inner}</urlset>"
    )
}

pub(crate) fn at(day: u32) -> String {
    format!("2027-01-{day:02}T00:00:00Z")
}

pub(crate) fn advert(
    path: &str,
    day: u32,
    since: Option<u32>,
    pages: usize,
    size: usize,
) -> String {
    let (element, kind, since) = match since {
        None => ("collection", "snapshot", String::new()),
        Some(since) => ("delta", "delta", format!(" since=\"{}\" period=\"d\"", at(since))),
    };
    format!(
        "<scp:{element} section=\"all\" type=\"{kind}\"{since} url=\"http://harbour.example{path}\" \
         generated=\"{}\" expires=\"2028-01-01T00:00:00Z\" pages=\"{pages}\" size=\"{size}\"/>",
        at(day)
    )
}

/// Returns the line of a page; its date depends on its text.
pub(crate) fn page(path: &str, text: &str) -> String {
    format!(
        "{{\"url\":\"http://harbour.example{path}\",\"title\":\"{text}\",\"description\":\"d\",\
         \"modified\":\"{}\",\"language\":\"en\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}",
        at(u32::try_from(text.len().clamp(1, 9)).unwrap())
    )
}

pub(crate) fn snapshot(day: u32, pages: &[(&str, &str)]) -> String {
    collection("snapshot", day, None, pages)
}

pub(crate) fn collection(
    kind: &str,
    day: u32,
    since: Option<u32>,
    pages: &[(&str, &str)],
) -> String {
    let since = since.map(|day| format!(",\"since\":\"{}\"", at(day))).unwrap_or_default();
    let head = format!(
        "{{\"collection\":{{\"id\":\"all-{day}\",\"section\":\"all\",\"type\":\"{kind}\",\
         \"generated\":\"{}\",\"version\":\"0.1\"{since}",
        at(day)
    );
    let lines: String =
        pages.iter().map(|(path, text)| format!("\n{}", page(path, text))).collect();
    let checksum = Digest::of(format!("{head}}}}}{lines}").as_bytes());
    format!("{head},\"checksum\":\"{checksum}\"}}}}{lines}")
}

/// A collection of a chained publisher: line 1 has states and removals (D95).
pub(crate) struct ChainedCollection<'c> {
    pub(crate) day: u32,
    pub(crate) since: Option<u32>,
    pub(crate) from: Option<SectionState>,
    pub(crate) state: SectionState,
    pub(crate) n_after: usize,
    pub(crate) pages: &'c [(&'c str, &'c str)],
    pub(crate) removed: &'c [&'c str],
}

/// Returns the state of a section with these pages.
pub(crate) fn state_of(pages: &[(&str, &str)]) -> SectionState {
    let mut state = SectionState::EMPTY;
    for (path, text) in pages {
        let digest = LineDigest::of(page(path, text).as_bytes());
        state.add(&format!("http://harbour.example{path}"), digest);
    }
    state
}

impl TestSite {
    /// Publishes a collection with states and returns its advert.
    pub(crate) fn chained(&self, it: &ChainedCollection<'_>) -> String {
        let kind = if it.since.is_some() { "delta" } else { "snapshot" };
        let since = it.since.map(|day| format!(",\"since\":\"{}\"", at(day))).unwrap_or_default();
        let from = it.from.map(|from| format!("\"from\":\"{from}\",")).unwrap_or_default();
        let removed: Vec<String> =
            it.removed.iter().map(|path| format!("\"http://harbour.example{path}\"")).collect();
        let removed = match it.since {
            Some(_) => format!(",\"removed\":[{}]", removed.join(",")),
            None => String::new(),
        };
        let (day, state, n_after) = (it.day, it.state, it.n_after);
        let head = format!(
            "{{\"collection\":{{\"id\":\"all-{day}-{kind}\",\"section\":\"all\",\"type\":\"{kind}\",\
             \"generated\":\"{}\",\"version\":\"0.1\"{since},\
             \"rutter\":{{{from}\"state\":\"{state}\",\"pages\":{n_after}{removed}}}",
            at(day)
        );
        let lines: String =
            it.pages.iter().map(|(path, text)| format!("\n{}", page(path, text))).collect();
        let checksum = Digest::of(format!("{head}}}}}{lines}").as_bytes());
        let body = format!("{head},\"checksum\":\"{checksum}\"}}}}{lines}");
        let path = format!("/all-{day}-{kind}.scp");
        let size = body.len();
        self.file(&path, "application/scp", body);
        advert(&path, day, it.since, it.pages.len(), size)
    }
}
