//! Changes of a site, and the changes of artifacts that they cause.

use std::fs;

use rutter_build::{Generator, SectionRule};
use rutter_page::Timestamp;
use rutter_scp::CollectionKind;

use crate::site::{BASE, Site, page, words};

#[test] // SCP-106 SCP-107 SCP-108 SCP-109 SCP-122 SCP-125 D06
fn first_build_publishes_every_page_in_snapshots() {
    let mut site = Site::of(60);
    let outcome = site.build();
    assert_eq!((outcome.pages, outcome.new, outcome.changed, outcome.removed), (61, 61, 0, 0));
    let (entries, offers) = site.sitemap();
    assert_eq!(entries.len(), 61);
    let mut sections: Vec<&str> = offers.iter().map(|offer| offer.section.as_str()).collect();
    sections.dedup();
    assert_eq!(sections, ["all", "blog", "docs", "main"]);
    // One element per coding, each with its own URL and size.
    assert_eq!(offers.len(), 8);
    for offer in &offers {
        assert_eq!(offer.kind, CollectionKind::Snapshot);
        let path = site.path("out").join(offer.url.strip_prefix(BASE).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().len(), offer.size);
        assert!(offer.generated.plus_seconds(399 * 86_400) < offer.expires);
    }
    let (header, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(lines.len(), 61);
    assert_eq!(header.chain.unwrap().pages, 61);
    assert_eq!(site.newest("docs", "snapshot").unwrap().1.len(), 30);
    let sitemap = fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    assert!(sitemap.contains("<scp:version>0.1</scp:version>"));
    assert!(sitemap.contains("<scp:compression>zstd,gzip</scp:compression>"));
    // Foreign elements come before the first page (D14).
    assert!(sitemap.find("<scp:delta").is_none());
    assert!(sitemap.rfind("<scp:").unwrap() < sitemap.find("<url>").unwrap());
}

#[test] // D21
fn build_without_changes_writes_nothing() {
    let mut site = Site::of(40);
    site.build();
    let (before, ledger) = (site.files(), site.ledger());
    let outcome = site.build();
    assert!(outcome.is_unchanged());
    assert_eq!(outcome.read, 0);
    assert_eq!(site.files(), before);
    assert_eq!(site.ledger(), ledger);
}

#[test] // SCP-128 SCP-138 D25
fn edited_page_is_the_only_page_of_the_delta() {
    let mut site = Site::of(60);
    site.build();
    let before = site.newest("docs", "snapshot").unwrap().0;
    site.put("docs/0010.html", &page("Home", "Page 10", &words(10).replace("boats", "ships")));
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 1, 0));
    let (delta, lines) = site.newest("docs", "delta").unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("ships"));
    // It starts at the state of the snapshot and names the new state.
    assert_eq!(delta.kind, CollectionKind::Delta { since: before.generated });
    let (from, to) = (before.chain.unwrap(), delta.chain.unwrap());
    assert_eq!(to.from, Some(from.state));
    assert_ne!(to.state, from.state);
    assert!(site.newest("blog", "delta").is_none());
    // All layers have the time of the build as date of the page.
    let (entries, _) = site.sitemap();
    let entry = entries.iter().find(|entry| entry.loc.ends_with("/0010.html")).unwrap();
    assert_eq!(entry.lastmod, Some(site.now));
    assert_eq!(site.row("docs/0010.html")[4], site.now.to_string());
    assert!(lines[0].contains(&format!("\"modified\":\"{}\"", site.now)));
}

#[test]
fn changed_menu_changes_no_page() {
    let mut site = Site::of(60);
    site.build();
    let ledger = site.ledger();
    for n in 0..60 {
        let folder = if n % 2 == 0 { "docs" } else { "blog" };
        let text = page("Start here", &format!("Page {n}"), &words(n));
        let text = text.replace("Monday", "Tuesday").replace("<nav>", "<nav class=\"new\">");
        site.put(&format!("{folder}/{n:04}.html"), &text);
    }
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert_eq!(outcome.read, 60);
    assert!(site.newest("all", "delta").is_none());
    let dates = |ledger: &str| {
        ledger
            .lines()
            .filter(|line| !line.starts_with("# end"))
            .map(|line| line.split('\t').take(6).collect::<String>())
            .collect::<Vec<_>>()
    };
    assert_eq!(dates(&site.ledger()), dates(&ledger));
    // The HTML files are published with the new menu.
    let copy = fs::read_to_string(site.path("out/docs/0002.html")).unwrap();
    assert!(copy.contains("Start here"));
}

