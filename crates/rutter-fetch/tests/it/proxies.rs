//! Proxies on the way: names are looked at here all the same.

use rutter_fetch::{Cause, NetworkFault, Proxies, Refused, Settings};
use rutter_testkit::server::{Fault, Identity, Reply, Server, authority};

use crate::{Bay, HARBOUR, body, cause, clock, hands, page, settings};

const PROXY: &str = "10.9.8.7:3128";

fn through(trust_proxy: bool) -> Settings {
    let proxies = Proxies::from_lookup(|name| {
        (name == "all_proxy").then(|| format!("http://user:secret@{PROXY}"))
    });
    Settings { proxies: proxies.unwrap(), trust_proxy, tries: 1, ..settings() }
}

#[tokio::test]
async fn ours_plain_requests_name_the_whole_address() {
    let bay = Bay::with(through(false));
    bay.lines.lead(PROXY, bay.server.address());
    bay.server.route("/a", [page("a")]);
    assert_eq!(body(&bay.get("http://harbour.example/a?b=c").await.unwrap()), b"a");
    let seen = bay.server.seen().pop().unwrap();
    assert_eq!(seen.target, "http://harbour.example/a?b=c");
    assert_eq!(seen.header("host"), Some("harbour.example"));
    assert_eq!(seen.header("proxy-authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    // Only the proxy was dialled, but the name was looked at here.
    assert!(bay.lines.dialled().iter().all(|address| address.to_string() == PROXY));
    assert_eq!(bay.names.asked(), ["harbour.example"]);
}

#[tokio::test]
async fn ours_https_goes_through_a_tunnel() {
    let clock = clock();
    let far = Server::start_tls(hands(&clock), Identity::Good);
    far.fallback(page("safe")).route("/robots.txt", [Reply::status(404)]);
    let near = Server::start(hands(&clock));
    near.fallback(Reply::status(200).but(Fault::Tunnel(far.address())));
    let bay = Bay::around(near, clock, Settings { roots: vec![authority()], ..through(false) });
    bay.lines.lead(PROXY, bay.server.address());
    assert_eq!(body(&bay.get("https://harbour.example/a").await.unwrap()), b"safe");
    let seen = bay.server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        (seen[0].method.as_str(), seen[0].target.as_str()),
        ("CONNECT", "harbour.example:443")
    );
    assert_eq!(seen[0].header("proxy-authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    // What is meant for the proxy does not reach the site.
    assert!(far.seen().iter().all(|seen| seen.header("proxy-authorization").is_none()));
}

#[tokio::test]
async fn ours_a_proxy_hides_no_private_address() {
    for trust in [false, true] {
        let bay = Bay::with(through(trust));
        bay.lines.lead(PROXY, bay.server.address());
        bay.server.fallback(page("secret")).route("/robots.txt", [Reply::status(404)]);
        bay.names.add("inside.example", &["10.0.0.1"]);
        for place in ["http://inside.example/", "http://127.0.0.1/", "http://169.254.169.254/"] {
            let refused = cause(bay.get(place).await);
            assert!(
                matches!(refused, Cause::Refused(Refused::Address { .. })),
                "{place}: {refused:?}"
            );
        }
        assert_eq!(bay.server.seen(), []);
        // A name that only the proxy knows.
        let unknown = bay.get("http://unknown.example/").await;
        assert_eq!(unknown.is_ok(), trust);
        if let Err(error) = unknown {
            let unseen = Refused::Unseen("unknown.example".into());
            assert!(matches!(error.cause, Cause::Refused(why) if why == unseen));
        }
    }
}

#[tokio::test]
async fn ours_a_proxy_that_says_no() {
    let bay = Bay::with(through(false));
    bay.lines.lead(PROXY, bay.server.address());
    bay.server.fallback(Reply::status(407));
    let refused = cause(bay.get("https://harbour.example/a").await);
    let is_told =
        matches!(&refused, Cause::Network(NetworkFault::Proxy(told)) if told.contains("407"));
    assert!(is_told, "{refused:?}");
    let gone = Bay::with(through(false));
    let unreached = cause(gone.get("http://harbour.example/a").await);
    assert!(matches!(unreached, Cause::Network(NetworkFault::Connect(..))), "{unreached:?}");
    assert!(!gone.lines.dialled().is_empty());
    assert!(gone.lines.dialled().iter().all(|address| address.ip().to_string() != HARBOUR));
    let shown = format!("{:?}", gone.settings);
    assert!(!shown.contains("secret") && !shown.contains("dXNl"), "{shown}");
}
