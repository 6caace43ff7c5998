//! No connection to where nobody may be sent: a table, and names that change
//! their mind.

use std::net::IpAddr;
use std::path::Path;

use rutter_fetch::{Cause, Guard, Refused, Settings};
use rutter_testkit::server::{Framing, Reply};

use crate::{Bay, HARBOUR, cause, page, s, settings};

/// All words of an error.
fn told(error: &rutter_fetch::FetchError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[tokio::test] // SCP-191, D01 D02 D03 D04 of reliability.md
async fn spec_the_table_opens_no_forbidden_connection() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ssrf.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut n_rows = 0;
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        n_rows += 1;
        let columns: Vec<&str> = row.split('\t').collect();
        let [url, answers, way, wanted] = columns[..] else { panic!("{row}") };
        let bay = Bay::new();
        for name in ["inside.example", "localhost"] {
            for turn in answers.split(';') {
                let addresses: Vec<&str> =
                    if turn == "-" { vec![] } else { turn.split(',').collect() };
                bay.names.add(name, &addresses);
            }
        }
        // Whatever is dialled is answered: only the check can refuse.
        for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]"] {
            bay.lines.lead(&format!("{address}:80"), bay.server.address());
        }
        bay.server.fallback(page("secret")).route("/robots.txt", [Reply::status(404)]);
        let start = match way {
            "redirect" => {
                bay.server.route("harbour.example/go", [Reply::redirect(302, url)]);
                "http://harbour.example/go"
            }
            _ => url,
        };
        let result = bay.get(start).await;
        match (wanted, &result) {
            ("ok", Ok(answer)) => assert_eq!(answer.status, 200),
            (_, Err(error)) => assert!(told(error).contains(wanted), "{row}: {}", told(error)),
            (_, Ok(_)) => panic!("{row}: fetched"),
        }
        let harbour: IpAddr = HARBOUR.parse().unwrap();
        assert!(bay.lines.dialled().iter().all(|address| address.ip() == harbour), "{row}");
    }
    assert!(60 < n_rows, "{n_rows}");
}

#[tokio::test] // D03 of reliability.md
async fn ours_a_name_that_changes_its_mind() {
    let bay = Bay::new();
    // Public for robots.txt, private for the page; each connection looks anew.
    bay.names.add("rebind.example", &[HARBOUR]).add("rebind.example", &["127.0.0.1"]);
    bay.lines.lead("127.0.0.1:80", bay.server.address());
    let close = page("a").framed(Framing::Close);
    bay.server.route("/robots.txt", [Reply::status(404).framed(Framing::Close)]).fallback(close);
    let refused = cause(bay.get("http://rebind.example/a").await);
    assert!(matches!(refused, Cause::Refused(Refused::Address { .. })), "{refused:?}");
    let dialled: Vec<_> = bay.lines.dialled().iter().map(ToString::to_string).collect();
    assert_eq!(dialled, [format!("{HARBOUR}:80")]);
    // One look-up for each connection: what is checked is what is dialled.
    assert_eq!(bay.names.asked(), ["rebind.example", "rebind.example"]);
}

#[tokio::test]
async fn ours_a_connection_that_stays_open_needs_no_new_look_up() {
    let bay = Bay::new();
    bay.names.add("rebind.example", &[HARBOUR]).add("rebind.example", &["127.0.0.1"]);
    bay.server.route("/robots.txt", [Reply::status(404)]).fallback(page("a"));
    bay.get("http://rebind.example/a").await.unwrap();
    bay.get("http://rebind.example/b").await.unwrap();
    assert_eq!(bay.names.asked().len(), 1);
    // After a while of silence a new one is made, and looked at anew.
    bay.clock.advance(s(31));
    let refused = cause(bay.get("http://rebind.example/c").await);
    assert!(matches!(refused, Cause::Refused(Refused::Address { .. })), "{refused:?}");
    assert_eq!(bay.lines.dialled().len(), 1);
}

#[tokio::test]
async fn ours_loopback_by_leave_and_nothing_else() {
    let guard = Guard { allow_loopback: true, ..Guard::default() };
    let bay = Bay::with(Settings { guard, ..settings() });
    let port = bay.server.address().port();
    bay.lines.lead(&format!("127.0.0.1:{port}"), bay.server.address());
    bay.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
    bay.get(&format!("http://127.0.0.1:{port}/")).await.unwrap();
    bay.server.route("/go", [Reply::redirect(302, "http://169.254.169.254/")]);
    let refused = cause(bay.get(&format!("http://127.0.0.1:{port}/go")).await);
    assert!(matches!(refused, Cause::Refused(Refused::Address { .. })), "{refused:?}");
}