#[test] // SCP-125 SCP-137 D95
fn deleted_page_is_removed_and_the_ledger_records_when() {
    let mut site = Site::of(60);
    site.build();
    site.remove("blog/0011.html");
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 1));
    let url = format!("{BASE}blog/0011.html");
    let (delta, lines) = site.newest("all", "delta").unwrap();
    assert!(lines.is_empty());
    assert_eq!(delta.chain.unwrap().removed, std::slice::from_ref(&url));
    let (snapshot, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(snapshot.generated, delta.generated);
    assert!(!lines.iter().any(|line| line.contains(&url)));
    assert!(!site.sitemap().0.iter().any(|entry| entry.loc == url));
    let row = site.row("blog/0011.html");
    assert_eq!((row[1].as_str(), &row[7]), ("gone", &site.now.to_string()));
    let files = site.files();
    assert!(!files.contains_key("blog/0011.html") && !files.contains_key("blog/0011.md"));
    // A page that is added again keeps its first date.
    let modified = row[4].clone();
    site.put("blog/0011.html", &page("Home", "Page 11", &words(11)));
    assert_eq!(site.build().new, 1);
    let row = site.row("blog/0011.html");
    assert_eq!((row[1].as_str(), &row[4], row[7].as_str()), ("public", &modified, "-"));
    assert_eq!(site.newest("all", "delta").unwrap().1.len(), 1);
}

#[test] // SCP-127 SCP-133 D95
fn deltas_lead_to_the_state_of_the_snapshot() {
    let mut site = Site::of(50);
    site.build();
    let first = site.path("first.scp.zst");
    let newest = |site: &Site, kind: &str| {
        let (_, offers) = site.sitemap();
        let offers = offers.into_iter().filter(|offer| offer.section == "all");
        let mut offers: Vec<_> = offers.filter(|offer| offer.kind.name() == kind).collect();
        offers.retain(|offer| offer.url.ends_with(".zst"));
        offers.sort_by_key(|offer| offer.generated);
        offers
            .iter()
            .map(|offer| site.path("out").join(offer.url.strip_prefix(BASE).unwrap()))
            .collect::<Vec<_>>()
    };
    fs::copy(newest(&site, "snapshot").pop().unwrap(), &first).unwrap();
    for round in 0..6 {
        site.put(
            &format!("docs/{:04}.html", round * 4),
            &page("Home", "Edited", &words(round + 500)),
        );
        site.put(&format!("blog/new-{round}.html"), &page("Home", "New", &words(round + 900)));
        site.remove(&format!("blog/{:04}.html", round * 2 + 1));
        site.build();
    }
    // Each delta starts at the state to which the previous one leads.
    let mut state = None;
    let mut pages: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for path in [first].into_iter().chain(newest(&site, "delta")) {
        let (header, lines) = crate::site::read_collection(&path);
        let chain = header.chain.unwrap();
        assert!(chain.from == state || chain.from.is_none());
        for line in lines {
            let page: rutter_page::Page<'_> = serde_json::from_str(&line).unwrap();
            pages.insert(page.url.key().to_owned(), line.clone());
        }
        for url in &chain.removed {
            assert!(pages.remove(url).is_some());
        }
        assert_eq!(pages.len() as u64, chain.pages);
        state = Some(chain.state);
    }
    let (header, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(state, Some(header.chain.unwrap().state));
    assert_eq!(pages.into_values().collect::<Vec<_>>(), lines);
}

#[test]
fn same_site_and_time_produce_the_same_bytes() {
    let (mut one, mut other) = (Site::of(45), Site::of(45));
    one.build_with(|plan| plan.threads = 1).unwrap();
    other.build_with(|plan| plan.threads = 4).unwrap();
    assert_eq!(one.files(), other.files());
    assert_eq!(one.ledger(), other.ledger());
}

#[test]
fn other_pages_do_not_change_how_a_page_is_read() {
    let (mut few, mut many) = (Site::of(30), Site::of(30));
    few.build();
    many.build();
    for n in 0..40 {
        many.put(&format!("docs/more-{n}.html"), &page("Home", "More", &words(n + 2000)));
    }
    many.remove("docs/0004.html");
    few.build();
    let outcome = many.build();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (40, 0, 1));
    let lines = |site: &Site| site.newest("all", "snapshot").unwrap().1;
    let (few, many) = (lines(&few), lines(&many));
    for line in few.iter().filter(|line| !line.contains("docs/0004.html")) {
        assert!(many.contains(line), "{line}");
    }
}

