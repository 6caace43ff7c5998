//! Unreadable and unwritable files: published pages are kept, and the next build completes a failed
//! one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rutter_build::{BuildError, BuildPlan, BuildSummary};
use rutter_site::recover;

use crate::site::{RecordedEvents, Site, page, words};

/// Builds without root permissions, so that file permissions apply.
pub(crate) fn build_as_user(
    site: &mut Site,
    change: impl FnOnce(&mut BuildPlan) + Send,
) -> Result<(BuildSummary, RecordedEvents), BuildError> {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    std::thread::scope(|scope| {
        let building = scope.spawn(|| {
            // Applies to this thread and the threads it starts.
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
            set_capabilities(None, sets).unwrap();
            site.build_with(change)
        });
        building.join().unwrap()
    })
}

pub(crate) fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn next_build_completes_one_that_could_not_write_a_folder() {
    let (mut site, mut other) = (Site::of(10), Site::of(10));
    for site in [&mut site, &mut other] {
        site.build();
        site.put("docs/0002.html", &page("Home", "Page 2", &words(2002)));
        site.put("docs/late.html", &page("Home", "Late", &words(3000)));
        site.remove("docs/0004.html");
    }
    let docs = site.path("out/docs");
    permit(&docs, 0o555);
    let failed = build_as_user(&mut site, |_| {});
    assert!(matches!(failed, Err(BuildError::Io(..))));
    assert!(site.path("state/journal.json").exists());
    permit(&docs, 0o755);
    // A server completes it, too.
    assert!(recover(&site.path("state")).unwrap());
    other.build();
    assert_eq!(site.files(), other.files());
    assert_eq!(site.ledger(), other.ledger());
    let outcome = site.build();
    assert!(outcome.is_unchanged());
    assert!(!site.path("state/next").exists() && !site.path("state/stage").exists());
}

#[test]
fn unreadable_folder_keeps_its_published_pages() {
    for has_out in [true, false] {
        let mut site = Site::of(60);
        site.put("docs/members.html", &page("Home", "Members", &words(900)));
        site.put("docs/data.json", "{}");
        site.put("docs/index.html", &page("Home", "Docs", &words(901)));
        let plan = move |plan: &mut BuildPlan| {
            plan.restricted = vec!["/docs/members".into()];
            if !has_out {
                plan.out = None;
            }
        };
        site.build_with(plan).unwrap();
        let published = |site: &Site| if has_out { site.files() } else { made(site) };
        let (before, ledger) = (published(&site), site.ledger());
        let served = fs::read_to_string(site.path("state/served.json")).unwrap();
        permit(&site.path("site/docs"), 0o000);
        let built = build_as_user(&mut site, plan);
        permit(&site.path("site/docs"), 0o755);
        let (outcome, events) = built.unwrap();
        assert_eq!((outcome.pages, outcome.removed), (62, 0), "{has_out}");
        assert!(0 < outcome.unreadable);
        assert_eq!(events.codes("docs/"), ["BD001"]);
        assert_eq!(site.ledger(), ledger);
        assert_eq!(published(&site), before);
        // Restricted pages stay restricted.
        let kept = fs::read_to_string(site.path("state/served.json")).unwrap();
        assert_eq!(kept, served);
        let outcome = site.build_with(plan).unwrap().0;
        assert_eq!((outcome.unreadable, outcome.removed, outcome.changed), (0, 0, 0));
        assert_eq!(published(&site), before);
    }
}

/// Returns the files of a site that a build wrote into the site's own folder.
fn made(site: &Site) -> std::collections::BTreeMap<String, Vec<u8>> {
    crate::site::files(&site.path("site"))
}

#[test]
fn unreadable_file_keeps_its_published_copy() {
    let mut site = Site::of(4);
    site.put("data.json", "{}");
    site.build();
    let before = site.files();
    site.put("data.json", "{ }");
    for name in ["site/data.json", "site/docs/0002.html"] {
        permit(&site.path(name), 0o000);
    }
    let (outcome, events) = build_as_user(&mut site, |_| {}).unwrap();
    assert_eq!((outcome.removed, outcome.unreadable), (0, 2));
    assert_eq!(events.codes("data.json"), ["BD001"]);
    assert_eq!(site.files(), before);
    // Without the cache the content of the page is unknown.
    fs::remove_file(site.path("state/pages.pack")).unwrap();
    let lost = build_as_user(&mut site, |_| {});
    assert!(matches!(lost, Err(BuildError::Unreadable(..))));
    assert_eq!(site.files(), before);
}

