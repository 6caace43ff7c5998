//! Lost state, lost files, interrupted builds, broken input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rutter_build::{BuildError, Source};

use crate::site::{BASE, Site, page, words};

/// Files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A site with a history: edits, removals, new pages.
fn lived_in() -> Site {
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
fn ours_lost_state_is_rebuilt_from_what_was_published() {
    let (mut site, mut other) = (lived_in(), lived_in());
    let before = site.files();
    fs::remove_dir_all(site.path("state")).unwrap();
    let previous = site.path("out");
    let (outcome, heard) = site.build_with(|plan| plan.previous = Some(previous)).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert!(heard.said[0].contains("50 pages"), "{:?}", heard.said);
    assert_eq!(site.files(), before);
    other.build();
    // And it goes on as if nothing had happened.
    for site in [&mut site, &mut other] {
        site.put("docs/0020.html", &page("Home", "Page 20", &words(2020)));
        site.remove("docs/0022.html");
        site.build();
    }
    assert_eq!(site.files(), other.files());
}

#[test]
fn ours_a_lost_cache_moves_no_date() {
    let mut site = lived_in();
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
fn ours_an_emptied_folder_is_filled_again() {
    let mut site = lived_in();
    let before = site.files();
    fs::remove_dir_all(site.path("out")).unwrap();
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert_eq!(site.files(), before);
    // In the site's own folder, after its generator ran again.
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
fn ours_what_is_not_ours_is_not_touched() {
    let mut site = Site::of(10);
    for (name, text) in [
        ("sitemap.xml", "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>"),
        ("docs/0002.md", "mine"),
        ("robots.txt", "User-agent: *\nDisallow: /x/\n"),
        ("llms.txt", "# Mine\n"),
    ] {
        site.put(name, text);
    }
    let (_, heard) = site.build_with(|plan| plan.out = None).unwrap();
    let files = crate::site::files(&site.path("site"));
    assert_eq!(files["docs/0002.md"], b"mine");
    assert!(files["sitemap.xml"].starts_with(b"<urlset"));
    assert!(files.contains_key("sitemap-rutter.xml"));
    assert_eq!(heard.codes("sitemap.xml"), ["BD003"]);
    assert_eq!(heard.codes("docs/0002.md"), ["BD003"]);
    let robots = String::from_utf8(files["robots.txt"].clone()).unwrap();
    assert!(robots.starts_with("User-agent: *\nDisallow: /x/\n"));
    assert!(robots.contains(&format!("Sitemap: {BASE}sitemap-rutter.xml")));
    let llms = String::from_utf8(files["llms.txt"].clone()).unwrap();
    assert!(llms.starts_with("# Mine\n") && llms.contains("rutter:begin"));
    // Told to, it replaces; and takes away only what it made.
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
fn ours_bad_files_cost_only_themselves() {
    let mut site = Site::of(10);
    fs::write(site.path("site/picture.html"), b"\x89PNG\0\0\0").unwrap();
    site.put("a/index.html", &page("Home", "A", &words(50)));
    site.put("a/index.htm", &page("Home", "B", &words(51)));
    fs::write(site.path("site/latin.html"), b"<html lang=de><meta charset=iso-8859-1><title>Gr\xfc\xdfe</title><p>Sch\xf6ne Gr\xfc\xdfe von der Mole, wo das Wasser steht.").unwrap();
    site.put("empty.html", "");
    let (outcome, heard) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 13);
    assert_eq!(heard.codes("picture.html"), ["BD001"]);
    assert_eq!(heard.codes("a/index.html"), ["BD002"]);
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    assert!(lines.iter().any(|line| line.contains("Grüße von der Mole")));
    assert_eq!(site.row("empty.html")[1], "hidden");
    // A page that turns unreadable keeps what was published of it.
    fs::write(site.path("site/docs/0002.html"), b"\0\0\0\0").unwrap();
    let outcome = site.build();
    assert_eq!((outcome.failed, outcome.removed), (2, 0));
    assert_eq!(site.row("docs/0002.html")[1], "public");
}

#[test]
fn ours_a_state_of_another_site_or_version_is_refused() {
    let mut site = Site::of(5);
    site.build();
    let other =
        site.build_with(|plan| plan.base = rutter_build::Base::parse("https://x.example").unwrap());
    assert!(matches!(other, Err(BuildError::OtherSite(..))));
    let ledger = site.path("state/ledger.tsv");
    let good = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, good.replace("ledger 2", "ledger 9")).unwrap();
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::Newer(_))));
    fs::write(&ledger, good.replace("public", "pubic")).unwrap();
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::State(_, 2))));
    // A build that failed leaves nothing of its own behind.
    assert!(!site.path("state/next").exists());
    let empty = Site::new();
    assert!(matches!({ empty }.build_with(|_| {}), Err(BuildError::NoPages(_))));
}

