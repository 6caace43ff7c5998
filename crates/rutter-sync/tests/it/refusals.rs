//! Collections that are rejected, completely or in part, and the reported problems.

use rutter_sync::ProblemKind;
use rutter_sync::plan::PlanReason;
use rutter_testkit::server::Reply;

use crate::test_site::{ChainedCollection, TestSite, advert, state_of};

#[tokio::test] // D26
async fn reports_collection_from_the_future() {
    let site = TestSite::new();
    site.robots("");
    site.html("/a", &crate::test_site::body("A", "Text of the page."));
    let future = site.snapshot(25, &[("/a", "a")]);
    site.sitemap(std::slice::from_ref(&future), &["/a"]);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{report:?}");
    assert_eq!(report.sections["all"].reason, PlanReason::FromFuture);
    let text = &report.problems[0].text;
    let expected =
        "not fetched: the collection was generated at 2027-01-25T00:00:00Z, which is in the future";
    assert_eq!(text, expected);
    // Also together with a usable collection.
    let now = site.snapshot(9, &[("/a", "aa")]);
    site.sitemap(&[now, future], &["/a"]);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{report:?}");
    assert!(site.stored_pages()[0].2.as_ref().unwrap().contains("\"aa\""));
}

#[tokio::test] // D95
async fn delta_with_wrong_from_and_state_removes_nothing() {
    let site = TestSite::new();
    site.robots("");
    let pages = [("/a", "a"), ("/b", "b"), ("/c", "c")];
    let state = state_of(&pages);
    let first = site.chained(&ChainedCollection {
        day: 1,
        since: None,
        from: None,
        state,
        n_after: 3,
        pages: &pages,
        removed: &[],
    });
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b", "/c"]);
    assert!(site.sync().await.sections["all"].is_proved);
    let wrong = state_of(&[("/x", "x")]);
    let delta = site.chained(&ChainedCollection {
        day: 2,
        since: Some(1),
        from: Some(wrong),
        state: wrong,
        n_after: 2,
        pages: &[("/a", "aaaa")],
        removed: &["/b"],
    });
    site.sitemap(&[first.clone(), delta], &["/a", "/b", "/c"]);
    let report = site.sync().await;
    assert_eq!((report.removed, report.worst()), (0, Some(ProblemKind::Integrity)), "{report:?}");
    assert_eq!(site.paths(), ["/a", "/b", "/c"]);
    let texts: Vec<&str> = report.problems.iter().map(|it| it.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("1 removals ignored")), "{texts:?}");
    // A wrong `from` with a matching state is proved by that state.
    let after = [("/a", "aaaa"), ("/c", "c")];
    let delta = site.chained(&ChainedCollection {
        day: 3,
        since: Some(1),
        from: Some(wrong),
        state: state_of(&after),
        n_after: 2,
        pages: &[("/a", "aaaa")],
        removed: &["/b"],
    });
    site.sitemap(&[first, delta], &["/a", "/c"]);
    let report = site.sync().await;
    assert_eq!((report.removed, report.worst()), (1, None), "{report:?}");
    assert!(report.sections["all"].is_proved);
    assert_eq!(site.paths(), ["/a", "/c"]);
}

#[tokio::test] // SCP-004 D30
async fn reports_duplicate_page() {
    let site = TestSite::new();
    site.robots("");
    let twice = site.snapshot(1, &[("/a", "a"), ("/b", "b"), ("/a", "aaa")]);
    site.sitemap(&[twice], &["/a", "/b"]);
    let report = site.sync().await;
    let found: Vec<(&str, &str)> =
        report.findings.iter().map(|(_, it)| (it.rule.code, it.detail.as_str())).collect();
    assert_eq!(found, [("SC058", "`http://harbour.example/a`")]);
    // The later one is stored.
    assert!(site.stored_pages()[0].2.as_ref().unwrap().contains("\"aaa\""));
    assert_eq!(report.pages, 2);
}

#[tokio::test]
async fn signatures_and_tokens_are_not_reported_or_logged() {
    let site = TestSite::new();
    site.robots("");
    let secret = "X-Amz-Signature=5ec2e7&amp;token=5ec2e7";
    let path = |day: u32| format!("/all-{day}.scp?{secret}");
    let adverts = [advert(&path(1), 1, None, 1, 100), advert(&path(2), 2, Some(1), 1, 100)];
    site.sitemap(&adverts, &[]);
    let asked = "/all-1.scp?X-Amz-Signature=5ec2e7&token=5ec2e7";
    for reply in [
        Reply::status(403),
        Reply::ok("application/scp", "{\"collection\":{}}"),
        Reply::status(302).with("Location", "https://u:5ec2e7@h.example/?sig=5ec2e7"),
    ] {
        site.server.route(asked, [reply]);
        let report = site.sync().await;
        assert!(!report.problems.is_empty());
        let told = format!("{report:?} {:?}", site.log.lock().unwrap());
        assert!(!told.contains("5ec2e7"), "{told}");
    }
}
