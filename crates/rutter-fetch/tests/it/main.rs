//! Integration tests of the client against a server that misbehaves.
//!
//! A fake resolver and a fake network map public addresses to loopback servers, so every address is
//! checked as in production. The clock is manual.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod codings;
mod conditional;
mod faults;
mod politeness;
mod proxies;
mod redirects;
mod resume;
mod robots;
mod ssrf;
mod tls;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rutter_fetch::test_util::{FakeNetwork, FakeResolver, ManualClock};
use rutter_fetch::{
    Client, ClientSettings, Clock, Environment, FailureCause, FetchError, FetchEvent, FetchRecord,
    FetchedResponse, Request, ResourceKind, Url,
};
use rutter_page::Timestamp;
use rutter_testkit::server::{Reply, Server, TestClock};

/// The address of `harbour.example`.
const HARBOUR: &str = "93.184.216.34";

/// A server, a client, and the test doubles between them.
struct TestSite {
    server: Server,
    clock: ManualClock,
    names: FakeResolver,
    lines: FakeNetwork,
    log: Arc<Mutex<Vec<FetchRecord>>>,
    settings: ClientSettings,
    client: Client,
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the differences between consecutive times.
fn gaps(moments: impl IntoIterator<Item = Duration>) -> Vec<Duration> {
    let moments: Vec<_> = moments.into_iter().collect();
    moments.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap()).collect()
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::parse("2027-01-01T00:00:00Z").unwrap())
}

fn hands(clock: &ManualClock) -> TestClock {
    let (now, advance, armed) = (clock.clone(), clock.clone(), clock.clone());
    TestClock {
        now: Arc::new(move || now.monotonic()),
        advance: Arc::new(move |by| advance.advance(by)),
        armed: Arc::new(move || armed.armed()),
    }
}

/// Settings with plain http, no delay between requests and a fixed seed.
fn settings() -> ClientSettings {
    ClientSettings {
        allow_http: true,
        pace: Duration::ZERO,
        seed: Some(7),
        ..ClientSettings::default()
    }
}

impl TestSite {
    fn new() -> Self {
        Self::with(settings())
    }

    fn with(settings: ClientSettings) -> Self {
        let clock = clock();
        let server = Server::start(hands(&clock));
        Self::around(server, clock, settings)
    }

    fn around(server: Server, clock: ManualClock, settings: ClientSettings) -> Self {
        let (names, lines) = (FakeResolver::default(), FakeNetwork::default());
        names.add("harbour.example", &[HARBOUR]);
        for port in [80, 443] {
            lines.route(&format!("{HARBOUR}:{port}"), server.address());
        }
        let log: Arc<Mutex<Vec<FetchRecord>>> = Arc::default();
        let environment = Environment {
            clock: Arc::new(clock.clone()),
            resolver: Arc::new(names.clone()),
            dialer: Arc::new(lines.clone()),
            log: Arc::clone(&log) as _,
        };
        let client = Client::new(settings.clone(), environment);
        Self { server, clock, names, lines, log, settings, client }
    }

    /// Creates a client without state, with other settings.
    fn fresh_client(&self, settings: ClientSettings) -> Client {
        Client::new(settings, self.client.environment().clone())
    }

    async fn get(&self, url: &str) -> Result<FetchedResponse, FetchError> {
        self.client.fetch(&request(url)).await
    }

    /// Returns the events of the log.
    fn events(&self) -> Vec<FetchEvent> {
        self.log.lock().unwrap().iter().map(|record| record.event.clone()).collect()
    }

    /// Returns the requested paths, without robots.txt.
    fn requested_paths(&self) -> Vec<String> {
        self.server.paths().into_iter().filter(|path| path != "/robots.txt").collect()
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn request(text: &str) -> Request {
    Request::new(url(text), ResourceKind::Page)
}

fn body(fetched: &FetchedResponse) -> Vec<u8> {
    fetched.decoded_body(ResourceKind::Page).unwrap()
}

fn cause(result: Result<FetchedResponse, FetchError>) -> FailureCause {
    result.unwrap_err().cause
}

fn page(text: &str) -> Reply {
    Reply::ok("text/html", text)
}