#[test]
fn ours_pages_may_come_as_lines_or_markdown() {
    let mut site = Site::of(24);
    site.build();
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let mut other = Site::new();
    let mut shuffled = lines.clone();
    shuffled.reverse();
    shuffled.push("{\"url\":\"https://elsewhere.example/\",\"title\":\"x\",\"description\":\"x\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}".into());
    fs::write(other.path("pages.jsonl"), shuffled.join("\n")).unwrap();
    let file = other.path("pages.jsonl");
    let (outcome, heard) = other
        .build_with(|plan| {
            plan.site = file;
            plan.source = Source::Lines;
        })
        .unwrap();
    assert_eq!(outcome.pages, 25);
    assert_eq!(heard.findings.iter().map(|found| found.1).collect::<Vec<_>>(), ["BD012"]);
    assert_eq!(other.newest("all", "snapshot").unwrap().1, lines);
    // Fewer pages than a section needs are one; more have sections of their own.
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
            plan.source = Source::Lines;
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
    let (outcome, _) = notes.build_with(|plan| plan.source = Source::Markdown).unwrap();
    assert_eq!(outcome.pages, 2);
    assert_eq!(notes.row("tides/high/")[4], "2025-03-04T00:00:00Z");
}

#[test]
fn ours_an_interrupted_publication_is_finished_by_the_next_build() {
    let mut site = lived_in();
    let old = site.files();
    site.put("docs/0030.html", &page("Home", "Page 30", &words(3030)));
    let (state, out) = (site.path("state"), site.path("out"));
    let (kept_state, kept_out) = (site.path("kept-state"), site.path("kept-out"));
    copy(&state, &kept_state);
    copy(&out, &kept_out);
    site.build();
    let new = site.files();
    // The journal of that publication, from the moment of its commit: every
    // file it moves lies in the stage, and half of them are moved already.
    let journal = changed(&old, &new);
    for n_moved in [0, journal.len() / 2, journal.len()] {
        fs::remove_dir_all(&state).unwrap();
        fs::remove_dir_all(&out).unwrap();
        copy(&kept_state, &state);
        copy(&kept_out, &out);
        lay_out(&site, &journal, n_moved, &old, &new);
        assert!(rutter_build::recover(&state).unwrap());
        assert_eq!(site.files(), new);
        assert!(!state.join("journal.json").exists());
        assert!(!rutter_build::recover(&state).unwrap());
    }
}

/// Names of the files that differ.
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
fn ours_pages_keep_their_own_text_when_others_around_them_go() {
    let mut site = Site::new();
    site.put("index.html", &page("Home", "Harbour", &words(7000)));
    for n in 0..700 {
        site.put(&format!("log/{n:04}.html"), &page("Home", &format!("Entry {n}"), &words(n)));
    }
    site.build();
    // The ends of chunks, their beginnings, and a stretch over one.
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
fn ours_a_list_of_another_folder_counts_for_nothing() {
    let mut site = Site::of(12);
    site.build();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5000)));
    let before = crate::site::files(&site.path("site"));
    // From a folder of its own to the site's folder: nothing of the owner goes.
    let (outcome, _) = site.build_with(|plan| plan.out = None).unwrap();
    assert_eq!((outcome.pages, outcome.changed, outcome.deleted), (13, 1, 0));
    let after = crate::site::files(&site.path("site"));
    for (name, bytes) in &before {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
}

