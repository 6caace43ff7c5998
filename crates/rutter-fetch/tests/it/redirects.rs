//! Redirects: every URL of a chain is checked.

use rutter_fetch::{
    BadResponse, ClientSettings, FailureCause, FetchEvent, HostPolicy, Request, RequestRefusal,
};
use rutter_testkit::server::Reply;

use crate::{HARBOUR, TestSite, body, cause, page, request, settings, url};

fn chain(test: &TestSite, hops: usize) {
    for n in 0..hops {
        test.server.route(&format!("/{n}"), [Reply::redirect(302, &format!("/{}", n + 1))]);
    }
    test.server.route(&format!("/{hops}"), [page("end")]);
}

#[tokio::test] // D12, N04
async fn follows_at_most_five_redirects() {
    let test = TestSite::new();
    chain(&test, 5);
    let end = test.get("http://harbour.example/0").await.unwrap();
    assert_eq!(body(&end), b"end");
    assert_eq!(end.url.path(), "/5");
    assert_eq!(end.hops.len(), 5);
    let test = TestSite::new();
    chain(&test, 6);
    let many = cause(test.get("http://harbour.example/0").await);
    assert!(matches!(many, FailureCause::Response(BadResponse::TooManyRedirects(5))), "{many:?}");
    assert_eq!(test.requested_paths().len(), 6);
}

#[tokio::test] // D12
async fn a_chain_is_permanent_only_if_every_redirect_is() {
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
        let test = TestSite::new();
        for (n, status) in statuses.iter().enumerate() {
            let next = format!("/{}", n + 1);
            test.server.route(&format!("/{n}"), [Reply::redirect(*status, &next)]);
        }
        test.server.route(&format!("/{}", statuses.len()), [page("end")]);
        let end = test.get("http://harbour.example/0").await.unwrap();
        assert_eq!(end.is_permanent_redirect(), is_for_good, "{statuses:?}");
        let said: Vec<u16> = end.hops.iter().map(|hop| hop.status).collect();
        assert_eq!(said, statuses);
        let paths: Vec<_> = end.hops.iter().map(|hop| hop.url.path().to_owned()).collect();
        let wanted: Vec<_> = (0..statuses.len()).map(|n| format!("/{n}")).collect();
        assert_eq!(paths, wanted);
    }
}

#[tokio::test] // N04
async fn rejects_loops_and_invalid_locations() {
    let test = TestSite::new();
    test.server
        .route("/a", [Reply::redirect(301, "/b#x")])
        .route("/b", [Reply::redirect(307, "/a")])
        .route("/self", [Reply::redirect(308, "")])
        .route("/none", [Reply::status(302)])
        .route("/same", [Reply::redirect(302, "/same")]);
    let circle = cause(test.get("http://harbour.example/a").await);
    assert!(matches!(circle, FailureCause::Response(BadResponse::RedirectLoop)), "{circle:?}");
    let circle = cause(test.get("http://harbour.example/same").await);
    assert!(matches!(circle, FailureCause::Response(BadResponse::RedirectLoop)), "{circle:?}");
    for path in ["self", "none"] {
        let bad = cause(test.get(&format!("http://harbour.example/{path}")).await);
        assert!(matches!(bad, FailureCause::Response(BadResponse::Location(_))), "{path}: {bad:?}");
    }
}

#[tokio::test] // D12, N04 N05
async fn names_refused_redirects() {
    let cases = [
        ("file:///etc/passwd", RequestRefusal::Scheme("`file`".into())),
        ("data:text/html,x", RequestRefusal::Scheme("`data`".into())),
        ("gopher://harbour.example/", RequestRefusal::Scheme("`gopher`".into())),
        ("http://user:secret@harbour.example/b", RequestRefusal::Credentials),
        ("http://harbour.example:22/b", RequestRefusal::Port(22)),
        ("//elsewhere.example/b", RequestRefusal::Host("elsewhere.example".into())),
    ];
    for (to, wanted) in cases {
        let test = TestSite::new();
        test.server.route("/a", [Reply::redirect(302, to)]);
        let site = Some(url("http://harbour.example/"));
        let a = Request { site, ..request("http://harbour.example/a") };
        let error = test.client.fetch(&a).await.unwrap_err();
        assert!(!error.url.contains("secret"), "{error}");
        let FailureCause::Refused(why) = error.cause else { panic!("{to}: {error:?}") };
        assert_eq!(why, wanted, "{to}");
        assert_eq!(test.requested_paths(), ["/a"]);
        assert!(
            test.events()
                .iter()
                .any(|event| matches!(event, FetchEvent::Refused { why, .. } if *why == wanted))
        );
    }
}

#[tokio::test] // SCP-198 SCP-199 D13
async fn contacts_other_hosts_only_if_the_policy_allows() {
    for (hosts, is_fine) in [
        (HostPolicy::SameSite, [true, false]),
        (HostPolicy::Listed(vec!["r2.example".into()]), [false, true]),
    ] {
        let test = TestSite::with(ClientSettings { hosts, ..settings() });
        test.names.add("cdn.harbour.example", &[HARBOUR]);
        test.names.add("r2.example", &[HARBOUR]);
        test.server.fallback(page("a")).route("/robots.txt", [Reply::status(404)]);
        for (host, is_fine) in ["cdn.harbour.example", "r2.example"].iter().zip(is_fine) {
            let site = Some(url("http://harbour.example/"));
            let ask = Request { site, ..request(&format!("http://{host}/all.scp")) };
            for _ in 0..2 {
                assert_eq!(test.client.fetch(&ask).await.is_ok(), is_fine, "{host}");
            }
            // The first request to another host is logged once.
            let new = FetchEvent::NewHost { site: "harbour.example".into() };
            let records = test.log.lock().unwrap();
            let n = records.iter().filter(|record| record.host == *host && record.event == new);
            assert_eq!(n.count(), usize::from(is_fine));
        }
    }
}

#[tokio::test] // ARC-033
async fn checks_robots_at_every_redirect() {
    let test = TestSite::new();
    let rules = Reply::ok("text/plain", "user-agent: *\ndisallow: /private");
    test.server
        .route("/robots.txt", [rules])
        .route("/a", [Reply::redirect(302, "/private/b")])
        .fallback(page("b"));
    let refused = cause(test.get("http://harbour.example/a").await);
    assert!(matches!(refused, FailureCause::Refused(RequestRefusal::Robots(_))), "{refused:?}");
    assert_eq!(test.requested_paths(), ["/a"]);
}

#[tokio::test]
async fn sends_nothing_of_one_host_to_another() {
    let test = TestSite::new();
    test.names.add("other.example", &[HARBOUR]);
    let cookie = Reply::redirect(302, "http://other.example/b").with("Set-Cookie", "id=1");
    test.server.route("/a", [cookie]).route("/b", [page("b")]);
    test.get("http://harbour.example/a").await.unwrap();
    let seen = test.server.seen().pop().unwrap();
    assert_eq!(seen.host(), "other.example");
    assert!(seen.headers.iter().all(|(name, value)| name != "referer" && !value.contains("id=1")));
}
