//! A second visit asks only what may have changed.

use std::time::Duration;

use rutter_discover::{Memory, Outcome};

use crate::{Bay, arc, collection, entry, outcome, spxi, urlset};

fn with_scp(bay: &Bay) {
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    bay.robots("user-agent: *\nallow: /\n")
        .xml("/sitemap.xml", &urlset(&format!("{advert}{}", entry("/a"))));
}

#[tokio::test] // ARC-035 SCP-153
async fn spec_nothing_changed_costs_one_question_for_each_entry_file() {
    let bay = Bay::new();
    with_scp(&bay);
    let first = bay.look().await;
    let n_before = bay.server.seen().len();
    bay.clock.advance(Duration::from_hours(1));
    let second = bay.visit(&first.memory).await.unwrap();
    // With SCP alone: the sitemap; robots.txt is known for a day.
    let asked: Vec<_> = bay.server.paths().split_off(n_before);
    assert_eq!(asked, ["/sitemap.xml"]);
    assert_eq!(second.offer, first.offer);
    assert_eq!(outcome(&second, "/sitemap.xml").unwrap().0, &Outcome::Unchanged("sitemap"));
    assert_eq!(second.wire_bytes, 0);
    // After a day, robots.txt too.
    bay.clock.advance(Duration::from_hours(24));
    let n_before = bay.server.seen().len();
    let third = bay.visit(&second.memory).await.unwrap();
    assert_eq!(bay.server.paths().split_off(n_before), ["/robots.txt", "/sitemap.xml"]);
    assert_eq!(third.offer, first.offer);
}

#[tokio::test] // ARC-035 ARC-061
async fn spec_all_layers_cost_four_questions() {
    let bay = Bay::new();
    with_scp(&bay);
    bay.file("/arc-sitemap.json", "application/json", arc())
        .file("/spxi-index.jsonld", "application/ld+json", spxi())
        .file("/llms.txt", "text/plain", "# Harbour\n\n## A\n\n- [a](/a)\n")
        .file("/", "text/html", "<a href=/a>a</a>");
    let first = bay.look().await;
    bay.clock.advance(Duration::from_hours(25));
    let n_before = bay.server.seen().len();
    let second = bay.visit(&first.memory).await.unwrap();
    let mut asked = bay.server.paths().split_off(n_before);
    asked.sort();
    assert_eq!(asked, ["/arc-sitemap.json", "/robots.txt", "/sitemap.xml", "/spxi-index.jsonld"]);
    assert_eq!(second.offer, first.offer);
    // The rest is looked at again after a week.
    bay.clock.advance(Duration::from_hours(24 * 7));
    let n_before = bay.server.seen().len();
    bay.visit(&second.memory).await.unwrap();
    assert!(bay.server.paths().split_off(n_before).contains(&"/llms.txt".to_owned()));
}

#[tokio::test]
async fn ours_what_changed_is_seen_and_memory_can_be_kept() {
    let bay = Bay::new();
    with_scp(&bay);
    let first = bay.look().await;
    let text = serde_json::to_string(&first.memory).unwrap();
    let memory: Memory = serde_json::from_str(&text).unwrap();
    assert_eq!(memory, first.memory);
    let advert = collection("http://harbour.example/new.scp", "2026-12-31T00:00:00Z");
    bay.server.route(
        "/sitemap.xml",
        [rutter_testkit::server::Reply::file(
            "application/xml",
            "\"2\"",
            urlset(&format!("{advert}{}", entry("/a"))),
        )],
    );
    let second = bay.visit(&memory).await.unwrap();
    assert_eq!(second.offer.scp.collections[0].files[0].url, "http://harbour.example/new.scp");
    // A file that cannot be had for a moment is not forgotten.
    bay.server.route(
        "/sitemap.xml",
        [rutter_testkit::server::Reply::status(200).but(rutter_testkit::server::Fault::HangUp)],
    );
    let third = bay.visit(&second.memory).await.unwrap();
    assert!(matches!(outcome(&third, "/sitemap.xml"), Some((Outcome::Failed(_), _))));
    assert!(third.memory.files.contains_key("http://harbour.example/sitemap.xml"));
}

#[tokio::test] // E of reliability.md
async fn ours_an_error_is_not_an_absence() {
    use rutter_testkit::server::Reply;
    let bay = Bay::new();
    // Nobody announces them; they are known because they were there.
    bay.xml("/sitemap.xml", &urlset(&entry("/a"))).file(
        "/arc-sitemap.json",
        "application/json",
        arc(),
    );
    let first = bay.look().await;
    let places = ["/sitemap.xml", "/arc-sitemap.json"];
    let mut memory = first.memory.clone();
    for status in [500, 502, 403, 401, 418] {
        for place in places {
            bay.server.route(place, [Reply::status(status)]);
        }
        let found = bay.visit(&memory).await.unwrap();
        for place in places {
            let failed = Outcome::Failed(format!("status {status}"));
            assert_eq!(outcome(&found, place).unwrap().0, &failed, "{place}");
            let url = format!("http://harbour.example{place}");
            let (was, is) = (&first.memory.files[&url], &found.memory.files[&url]);
            assert_eq!((&is.said, &is.validators), (&was.said, &was.validators), "{place}");
        }
        memory = found.memory;
    }
    // They are back, and nothing has to be sent again.
    bay.xml("/sitemap.xml", &urlset(&entry("/a"))).file(
        "/arc-sitemap.json",
        "application/json",
        arc(),
    );
    let found = bay.visit(&memory).await.unwrap();
    assert_eq!(found.offer, first.offer);
    assert_eq!(outcome(&found, "/sitemap.xml").unwrap().0, &Outcome::Unchanged("sitemap"));
    // Gone is gone.
    for status in [404, 410] {
        bay.server.route("/sitemap.xml", [Reply::status(status)]);
        let gone = bay.visit(&found.memory).await.unwrap();
        assert_eq!(outcome(&gone, "/sitemap.xml").unwrap().0, &Outcome::Absent(status));
        assert_eq!(gone.memory.files["http://harbour.example/sitemap.xml"].said, None);
    }
}

#[tokio::test]
async fn ours_a_ban_on_what_was_never_there_is_asked_for_once_a_week() {
    use rutter_testkit::server::Reply;
    let bay = Bay::new();
    with_scp(&bay);
    bay.server.route("/llms.txt", [Reply::status(403)]);
    let first = bay.look().await;
    assert!(matches!(outcome(&first, "/llms.txt"), Some((Outcome::Failed(_), _))));
    let second = bay.visit(&first.memory).await.unwrap();
    assert_eq!(outcome(&second, "/llms.txt").unwrap().0, &Outcome::Remembered("nothing"));
}
