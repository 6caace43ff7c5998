//! What is closed stays closed: without `served.json`, while a build is swapped
//! in, in every form; and a token that was taken back opens nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rutter_page::Digest;
use rutter_serve::{Closed, ClosedBy, NewToken, Scope, Settings, Site, Unknown, new_token};

use crate::client::{Running, put, swap, wait_for};

const SERVED: &str = r#"{"version":2,"base":"https://harbour.example/","closed":["Members/"],"files":[
{"path":"a.html","type":"text/html","cache":"page"},
{"path":"log.html","type":"text/html","cache":"page","access":"token"},
{"path":"members/sitemap.xml","type":"application/xml","cache":"entry","access":"open"}]}"#;

/// A site with closed pages, and a token for them.
fn running() -> (Running, String) {
    let folder = tempfile::tempdir().unwrap();
    let public = folder.path().join("public");
    for name in ["a.html", "log.html", "log.html.gz", "log.md", "members/log.html"] {
        put(&public.join(name), b"<p>text");
    }
    for name in ["data.json", "data.json.gz", "log.pdf", "log", "log.md", "index.html", "x.html.br"]
    {
        put(&public.join("members").join(name), b"<p>text");
    }
    put(&public.join("members/sitemap.xml"), b"<urlset/>");
    put(&folder.path().join("state/served.json"), SERVED.as_bytes());
    let path = folder.path().join("tokens.toml");
    let token = token(&path, "one");
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    (running, token)
}

fn token(path: &std::path::Path, name: &str) -> String {
    let scopes = [Scope::Entries, Scope::Content];
    let new = NewToken { name, scopes: &scopes, rate: "1000/s", expires: None };
    format!("Bearer {}", new_token(path, &new).unwrap())
}

impl Running {
    fn state(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("state").join(name)
    }

    fn with(&self, path: &str, token: &str) -> u16 {
        self.ask("GET", path, &[("Authorization", token)]).status
    }