#[test]
fn ours_what_was_written_after_an_interruption_is_newer() {
    let mut site = Site::of(10);
    site.build_with(|plan| plan.out = None).unwrap();
    // A publication that was promised, and a generator that ran since.
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
    assert!(rutter_build::recover(&site.path("state")).unwrap());
    let text = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    assert!(text("docs/0002.html").contains("Page 2"));
    assert_eq!(text("new.txt"), "ours");
    assert_eq!(text("robots.txt"), "ours too");
}

#[test]
fn ours_a_broken_cache_is_a_lost_cache() {
    let mut site = lived_in();
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
fn ours_owners_files_win_over_twins_and_all_of_the_site_is_copied() {
    let mut site = Site::of(4);
    site.put("docs/0002.md", "the owner's own");
    site.put(".htaccess", "Deny from all");
    site.put("drafts/x.html", &page("Home", "X", &words(600)));
    site.put("data/x.bin", "\u{1}");
    let exclude =
        |plan: &mut rutter_build::Plan| plan.exclude = vec![rutter_build::Glob::new("drafts/")];
    let (outcome, heard) = site.build_with(exclude).unwrap();
    assert_eq!(outcome.pages, 5);
    let files = site.files();
    assert_eq!(files["docs/0002.md"], b"the owner's own");
    assert_eq!(heard.codes("docs/0002.md"), ["BD003"]);
    for name in [".htaccess", "drafts/x.html", "data/x.bin"] {
        assert!(files.contains_key(name), "{name}");
    }
    assert!(!files.contains_key("drafts/x.md"));
    // A rule of robots.txt alone is published too.
    site.put("robots.txt", "User-agent: GPTBot\nDisallow: /\n");
    site.build_with(exclude).unwrap();
    assert!(site.files()["robots.txt"].starts_with(b"User-agent: GPTBot\nDisallow: /\n"));
    // And collections that are no longer offered are taken back.
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
fn ours_another_output_folder_takes_what_was_made_along() {
    let mut site = Site::of(8);
    let before = crate::site::files(&site.path("site"));
    site.build_with(|plan| plan.out = None).unwrap();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(6000)));
    let (outcome, heard) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.changed, 1);
    assert!(!heard.findings.iter().any(|found| found.1 == "BD003"));
    let twin = fs::read_to_string(site.path("out/docs/0002.md")).unwrap();
    assert!(twin.contains(&words(6000)));
    // The site's own folder is the owner's again.
    let after = crate::site::files(&site.path("site"));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(site.build().is_unchanged());
}

#[test]
fn ours_a_lost_state_beside_a_built_folder_is_rebuilt_unasked() {
    let mut site = lived_in();
    fs::remove_dir_all(site.path("state")).unwrap();
    site.put("docs/0012.html", &page("Home", "Page 12", &words(6012)));
    let (outcome, heard) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 1, 0));
    assert!(heard.said[0].starts_with("state rebuilt from"), "{:?}", heard.said);
    let twin = fs::read_to_string(site.path("out/docs/0012.md")).unwrap();
    assert!(twin.contains(&words(6012)));
    // A folder that holds nothing of ours is no previous one.
    let mut fresh = Site::of(3);
    let nothing = fresh.path("site");
    let wrong = fresh.build_with(|plan| plan.previous = Some(nothing));
    assert!(matches!(wrong, Err(BuildError::Previous(..))));
}

#[test]
fn ours_what_is_told_to_be_replaced_is() {
    let mut site = Site::of(4);
    site.put("docs/0002.md", "mine");
    site.build_with(|plan| plan.replace = vec!["docs/0002.md".into()]).unwrap();
    assert!(site.files()["docs/0002.md"].starts_with(b"---"));
    let (_, heard) = site.build_with(|_| {}).unwrap();
    assert_eq!(heard.codes("docs/0002.md"), ["BD003"]);
    assert_eq!(site.files()["docs/0002.md"], b"mine");
}

