//! TLS: HTTP/1.1 and HTTP/2 by ALPN, and the reload of certificates.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body::Body as _;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rutter_serve::{ListenConfig, SiteSettings, TlsFiles};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring,
};

use crate::client::{Client, Running, put, wait_for};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

pub(crate) fn config(protocols: &[&str]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("ca.pem")).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

pub(crate) fn name() -> ServerName<'static> {
    ServerName::try_from("harbour.example").unwrap()
}

pub(crate) fn running() -> Running {
    running_with(|_| {})
}

fn running_with(change: impl FnOnce(&mut SiteSettings)) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let large: Vec<u8> = (0..2_000_000_u32).map(|n| (n % 251) as u8).collect();
    put(&folder.path().join("public/a.txt"), b"a");
    put(&folder.path().join("public/large.bin"), &large);
    let tls = TlsFiles {
        certificate: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    fs::copy(fixture("one.pem"), &tls.certificate).unwrap();
    fs::copy(fixture("one.key.pem"), &tls.key).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let listening = ListenConfig { tls: Some(tls), workers: 2, ..ListenConfig::new(any) };
    Running::start(folder, change, Some(listening))
}

fn client(running: &Running) -> Client<StreamOwned<ClientConnection, TcpStream>> {
    let connection = ClientConnection::new(config(&["http/1.1"]), name()).unwrap();
    Client::new(StreamOwned::new(connection, running.connect()))
}

#[test] // SCP-161
fn serves_https_and_reloads_certificates() {
    let running = running();
    let mut first = client(&running);
    assert_eq!(first.ask("GET", "/a.txt", &[]).text(), "a");
    assert_eq!(first.ask("GET", "/large.bin", &[]).body.len(), 2_000_000);
    let serial = |client: &Client<StreamOwned<ClientConnection, TcpStream>>| {
        client.stream().conn.peer_certificates().unwrap()[0].to_vec()
    };
    // An invalid certificate changes nothing.
    fs::write(running.folder.path().join("cert.pem"), "nonsense").unwrap();
    let error = running.handle.reload().unwrap_err().to_string();
    assert!(error.contains("cert.pem") && !error.contains("nonsense"), "{error}");
    assert!(running.site.metrics().text().contains("{result=\"failed\"} 1"));
    let mut second = client(&running);
    assert_eq!(second.ask("GET", "/a.txt", &[]).status, 200);
    assert_eq!(serial(&first), serial(&second));
    fs::copy(fixture("two.pem"), running.folder.path().join("cert.pem")).unwrap();
    assert!(running.handle.reload().is_err(), "the key is another's");
    fs::copy(fixture("two.key.pem"), running.folder.path().join("key.pem")).unwrap();
    running.handle.reload().unwrap();
    let mut third = client(&running);
    assert_eq!(third.ask("GET", "/a.txt", &[]).status, 200);
    assert_ne!(serial(&first), serial(&third));
    assert_eq!(first.ask("GET", "/a.txt", &[]).status, 200, "connections are kept");
    // Plain HTTP gets no response and affects no other client.
    let answer = running.raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(!answer.starts_with(b"HTTP"));
    assert_eq!(client(&running).ask("GET", "/a.txt", &[]).status, 200);
}

