//! Tests with planted losses of markers.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rutter_page::Page;
use rutter_spxi::MarkerStatus;
use rutter_spxi::survival::{
    EntitySurvival, MarkerSearch, PageTexts, PathStage, PathTexts, SiteSurvival, trace,
};

use crate::fixtures;

/// Returns the text of a fixture; a line `@fill N` is replaced by N characters.
fn text(folder: &Path, name: &str) -> Option<String> {
    let mut out = String::new();
    for line in fs::read_to_string(folder.join(name)).ok()?.lines() {
        match line.strip_prefix("@fill ") {
            Some(n) => out.push_str(&"wörd ".repeat(n.parse::<usize>().unwrap() / 5)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Some(out)
}

fn traced(name: &str) -> EntitySurvival {
    let folder = fixtures("survive").join(name);
    let get = |name: &str| text(&folder, name);
    let (served, visible) = (get("served.html"), get("visible.txt").unwrap());
    let (twin, summary, kernel) = (get("twin.md"), get("summary.txt"), get("kernel.txt"));
    let page = get("page.json");
    let page: Option<Page<'_>> = page.as_deref().map(|page| serde_json::from_str(page).unwrap());
    let is_planted = name == "planted";
    let metas = ["a marker for machines only", "A museum of tides", "The Tide House"];
    let places = PageTexts {
        visible: &visible,
        metas: if is_planted { metas.to_vec() } else { Vec::new() },
        json_ld: if is_planted { vec![r#"{"slogan": "kept in\u0020data"}"#] } else { Vec::new() },
    };
    let texts = PathTexts {
        document: served.as_deref(),
        places: Some(places),
        page: page.as_ref(),
        twin: twin.as_deref(),
        summary: summary.as_deref(),
        kernel: kernel.as_deref(),
    };
    let list = get("markers.txt").unwrap();
    // Among the markers of others.
    let markers = MarkerSearch::new(["Tide", "never declared"].into_iter().chain(list.lines()));
    let wanted: Vec<usize> = (2..markers.len()).collect();
    trace(&markers, ("The Tide House", "https://tide.example/"), &wanted, &texts)
}

fn listing(survival: &EntitySurvival) -> String {
    let mut out = String::new();
    for marker in &survival.markers {
        let lost: Vec<String> = PathStage::ALL
            .iter()
            .filter(|stage| marker.kept_by(**stage) == Some(false))
            .map(|stage| stage.word())
            .collect();
        let found = match &marker.status {
            MarkerStatus::Near(found) => format!(" ({found})"),
            _ => String::new(),
        };
        let lost = match lost.as_slice() {
            [] => "kept by all".to_owned(),
            lost => format!("lost at {}", lost.join(" ")),
        };
        writeln!(out, "{}: {}{found}, {lost}", marker.text, marker.status.word()).unwrap();
    }
    out
}

#[test] // D70 SPX-066 SPX-076 C07
fn exactly_the_planted_losses_are_found() {
    for case in ["planted", "whole"] {
        let expected = text(&fixtures("survive").join(case), "expected.txt").unwrap();
        assert_eq!(listing(&traced(case)), expected, "{case}");
    }
}

#[test]
fn missing_step_is_not_a_loss() {
    let markers = MarkerSearch::new(["one", "two"]);
    let places = PageTexts { visible: "one and two", ..PageTexts::default() };
    let texts = PathTexts { places: Some(places), summary: Some(""), ..PathTexts::default() };
    let survival = trace(&markers, ("E", "https://e.example/"), &[0, 1], &texts);
    for stage in [PathStage::Html, PathStage::Blocks, PathStage::Twin, PathStage::Kernel] {
        assert_eq!(survival.share(stage), None, "{stage:?}");
    }
    let share = survival.share(PathStage::Summary).unwrap();
    assert_eq!((share.kept, share.of), (0, 2));
    assert_eq!(survival.markers[0].first_lost(), Some(PathStage::Summary));
    // A page that is not there.
    let nothing = trace(&markers, ("E", "https://e.example/"), &[0], &PathTexts::default());
    assert_eq!(nothing.markers[0].first_lost(), None);
    assert!(PathStage::ALL.iter().all(|stage| nothing.share(*stage).is_none()));
}

#[test] // D70
fn truncation_counts_characters_and_loses_overlapping_markers() {
    let markers = MarkerSearch::new(["sea"]);
    for (lead, is_kept) in [(4997, true), (4998, false), (4999, false)] {
        let visible = format!("{}sea", "ö".repeat(lead));
        let places = PageTexts { visible: &visible, ..PageTexts::default() };
        let texts = PathTexts { places: Some(places), ..PathTexts::default() };
        let survival = trace(&markers, ("E", ""), &[0], &texts);
        assert_eq!(survival.markers[0].kept_by(PathStage::Cut(5_000)), Some(is_kept), "{lead}");
        assert_eq!(survival.markers[0].kept_by(PathStage::Cut(20_000)), Some(true));
    }
}

#[test]
fn table_shows_what_was_lost_where() {
    let all = SiteSurvival { entities: vec![traced("planted"), traced("whole")] };
    let table = all.to_table();
    let lines: Vec<&str> = table.lines().collect();
    let [head, planted, whole, both, first, second, ..] = lines.as_slice() else {
        panic!("{table}")
    };
    assert_eq!(
        head.split_whitespace().collect::<Vec<_>>().join(" "),
        "entity html visible cut-100k cut-50k cut-20k cut-5k blocks twin summary kernel"
    );
    assert_eq!(
        planted.split_whitespace().skip(3).collect::<Vec<_>>().join(" "),
        "9/11 3/11 3/11 3/11 2/11 1/11 2/11 2/11 1/11 2/11"
    );
    assert!(
        whole.contains("2/2") && both.starts_with("all  ") && both.contains(" 11/13 "),
        "{both}"
    );
    assert_eq!(
        *first,
        "The Tide House: first lost at visible: tide clock strikes; absent on the page"
    );
    assert!(second.contains("said in a script"));
    assert!(table.contains("first lost at html: Keeper's Log; the page has: Keeper’s Log"));
    assert_eq!(lines.len(), 4 + 10);
}

#[test]
fn chart_is_a_self_contained_file() {
    let mut odd = traced("whole");
    odd.name = "</title><script>alert(1)</script> & \"\u{1b}[31m\u{202e}".to_owned();
    let all = SiteSurvival { entities: vec![traced("planted"), odd] };
    let svg = all.to_svg();
    assert_eq!(svg, all.to_svg());
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(svg.contains("role=\"img\"") && svg.contains("<title id=\"t\">Markers of 2 entities"));
    assert!(svg.contains("prefers-color-scheme:dark"));
    assert!(!svg.contains("<script") && !svg.contains('\u{1b}') && !svg.contains('\u{202e}'));
    assert!(svg.contains("&lt;/title&gt;&lt;script&gt;alert(1)"));
    // Nothing is loaded from anywhere.
    assert_eq!(svg.matches("http").count(), 1);
    assert_eq!(svg.matches("<rect class=\"track\"").count(), 30);
    assert!(svg.contains(">9/11</text>") && svg.contains("html 11 of 13"));
    let empty = SiteSurvival::default();
    assert!(empty.to_svg().contains(">none</text>") && empty.to_table().lines().count() == 1);
}

#[test]
fn json_has_all_results() {
    let all = SiteSurvival { entities: vec![traced("planted")] };
    let json = all.to_json();
    assert_eq!(json.to_json(), all.to_json().to_json());
    let entity = &json.get("entities").unwrap().items()[0];
    let marker = &entity.get("markers").unwrap().items()[7];
    assert_eq!(marker.get("status").unwrap().as_str(), Some("near"));
    assert_eq!(marker.get("found").unwrap().as_str(), Some("Keeper’s Log"));
    assert_eq!(marker.get("first_lost").unwrap().as_str(), Some("html"));
    let kept = entity.get("stages").unwrap().get("cut-20k").unwrap().get("kept").unwrap();
    assert_eq!(kept.to_json(), "2");
}
