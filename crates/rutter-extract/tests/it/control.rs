//! Owner's control: selectors for what is main content, kept and dropped.

use rutter_extract::{Control, Extraction, Selector, html};

use crate::options;

const PAGE: &str = "<html lang=en><title>Gate</title><body><nav id=menu><a href=/>Home</a></nav>\
    <div class=text><h1>Gate</h1><p>The gate opens twice a day, at half tide, and closes again at the \
    next one.</p><p class=price>Opening it at other times costs forty crowns, paid in advance at the \
    office.</p></div><div class=board><p>The pilots meet every Monday in the net loft, and everybody may \
    listen to what they have to say.</p></div><footer><p class=hours>Open from eight to four.</p></footer>";

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn read(control: Control) -> Extraction {
    let mut how = options("https://harbour.example/gate");
    how.control = control;
    html(PAGE.as_bytes(), &how)
}

fn has(extraction: &Extraction, code: &str) -> bool {
    extraction.findings.iter().any(|finding| finding.rule.code == code)
}

#[test]
fn main_keeps_nothing_outside_it() {
    let page = read(Control { main: selectors(&[".board"]), ..Control::default() });
    let text = page.page.to_text();
    assert!(text.contains("pilots meet") && !text.contains("forty crowns"), "{text}");
    assert!(!has(&page, "HT020"));
}

#[test]
fn keep_and_drop_are_stronger_than_the_classifier() {
    let control = Control {
        keep: selectors(&["footer .hours"]),
        drop: selectors(&["p.price", ".board"]),
        ..Control::default()
    };
    let page = read(control);
    let text = page.page.to_text();
    assert!(text.contains("Open from eight") && text.contains("twice a day"), "{text}");
    assert!(!text.contains("forty crowns") && !text.contains("pilots"), "{text}");
}

#[test]
fn a_selector_that_matches_nothing_is_a_finding_and_changes_nothing() {
    let page = read(Control { main: selectors(&["#absent"]), ..Control::default() });
    assert!(has(&page, "HT020"));
    assert_eq!(page.page.to_text(), read(Control::default()).page.to_text());
}

#[test]
fn text_lost_inside_main_is_reported_with_its_share_and_its_place() {
    let text = "<p>The gate opens twice a day, at half tide, and closes again at the next.</p>";
    let comment = "<div class=comment><p>Ada wrote: I liked this very much, thank you for the \
        long text about it. Reply</p></div>";
    let comments = format!("<div class=comments><h3>Comments</h3>{}</div>", comment.repeat(12));
    let page = format!("<main><article><h1>Gate</h1>{}</article>{comments}</main>", text.repeat(6));
    let mut how = options("https://harbour.example/gate");
    let extraction = html(page.as_bytes(), &how);
    assert!(!extraction.page.to_text().contains("Ada wrote"));
    let lost = extraction.findings.iter().find(|finding| finding.rule.code == "HT019").unwrap();
    assert!(lost.detail.contains(" % of it") && lost.detail.contains("Comments"), "{lost:?}");
    // What the owner drops is not lost.
    how.control.drop = selectors(&[".comments"]);
    assert!(!has(&html(page.as_bytes(), &how), "HT019"));
}