async fn connect_2(running: &Running) -> hyper::client::conn::http2::SendRequest<String> {
    let stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(config(&["h2", "http/1.1"]));
    let stream = connector.connect(name(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    sender
}

#[test]
fn reports_both_reload_failures() {
    let running = running_with(|settings| {
        let tokens = settings.root.parent().unwrap().join("tokens.toml");
        fs::write(&tokens, "").unwrap();
        settings.tokens = Some(tokens);
        settings.unknown = rutter_serve::UnknownAccess::Open;
    });
    fs::write(running.folder.path().join("cert.pem"), "nonsense").unwrap();
    fs::write(running.folder.path().join("tokens.toml"), "[[tokens]]").unwrap();
    let error = running.handle.reload().unwrap_err().to_string();
    assert!(error.contains("cert.pem") && error.contains("line 1"), "{error}");
}

#[test]
fn sends_no_plain_text_on_a_tls_port() {
    let running = running_with(|settings| settings.limits.connection.per_address = 1);
    let mut first = client(&running);
    assert_eq!(first.ask("GET", "/a.txt", &[]).status, 200);
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut running.connect(), &mut answer).unwrap();
    assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    wait_for("a record", || {
        let records = running.records.0.lock().unwrap();
        records.iter().any(|record| record.status == 444 && record.retry_after.is_none())
    });
    let text = running.site.metrics().text();
    assert!(text.contains("why=\"address\"} 1") && text.contains("status=\"429\"} 0"), "{text}");
}

#[test]
fn http2_answers_parallel_requests() {
    let running = running();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sender = connect_2(&running).await;
        let ask = |method: &str, path: &str| {
            let mut sender = sender.clone();
            let uri = format!("https://harbour.example{path}");
            let request = http::Request::builder().method(method).uri(uri);
            let request = request.body(String::new()).unwrap();
            async move {
                let response = sender.send_request(request).await.unwrap();
                let (parts, mut body) = response.into_parts();
                let mut bytes = Vec::new();
                while let Some(frame) =
                    std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await
                {
                    bytes.extend(frame.unwrap().into_data().unwrap_or_default());
                }
                (parts, bytes)
            }
        };
        // From now on the client knows the limit of streams.
        assert_eq!(ask("GET", "/a.txt").await.0.status, 200);
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..40 {
            tasks.spawn(ask("GET", if n % 2 == 0 { "/a.txt" } else { "/large.bin" }));
        }
        let mut n = 0;
        while let Some(result) = tasks.join_next().await {
            let (parts, bytes) = result.unwrap();
            assert_eq!(parts.status, 200);
            let length: usize = parts.headers["content-length"].to_str().unwrap().parse().unwrap();
            assert_eq!(bytes.len(), length);
            n += 1;
        }
        assert_eq!(n, 40);
        let (parts, bytes) = ask("HEAD", "/large.bin").await;
        assert_eq!((parts.headers["content-length"].as_bytes(), bytes.len()), (&b"2000000"[..], 0));
        for (method, path, status) in [
            ("POST", "/a.txt", 405),
            ("GET", "/none", 404),
            ("GET", "/%2e%2e/x", 400),
            ("GET", "/a.txt", 200),
        ] {
            let (parts, _) = ask(method, path).await;
            assert_eq!(parts.status.as_u16(), status, "{method} {path}");
            assert!(!parts.headers.contains_key("connection"));
        }
    });
    let records = running.records.0.lock().unwrap();
    assert!(
        records.iter().any(|record| &*record.protocol == "HTTP/2.0" && record.bytes == 2_000_000)
    );
}

#[test] // E06
fn http2_has_the_same_limits() {
    let running = running();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut sender = connect_2(&running).await;
        for (n_fields, length, status) in
            [(100, 1, 200), (101, 1, 431), (0, 9000, 414), (0, 1, 200)]
        {
            let query = "x".repeat(length);
            let mut request = http::Request::get(format!("https://harbour.example/a.txt?{query}"));
            for n in 0..n_fields {
                request = request.header(format!("x-{n}"), "a");
            }
            let response = sender.send_request(request.body(String::new()).unwrap()).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{n_fields} fields, {length} bytes");
        }
    });
    wait_for("records", || running.records.0.lock().unwrap().len() == 4);
}

