//! Lost state, lost files, interrupted builds and invalid input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rutter_build::{BuildError, SourceKind};

use crate::site::{BASE, Site, page, words};

/// Files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Returns a site with edits, removals and new pages.
fn site_with_history() -> Site {
    let mut site = Site::of(50);
    site.put(
        "docs/0004.html",
        &page("Home", "Page 4", &words(4))
            .replace("</head>", "<meta name=\"robots\" content=\"noai\"></head>"),
    );
    site.build();
    site.put("docs/0010.html", &page("Home", "Page 10", &words(1010)));
    site.build();
    site.remove("blog/0009.html");
    site.put("blog/late.html", &page("Home", "Late", &words(4000)));
    site.build();
    site
}

#[test]
fn lost_state_is_rebuilt_from_published_files() {
    let (mut site, mut other) = (site_with_history(), site_with_history());
    let before = site.files();
    fs::remove_dir_all(site.path("state")).unwrap();
    let previous = site.path("out");
    let (outcome, events) = site.build_with(|plan| plan.previous = Some(previous)).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert!(events.messages[0].contains("50 pages"), "{:?}", events.messages);
    assert_eq!(site.files(), before);
    other.build();
    // Later builds continue normally.
    for site in [&mut site, &mut other] {
        site.put("docs/0020.html", &page("Home", "Page 20", &words(2020)));
        site.remove("docs/0022.html");
        site.build();
    }
    assert_eq!(site.files(), other.files());
}

#[test]
fn lost_cache_changes_no_date() {
    let mut site = site_with_history();
    let (before, ledger) = (site.files(), site.ledger());
    for name in ["pages.pack", "files.tsv", "served.json"] {
        fs::remove_file(site.path("state").join(name)).unwrap();
    }
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert_eq!(outcome.read, 51);
    assert_eq!(site.files(), before);
    assert_eq!(site.ledger(), ledger);
}

#[test]
fn emptied_folder_is_filled_again() {
    let mut site = site_with_history();
    let before = site.files();
    fs::remove_dir_all(site.path("out")).unwrap();
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert_eq!(site.files(), before);
    // In the site's own folder after a new run of the generator.
    let mut site = Site::of(30);
    site.build_with(|plan| plan.out = None).unwrap();
    let before = crate::site::files(&site.path("site"));
    for made in ["sitemap.xml", "llms.txt", "robots.txt", "docs/0002.md"] {
        assert!(before.contains_key(made), "{made}");
        site.remove(made);
    }
    fs::remove_dir_all(site.path("site/scp")).unwrap();
    site.build_with(|plan| plan.out = None).unwrap();
    assert_eq!(crate::site::files(&site.path("site")), before);
}

#[test]
fn foreign_files_are_not_changed() {
    let mut site = Site::of(10);
    for (name, text) in [
        ("sitemap.xml", "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>"),
        ("docs/0002.md", "mine"),
        ("robots.txt", "User-agent: *\nDisallow: /x/\n"),
        ("llms.txt", "# Mine\n"),
    ] {
        site.put(name, text);
    }
    let (_, events) = site.build_with(|plan| plan.out = None).unwrap();
    let files = crate::site::files(&site.path("site"));
    assert_eq!(files["docs/0002.md"], b"mine");
    assert!(files["sitemap.xml"].starts_with(b"<urlset"));
    assert!(files.contains_key("sitemap-rutter.xml"));
    assert_eq!(events.codes("sitemap.xml"), ["BD003"]);
    assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
    let robots = String::from_utf8(files["robots.txt"].clone()).unwrap();
    assert!(robots.starts_with("User-agent: *\nDisallow: /x/\n"));
    assert!(robots.contains(&format!("Sitemap: {BASE}sitemap-rutter.xml")));
    let llms = String::from_utf8(files["llms.txt"].clone()).unwrap();
    assert!(llms.starts_with("# Mine\n") && llms.contains("rutter:begin"));
    // With `force` it overwrites the files, and later deletes only its own.
    site.build_with(|plan| {
        plan.out = None;
        plan.replace = vec!["sitemap.xml".into()];
    })
    .unwrap();
    let files = crate::site::files(&site.path("site"));
    assert!(!files.contains_key("sitemap-rutter.xml"));
    assert!(files["sitemap.xml"].starts_with(b"<?xml"));
    site.build_with(|plan| {
        plan.out = None;
        plan.layers.robots = false;
        plan.layers.llms = false;
        plan.layers.sitemap = false;
    })
    .unwrap();
    let files = crate::site::files(&site.path("site"));
    assert!(files.contains_key("robots.txt") && files.contains_key("llms.txt"));
    assert!(!files.contains_key("sitemap.xml"));
    assert_eq!(files["docs/0002.md"], b"mine");
}

