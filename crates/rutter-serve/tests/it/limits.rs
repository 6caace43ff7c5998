//! How much one client may have, and how a server ends.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rutter_serve::{Proxies, Rate};

use crate::client::{Client, Running, wait_for};

#[test] // SCP-204 D86
fn spec_collections_are_open_to_all_at_a_rate() {
    let running = Running::new(&[("a.scp", b"{}"), ("b.txt", b"b")], |settings| {
        settings.rate = Some(Rate { every: Duration::from_hours(1), burst: 3 });
        settings.proxies =
            Proxies { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..Proxies::default() };
    });
    let ask = |client: &str| running.ask("GET", "/a.scp", &[("X-Forwarded-For", client)]);
    for _ in 0..3 {
        assert_eq!(ask("192.0.2.1").status, 200);
    }
    let answer = ask("192.0.2.1");
    assert_eq!(answer.status, 429);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((3500..=3600).contains(&wait), "{wait}");
    assert_eq!(ask("198.51.100.9, 192.0.2.1").status, 429, "nobody chooses an address");
    assert_eq!(ask("192.0.2.2").status, 200);
    // A whole /64 is one client.
    for n in 0..3 {
        assert_eq!(ask(&format!("2001:db8::{n}")).status, 200);
    }
    assert_eq!(ask("2001:db8::99").status, 429);
    assert_eq!(ask("2001:db8:1::").status, 200);
}

#[test]
fn ours_connections_are_limited_at_the_door() {
    let running = Running::new(&[("a.txt", b"a")], |settings| {
        settings.limits.connections = 6;
        settings.limits.per_address = 4;
    });
    let mut held: Vec<Client<_>> = Vec::new();
    for _ in 0..4 {
        let mut client = Client::new(running.connect());
        assert_eq!(client.ask("GET", "/a.txt", &[]).status, 200);
        held.push(client);
    }
    // One too many for the address; what it says comes before it asks.
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
    wait_for("room", || running.site.metrics().open_connections() == 0);
    assert_eq!(running.get("/a.txt").status, 200);
}

#[test] // reliability E13
fn ours_a_stop_lets_answers_end() {
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
    assert!(start.elapsed() < Duration::from_secs(9), "nobody waited for the idle");
    assert!(idle.answer(false).is_err());
    drop(silent);
    assert!(std::net::TcpStream::connect(running.address).is_err());
}

#[test]
fn ours_a_port_in_use_is_said() {
    let running = Running::new(&[], |_| {});
    let listening = rutter_serve::Listening::new(running.address);
    let error = rutter_serve::Server::bind(running.site.clone(), listening).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is in use", running.address));
}

#[test] // SCP-206 ARC-065
fn spec_what_happens_can_be_watched() {
    let folder = tempfile::tempdir().unwrap();
    crate::client::put(&folder.path().join("public/a.txt"), b"abc");
    let settings = rutter_serve::Settings::new(folder.path().join("public"));
    let site = rutter_serve::Site::open(settings, Vec::new()).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let listening =
        rutter_serve::Listening { metrics: Some(any), ..rutter_serve::Listening::new(any) };
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
