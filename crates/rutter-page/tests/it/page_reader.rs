//! The tolerant reader: what it repairs, drops and rejects, and which findings it reports.

use std::fmt::Write as _;

use proptest::prelude::*;
use rutter_finding::{Finding, Refusal};
use rutter_page::{Block, Page, PageLimits, PageReader, rules};
use serde_json::{Map, Value, json};

fn read(line: &str) -> (Result<Option<Page<'_>>, Refusal>, Vec<Finding>) {
    let mut findings = Vec::new();
    let page = PageReader::new(PageLimits::SPEC).read(line, 7, &mut findings);
    (page, findings)
}

fn page(blocks: &Value) -> Value {
    json!({
        "url": "https://harbour.example/", "title": "t", "description": "d",
        "modified": "2026-05-01T00:00:00Z", "language": "en", "content": blocks,
    })
}

#[test] // SCP-099 SCP-101 SCP-102 SCP-103 SCP-208
fn findings_have_rule_and_place() {
    let line = page(&json!([
        { "type": "heading", "level": 9, "text": "clamped" },
        { "type": "tide" },
        { "type": "tide" },
        { "type": "image", "url": "data:x", "alt": "dropped" },
        { "type": "link", "url": "javascript:x", "text": "kept as text" },
        { "type": "video", "name": "v", "url": "https://h.example/", "duration": "long" },
        { "type": "list", "ordered": "no", "items": [] },
        "not an object",
    ]))
    .to_string();
    let (result, findings) = read(&line);
    let page = result.unwrap().unwrap();
    let said: Vec<_> = findings.iter().map(|it| (it.rule.code, it.place.to_string())).collect();
    let said: Vec<_> = said.iter().map(|(code, place)| (*code, place.as_str())).collect();
    assert_eq!(
        said,
        [
            ("SC023", "line 7 /content/0/level"),
            ("SC021", "line 7 /content/1/type"),
            ("SC024", "line 7 /content/3/url"),
            ("SC024", "line 7 /content/4/url"),
            ("SC025", "line 7 /content/5/duration"),
            ("SC022", "line 7 /content/6/ordered"),
            ("SC020", "line 7 /content/7"),
        ]
    );
    let kinds: Vec<_> = page.content.iter().map(Block::kind).collect();
    assert_eq!(kinds, ["heading", "tide", "tide", "text", "video"]);
}

#[test] // SCP-100 SCP-101
fn renderers_skip_unknown_blocks() {
    let blocks = |with: bool| {
        let unknown = json!({ "type": "tide", "text": "low water", "url": "https://h.example/x" });
        let around = ["before", "after"].map(|text| json!({ "type": "text", "text": text }));
        let [before, after] = around;
        page(&if with { json!([before, unknown, after]) } else { json!([before, after]) })
            .to_string()
    };
    let (with, without) = (blocks(true), blocks(false));
    let (with, without) = (read(&with).0.unwrap().unwrap(), read(&without).0.unwrap().unwrap());
    assert_eq!(with.to_text(), without.to_text());
    assert_eq!(with.to_markdown(), without.to_markdown());
    assert!(with.to_text().contains("before") && with.to_text().contains("after"));
    // The stored line keeps the block for readers of a later version.
    assert!(with.to_line().contains("low water"));
}

#[test] // SCP-092 SCP-097
fn rejects_pages_without_a_required_member() {
    let Value::Object(whole) = page(&json!([{ "type": "text", "text": "x" }])) else { panic!() };
    for name in ["url", "title", "description", "modified", "language", "content"] {
        let mut without = whole.clone();
        without.remove(name);
        // Also if another fault would only skip the page.
        without.insert("author".to_owned(), json!(5));
        let line = Value::Object(without).to_string();
        let refusal = read(&line).0.unwrap_err();
        assert_eq!(*refusal.rule, rules::PAGE_FIELD_MISSING);
        assert!(refusal.detail.contains(name), "{refusal}");
        let mut wrong = whole.clone();
        wrong.insert(name.to_owned(), json!({}));
        let line = Value::Object(wrong).to_string();
        assert_eq!(*read(&line).0.unwrap_err().rule, rules::PAGE_FIELD_TYPE);
    }
}

