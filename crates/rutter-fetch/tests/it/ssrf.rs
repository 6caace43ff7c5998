//! Blocked addresses: a table, and names that change their address.

use std::net::IpAddr;
use std::path::Path;

use rutter_fetch::{AddressPolicy, ClientSettings, FailureCause, RequestRefusal};
use rutter_testkit::server::{Framing, Reply};

use crate::{HARBOUR, TestSite, cause, page, s, settings};

/// The text of an error with its causes.
fn full_message(error: &rutter_fetch::FetchError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[tokio::test] // SCP-191, N01 N02 N03 N04
async fn opens_no_connection_to_blocked_addresses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ssrf.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut n_rows = 0;
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        n_rows += 1;
        let columns: Vec<&str> = row.split('\t').collect();
        let [url, answers, way, wanted] = columns[..] else { panic!("{row}") };
        let test = TestSite::new();
        for name in ["inside.example", "localhost"] {
            for turn in answers.split(';') {
                let addresses: Vec<&str> =
                    if turn == "-" { vec![] } else { turn.split(',').collect() };
                test.names.add(name, &addresses);
            }
        }
        // Every dialed address has a server: only the check can refuse.
        for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]"] {
            test.lines.route(&format!("{address}:80"), test.server.address());
        }
        test.server.fallback(page("secret")).route("/robots.txt", [Reply::status(404)]);
        let start = match way {
            "redirect" => {
                test.server.route("harbour.example/go", [Reply::redirect(302, url)]);
                "http://harbour.example/go"
            }
            _ => url,
        };
        let result = test.get(start).await;
        match (wanted, &result) {
            ("ok", Ok(answer)) => assert_eq!(answer.status, 200),
            (_, Err(error)) => {
                assert!(full_message(error).contains(wanted), "{row}: {}", full_message(error));
            }
            (_, Ok(_)) => panic!("{row}: fetched"),
        }
        let harbour: IpAddr = HARBOUR.parse().unwrap();
        assert!(test.lines.dialed().iter().all(|address| address.ip() == harbour), "{row}");
    }
    assert!(60 < n_rows, "{n_rows}");
}

#[tokio::test] // N03
async fn checks_a_name_for_every_connection() {
    let test = TestSite::new();
    // Public for robots.txt, private for the page; each connection resolves again.
    test.names.add("rebind.example", &[HARBOUR]).add("rebind.example", &["127.0.0.1"]);
    test.lines.route("127.0.0.1:80", test.server.address());
    let close = page("a").framed(Framing::Close);
    test.server.route("/robots.txt", [Reply::status(404).framed(Framing::Close)]).fallback(close);
    let refused = cause(test.get("http://rebind.example/a").await);
    assert!(
        matches!(refused, FailureCause::Refused(RequestRefusal::Address { .. })),
        "{refused:?}"
    );
    let dialed: Vec<_> = test.lines.dialed().iter().map(ToString::to_string).collect();
    assert_eq!(dialed, [format!("{HARBOUR}:80")]);
    // One lookup per connection: the checked address is the dialed address.
    assert_eq!(test.names.asked(), ["rebind.example", "rebind.example"]);
}

#[tokio::test]
async fn reuses_a_connection_without_a_new_lookup() {
    let test = TestSite::new();
    test.names.add("rebind.example", &[HARBOUR]).add("rebind.example", &["127.0.0.1"]);
    test.server.route("/robots.txt", [Reply::status(404)]).fallback(page("a"));
    test.get("http://rebind.example/a").await.unwrap();
    test.get("http://rebind.example/b").await.unwrap();
    assert_eq!(test.names.asked().len(), 1);
    // After an idle time, a new connection resolves again.
    test.clock.advance(s(31));
    let refused = cause(test.get("http://rebind.example/c").await);
    assert!(
        matches!(refused, FailureCause::Refused(RequestRefusal::Address { .. })),
        "{refused:?}"
    );
    assert_eq!(test.lines.dialed().len(), 1);
}

#[tokio::test]
async fn allows_loopback_only_if_set() {
    let address_policy = AddressPolicy { allow_loopback: true, ..AddressPolicy::default() };
    let test = TestSite::with(ClientSettings { address_policy, ..settings() });
    let port = test.server.address().port();
    test.lines.route(&format!("127.0.0.1:{port}"), test.server.address());
    test.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
    test.get(&format!("http://127.0.0.1:{port}/")).await.unwrap();
    test.server.route("/go", [Reply::redirect(302, "http://169.254.169.254/")]);
    let refused = cause(test.get(&format!("http://127.0.0.1:{port}/go")).await);
    assert!(
        matches!(refused, FailureCause::Refused(RequestRefusal::Address { .. })),
        "{refused:?}"
    );
}
