//! The example site: what is read from its HTML agrees with the lines that
//! were written by hand.

use std::path::Path;

use rutter_extract::html;
use serde_json::Value;

use crate::options;

#[test]
fn example_site_reads_like_its_hand_made_lines() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let lines = std::fs::read_to_string(examples.join("harbour.jsonl")).unwrap();
    let mut faults = Vec::new();
    for line in lines.lines() {
        let wanted: Value = serde_json::from_str(line).unwrap();
        let url = wanted["url"].as_str().unwrap();
        let path = url.strip_prefix("https://harbour.example/").unwrap();
        let file = if path.is_empty() || path.ends_with('/') {
            format!("{path}index.html")
        } else {
            path.to_owned()
        };
        let bytes = std::fs::read(examples.join("harbour").join(file)).unwrap();
        let page: Value =
            serde_json::from_str(&html(&bytes, &options(url)).page.to_line()).unwrap();
        for key in
            ["title", "description", "author", "published", "modified", "language", "canonical"]
        {
            if page[key] != wanted[key] {
                faults.push(format!("{url} {key}: {} not {}", page[key], wanted[key]));
            }
        }
        let (made, written) =
            (page["content"].as_array().unwrap(), wanted["content"].as_array().unwrap());
        for block in written.iter().filter(|block| !made.contains(block)) {
            faults.push(format!("{url} lacks {block}"));
        }
        for block in made.iter().filter(|block| !written.contains(block)) {
            faults.push(format!("{url} has {block}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
