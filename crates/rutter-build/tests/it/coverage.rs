//! Share of the main text that the extraction keeps: measured when a page is read, and stored with
//! it.

use rutter_site::load_cached_pages;

use crate::site::{Site, page, words};

/// Returns a page with comments in its main element, which the extraction drops.
fn with_comments(title: &str) -> String {
    let comment = "<div class=\"comment\"><p>Ada wrote: I liked this very much, thank you for \
                   the long text about it. Reply</p></div>\n";
    let comments = format!("<h3>Comments</h3>\n{}", comment.repeat(12));
    let text = (0..4).map(words).collect::<Vec<_>>().join("</p><p>");
    page("Home", title, "").replace(
        "<p></p></main>",
        &format!("<article><p>{text}</p></article><div class=\"comments\">{comments}</div></main>"),
    )
}

#[test]
fn reports_mean_and_lowest_coverage_of_read_and_cached_pages() {
    let mut site = Site::new();
    for n in 0..3 {
        let text: Vec<String> = (n * 10..n * 10 + 3).map(words).collect();
        site.put(&format!("{n}.html"), &page("Home", &format!("Page {n}"), &text.join(" ")));
    }
    site.put("gate.html", &with_comments("Gate"));
    let noindex = "<meta name=\"robots\" content=\"noindex\"></head>";
    site.put("closed.html", &with_comments("Closed").replace("</head>", noindex));
    let first = site.build().coverage;
    // The excluded page does not count.
    assert_eq!(first.pages(), 4);
    let worst: Vec<(&str, bool)> =
        first.worst().iter().map(|it| (it.page.as_str(), it.coverage.share() < 0.8)).collect();
    assert_eq!(worst, [("gate.html", true)]);
    assert!(first.worst()[0].coverage.largest.is_some());
    let mean = first.mean().unwrap();
    assert!(0.7 < mean && mean < 0.95, "{mean}");
    let outcome = site.build();
    assert_eq!((outcome.read, outcome.written), (0, 0));
    assert_eq!(outcome.coverage, first);
    // `rutter check` reads it from the state.
    let stored = load_cached_pages(&site.path("state")).unwrap();
    let of = |path: &str| stored.iter().find(|it| it.url.ends_with(path)).unwrap();
    assert_eq!(of("/gate.html").coverage.as_ref(), Some(&first.worst()[0].coverage));
    assert!(of("/0.html").coverage.as_ref().is_some_and(|it| it.kept == it.total));
}
