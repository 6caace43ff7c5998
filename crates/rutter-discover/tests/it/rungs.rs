//! Which way is taken on sites of each kind.

use rutter_discover::Rung;
use rutter_fetch::Cause;
use rutter_page::Timestamp;
use rutter_testkit::server::{Fault, Reply};

use crate::{Bay, arc, collection, entry, urlset};

async fn rung(bay: &Bay) -> Rung {
    let now = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    bay.look().await.offer.rung(now).0
}

#[tokio::test]
async fn ours_each_rung_on_its_own_site() {
    let bay = Bay::new();
    assert_eq!(rung(&bay).await, Rung::Nothing);
    let llms = "# Harbour\n\n## Pages\n\n- [Tides](/tides)\n";
    bay.file("/llms.txt", "text/plain", llms);
    assert_eq!(rung(&bay).await, Rung::Llms);
    bay.file("/", "text/html", "<a href=/tides>Tides</a><a href=http://other.example/x>x</a>");
    assert_eq!(rung(&bay).await, Rung::Links);
    bay.xml("/sitemap.xml", &urlset(&entry("/a")));
    assert_eq!(rung(&bay).await, Rung::Sitemap);
    bay.file("/arc-sitemap.json", "application/json", arc());
    assert_eq!(rung(&bay).await, Rung::Arc);
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    bay.xml("/sitemap.xml", &urlset(&format!("{advert}{}", entry("/a"))));
    assert_eq!(rung(&bay).await, Rung::Scp);
}

#[tokio::test]
async fn ours_a_site_that_cannot_be_visited_is_an_error() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ndisallow: /\n");
    // Closed to us: everything is refused, nothing is an error.
    assert_eq!(rung(&bay).await, Rung::Nothing);
    assert_eq!(bay.server.paths(), ["/robots.txt"]);
    let bay = Bay::new();
    bay.server.fallback(Reply::status(200).but(Fault::HangUp));
    let error = bay.visit(&rutter_discover::Memory::default()).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Network(_)), "{error:?}");
    let inside = rutter_fetch::Url::parse("http://127.0.0.1/").unwrap();
    let memory = rutter_discover::Memory::default();
    let look = rutter_discover::Bounds::LOOK;
    let error = rutter_discover::discover(&bay.client(), &inside, &memory, look, &mut ()).await;
    assert!(matches!(error.unwrap_err().cause, Cause::Refused(_)));
}
