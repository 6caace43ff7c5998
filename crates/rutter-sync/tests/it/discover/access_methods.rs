//! The access method for sites of each kind.

use rutter_fetch::FailureCause;
use rutter_page::Timestamp;
use rutter_sync::discover::AccessMethod;
use rutter_testkit::server::{Fault, Reply};

use super::{TestSite, arc, collection, entry, urlset};

async fn method(site: &TestSite) -> AccessMethod {
    let now = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    site.discover().await.offer.choose_method(now).0
}

#[tokio::test]
async fn chooses_the_best_access_method() {
    let site = TestSite::new();
    assert_eq!(method(&site).await, AccessMethod::Nothing);
    let llms = "# Harbour\n\n## Pages\n\n- [Tides](/tides)\n";
    site.file("/llms.txt", "text/plain", llms);
    assert_eq!(method(&site).await, AccessMethod::Llms);
    site.file("/", "text/html", "<a href=/tides>Tides</a><a href=http://other.example/x>x</a>");
    assert_eq!(method(&site).await, AccessMethod::Links);
    site.xml("/sitemap.xml", &urlset(&entry("/a")));
    assert_eq!(method(&site).await, AccessMethod::Sitemap);
    site.file("/arc-sitemap.json", "application/json", arc());
    assert_eq!(method(&site).await, AccessMethod::Arc);
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    site.xml("/sitemap.xml", &urlset(&format!("{advert}{}", entry("/a"))));
    assert_eq!(method(&site).await, AccessMethod::Scp);
}

#[tokio::test]
async fn unreachable_site_is_an_error() {
    let site = TestSite::new();
    site.robots("user-agent: *\ndisallow: /\n");
    // Every request is refused; that is not an error.
    assert_eq!(method(&site).await, AccessMethod::Nothing);
    assert_eq!(site.server.paths(), ["/robots.txt"]);
    let site = TestSite::new();
    site.server.fallback(Reply::status(200).but(Fault::HangUp));
    let error =
        site.discover_with(&rutter_sync::discover::DiscoveryCache::default()).await.unwrap_err();
    assert!(matches!(error.cause, FailureCause::Network(_)), "{error:?}");
    let inside = rutter_fetch::Url::parse("http://127.0.0.1/").unwrap();
    let cache = rutter_sync::discover::DiscoveryCache::default();
    let look = rutter_sync::discover::DiscoveryLimits::BRIEF;
    let error =
        rutter_sync::discover::discover(&site.client(), &inside, &cache, look, &mut ()).await;
    assert!(matches!(error.unwrap_err().cause, FailureCause::Refused(_)));
}
