//! Collections: taken, kept up to date, cheaply.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_fetch::Url;
use rutter_scp::MassDeletion;
use rutter_store::{ChangeKind, Store, Withheld};
use rutter_sync::plan::Reason;
use rutter_sync::{Kind, Options, Proof, VisitError};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, SITE, advert, at, snapshot};

#[tokio::test] // SCP-141 SCP-153 D25
async fn spec_a_plain_publisher_is_followed_by_deltas_and_snapshots() {
    let bay = Bay::new();
    bay.robots("user-agent: *\nallow: /\n");
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added, report.removed), (Rung::Scp, 2, 0));
    assert_eq!(report.sections["all"].reason, Reason::Empty);
    assert_eq!(bay.paths(), ["/a", "/b"]);

    // Nothing changed: one conditional request.
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert_eq!(bay.asked(n), ["/sitemap.xml"]);
    assert_eq!((report.requests, report.bytes), (1, 0));
    assert!(report.is_quiet());

    // A delta adds and changes; it cannot delete.
    let second = bay.delta(2, &[("/b", "bb"), ("/c", "c")]);
    bay.sitemap(&[first, second], &["/a", "/b", "/c"]);
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert_eq!(bay.asked(n), ["/all-2-delta.scp", "/sitemap.xml"]);
    assert_eq!((report.added, report.changed, report.removed), (1, 1, 0));

    // A newer snapshot deletes (SCP-135).
    let third = bay.snapshot(3, &[("/b", "bb"), ("/c", "c")]);
    bay.sitemap(&[third], &["/b", "/c"]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.changed, report.removed), (0, 0, 1));
    assert_eq!(bay.paths(), ["/b", "/c"]);
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let audit = visitor.audit(&Url::parse(SITE).unwrap()).await.unwrap();
    assert_eq!(audit.sections["all"], Proof::ByLines);
    assert!(!audit.is_bad());
}

#[tokio::test] // D23
async fn ours_mass_deletion_waits_for_a_word_or_a_later_snapshot() {
    let bay = Bay::new();
    let paths: Vec<String> = (0..30).map(|n| format!("/{n:02}")).collect();
    let many: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "x")).collect();
    let one = bay.snapshot(1, &many);
    bay.sitemap(&[one], &[]);
    bay.visit().await;
    let before = bay.seen();
    let two = bay.snapshot(2, &many[..3]);
    bay.sitemap(&[two], &[]);
    // The clock of files is not the one that is moved by hand.
    let kept = Options { spools_kept: 10 * 365 * 86_400, ..Options::default() };
    let report = bay.visit_with(kept.clone()).await.unwrap();
    assert_eq!(report.worst(), Some(Kind::Policy));
    assert!(bay.seen() == before);
    // The same once more is no confirmation, and is not downloaded again.
    let n = bay.server.seen().len();
    assert_eq!(bay.visit_with(kept).await.unwrap().worst(), Some(Kind::Policy));
    assert!(bay.seen() == before);
    assert_eq!(bay.asked(n), ["/sitemap.xml"]);
    let three = bay.snapshot(3, &many[..3]);
    bay.sitemap(&[three], &[]);
    assert_eq!(bay.visit().await.removed, 27);
    assert_eq!(bay.seen().len(), 3);
    // An empty snapshot, and somebody's word.
    let four = bay.snapshot(4, &[]);
    bay.sitemap(&[four], &[]);
    assert_eq!(bay.visit().await.worst(), Some(Kind::Policy));
    assert_eq!(bay.seen().len(), 3);
    let options = Options { mass_deletion: MassDeletion::Allowed, ..Options::default() };
    assert_eq!(bay.visit_with(options).await.unwrap().removed, 3);
}

#[tokio::test] // D31
async fn ours_a_download_that_was_finished_needs_no_network_again() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a"]);
    // Somebody else holds the publisher from the moment the file is here: the
    // commit fails, the spool stays.
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let publisher = bay.store.register("http://harbour.example", &[], "").unwrap();
    let now = rutter_fetch::Clock::now(&bay.clock);
    let lease = bay.store.lease(publisher, now, now.plus_seconds(60)).unwrap();
    let error = visitor.visit(&Url::parse(SITE).unwrap(), &()).await.unwrap_err();
    assert!(matches!(error, VisitError::Lease(rutter_store::LeaseError::Held { .. })), "{error}");
    bay.store.release(lease).unwrap();
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a"]);
    // Nothing is left of the spool.
    let left = walk(&bay.spools());
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
async fn spec_pages_of_others_and_pages_that_robots_forbids_keep_no_words() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ndisallow: /private\n");
    let body = snapshot(1, &[("/a", "a"), ("/private/x", "x")])
        .replace("harbour.example/a\"", "elsewhere.example/a\"");
    // The text changed, so the checksum is taken out.
    let start = body.find(",\"checksum\"").unwrap();
    let body = format!("{}{}", &body[..start], &body[start + 85..]);
    let first = advert("/all.scp", 1, None, 2, body.len());
    bay.file("/all.scp", "application/scp", body).sitemap(&[first], &[]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld), (0, 2));
    let withheld = |url: &str| bay.store.page(url).unwrap().unwrap().withheld;
    assert_eq!(withheld("http://elsewhere.example/a"), Some(Withheld::Foreign));
    assert_eq!(withheld("http://harbour.example/private/x"), Some(Withheld::Robots));
    // Allowed again: the words come back with the next visit.
    bay.robots("user-agent: *\nallow: /\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert_eq!(withheld("http://harbour.example/private/x"), None);
}