#[test]
fn ours_what_still_holds_is_still_said() {
    let mut site = Site::of(6);
    site.put("docs/0002.md", "the owner's own");
    site.put("headless.html", "<p>A page of a few words, and no head at all in it.");
    let change = |plan: &mut rutter_build::Plan| {
        plan.base = rutter_build::Base::parse("https://harbour.example/pier/").unwrap();
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
    let sorted = |heard: crate::site::Heard| {
        let mut findings = heard.findings;
        findings.sort();
        findings
    };
    assert_eq!(sorted(first), sorted(again));
    assert!(outcome.findings.contains(&("BD003", 1)));
    // What was in the way is gone: ours takes the place.
    site.remove("docs/0002.md");
    let (outcome, heard) = site.build_with(change).unwrap();
    assert_eq!(outcome.written, 3, "the twin, and what names it: page and list");
    assert!(heard.codes("docs/0002.md").is_empty());
}

/// A site that was built in its own folder, with every kind of file of ours.
fn built_in_place() -> Site {
    let mut site = Site::of(46);
    site.put("robots.txt", "");
    site.build_with(|plan| plan.out = None).unwrap();
    site
}

#[test]
fn recognises_own_files_in_a_cached_folder_after_the_state_is_lost() {
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
        let (outcome, heard) = site.build_with(|plan| plan.out = None).unwrap();
        assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 46, 0));
        assert!(!heard.findings.iter().any(|found| found.1 == "BD003"), "{:?}", heard.findings);
    }
    let twin = fs::read_to_string(site.path("site/docs/0002.md")).unwrap();
    assert!(twin.contains(&words(5002)) && twin.ends_with("\n<!-- rutter:twin -->\n"), "{twin}");
    // Nothing is different from a site that never lost its state.
    assert_eq!(files_of(&site), files_of(&other));
}

fn files_of(site: &Site) -> Files {
    crate::site::files(&site.path("site"))
}

#[test]
fn fails_when_own_files_cannot_be_told_from_others() {
    let mut site = built_in_place();
    fs::remove_dir_all(site.path("state")).unwrap();
    // As an earlier version wrote it.
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
    // It says so until it is told what to do.
    assert!(site.build_with(|plan| plan.out = None).is_err());
    let replace = |plan: &mut rutter_build::Plan| {
        plan.out = None;
        plan.replace = vec!["docs/0002.md".to_owned()];
    };
    site.build_with(replace).unwrap();
    assert!(fs::read_to_string(site.path("site/docs/0002.md")).unwrap().contains(&words(5002)));
    // A folder that Rutter never wrote to is no such case.
    let mut fresh = Site::of(4);
    fresh.put("docs/0002.md", "mine");
    let (_, heard) = fresh.build_with(|plan| plan.out = None).unwrap();
    assert_eq!(heard.codes("docs/0002.md"), ["BD003"]);
}

#[test]
fn finds_a_published_state_whatever_the_sitemap_is_called() {
    let mut site = Site::of(6);
    let foreign = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{BASE}shop</loc></url></urlset>"
    );
    site.put("sitemap.xml", &foreign);
    site.build_with(|plan| plan.out = None).unwrap();
    assert!(site.path("site/sitemap-rutter.xml").exists());
    fs::remove_dir_all(site.path("state")).unwrap();
    let (outcome, heard) = site.build_with(|plan| plan.out = None).unwrap();
    assert_eq!((outcome.new, outcome.changed), (0, 0), "{:?}", heard.said);
    assert!(heard.said[0].starts_with("state rebuilt from"), "{:?}", heard.said);
    // Where the collections are not there, the owner is told how to keep dates.
    fs::remove_dir_all(site.path("state")).unwrap();
    fs::remove_dir_all(site.path("site/scp")).unwrap();
    let (_, heard) = site.build_with(|plan| plan.out = None).unwrap();
    let said = heard.said.first().unwrap();
    assert!(said.contains("sitemap-rutter") && said.contains("--previous"), "{said}");
}

#[test]
fn lost_list_of_files_leaves_no_twin_of_a_closed_or_removed_page() {
    for has_out in [true, false] {
        let mut site = Site::of(20);
        site.put("notes/own.md", "# The owner's\n");
        let plan = move |plan: &mut rutter_build::Plan| {
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
        // In a folder beside, the changed copy of a page stops the build.
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
