//! Plants faults into the built example site, one by one: each must give exactly the codes of its
//! table, and the site without faults none.
//!
//! Each `[[fault]]` of `crates/rutter-check/fixtures/faults/*.toml` is a case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use rutter_check::{
    BuiltPage, CheckOptions, RestrictionReason, SiteBase, SiteCheckOptions, SiteOutcome,
    check_folder,
};
use rutter_finding::{Finding, Strictness};
use rutter_page::Timestamp;
use rutter_scp::{
    CollectionHeader, CollectionReader, CollectionWriter, Limits, OutputTarget, ReadOptions,
    StateTracking,
};
use serde::Deserialize;
use serde_json::Value;

/// Times of the first build, of the second build a day later, and of the check.
pub(crate) const TIMES: [i64; 3] = [1_793_491_200, 1_793_577_600, 1_793_581_200];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    fault: Vec<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fault {
    name: String,
    codes: BTreeSet<String>,
    edits: Vec<Edit>,
    /// Whether the check uses the state of the build.
    #[serde(default)]
    state: bool,
    /// Whether compressed and other copies are unchanged.
    #[serde(default)]
    keep_copies: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "an edit is one of several kinds")]
struct Edit {
    /// A file, or a collection without its file extensions.
    file: String,
    from: Option<String>,
    to: Option<String>,
    append: Option<String>,
    write: Option<String>,
    copy: Option<String>,
    delete: bool,
    /// A JSON pointer and its new value.
    set: Option<String>,
    value: Option<Value>,
    unset: Option<String>,
    /// The page of the collection; `*` for line 1.
    page: Option<String>,
    /// Removes the page from the collection.
    drop: bool,
    /// Adds a copy of the page under this URL.
    copied_to: Option<String>,
    /// Does not update checksum, state and advert.
    raw: bool,
    /// Does not update the advert.
    keep_advert: bool,
}

