//! Restricted files stay restricted: without `served.json`, during a publication, in every
//! representation. A revoked token gives no access.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rutter_page::Digest;
use rutter_serve::{
    AccessSummary, NewToken, RestrictionSource, Site, SiteSettings, TokenScope, UnknownAccess,
    create_token,
};

use crate::client::{Running, put, swap, wait_for};

const SERVED: &str = r#"{"version":2,"base":"https://harbour.example/","closed":["Members/"],"files":[
{"path":"a.html","type":"text/html","cache":"page"},
{"path":"log.html","type":"text/html","cache":"page","access":"token"},
{"path":"members/sitemap.xml","type":"application/xml","cache":"entry","access":"open"}]}"#;

/// A site with restricted pages, and a token for them.
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
    let scopes = [TokenScope::Entries, TokenScope::Content];
    let new = NewToken { name, scopes: &scopes, rate: "1000/s", expires: None };
    format!("Bearer {}", create_token(path, &new).unwrap())
}

impl Running {
    fn state(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("state").join(name)
    }

    fn with(&self, path: &str, token: &str) -> u16 {
        self.ask("GET", path, &[("Authorization", token)]).status
    }

    /// Reported reload failures.
    fn reported(&self) -> Arc<Mutex<Vec<String>>> {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reported);
        self.site.on_failed_reload(move |error| kept.lock().unwrap().push(error.to_string()));
        reported
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
fn restricts_everything_below_a_prefix() {
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
    // A file that the catalog does not list, and a page requested as Markdown.
    put(&running.public("members/new.txt"), b"text");
    assert_eq!(running.get("/members/new.txt").status, 401);
    let markdown = running.ask("GET", "/log.html", &[("Accept", "text/markdown")]);
    assert_eq!(markdown.status, 401);
    // Files that the build marked as public are public.
    assert_eq!(running.get("/members/sitemap.xml").status, 200);
    assert_eq!(running.get("/a.html").status, 200);
}

#[test]
fn a_deleted_served_json_lifts_no_restriction() {
    let (running, token) = running();
    let reported = running.reported();
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
    let reported = reported.lock().unwrap().clone();
    assert!(
        reported.len() == 1 && reported[0].contains("served.json"),
        "reported once: {reported:?}"
    );
    // A newer file may be restricted by a missing served.json.
    swap(&running.public("late.html"), b"<p>text");
    wait_for("a refusal", || running.get("/late.html").status == 503);
    fs::rename(running.state("aside"), running.state("served.json")).unwrap();
    wait_for("an answer", || running.get("/late.html").status == 200);
    assert_eq!(running.get("/log.html").status, 401);
    // The site does not open without one.
    let folder = tempfile::tempdir().unwrap();
    let state = Some(folder.path().to_owned());
    let settings = SiteSettings { state, ..SiteSettings::new(folder.path()) };
    let error = Site::open(settings, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("served.json does not exist"), "{error}");
}

#[test]
fn rejects_a_served_json_of_another_directory() {
    let (running, _) = running();
    let reported = running.reported();
    fs::create_dir(running.folder.path().join("other")).unwrap();
    let other = r#"{"version":2,"base":"https://harbour.example/","output":"../other","files":[]}"#;
    swap(&running.state("served.json"), other.as_bytes());
    wait_for("a failed reload", || {
        assert_eq!(running.get("/log.html").status, 401);
        running.n_failed() == 1
    });
    assert!(reported.lock().unwrap()[0].contains("other"), "{reported:?}");
    let output = other.replace("../other", "../public");
    swap(&running.state("served.json"), output.as_bytes());
    wait_for("a reload", || running.get("/log.html").status == 200);
}

const SITEMAP: &str = r#"{"arc_sitemap_version":"2.1","site":"https://harbour.example","pages":[
{"url":"https://harbour.example/a.html","ai_indexable":true},
{"url":"https://harbour.example/log.html","ai_indexable":false,"auth_required":true}]}"#;

#[test] // ARC-064
fn restricts_pages_by_the_arc_sitemap_without_a_state() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.html", "log.html", "log.md"] {
        put(&folder.path().join("public").join(name), b"<p>text");
    }
    put(&folder.path().join("public/arc-sitemap.json"), SITEMAP.as_bytes());
    let path = folder.path().join("tokens.toml");
    let token = token(&path, "one");
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    let reported = running.reported();
    let closed = AccessSummary { by: RestrictionSource::Announced, paths: 1, tokens: 1 };
    assert_eq!(running.site.closed(), closed);
    for path in ["/log.html", "/log", "/log.md", "/LOG.html"] {
        assert_ne!(running.get(path).status, 200, "{path}");
    }
    assert_eq!((running.get("/log").status, running.with("/log", &token)), (401, 200));
    assert_eq!(running.get("/a.html").status, 200);
    // A new sitemap is loaded; an invalid or missing one lifts no restriction.
    let both = SITEMAP.replace("\"ai_indexable\":true", "\"auth_required\":true");
    swap(&running.public("arc-sitemap.json"), both.as_bytes());
    wait_for("a refusal", || running.get("/a.html").status == 401);
    swap(&running.public("arc-sitemap.json"), b"{");
    wait_for("a report", || reported.lock().unwrap().len() == 1);
    fs::remove_file(running.public("arc-sitemap.json")).unwrap();
    wait_for("a report", || reported.lock().unwrap().len() == 2);
    assert!(reported.lock().unwrap()[1].contains("stay in force"), "{reported:?}");
    assert_eq!((running.get("/a.html").status, running.get("/log.html").status), (401, 401));
}