#[test]
fn invalid_files_do_not_affect_other_pages() {
    let mut site = Site::of(10);
    fs::write(site.path("site/picture.html"), b"\x89PNG\0\0\0").unwrap();
    site.put("a/index.html", &page("Home", "A", &words(50)));
    site.put("a/index.htm", &page("Home", "B", &words(51)));
    fs::write(site.path("site/latin.html"), b"<html lang=de><meta charset=iso-8859-1><title>Gr\xfc\xdfe</title><p>Sch\xf6ne Gr\xfc\xdfe von der Mole, wo das Wasser steht.").unwrap();
    site.put("empty.html", "");
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 13);
    assert_eq!(events.codes("picture.html"), ["BD001"]);
    assert_eq!(events.codes("a/index.html"), ["BD002"]);
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    assert!(lines.iter().any(|line| line.contains("Grüße von der Mole")));
    assert_eq!(site.row("empty.html")[1], "hidden");
    // A page that becomes unreadable keeps its published version.
    fs::write(site.path("site/docs/0002.html"), b"\0\0\0\0").unwrap();
    let outcome = site.build();
    assert_eq!((outcome.failed, outcome.removed), (2, 0));
    assert_eq!(site.row("docs/0002.html")[1], "public");
}

#[test]
fn rejects_state_of_another_site_or_version() {
    let mut site = Site::of(5);
    site.build();
    let other = site
        .build_with(|plan| plan.base = rutter_build::BaseUrl::parse("https://x.example").unwrap());
    assert!(matches!(other, Err(BuildError::OtherSite(..))));
    let ledger = site.path("state/ledger.tsv");
    let good = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, good.replace("ledger 2", "ledger 9")).unwrap();
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::NewerFormat(_))));
    fs::write(&ledger, good.replace("public", "pubic")).unwrap();
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::DamagedState(_, 2))));
    // A failed build leaves no files.
    assert!(!site.path("state/next").exists());
    let empty = Site::new();
    assert!(matches!({ empty }.build_with(|_| {}), Err(BuildError::NoPages(_))));
}

#[test]
fn reads_pages_from_json_lines_and_markdown() {
    let mut site = Site::of(24);
    site.build();
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let mut other = Site::new();
    let mut shuffled = lines.clone();
    shuffled.reverse();
    shuffled.push("{\"url\":\"https://elsewhere.example/\",\"title\":\"x\",\"description\":\"x\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}".into());
    fs::write(other.path("pages.jsonl"), shuffled.join("\n")).unwrap();
    let file = other.path("pages.jsonl");
    let (outcome, events) = other
        .build_with(|plan| {
            plan.site = file;
            plan.source = SourceKind::Lines;
        })
        .unwrap();
    assert_eq!(outcome.pages, 25);
    assert_eq!(events.findings.iter().map(|found| found.1).collect::<Vec<_>>(), ["BD012"]);
    assert_eq!(other.newest("all", "snapshot").unwrap().1, lines);
    // Small groups of pages share a section; large ones have their own.
    assert_eq!(outcome.sections.len(), 1);
    let mut site = Site::of(48);
    let wanted: Vec<(String, u64)> =
        site.build().sections.into_iter().map(|section| (section.name, section.pages)).collect();
    let mut other = Site::new();
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    fs::write(other.path("pages.jsonl"), lines.join("\n")).unwrap();
    let file = other.path("pages.jsonl");
    let (outcome, _) = other
        .build_with(|plan| {
            plan.site = file;
            plan.source = SourceKind::Lines;
        })
        .unwrap();
    let found = outcome.sections.into_iter().map(|section| (section.name, section.pages));
    assert_eq!(found.collect::<Vec<_>>(), wanted);
    assert_eq!(wanted.len(), 4);
    let mut notes = Site::new();
    notes.put(
        "index.md",
        "# Notes\n\nWhat the harbour keeps in mind, line by line and year by year.\n",
    );
    notes.put("tides/high.md", "---\ntitle: High water\ndate: 2025-03-04\n---\n\nHigh water is at noon, and the gate is open for three hours.\n");
    let (outcome, _) = notes.build_with(|plan| plan.source = SourceKind::Markdown).unwrap();
    assert_eq!(outcome.pages, 2);
    assert_eq!(notes.row("tides/high/")[4], "2025-03-04T00:00:00Z");
}

