//! States of an earlier version: an upgrade decides visibility again and changes no date.
//!
//! `fixtures/upgrade` holds sites with the state and the published files that Rutter wrote at
//! commit 432788d. The current extractor reads most of their pages differently: tabs, note boxes,
//! repeated sections.

use std::fs;
use std::path::Path;

use rutter_build::BuildError;
use rutter_page::Timestamp;

use crate::site::{Site, files, page, words};

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Returns a site that an earlier version built a day before.
fn built_before(name: &str) -> Site {
    let mut site = Site::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/upgrade").join(name);
    copy(&fixture, site.folder.path());
    // The manifest names its output folder.
    let list = site.path("state/files.tsv");
    let text = fs::read_to_string(&list).unwrap();
    let folder = format!("# {}\n", site.path("out").display());
    fs::write(&list, text.replacen("# OUT\n", &folder, 1)).unwrap();
    site.now = Timestamp::parse("2026-04-02T12:00:00Z").unwrap();
    site
}

/// Returns the rows of the ledger.
fn rows(site: &Site) -> Vec<String> {
    let ledger = site.ledger();
    ledger.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Returns names and bytes of the published files with an extension.
fn published(site: &Site, ending: &str) -> Vec<(String, Vec<u8>)> {
    site.files().into_iter().filter(|(name, _)| name.ends_with(ending)).collect()
}

fn append(site: &Site, name: &str, text: &str) {
    let path = site.path("site").join(name);
    let html = fs::read_to_string(&path).unwrap();
    fs::write(path, html.replace("</main>", &format!("<p>{text}</p></main>"))).unwrap();
}

#[test]
fn state_of_an_earlier_version_keeps_all_dates() {
    let mut site = built_before("plain");
    let before = rows(&site);
    let kept = [".scp.zst", ".scp.gz", "arc-sitemap.json", "2026-04-01.json"];
    let files = kept.map(|ending| published(&site, ending));
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0), "{:?}", events.messages);
    assert_eq!((outcome.read, outcome.judged), (0, 12));
    assert_eq!(outcome.learned, 0);
    // The share of kept text was not measured then.
    assert_eq!((outcome.coverage.pages(), outcome.coverage.mean()), (0, None));
    assert_eq!(rows(&site), before);
    assert!(outcome.sections.iter().all(|it| it.delta.is_none() && it.snapshot.is_none()));
    assert_eq!(kept.map(|ending| published(&site, ending)), files);
    // The next build uses the cache for all pages.
    let (outcome, _) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.read, outcome.judged, outcome.written), (0, 0, 0));
    assert_eq!(rows(&site), before);
    // An edit changes the date of its page only.
    append(&site, "guide/panel.html", "The panel is cleaned on Mondays.");
    let (outcome, _) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.read), (0, 1, 1));
    assert_eq!(outcome.coverage.pages(), 1);
    let after = rows(&site);
    let moved: Vec<&String> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(matches!(moved.as_slice(), [row] if row.contains("/guide/panel.html\t")), "{moved:?}");
    let (_, lines) = site.newest("all", "delta").unwrap();
    assert_eq!(lines.len(), 1);
}

#[test]
fn pages_of_an_earlier_version_are_read_differently_when_asked_for() {
    let mut site = built_before("plain");
    let (outcome, _) = site.build_with(|plan| plan.reread = true).unwrap();
    assert_eq!((outcome.read, outcome.judged), (12, 0));
    assert!(5 < outcome.read_differently, "{}", outcome.read_differently);
    assert_eq!(outcome.read_differently, outcome.changed);
}

#[test]
fn files_with_trusted_times_get_new_visibility_after_an_upgrade() {
    let mut site = built_before("plain");
    let before = rows(&site);
    for judged in [12, 0] {
        let (outcome, _) = site.build_with(|plan| plan.trust_mtime = true).unwrap();
        assert_eq!((outcome.read, outcome.judged), (0, judged));
        assert_eq!(rows(&site), before);
    }
    // Other visibility settings apply although no file changed.
    for judged in [12, 0] {
        let (outcome, _) = site
            .build_with(|plan| {
                plan.trust_mtime = true;
                plan.privacy.strict = true;
            })
            .unwrap();
        assert_eq!((outcome.read, outcome.judged), (0, judged));
    }
    assert_eq!(rows(&site), before);
}

