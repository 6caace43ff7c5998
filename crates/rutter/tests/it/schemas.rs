//! Tests that each JSON output matches its schema in `docs/schemas`.
//!
//! `outputs!` lists each output with its schema and generates a test for it, which runs the program
//! on real data and validates each document or line. Further tests compare this list with the
//! arguments of the program, with the schema files and with `docs/schemas/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_testkit::server::{Reply, Server};
use serde_json::Value;

use crate::serve::Serving;
use crate::sync_line::{command, page, server};
use crate::{replica, root, run, serve, spxi, stage};

/// Schemas of files that people write, which no command prints.
const SETTINGS: [&str; 2] = ["rutter", "entity"];

/// An output: its command line and its schema.
struct Case {
    output: &'static str,
    schema: &'static str,
}

impl Case {
    /// Runs the command with more arguments, and validates its output.
    fn run(&self, folder: &Path, more: &[&str]) -> Vec<Value> {
        let words = self.output.split(' ').chain(more.iter().copied());
        let words: Vec<&str> = words.collect();
        let output = command(folder, &words).output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {talk}");
        self.validate(&String::from_utf8(output.stdout).unwrap())
    }

    /// Validates a document, or every line where the output is lines.
    fn validate(&self, text: &str) -> Vec<Value> {
        let validator = jsonschema::validator_for(&schema(self.schema)).unwrap();
        let is_lines = is_lines(self.output);
        let values: Vec<Value> = if is_lines {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        } else {
            vec![serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))]
        };
        assert!(!values.is_empty(), "{}: nothing was printed", self.output);
        for value in &values {
            let errors: Vec<String> = validator
                .iter_errors(value)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {value}\n{errors:#?}", self.output);
            // Unknown and missing members are errors.
            let members = value.as_object().unwrap();
            if self.schema != "page" {
                let mut odd = value.clone();
                odd["unheard_of"] = Value::Null;
                assert!(!validator.is_valid(&odd), "{}", self.output);
            }
            let is_needed = members.keys().any(|name| {
                let mut poor = members.clone();
                poor.remove(name);
                !validator.is_valid(&Value::Object(poor))
            });
            assert!(is_needed, "{}: no member is required", self.output);
        }
        values
    }
}

fn is_lines(output: &str) -> bool {
    output.ends_with("jsonl") || output.ends_with("--log FILE") || output == "changes"
}

fn schema(name: &str) -> Value {
    let path = root().join(format!("docs/schemas/{name}.schema.json"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The example with its settings in `target`, built into `target/public`.
fn example() -> (tempfile::TempDir, PathBuf) {
    let folder = stage();
    let said = run(
        "cp -r examples/harbour examples/rutter.toml examples/entities target/ && \
         cd target && rutter build harbour --out public --inject",
        folder.path(),
    );
    assert!(said.contains("files "), "{said}");
    let target = folder.path().join("target");
    (folder, target)
}

/// A folder with a replica.
fn replica() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    drop(replica::make(&folder.path().join("replica.db")));
    folder
}

/// The example, built for and served at an address of this machine; its sitemap also names a missing
/// page.
fn site() -> (tempfile::TempDir, Server, String) {
    let folder = stage();
    let server = server();
    let address = format!("http://{}", server.address());
    let said = run(
        &format!(
            "cp -r examples/harbour target/ && unset SOURCE_DATE_EPOCH && \
             rutter build target/harbour --base-url {address}/ --out target/public"
        ),
        folder.path(),
    );
    assert!(said.contains("files "), "{said}");
    let public = folder.path().join("target/public");
    route(&server, &public, "/");
    (folder, server, address)
}

fn route(server: &Server, folder: &Path, path: &str) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            route(server, &entry.path(), &format!("{path}{name}/"));
            continue;
        }
        let media_type = match name.rsplit('.').next().unwrap() {
            "html" => "text/html; charset=utf-8",
            "xml" => "application/xml",
            "json" | "jsonld" => "application/json",
            "txt" => "text/plain",
            "md" => "text/markdown",
            _ => "application/octet-stream",
        };
        let reply = Reply::ok(media_type, fs::read(entry.path()).unwrap());
        if name == "index.html" {
            server.route(path, [reply.clone()]);
        }
        server.route(&format!("{path}{name}"), [reply]);
    }
}

