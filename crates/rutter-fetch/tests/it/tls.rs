//! https: valid certificates, and everything else.

use rutter_fetch::{ClientSettings, FailureCause, NetworkFault, RequestRefusal};
use rutter_page::Timestamp;
use rutter_testkit::server::{Fault, Reply, Server, ServerCertificate, authority};

use crate::{TestSite, body, cause, clock, hands, page, settings};

/// Creates a test site with TLS, and without plain http.
fn secure(identity: ServerCertificate) -> TestSite {
    let clock = clock();
    let server = Server::start_tls(hands(&clock), identity);
    let settings =
        ClientSettings { allow_http: false, attempts: 1, roots: vec![authority()], ..settings() };
    let test = TestSite::around(server, clock, settings);
    test.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
    test
}

/// Returns the network fault of a request.
async fn fault(test: &TestSite) -> String {
    match cause(test.get("https://harbour.example/a").await) {
        FailureCause::Network(fault @ NetworkFault::Tls(_)) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test] // SCP-162
async fn accepts_a_valid_certificate() {
    let test = secure(ServerCertificate::Good);
    let answer = test.get("https://harbour.example/a").await.unwrap();
    assert_eq!(body(&answer), b"a");
    assert_eq!(test.server.n_connections(), 1);
}

#[tokio::test] // SCP-162 SCP-163, N13
async fn rejects_invalid_certificates() {
    for (identity, wanted) in [
        (ServerCertificate::Other, "not valid for name"),
        (ServerCertificate::SelfSigned, "invalid peer certificate"),
    ] {
        let test = secure(identity);
        let message = fault(&test).await;
        assert!(
            message.contains("cannot establish a TLS connection") && message.contains(wanted),
            "{message}"
        );
        assert_eq!(test.server.seen(), []);
    }
    for (day, wanted) in
        [("2200-01-01T00:00:00Z", "expired"), ("2020-01-01T00:00:00Z", "not valid yet")]
    {
        let test = secure(ServerCertificate::Good);
        test.clock.set_day(Timestamp::parse(day).unwrap());
        let message = fault(&test).await;
        assert!(message.contains(wanted), "{message}");
        assert_eq!(test.server.seen(), []);
    }
    // Without the test authority, the certificate is not trusted.
    let test = secure(ServerCertificate::Good);
    let strict = test.fresh_client(ClientSettings { roots: vec![], ..test.settings.clone() });
    let refused = strict.fetch(&crate::request("https://harbour.example/a")).await;
    assert!(refused.is_err());
    assert_eq!(test.server.seen(), []);
}

#[tokio::test] // SCP-162, N13
async fn reports_servers_without_tls() {
    // TLS 1.0 is answered with an alert, plain http with a page; other servers close the
    // connection.
    let old = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46];
    for reply in
        [Reply::status(200).but(Fault::Raw(old.to_vec())), page("a"), page("a").but(Fault::HangUp)]
    {
        let test = TestSite::with(ClientSettings {
            allow_http: false,
            attempts: 1,
            roots: vec![authority()],
            ..settings()
        });
        test.server.fallback(reply);
        // The server waits for a line end, which a handshake may not contain.
        let result = tokio::select! {
            biased;
            result = test.get("https://harbour.example/a") => result,
            () = async { loop { test.clock.advance(crate::s(1)); tokio::task::yield_now().await; } } => unreachable!(),
        };
        let cause = cause(result);
        assert!(matches!(cause, FailureCause::Network(_)), "{cause:?}");
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
    let test = secure(ServerCertificate::Good);
    test.lines.route(&format!("{}:8080", crate::HARBOUR), address);
    let cause = cause(test.get("https://harbour.example:8080/a").await);
    assert!(matches!(cause, FailureCause::Network(NetworkFault::NotTls(_))), "{cause:?}");
    assert_eq!(cause.to_string(), "cannot establish a TLS connection: port 8080 does not use TLS");
    plain.join().unwrap();
}

#[tokio::test] // SCP-193 D12
async fn refuses_plain_http_and_downgrades() {
    let test = secure(ServerCertificate::Good);
    let plain = cause(test.get("http://harbour.example/a").await);
    assert!(matches!(plain, FailureCause::Refused(RequestRefusal::PlainHttp)), "{plain:?}");
    // Even if plain http is allowed, https does not lead to http.
    let lax = test.fresh_client(ClientSettings { allow_http: true, ..test.settings.clone() });
    test.server.route("/go", [Reply::redirect(301, "http://harbour.example/a")]);
    let error = lax.fetch(&crate::request("https://harbour.example/go")).await.unwrap_err();
    assert!(matches!(error.cause, FailureCause::Refused(RequestRefusal::Downgrade)), "{error:?}");
    assert_eq!(test.server.paths(), ["/robots.txt", "/go"]);
    assert!(!matches!(error.cause, FailureCause::Network(NetworkFault::Tls(_))));
}