#[test]
fn sections_are_kept_and_pages_may_move() {
    let mut site = Site::of(60);
    site.build();
    let rule = |name: &str, prefix: &str| SectionRule { name: name.into(), prefix: prefix.into() };
    let sections = vec![rule("docs", "/docs/"), rule("early", "/docs/000")];
    let (outcome, _) = site.build_with(|plan| plan.sections = sections.clone()).unwrap();
    // In the section of all pages, nothing changed.
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
    assert!(site.newest("all", "delta").is_none());
    assert_eq!(site.newest("early", "snapshot").unwrap().1.len(), 5);
    let (delta, lines) = site.newest("docs", "delta").unwrap();
    assert!(lines.is_empty());
    assert_eq!(delta.chain.unwrap().removed.len(), 5);
    assert_eq!(site.newest("main", "delta").unwrap().1.len(), 30);
    // The former section is no longer offered, but readers with an older sitemap still find its
    // files.
    let (_, offers) = site.sitemap();
    assert!(offers.iter().all(|offer| offer.section != "blog"));
    let is_of_blog = |name: &String| name.starts_with("scp/blog-snapshot");
    assert!(site.files().keys().any(is_of_blog));
}

#[test] // SCP-126 SCP-129 D27 D28
fn snapshots_follow_the_interval_and_old_files_expire_later() {
    let mut site = Site::of(30);
    site.build();
    let first = site.sitemap().1.first().unwrap().url.clone();
    let edit = |site: &Site, n: usize| {
        site.put("docs/0002.html", &page("Home", "Page 2", &words(3000 + n)));
    };
    edit(&site, 1);
    site.build();
    assert_eq!(site.newest("all", "snapshot").unwrap().1.len(), 31);
    let snapshots = |site: &Site| {
        let mut urls: Vec<String> = site
            .sitemap()
            .1
            .into_iter()
            .filter(|offer| offer.section == "all" && offer.kind == CollectionKind::Snapshot)
            .map(|offer| offer.url)
            .collect();
        urls.sort();
        urls
    };
    assert_eq!(snapshots(&site).len(), 2);
    site.now = site.now.plus_seconds(8 * 86_400);
    edit(&site, 2);
    site.build();
    // A new snapshot with the delta that leads to it; the old one still exists.
    assert_eq!(snapshots(&site).len(), 4);
    assert_eq!(
        site.newest("all", "delta").unwrap().0.generated,
        site.newest("all", "snapshot").unwrap().0.generated,
    );
    site.now = site.now.plus_seconds(15 * 86_400);
    site.build();
    assert_eq!(snapshots(&site).len(), 2);
    let gone = site.path("out").join(first.strip_prefix(BASE).unwrap());
    assert!(!gone.exists());
    // After half a year without changes, the snapshot is written again.
    let before = snapshots(&site);
    site.now = site.now.plus_seconds(190 * 86_400);
    site.build();
    assert_ne!(snapshots(&site), before);
}

#[test] // D21
fn page_states_its_date_unless_it_is_in_the_future() {
    let mut site = Site::of(5);
    let dated = |date: &str| {
        page("Home", "Dated", &words(77)).replace(
            "</head>",
            &format!("<meta property=\"article:modified_time\" content=\"{date}\"></head>"),
        )
    };
    site.put("past.html", &dated("2024-02-03T04:05:06Z"));
    site.put("future.html", &dated("2031-02-03T04:05:06Z"));
    site.build();
    let row = site.row("past.html");
    assert_eq!((row[4].as_str(), row[9].as_str()), ("2024-02-03T04:05:06Z", "page"));
    assert_eq!(row[5], site.now.to_string());
    let row = site.row("future.html");
    assert_eq!((row[4].as_str(), row[9].as_str()), (site.now.to_string().as_str(), "seen"));
    // An earlier stated date does not change the date of the page.
    let first = site.now;
    site.put("past.html", &dated("2023-01-01T00:00:00Z"));
    site.build();
    assert_eq!(site.row("past.html")[4], "2024-02-03T04:05:06Z");
    site.put("past.html", &dated("2023-01-01T00:00:00Z").replace("Dated", "Redated"));
    site.build();
    assert_eq!(site.row("past.html")[4], site.now.to_string());
    assert!(first < site.now);
    assert!(Timestamp::parse(&site.row("past.html")[6]).unwrap() <= first);
}