#[test] // D23
fn rejects_build_that_removes_most_pages() {
    let mut site = Site::of(30);
    site.build();
    let before = (site.files(), site.ledger());
    for n in (0..30).step_by(2).take(15) {
        site.remove(&format!("docs/{n:04}.html"));
    }
    site.remove("blog/0001.html");
    let refused = site.build_with(|_| {});
    let Err(BuildError::MassDeletion { removed, pages }) = refused else { panic!("not refused") };
    assert_eq!((removed, pages), (16, 31));
    assert_eq!((site.files(), site.ledger()), before);
    site.put("blog/0001.html", &page("Home", "Page 1", &words(1)));
    // Half of the pages is not most.
    assert_eq!(site.build().removed, 15);
    let mut site = Site::of(30);
    site.build();
    for n in 0..30 {
        let folder = if n % 2 == 0 { "docs" } else { "blog" };
        site.remove(&format!("{folder}/{n:04}.html"));
    }
    let (outcome, _) = site.build_with(|plan| plan.allow_mass_delete = true).unwrap();
    assert_eq!((outcome.pages, outcome.removed), (1, 30));
}

#[test]
fn rejects_build_that_excludes_most_pages_until_confirmed() {
    let closed = |n: usize| {
        page("Home", &format!("Page {n}"), &words(n))
            .replace("</head>", "<meta name=\"robots\" content=\"noindex\"></head>")
    };
    // A first build that publishes no page.
    let mut site = Site::new();
    site.put("index.html", &closed(0));
    let refused = site.build_with(|_| {});
    let Err(BuildError::MassExclusion { excluded, pages, reason, .. }) = refused else {
        panic!("not refused")
    };
    assert_eq!((excluded, pages, reason), (1, 1, "noindex"));
    assert!(!site.path("out/robots.txt").exists());
    // Most of many pages; a confirmed exclusion stays confirmed.
    let mut site = Site::of(10);
    for n in 0..15 {
        site.put(&format!("tags/{n:04}.html"), &closed(n));
    }
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::MassExclusion { .. })));
    let (outcome, _) = site.build_with(|plan| plan.allow_mass_delete = true).unwrap();
    assert_eq!(outcome.pages, 11);
    site.put("docs/0002.html", &page("Home", "Page 2", &words(2002)));
    assert_eq!(site.build().changed, 1);
}

#[test]
fn publishes_symlinks_inside_the_site_only() {
    use std::os::unix::fs::symlink;
    let mut site = Site::of(4);
    fs::write(site.path("secret.html"), page("Home", "Secret", "The key is under the mat."))
        .unwrap();
    fs::create_dir(site.path("outside")).unwrap();
    fs::write(site.path("outside/data.json"), "{\"secret\":1}").unwrap();
    for (to, name) in [
        ("../secret.html", "stolen.html"),
        ("/proc/self/environ", "environ.html"),
        ("../outside/data.json", "data.json"),
        ("../outside", "folder"),
        ("docs/0002.html", "alias.html"),
    ] {
        symlink(to, site.path("site").join(name)).unwrap();
    }
    symlink(site.path("site/docs/0000.html"), site.path("site/absolute.html")).unwrap();
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 7, "five pages and two links to them");
    let files = site.files();
    for name in ["stolen.html", "environ.html", "data.json", "folder/data.json"] {
        assert!(!files.contains_key(name), "{name}");
    }
    for name in ["stolen.html", "environ.html", "data.json", "folder"] {
        assert_eq!(events.codes(name).len(), 1, "{name}");
    }
    assert_eq!(files["alias.html"], files["docs/0002.html"]);
    assert_eq!(files["absolute.html"], files["docs/0000.html"]);
    for (name, bytes) in &files {
        assert!(memchr::memmem::find(bytes, b"under the mat").is_none(), "{name}");
    }
    // A robots.txt outside the site must not count as missing.
    fs::write(site.path("robots.txt"), "User-agent: *\nDisallow: /docs/\n").unwrap();
    symlink("../robots.txt", site.path("site/robots.txt")).unwrap();
    assert!(matches!(site.build_with(|_| {}), Err(BuildError::Io(..))));
}

#[test]
fn next_build_repairs_damaged_served_json() {
    let mut site = Site::of(4);
    site.put("members/a.html", &page("Home", "Members", &words(900)));
    let plan = |plan: &mut BuildPlan| plan.restricted = vec!["/members/".into()];
    site.build_with(plan).unwrap();
    let served = site.path("state/served.json");
    let good = fs::read_to_string(&served).unwrap();
    assert!(good.contains("\"closed\":[\"members/\"]"));
    for text in [
        String::new(),
        good.replace("\"members/\"", ""),
        good.split_inclusive('\n').filter(|line| !line.contains("token")).collect(),
    ] {
        fs::write(&served, text).unwrap();
        site.build_with(plan).unwrap();
        assert_eq!(fs::read_to_string(&served).unwrap(), good);
    }
}

