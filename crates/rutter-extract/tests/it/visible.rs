//! What of a page can be seen, as SPXI markers need it (D70, C07).

use proptest::prelude::*;

use crate::read;

#[test] // D70 SPX-066
fn blocks_are_lines_and_inline_tags_add_nothing() {
    for (page, text) in [
        ("<p>Tide</p><p>House</p>", "Tide\nHouse"),
        ("<p>The <b>Ti</b>de <i>House</i> </p>", "The Tide House"),
        ("<p>Tide<br>House<wbr>s</p>", "Tide Houses"),
        ("<p> Tide\n\t&nbsp; House\u{a0}\n", "Tide House"),
        ("<ul><li>Tide <li>House</ul> after", "Tide\nHouse\nafter"),
        ("<table><tr><td>Tide<td>House<tr><td>x</table>", "Tide\nHouse\nx"),
        ("<pre>Tide\n  House</pre>", "Tide House"),
        ("<div>Tide<div>House</div>Museum</div>", "Tide\nHouse\nMuseum"),
        ("Tide &amp; House<hr>&lt;b&gt;", "Tide & House\n<b>"),
    ] {
        assert_eq!(read(format!("<body>{page}")).shown_text().trim_end(), text, "{page}");
    }
}

#[test] // D70
fn visible_text_excludes_head_comments_scripts_and_attributes() {
    let page = read(
        "<title>In the title</title><meta name=description content='In a meta'><body>\
         <p>Shown <!-- in a comment --><script>'in a script'</script><style>.in-a-style{}</style>\
         <template>in a template</template></p>\
         <details><summary>More</summary><p>In details</p></details>\
         <noscript><p>In noscript</p></noscript><img alt='in an attribute'>",
    );
    assert_eq!(page.shown_text().trim_end(), "Shown\nMore\nIn details\nIn noscript");
}

#[test] // C07
fn shown_text_excludes_hidden_elements() {
    for (page, text) in [
        ("<p>A <span hidden>x</span> B</p>", "A B"),
        ("<p>A<span style='display: none'> x</span>B</p>", "AB"),
        ("<p>A</p><div hidden>x<p>y</p></div><p>B</p>", "A\nB"),
        ("<div style='visibility:hidden'>x</div>B", "B"),
        ("<p>A <i hidden>x <b hidden>y</b> z</i></p>", "A"),
        ("<div aria-hidden=true>x <i hidden>y</i></div>", "x"),
        ("<p hidden=until-found>found</p>", "found"),
        ("<div role=tabpanel hidden>behind a tab</div>", "behind a tab"),
    ] {
        assert_eq!(read(format!("<body>{page}")).shown_text().trim_end(), text, "{page}");
    }
}

proptest! {
    #[test]
    fn visible_text_has_collapsed_white_space(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<b>", "</b>", "<div>", "</div>", "<span hidden>", "</span>", "<br>",
            " ", "\n", "&nbsp;", "a", "b c", "<div hidden>", "<li>", "<td>", "<pre>\n\n", "</pre>",
        ]), 0..40),
    ) {
        let extraction = read(format!("<body>{}", pieces.concat()));
        for text in [&*extraction.visible_text, &extraction.shown_text()] {
            for twice in ["  ", " \n", "\n ", "\n\n", "\u{a0}", "\t"] {
                prop_assert!(!text.contains(twice), "{text:?}");
            }
        }
        let mut end = 0;
        for range in &extraction.hidden {
            prop_assert!(end <= range.start && range.start <= range.end);
            end = range.end;
        }
        prop_assert!(end <= extraction.visible_text.len());
    }
}

fn codes(page: &str) -> Vec<&'static str> {
    read(page).findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn reports_no_missing_text_on_pages_that_lead_elsewhere() {
    for page in [
        "<html><head><title>https://h.example/install/</title>\
         <meta http-equiv=refresh content='0; url=https://h.example/install/'></head></html>",
        "<title>Moved</title><meta http-equiv=refresh content='0; url=/install/'>\
         <body><p>See <a href=/install/>Install</a>.",
        "<meta http-equiv=refresh content='0; url=/install'><script>go('/install')</script>",
    ] {
        assert_eq!(codes(page), [""; 0], "{page}");
    }
    // A page that only looks like one is judged like every other.
    let page = "<html lang=en><title>Tides</title><body>";
    assert_eq!(codes(page), ["HT005", "HT013"]);
}

#[test]
fn asks_for_main_only_where_there_is_none() {
    let list = "<ul><li><a href=/a>Berths</a><li><a href=/b>Tides</a></ul>";
    let page = |body: &str| {
        format!("<html lang=en><title>Tags</title><meta name=description content=Tags><body>{body}")
    };
    assert_eq!(codes(&page(&format!("<div>{list}</div>"))), ["HT011"]);
    assert_eq!(codes(&page(&format!("<main>{list}</main>"))), [""; 0]);
}
