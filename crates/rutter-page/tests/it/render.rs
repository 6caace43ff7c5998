//! Markdown and plain text. Every `fixtures/render/*.json` is a case.

use std::fs;
use std::path::Path;

use rutter_page::{PageLimits, PageReader};

#[test] // SCP-187 SCP-189 SCP-200
fn escapes_text_for_its_output_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let line = fs::read_to_string(folder.join(&name)).unwrap();
        let page = PageReader::new(PageLimits::SPEC).read(line.trim_end(), 1, &mut ());
        let page = page.unwrap().unwrap();
        let shown = format!("{}\n=== text\n{}", page.to_markdown(), page.to_text());
        insta::assert_snapshot!(name.to_str().unwrap(), shown);
    }
}

#[test]
fn markdown_of_a_table_with_one_long_row_grows_with_its_cells() {
    let line = |n: usize| {
        let mut rows = vec![vec!["a"; n]];
        rows.resize(n, vec!["b", "c"]);
        let page = serde_json::json!({
            "url": "https://a.example/", "title": "A", "description": "B",
            "modified": "2026-01-01T00:00:00Z", "language": "en",
            "content": [{ "type": "table", "rows": rows }]
        });
        page.to_string()
    };
    let markdown = |n: usize| {
        let line = line(n);
        let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
        page.to_markdown()
    };
    let (small, large) = (markdown(500), markdown(2000));
    assert!(large.len() < 5 * small.len(), "{} of {}", large.len(), small.len());
    // Tables that are nearly full have cells in every column.
    let few = markdown(4);
    assert!(few.contains("| b | c |  |  |\n"), "{few}");
}