#[test]
fn next_build_completes_an_interrupted_publication() {
    let mut site = site_with_history();
    let old = site.files();
    site.put("docs/0030.html", &page("Home", "Page 30", &words(3030)));
    let (state, out) = (site.path("state"), site.path("out"));
    let (kept_state, kept_out) = (site.path("kept-state"), site.path("kept-out"));
    copy(&state, &kept_state);
    copy(&out, &kept_out);
    site.build();
    let new = site.files();
    // The journal of that publication after its commit: half of the staged files are already moved.
    let journal = changed(&old, &new);
    for n_moved in [0, journal.len() / 2, journal.len()] {
        fs::remove_dir_all(&state).unwrap();
        fs::remove_dir_all(&out).unwrap();
        copy(&kept_state, &state);
        copy(&kept_out, &out);
        lay_out(&site, &journal, n_moved, &old, &new);
        assert!(rutter_site::recover(&state).unwrap());
        assert_eq!(site.files(), new);
        assert!(!state.join("journal.json").exists());
        assert!(!rutter_site::recover(&state).unwrap());
    }
}

/// Returns the names of the files that differ.
fn changed(old: &Files, new: &Files) -> Vec<String> {
    let is_new = |(name, bytes): &(&String, &Vec<u8>)| old.get(*name) != Some(bytes);
    new.iter().filter(is_new).map(|(name, _)| name.clone()).collect()
}

fn lay_out(site: &Site, names: &[String], n_moved: usize, old: &Files, new: &Files) {
    let stage = site.path("state/stage");
    fs::create_dir_all(&stage).unwrap();
    let mut journal = vec![serde_json::json!({"format": 3})];
    for (n, name) in names.iter().enumerate() {
        let (from, to) = (stage.join(n.to_string()), site.path("out").join(name));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(if n < n_moved { &to } else { &from }, &new[name]).unwrap();
        let before = old.get(name).map(|bytes| {
            let time = fs::metadata(&to).unwrap().modified().unwrap();
            let nanos = time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
            (bytes.len(), u64::try_from(nanos).unwrap())
        });
        let step = serde_json::json!({"from": from, "to": to, "before": before});
        journal.push(serde_json::json!({"move": step}));
    }
    journal.push(serde_json::json!({"stage": stage}));
    let lines: Vec<String> = journal.iter().map(ToString::to_string).collect();
    fs::write(site.path("state/journal.json"), lines.join("\n")).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in crate::site::files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn pages_keep_their_content_when_neighbours_are_removed() {
    let mut site = Site::new();
    site.put("index.html", &page("Home", "Harbour", &words(7000)));
    for n in 0..700 {
        site.put(&format!("log/{n:04}.html"), &page("Home", &format!("Entry {n}"), &words(n)));
    }
    site.build();
    // The last and first pages of chunks, and a range across a boundary.
    let gone: Vec<usize> = (250..262).chain([511, 512, 513]).chain(640..700).collect();
    for n in &gone {
        site.remove(&format!("log/{n:04}.html"));
    }
    site.put("log/0100.html", &page("Home", "Entry 100", &words(8000)));
    let outcome = site.build();
    assert_eq!((outcome.changed, outcome.removed), (1, gone.len() as u64));
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(lines.len(), 701 - gone.len());
    for n in (0..700).filter(|n| !gone.contains(n) && *n != 100) {
        let url = format!("\"url\":\"{BASE}log/{n:04}.html\"");
        let line = lines.iter().find(|line| line.contains(&url)).unwrap();
        assert!(line.contains(&words(n)), "{n}: {line}");
        let twin = fs::read_to_string(site.path(&format!("out/log/{n:04}.md"))).unwrap();
        assert!(twin.contains(&words(n)), "{n}");
    }
}

#[test]
fn manifest_of_another_folder_is_ignored() {
    let mut site = Site::of(12);
    site.build();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5000)));
    let before = crate::site::files(&site.path("site"));
    // From a separate folder to the site's folder: no file of the site owner is deleted.
    let (outcome, _) = site.build_with(|plan| plan.out = None).unwrap();
    assert_eq!((outcome.pages, outcome.changed, outcome.deleted), (13, 1, 0));
    let after = crate::site::files(&site.path("site"));
    for (name, bytes) in &before {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
}

