//! Hostile and huge pages: bounded, never empty-handed, never a panic.

use rutter_extract::{Limits, html};
use rutter_page::Block;

use crate::{options, read};

fn codes(findings: &[rutter_finding::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn hundred_thousand_open_elements_keep_their_text() {
    for tag in ["div", "b", "ul><li", "table><tr><td", "blockquote", "span", "details", "a href=x"]
    {
        let mut page = format!("<{tag}>").repeat(100_000);
        page.push_str("The water is still there, and so are the words, however deep they lie.");
        let extraction = read(&page);
        assert!(extraction.visible_text.contains("The water is still there"), "{tag}");
        assert!(extraction.page.to_text().contains("The water is still there"), "{tag}");
    }
}

#[test] // D38
fn reports_nesting_beyond_the_limit() {
    let page = format!("{}<p>The water is still there.", "<div>".repeat(500));
    assert!(codes(&read(&page).findings).contains(&"HT009"));
}

#[test] // D17
fn reports_invalid_bytes() {
    let page = b"<meta charset=\"utf-8\"><title>Caf\xe9</title><p>Open until nine tonight.";
    let extraction = html(page, &options("https://harbour.example/"));
    assert!(codes(&extraction.findings).contains(&"HT001"));
    assert!(extraction.page.title.contains('\u{fffd}'));
}

#[test]
fn cuts_and_reports_multiplying_formatting() {
    // Every paragraph opens all the fonts again.
    let fonts: String = (0..300).map(|n| format!("<font size={n}>")).collect();
    let page = format!("<p>{fonts}{}", "<p>x".repeat(20_000));
    let mut how = options("https://harbour.example/");
    how.limits = Limits { nodes: 500_000, ..Limits::USUAL };
    let extraction = html(page.as_bytes(), &how);
    assert!(codes(&extraction.findings).contains(&"HT010"));
}

#[test] // D36
fn a_page_of_many_blocks_is_merged_while_it_is_read() {
    // More than are held at once, with places that callers remember.
    let page: String = (0..60_000)
        .map(|n| format!("<p>Berth {n}<p>Depth {n}<blockquote><p>Quay {n}<p>Mole {n}</blockquote>"))
        .collect();
    let extraction = read(format!("<main><h1>Berths</h1>{page}</main>"));
    assert_eq!((extraction.page.content.len(), extraction.rich.len()), (1000, 1000));
    let text = extraction.page.to_text();
    for n in [0, 1, 24_999, 25_000, 59_999] {
        for word in ["Berth", "Depth", "Quay", "Mole"] {
            assert!(text.contains(&format!("{word} {n}\n")), "{word} {n}");
        }
    }
    assert_eq!(text.matches("Berth ").count(), 60_000);
}

#[test] // D36
fn merging_blocks_loses_no_text() {
    let page: String = (0..3000)
        .map(|n| {
            format!(
                "<h3>Berth {n}</h3><p>Depth of berth {n} is {n} metres.<p><a href=/{n}>Plan {n}</a>"
            )
        })
        .collect();
    let extraction = read(format!("<main><h1>Berths</h1>{page}</main>"));
    assert!(extraction.page.content.len() <= 1000);
    assert_eq!(extraction.page.content.len(), extraction.rich.len());
    let text = extraction.page.to_text();
    for n in [0, 1, 999, 1500, 2999] {
        assert!(text.contains(&format!("Depth of berth {n} is")), "{n}");
        assert!(text.contains(&format!("Plan {n}")), "{n}");
        assert!(text.contains(&format!("Berth {n}\n")), "{n}");
    }
    assert!(codes(&extraction.findings).contains(&"HT008"));
    assert_eq!(extraction.inline_links().count(), 3000);
}

#[test] // D36
fn pages_of_any_blocks_are_merged_and_headings_stay_headings() {
    let page: String = (0..900)
        .map(|n| {
            format!(
                "<h2>Berth {n}</h2><pre>mooring --berth {n}</pre>\
                 <table><tr><td>Depth {n}<td>Rope {n}</table>\
                 <img src=/{n}.png alt=\"Plan {n}\"><blockquote>Said {n}.</blockquote>"
            )
        })
        .collect();
    let extraction = read(format!("<main><h1>Berths</h1>{page}</main>"));
    let content = &extraction.page.content;
    assert!(content.len() <= 1000, "{}", content.len());
    assert_eq!(content.len(), extraction.rich.len());
    let n_headings = content.iter().filter(|it| matches!(it, Block::Heading(_))).count();
    assert!(450 < n_headings, "headings go last: {n_headings}");
    let text = extraction.page.to_text();
    for n in [0, 1, 450, 899] {
        for word in ["mooring --berth", "Depth", "Rope", "Plan", "Said"] {
            assert!(text.contains(&format!("{word} {n}")), "{word} {n}");
        }
    }
    assert!(codes(&extraction.findings).contains(&"HT008"));
    // Below the limit of headings, all of them stay.
    let page: String =
        (0..400).map(|n| format!("<h2>{n}</h2><pre>a{n}</pre><p>b{n}<hr>")).collect();
    let extraction = read(format!("<main>{page}</main>"));
    let content = &extraction.page.content;
    assert!(content.len() <= 1000);
    assert_eq!(content.iter().filter(|it| matches!(it, Block::Heading(_))).count(), 400);
}

#[test] // D36
fn pages_without_headings_are_merged_down_to_the_limit() {
    let page: String = (0..1500).map(|n| format!("<pre>code {n}</pre><hr>")).collect();
    let extraction = read(format!("<main>{page}</main>"));
    assert_eq!(extraction.page.content.len(), 1000);
    let text = extraction.page.to_text();
    assert!((0..1500).all(|n| text.contains(&format!("code {n}\n")) || n == 1499));
}

#[test] // D36
fn merged_links_of_a_line_keep_their_urls() {
    let blocks: Vec<String> = (0..1500)
        .map(|n| match n % 3 {
            0 => format!(r#"{{"type":"text","text":"Berth {n}."}}"#),
            1 => format!(r#"{{"type":"link","url":"https://a.example/{n}/","text":"Plan \u00e9 {n}"}}"#),
            _ => format!(
                r#"{{"type":"link","url":"https://a.example/{n}/","text":"https://a.example/{n}/"}}"#
            ),
        })
        .collect();
    let json = format!("[{}]", blocks.join(","));
    for most in [1000, 100, 1] {
        let blocks: Vec<Block<'_>> = serde_json::from_str(&json).unwrap();
        let merged = rutter_extract::merged(blocks, most);
        assert!(merged.len() <= most, "{}", merged.len());
        let line = serde_json::to_string(&merged).unwrap();
        for n in 0..1500 {
            let n_urls = line.matches(&format!("https://a.example/{n}/")).count();
            match n % 3 {
                0 => assert!(line.contains(&format!("Berth {n}.")), "{n}"),
                1 => assert!(n_urls == 1 && line.contains(&format!("Plan \u{e9} {n}")), "{n}"),
                _ => assert!((1..=2).contains(&n_urls), "{n}"),
            }
        }
        if most == 1 {
            assert!(line.contains("Plan \u{e9} 1 https://a.example/1/\\n"), "{}", &line[..400]);
        }
    }
}

#[test]
fn cell_spans_do_not_multiply_a_table() {
    let cell = "<td colspan=1000 rowspan=65534>".to_owned() + &"deep ".repeat(200);
    let row = format!("<tr>{}</tr>", cell.repeat(3));
    let extraction = read(format!("<main><table>{}</table></main>", row.repeat(200)));
    let n_bytes: usize = extraction.page.to_line().len();
    assert!(n_bytes < 4_000_000, "{n_bytes}");
}

#[test]
fn long_line_is_one_block() {
    let word = "harbour ".repeat(500_000);
    let extraction = read(format!("<main><p>{word}</p></main>"));
    match extraction.page.content.as_slice() {
        [Block::Text(block)] => assert_eq!(block.text.len(), word.trim_end().len()),
        other => panic!("{} blocks", other.len()),
    }
}

#[test]
fn malformed_pages_have_at_most_one_block() {
    for page in [
        "",
        "\0",
        "<",
        "<!--",
        "<html",
        "\u{feff}",
        "<title>",
        "<frameset><frame src=x>",
        "<p",
        "]]>",
    ] {
        let extraction = read(page);
        assert!(extraction.page.content.len() <= 1, "{page:?}");
    }
    assert!(read("just words").page.to_text().contains("just words"));
}

/// An attribute without a value, met in the middle of a text that is moved.
#[test]
fn empty_attribute_value_inside_moved_text_stays_empty() {
    let page =
        read("<title>x</title><body>\u{e9}  \u{e9}<html x='' lang=''>\u{e9} and a few words more.");
    assert_eq!(page.page.to_text(), "\u{e9} \u{e9}\u{e9} and a few words more.\n");
}

#[test] // D38
fn attributes_beyond_the_limit_are_left_out_and_reported() {
    let names: String = (0..200_000).map(|n| format!(" a{n}")).collect();
    let page =
        format!("<main><p{names}>High water is at noon.</p><p>Low water is at six.</p></main>");
    let extraction = read(&page);
    assert!(codes(&extraction.findings).contains(&"HT017"));
    assert_eq!(extraction.page.to_text(), "High water is at noon.\n\nLow water is at six.\n");
    // The limit itself is no fault.
    let names: String = (0..256).map(|n| format!(" a{n}")).collect();
    assert!(!codes(&read(format!("<p{names}>x")).findings).contains(&"HT017"));
}

#[test] // D38
fn ends_reading_after_the_last_allowed_step() {
    let page = format!("<main><p>First.</p>{}<p>Last.</p></main>", "<p>x</p>".repeat(20_000));
    let mut how = options("https://harbour.example/");
    how.limits = Limits { steps: 10_000, ..Limits::USUAL };
    let extraction = html(page.as_bytes(), &how);
    assert!(codes(&extraction.findings).contains(&"HT018"));
    assert!(extraction.visible_text.contains("First."));
    assert!(!extraction.visible_text.contains("Last."));
    how.limits = Limits::USUAL;
    assert!(!codes(&html(page.as_bytes(), &how).findings).contains(&"HT018"));
}

#[test] // D36
fn paragraphs_are_merged_before_lists_code_tables_and_headings() {
    let page: String = (0..120)
        .map(|n| {
            format!(
                "<h2>Berth {n}</h2><p>Depth {n}.<p>Rope {n}.<p>Light {n}.<p>Pump {n}.\
                 <h4>Use {n}</h4><ul><li>moor {n}</ul><pre>call {n}</pre>\
                 <table><tr><th>Day<th>Depth<tr><td>{n}<td>4.6</table>"
            )
        })
        .collect();
    let extraction = read(format!("<main><h1>Berths</h1>{page}</main>"));
    let content = &extraction.page.content;
    assert_eq!(content.len(), 1000);
    let count = |kind: &str| content.iter().filter(|block| block.kind() == kind).count();
    assert_eq!(["heading", "list", "code", "table"].map(count), [241, 120, 120, 120]);
    let text = extraction.page.to_text();
    assert!((0..120).all(|n| text.contains(&format!("Light {n}."))));
}
