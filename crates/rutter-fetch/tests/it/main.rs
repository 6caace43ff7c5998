//! The client, tried against a server that misbehaves.
//!
//! Names resolve by a table and connections are led to loopback by a
//! switchboard, so every address is checked as a public one would be, and the
//! clock moves by hand.

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

use rutter_fetch::rehearse::{ManualClock, Names, Switchboard};
use rutter_fetch::{
    Cause, Client, Clock, Event, FetchError, Fetched, Means, Record, Request, Settings, Url, What,
};
use rutter_page::Timestamp;
use rutter_testkit::server::{Hands, Reply, Server};

/// The address `harbour.example` has in these tests.
const HARBOUR: &str = "93.184.216.34";

/// A server, a client, and everything between them.
struct Bay {
    server: Server,
    clock: ManualClock,
    names: Names,
    lines: Switchboard,
    log: Arc<Mutex<Vec<Record>>>,
    settings: Settings,
    client: Client,
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The times between moments.
fn gaps(moments: impl IntoIterator<Item = Duration>) -> Vec<Duration> {
    let moments: Vec<_> = moments.into_iter().collect();
    moments.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap()).collect()
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::parse("2027-01-01T00:00:00Z").unwrap())
}

fn hands(clock: &ManualClock) -> Hands {
    let (now, advance, armed) = (clock.clone(), clock.clone(), clock.clone());
    Hands {
        now: Arc::new(move || now.moment()),
        advance: Arc::new(move |by| advance.advance(by)),
        armed: Arc::new(move || armed.armed()),
    }
}

/// Plain http, no pause between requests, and no robots.txt.
fn settings() -> Settings {
    Settings { allow_http: true, pace: Duration::ZERO, seed: Some(7), ..Settings::default() }
}

impl Bay {
    fn new() -> Self {
        Self::with(settings())
    }

    fn with(settings: Settings) -> Self {
        let clock = clock();
        let server = Server::start(hands(&clock));
        Self::around(server, clock, settings)
    }

    fn around(server: Server, clock: ManualClock, settings: Settings) -> Self {
        let (names, lines) = (Names::default(), Switchboard::default());
        names.add("harbour.example", &[HARBOUR]);
        for port in [80, 443] {
            lines.lead(&format!("{HARBOUR}:{port}"), server.address());
        }
        let log: Arc<Mutex<Vec<Record>>> = Arc::default();
        let means = Means {
            clock: Arc::new(clock.clone()),
            resolver: Arc::new(names.clone()),
            dialer: Arc::new(lines.clone()),
            log: Arc::clone(&log) as _,
        };
        let client = Client::new(settings.clone(), means);
        Self { server, clock, names, lines, log, settings, client }
    }

    /// A client that knows nothing yet, with other settings.
    fn fresh_client(&self, settings: Settings) -> Client {
        Client::new(settings, self.client.means().clone())
    }

    async fn get(&self, url: &str) -> Result<Fetched, FetchError> {
        self.client.fetch(&request(url)).await
    }

    /// What the log says, without what it says it about.
    fn events(&self) -> Vec<Event> {
        self.log.lock().unwrap().iter().map(|record| record.event.clone()).collect()
    }

    /// Requests for anything but robots.txt.
    fn asked(&self) -> Vec<String> {
        self.server.paths().into_iter().filter(|path| path != "/robots.txt").collect()
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn request(text: &str) -> Request {
    Request::new(url(text), What::Page)
}

fn body(fetched: &Fetched) -> Vec<u8> {
    fetched.text(What::Page).unwrap()
}

fn cause(result: Result<Fetched, FetchError>) -> Cause {
    result.unwrap_err().cause
}

fn page(text: &str) -> Reply {
    Reply::ok("text/html", text)
}
