//! A second run with the cache of the first requests only what may have changed.

use std::time::Duration;

use rutter_sync::discover::{DiscoveryCache, LookupOutcome};

use super::{TestSite, arc, collection, entry, outcome, spxi, urlset};

fn with_scp(site: &TestSite) {
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    site.robots("user-agent: *\nallow: /\n")
        .xml("/sitemap.xml", &urlset(&format!("{advert}{}", entry("/a"))));
}

#[tokio::test] // ARC-035 SCP-153
async fn unchanged_site_costs_one_request_per_announced_file() {
    let site = TestSite::new();
    with_scp(&site);
    let first = site.discover().await;
    let n_before = site.server.seen().len();
    site.clock.advance(Duration::from_hours(1));
    let second = site.discover_with(&first.cache).await.unwrap();
    // With SCP alone: the sitemap; robots.txt is cached for a day.
    let asked: Vec<_> = site.server.paths().split_off(n_before);
    assert_eq!(asked, ["/sitemap.xml"]);
    assert_eq!(second.offer, first.offer);
    assert_eq!(outcome(&second, "/sitemap.xml").unwrap().0, &LookupOutcome::Unchanged("sitemap"));
    assert_eq!(second.wire_bytes, 0);
    // After a day, robots.txt too.
    site.clock.advance(Duration::from_hours(24));
    let n_before = site.server.seen().len();
    let third = site.discover_with(&second.cache).await.unwrap();
    assert_eq!(site.server.paths().split_off(n_before), ["/robots.txt", "/sitemap.xml"]);
    assert_eq!(third.offer, first.offer);
}

#[tokio::test] // ARC-035 ARC-061
async fn unchanged_site_with_all_layers_costs_four_requests() {
    let site = TestSite::new();
    with_scp(&site);
    site.file("/arc-sitemap.json", "application/json", arc())
        .file("/spxi-index.jsonld", "application/ld+json", spxi())
        .file("/llms.txt", "text/plain", "# Harbour\n\n## A\n\n- [a](/a)\n")
        .file("/", "text/html", "<a href=/a>a</a>");
    let first = site.discover().await;
    site.clock.advance(Duration::from_hours(25));
    let n_before = site.server.seen().len();
    let second = site.discover_with(&first.cache).await.unwrap();
    let mut asked = site.server.paths().split_off(n_before);
    asked.sort();
    assert_eq!(asked, ["/arc-sitemap.json", "/robots.txt", "/sitemap.xml", "/spxi-index.jsonld"]);
    assert_eq!(second.offer, first.offer);
    // The other files are requested again after a week.
    site.clock.advance(Duration::from_hours(24 * 7));
    let n_before = site.server.seen().len();
    site.discover_with(&second.cache).await.unwrap();
    assert!(site.server.paths().split_off(n_before).contains(&"/llms.txt".to_owned()));
}

#[tokio::test]
async fn notices_changes_with_a_serialized_cache() {
    let site = TestSite::new();
    with_scp(&site);
    let first = site.discover().await;
    let text = serde_json::to_string(&first.cache).unwrap();
    let cache: DiscoveryCache = serde_json::from_str(&text).unwrap();
    assert_eq!(cache, first.cache);
    let advert = collection("http://harbour.example/new.scp", "2026-12-31T00:00:00Z");
    site.server.route(
        "/sitemap.xml",
        [rutter_testkit::server::Reply::file(
            "application/xml",
            "\"2\"",
            urlset(&format!("{advert}{}", entry("/a"))),
        )],
    );
    let second = site.discover_with(&cache).await.unwrap();
    assert_eq!(second.offer.scp.collections[0].files[0].url, "http://harbour.example/new.scp");
    // A file that fails once stays in the cache.
    site.server.route(
        "/sitemap.xml",
        [rutter_testkit::server::Reply::status(200).but(rutter_testkit::server::Fault::HangUp)],
    );
    let third = site.discover_with(&second.cache).await.unwrap();
    assert!(matches!(outcome(&third, "/sitemap.xml"), Some((LookupOutcome::Failed(_), _))));
    assert!(third.cache.files.contains_key("http://harbour.example/sitemap.xml"));
}

#[tokio::test]
async fn failed_request_keeps_the_cached_file() {
    use rutter_testkit::server::Reply;
    let site = TestSite::new();
    // They are not announced, but known from the first run.
    site.xml("/sitemap.xml", &urlset(&entry("/a"))).file(
        "/arc-sitemap.json",
        "application/json",
        arc(),
    );
    let first = site.discover().await;
    let places = ["/sitemap.xml", "/arc-sitemap.json"];
    let mut cache = first.cache.clone();
    for status in [500, 502, 403, 401, 418] {
        for place in places {
            site.server.route(place, [Reply::status(status)]);
        }
        let found = site.discover_with(&cache).await.unwrap();
        for place in places {
            let failed = LookupOutcome::Failed(format!("status {status}"));
            assert_eq!(outcome(&found, place).unwrap().0, &failed, "{place}");
            let url = format!("http://harbour.example{place}");
            let (was, is) = (&first.cache.files[&url], &found.cache.files[&url]);
            assert_eq!((&is.parsed, &is.validators), (&was.parsed, &was.validators), "{place}");
        }
        cache = found.cache;
    }
    // They are back, and no body has to be sent again.
    site.xml("/sitemap.xml", &urlset(&entry("/a"))).file(
        "/arc-sitemap.json",
        "application/json",
        arc(),
    );
    let found = site.discover_with(&cache).await.unwrap();
    assert_eq!(found.offer, first.offer);
    assert_eq!(outcome(&found, "/sitemap.xml").unwrap().0, &LookupOutcome::Unchanged("sitemap"));
    // A removed file is removed from the cache.
    for status in [404, 410] {
        site.server.route("/sitemap.xml", [Reply::status(status)]);
        let gone = site.discover_with(&found.cache).await.unwrap();
        assert_eq!(outcome(&gone, "/sitemap.xml").unwrap().0, &LookupOutcome::Absent(status));
        assert_eq!(gone.cache.files["http://harbour.example/sitemap.xml"].parsed, None);
    }
}

#[tokio::test]
async fn forbidden_default_path_is_requested_once_a_week() {
    use rutter_testkit::server::Reply;
    let site = TestSite::new();
    with_scp(&site);
    site.server.route("/llms.txt", [Reply::status(403)]);
    let first = site.discover().await;
    assert!(matches!(outcome(&first, "/llms.txt"), Some((LookupOutcome::Failed(_), _))));
    let second = site.discover_with(&first.cache).await.unwrap();
    assert_eq!(outcome(&second, "/llms.txt").unwrap().0, &LookupOutcome::Cached("nothing"));
}