#[test] // SCP-091 SCP-096
fn rejects_lines_that_are_not_json_objects() {
    for line in ["", "{", "nonsense", "{\"a\":\"\\ud800\"}x", "[1,", "{\"url\":1,}"] {
        assert_eq!(*read(line).0.unwrap_err().rule, rules::INVALID_JSON, "{line}");
    }
    for line in ["[]", "1", "null", "\"text\""] {
        assert_eq!(*read(line).0.unwrap_err().rule, rules::NOT_AN_OBJECT, "{line}");
    }
    let lone = page(&json!([{ "type": "text", "text": "SURROGATE" }])).to_string();
    let lone = lone.replace("SURROGATE", "\\ud800");
    assert_eq!(*read(&lone).0.unwrap_err().rule, rules::INVALID_JSON);
}

fn block() -> impl Strategy<Value = Value> {
    let text = "\\PC{0,12}|[\"\\\\\n]{1,3}";
    prop_oneof![
        text.prop_map(|text| json!({ "type": "text", "text": text })),
        (0_i64..9, text)
            .prop_map(|(n, text)| json!({ "type": "heading", "level": n, "text": text })),
        (text, any::<bool>())
            .prop_map(|(text, good)| json!({ "type": "link", "text": text, "x": [1, { "y": 2 }],
                "url": if good { "https://h.example/a" } else { "mailto:x" } })),
        prop::collection::vec(text, 0..3)
            .prop_map(|items| json!({ "type": "list", "ordered": true, "items": items })),
        (text, prop::option::of(text)).prop_map(|(code, language)| {
            json!({ "type": "code", "code": code, "language": language })
        }),
        Just(json!({ "type": "tide" })),
    ]
}

/// Returns the object with its members in another order.
fn shuffled(object: &Map<String, Value>, turn: usize) -> String {
    let mut members: Vec<String> =
        object.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
    let turn = turn % members.len().max(1);
    members.rotate_left(turn);
    format!("{{{}}}", members.join(","))
}

proptest! {
    // SCP-021: strict and tolerant reading agree for every order of members.
    #[test]
    fn order_of_members_does_not_matter(
        blocks in prop::collection::vec(block(), 1..6), turn in 0_usize..6, page_turn in 0_usize..6,
    ) {
        let texts: Vec<String> = blocks
            .iter()
            .map(|block| shuffled(block.as_object().unwrap(), turn))
            .collect();
        let Value::Object(outer) = page(&json!("BLOCKS")) else { panic!() };
        let line = |blocks: &[String], turn| {
            shuffled(&outer, turn).replace("\"BLOCKS\"", &format!("[{}]", blocks.join(",")))
        };
        let plain: Vec<String> = blocks
            .iter()
            .map(|block| {
                let object = block.as_object().unwrap();
                let rest: Vec<_> = object.iter().filter(|(key, _)| *key != "type").collect();
                let mut text = format!("{{\"type\":{}", object["type"]);
                for (key, value) in rest {
                    write!(text, ",{}:{value}", json!(key)).unwrap();
                }
                text + "}"
            })
            .collect();
        let (typed, other) = (line(&plain, 0), line(&texts, page_turn));
        let (a, a_findings) = read(&typed);
        let (b, b_findings) = read(&other);
        let values = |page: Page<'_>| serde_json::from_str::<Value>(&page.to_line()).unwrap();
        prop_assert_eq!(a.unwrap().map(values), b.unwrap().map(values));
        prop_assert_eq!(a_findings, b_findings);
    }

    #[test]
    fn no_line_causes_a_panic(line in "\\PC{0,80}") {
        drop(read(&line));
    }
}