    /// What was told of reloads that failed.
    fn told(&self) -> Arc<Mutex<Vec<String>>> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        self.site.on_failed_reload(move |error| kept.lock().unwrap().push(error.to_string()));
        told
    }

    fn n_failed(&self) -> u64 {
        let text = self.site.metrics().text();
        let line = text.lines().find(|line| line.contains("result=\"failed\"")).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

#[test]
fn unknown_names_below_a_closed_path_answer_like_closed_ones() {
    let (running, token) = running();
    put(&running.public("members/sub/index.html"), b"<p>text");
    let closed = running.ask("GET", "/members/log.html", &[]);
    assert_eq!(closed.status, 401);
    for unknown in ["/members/none.html", "/Members/%6eone", "/members/sub", "/members/none/"] {
        let answer = running.ask("GET", unknown, &[]);
        assert_eq!((answer.status, &answer.body), (401, &closed.body), "{unknown}");
    }
    assert_eq!(running.with("/members/none.html", &token), 404);
    assert_eq!(running.with("/members/sub", &token), 308);
    assert_eq!(running.ask("GET", "/none.html", &[]).status, 404);
    assert_eq!(running.ask("GET", "/members/sitemap.xml", &[]).status, 200);
}

#[test] // ARC-064
fn spec_everything_below_a_closed_name_is_closed() {
    let (running, token) = running();
    for path in [
        "/members/",
        "/members/index.html",
        "/members/log.html",
        "/members/log.md",
        "/members/log",
        "/members/log.pdf",
        "/members/data.json",
        "/members/data.json.gz",
        "/members/x.html.br",
        "/m%65mbers/data.json",
        "/log.html",
        "/log",
        "/log.html.gz",
        "/log.md",
    ] {
        let answer = running.get(path);
        assert_eq!((answer.status, answer.text().contains("text")), (401, false), "{path}");
        assert_eq!(running.with(path, &token), 200, "{path}");
        let headers = [("Authorization", token.as_str()), ("Accept-Encoding", "gzip")];
        let cache = running.ask("GET", path, &headers).header("cache-control").unwrap().to_owned();
        assert_eq!(cache, "private, no-cache", "{path}");
    }
    // A file that nobody told of, and a page for those who name Markdown.
    put(&running.public("members/new.txt"), b"text");
    assert_eq!(running.get("/members/new.txt").status, 401);
    let markdown = running.ask("GET", "/log.html", &[("Accept", "text/markdown")]);
    assert_eq!(markdown.status, 401);
    // What the build made for all is for all.
    assert_eq!(running.get("/members/sitemap.xml").status, 200);
    assert_eq!(running.get("/a.html").status, 200);
}

#[test]
fn ours_without_served_json_nothing_opens() {
    let (running, token) = running();
    let told = running.told();
    assert_eq!(running.get("/log.html").status, 401);
    fs::rename(running.state("served.json"), running.state("aside")).unwrap();
    wait_for("a failed reload", || {
        assert_eq!(running.get("/log.html").status, 401);
        assert_eq!(running.get("/members/data.json").status, 401);
        running.n_failed() == 1
    });
    assert_eq!((running.with("/log.html", &token), running.get("/a.html").status), (200, 200));
    assert!(running.handle.reload().is_err());
    assert_eq!(running.get("/log.html").status, 401);
    let told = told.lock().unwrap().clone();
    assert!(told.len() == 1 && told[0].contains("served.json"), "told once: {told:?}");
    // What came meanwhile may be closed by a served.json that is not there.
    swap(&running.public("late.html"), b"<p>text");
    wait_for("a refusal", || running.get("/late.html").status == 503);
    fs::rename(running.state("aside"), running.state("served.json")).unwrap();
    wait_for("an answer", || running.get("/late.html").status == 200);
    assert_eq!(running.get("/log.html").status, 401);
    // And it is not begun without one.
    let folder = tempfile::tempdir().unwrap();
    let state = Some(folder.path().to_owned());
    let settings = Settings { state, ..Settings::new(folder.path()) };
    let error = Site::open(settings, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("served.json: no such file"), "{error}");
}

#[test]
fn ours_a_served_json_of_another_folder_is_refused() {
    let (running, _) = running();
    let told = running.told();
    fs::create_dir(running.folder.path().join("other")).unwrap();
    let other = r#"{"version":2,"base":"https://harbour.example/","output":"../other","files":[]}"#;
    swap(&running.state("served.json"), other.as_bytes());
    wait_for("a failed reload", || {
        assert_eq!(running.get("/log.html").status, 401);
        running.n_failed() == 1
    });
    assert!(told.lock().unwrap()[0].contains("other"), "{told:?}");
    let ours = other.replace("../other", "../public");
    swap(&running.state("served.json"), ours.as_bytes());
    wait_for("a reload", || running.get("/log.html").status == 200);
}

const SITEMAP: &str = r#"{"arc_sitemap_version":"2.1","site":"https://harbour.example","pages":[
{"url":"https://harbour.example/a.html","ai_indexable":true},
{"url":"https://harbour.example/log.html","ai_indexable":false,"auth_required":true}]}"#;

#[test] // ARC-064
fn spec_a_folder_without_its_state_closes_what_its_sitemap_marks() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.html", "log.html", "log.md"] {
        put(&folder.path().join("public").join(name), b"<p>text");
    }
    put(&folder.path().join("public/arc-sitemap.json"), SITEMAP.as_bytes());
    let path = folder.path().join("tokens.toml");
    let token = token(&path, "one");
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    let told = running.told();
    let closed = Closed { by: ClosedBy::Announced, paths: 1, tokens: 1 };
    assert_eq!(running.site.closed(), closed);
    for path in ["/log.html", "/log", "/log.md", "/LOG.html"] {
        assert_ne!(running.get(path).status, 200, "{path}");
    }
    assert_eq!((running.get("/log").status, running.with("/log", &token)), (401, 200));
    assert_eq!(running.get("/a.html").status, 200);
    // A new sitemap counts; a broken one or none opens nothing.
    let both = SITEMAP.replace("\"ai_indexable\":true", "\"auth_required\":true");
    swap(&running.public("arc-sitemap.json"), both.as_bytes());
    wait_for("a refusal", || running.get("/a.html").status == 401);
    swap(&running.public("arc-sitemap.json"), b"{");
    wait_for("a word", || told.lock().unwrap().len() == 1);
    fs::remove_file(running.public("arc-sitemap.json")).unwrap();
    wait_for("a word", || told.lock().unwrap().len() == 2);
    assert!(told.lock().unwrap()[1].contains("stays closed"), "{told:?}");
    assert_eq!((running.get("/a.html").status, running.get("/log.html").status), (401, 401));
}

