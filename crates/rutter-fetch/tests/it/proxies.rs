//! Proxies: names are resolved and checked locally.

use rutter_fetch::{ClientSettings, FailureCause, NetworkFault, Proxies, RequestRefusal};
use rutter_testkit::server::{Fault, Reply, Server, ServerCertificate, authority};

use crate::{HARBOUR, TestSite, body, cause, clock, hands, page, settings};

const PROXY: &str = "10.9.8.7:3128";

fn through(trust_proxy: bool) -> ClientSettings {
    let proxies = Proxies::from_lookup(|name| {
        (name == "all_proxy").then(|| format!("http://user:secret@{PROXY}"))
    });
    ClientSettings { proxies: proxies.unwrap(), trust_proxy, attempts: 1, ..settings() }
}

#[tokio::test]
async fn sends_the_absolute_url_to_a_proxy() {
    let test = TestSite::with(through(false));
    test.lines.route(PROXY, test.server.address());
    test.server.route("/a", [page("a")]);
    assert_eq!(body(&test.get("http://harbour.example/a?b=c").await.unwrap()), b"a");
    let seen = test.server.seen().pop().unwrap();
    assert_eq!(seen.target, "http://harbour.example/a?b=c");
    assert_eq!(seen.header("host"), Some("harbour.example"));
    assert_eq!(seen.header("proxy-authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    // Only the proxy was dialed, but the name was resolved locally.
    assert!(test.lines.dialed().iter().all(|address| address.to_string() == PROXY));
    assert_eq!(test.names.asked(), ["harbour.example"]);
}

#[tokio::test]
async fn tunnels_https_through_a_proxy() {
    let clock = clock();
    let far = Server::start_tls(hands(&clock), ServerCertificate::Good);
    far.fallback(page("safe")).route("/robots.txt", [Reply::status(404)]);
    let near = Server::start(hands(&clock));
    near.fallback(Reply::status(200).but(Fault::Tunnel(far.address())));
    let test = TestSite::around(
        near,
        clock,
        ClientSettings { roots: vec![authority()], ..through(false) },
    );
    test.lines.route(PROXY, test.server.address());
    assert_eq!(body(&test.get("https://harbour.example/a").await.unwrap()), b"safe");
    let seen = test.server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        (seen[0].method.as_str(), seen[0].target.as_str()),
        ("CONNECT", "harbour.example:443")
    );
    assert_eq!(seen[0].header("proxy-authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    // Headers for the proxy do not reach the site.
    assert!(far.seen().iter().all(|seen| seen.header("proxy-authorization").is_none()));
}

#[tokio::test]
async fn blocks_private_addresses_behind_a_proxy() {
    for trust in [false, true] {
        let test = TestSite::with(through(trust));
        test.lines.route(PROXY, test.server.address());
        test.server.fallback(page("secret")).route("/robots.txt", [Reply::status(404)]);
        test.names.add("inside.example", &["10.0.0.1"]);
        for place in ["http://inside.example/", "http://127.0.0.1/", "http://169.254.169.254/"] {
            let refused = cause(test.get(place).await);
            assert!(
                matches!(refused, FailureCause::Refused(RequestRefusal::Address { .. })),
                "{place}: {refused:?}"
            );
        }
        assert_eq!(test.server.seen(), []);
        // A name that only the proxy can resolve.
        let unknown = test.get("http://unknown.example/").await;
        assert_eq!(unknown.is_ok(), trust);
        if let Err(error) = unknown {
            let unseen = RequestRefusal::Unseen("unknown.example".into());
            assert!(matches!(error.cause, FailureCause::Refused(why) if why == unseen));
        }
    }
}

#[tokio::test]
async fn reports_proxy_failures() {
    let test = TestSite::with(through(false));
    test.lines.route(PROXY, test.server.address());
    test.server.fallback(Reply::status(407));
    let refused = cause(test.get("https://harbour.example/a").await);
    let is_reported = matches!(&refused, FailureCause::Network(NetworkFault::Proxy(message)) if message.contains("407"));
    assert!(is_reported, "{refused:?}");
    let gone = TestSite::with(through(false));
    let unreached = cause(gone.get("http://harbour.example/a").await);
    assert!(matches!(unreached, FailureCause::Network(NetworkFault::Connect(..))), "{unreached:?}");
    assert!(!gone.lines.dialed().is_empty());
    assert!(gone.lines.dialed().iter().all(|address| address.ip().to_string() != HARBOUR));
    let shown = format!("{:?}", gone.settings);
    assert!(!shown.contains("secret") && !shown.contains("dXNl"), "{shown}");
}