#[test]
fn upgrade_withdraws_page_that_is_excluded_now() {
    let mut site = built_before("closed");
    let before = rows(&site);
    let (outcome, events) = site.build_with(|plan| plan.allow_mass_delete = true).unwrap();
    assert_eq!((outcome.changed, outcome.removed, outcome.judged), (0, 1, 4));
    assert_eq!(events.excluded.len(), 1);
    let (name, reason, source) = &events.excluded[0];
    assert_eq!((name.as_str(), *reason), ("plans.html", "noindex"));
    assert_eq!(source, "robots directives: noindex");
    assert_eq!(site.row("plans.html")[1], "bare");
    // All dates stay.
    for row in &before {
        let url = row.split('\t').next().unwrap();
        let new = rows(&site).into_iter().find(|row| row.starts_with(&format!("{url}\t"))).unwrap();
        let column = |row: &str, at: usize| row.split('\t').nth(at).map(str::to_owned);
        assert_eq!((column(&new, 3), column(&new, 4)), (column(row, 3), column(row, 4)));
    }
    let shown = site
        .files()
        .into_iter()
        .filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains("kept out of collections"));
    assert_eq!(shown.map(|(name, _)| name).collect::<Vec<_>>(), ["plans.html"]);
    assert!(site.newest("all", "snapshot").unwrap().1.len() == 3);
}

#[test]
fn searches_stored_content_for_secrets_and_personal_data() {
    let mut site = Site::of(3);
    site.put("crew.html", &page("Home", "Crew", "Write to jan.harmsen@harbour-office.net."));
    site.build();
    // Stricter settings search the stored content without reading pages again.
    let error = site.build_with(|plan| plan.privacy.strict = true).err().unwrap();
    assert!(matches!(error, BuildError::PrivateData(1)), "{error}");
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.read, outcome.judged, outcome.changed), (0, 0, 0));
    assert_eq!(events.codes("crew.html"), ["BD006"]);
}

#[test]
fn excluded_page_is_read_when_it_becomes_public() {
    let mut site = Site::of(6);
    site.put("robots.txt", "User-agent: *\nDisallow: /blog/\n");
    site.put("extra.html", &page("Home", "Extra", &words(77)));
    site.build();
    let before = rows(&site);
    assert_eq!(site.row("blog/0001.html")[1], "bare");
    site.put("robots.txt", "User-agent: *\nDisallow: /extra.html\n");
    let (outcome, _) = site.build_with(|plan| plan.allow_mass_delete = true).unwrap();
    assert_eq!((outcome.new, outcome.removed), (3, 1));
    assert_eq!((outcome.read, outcome.judged), (3, 1));
    assert!(site.files().contains_key("blog/0001.md"));
    assert!(!site.files().contains_key("extra.md"));
    // The content did not change, so neither did a date.
    let dates = |rows: &[String]| -> Vec<String> {
        rows.iter().map(|row| row.split('\t').nth(4).unwrap().to_owned()).collect()
    };
    assert_eq!(dates(&rows(&site)), dates(&before));
}

#[test]
fn expiring_page_is_decided_in_every_build_without_reading() {
    let mut site = Site::of(3);
    let head = "<meta name=\"robots\" content=\"unavailable_after: 2026-05-02\"></head>";
    site.put("sale.html", &page("Home", "Sale", &words(5)).replace("</head>", head));
    site.build();
    let (outcome, _) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.read, outcome.judged, outcome.written), (0, 0, 0));
    site.now = Timestamp::parse("2026-05-03T12:00:00Z").unwrap();
    let (outcome, _) = site.build_with(|_| {}).unwrap();
    assert_eq!((outcome.read, outcome.judged, outcome.removed), (0, 1, 1));
    assert_eq!(site.row("sale.html")[1], "bare");
}

#[test]
fn state_with_another_digest_of_the_settings_keeps_all_dates() {
    let mut site = Site::of(6);
    site.build();
    let (before, artifacts) = (rows(&site), site.files());
    // An earlier version of Rutter computed the digest of the settings in another way.
    let paths = rutter_site::StatePaths::new(&site.path("state"));
    let mut record = rutter_site::Publication::load(&paths).unwrap().unwrap();
    record.settings = "sha256:former".to_owned();
    record.save(&paths.chain()).unwrap();
    site.now = site.now.plus_seconds(86_400);
    for _ in 0..2 {
        let (outcome, _) = site.build_with(|_| {}).unwrap();
        assert_eq!((outcome.new, outcome.changed, outcome.removed), (0, 0, 0));
        assert_eq!((outcome.read, outcome.judged), (0, 0));
        assert_eq!((outcome.written, outcome.deleted), (0, 0));
        assert_eq!((rows(&site), site.files()), (before.clone(), artifacts.clone()));
        let record = rutter_site::Publication::load(&paths).unwrap().unwrap();
        assert_ne!(record.settings, "sha256:former");
    }
}
