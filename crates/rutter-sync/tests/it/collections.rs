//! Collections: applied, updated, and downloaded no more than necessary.

use std::time::Duration;

use rutter_fetch::Url;
use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{ChangeKind, WithheldReason};
use rutter_sync::discover::AccessMethod;
use rutter_sync::plan::PlanReason;
use rutter_sync::{ProblemKind, SectionProof, SyncError, SyncOptions};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{SITE, TestSite, advert, at, snapshot};

#[tokio::test] // SCP-141 SCP-153 D25
async fn follows_plain_publisher_by_deltas_and_snapshots() {
    let site = TestSite::new();
    site.robots("user-agent: *\nallow: /\n");
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    let report = site.sync().await;
    assert_eq!((report.method, report.added, report.removed), (AccessMethod::Scp, 2, 0));
    assert_eq!(report.sections["all"].reason, PlanReason::Empty);
    assert_eq!(site.paths(), ["/a", "/b"]);

    // No change: one conditional request.
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!(site.asked(n), ["/sitemap.xml"]);
    assert_eq!((report.requests, report.bytes), (1, 0));
    assert!(report.is_quiet());

    // A delta adds and changes; it cannot remove.
    let second = site.delta(2, &[("/b", "bb"), ("/c", "c")]);
    site.sitemap(&[first, second], &["/a", "/b", "/c"]);
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!(site.asked(n), ["/all-2-delta.scp", "/sitemap.xml"]);
    assert_eq!((report.added, report.changed, report.removed), (1, 1, 0));

    // A newer snapshot removes (SCP-135).
    let third = site.snapshot(3, &[("/b", "bb"), ("/c", "c")]);
    site.sitemap(&[third], &["/b", "/c"]);
    let report = site.sync().await;
    assert_eq!((report.added, report.changed, report.removed), (0, 0, 1));
    assert_eq!(site.paths(), ["/b", "/c"]);
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let audit = syncer.audit(&Url::parse(SITE).unwrap()).await.unwrap();
    assert_eq!(audit.sections["all"], SectionProof::ByLines);
    assert!(!audit.is_bad());
}

#[tokio::test] // D23
async fn mass_deletion_waits_for_permission_or_a_later_snapshot() {
    let site = TestSite::new();
    let paths: Vec<String> = (0..30).map(|n| format!("/{n:02}")).collect();
    let many: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "x")).collect();
    let one = site.snapshot(1, &many);
    site.sitemap(&[one], &[]);
    site.sync().await;
    let before = site.stored_pages();
    let two = site.snapshot(2, &many[..3]);
    site.sitemap(&[two], &[]);
    // File times do not follow the manual clock.
    let kept = SyncOptions { spools_kept: 10 * 365 * 86_400, ..SyncOptions::default() };
    let report = site.sync_with(kept.clone()).await.unwrap();
    assert_eq!(report.worst(), Some(ProblemKind::Policy));
    assert!(site.stored_pages() == before);
    // The same snapshot again is no confirmation, and is not downloaded again.
    let n = site.server.seen().len();
    assert_eq!(site.sync_with(kept).await.unwrap().worst(), Some(ProblemKind::Policy));
    assert!(site.stored_pages() == before);
    assert_eq!(site.asked(n), ["/sitemap.xml"]);
    let three = site.snapshot(3, &many[..3]);
    site.sitemap(&[three], &[]);
    assert_eq!(site.sync().await.removed, 27);
    assert_eq!(site.stored_pages().len(), 3);
    // An empty snapshot, with permission.
    let four = site.snapshot(4, &[]);
    site.sitemap(&[four], &[]);
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Policy));
    assert_eq!(site.stored_pages().len(), 3);
    let options =
        SyncOptions { mass_deletion: MassDeletionPolicy::Allowed, ..SyncOptions::default() };
    assert_eq!(site.sync_with(options).await.unwrap().removed, 3);
}

#[tokio::test] // D31
async fn complete_download_is_not_repeated() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a"]);
    // Another process takes the lease once the file is downloaded: the commit fails, the
    // spool file stays.
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let publisher = site.store.register("http://harbour.example", &[]).unwrap();
    let now = rutter_fetch::Clock::now(&site.clock);
    let lease = site.store.lease(publisher, now, now.plus_seconds(60)).unwrap();
    let error = syncer.sync(&Url::parse(SITE).unwrap(), &()).await.unwrap_err();
    assert!(matches!(error, SyncError::Lease(rutter_store::LeaseError::Held { .. })), "{error}");
    site.store.release(lease).unwrap();
    site.sync().await;
    assert_eq!(site.paths(), ["/a"]);
    // The spool directory is empty.
    let left = walk(&site.spools());
    let is_spool = |name: &String| [".scp", ".ok"].iter().any(|end| name.ends_with(end));
    assert!(!left.iter().any(is_spool), "{left:?}");
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            names.extend(walk(&entry.path()));
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names
}

