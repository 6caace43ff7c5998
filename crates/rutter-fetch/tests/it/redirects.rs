//! Redirects: every hop is a new address.

use rutter_fetch::{BadAnswer, Cause, Event, Hosts, Refused, Request, Settings};
use rutter_testkit::server::Reply;

use crate::{Bay, HARBOUR, body, cause, page, request, settings, url};

fn chain(bay: &Bay, hops: usize) {
    for n in 0..hops {
        bay.server.route(&format!("/{n}"), [Reply::redirect(302, &format!("/{}", n + 1))]);
    }
    bay.server.route(&format!("/{hops}"), [page("end")]);
}

#[tokio::test] // D12, D04 of reliability.md
async fn ours_five_hops_and_no_more() {
    let bay = Bay::new();
    chain(&bay, 5);
    let end = bay.get("http://harbour.example/0").await.unwrap();
    assert_eq!(body(&end), b"end");
    assert_eq!(end.url.path(), "/5");
    assert_eq!(end.hops.len(), 5);
    let bay = Bay::new();
    chain(&bay, 6);
    let many = cause(bay.get("http://harbour.example/0").await);
    assert!(matches!(many, Cause::Answer(BadAnswer::TooManyRedirects(5))), "{many:?}");
    assert_eq!(bay.asked().len(), 6);
}

#[tokio::test] // D12
async fn ours_a_page_moves_for_good_only_where_every_hop_says_so() {
    let cases: [(&[u16], bool); 7] = [
        (&[], false),
        (&[301], true),
        (&[308], true),
        (&[301, 308], true),
        (&[302], false),
        (&[301, 307, 301], false),
        (&[308, 303], false),
    ];
    for (statuses, is_for_good) in cases {
        let bay = Bay::new();
        for (n, status) in statuses.iter().enumerate() {
            let next = format!("/{}", n + 1);
            bay.server.route(&format!("/{n}"), [Reply::redirect(*status, &next)]);
        }
        bay.server.route(&format!("/{}", statuses.len()), [page("end")]);
        let end = bay.get("http://harbour.example/0").await.unwrap();
        assert_eq!(end.is_moved_for_good(), is_for_good, "{statuses:?}");
        let said: Vec<u16> = end.hops.iter().map(|hop| hop.status).collect();
        assert_eq!(said, statuses);
        let paths: Vec<_> = end.hops.iter().map(|hop| hop.url.path().to_owned()).collect();
        let wanted: Vec<_> = (0..statuses.len()).map(|n| format!("/{n}")).collect();
        assert_eq!(paths, wanted);
    }
}

#[tokio::test] // D04 of reliability.md
async fn ours_circles_and_places_that_are_none() {
    let bay = Bay::new();
    bay.server
        .route("/a", [Reply::redirect(301, "/b#x")])
        .route("/b", [Reply::redirect(307, "/a")])
        .route("/self", [Reply::redirect(308, "")])
        .route("/none", [Reply::status(302)])
        .route("/same", [Reply::redirect(302, "/same")]);
    let circle = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(circle, Cause::Answer(BadAnswer::RedirectLoop)), "{circle:?}");
    let circle = cause(bay.get("http://harbour.example/same").await);
    assert!(matches!(circle, Cause::Answer(BadAnswer::RedirectLoop)), "{circle:?}");
    for path in ["self", "none"] {
        let bad = cause(bay.get(&format!("http://harbour.example/{path}")).await);
        assert!(matches!(bad, Cause::Answer(BadAnswer::Location(_))), "{path}: {bad:?}");
    }
}

#[tokio::test] // D12, D04 D05 of reliability.md
async fn ours_hops_that_are_refused_are_named() {
    let cases = [
        ("file:///etc/passwd", Refused::Scheme("`file`".into())),
        ("data:text/html,x", Refused::Scheme("`data`".into())),
        ("gopher://harbour.example/", Refused::Scheme("`gopher`".into())),
        ("http://user:secret@harbour.example/b", Refused::Credentials),
        ("http://harbour.example:22/b", Refused::Port(22)),
        ("//elsewhere.example/b", Refused::Host("elsewhere.example".into())),
    ];
    for (to, wanted) in cases {
        let bay = Bay::new();
        bay.server.route("/a", [Reply::redirect(302, to)]);
        let site = Some(url("http://harbour.example/"));
        let a = Request { site, ..request("http://harbour.example/a") };
        let error = bay.client.fetch(&a).await.unwrap_err();
        assert!(!error.url.contains("secret"), "{error}");
        let Cause::Refused(why) = error.cause else { panic!("{to}: {error:?}") };
        assert_eq!(why, wanted, "{to}");
        assert_eq!(bay.asked(), ["/a"]);
        assert!(
            bay.events()
                .iter()
                .any(|event| matches!(event, Event::Refused { why, .. } if *why == wanted))
        );
    }
}

#[tokio::test] // SCP-198 SCP-199 D13
async fn spec_other_hosts_are_asked_only_where_the_policy_allows() {
    for (hosts, is_fine) in [
        (Hosts::SameSite, [true, false]),
        (Hosts::Listed(vec!["r2.example".into()]), [false, true]),
    ] {
        let bay = Bay::with(Settings { hosts, ..settings() });
        bay.names.add("cdn.harbour.example", &[HARBOUR]);
        bay.names.add("r2.example", &[HARBOUR]);
        bay.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
        for (host, is_fine) in ["cdn.harbour.example", "r2.example"].iter().zip(is_fine) {
            let site = Some(url("http://harbour.example/"));
            let ask = Request { site, ..request(&format!("http://{host}/all.scp")) };
            for _ in 0..2 {
                assert_eq!(bay.client.fetch(&ask).await.is_ok(), is_fine, "{host}");
            }
            // The first sighting of another host is written down, once.
            let new = Event::NewHost { site: "harbour.example".into() };
            let records = bay.log.lock().unwrap();
            let n = records.iter().filter(|record| record.host == *host && record.event == new);
            assert_eq!(n.count(), usize::from(is_fine));
        }
    }
}

#[tokio::test] // ARC-033
async fn spec_robots_is_asked_at_every_hop() {
    let bay = Bay::new();
    let rules = Reply::ok("text/plain", "user-agent: *\ndisallow: /private");
    bay.server
        .route("/robots.txt", [rules])
        .route("/a", [Reply::redirect(302, "/private/b")])
        .fallback(page("b"));
    let refused = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(refused, Cause::Refused(Refused::Robots(_))), "{refused:?}");
    assert_eq!(bay.asked(), ["/a"]);
}

#[tokio::test]
async fn ours_nothing_of_one_host_goes_to_another() {
    let bay = Bay::new();
    bay.names.add("other.example", &[HARBOUR]);
    let cookie = Reply::redirect(302, "http://other.example/b").with("Set-Cookie", "id=1");
    bay.server.route("/a", [cookie]).route("/b", [page("b")]);
    bay.get("http://harbour.example/a").await.unwrap();
    let seen = bay.server.seen().pop().unwrap();
    assert_eq!(seen.host(), "other.example");
    assert!(seen.headers.iter().all(|(name, value)| name != "referer" && !value.contains("id=1")));
}
