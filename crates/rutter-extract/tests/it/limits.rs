//! Hostile and huge pages: bounded, never empty-handed, never a panic.

use rutter_extract::{Limits, html};
use rutter_page::Block;

use crate::{options, read};

fn codes(findings: &[rutter_finding::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn ours_a_hundred_thousand_open_elements_keep_their_text() {
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
fn ours_what_lies_too_deep_is_said() {
    let page = format!("{}<p>The water is still there.", "<div>".repeat(500));
    assert!(codes(&read(&page).findings).contains(&"HT009"));
}

#[test] // D17
fn ours_bytes_that_stand_for_nothing_are_said() {
    let page = b"<meta charset=\"utf-8\"><title>Caf\xe9</title><p>Open until nine tonight.";
    let extraction = html(page, &options("https://harbour.example/"));
    assert!(codes(&extraction.findings).contains(&"HT001"));
    assert!(extraction.page.title.contains('\u{fffd}'));
}

#[test]
fn ours_formatting_that_multiplies_is_cut_and_said() {
    // Every paragraph opens all the fonts again.
    let fonts: String = (0..300).map(|n| format!("<font size={n}>")).collect();
    let page = format!("<p>{fonts}{}", "<p>x".repeat(20_000));
    let mut how = options("https://harbour.example/");
    how.limits = Limits { nodes: 500_000, ..Limits::USUAL };
    let extraction = html(page.as_bytes(), &how);
    assert!(codes(&extraction.findings).contains(&"HT010"));
}

#[test] // D36
fn ours_blocks_are_merged_and_no_word_is_lost() {
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
fn ours_what_cannot_be_merged_is_said() {
    let page: String = (0..1500).map(|n| format!("<pre>{n}</pre><hr>")).collect();
    let extraction = read(format!("<main>{page}</main>"));
    assert!(codes(&extraction.findings).contains(&"HT007"));
    assert_eq!(extraction.page.content.len(), 1500);
}

#[test]
fn ours_spans_of_cells_do_not_multiply_a_table() {
    let cell = "<td colspan=1000 rowspan=65534>".to_owned() + &"deep ".repeat(200);
    let row = format!("<tr>{}</tr>", cell.repeat(3));
    let extraction = read(format!("<main><table>{}</table></main>", row.repeat(200)));
    let n_bytes: usize = extraction.page.to_line().len();
    assert!(n_bytes < 4_000_000, "{n_bytes}");
}

#[test]
fn ours_a_long_line_is_one_block() {
    let word = "harbour ".repeat(500_000);
    let extraction = read(format!("<main><p>{word}</p></main>"));
    match extraction.page.content.as_slice() {
        [Block::Text(block)] => assert_eq!(block.text.len(), word.trim_end().len()),
        other => panic!("{} blocks", other.len()),
    }
}

#[test]
fn ours_pages_that_are_none() {
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
fn ours_an_empty_value_inside_a_moved_text_is_empty() {
    let page =
        read("<title>x</title><body>\u{e9}  \u{e9}<html x='' lang=''>\u{e9} and a few words more.");
    assert_eq!(page.page.to_text(), "\u{e9} \u{e9}\u{e9} and a few words more.\n");
}