/// Creates a site whose sitemap names an existing and a missing page.
fn gappy() -> (tempfile::TempDir, Server, String) {
    let server = server();
    let address = format!("http://{}", server.address());
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>{address}/a</loc></url><url><loc>{address}/b</loc></url></urlset>"
    );
    server.route("/sitemap.xml", [Reply::ok("application/xml", sitemap)]);
    server.route("/a", [Reply::ok("text/html", page("/a", "calm"))]);
    server.route("/b", [Reply::status(404)]);
    (tempfile::tempdir().unwrap(), server, address)
}

const STORE: [&str; 2] = ["--store", "replica.db"];
const NET: [&str; 3] = ["--allow-loopback", "--pace", "0"];

/// Runs a case in a replica.
fn in_replica(it: &Case, more: &[&str]) -> Vec<Value> {
    it.run(replica().path(), &[more, &STORE].concat())
}

/// Runs a sync, audit or preview of a site with collections, of one without, and of one that
/// cannot be visited.
fn of_sync(it: &Case, is_synced: bool) {
    let (folder, _server, address) = site();
    let (_other, _gaps, gaps) = gappy();
    if is_synced {
        let args = [&["sync", &address, &gaps], &NET[..], &STORE].concat();
        command(folder.path(), &args).output().unwrap();
    }
    let sites = [address.as_str(), &gaps, "http://127.0.0.1:9/"];
    let words: Vec<&str> = it.output.split(' ').collect();
    let args = [&words[..], &sites, &NET, &STORE].concat();
    let output = command(folder.path(), &args).output().unwrap();
    let values = it.validate(&String::from_utf8(output.stdout).unwrap());
    let sites: Vec<&Value> = match values.as_slice() {
        [one] if one["sites"].is_array() => one["sites"].as_array().unwrap().iter().collect(),
        lines => lines.iter().collect(),
    };
    // The same site has the same name, whether or not it could be read.
    let names: BTreeSet<&str> = sites.iter().map(|site| site["site"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from([address.as_str(), &gaps, "http://127.0.0.1:9"]));
    assert!(sites.iter().any(|site| site["error"].is_string()), "{sites:?}");
}

/// Two collections of two days in `target`.
fn collections() -> (tempfile::TempDir, PathBuf) {
    let folder = stage();
    let said = run(
        "grep -v shop/tide-clock examples/harbour.jsonl > target/1.jsonl && \
         grep -v blog/herring-count examples/harbour.jsonl | \
         sed '/museum\\/visit/s/\"modified\":\"[^\"]*\"/\"modified\":\"2026-10-02T08:00:00Z\"/' \
         > target/2.jsonl && cd target && \
         rutter scp pack 1.jsonl -o 1.scp.zst --generated 2026-10-01T00:00:00Z && \
         rutter scp pack 2.jsonl -o 2.scp.gz --generated 2026-10-02T09:00:00Z && \
         rutter scp diff 1.scp.zst 2.scp.gz -o delta.scp.zst",
        folder.path(),
    );
    assert!(said.contains("delta.scp.zst"), "{said}");
    let target = folder.path().join("target");
    (folder, target)
}

fn of_check(it: &Case) {
    let (folder, _) = example();
    it.run(folder.path(), &["target/public", "arc/generator-nulls.json"]);
}

fn of_robots(it: &Case) {
    let file = root().canonicalize().unwrap().join("examples/harbour/robots.txt");
    let urls = ["https://harbour.example/", "/drafts/", "/shop/"];
    it.run(&root(), &[&[file.to_str().unwrap(), "--agent", "GPTBot"], &urls[..]].concat());
}

fn of_left_out(it: &Case) {
    let (folder, _server, address) = gappy();
    let args = [&["sync", &address], &NET[..], &STORE].concat();
    command(folder.path(), &args).output().unwrap();
    it.run(folder.path(), &STORE);
}

/// A page with `data-ai-*` attributes, one whose snapshot is in the ARC sitemap, one without any.
fn of_arc_snapshot(it: &Case) {
    let server = server();
    let address = format!("http://{}", server.address());
    let arc = format!(
        r#"{{"arc_sitemap_version":"2.1","site":"{address}","generated_at":"2026-01-02T00:00:00Z",
        "pages":[{{"url":"{address}/own","ai_indexable":true}},
        {{"url":"{address}/none","ai_indexable":true}},
        {{"url":"{address}/closed","ai_indexable":false}},
        {{"url":"{address}/tides","ai_indexable":true,
          "ai_snapshot":{{"page":"tides","title":"Tides","summary":"High water at noon"}}}}]}}"#
    );
    server.route("/arc-sitemap.json", [Reply::ok("application/json", arc)]);
    let own = "<title>Berths</title><main data-ai-page=berths data-ai-summary='Free berths'>\
               <p>Berths for visitors.</p></main>";
    server.route("/own", [Reply::ok("text/html", own)]);
    server.route("/none", [Reply::ok("text/html", page("/none", "calm"))]);
    let folder = tempfile::tempdir().unwrap();
    let args = [&["sync", &address], &NET[..], &STORE].concat();
    command(folder.path(), &args).output().unwrap();
    for (path, source, text) in
        [("/own", "page", "Free berths"), ("/tides", "arc", "High water at noon")]
    {
        let url = format!("{address}{path}");
        let values = it.run(folder.path(), &[&[url.as_str()], &STORE[..]].concat());
        let [value] = values.as_slice() else { panic!("{values:?}") };
        assert_eq!((&value["url"], &value["source"]), (&url.into(), &source.into()));
        assert!(value["snapshot"].to_string().contains(text), "{value}");
    }
    for (path, code, wanted) in
        [("/none", 1, "the page has no ARC snapshot"), ("/closed", 5, "stored without content")]
    {
        let url = format!("{address}{path}");
        let words = it.output.split(' ').chain([url.as_str()]).chain(STORE);
        let output = command(folder.path(), &words.collect::<Vec<_>>()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(code), &b""[..]));
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(talk.contains(wanted), "{talk}");
    }
}