#[tokio::test] // D88 D93 SCP-200
async fn withholds_foreign_and_disallowed_pages() {
    let site = TestSite::new();
    site.robots("user-agent: *\ndisallow: /private\n");
    let body = snapshot(1, &[("/a", "a"), ("/private/x", "x")])
        .replace("harbour.example/a\"", "elsewhere.example/a\"");
    // The text changed, so the checksum is removed.
    let start = body.find(",\"checksum\"").unwrap();
    let body = format!("{}{}", &body[..start], &body[start + 85..]);
    let first = advert("/all.scp", 1, None, 2, body.len());
    site.file("/all.scp", "application/scp", body).sitemap(&[first], &[]);
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld), (0, 2));
    let withheld = |url: &str| site.store.page(url).unwrap().unwrap().withheld;
    assert_eq!(withheld("http://elsewhere.example/a"), Some(WithheldReason::Foreign));
    assert_eq!(withheld("http://harbour.example/private/x"), Some(WithheldReason::Robots));
    // Allowed again: the next sync stores the content.
    site.robots("user-agent: *\nallow: /\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert_eq!(withheld("http://harbour.example/private/x"), None);
}

#[tokio::test] // ARC-056 ARC-057 D87
async fn withdrawn_consent_removes_content() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b"), ("/c", "c")]);
    site.sitemap(&[first], &[]);
    let arc = |b: &str, c: &str| {
        format!(
            "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"http://harbour.example\",\
             \"generated_at\":\"{}\",\"pages\":[{{\"url\":\"http://harbour.example/b\",{b}}},\
             {{\"url\":\"http://harbour.example/c\",{c}}}]}}",
            at(2)
        )
    };
    let yes = "\"ai_indexable\":true";
    site.file("/arc-sitemap.json", "application/json", arc(yes, yes));
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld, report.arc), (3, 0, Some(2)));
    let n = site.server.seen().len();
    site.sync().await;
    assert_eq!(site.asked(n), ["/arc-sitemap.json", "/sitemap.xml"]);
    let login = "\"ai_indexable\":true,\"auth_required\":true";
    site.file("/arc-sitemap.json", "application/json", arc("\"ai_indexable\":false", login));
    let report = site.sync().await;
    assert_eq!((report.withheld, report.requests), (2, 2));
    let words = |path: &str| site.store.line(&format!("http://harbour.example{path}")).unwrap();
    assert!(words("/a").is_some() && words("/b").is_none() && words("/c").is_none());
    let changes = site.store.changes_since(None, 100).unwrap().events;
    let gone = changes.iter().filter(|change| change.kind == ChangeKind::Withheld);
    assert_eq!(gone.count(), 2);
    // A delta does not restore the content, consent does.
    site.file("/arc-sitemap.json", "application/json", arc(yes, yes));
    site.sync().await;
    assert!(words("/b").is_some() && words("/c").is_some());
}

#[tokio::test] // SPX-044 SPX-057 SPX-060
async fn stores_entities_with_negative_tags() {
    let site = TestSite::new();
    site.robots("user-agent: GPTBot\nallow: /spxi-index.jsonld\n");
    let index = |name: &str| {
        format!(
            r#"{{"@context":{{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"}},
            "@type":"spxi:SemanticIndex","@id":"http://harbour.example/spxi-index.jsonld",
            "spxi:hasEntity":[{{"@type":"spxi:IndexedEntity","@id":"http://harbour.example/",
              "spxi:entityType":"Organization","spxi:canonicalName":"{name}",
              "spxi:negativeTag":["NOT a film"],
              "spxi:semanticIntegrityMarker":["slack water rule","two lights"]}},
              {{"@type":"spxi:IndexedEntity","@id":"http://other.example/",
              "spxi:canonicalName":"Other"}}]}}"#
        )
    };
    site.html("/", "<title>t</title><main><p>Words of the home page.</main>");
    site.file("/spxi-index.jsonld", "application/ld+json", index("Harbour"));
    let report = site.sync().await;
    assert_eq!(report.entities, Some(1));
    let publisher = site.store.publishers().unwrap()[0].id;
    let entities = site.store.entities(publisher).unwrap();
    assert_eq!(entities[0].name.as_deref(), Some("Harbour"));
    assert_eq!(entities[0].negative_tags, ["NOT a film"]);
    assert_eq!(entities[0].markers.len(), 2);
    site.file("/spxi-index.jsonld", "application/ld+json", index("Harbour Museum"));
    site.sync().await;
    let entities = site.store.entities(publisher).unwrap();
    assert_eq!(entities[0].name.as_deref(), Some("Harbour Museum"));
}

#[tokio::test] // SCP-207 D11 D12
async fn retry_after_applies_to_later_syncs() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a"]);
    site.server.route("/all-1.scp", [Reply::status(503).with("Retry-After", "7200")]);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Network));
    let n = site.server.seen().len();
    assert!(matches!(site.try_sync().await, Err(SyncError::Paused { .. })));
    assert_eq!(site.server.seen().len(), n);
    site.clock.advance(Duration::from_hours(3));
    site.snapshot(1, &[("/a", "a")]);
    assert_eq!(site.sync().await.added, 1);
}