#[test] // ARC-064
fn spec_a_folder_of_which_nothing_is_known_is_not_served_with_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let sitemap = folder.path().join("public/arc-sitemap.json");
    put(&folder.path().join("public/a.html"), b"<p>text");
    let path = folder.path().join("tokens.toml");
    token(&path, "one");
    let open = |unknown, tokens| {
        let settings = Settings::new(folder.path().join("public"));
        Site::open(Settings { unknown, tokens, ..settings }, Vec::new())
            .map(|site| site.closed().by)
            .map_err(|error| error.to_string())
    };
    let nobody = Ok(ClosedBy::Nobody);
    assert_eq!(open(Unknown::Refused, None), nobody);
    assert!(open(Unknown::Refused, Some(path.clone())).unwrap_err().contains("no served.json"));
    assert_eq!(open(Unknown::Open, Some(path.clone())), nobody);
    put(&sitemap, b"{\"pages\":");
    assert!(open(Unknown::Refused, None).unwrap_err().contains("arc-sitemap.json"));
    assert_eq!(open(Unknown::Open, None), nobody);
    put(&sitemap, SITEMAP.as_bytes());
    assert_eq!(open(Unknown::Open, Some(path)), Ok(ClosedBy::Announced));
}

#[test] // ARC-066
fn spec_a_token_that_was_taken_back_does_not_open_once_more() {
    let (running, first) = running();
    assert_eq!(running.with("/log.html", &first), 200);
    let tokens = running.folder.path().join("tokens.toml");
    let text = fs::read(&tokens).unwrap();
    // Nobody asks for as long as a look counts; the first to come is refused.
    for n in 0..3 {
        let idle = Instant::now() + Duration::from_millis(300);
        wait_for("time", || idle <= Instant::now());
        match n {
            0 => swap(&tokens, b""),
            1 => swap(&tokens, &text),
            _ => fs::remove_file(&tokens).unwrap(),
        }
        let wanted = if n == 1 { 200 } else { 401 };
        assert_eq!(running.with("/log.html", &first), wanted, "{n}");
    }
}

#[test]
fn ours_tokens_that_cannot_be_read_are_told_of_while_nobody_asks() {
    let (running, _) = running();
    let told = running.told();
    swap(&running.folder.path().join("tokens.toml"), b"[[tokens]]");
    wait_for("a word", || told.lock().unwrap().iter().any(|text| text.contains("in line 1")));
}