#[tokio::test] // ARC-056 ARC-057 D87
async fn spec_consent_that_is_taken_back_takes_the_words_away() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b"), ("/c", "c")]);
    bay.sitemap(&[first], &[]);
    let arc = |b: &str, c: &str| {
        format!(
            "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"http://harbour.example\",\
             \"generated_at\":\"{}\",\"pages\":[{{\"url\":\"http://harbour.example/b\",{b}}},\
             {{\"url\":\"http://harbour.example/c\",{c}}}]}}",
            at(2)
        )
    };
    let yes = "\"ai_indexable\":true";
    bay.file("/arc-sitemap.json", "application/json", arc(yes, yes));
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld, report.arc), (3, 0, Some(2)));
    let n = bay.server.seen().len();
    bay.visit().await;
    assert_eq!(bay.asked(n), ["/arc-sitemap.json", "/sitemap.xml"]);
    let login = "\"ai_indexable\":true,\"auth_required\":true";
    bay.file("/arc-sitemap.json", "application/json", arc("\"ai_indexable\":false", login));
    let report = bay.visit().await;
    assert_eq!((report.withheld, report.requests), (2, 2));
    let words = |path: &str| bay.store.line(&format!("http://harbour.example{path}")).unwrap();
    assert!(words("/a").is_some() && words("/b").is_none() && words("/c").is_none());
    let changes = bay.store.changes_since(None, 100).unwrap().events;
    let gone = changes.iter().filter(|change| change.kind == ChangeKind::Withheld);
    assert_eq!(gone.count(), 2);
    // A delta does not bring them back, consent does.
    bay.file("/arc-sitemap.json", "application/json", arc(yes, yes));
    bay.visit().await;
    assert!(words("/b").is_some() && words("/c").is_some());
}

#[tokio::test] // SPX-044 SPX-057 SPX-060
async fn spec_entities_are_taken_over_with_what_they_are_not() {
    let bay = Bay::new();
    bay.robots("user-agent: GPTBot\nallow: /spxi-index.jsonld\n");
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
    bay.html("/", "<title>t</title><main><p>Words of the home page.</main>");
    bay.file("/spxi-index.jsonld", "application/ld+json", index("Harbour"));
    let report = bay.visit().await;
    assert_eq!(report.entities, Some(1));
    let publisher = bay.store.publishers().unwrap()[0].id;
    let entities = bay.store.entities(publisher).unwrap();
    assert_eq!(entities[0].name.as_deref(), Some("Harbour"));
    assert_eq!(entities[0].negative_tags, ["NOT a film"]);
    assert_eq!(entities[0].markers.len(), 2);
    bay.file("/spxi-index.jsonld", "application/ld+json", index("Harbour Museum"));
    bay.visit().await;
    let entities = bay.store.entities(publisher).unwrap();
    assert_eq!(entities[0].name.as_deref(), Some("Harbour Museum"));
}

#[tokio::test] // SCP-207 D11 D12
async fn spec_a_host_that_wants_rest_is_left_alone_by_later_runs_too() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a"]);
    bay.server.route("/all-1.scp", [Reply::status(503).with("Retry-After", "7200")]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Network));
    let n = bay.server.seen().len();
    assert!(matches!(bay.try_visit().await, Err(VisitError::Paused { .. })));
    assert_eq!(bay.server.seen().len(), n);
    bay.clock.advance(Duration::from_hours(3));
    bay.snapshot(1, &[("/a", "a")]);
    assert_eq!(bay.visit().await.added, 1);
}