#[tokio::test] // SCP-104 D39
async fn crawls_pages_of_an_invalid_collection() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[first], &["/a", "/b"]);
    for path in ["/a", "/b"] {
        site.html(
            path,
            &format!("<title>{path}</title><main><h1>{path}</h1><p>As it is read.</main>"),
        );
    }
    let broken =
        snapshot(1, &[("/a", "a"), ("/b", "b")]).replace("\"title\":\"a\"", "\"title\":\"x\"");
    site.file("/all-1.scp", "application/scp", broken);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.added), (Some(ProblemKind::Integrity), 2));
    assert!(report.problems[0].text.contains("checksum"), "{:?}", report.problems);
    let line = site.store.line("http://harbour.example/a").unwrap().unwrap();
    assert!(line.contains("As it is read."));
    // Corrected: the collection takes precedence over crawled pages.
    let second = site.snapshot(2, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[second], &["/a", "/b"]);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.changed), (None, 2));
    let line = site.store.line("http://harbour.example/a").unwrap().unwrap();
    assert_eq!(line, crate::test_site::page("/a", "a"));
    let publisher = site.store.publishers().unwrap()[0].id;
    let names: Vec<String> =
        site.store.sections(publisher).unwrap().into_iter().map(|it| it.name).collect();
    assert!(
        !names.contains(&"@web".to_owned())
            || site
                .store
                .sections(publisher)
                .unwrap()
                .iter()
                .all(|it| it.name != "@web" || it.pages == 0),
        "{names:?}"
    );
}

#[tokio::test]
async fn resumes_an_interrupted_download() {
    let site = TestSite::new();
    let pages: Vec<String> = (0..50).map(|n| format!("/{n}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let body = snapshot(1, &pages);
    let first = advert("/all.scp", 1, None, 50, body.len());
    let whole = Reply::file("application/scp", "\"1\"", body.clone());
    let cut = whole.clone().but(Fault::ResetAfter(body.len() / 2));
    site.server.route("/all.scp", [cut, whole]);
    site.sitemap(&[first], &[]);
    let report = site.sync().await;
    assert_eq!((report.added, report.worst()), (50, None));
}

#[tokio::test]
async fn unchanged_invalid_collection_is_not_downloaded_again() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    let broken = snapshot(1, &[("/a", "a")]).replace("\"title\":\"a\"", "\"title\":\"x\"");
    site.file("/all-1.scp", "application/scp", broken);
    site.sitemap(std::slice::from_ref(&first), &[]);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Integrity));
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Integrity));
    let text = &report.problems[0].text;
    assert!(text.contains("checksum") && text.ends_with("; the file has not changed"), "{text}");
    let asked = site.server.seen().split_off(n);
    let asked: Vec<_> = asked.iter().filter(|seen| seen.path == "/all-1.scp").collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].header("if-none-match").is_some());
    assert!(site.stored_pages().is_empty());
    // Corrected at the same URL, it is applied at once.
    site.snapshot(1, &[("/a", "a")]);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.added), (None, 1));
}

#[tokio::test]
async fn corrected_advert_is_used_again() {
    let site = TestSite::new();
    let right = site.snapshot(1, &[("/a", "a")]);
    let wrong = right.replace("/>", &format!(" checksum=\"sha256:{}\"/>", "0".repeat(64)));
    site.sitemap(&[wrong], &[]);
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Integrity));
    site.sitemap(&[right], &[]);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.added), (None, 1), "{:?}", report.problems);
}

#[tokio::test]
async fn empty_section_is_not_proved() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &[]);
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let error = syncer.audit(&Url::parse(SITE).unwrap()).await.unwrap_err();
    assert!(matches!(error, SyncError::Unknown(_)), "{error}");
    assert!(site.store.publishers().unwrap().is_empty() && site.server.seen().is_empty());
}

#[tokio::test] // SCP-167
async fn notices_a_collection_that_changed_under_its_address() {
    let site = TestSite::new();
    // The server sends `max-age` of a week, and the file is replaced after an hour.
    let reply = |tag: &str, body: &str| {
        Reply::file("application/scp", tag, body.as_bytes().to_vec())
            .with("Cache-Control", "public, max-age=604800")
            .with("Expires", "Fri, 31 Dec 2027 00:00:00 GMT")
    };
    let publish = |day: u32, text: &str| {
        let body = snapshot(day, &[("/a", text)]);
        site.server.route("/all.scp", [reply(&format!("\"{day}\""), &body)]);
        site.sitemap(&[advert("/all.scp", day, None, 1, body.len())], &[]);
    };
    publish(1, "a");
    assert_eq!(site.sync().await.added, 1);
    site.clock.advance(Duration::from_hours(1));
    publish(2, "aa");
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!((report.changed, report.worst()), (1, None), "{report:?}");
    assert!(site.asked(n).contains(&"/all.scp".to_owned()));
    let line = site.store.line("http://harbour.example/a").unwrap().unwrap();
    assert!(line.contains("\"aa\""), "{line}");
    // A new advert with the old file behind it is detected.
    let body = snapshot(2, &[("/a", "aa")]);
    site.sitemap(&[advert("/all.scp", 3, None, 1, body.len())], &[]);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{report:?}");
}