#[test]
fn sitemap_dates_pages_unless_it_has_build_times() {
    let entry = |n: usize, date: &str| {
        format!("<url><loc>{BASE}docs/{n:04}.html</loc><lastmod>{date}</lastmod></url>")
    };
    let sitemap = |dates: [&str; 4]| {
        let entries: String =
            dates.iter().enumerate().map(|(n, date)| entry(n * 2, date)).collect();
        format!(
            "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>"
        )
    };
    let mut site = Site::of(10);
    site.put("sitemap.xml", &sitemap(["2025-01-01", "2025-01-02", "2025-01-03", "2025-01-04"]));
    site.build();
    let row = site.row("docs/0002.html");
    assert_eq!((row[4].as_str(), row[9].as_str()), ("2025-01-02T00:00:00Z", "sitemap"));
    let mut site = Site::of(10);
    site.put("sitemap.xml", &sitemap(["2025-01-01"; 4]));
    site.build();
    assert_eq!(site.row("docs/0002.html")[9], "seen");
}

#[test]
fn size_and_mtime_are_trusted_only_with_the_setting() {
    let mut site = Site::of(6);
    site.build();
    let path = site.path("site/docs/0002.html");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    // Another text of the same length with the old modification time.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("boats", "ships")).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let (outcome, _) = site.build_with(|plan| plan.trust_mtime = true).unwrap();
    assert_eq!((outcome.read, outcome.changed), (0, 0));
    let outcome = site.build();
    assert_eq!((outcome.read, outcome.changed), (1, 1));
}

/// Commits everything in a folder with this date.
fn commit(folder: &std::path::Path, date: &str) {
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "x"]] {
        let done = std::process::Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(["-c", "user.name=x", "-c", "user.email=x@h.example"])
            .args(args)
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_AUTHOR_DATE", date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(done.is_ok_and(|status| status.success()), "git {args:?}");
    }
}

#[test]
fn dates_pages_by_the_history_of_their_sources() {
    let sources = tempfile::tempdir().unwrap();
    let put = |name: &str| {
        let path = sources.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    };
    put("docs/install.md");
    commit(sources.path(), "2025-02-03T04:05:06Z");
    put("texts/api/text.md");
    commit(sources.path(), "2025-03-04T05:06:07Z");
    let new_site = || {
        let site = Site::new();
        for (n, name) in ["index.html", "install/index.html", "api/index.html"].iter().enumerate() {
            site.put(name, &page("Home", name, &words(n)));
        }
        site
    };
    let generator = Generator {
        name: "MkDocs".to_owned(),
        root: Some(sources.path().to_owned()),
        sources: vec!["docs".to_owned()],
    };
    let mut site = new_site();
    let (_, events) = site
        .build_with(|plan| {
            plan.git_dates = true;
            plan.generator = Some(generator.clone());
            plan.git_sources = vec!["texts/{path}/text.md".to_owned()];
        })
        .unwrap();
    assert!(
        !events.messages.iter().any(|message| message.contains("git history")),
        "{:?}",
        events.messages
    );
    let date = |path: &str| (site.row(path)[4].clone(), site.row(path)[9].clone());
    let git = |date: &str| (date.to_owned(), "git".to_owned());
    assert_eq!(date("install/"), git("2025-02-03T04:05:06Z"));
    assert_eq!(date("api/"), git("2025-03-04T05:06:07Z"));
    assert_eq!(date("").1, "seen");
    // The message names the folders that were searched.
    for (generator, wanted) in [
        (None, "there is no history"),
        (Some(Generator { sources: vec!["pages".to_owned()], ..generator.clone() }), "pages/"),
    ] {
        let mut site = new_site();
        let (_, events) = site
            .build_with(|plan| {
                plan.git_dates = true;
                plan.generator = generator;
            })
            .unwrap();
        let message = events
            .messages
            .iter()
            .find(|message| message.starts_with("found no dates in the git history of "));
        assert!(message.is_some_and(|message| message.contains(wanted)), "{:?}", events.messages);
    }
}
