//! Tests of finding markers, compared with a naive search.

use crate::MarkerStatus::{Absent, JsonLdOnly, MetaOnly, Near, Visible};
use proptest::prelude::*;

use super::*;

fn visible(text: &str) -> PageTexts<'_> {
    PageTexts { visible: text, ..PageTexts::default() }
}

#[test] // D70 SPX-066
fn marker_is_visible_ignoring_white_space() {
    let markers = MarkerSearch::new(["the  Tide\nHouse"]);
    for (text, is_visible) in [
        ("in the Tide House.", true),
        ("in the\u{a0}Tide \t House.", true),
        ("inthe Tide Houses", true),
        ("in the Tide\nHouse", false),
        ("in The Tide House", false),
        ("in the Tide-House", false),
        ("in the Tide\u{ad} House", false),
        ("", false),
    ] {
        let found = markers.classify(&[0], &visible(text));
        assert_eq!(found[0] == Visible, is_visible, "{text:?}");
        assert_eq!(markers.find_in_blocks(text).contains(&0), is_visible, "{text:?}");
    }
    assert!(markers.find_in_line("the Tide\n\nHouse").contains(&0));
}

#[test] // D70
fn near_match_returns_the_text_found() {
    let markers = MarkerSearch::new(["Keeper's \"log\" - 1890", "STRASSE", "s"]);
    let text = "The keeper\u{2019}s \u{201c}Log\u{201d}\u{a0}\u{2014} 1890. Stra\u{df}e";
    let found = markers.classify(&[0, 1], &visible(text));
    assert_eq!(
        found,
        [
            Near("keeper\u{2019}s \u{201c}Log\u{201d} \u{2014} 1890".to_owned()),
            Near("Stra\u{df}e".to_owned())
        ]
    );
    // A match must not end inside a character.
    assert_eq!(markers.classify(&[2], &visible("\u{df}")), [Absent]);
    assert_eq!(markers.classify(&[2], &visible("\u{df} S")), [Near("S".to_owned())]);
    // A match must not cross the end of a block.
    assert_eq!(markers.classify(&[1], &visible("stra\nsse")), [Absent]);
}

#[test] // D70 C07
fn hidden_marker_is_found_in_meta_or_json_ld() {
    let markers =
        MarkerSearch::new(["in a meta", "in data", "in both", "nowhere", "key", "nearly"]);
    let places = PageTexts {
        visible: "Seen: NEARLY",
        metas: vec!["said in\n a meta", "in both", "in", "data", "nearly"],
        json_ld: vec![r#"{"key": ["said in\u0020data", {"x": "in both"}], "n": 1}"#, "{broken"],
    };
    let near = Near("NEARLY".to_owned());
    assert_eq!(
        markers.classify(&[5, 4, 3, 2, 1, 0], &places),
        [near, Absent, Absent, MetaOnly, JsonLdOnly, MetaOnly]
    );
    assert!(markers.classify(&[], &places).is_empty());
    assert_eq!(markers.classify(&[77], &places), [Absent]);
}

#[test] // D70
fn markers_may_be_nested_or_equal() {
    let markers = MarkerSearch::new([
        "Tide House Museum",
        "House",
        "Tide House",
        "House Museum",
        "",
        " ",
        "House",
    ]);
    let all: Vec<usize> = markers.find_in_blocks("The Tide House Museum").into_iter().collect();
    assert_eq!(all, [0, 1, 2, 3, 6]);
    let found = markers.classify(&[6, 1, 4], &visible("a House"));
    assert_eq!(found, [Visible, Visible, Absent]);
    assert_eq!((markers.len(), markers.text(4), markers.text(9)), (7, "", ""));
    assert!(MarkerSearch::new([]).find_in_blocks("anything").is_empty());
}

#[test]
fn deeply_nested_json_does_not_overflow() {
    let markers = MarkerSearch::new(["x"]);
    let deep = format!("{}\"x\"{}", "[".repeat(100_000), "]".repeat(100_000));
    let places = PageTexts { json_ld: vec![&deep], ..PageTexts::default() };
    assert_eq!(markers.classify(&[0], &places), [Absent]);
}

proptest! {
    #[test] // D70
    fn joint_search_equals_separate_searches(
        phrases in prop::collection::vec("[abA'\u{2019}\u{df} \u{a0}\n-]{0,4}", 0..12),
        text in "[abA'\u{2019}\u{df}s \u{a0}\u{ad}\n\u{2014}]{0,60}",
    ) {
        let markers = MarkerSearch::new(phrases.iter().map(String::as_str));
        // Naive search for comparison: every block is compared with every marker.
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let blocks: Vec<String> = text.split('\n').map(line).collect();
        let wanted: Vec<usize> = (0..phrases.len()).collect();
        let found = markers.classify(&wanted, &visible(&text));
        let standing = markers.find_in_blocks(&text);
        for (id, phrase) in phrases.iter().enumerate() {
            let phrase = line(phrase);
            let is_visible = !phrase.is_empty() && blocks.iter().any(|block| block.contains(&phrase));
            let is_near = !phrase.is_empty() && blocks.iter().any(|block| {
                let places: Vec<usize> = block.char_indices().map(|(at, _)| at).chain([block.len()]).collect();
                places.iter().enumerate().any(|(n, start)| {
                    places[n..].iter().any(|end| fold(&block[*start..*end]) == fold(&phrase))
                })
            }) && !fold(&phrase).is_empty();
            prop_assert_eq!(standing.contains(&id), is_visible);
            match &found[id] {
                Visible => prop_assert!(is_visible),
                Near(text) => {
                    prop_assert!(!is_visible && is_near);
                    prop_assert_eq!(fold(text), fold(&phrase));
                    prop_assert!(blocks.iter().any(|block| block.contains(text.as_str())));
                }
                _ => prop_assert!(!is_visible && !is_near, "{phrase:?} in {text:?}"),
            }
        }
        let seldom = markers.classify(&wanted.iter().copied().step_by(2).collect::<Vec<_>>(), &visible(&text));
        prop_assert_eq!(seldom, found.into_iter().step_by(2).collect::<Vec<_>>());
    }
}
