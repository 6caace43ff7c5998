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
            format!("<main><h1>Tides</h1><p>Text.<footer>Last modified on: {time}</footer></main>"),
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

#[test] // D21
fn dates_of_comments_events_members_and_footers_are_no_dates_of_the_page() {
    let time = "<time datetime=2024-03-01>1 March 2024</time>";
    for page in [
        format!("<h1>Tides</h1><p>Text.<div class=comments><p>Ada, posted {time}</p></div>"),
        "<h1>Tides</h1><p>Text.<div itemprop=comment><span itemprop=datePublished content=2024-03-01></span></div>"
            .to_owned(),
        format!("<h1>Tides</h1><div itemscope itemtype=https://schema.org/Answer><p>Published {time}</div>"),
        format!("<h1>Regatta</h1><p class=event-date>{time}</p><p>Text."),
        "<h1>Regatta</h1><p><time itemprop=startDate datetime=2024-03-01>1 March</time></p>".to_owned(),
        format!("<h1>Regatta</h1><p>Starts {time}</p>"),
        format!("<h1>Ada</h1><p>Member since {time}</p>"),
        format!("<h1>Tides</h1><p>Text.<footer><p class=date>\u{a9} {time}</p></footer>"),
        format!("<h1>Tides</h1><p>Text.<footer>Built {time} with a generator</footer>"),
        format!("<h1>Tides</h1><p>Text.<aside><p class=post-date>{time}</p></aside>"),
        format!("<h1>News</h1><div><h2><a href=/a>Regatta</a></h2><p class=post-date>{time}</p></div>"),
        "<h1>Tides</h1><p>Text.<footer><span class=date>1 March 2024</span></footer>".to_owned(),
        // It shows another day than it names.
        "<h1>Tides</h1><p class=post-date><time datetime=2019-09-03>1 March 2024</time></p>".to_owned(),
        // Dates of several days, the first of which is not the earliest.
        "<h1>T</h1><p itemprop=datePublished content=2024-03-02></p><p itemprop=datePublished content=2024-03-01></p>"
            .to_owned(),
    ] {
        let facts = read(&page).facts;
        assert_eq!((facts.published, facts.modified), (None, None), "{page}");
    }
}

#[test] // D21
fn a_date_without_a_time_element_is_read_where_its_class_names_it() {
    for (published, modified, page) in [
        (Some("2024-05-03"), None, "<h1>Tides</h1><p class=post-date>May 3, 2024</p><p>Text."),
        (
            Some("2024-05-03"),
            None,
            "<h1>Tides</h1><p><span class=date>3 May 2024</span> by Ada</p>",
        ),
        (None, Some("2024-05-03"), "<h1>Tides</h1><p class=post-date>Updated on May 3, 2024</p>"),
        (None, Some("2024-05-03"), "<h1>Tides</h1><p>Text.<p class=last-updated>3 May 2024</p>"),
        (
            None,
            Some("2024-05-03"),
            "<h1>Tides</h1><p><time class=entry-date datetime=2024-05-03><b>Last Updated:</b> May 3, 2024</time>",
        ),
        // Names are no months, and a sentence is no date.
        (None, None, "<h1>Tides</h1><p class=post-date>By Jan Smith, May 3, 2024</p>"),
        (None, None, "<h1>Tides</h1><p class=date>The chart of 3 May 2024 is out of date now.</p>"),
        (None, None, "<h1>Tides</h1><p>Text.<p class=update>No date here</p>"),
    ] {
        let facts = read(page).facts;
        assert_eq!(facts.published, published.and_then(day), "{page}");
        assert_eq!(facts.modified, modified.and_then(day), "{page}");
    }
}

#[test] // D21
fn updates_of_other_pages_and_of_the_site_are_none_of_the_page() {
    let main = "<main><h1>Tides</h1><p>Text.</p></main>";
    for page in [
        format!("{main}<footer>Site build <span class=last-updated>5 July 2021</span></footer>"),
        format!("{main}<footer>Last updated <time datetime=2021-07-05>5 July</time></footer>"),
        format!(
            "{main}<div class=related-pages><a href=/b>Lights</a> <p>Updated <time datetime=2019-01-02>2 January</time></p></div>"
        ),
        format!(
            "{main}<div><h3><a href=/b>Lights</a></h3><p class=date>Updated 2 Jan 2019</p></div>"
        ),
        format!(
            "{main}<aside><article class=card><p class=date-updated>2 Jan 2019</p></article></aside>"
        ),
    ] {
        let facts = read(&page).facts;
        assert_eq!((facts.published, facts.modified), (None, None), "{page}");
    }
    for page in [
        "<article><h1>Tides</h1><p>Text.<footer>Last updated <time datetime=2021-07-05>5 July</time></footer></article>",
        "<main><h1>Tides</h1><p>Text.</main><footer>Page last changed <time datetime=2021-07-05>5 July</time></footer>",
        "<main><h1>Tides</h1><h2><a href=#ebb>Ebb</a></h2><p>Text.<p class=last-updated>5 July 2021</p></main>",
    ] {
        assert_eq!(read(page).facts.modified, day("2021-07-05"), "{page}");
    }
}

#[test] // D21
fn words_before_a_date_count_where_they_are_whole() {
    let published = Some("2024-05-03");
    for (published, modified, line) in [
        (published, None, "The Evening Standard, 3 May 2024"),
        (published, None, "Friends of the Port, 3 May 2024"),
        (published, None, "Residue Weekly, 3 May 2024"),
        (published, None, "Accredited on 3 May 2024"),
        (None, Some("2024-05-03"), "Stand: 3. Mai 2024"),
        (None, Some("2024-05-03"), "<span>Tides</span><span>Updated</span> 3 May 2024"),
        (None, Some("2024-05-03"), "Modifi\u{e9}e le 3 mai 2024"),
        (None, None, "Registration ends 3 May 2024"),
        (None, None, "Due: 3 May 2024"),
    ] {
        let (before, date) = line.split_at(line.find('3').unwrap());
        let page =
            format!("<h1>Tides</h1><p>{before}<time datetime=2024-05-03>{date}</time></p><p>Text.");
        let facts = read(&page).facts;
        assert_eq!(facts.published, published.and_then(day), "{page}");
        assert_eq!(facts.modified, modified.and_then(day), "{page}");
    }
}

#[test]
fn a_description_never_comes_from_a_stamp_or_a_menu() {
    let stamp =
        "Generated on 3 May 2024 at 10:11:12 by the site generator of the harbour, version 2.";
    let list = "<ul><li>Charts of the inner harbour</li><li>Lights</li></ul>";
    for page in [
        format!("<main><h1>Tags</h1>{list}<p>{stamp}</p></main>"),
        format!("<h1>Tags</h1>{list}<footer><p>{stamp}</p></footer>"),
        format!(
            "<nav><p>All pages of the harbour in one long menu for people who look.</p></nav><h1>Tags</h1>{list}<p>{stamp}"
        ),
    ] {
        let description = read(format!("<title>Tags</title>{page}")).page.description;
        assert!(
            ["Charts of the inner harbour", "Tags"].contains(&&*description),
            "{description} {page}"
        );
    }
}