#[test]
fn keeps_files_written_after_an_interruption() {
    let mut site = Site::of(10);
    site.build_with(|plan| plan.out = None).unwrap();
    // A committed publication, and a later run of the generator.
    let (stage, target) = (site.path("state/stage"), site.path("site"));
    fs::create_dir_all(&stage).unwrap();
    for (name, text) in [("1", "stale page"), ("2", "ours"), ("3", "ours too")] {
        fs::write(stage.join(name), text).unwrap();
    }
    let time = |path: &Path| {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()
    };
    let robots = target.join("robots.txt");
    let before = (fs::metadata(&robots).unwrap().len(), time(&robots));
    let journal = format!(
        r#"{{"format":3}}
{{"move":{{"from":{:?},"to":{:?},"before":[1,1]}}}}
{{"move":{{"from":{:?},"to":{:?},"before":null}}}}
{{"move":{{"from":{:?},"to":{:?},"before":[{},{}]}}}}
{{"move":{{"from":"/nowhere/x","to":"/nowhere/y","before":null}}}}
{{"stage":{:?}}}
"#,
        stage.join("1"),
        target.join("docs/0002.html"),
        stage.join("2"),
        target.join("new.txt"),
        stage.join("3"),
        robots,
        before.0,
        before.1,
        stage,
    );
    fs::write(site.path("state/journal.json"), journal).unwrap();
    assert!(rutter_site::recover(&site.path("state")).unwrap());
    let text = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    assert!(text("docs/0002.html").contains("Page 2"));
    assert_eq!(text("new.txt"), "ours");
    assert_eq!(text("robots.txt"), "ours too");
}

#[test]
fn damaged_cache_counts_as_empty() {
    let mut site = site_with_history();
    let before = site.files();
    let pack = site.path("state/pages.pack");
    let good = fs::read(&pack).unwrap();
    for at in [9, good.len() / 2, good.len() - 3] {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        fs::write(&pack, bad).unwrap();
        let outcome = site.build();
        assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0), "{at}");
        assert_eq!(site.files(), before);
    }
}

#[test]
fn files_of_the_site_replace_twins_and_are_all_copied() {
    let mut site = Site::of(4);
    site.put("docs/0002.md", "the owner's own");
    site.put(".htaccess", "Deny from all");
    site.put("drafts/x.html", &page("Home", "X", &words(600)));
    site.put("data/x.bin", "\u{1}");
    let exclude = |plan: &mut rutter_build::BuildPlan| {
        plan.exclude = vec![rutter_build::Glob::new("drafts/")];
    };
    let (outcome, events) = site.build_with(exclude).unwrap();
    assert_eq!(outcome.pages, 5);
    let files = site.files();
    assert_eq!(files["docs/0002.md"], b"the owner's own");
    assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
    for name in [".htaccess", "drafts/x.html", "data/x.bin"] {
        assert!(files.contains_key(name), "{name}");
    }
    assert!(!files.contains_key("drafts/x.md"));
    // A changed rule in robots.txt is published.
    site.put("robots.txt", "User-agent: GPTBot\nDisallow: /\n");
    site.build_with(exclude).unwrap();
    assert!(site.files()["robots.txt"].starts_with(b"User-agent: GPTBot\nDisallow: /\n"));
    // Collections are withdrawn when the layer is off.
    site.build_with(|plan| {
        exclude(plan);
        plan.layers.collections = false;
    })
    .unwrap();
    let files = site.files();
    assert!(!files.keys().any(|name| name.starts_with("scp/")));
    assert!(!String::from_utf8_lossy(&files["llms.txt"]).contains("/scp/"));
}