/// Clients that read nothing of a response, but keep sending frames.
#[test]
fn closes_http2_connections_that_do_not_read() {
    let stall = Duration::from_millis(400);
    let running = running_with(|settings| settings.limits.connection.stall = stall);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
        let connector = tokio_rustls::TlsConnector::from(config(&["h2"]));
        let stream = connector.connect(name(), stream).await.unwrap();
        // Every ping is answered, which is not progress.
        let (mut sender, connection) =
            hyper::client::conn::http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(1)
                .keep_alive_interval(stall / 8)
                .keep_alive_timeout(Duration::from_secs(20))
                .handshake(TokioIo::new(stream))
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let mut untouched = Vec::new();
        for _ in 0..8 {
            let request = http::Request::get("https://harbour.example/large.bin");
            let request = request.body(String::new()).unwrap();
            untouched.push(sender.send_request(request).await.unwrap());
        }
        // The server closes the connection; the client would continue.
        assert!(connection.await.unwrap().is_err());
        drop(untouched);
    });
    wait_for("a cut", || running.site.metrics().text().contains("why=\"stall\"} 1"));
    wait_for("the end", || running.site.metrics().open_connections() == 0);
}

/// A delay of the server does not count as the client's.
#[test]
fn a_slow_server_closes_no_connection() {
    let running = running_with(|settings| {
        settings.limits.connection.stall = Duration::from_millis(150);
        settings.limits.small = 0;
        // One byte every 250 ms.
        settings.bandwidth = Some(4);
    });
    fs::write(running.public("slow.txt"), "abc").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut sender = connect_2(&running).await;
        let request = http::Request::get("https://harbour.example/slow.txt");
        let request = request.body(String::new()).unwrap();
        let mut body = sender.send_request(request).await.unwrap().into_body();
        let mut bytes = Vec::new();
        while let Some(frame) =
            std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await
        {
            bytes.extend(frame.unwrap().into_data().unwrap_or_default());
        }
        assert_eq!(bytes, b"abc");
    });
    let text = running.site.metrics().text();
    assert!(text.contains("why=\"stall\"} 0"), "{text}");
}

#[test] // SCP-161
fn handshakes_before_tls_1_2_are_refused() {
    let running = running();
    // A ClientHello without `supported_versions`, so that its version decides.
    let hello = |minor: u8| {
        let mut body = vec![3, minor];
        body.extend([7; 32]);
        body.push(0);
        // ECDHE-ECDSA and ECDHE-RSA with AES-128-GCM (1.2), and with AES-128-CBC-SHA (1.0).
        body.extend([0, 8, 0xc0, 0x2b, 0xc0, 0x2f, 0xc0, 0x09, 0xc0, 0x13, 1, 0]);
        // Extensions: groups, point formats, signatures.
        body.extend([0, 26, 0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0]);
        body.extend([0, 13, 0, 8, 0, 6, 4, 3, 8, 4, 4, 1]);
        let length = |n: usize| u8::try_from(n).unwrap();
        let message = [&[1, 0, 0, length(body.len())][..], &body].concat();
        [&[22, 3, 1, 0, length(message.len())][..], &message].concat()
    };
    for (minor, wanted) in [(0, 21), (1, 21), (2, 21), (3, 22)] {
        // A fatal alert, or a ServerHello for 1.2.
        let answer = running.raw(&hello(minor));
        assert_eq!(answer.first(), Some(&wanted), "3.{minor}: {:?}", answer.get(..7));
        assert_eq!(answer.get(5), Some(&2), "3.{minor}");
    }
    let mut new = client(&running);
    assert_eq!(new.ask("GET", "/a.txt", &[]).text(), "a");
    let version = new.stream().conn.protocol_version().unwrap();
    assert_eq!(format!("{version:?}"), "TLSv1_3");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&tokio_rustls::rustls::version::TLS12])
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("ca.pem")).unwrap()).unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), name()).unwrap();
    let mut old = Client::new(StreamOwned::new(connection, running.connect()));
    assert_eq!(old.ask("GET", "/a.txt", &[]).text(), "a");
    let version = old.stream().conn.protocol_version().unwrap();
    assert_eq!(format!("{version:?}"), "TLSv1_2");
}