#[test] // ARC-064
fn refuses_tokens_without_known_restrictions() {
    let folder = tempfile::tempdir().unwrap();
    let sitemap = folder.path().join("public/arc-sitemap.json");
    put(&folder.path().join("public/a.html"), b"<p>text");
    let path = folder.path().join("tokens.toml");
    token(&path, "one");
    let open = |unknown, tokens| {
        let settings = SiteSettings::new(folder.path().join("public"));
        Site::open(SiteSettings { unknown, tokens, ..settings }, Vec::new())
            .map(|site| site.closed().by)
            .map_err(|error| error.to_string())
    };
    let unrestricted = Ok(RestrictionSource::None);
    assert_eq!(open(UnknownAccess::Refused, None), unrestricted);
    assert!(
        open(UnknownAccess::Refused, Some(path.clone())).unwrap_err().contains("no served.json")
    );
    assert_eq!(open(UnknownAccess::Open, Some(path.clone())), unrestricted);
    put(&sitemap, b"{\"pages\":");
    assert!(open(UnknownAccess::Refused, None).unwrap_err().contains("arc-sitemap.json"));
    assert_eq!(open(UnknownAccess::Open, None), unrestricted);
    put(&sitemap, SITEMAP.as_bytes());
    assert_eq!(open(UnknownAccess::Open, Some(path)), Ok(RestrictionSource::Announced));
}

#[test] // ARC-066
fn a_revoked_token_is_refused_on_an_idle_server() {
    let (running, first) = running();
    assert_eq!(running.with("/log.html", &first), 200);
    let tokens = running.folder.path().join("tokens.toml");
    let text = fs::read(&tokens).unwrap();
    // No request within the check interval; the next one is refused.
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
fn reports_unreadable_tokens_without_requests() {
    let (running, _) = running();
    let reported = running.reported();
    swap(&running.folder.path().join("tokens.toml"), b"[[tokens]]");
    wait_for("a report", || reported.lock().unwrap().iter().any(|text| text.contains("line 1")));
}

/// An unchanged file is read once, independent of other files.
#[test]
fn reads_an_invalid_file_once() {
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
        // Each check finds the other file changed and this one unchanged.
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
fn a_revoked_token_gives_no_access() {
    let path = "/arc-api/v1/pages";
    let (running, first) = running();
    put(&running.state("private/pages.jsonl"), b"");
    let tokens = running.folder.path().join("tokens.toml");
    let reported = running.reported();
    assert_eq!((running.with(path, &first), running.with("/log.html", &first)), (200, 200));
    // Requests for the API alone notice it, too.
    swap(&tokens, b"");
    wait_for("a refusal", || running.with(path, &first) == 401);
    // An invalid served.json does not prevent it.
    let second = token(&tokens, "two");
    wait_for("an answer", || running.with(path, &second) == 200);
    swap(&running.state("served.json"), b"{");
    swap(&tokens, b"");
    wait_for("a refusal", || running.with(path, &second) == 401);
    // A token file that cannot be read keeps the tokens, which is reported.
    let third = token(&tokens, "three");
    wait_for("an answer", || running.with(path, &third) == 200);
    swap(&tokens, b"[[tokens]]");
    let is_reported = || reported.lock().unwrap().iter().any(|text| text.contains("line 1"));
    wait_for("a report", || running.with(path, &third) == 200 && is_reported());
    assert!(running.handle.reload().unwrap_err().to_string().contains("served.json"));
    // A deleted file leaves no tokens.
    fs::remove_file(&tokens).unwrap();
    wait_for("a refusal", || running.with(path, &third) == 401);
    assert_eq!(running.with("/log.html", &third), 401);
    assert_eq!(running.get(path).status, 401, "the API is still there");
    let fourth = token(&tokens, "four");
    wait_for("an answer", || running.with(path, &fourth) == 200);
}

#[test]
fn loads_the_next_catalog_once() {
    let (running, _) = running();
    let ahead = || {
        let text = running.site.metrics().text();
        let line = text.lines().find(|line| line.contains("result=\"ahead\"")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let next = SERVED.replace("\"files\":[", "\"files\":[\n{\"path\":\"new-7.txt\",\"type\":\"text/plain\",\"cache\":\"entry\",\"access\":\"token\"},");
    put(&running.state("next/served"), next.as_bytes());
    put(&running.state("journal.json"), b"{}");
    // File times have a resolution of a few milliseconds.
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
fn a_date_belongs_to_bytes() {
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
    let reported = "Sun, 02 Feb 2020 02:02:02 GMT";
    assert_eq!(date(), reported);
    // Another mode, and a later copy.
    fs::set_permissions(running.public("a.html"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(date(), reported);
    swap(&running.public("a.html"), b"<p>a");
    assert_eq!(date(), reported);
    swap(&running.public("a.html"), b"<p>b");
    assert_ne!(date(), reported);
}

#[test] // SCP-160 D10
fn snapshot_lifetime_is_the_update_interval() {
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
fn ignores_a_compressed_file_with_other_content() {
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
        // The plain file is newer, then the compressed one is damaged, then valid again.
        swap(&running.public("a.json"), b"[]");
        assert_eq!(ask(), (None, None, b"[]".to_vec()));
        swap(&running.public("a.json.gz"), &gzip(b"[]")[..12]);
        assert_eq!(ask(), (None, None, b"[]".to_vec()));
        swap(&running.public("a.json.gz"), &gzip(b"[]"));
        assert_eq!(ask().0.as_deref(), Some("gzip"));
    }
}

#[test]
fn serves_below_the_path_of_the_base_url() {
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
fn restrictions_apply_to_cached_files() {
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