#[test]
fn artifacts_move_to_a_new_output_folder() {
    let mut site = Site::of(8);
    let before = crate::site::files(&site.path("site"));
    site.build_with(|plan| plan.out = None).unwrap();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(6000)));
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.changed, 1);
    assert!(!events.findings.iter().any(|found| found.1 == "BD003"));
    let twin = fs::read_to_string(site.path("out/docs/0002.md")).unwrap();
    assert!(twin.contains(&words(6000)));
    // The site's own folder contains no artifact.
    let after = crate::site::files(&site.path("site"));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(site.build().is_unchanged());
}

#[test]
fn lost_state_is_rebuilt_from_the_output_folder() {
    let mut site = site_with_history();
    fs::remove_dir_all(site.path("state")).unwrap();
    site.put("docs/0012.html", &page("Home", "Page 12", &words(6012)));
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 1, 0));
    assert!(events.messages[0].starts_with("rebuilt the state from"), "{:?}", events.messages);
    let twin = fs::read_to_string(site.path("out/docs/0012.md")).unwrap();
    assert!(twin.contains(&words(6012)));
    // A folder without files of Rutter is not a previous output.
    let mut fresh = Site::of(3);
    let nothing = fresh.path("site");
    let wrong = fresh.build_with(|plan| plan.previous = Some(nothing));
    assert!(matches!(wrong, Err(BuildError::UnusablePrevious(..))));
}

#[test]
fn overwrites_files_listed_in_replace() {
    let mut site = Site::of(4);
    site.put("docs/0002.md", "mine");
    site.build_with(|plan| plan.replace = vec!["docs/0002.md".into()]).unwrap();
    assert!(site.files()["docs/0002.md"].starts_with(b"---"));
    let (_, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
    assert_eq!(site.files()["docs/0002.md"], b"mine");
}

#[test]
fn reports_findings_again_without_changes() {
    let mut site = Site::of(6);
    site.put("docs/0002.md", "the owner's own");
    site.put("headless.html", "<p>A page of a few words, and no head at all in it.");
    let change = |plan: &mut rutter_build::BuildPlan| {
        plan.base = rutter_build::BaseUrl::parse("https://harbour.example/pier/").unwrap();
        plan.out = None;
        plan.layers.inject = true;
    };
    let (_, first) = site.build_with(change).unwrap();
    let (outcome, again) = site.build_with(change).unwrap();
    assert!(outcome.is_unchanged());
    for (place, code) in
        [("docs/0002.md", "BD003"), ("robots.txt", "BD007"), ("headless.html", "BD010")]
    {
        assert!(first.codes(place).contains(&code), "{place}");
    }
    let sorted = |events: crate::site::RecordedEvents| {
        let mut findings = events.findings;
        findings.sort();
        findings
    };
    assert_eq!(sorted(first), sorted(again));
    assert!(outcome.findings.contains(&("BD003", 1)));
    // Without the foreign file, the artifact is written.
    site.remove("docs/0002.md");
    let (outcome, events) = site.build_with(change).unwrap();
    assert_eq!(outcome.written, 3, "the twin, and what names it: page and list");
    assert!(events.codes("docs/0002.md").is_empty());
}

/// Returns a site built in its own folder with every kind of artifact.
fn built_in_place() -> Site {
    let mut site = Site::of(46);
    site.put("robots.txt", "");
    site.build_with(|plan| plan.out = None).unwrap();
    site
}

#[test]
fn recognises_own_files_after_the_state_is_lost() {
    let (mut site, mut other) = (built_in_place(), built_in_place());
    for name in ["docs/0002.md", "llms.txt", "robots.txt", "sitemap.xml", "arc-sitemap.json"] {
        assert!(site.path("site").join(name).exists(), "{name}");
    }
    fs::remove_dir_all(site.path("state")).unwrap();
    for site in [&mut site, &mut other] {
        for n in 0..46 {
            let folder = if n % 2 == 0 { "docs" } else { "blog" };
            let text = page("Home", &format!("Page {n}"), &words(5000 + n));
            site.put(&format!("{folder}/{n:04}.html"), &text);
        }
        let (outcome, events) = site.build_with(|plan| plan.out = None).unwrap();
        assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 46, 0));
        assert!(!events.findings.iter().any(|found| found.1 == "BD003"), "{:?}", events.findings);
    }
    let twin = fs::read_to_string(site.path("site/docs/0002.md")).unwrap();
    assert!(twin.contains(&words(5002)) && twin.ends_with("\n<!-- rutter:twin -->\n"), "{twin}");
    // The result equals that of a site with its state.
    assert_eq!(files_of(&site), files_of(&other));
}

