//! A server while it runs: its log, its own files, and builds that come.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Serving, build, built, copied, now, rutter};

/// A page whose menu changed has the same words and the same date in the
/// ledger, but a reader that asks by date alone must get the new bytes.
#[test]
fn ours_new_bytes_have_a_new_date() {
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
    // A closed page shows that the build was read.
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
    // The same bytes keep it.
    build(folder.path(), now() - 60, &["--restricted", "/museum/"]);
    come("/museum/");
    assert_eq!(date(), second);
}

#[test]
fn ours_nothing_is_served_that_is_for_the_server_alone() {
    let folder = built();
    let key = folder.path().join("public/key.pem");
    fs::write(&key, "").unwrap();
    fs::write(folder.path().join("public/.tokens.toml"), "").unwrap();
    // The name is another one, the file is the same.
    std::os::unix::fs::symlink(&key, folder.path().join("tokens.toml")).unwrap();
    for (args, what) in [
        (&["--tls-cert", "public/key.pem", "--tls-key", "public/key.pem"][..], "the key"),
        (&["--tokens", "tokens.toml"], "the file of tokens"),
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
        assert!(said.contains(&format!("{what} would be shown to everybody")), "{said}");
    }
    assert!(!folder.path().join("public/access.log").exists(), "it was not even made");
    let mut serving = Serving::start(folder.path(), &["--tokens", "public/.tokens.toml"]);
    assert_eq!(serving.get("/.tokens.toml", &[]).status, 404);
    serving.hear("described by");
}

/// Nobody reads standard output, and it is full: requests are answered.
#[test]
fn ours_a_log_that_nobody_reads_holds_no_answer_up() {
    let folder = built();
    let serving = Serving::start(folder.path(), &["--rate", "off", "--no-watch"]);
    let agent = "a".repeat(2000);
    let mut stream = TcpStream::connect(serving.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut input = BufReader::new(stream.try_clone().unwrap());
    // More than a pipe takes, on more than all workers.
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
fn ours_a_log_that_cannot_be_opened_anew_is_said() {
    let folder = built();
    fs::create_dir(folder.path().join("logs")).unwrap();
    let mut serving = Serving::start(folder.path(), &["--access-log", "logs/access.log"]);
    fs::rename(folder.path().join("logs"), folder.path().join("moved")).unwrap();
    serving.signal("-HUP");
    let line = serving.hear("the access log cannot be opened anew");
    assert!(line.contains("logs/access.log"), "{line}");
    assert_eq!(serving.get("/", &[]).status, 200);
    serving.signal("-TERM");
    serving.hear("ending");
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
    // Where nothing is published, nothing is built.
    let nothing = again(&format!("http://{}/docs/", serving.address));
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(!nothing.status.success() && said.contains("no sitemap there"), "{said}");
    assert!(!folder.path().join("again/sitemap.xml").exists());
    let output = again(&format!("http://{}/", serving.address));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("published files from http://127.0.0.1"), "{said}");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains(": 0 new, 0 changed, 0 removed"), "{table}");
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
