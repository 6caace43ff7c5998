//! Tests of `rutter discover` with a local server.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

use rutter_testkit::server::{Reply, Server, TestClock};

fn server() -> Server {
    let start = Instant::now();
    Server::start(TestClock {
        now: Arc::new(move || start.elapsed()),
        advance: Arc::new(|_| {}),
        armed: Arc::new(|| u64::MAX),
    })
}

fn discover(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command.arg("discover").args(args).env("SOURCE_DATE_EPOCH", "1793491200").output().unwrap()
}

#[test] // SCP-110
fn prints_offer_of_site() {
    let server = server();
    let site = format!("http://{}", server.address());
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\">\
         <scp:collection section=\"all\" type=\"snapshot\" url=\"{site}/all.scp\" \
         generated=\"2026-10-01T00:00:00Z\" expires=\"2028-01-01T00:00:00Z\" pages=\"5\" \
         size=\"1000\"/><url><loc>{site}/a</loc></url></urlset>"
    );
    server.route("/sitemap.xml", [Reply::ok("application/xml", sitemap)]);
    let output = discover(&[&site, "--allow-loopback", "--pace", "0"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("snapshot of section `all`: 2026-10-01T00:00:00Z, 5 pages"), "{text}");
    assert!(text.contains("access method: SCP collections (1 snapshot and 0 deltas)"), "{text}");
    let output = discover(&[&site, "--allow-loopback", "--pace", "0", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["rung"], "scp");
    assert_eq!(json["offer"]["scp"]["collections"][0]["files"][0]["size"], 1000);
    assert_eq!(json["requests"], server.seen().len() as u64 / 2);
}

#[test] // N01
fn exit_codes_of_unreachable_sites() {
    let server = server();
    let site = format!("http://{}", server.address());
    let code = |args: &[&str]| discover(args).status.code();
    // A private address, plain HTTP, an invalid host and a closed port.
    assert_eq!(code(&[&site, "--allow-http"]), Some(5));
    assert_eq!(code(&[&site]), Some(5));
    assert_eq!(server.seen().len(), 0);
    assert_eq!(code(&["https://"]), Some(2));
    drop(server);
    let output = discover(&[&site, "--allow-loopback", "--pace", "0"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}
