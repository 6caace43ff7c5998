//! Collections that are refused, in whole or in part, and what is reported.

use rutter_sync::Kind;
use rutter_sync::plan::Reason;
use rutter_testkit::server::Reply;

use crate::bay::{Bay, Chained, advert, state_of};

#[tokio::test] // D26
async fn a_collection_from_the_future_is_an_integrity_error() {
    let bay = Bay::new();
    bay.robots("");
    bay.html("/a", &crate::bay::body("A", "Text of the page."));
    let future = bay.snapshot(25, &[("/a", "a")]);
    bay.sitemap(std::slice::from_ref(&future), &["/a"]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Integrity), "{report:?}");
    assert_eq!(report.sections["all"].reason, Reason::FromFuture);
    let text = &report.troubles[0].text;
    assert_eq!(text, "not fetched: generated 2027-01-25T00:00:00Z, which is in the future");
    // Also beside a collection that can be used.
    let now = bay.snapshot(9, &[("/a", "aa")]);
    bay.sitemap(&[now, future], &["/a"]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Integrity), "{report:?}");
    assert!(bay.seen()[0].2.as_ref().unwrap().contains("\"aa\""));
}

#[tokio::test] // D95
async fn a_delta_with_wrong_from_and_wrong_state_removes_nothing() {
    let bay = Bay::new();
    bay.robots("");
    let pages = [("/a", "a"), ("/b", "b"), ("/c", "c")];
    let state = state_of(&pages);
    let first = bay.chained(&Chained {
        day: 1,
        since: None,
        from: None,
        state,
        n_after: 3,
        pages: &pages,
        removed: &[],
    });
    bay.sitemap(std::slice::from_ref(&first), &["/a", "/b", "/c"]);
    assert!(bay.visit().await.sections["all"].is_proved);
    let wrong = state_of(&[("/x", "x")]);
    let delta = bay.chained(&Chained {
        day: 2,
        since: Some(1),
        from: Some(wrong),
        state: wrong,
        n_after: 2,
        pages: &[("/a", "aaaa")],
        removed: &["/b"],
    });
    bay.sitemap(&[first.clone(), delta], &["/a", "/b", "/c"]);
    let report = bay.visit().await;
    assert_eq!((report.removed, report.worst()), (0, Some(Kind::Integrity)), "{report:?}");
    assert_eq!(bay.paths(), ["/a", "/b", "/c"]);
    let texts: Vec<&str> = report.troubles.iter().map(|it| it.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("1 removals ignored")), "{texts:?}");
    // A wrong `from` with a state that comes out is proved by that state.
    let after = [("/a", "aaaa"), ("/c", "c")];
    let delta = bay.chained(&Chained {
        day: 3,
        since: Some(1),
        from: Some(wrong),
        state: state_of(&after),
        n_after: 2,
        pages: &[("/a", "aaaa")],
        removed: &["/b"],
    });
    bay.sitemap(&[first, delta], &["/a", "/c"]);
    let report = bay.visit().await;
    assert_eq!((report.removed, report.worst()), (1, None), "{report:?}");
    assert!(report.sections["all"].is_proved);
    assert_eq!(bay.paths(), ["/a", "/c"]);
}

#[tokio::test] // SCP-004 D30
async fn a_page_that_occurs_twice_is_a_finding() {
    let bay = Bay::new();
    bay.robots("");
    let twice = bay.snapshot(1, &[("/a", "a"), ("/b", "b"), ("/a", "aaa")]);
    bay.sitemap(&[twice], &["/a", "/b"]);
    let report = bay.visit().await;
    let found: Vec<(&str, &str)> =
        report.findings.iter().map(|(_, it)| (it.rule.code, it.detail.as_str())).collect();
    assert_eq!(found, [("SC058", "`http://harbour.example/a`")]);
    // The later one is kept.
    assert!(bay.seen()[0].2.as_ref().unwrap().contains("\"aaa\""));
    assert_eq!(report.pages, 2);
}

#[tokio::test]
async fn signatures_and_tokens_are_not_reported_or_logged() {
    let bay = Bay::new();
    bay.robots("");
    let secret = "X-Amz-Signature=5ec2e7&amp;token=5ec2e7";
    let path = |day: u32| format!("/all-{day}.scp?{secret}");
    let adverts = [advert(&path(1), 1, None, 1, 100), advert(&path(2), 2, Some(1), 1, 100)];
    bay.sitemap(&adverts, &[]);
    let asked = "/all-1.scp?X-Amz-Signature=5ec2e7&token=5ec2e7";
    for reply in [
        Reply::status(403),
        Reply::ok("application/scp", "{\"collection\":{}}"),
        Reply::status(302).with("Location", "https://u:5ec2e7@h.example/?sig=5ec2e7"),
    ] {
        bay.server.route(asked, [reply]);
        let report = bay.visit().await;
        assert!(!report.troubles.is_empty());
        let told = format!("{report:?} {:?}", bay.log.lock().unwrap());
        assert!(!told.contains("5ec2e7"), "{told}");
    }
}
