//! What owners say about their pages, and what they hear about lost text.

use rutter_extract::{Control, Options, Selector, html};

use crate::{options, read};

const TIDES: &str = "<p>High water is at noon today, and low water is at six in the evening.</p>";

fn page(main: &str) -> String {
    format!(
        "<html lang=en><title>Tides</title><nav><a href=/>Home</a></nav>\
         <main><h1>Tides</h1>{main}</main><footer><p>Harbour office, 1 Fish Quay.</p></footer>"
    )
}

fn controlled(control: Control, main: &str) -> rutter_extract::Extraction {
    let how = Options { control, ..options("https://harbour.example/docs/page.html") };
    html(page(main).as_bytes(), &how)
}

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn text_lost_inside_the_main_element_is_reported_with_its_largest_part() {
    let comment = "<div class=comment><p>Ada wrote: I liked this very much, thank you for the \
        long text about it. Reply</p></div>";
    let comments = format!("<div class=comments><h3>Comments</h3>{}</div>", comment.repeat(12));
    let extraction = read(page(&format!("<article>{}</article>{comments}", TIDES.repeat(6))));
    let finding = extraction.findings.iter().find(|finding| finding.rule.code == "HT019");
    let detail = &finding.expect("HT019 is reported").detail;
    assert!(detail.contains('%') && detail.contains("Comments"), "{detail}");
    assert!(!extraction.page.to_text().contains("Ada wrote"));
    let whole = read(page(&TIDES.repeat(5)));
    assert!(whole.findings.iter().all(|finding| finding.rule.code != "HT019"));
}

#[test]
fn selectors_of_the_owner_decide_and_one_that_matches_nothing_is_reported() {
    let main = format!("<div class=views>1,024 views so far today.</div>{TIDES}");
    let drop = Control { drop: selectors(&["main .views"]), ..Control::default() };
    let extraction = controlled(drop, &main);
    assert!(!extraction.page.to_text().contains("views"), "{}", extraction.page.to_text());
    assert!(extraction.page.to_text().contains("High water"));
    let keep = Control { keep: selectors(&["footer"]), ..Control::default() };
    assert!(controlled(keep, &main).page.to_text().contains("Fish Quay"));
    let only = Control { main: selectors(&["div.views"]), ..Control::default() };
    assert!(!controlled(only, &main).page.to_text().contains("High water"));
    let none = Control { drop: selectors(&["#no-such-id"]), ..Control::default() };
    let extraction = controlled(none, &main);
    let finding = extraction.findings.iter().find(|finding| finding.rule.code == "HT020");
    assert!(finding.expect("HT020 is reported").detail.contains("#no-such-id"));
    assert!("p >> q".parse::<Selector>().is_err());
}
