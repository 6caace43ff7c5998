//! Tests of writing, reading and checking llms.txt.

use proptest::prelude::*;
use rutter_finding::Finding;
use rutter_llms::{LlmsHead, check, parse, write_head, write_link, write_section};

use crate::codes;

#[test] // D82
fn writes_and_reads_common_layout() {
    let mut out = Vec::new();
    let head =
        LlmsHead { title: "Harbour", summary: "All about\nboats.", notes: &["# Not a title"] };
    write_head(&mut out, &head).unwrap();
    write_section(&mut out, "Machine-readable indexes").unwrap();
    write_link(&mut out, "Index", "https://h.example/spxi-index.jsonld", "").unwrap();
    write_link(&mut out, "Tides [new]", "https://h.example/tides_(1)", "when\nto sail").unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text,
        "# Harbour\n\n> All about boats.\n\n\\# Not a title\n\n## Machine-readable indexes\n\n\
         - [Index](https://h.example/spxi-index.jsonld)\n\
         - [Tides \\[new\\]](https://h.example/tides_%281%29): when to sail\n"
    );
    let llms = parse(&text);
    assert_eq!(llms.title.as_deref(), Some("Harbour"));
    assert_eq!(llms.summary.as_deref(), Some("All about boats."));
    let titles: Vec<_> = llms.links().map(|link| (link.title.as_str(), link.line)).collect();
    assert_eq!(titles, [("Index", 9), ("Tides [new]", 10)]);
    let mut findings: Vec<Finding> = Vec::new();
    check(&text, &mut findings);
    assert_eq!(findings, []);
}

#[test] // D82
fn reads_layouts_of_real_files() {
    let llms = parse(
        "\u{feff}# Site\n> one\n> two\n\n```\n# code\n- [x](y)\n```\n## Docs\n\
         * [A](</a b> \"title\") – note\n- [B [c]](/b)\ntext\n### Deeper\n+ [D](https://h.example/d)\n",
    );
    assert_eq!(llms.title.as_deref(), Some("Site"));
    assert_eq!(llms.summary.as_deref(), Some("one two"));
    let links: Vec<_> = llms
        .links()
        .map(|link| (link.title.as_str(), link.url.as_str(), link.note.as_str()))
        .collect();
    assert_eq!(links, [("A", "/a", "note"), ("B [c]", "/b", ""), ("D", "https://h.example/d", "")]);
}

#[test] // D82 D89
fn reports_problems_with_their_lines() {
    for (text, wanted) in [
        ("> summary\n\n## Section\n", &["0 LL001"][..]),
        ("# Site\n", &["0 LL002"]),
        ("# Site\n> s\n## A\n- nothing\n", &["4 LL003"]),
        ("<!DOCTYPE html><title>x", &["1 LL004"]),
        ("hello\n# Site\n> s\n", &["1 LL006"]),
        ("# Site\n> s\n## A\n- [a](javascript:x)\n- [b](/b)\n", &["4 LL007"]),
    ] {
        let mut findings: Vec<Finding> = Vec::new();
        check(text, &mut findings);
        assert_eq!(codes(&findings), wanted, "{text}");
    }
    let mut findings: Vec<Finding> = Vec::new();
    check(&format!("# Site\n> s\n{}", "x".repeat(1_000_000)), &mut findings);
    assert_eq!(codes(&findings), ["0 LL005"]);
}

proptest! {
    #[test]
    fn titles_cannot_break_out_of_links(title in "\\PC{0,20}", note in "[ -~\n\r]{0,20}") {
        let mut out = Vec::new();
        write_section(&mut out, "S").unwrap();
        write_link(&mut out, &title, "https://h.example/a", &note).unwrap();
        write_link(&mut out, "last", "https://h.example/b", "").unwrap();
        let text = String::from_utf8(out).unwrap();
        let llms = parse(&text);
        let links: Vec<_> = llms.links().collect();
        prop_assert_eq!(links.len(), 2, "{}", text);
        prop_assert_eq!(&links[0].url, "https://h.example/a");
        let words = title.split(|c: char| c.is_whitespace() || c.is_control());
        let plain = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let wanted = if plain.is_empty() { "https://h.example/a" } else { &plain };
        prop_assert_eq!(&links[0].title, wanted);
    }
}

#[test] // SCP-187
fn escapes_html_and_links_in_texts() {
    let hostile = "<img src=x onerror=a()> &lt;b&gt; [c](javascript:d()) R&D";
    let mut out = Vec::new();
    write_head(&mut out, &LlmsHead { title: hostile, summary: hostile, notes: &[hostile] })
        .unwrap();
    write_section(&mut out, hostile).unwrap();
    write_link(&mut out, hostile, "https://h.example/", hostile).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains('<'), "{text}");
    assert!(!text.replace("\\]", "").contains("](j"), "{text}");
    let llms = parse(&text);
    assert_eq!(llms.title.as_deref(), Some(hostile));
    assert_eq!(llms.summary.as_deref(), Some(hostile));
    assert_eq!(llms.sections[0].title, hostile);
    let link = llms.links().next().unwrap();
    assert_eq!((link.title.as_str(), link.note.as_str()), (hostile, hostile));
}