/// The example, built twice, with its state.
pub(crate) struct Built {
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    copy(&root, folder.path());
    let config = folder.path().join("rutter.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    let more = "restricted = [\"/museum/members\"]\n\
                sections = [{ name = \"blog\", prefix = \"/blog/\" }, { name = \"shop\", prefix = \"/shop/\" }]\n";
    text = text.replacen("base-url", &format!("{more}base-url"), 1);
    text.push_str("\n[layers]\ninject = true\n");
    let spxi = "[spxi]\nprotocol-doi = \"10.5281/zenodo.1234567\"\nkernel-doi = \"10.5281/zenodo.7654321\"\n";
    text = text.replacen("[spxi]\n", spxi, 1);
    fs::write(&config, text).unwrap();
    // Add what the example leaves out on purpose.
    let visit = folder.path().join("harbour/museum/visit.html");
    let page = fs::read_to_string(&visit).unwrap();
    let about = "<meta name=\"description\" content=\"When the museum is open, what it costs, how to get in.\">\n</head>";
    fs::write(&visit, page.replacen("</head>", about, 1)).unwrap();
    for name in ["harbour-museum", "port-selk", "tides-api"] {
        let path = folder.path().join(format!("entities/{name}.toml"));
        let text = fs::read_to_string(&path).unwrap();
        let mut text = format!("basin-state = \"contested\"\nbdr = 0.4\n{text}");
        let more = "\n[[collisions]]\nwith = \"Selk (river)\"\ndiffers = \"A river, not what lies at its mouth.\"\nrisk = \"low\"\n";
        if name != "harbour-museum" {
            text.push_str(more);
        }
        fs::write(&path, text).unwrap();
    }
    build(folder.path(), TIMES[0]);
    let page = folder.path().join("harbour/blog/herring-count.html");
    let text = fs::read_to_string(&page).unwrap();
    let added = "<p>The fourth count begins in June of next year, and helpers are welcome then.</p>\n</article>";
    assert!(text.contains("</article>"), "the page has an article");
    fs::write(&page, text.replacen("</article>", added, 1)).unwrap();
    build(folder.path(), TIMES[1]);
    Built { folder }
});

fn build(folder: &Path, now: i64) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rutter"));
    // Variables of the environment must not affect the build.
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("RUTTER_")) {
        program.env_remove(name);
    }
    let output = program
        .args(["build", "harbour", "--out", "out", "--config", "rutter.toml"])
        .current_dir(folder)
        .env("SOURCE_DATE_EPOCH", now.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        // Do not copy the state of another build.
        if entry.file_name() == ".rutter" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn judge(dir: &Path, known: Vec<BuiltPage>) -> SiteOutcome {
    let judging = SiteCheckOptions {
        check_options: CheckOptions {
            mode: Strictness::Strict,
            now: Timestamp::from_unix_seconds(TIMES[2]),
            ..CheckOptions::default()
        },
        threads: 1,
        ..SiteCheckOptions::default()
    };
    let home = SiteBase::parse("https://harbour.example/");
    check_folder(dir, home, known, &judging).unwrap()
}

/// Returns the pages in the state.
fn known() -> Vec<BuiltPage> {
    let state = BUILT.folder.path().join(".rutter");
    let all = rutter_site::load_cached_pages(&state).unwrap();
    assert!(!all.is_empty());
    let page = |one: rutter_site::CachedPage| {
        let closed = one.is_closed().then_some(RestrictionReason::Away);
        let known = BuiltPage {
            url: one.url.into(),
            source: one.source.0,
            line: one.line,
            twin: one.twin,
            title: one.title.into(),
            closed,
            coverage: one.coverage,
            findings: Vec::new(),
        };
        known.with_findings(one.findings)
    };
    all.into_iter().map(page).collect()
}

/// Returns all findings, one per line, and their codes.
fn told(outcome: &SiteOutcome) -> (String, BTreeSet<String>) {
    let (mut text, mut codes) = (String::new(), BTreeSet::new());
    for judgement in &outcome.file_reports {
        for (_, finding) in judgement.report.findings() {
            let Finding { rule, place, detail } = finding;
            writeln!(
                text,
                "    {}: {place}: {} {}: {detail}",
                judgement.name, rule.code, rule.name
            )
            .unwrap();
            codes.insert(rule.code.to_owned());
        }
    }
    (text, codes)
}

#[test]
fn site_without_faults_has_no_findings() {
    let dir = BUILT.folder.path().join("out");
    for known in [Vec::new(), known()] {
        let has_state = !known.is_empty();
        let outcome = judge(&dir, known);
        let (text, _) = told(&outcome);
        assert!(text.is_empty(), "with state: {has_state}\n{text}");
        assert_eq!(outcome.pages, 19);
        assert_eq!(outcome.known, if has_state { 19 } else { 0 });
    }
}

#[test] // SPX-003 SPX-064 SPX-066 SPX-070 SPX-071
fn planted_faults_have_their_codes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rutter-check/fixtures/faults");
    let mut faults: Vec<Fault> = Vec::new();
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for name in names {
        let text = fs::read_to_string(&name).unwrap();
        let table: Table =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        faults.extend(table.fault);
    }
    assert!(150 <= faults.len(), "only {} faults", faults.len());
    let mut seen = BTreeSet::new();
    for fault in &faults {
        assert!(seen.insert(&fault.name), "two faults are called {}", fault.name);
    }
    let clean = BUILT.folder.path().join("out");
    let remembered = known();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(fault) = faults.get(at) else { break };
                    let tried = std::panic::catch_unwind(|| {
                        let folder = tempfile::tempdir().unwrap();
                        copy(&clean, folder.path());
                        plant(fault, folder.path());
                        let known = if fault.state { remembered.clone() } else { Vec::new() };
                        told(&judge(folder.path(), known))
                    });
                    let (text, codes) = tried.unwrap_or_else(|_| {
                        ("    it could not be planted or judged".to_owned(), BTreeSet::new())
                    });
                    if codes != fault.codes {
                        let what =
                            format!("  expected {:?}\n  found    {codes:?}\n{text}", fault.codes);
                        wrong.lock().unwrap().insert(fault.name.clone(), what);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let mut text = String::new();
    for (name, what) in &wrong {
        writeln!(text, "{name}\n{what}").unwrap();
    }
    assert!(wrong.is_empty(), "{} of {}:\n{text}", wrong.len(), faults.len());
}

/// Plants a fault in a copy of the site.
fn plant(fault: &Fault, dir: &Path) {
    let mut touched: Vec<String> = Vec::new();
    for edit in &fault.edits {
        let name = resolved(&edit.file, dir);
        if edit.page.is_some() {
            plant_in_collection(edit, &name, dir);
            continue;
        }
        let path = dir.join(&name);
        touched.push(name.clone());
        if edit.delete {
            fs::remove_file(&path).unwrap_or_else(|_| panic!("{}: {name}", fault.name));
            continue;
        }
        if let Some(other) = &edit.copy {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(dir.join(resolved(other, dir)), &path).unwrap();
        }
        if let Some(text) = &edit.write {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
        if let Some(more) = &edit.append {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(more.as_bytes()).unwrap();
        }
        if let Some(from) = &edit.from {
            let text = fs::read_to_string(&path).unwrap();
            let from = resolved(from, dir);
            assert!(text.contains(&from), "{}: {name} has no {from}", fault.name);
            fs::write(&path, text.replacen(&from, edit.to.as_deref().unwrap_or(""), 1)).unwrap();
        }
        if edit.set.is_some() || edit.unset.is_some() {
            let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            change(&mut value, edit, &fault.name);
            fs::write(&path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
        }
    }
    if fault.keep_copies {
        return;
    }
    for name in touched {
        let plain = dir.join(&name);
        let packed = dir.join(format!("{name}.gz"));
        if packed.exists() && plain.exists() {
            let mut out = GzEncoder::new(File::create(&packed).unwrap(), Compression::fast());
            out.write_all(&fs::read(&plain).unwrap()).unwrap();
            out.finish().unwrap();
        }
        if name == "arc-sitemap.json" {
            for copy in
                [".well-known/arc-sitemap.json.gz", "arc-sitemap.yaml", "arc-sitemap.yaml.gz"]
            {
                fs::remove_file(dir.join(copy)).unwrap();
            }
            let pointer = dir.join("arc-sitemap.jsonld");
            let mut value: Value = serde_json::from_slice(&fs::read(&pointer).unwrap()).unwrap();
            value["distribution"].as_array_mut().unwrap().truncate(1);
            fs::write(&pointer, value.to_string()).unwrap();
            match fs::read(&plain) {
                Ok(bytes) => fs::write(dir.join(".well-known/arc-sitemap.json"), bytes).unwrap(),
                Err(_) => fs::remove_file(dir.join(".well-known/arc-sitemap.json")).unwrap(),
            }
        }
    }
}

/// Replaces `{all-snapshot}` with the path of that collection without file extensions.
pub(crate) fn resolved(text: &str, dir: &Path) -> String {
    let mut out = text.to_owned();
    while let Some(start) = out.find('{') {
        let Some(end) = out[start..].find('}').map(|at| start + at) else { break };
        let wanted = out[start + 1..end].to_owned();
        if !wanted.contains("-snapshot") && !wanted.contains("-delta") {
            break;
        }
        let names = fs::read_dir(dir.join("scp")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let found = names.filter(|name| name.starts_with(&wanted)).max();
        let found = found.unwrap_or_else(|| panic!("no collection {wanted}"));
        let stem = found.split(".scp").next().unwrap().to_owned();
        out.replace_range(start..=end, &format!("scp/{stem}"));
    }
    out
}

fn change(value: &mut Value, edit: &Edit, name: &str) {
    let split = |pointer: &str| {
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        (parent.to_owned(), last.replace("~1", "/").replace("~0", "~"))
    };
    if let Some(pointer) = &edit.set {
        let (parent, last) = split(pointer);
        let new = edit.value.clone().unwrap();
        let parent = value.pointer_mut(&parent).unwrap_or_else(|| panic!("{name}: {pointer}"));
        match parent {
            Value::Object(map) => drop(map.insert(last, new)),
            Value::Array(list) if last == "-" => list.push(new),
            Value::Array(list) => list[last.parse::<usize>().unwrap()] = new,
            _ => panic!("{name}: {pointer}"),
        }
    }
    if let Some(pointer) = &edit.unset {
        let (parent, last) = split(pointer);
        match value.pointer_mut(&parent).unwrap_or_else(|| panic!("{name}: {pointer}")) {
            Value::Object(map) => drop(map.remove(&last).unwrap()),
            Value::Array(list) => drop(list.remove(last.parse().unwrap())),
            _ => panic!("{name}: {pointer}"),
        }
    }
}

/// Changes a collection in both codings, with its checksum, state and advert.
fn plant_in_collection(edit: &Edit, stem: &str, dir: &Path) {
    let wanted = edit.page.as_deref().unwrap();
    let path = dir.join(format!("{stem}.scp.gz"));
    let mut text = String::new();
    MultiGzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = match wanted {
        "*" => 0,
        url => {
            let is_it = |line: &String| line.starts_with(&format!("{{\"url\":\"{url}\""));
            lines.iter().position(is_it).unwrap_or_else(|| panic!("no {url} in {stem}"))
        }
    };
    if edit.drop {
        lines.remove(at);
    } else if let Some(other) = &edit.copied_to {
        let line = lines[at].replacen(
            &format!("\"url\":\"{wanted}\""),
            &format!("\"url\":\"{other}\""),
            1,
        );
        lines.push(line);
        lines[1..].sort();
    } else if let Some(from) = &edit.from {
        assert!(lines[at].contains(from), "{stem}: {wanted} has no {from}");
        lines[at] = lines[at].replacen(from, edit.to.as_deref().unwrap_or(""), 1);
    } else {
        let mut value: Value = serde_json::from_str(&lines[at]).unwrap();
        change(&mut value, edit, stem);
        lines[at] = value.to_string();
    }
    if edit.raw {
        let mut text = lines.join("\n");
        text.push('\n');
        let mut out = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap();
        let out = File::create(dir.join(format!("{stem}.scp.zst"))).unwrap();
        let mut out = zstd::Encoder::new(out, 1).unwrap();
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap();
    } else {
        repack(stem, dir, &lines);
    }
    if !edit.keep_advert {
        advertise(stem, dir, lines.len() - 1);
    }
}

/// Writes lines as a valid collection.
fn repack(stem: &str, dir: &Path, lines: &[String]) {
    let names = ["gz", "zst"].map(|coding| dir.join(format!("{stem}.scp.{coding}")));
    let mut header = CollectionHeader::parse(&lines[0], &mut ()).unwrap();
    let mut writer = CollectionWriter::new(dir, StateTracking::State, Limits::SPEC).unwrap();
    for line in &lines[1..] {
        let value: Value = serde_json::from_str(line).unwrap();
        writer.line(value["url"].as_str().unwrap(), line.as_bytes()).unwrap();
    }
    let spooled = writer.close().unwrap();
    if header.kind == rutter_scp::CollectionKind::Snapshot {
        header.chain = spooled.snapshot_chain();
    }
    let targets: Vec<OutputTarget> =
        names.iter().map(|path| OutputTarget::from_file_name(path).unwrap()).collect();
    spooled.finish(header, &targets).unwrap();
}

/// Updates the advert of a collection in the sitemap.
fn advertise(stem: &str, dir: &Path, n_pages: usize) {
    let path = dir.join("sitemap.xml");
    let text = fs::read_to_string(&path).unwrap();
    let mut out = String::new();
    for line in text.lines() {
        let coding = ["gz", "zst"]
            .into_iter()
            .find(|coding| line.contains(&format!("/{stem}.scp.{coding}\"")));
        match coding {
            None => out.push_str(line),
            Some(coding) => {
                let size = fs::metadata(dir.join(format!("{stem}.scp.{coding}"))).unwrap().len();
                let line = put(line, "size", size);
                out.push_str(&put(&line, "pages", n_pages as u64));
            }
        }
        out.push('\n');
    }
    fs::write(&path, out).unwrap();
}

fn put(line: &str, name: &str, number: u64) -> String {
    let start = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    let end = start + line[start..].find('"').unwrap();
    format!("{}{number}{}", &line[..start], &line[end..])
}

#[test]
fn findings_of_two_pages_have_different_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    copy(&BUILT.folder.path().join("out"), folder.path());
    let stem = resolved("{all-snapshot}", folder.path());
    let text = "Only machines are told that the best berth of all is at this harbour.";
    for page in ["https://harbour.example/shop/", "https://harbour.example/docs/berthing.html"] {
        let edit = Edit {
            page: Some(page.to_owned()),
            set: Some("/content/-".to_owned()),
            value: Some(serde_json::json!({ "type": "text", "text": text })),
            ..Edit::default()
        };
        plant_in_collection(&edit, &stem, folder.path());
    }
    let outcome = judge(folder.path(), Vec::new());
    let mut prints = BTreeSet::new();
    for judgement in &outcome.file_reports {
        let found = judgement.report.findings().filter(|(_, it)| it.rule.code == "SE013");
        prints.extend(found.map(|(_, it)| rutter_report::fingerprint::of(&judgement.path(), it)));
    }
    assert_eq!(prints.len(), 2, "{}", told(&outcome).0);
}

/// Checks that planted collections are valid.
#[test]
fn planted_collection_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    copy(&BUILT.folder.path().join("out"), folder.path());
    let edit = Edit {
        page: Some("https://harbour.example/shop/".to_owned()),
        set: Some("/title".to_owned()),
        value: Some("Another".into()),
        ..Edit::default()
    };
    let stem = resolved("{all-snapshot}", folder.path());
    plant_in_collection(&edit, &stem, folder.path());
    let file = File::open(folder.path().join(format!("{stem}.scp.zst"))).unwrap();
    let mut reader = CollectionReader::open(file, ReadOptions::default(), &mut ()).unwrap();
    let mut titles = Vec::new();
    while let Some(title) = reader.next(&mut (), |record| record.page.title.to_string()).unwrap() {
        titles.push(title);
    }
    reader.finish(&mut ()).unwrap();
    assert!(titles.iter().any(|title| title == "Another"));
}