#[test]
fn rejects_truncated_or_changed_ledger_and_chain() {
    let mut site = Site::of(4);
    site.build();
    let before = site.files();
    for name in ["ledger.tsv", "chain.json", "templates.json"] {
        let path = site.path("state").join(name);
        let good = fs::read_to_string(&path).unwrap();
        let cut: Vec<&str> = good.lines().take(good.lines().count() - 1).collect();
        for text in [format!("{}\n", cut.join("\n")), String::new(), good.replace(['2', '4'], "3")]
        {
            fs::write(&path, text).unwrap();
            let refused = site.build_with(|_| {});
            assert!(
                matches!(refused, Err(BuildError::DamagedState(..) | BuildError::NewerFormat(_))),
                "{name}"
            );
            assert_eq!(site.files(), before);
        }
        fs::write(&path, good).unwrap();
    }
    site.build();
    // A truncated manifest counts as lost, without other effects.
    let path = site.path("state/files.tsv");
    let good = fs::read_to_string(&path).unwrap();
    let cut: String = good.split_inclusive('\n').take(5).collect();
    fs::write(&path, cut).unwrap();
    let (_, events) =
        site.build_with(|plan| plan.update = rutter_scp::advert::UpdateFrequency::Daily).unwrap();
    assert!(events.findings.iter().all(|found| found.1 != "BD003"), "{:?}", events.findings);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), good.lines().count());
}

#[test]
fn rejects_state_from_the_future_until_redated() {
    let mut site = Site::of(6);
    site.build();
    let now = site.now;
    // A clock that was a year ahead.
    site.now = now.plus_seconds(365 * 86_400);
    site.put("docs/0002.html", &page("Home", "Page 2", &words(2002)));
    site.build();
    let before = (site.files(), site.ledger());
    site.now = now;
    let refused = site.build_with(|_| {});
    assert!(matches!(refused, Err(BuildError::FutureState { .. })));
    assert_eq!((site.files(), site.ledger()), before);
    // Clocks may differ by ten minutes.
    let later = now.plus_seconds(365 * 86_400 + 3600 - 590);
    site.build_with(|plan| plan.now = later).unwrap();
    site.build_with(|plan| plan.redate = true).unwrap();
    let year = site.now.to_string()[..4].to_owned();
    let next = (year.parse::<u32>().unwrap() + 1).to_string();
    assert!(!site.ledger().contains(&format!("\t{next}-")), "{}", site.ledger());
    let (header, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(header.generated, site.now);
    assert!(lines.iter().all(|line| !line.contains(&format!("\"modified\":\"{next}"))));
    // Later builds need no setting.
    site.put("docs/0004.html", &page("Home", "Page 4", &words(4004)));
    assert_eq!(site.build().changed, 1);
}

#[test]
fn purge_withdraws_every_collection_with_a_removed_page() {
    let holding = |site: &Site| {
        let (_, offers) = site.sitemap();
        let offers = offers.iter().filter(|offer| offer.url.ends_with(".zst"));
        let paths =
            offers.map(|offer| offer.url.strip_prefix(crate::site::BASE).unwrap().to_owned());
        paths
            .filter(|path| {
                let (_, lines) = crate::site::read_collection(&site.path("out").join(path));
                lines.iter().any(|line| line.contains("docs/0002.html"))
            })
            .count()
    };
    for is_late in [false, true] {
        let mut site = Site::of(12);
        site.build();
        site.put("docs/0002.html", &page("Home", "Page 2", &words(2002)));
        site.build();
        site.remove("docs/0002.html");
        if is_late {
            // Removed by a build without `purge`: the content is still published.
            site.build();
            assert!(0 < holding(&site));
        }
        let (outcome, _) = site.build_with(|plan| plan.purge = true).unwrap();
        assert_eq!(outcome.removed, u64::from(!is_late));
        assert_eq!(holding(&site), 0);
        // A new reader finds a snapshot.
        let (_, lines) = site.newest("all", "snapshot").unwrap();
        assert_eq!(lines.len(), 12);
        let kept = fs::read_dir(site.path("state/collections")).unwrap().count();
        let shown = fs::read_dir(site.path("out/scp")).unwrap().count();
        assert_eq!(kept, shown);
        // A second build changes nothing.
        assert!(site.build_with(|plan| plan.purge = true).unwrap().0.is_unchanged());
    }
}
