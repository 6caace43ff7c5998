//! `rutter discover`, against a server on this machine.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

use rutter_testkit::server::{Hands, Reply, Server};

fn server() -> Server {
    let start = Instant::now();
    Server::start(Hands {
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
fn spec_what_is_there_is_told() {
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
    let told = discover(&[&site, "--allow-loopback", "--pace", "0"]);
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success(), "{text}");
    assert!(text.contains("snapshot of `all`, 2026-10-01T00:00:00Z, 5 pages"), "{text}");
    assert!(text.contains("would be read by: scp (1 snapshot and 0 deltas)"), "{text}");
    let told = discover(&[&site, "--allow-loopback", "--pace", "0", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(json["rung"], "scp");
    assert_eq!(json["offer"]["scp"]["collections"][0]["files"][0]["size"], 1000);
    assert_eq!(json["requests"], server.seen().len() as u64 / 2);
}

#[test] // D01 of reliability.md
fn ours_exit_codes_of_what_cannot_be_visited() {
    let server = server();
    let site = format!("http://{}", server.address());
    let code = |args: &[&str]| discover(args).status.code();
    // A private address, plain http, a name that is none, a port nobody has.
    assert_eq!(code(&[&site, "--allow-http"]), Some(5));
    assert_eq!(code(&[&site]), Some(5));
    assert_eq!(server.seen().len(), 0);
    assert_eq!(code(&["https://"]), Some(2));
    drop(server);
    let told = discover(&[&site, "--allow-loopback", "--pace", "0"]);
    assert_eq!(told.status.code(), Some(3), "{}", String::from_utf8_lossy(&told.stderr));
}