/// A file that stays as it is is tried once, and nothing else is read with it.
#[test]
fn ours_a_fault_is_read_once() {
    let (running, _) = running();
    let tokens = running.folder.path().join("tokens.toml");
    let n_done = || {
        let text = running.site.metrics().text();
        let line = text.lines().find(|line| line.contains("result=\"done\"")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let served = fs::read(running.state("served.json")).unwrap();
    for (n, (file, bytes)) in [
        (&tokens, &b"\xff\xfe"[..]),
        (&tokens, &b"#".repeat((4 << 20) + 1)),
        (&running.state("served.json"), b"\xff\xfe"),
    ]
    .into_iter()
    .enumerate()
    {
        swap(file, bytes);
        let n_faults = n as u64 + 1;
        wait_for("a failed reload", || n_faults <= running.n_failed());
        // Each look finds the other file new, and this one as it was.
        for _ in 0..4 {
            let before = n_done();
            if file == &tokens {
                swap(&running.state("served.json"), &served);
            } else {
                swap(&tokens, b"");
            }
            wait_for("a reload", || before < n_done());
        }
        assert_eq!(running.n_failed(), n_faults, "{}", file.display());
    }
}

#[test] // ARC-066
fn spec_a_token_that_was_taken_back_opens_nothing() {
    let path = "/arc-api/v1/pages";
    let (running, first) = running();
    put(&running.state("private/pages.jsonl"), b"");
    let tokens = running.folder.path().join("tokens.toml");
    let told = running.told();
    assert_eq!((running.with(path, &first), running.with("/log.html", &first)), (200, 200));
    // Whoever asks for nothing but the API is heard of it too.
    swap(&tokens, b"");
    wait_for("a refusal", || running.with(path, &first) == 401);
    // A served.json that cannot be read does not keep it.
    let second = token(&tokens, "two");
    wait_for("an answer", || running.with(path, &second) == 200);
    swap(&running.state("served.json"), b"{");
    swap(&tokens, b"");
    wait_for("a refusal", || running.with(path, &second) == 401);
    // A file that cannot be read leaves them as they were, and that is told.
    let third = token(&tokens, "three");
    wait_for("an answer", || running.with(path, &third) == 200);
    swap(&tokens, b"[[tokens]]");
    let is_told = || told.lock().unwrap().iter().any(|text| text.contains("in line 1"));
    wait_for("a word", || running.with(path, &third) == 200 && is_told());
    assert!(running.handle.reload().unwrap_err().to_string().contains("served.json"));
    // One that is gone leaves none.
    fs::remove_file(&tokens).unwrap();
    wait_for("a refusal", || running.with(path, &third) == 401);
    assert_eq!(running.with("/log.html", &third), 401);
    assert_eq!(running.get(path).status, 401, "the API is still there");
    let fourth = token(&tokens, "four");
    wait_for("an answer", || running.with(path, &fourth) == 200);
}

#[test]
fn ours_a_publication_is_read_ahead_once() {
    let (running, _) = running();
    let ahead = || {
        let text = running.site.metrics().text();
        let line = text.lines().find(|line| line.contains("result=\"ahead\"")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let next = SERVED.replace("\"files\":[", "\"files\":[\n{\"path\":\"new-7.txt\",\"type\":\"text/plain\",\"cache\":\"entry\",\"access\":\"token\"},");
    put(&running.state("next/served"), next.as_bytes());
    put(&running.state("journal.json"), b"{}");
    // Clocks of files tick some hundred times a second.
    wait_for("a tick", || {
        swap(&running.public("new-0.txt"), b"text");
        running.get("/new-0.txt");
        ahead() == 1
    });
    for n in 1..20 {
        swap(&running.public(&format!("new-{n}.txt")), b"text");
        let status = running.get(&format!("/new-{n}.txt")).status;
        assert_eq!(status, if n == 7 { 401 } else { 200 }, "{n}");
    }
    assert_eq!(ahead(), 1, "of many changed files one makes it be read");
}

#[test]
fn ours_a_date_belongs_to_bytes_not_to_a_status() {
    let folder = tempfile::tempdir().unwrap();
    let digest = Digest::of(b"<p>a");
    let served = format!(
        r#"{{"version":2,"base":"https://harbour.example/","files":[
{{"path":"a.html","type":"text/html","digest":"{digest}","modified":"2020-02-02T02:02:02Z","cache":"page"}}]}}"#
    );
    put(&folder.path().join("state/served.json"), served.as_bytes());
    put(&folder.path().join("public/a.html"), b"<p>a");
    let running = Running::start(folder, |_| {}, None);
    let date = || running.get("/a.html").header("last-modified").unwrap().to_owned();
    let told = "Sun, 02 Feb 2020 02:02:02 GMT";
    assert_eq!(date(), told);
    // Another status, and a copy that came later.
    fs::set_permissions(running.public("a.html"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(date(), told);
    swap(&running.public("a.html"), b"<p>a");
    assert_eq!(date(), told);
    swap(&running.public("a.html"), b"<p>b");
    assert_ne!(date(), told);
}

#[test] // SCP-160 D10
fn spec_snapshots_are_kept_for_the_interval_the_build_told() {
    let line = |kind: &str| format!("{{\"collection\":{{\"type\":\"{kind}\"}}}}\n").into_bytes();
    let start = |update: Option<u64>| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.scp", "ended.scp", "soon.scp"] {
            put(&folder.path().join("public").join(name), &line("snapshot"));
        }
        let served = r#"{"version":2,"base":"https://harbour.example/","update":86400,"files":[
{"path":"a.scp","type":"application/scp","expires":"2999-01-01T00:00:00Z","cache":"snapshot"},
{"path":"ended.scp","type":"application/scp","expires":"2020-01-01T00:00:00Z","cache":"snapshot"}]}"#;
        put(&folder.path().join("state/served.json"), served.as_bytes());
        Running::start(folder, |settings| settings.update = update, None)
    };
    for (update, age) in [(None, 86_400), (Some(3600), 3600)] {
        let running = start(update);
        let cache = |path: &str| running.get(path).header("cache-control").unwrap().to_owned();
        assert_eq!(cache("/a.scp"), format!("public, max-age={age}, stale-while-revalidate=3600"));
        assert_eq!(cache("/ended.scp"), "public, max-age=0, stale-while-revalidate=0");
    }
}