#[tokio::test] // SCP-104 D39
async fn spec_a_collection_that_does_not_verify_is_replaced_by_its_pages() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[first], &["/a", "/b"]);
    for path in ["/a", "/b"] {
        bay.html(
            path,
            &format!("<title>{path}</title><main><h1>{path}</h1><p>As it is read.</main>"),
        );
    }
    let broken =
        snapshot(1, &[("/a", "a"), ("/b", "b")]).replace("\"title\":\"a\"", "\"title\":\"x\"");
    bay.file("/all-1.scp", "application/scp", broken);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.added), (Some(Kind::Integrity), 2));
    assert!(report.troubles[0].text.contains("checksum"), "{:?}", report.troubles);
    let line = bay.store.line("http://harbour.example/a").unwrap().unwrap();
    assert!(line.contains("As it is read."));
    // Mended: what the publisher delivers goes before what was read.
    let second = bay.snapshot(2, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[second], &["/a", "/b"]);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.changed), (None, 2));
    let line = bay.store.line("http://harbour.example/a").unwrap().unwrap();
    assert_eq!(line, crate::bay::page("/a", "a"));
    let publisher = bay.store.publishers().unwrap()[0].id;
    let names: Vec<String> =
        bay.store.sections(publisher).unwrap().into_iter().map(|it| it.name).collect();
    assert!(
        !names.contains(&"@web".to_owned())
            || bay
                .store
                .sections(publisher)
                .unwrap()
                .iter()
                .all(|it| it.name != "@web" || it.pages == 0),
        "{names:?}"
    );
}

#[tokio::test] // D07 of the cases for fetching
async fn ours_a_connection_that_breaks_is_gone_on_with() {
    let bay = Bay::new();
    let pages: Vec<String> = (0..50).map(|n| format!("/{n}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let body = snapshot(1, &pages);
    let first = advert("/all.scp", 1, None, 50, body.len());
    let whole = Reply::file("application/scp", "\"1\"", body.clone());
    let cut = whole.clone().but(Fault::ResetAfter(body.len() / 2));
    bay.server.route("/all.scp", [cut, whole]);
    bay.sitemap(&[first], &[]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.worst()), (50, None));
}

#[tokio::test]
async fn ours_what_did_not_verify_is_not_downloaded_again_while_it_is_the_same() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    let broken = snapshot(1, &[("/a", "a")]).replace("\"title\":\"a\"", "\"title\":\"x\"");
    bay.file("/all-1.scp", "application/scp", broken);
    bay.sitemap(std::slice::from_ref(&first), &[]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Integrity));
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Integrity));
    let text = &report.troubles[0].text;
    assert!(text.contains("checksum") && text.ends_with("; it has not changed"), "{text}");
    let asked = bay.server.seen().split_off(n);
    let asked: Vec<_> = asked.iter().filter(|seen| seen.path == "/all-1.scp").collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].header("if-none-match").is_some());
    assert!(bay.seen().is_empty());
    // Mended in its place, it is taken at once.
    bay.snapshot(1, &[("/a", "a")]);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.added), (None, 1));
}

#[tokio::test]
async fn ours_an_advert_that_was_wrong_is_believed_again_when_it_is_right() {
    let bay = Bay::new();
    let right = bay.snapshot(1, &[("/a", "a")]);
    let wrong = right.replace("/>", &format!(" checksum=\"sha256:{}\"/>", "0".repeat(64)));
    bay.sitemap(&[wrong], &[]);
    assert_eq!(bay.visit().await.worst(), Some(Kind::Integrity));
    bay.sitemap(&[right], &[]);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.added), (None, 1), "{:?}", report.troubles);
}

#[tokio::test]
async fn ours_nothing_is_not_proved() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &[]);
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let error = visitor.audit(&Url::parse(SITE).unwrap()).await.unwrap_err();
    assert!(matches!(error, VisitError::Unknown(_)), "{error}");
    assert!(bay.store.publishers().unwrap().is_empty() && bay.server.seen().is_empty());
}

#[tokio::test] // SCP-167
async fn notices_a_collection_that_changed_under_its_address() {
    let bay = Bay::new();
    // The server promises a week, and the file is replaced after an hour.
    let reply = |tag: &str, body: &str| {
        Reply::file("application/scp", tag, body.as_bytes().to_vec())
            .with("Cache-Control", "public, max-age=604800")
            .with("Expires", "Fri, 31 Dec 2027 00:00:00 GMT")
    };
    let publish = |day: u32, text: &str| {
        let body = snapshot(day, &[("/a", text)]);
        bay.server.route("/all.scp", [reply(&format!("\"{day}\""), &body)]);
        bay.sitemap(&[advert("/all.scp", day, None, 1, body.len())], &[]);
    };
    publish(1, "a");
    assert_eq!(bay.visit().await.added, 1);
    bay.clock.advance(Duration::from_hours(1));
    publish(2, "aa");
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert_eq!((report.changed, report.worst()), (1, None), "{report:?}");
    assert!(bay.asked(n).contains(&"/all.scp".to_owned()));
    let line = bay.store.line("http://harbour.example/a").unwrap().unwrap();
    assert!(line.contains("\"aa\""), "{line}");
    // An announced file that is still the old one is not taken for the new one.
    let body = snapshot(2, &[("/a", "aa")]);
    bay.sitemap(&[advert("/all.scp", 3, None, 1, body.len())], &[]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Integrity), "{report:?}");
}
