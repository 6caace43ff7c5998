//! Tests of a running server: its log, its private files and new builds.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Serving, build, built, copied, now, rutter};

/// A page with a changed menu keeps its content and its date in the ledger, but a conditional request
/// by date must get the new bytes.
#[test]
fn changed_bytes_have_new_last_modified() {
    let folder = copied();
    build(folder.path(), now() - 7200, &[]);
    let serving = Serving::start(folder.path(), &["--rate", "off"]);
    let date = || {
        let answer = serving.get("/docs/tides-api.html", &[]);
        assert_eq!(answer.status, 200);
        answer.header("last-modified").unwrap().to_owned()
    };
    let status =
        |date: &str| serving.get("/docs/tides-api.html", &[("If-Modified-Since", date)]).status;
    let first = date();
    assert_eq!(status(&first), 304);
    let page = folder.path().join("site/docs/tides-api.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("</body>", "<!-- a new menu --></body>")).unwrap();
    let end = Instant::now() + Duration::from_mins(1);
    // A closed page shows that the new build is in use.
    let come = |path: &str| {
        serving.signal("-HUP");
        while serving.get(path, &[]).status != 401 {
            assert!(Instant::now() < end, "{path} is not closed");
            std::thread::yield_now();
        }
    };
    build(folder.path(), now() - 3600, &["--restricted", "/shop/"]);
    come("/shop/");
    let second = date();
    assert_ne!(second, first);
    assert_eq!((status(&first), status(&second)), (200, 304));
    // Unchanged bytes keep their date.
    build(folder.path(), now() - 60, &["--restricted", "/museum/"]);
    come("/museum/");
    assert_eq!(date(), second);
}

#[test]
fn private_files_are_not_served() {
    let folder = built();
    let key = folder.path().join("public/key.pem");
    fs::write(&key, "").unwrap();
    fs::write(folder.path().join("public/.tokens.toml"), "").unwrap();
    // A link has another name for the same file.
    std::os::unix::fs::symlink(&key, folder.path().join("tokens.toml")).unwrap();
    for (args, what) in [
        (&["--tls-cert", "public/key.pem", "--tls-key", "public/key.pem"][..], "the private key"),
        (&["--tokens", "tokens.toml"], "the token file"),
        (&["--access-log", "public/access.log"], "the access log"),
        (&["--state", "public"], "the state"),
    ] {
        if args[0] == "--state" {
            fs::copy(
                folder.path().join("state/served.json"),
                folder.path().join("public/served.json"),
            )
            .unwrap();
        }
        let output = rutter()
            .args(["serve", "public", "--listen", "127.0.0.1:0"])
            .args(args)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(what) && said.contains(" would be public"), "{said}");
    }
    assert!(!folder.path().join("public/access.log").exists(), "it was not even made");
    let mut serving = Serving::start(folder.path(), &["--tokens", "public/.tokens.toml"]);
    assert_eq!(serving.get("/.tokens.toml", &[]).status, 404);
    serving.hear("using ");
}

/// Standard output is full and has no reader; requests are still answered.
#[test]
fn blocked_access_log_does_not_delay_responses() {
    let folder = built();
    let serving = Serving::start(folder.path(), &["--rate", "off", "--no-watch"]);
    let agent = "a".repeat(2000);
    let mut stream = TcpStream::connect(serving.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut input = BufReader::new(stream.try_clone().unwrap());
    // More output than a pipe can buffer, from more requests than workers.
    for _ in 0..200 {
        let request = format!("HEAD /none HTTP/1.1\r\nHost: a\r\nUser-Agent: {agent}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert_ne!(input.read_line(&mut line).unwrap(), 0, "it was cut");
        }
    }
}

#[test]
fn reports_log_that_cannot_be_reopened() {
    let folder = built();
    fs::create_dir(folder.path().join("logs")).unwrap();
    let mut serving = Serving::start(folder.path(), &["--access-log", "logs/access.log"]);
    fs::rename(folder.path().join("logs"), folder.path().join("moved")).unwrap();
    serving.signal("-HUP");
    let line = serving.hear("cannot reopen the access log");
    assert!(line.contains("logs/access.log"), "{line}");
    assert_eq!(serving.get("/", &[]).status, 200);
    serving.signal("-TERM");
    serving.hear("stopping");
    assert_eq!(serving.end().0, Some(0));
    let text = fs::read_to_string(folder.path().join("moved/access.log")).unwrap();
    assert_eq!(text.lines().count(), 1, "the old one goes on");
}

#[test]
fn rebuilds_lost_state_from_the_address_of_the_published_site() {
    let folder = copied();
    build(folder.path(), now() - 7200, &[]);
    let page = folder.path().join("site/docs/tides-api.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("</main>", "<p>Times are those of the inner basin.</p></main>"))
        .unwrap();
    build(folder.path(), now() - 3600, &[]);
    let serving = Serving::start(folder.path(), &["--rate", "off"]);
    let again = |previous: &str| {
        rutter()
            .args(["build", "site", "--base-url", "https://harbour.example", "--out", "again"])
            .args(["--state", "state-again", "--previous", previous])
            .env("SOURCE_DATE_EPOCH", (now() - 60).to_string())
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    // Without published files, the build fails.
    let nothing = again(&format!("http://{}/docs/", serving.address));
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(!nothing.status.success() && said.contains("no sitemap announces"), "{said}");
    assert!(!folder.path().join("again/sitemap.xml").exists());
    let output = again(&format!("http://{}/", serving.address));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("published files from http://127.0.0.1"), "{said}");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("(0 new, 0 changed, 0 removed"), "{table}");
    let dates = |state: &str| {
        let ledger = fs::read_to_string(folder.path().join(state).join("ledger.tsv")).unwrap();
        let rows = ledger.lines().filter(|line| line.starts_with("https://"));
        let public = rows.map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
        let public = public.filter(|row| row[1] == "public");
        public.map(|row| (row[0].clone(), row[4].clone())).collect::<Vec<_>>()
    };
    assert_eq!(dates("state-again"), dates("state"));
    assert!(!dates("state").is_empty());
}