#[test] // ARC-023 D08
fn spec_a_compressed_form_of_other_text_is_not_sent() {
    let gzip = |text: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut out, text).unwrap();
        out.finish().unwrap()
    };
    let large = vec![b' '; 200_000];
    for text in [&b"{}"[..], &large] {
        let coded = gzip(text);
        let files = [("a.json", text), ("a.json.gz", coded.as_slice())];
        let running = Running::new(&files, |settings| settings.limits.small = 100_000);
        let ask = || {
            let answer = running.ask("GET", "/a.json", &[("Accept-Encoding", "gzip")]);
            let coding = answer.header("content-encoding").map(str::to_owned);
            (coding, answer.header("vary").map(str::to_owned), answer.body)
        };
        let both = (Some("gzip".to_owned()), Some("accept-encoding".to_owned()), coded.clone());
        assert_eq!(ask(), both);
        // The plain file is newer, then its other form is broken, then right again.
        swap(&running.public("a.json"), b"[]");
        assert_eq!(ask(), (None, None, b"[]".to_vec()));
        swap(&running.public("a.json.gz"), &gzip(b"[]")[..12]);
        assert_eq!(ask(), (None, None, b"[]".to_vec()));
        swap(&running.public("a.json.gz"), &gzip(b"[]"));
        assert_eq!(ask().0.as_deref(), Some("gzip"));
    }
}

#[test]
fn ours_addresses_have_the_path_of_the_site() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("public/a.html"), b"<p>a");
    put(&folder.path().join("public/a.md"), b"a");
    let served = r#"{"version":2,"base":"https://harbour.example/docs/","files":[
{"path":"a.html","type":"text/html","twin":"a.md","cache":"page"}]}"#;
    put(&folder.path().join("state/served.json"), served.as_bytes());
    let lines = ["a", "b"].map(|name| {
        let url = format!("https://harbour.example/docs/{name}");
        format!("{{\"url\":\"{url}\",\"entry\":{{\"url\":\"{url}\"}}}}\n")
    });
    put(&folder.path().join("state/private/pages.jsonl"), lines.concat().as_bytes());
    let path = folder.path().join("tokens.toml");
    let token = token(&path, "one");
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    let link = "</docs/a.md>; rel=\"alternate\"; type=\"text/markdown\"";
    assert_eq!(running.get("/docs/a.html").header("link"), Some(link));
    let twin = running.ask("GET", "/docs/a", &[("Accept", "text/markdown")]);
    assert_eq!(twin.header("content-location"), Some("/docs/a.md"));
    let api = "/docs/arc-api/v1/pages?limit=1";
    assert_eq!(running.get(api).status, 401);
    let answer = running.ask("GET", api, &[("Authorization", &token)]);
    let next = "/docs/arc-api/v1/pages?after=https://harbour.example/docs/a&limit=1";
    assert_eq!((answer.status, answer.json()["next"].as_str()), (200, Some(next)));
    let answer = running.ask("GET", next, &[("Authorization", &token)]);
    assert_eq!(answer.json()["pages"][0]["url"], "https://harbour.example/docs/b");
    for other in
        ["/docs/arc-api/v1/other", "/other/arc-api/v1/pages", "/docs/docs/arc-api/v1/pages"]
    {
        assert_eq!(running.with(other, &token), 404, "{other}");
    }
}

#[test]
fn ours_what_is_remembered_is_closed_soon() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("public/a.html"), b"<p>a");
    let open = r#"{"version":2,"base":"https://harbour.example/","files":[]}"#;
    put(&folder.path().join("state/served.json"), open.as_bytes());
    let running = Running::start(
        folder,
        |settings| settings.limits.recheck = Duration::from_millis(20),
        None,
    );
    assert_eq!(running.get("/a.html").status, 200);
    let closed = open.replace("\"files\"", "\"closed\":[\"\"],\"files\"");
    swap(&running.state("served.json"), closed.as_bytes());
    wait_for("a refusal", || running.get("/a.html").status == 401);
}
