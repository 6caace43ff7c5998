//! Which dates are about the page itself.

use rutter_page::Timestamp;

use crate::read;

fn day(text: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{text}T00:00:00Z")).ok()
}

#[test] // D21
fn a_time_in_the_text_is_no_date_of_the_page() {
    let time = "<time datetime=2024-03-01>1 March</time>";
    for (published, modified, page) in [
        (
            None,
            None,
            format!(
                "<h1>Regatta</h1><p>The regatta of the harbour and its guests starts at the old pier on {time} and ends there."
            ),
        ),
        (None, None, format!("<h1>News</h1><p>x<ul><li>Regatta {time}<li>Market on Sunday</ul>")),
        (
            Some("2024-03-01"),
            None,
            format!("<article><header><h1>Regatta</h1><p>{time}</p></header><p>Text.</article>"),
        ),
        (Some("2024-03-01"), None, format!("<h1>Regatta</h1><p>Published {time}<p>Text.")),
        (
            Some("2024-03-01"),
            None,
            format!(
                "<h1>Regatta</h1><div>x</div><div>y</div><div>z</div><p class=entry-date>{time}<p>Text."
            ),
        ),
        (None, Some("2024-03-01"), format!("<h1>Tides</h1><p>Last updated {time}</p><p>Text.")),
        (
            None,
            Some("2024-03-01"),
            format!("<h1>Tides</h1><p>Text.<footer>Last modified on: {time}</footer>"),
        ),
        (None, Some("2024-03-01"), format!("<h1>Gezeiten</h1><p>Zuletzt aktualisiert am {time}")),
        (None, Some("2024-03-01"), format!("<h1>Tides</h1><p><span class=lastmod>{time}</span>")),
        // Still to come: the time of an event.
        (
            None,
            None,
            "<h1>Regatta</h1><p><time datetime=2031-03-01>1 March</time><p>Text.".to_owned(),
        ),
    ] {
        let facts = read(&page).facts;
        assert_eq!(facts.published, published.and_then(day), "{page}");
        assert_eq!(facts.modified, modified.and_then(day), "{page}");
        assert_eq!(facts.published.is_some(), facts.published_by.is_some(), "{page}");
    }
}

#[test] // D21
fn a_page_names_the_source_of_its_date() {
    for (by, page) in [
        ("meta date", "<meta name=date content=2031-03-01><h1>x</h1>"),
        (
            "JSON-LD datePublished",
            r#"<script type="application/ld+json">{"@type":"Article","datePublished":"2031-03-01"}</script>"#,
        ),
        (
            "itemprop datePublished",
            "<h1>x</h1><span itemprop=datePublished content=2031-03-01></span>",
        ),
        ("time element", "<h1>x</h1><p><time datetime=2024-03-01>1 March</time>"),
    ] {
        assert_eq!(read(page).facts.published_by.as_deref(), Some(by), "{page}");
    }
}
