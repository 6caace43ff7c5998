//! Markdown and plain text. Every `fixtures/render/*.json` is a case.

use std::fs;
use std::path::Path;

use rutter_page::{Judge, PageLimits};

#[test] // SCP-187 SCP-189 SCP-200
fn spec_text_is_escaped_for_where_it_is_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let line = fs::read_to_string(folder.join(&name)).unwrap();
        let page = Judge::new(PageLimits::SPEC).read(line.trim_end(), 1, &mut ());
        let page = page.unwrap().unwrap();
        let shown = format!("{}\n=== text\n{}", page.to_markdown(), page.to_text());
        insta::assert_snapshot!(name.to_str().unwrap(), shown);
    }
}