fn of_drown(it: &Case) {
    let folder = spxi::lossy();
    let target = folder.path().join("target");
    let answer = |run: &str, text: &str| {
        for system in ["a", "b"] {
            for question in ["what", "who", "different", "used", "open"] {
                let path = target.join(format!("{system}/loft/{question}.txt"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        it.run(&target, &["--run", run, "--transcripts", "a=a", "--transcripts", "b=b"]);
    };
    answer("one", "The Loft was raised in 1903 under Norwegian slate.");
    answer("two", "The Loft is a flat for rent.");
}

fn of_log(it: &Case) {
    let (folder, _server, address) = gappy();
    let args = [&["sync", &address, "--log", "log.jsonl"], &NET[..], &STORE].concat();
    command(folder.path(), &args).output().unwrap();
    it.validate(&fs::read_to_string(folder.path().join("log.jsonl")).unwrap());
}

fn of_access_log(it: &Case) {
    let folder = serve::built();
    let mut serving = Serving::start(folder.path(), &["--log-format", "jsonl"]);
    assert_eq!(serving.get("/", &[("User-Agent", "GPTBot"), ("Referer", "/x")]).status, 200);
    assert_eq!(serving.get("/none", &[]).status, 404);
    serving.signal("-TERM");
    serving.hear("stopping");
    it.validate(&serving.end().1);
}

macro_rules! outputs {
    ($($test:ident, $output:literal, $schema:literal, $check:expr;)*) => {
        const OUTPUTS: &[(&str, &str)] = &[$(($output, $schema)),*];
        $(
            #[test]
            fn $test() {
                let check: fn(&Case) = $check;
                check(&Case { output: $output, schema: $schema });
            }
        )*
    };
}

outputs! {
    build, "build --json", "build", |it| {
        let (_folder, target) = example();
        it.run(&target, &["harbour", "--out", "again", "--state", "state"]);
    };
    check_document, "check --format json", "check", of_check;
    check_lines, "check --format jsonl", "check-line", of_check;
    rules, "rules --json", "rules", |it| drop(it.run(&root(), &[]));
    extract_document, "extract --format json", "page", |it| {
        it.run(&root(), &["examples/harbour/docs/tides-api.html"]);
    };
    extract_lines, "extract --format jsonl", "page", |it| drop(it.run(&root(), &["examples/harbour"]));
    discover, "discover --json", "discover", |it| {
        let (folder, _server, address) = site();
        let found = it.run(folder.path(), &[&[address.as_str()], &NET[..]].concat());
        assert_eq!(found[0]["site"], address);
    };
    sync_document, "sync --format json", "sync", |it| of_sync(it, false);
    sync_lines, "sync --format jsonl", "sync-line", |it| of_sync(it, false);
    sync_preview_document, "sync --dry-run --format json", "sync-dry-run", |it| of_sync(it, false);
    sync_preview_lines, "sync --dry-run --format jsonl", "sync-dry-run-line", |it| of_sync(it, false);
    sync_audit_document, "sync --audit --format json", "sync-audit", |it| of_sync(it, true);
    sync_audit_lines, "sync --audit --format jsonl", "sync-audit-line", |it| of_sync(it, true);
    request_log, "sync --log FILE", "request-log-line", of_log;
    status, "status --json", "status", |it| {
        in_replica(it, &[]);
        in_replica(it, &["--site", "pier.example"]);
        let (folder, _server, address) = gappy();
        let args = [&["sync", &address], &NET[..], &STORE].concat();
        command(folder.path(), &args).output().unwrap();
        it.run(folder.path(), &STORE);
    };
    get, "get --format json", "page", |it| {
        in_replica(it, &["https://harbour.example/docs/tides-api.html"]);
    };
    get_arc_snapshot, "get --format arc-snapshot", "get-arc-snapshot", of_arc_snapshot;
    list_document, "list --format json", "list", |it| drop(in_replica(it, &["--withheld"]));
    list_lines, "list --format jsonl", "list-line", |it| drop(in_replica(it, &["--withheld"]));
    left_out_document, "list --left-out --format json", "list-left-out", of_left_out;
    left_out_lines, "list --left-out --format jsonl", "list-left-out-line", of_left_out;
    changes, "changes", "changes-line", |it| {
        in_replica(it, &[]);
        in_replica(it, &["--content", "json"]);
        let folder = replica();
        let forget = ["forget", "pier.example", STORE[0], STORE[1]];
        assert!(command(folder.path(), &forget).status().unwrap().success());
        it.run(folder.path(), &STORE);
    };
    search_document, "search --format json", "search", |it| drop(in_replica(it, &["tide"]));
    search_lines, "search --format jsonl", "search-line", |it| {
        in_replica(it, &["tide"]);
        in_replica(it, &["fohorn that zeppelins sound"]);
    };
    export, "export --format jsonl", "export-line", |it| {
        for more in [&["--withheld"][..], &["--content", "text"], &["--content", "markdown"]] {
            in_replica(it, more);
        }
    };
    forget, "forget --json", "forget", |it| drop(in_replica(it, &["pier.example"]));
    entities_document, "entities --format json", "entities", |it| drop(in_replica(it, &[]));
    entities_lines, "entities --format jsonl", "entities-line", |it| drop(in_replica(it, &[]));
    policy_explain, "policy explain --json", "policy-explain", |it| {
        let (folder, _server, address) = site();
        let page = format!("{address}/docs/tides-api.html");
        it.run(folder.path(), &[&[page.as_str()], &NET[..], &STORE].concat());
    };
    robots_document, "robots --format json", "robots", of_robots;
    robots_lines, "robots --format jsonl", "robots-line", of_robots;
    logs, "logs --json", "logs", |it| drop(it.run(stage().path(), &["logs/harbour.log"]));
    access_log, "serve --log-format jsonl", "access-log-line", of_access_log;
    spxi_survive, "spxi survive --format json", "spxi-survive", |it| {
        it.run(&example().1, &["public"]);
        it.run(&spxi::lossy().path().join("target"), &[]);
    };
    spxi_drown, "spxi drown --format json", "spxi-drown", of_drown;
    spxi_status, "spxi status --json", "spxi-status", |it| {
        it.run(&spxi::lossy().path().join("target"), &[]);
    };
    inspect_document, "scp inspect --format json", "scp-inspect", |it| {
        it.run(&collections().1, &["1.scp.zst", "delta.scp.zst"]);
    };
    inspect_lines, "scp inspect --format jsonl", "scp-inspect-line", |it| {
        it.run(&collections().1, &["2.scp.gz", "delta.scp.zst"]);
    };
    inspect_pages_document, "scp inspect --pages --format json", "scp-inspect-pages", |it| {
        it.run(&collections().1, &["2.scp.gz"]);
    };
    inspect_pages_lines, "scp inspect --pages --format jsonl", "scp-inspect-pages-line", |it| {
        it.run(&collections().1, &["2.scp.gz"]);
    };
    inspect_content_document, "scp inspect --content --format json", "scp-inspect-content", |it| {
        it.run(&collections().1, &["2.scp.gz"]);
    };
    inspect_content_lines, "scp inspect --content --format jsonl", "page", |it| {
        it.run(&collections().1, &["2.scp.gz"]);
    };
    diff_document, "scp diff --format json", "scp-diff", |it| {
        it.run(&collections().1, &["1.scp.zst", "2.scp.gz"]);
    };
    diff_lines, "scp diff --format jsonl", "scp-diff-line", |it| {
        it.run(&collections().1, &["1.scp.zst", "2.scp.gz"]);
    };
}

#[test]
fn every_json_output_of_the_program_has_a_schema_and_a_test() {
    let output = command(&root(), &["docs", "json-outputs"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() >= 20, "{text}");
    let known: BTreeSet<&str> = OUTPUTS.iter().map(|(output, _)| *output).collect();
    let missing: Vec<&str> = text.lines().filter(|line| !known.contains(line)).collect();
    assert!(missing.is_empty(), "no schema and no test for {missing:#?}");
}

#[test]
fn every_schema_belongs_to_an_output_and_is_in_the_table() {
    let table = fs::read_to_string(root().join("docs/schemas/README.md")).unwrap();
    let used: BTreeSet<&str> = OUTPUTS.iter().map(|(_, schema)| *schema).chain(SETTINGS).collect();
    for entry in fs::read_dir(root().join("docs/schemas")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".schema.json") else { continue };
        assert!(used.contains(name), "{name}: no output has this schema");
    }
    for (output, schema) in OUTPUTS {
        let form = if is_lines(output) { "lines" } else { "document" };
        let row = format!("| `rutter {output}` | {form} | [{schema}]({schema}.schema.json) |");
        assert!(table.contains(&row), "docs/schemas/README.md lacks\n{row}");
    }
}

#[test]
fn schemas_list_every_member_and_allow_no_other() {
    for (_, name) in OUTPUTS {
        assert_strict(name, "", &schema(name));
    }
}

fn assert_strict(name: &str, place: &str, schema: &Value) {
    // Pages of sites may have members of their own.
    let is_page = place.ends_with("/page") || place.ends_with("/block");
    if is_page || (*name == *"page" && place.is_empty()) {
        return;
    }
    if schema["type"] == "object" && schema["properties"].is_object() {
        assert_eq!(schema["additionalProperties"], false, "{name}{place}");
        let required = schema["required"].as_array();
        assert!(required.is_some_and(|names| !names.is_empty()), "{name}{place}");
    }
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                assert_strict(name, &format!("{place}/{key}"), value);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                assert_strict(name, &format!("{place}/{at}"), value);
            }
        }
        _ => {}
    }
}

#[test]
fn json_is_the_short_form_of_one_document() {
    let folder = replica();
    for line in ["list", "search tide", "entities", "list --left-out"] {
        let print = |form: &[&str]| {
            let words: Vec<&str> = line.split(' ').collect();
            let args = [&words[..], form, &STORE].concat();
            command(folder.path(), &args).output().unwrap().stdout
        };
        let (short, long) = (print(&["--json"]), print(&["--format", "json"]));
        assert!(!long.is_empty() && short == long, "{line}");
        // The document has the objects of the lines.
        let document: Value = serde_json::from_slice(&long).unwrap();
        let lists = document.as_object().unwrap().values().find(|it| it.is_array());
        let lines: Vec<Value> = String::from_utf8(print(&["--format", "jsonl"]))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lists.unwrap().as_array().unwrap(), &lines, "{line}");
    }
}

#[test]
fn watch_rejects_json_document() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["sync", "https://harbour.example", "--watch", "--json"];
    let output = command(folder.path(), &args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--format jsonl"));
}
