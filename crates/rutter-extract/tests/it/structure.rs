//! Structure: every page in `fixtures/structure` has its exact blocks beside it
//! (`NAME.jsonl`), and where the Markdown matters, that too (`NAME.md`).

use std::fmt::Write;
use std::path::Path;

use crate::read;

/// The first line that differs, for messages.
fn first_difference(wanted: &str, found: &str) -> Option<String> {
    let (mut wanted, mut found) = (wanted.lines(), found.lines());
    for line in 1.. {
        let (want, got) = (wanted.next(), found.next());
        if want.is_none() && got.is_none() {
            return None;
        }
        if want != got {
            let [want, got] = [want, got].map(|text| text.unwrap_or("(nothing)"));
            return Some(format!("line {line}\n  wanted {want}\n  found  {got}"));
        }
    }
    None
}

#[test]
fn pages_become_exactly_the_blocks_beside_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/structure");
    let mut faults = Vec::new();
    let mut pages: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .collect();
    pages.sort();
    assert!(20 <= pages.len());
    for path in &pages {
        let name = path.file_stem().unwrap().to_string_lossy();
        let extraction = read(std::fs::read(path).unwrap());
        let found = extraction.page.content.iter().fold(String::new(), |mut out, block| {
            writeln!(out, "{}", serde_json::to_string(block).unwrap()).unwrap();
            out
        });
        let wanted = std::fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let fault = first_difference(&wanted, &found);
        faults.extend(fault.map(|fault| format!("{name}.jsonl {fault}")));
        let Ok(wanted) = std::fs::read_to_string(path.with_extension("md")) else { continue };
        let markdown = extraction.to_markdown();
        let body = markdown.split_once("\n---\n").map_or(&*markdown, |(_, body)| body);
        let fault = first_difference(wanted.trim(), body.trim());
        faults.extend(fault.map(|fault| format!("{name}.md {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
