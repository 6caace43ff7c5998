//! Limits per client, and shutdown.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rutter_serve::{RateLimit, TrustedProxies};

use crate::client::{Client, Running, wait_for};

#[test] // SCP-204 D86
fn limits_the_request_rate() {
    let running = Running::new(&[("a.scp", b"{}"), ("b.txt", b"b")], |settings| {
        settings.rate = Some(RateLimit { every: Duration::from_hours(1), burst: 3 });
        settings.proxies = TrustedProxies {
            trusted: vec!["127.0.0.0/8".parse().unwrap()],
            ..TrustedProxies::default()
        };
    });
    let ask = |client: &str| running.ask("GET", "/a.scp", &[("X-Forwarded-For", client)]);
    for _ in 0..3 {
        assert_eq!(ask("192.0.2.1").status, 200);
    }
    let answer = ask("192.0.2.1");
    assert_eq!(answer.status, 429);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((3500..=3600).contains(&wait), "{wait}");
    assert_eq!(ask("198.51.100.9, 192.0.2.1").status, 429, "a client cannot choose its address");
    assert_eq!(ask("192.0.2.2").status, 200);
    // A /64 is one client.
    for n in 0..3 {
        assert_eq!(ask(&format!("2001:db8::{n}")).status, 200);
    }
    assert_eq!(ask("2001:db8::99").status, 429);
    assert_eq!(ask("2001:db8:1::").status, 200);
}

#[test]
fn limits_connections_on_accept() {
    let running = Running::new(&[("a.txt", b"a")], |settings| {
        settings.limits.connection.total = 6;
        settings.limits.connection.per_address = 4;
    });
    let mut held: Vec<Client<_>> = Vec::new();
    for _ in 0..4 {
        let mut client = Client::new(running.connect());
        assert_eq!(client.ask("GET", "/a.txt", &[]).status, 200);
        held.push(client);
    }
    // One connection too many for the address; the response comes before its request.
    let answer = Client::new(running.connect()).answer(false).unwrap();
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("10")));
    let other = |n: u8| {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&std::net::SocketAddr::from(([127, 0, 0, n], 0)).into()).unwrap();
        socket.connect(&running.address.into()).unwrap();
        Client::new(std::net::TcpStream::from(socket))
    };
    for n in 2..4 {
        let mut client = other(n);
        assert_eq!(client.ask("GET", "/a.txt", &[]).status, 200);
        held.push(client);
    }
    assert_eq!(other(4).answer(false).unwrap().status, 503);
    drop(held);
    wait_for("closed connections", || running.site.metrics().open_connections() == 0);
    assert_eq!(running.get("/a.txt").status, 200);
}

#[test] // E13
fn completes_responses_before_stopping() {
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut running = Running::new(&[("large.bin", &bytes), ("a.txt", b"a")], |_| {});
    let mut idle = Client::new(running.connect());
    assert_eq!(idle.ask("GET", "/a.txt", &[]).status, 200);
    let silent = running.connect();
    let mut streams: Vec<_> = (0..10)
        .map(|_| {
            let mut stream = running.connect();
            stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut first = [0; 1];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    running.handle.stop();
    let readers: Vec<_> = streams
        .drain(..)
        .map(|mut stream| {
            std::thread::spawn(move || {
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).unwrap();
                rest
            })
        })
        .collect();
    for reader in readers {
        let rest = reader.join().unwrap();
        assert!(rest.ends_with(&bytes), "{}", rest.len());
    }
    let start = Instant::now();
    running.stop();
    assert!(start.elapsed() < Duration::from_secs(9), "idle connections were closed");
    assert!(idle.answer(false).is_err());
    drop(silent);
    assert!(std::net::TcpStream::connect(running.address).is_err());
}

#[test]
fn reports_a_port_in_use() {
    let running = Running::new(&[], |_| {});
    let listening = rutter_serve::ListenConfig::new(running.address);
    let error = rutter_serve::Server::bind(running.site.clone(), listening).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is already in use", running.address));
}

#[test] // SCP-206 ARC-065
fn reports_metrics() {
    let folder = tempfile::tempdir().unwrap();
    crate::client::put(&folder.path().join("public/a.txt"), b"abc");
    let settings = rutter_serve::SiteSettings::new(folder.path().join("public"));
    let site = rutter_serve::Site::open(settings, Vec::new()).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let listening =
        rutter_serve::ListenConfig { metrics: Some(any), ..rutter_serve::ListenConfig::new(any) };
    let server = rutter_serve::Server::bind(site, listening).unwrap();
    let (address, metrics) = (server.address().unwrap(), server.metrics_address().unwrap());
    let handle = server.handle();
    let thread = std::thread::spawn(move || server.run().unwrap());
    let ask = |address, path| {
        Client::new(std::net::TcpStream::connect(address).unwrap()).ask("GET", path, &[])
    };
    assert_eq!(ask(address, "/a.txt").status, 200);
    assert_eq!(ask(address, "/metrics").status, 404, "not where everybody is");
    assert_eq!(ask(metrics, "/a.txt").status, 404);
    let mut client = Client::new(std::net::TcpStream::connect(metrics).unwrap());
    let answer = client.ask("GET", "/metrics", &[("Content-Length", "1")]);
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    wait_for("the bytes", || ask(metrics, "/metrics").text().contains("rutter_sent_bytes_total 1"));
    let text = ask(metrics, "/metrics").text();
    assert!(text.contains("rutter_requests_total{status=\"200\"} 1"), "{text}");
    handle.stop();
    thread.join().unwrap();
}
