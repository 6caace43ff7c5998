//! https: certificates that are right, and everything else.

use rutter_fetch::{Cause, NetworkFault, Refused, Settings};
use rutter_page::Timestamp;
use rutter_testkit::server::{Fault, Identity, Reply, Server, authority};

use crate::{Bay, body, cause, clock, hands, page, settings};

/// A bay with TLS, and without leave for plain http.
fn secure(identity: Identity) -> Bay {
    let clock = clock();
    let server = Server::start_tls(hands(&clock), identity);
    let settings = Settings { allow_http: false, tries: 1, roots: vec![authority()], ..settings() };
    let bay = Bay::around(server, clock, settings);
    bay.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
    bay
}

/// What is wrong with the connection.
async fn fault(bay: &Bay) -> String {
    match cause(bay.get("https://harbour.example/a").await) {
        Cause::Network(fault @ NetworkFault::Tls(_)) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test] // SCP-162
async fn spec_a_good_certificate() {
    let bay = secure(Identity::Good);
    let answer = bay.get("https://harbour.example/a").await.unwrap();
    assert_eq!(body(&answer), b"a");
    assert_eq!(bay.server.n_connections(), 1);
}

#[tokio::test] // SCP-162 SCP-163, D13 of reliability.md
async fn spec_bad_certificates_are_refused() {
    for (identity, wanted) in [
        (Identity::Other, "not valid for name"),
        (Identity::SelfSigned, "invalid peer certificate"),
    ] {
        let bay = secure(identity);
        let told = fault(&bay).await;
        assert!(told.contains("no safe connection") && told.contains(wanted), "{told}");
        assert_eq!(bay.server.seen(), []);
    }
    for (day, wanted) in
        [("2200-01-01T00:00:00Z", "expired"), ("2020-01-01T00:00:00Z", "not valid yet")]
    {
        let bay = secure(Identity::Good);
        bay.clock.set_day(Timestamp::parse(day).unwrap());
        let told = fault(&bay).await;
        assert!(told.contains(wanted), "{told}");
        assert_eq!(bay.server.seen(), []);
    }
    // Without our authority nobody vouches for it.
    let bay = secure(Identity::Good);
    let strict = bay.fresh_client(Settings { roots: vec![], ..bay.settings.clone() });
    let refused = strict.fetch(&crate::request("https://harbour.example/a")).await;
    assert!(refused.is_err());
    assert_eq!(bay.server.seen(), []);
}

#[tokio::test] // SCP-162, D13 of reliability.md
async fn spec_a_handshake_that_is_none() {
    // TLS 1.0 is answered with an alert, plain http with a page, others hang up.
    let old = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46];
    for reply in
        [Reply::status(200).but(Fault::Raw(old.to_vec())), page("a"), page("a").but(Fault::HangUp)]
    {
        let bay = Bay::with(Settings {
            allow_http: false,
            tries: 1,
            roots: vec![authority()],
            ..settings()
        });
        bay.server.fallback(reply);
        // The server waits for a line end, which a handshake may lack.
        let result = tokio::select! {
            biased;
            result = bay.get("https://harbour.example/a") => result,
            () = async { loop { bay.clock.advance(crate::s(1)); tokio::task::yield_now().await; } } => unreachable!(),
        };
        let cause = cause(result);
        assert!(matches!(cause, Cause::Network(_)), "{cause:?}");
    }
}

#[tokio::test]
async fn names_a_port_that_does_not_speak_tls() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let plain = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let mut rest = Vec::new();
        // The client may reset the connection.
        drop(std::io::Read::read_to_end(&mut stream, &mut rest));
    });
    let bay = secure(Identity::Good);
    bay.lines.lead(&format!("{}:8080", crate::HARBOUR), address);
    let cause = cause(bay.get("https://harbour.example:8080/a").await);
    assert!(matches!(cause, Cause::Network(NetworkFault::NotTls(_))), "{cause:?}");
    assert_eq!(cause.to_string(), "no safe connection: port 8080 answers without TLS");
    plain.join().unwrap();
}

#[tokio::test] // SCP-193 D12
async fn spec_plain_http_needs_leave_and_https_never_falls_back() {
    let bay = secure(Identity::Good);
    let plain = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(plain, Cause::Refused(Refused::PlainHttp)), "{plain:?}");
    // Even with leave, https does not lead to http.
    let lax = bay.fresh_client(Settings { allow_http: true, ..bay.settings.clone() });
    bay.server.route("/go", [Reply::redirect(301, "http://harbour.example/a")]);
    let error = lax.fetch(&crate::request("https://harbour.example/go")).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Refused(Refused::Downgrade)), "{error:?}");
    assert_eq!(bay.server.paths(), ["/robots.txt", "/go"]);
    assert!(!matches!(error.cause, Cause::Network(NetworkFault::Tls(_))));
}