fn files_of(site: &Site) -> Files {
    crate::site::files(&site.path("site"))
}

#[test]
fn fails_if_own_files_cannot_be_identified() {
    let mut site = built_in_place();
    fs::remove_dir_all(site.path("state")).unwrap();
    // A file as an earlier version wrote it.
    let twin = fs::read_to_string(site.path("site/docs/0002.md")).unwrap();
    site.put("docs/0002.md", &twin.replace("\n<!-- rutter:twin -->\n", ""));
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5002)));
    let before = files_of(&site);
    let failed = site.build_with(|plan| plan.out = None).map(|_| ()).unwrap_err();
    assert!(
        matches!(&failed, BuildError::Unrecognised { n: 1, first, .. } if first == "docs/0002.md"),
        "{failed}"
    );
    assert_eq!(files_of(&site), before);
    // Every build fails until the plan allows overwriting.
    assert!(site.build_with(|plan| plan.out = None).is_err());
    let replace = |plan: &mut rutter_build::BuildPlan| {
        plan.out = None;
        plan.replace = vec!["docs/0002.md".to_owned()];
    };
    site.build_with(replace).unwrap();
    assert!(fs::read_to_string(site.path("site/docs/0002.md")).unwrap().contains(&words(5002)));
    // A folder that Rutter never wrote to does not fail.
    let mut fresh = Site::of(4);
    fresh.put("docs/0002.md", "mine");
    let (_, events) = fresh.build_with(|plan| plan.out = None).unwrap();
    assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
}

#[test]
fn finds_published_state_under_any_sitemap_name() {
    let mut site = Site::of(6);
    let foreign = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{BASE}shop</loc></url></urlset>"
    );
    site.put("sitemap.xml", &foreign);
    site.build_with(|plan| plan.out = None).unwrap();
    assert!(site.path("site/sitemap-rutter.xml").exists());
    fs::remove_dir_all(site.path("state")).unwrap();
    let (outcome, events) = site.build_with(|plan| plan.out = None).unwrap();
    assert_eq!((outcome.new, outcome.changed), (0, 0), "{:?}", events.messages);
    assert!(events.messages[0].starts_with("rebuilt the state from"), "{:?}", events.messages);
    // Without the collections, a message says how to keep dates.
    fs::remove_dir_all(site.path("state")).unwrap();
    fs::remove_dir_all(site.path("site/scp")).unwrap();
    let (_, events) = site.build_with(|plan| plan.out = None).unwrap();
    let message = events.messages.first().unwrap();
    assert!(
        message.contains("sitemap-rutter") && message.contains("previously published"),
        "{message}"
    );
}

#[test]
fn lost_manifest_leaves_no_twin_of_excluded_or_removed_pages() {
    for has_out in [true, false] {
        let mut site = Site::of(20);
        site.put("notes/own.md", "# The owner's\n");
        let plan = move |plan: &mut rutter_build::BuildPlan| {
            if !has_out {
                plan.out = None;
            }
        };
        let target = if has_out { "out" } else { "site" };
        site.build_with(plan).unwrap();
        let twins = ["docs/0002.md", "docs/0004.md", "docs/0006.md"];
        let files = crate::site::files(&site.path(target));
        assert!(twins.iter().all(|name| files.contains_key(*name)));
        fs::remove_file(site.path("state/files.tsv")).unwrap();
        site.remove("docs/0002.html");
        // In a separate folder, the changed copy of a page stops the build.
        if !has_out {
            let closed = "<meta name=\"robots\" content=\"noindex\"></head>";
            let closed = page("Home", "Page 4", &words(4)).replace("</head>", closed);
            site.put("docs/0004.html", &closed);
        }
        site.build_with(plan).unwrap();
        let files = crate::site::files(&site.path(target));
        assert_eq!(twins.map(|name| files.contains_key(name)), [false, has_out, true]);
        assert_eq!(files["notes/own.md"], b"# The owner's\n");
        let served = fs::read_to_string(site.path("state/served.json")).unwrap();
        assert_eq!(served.contains("docs/0004.md"), has_out);
    }
}
