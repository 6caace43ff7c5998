//! Guard rails: every file in `fixtures/rails` names what must be kept and what
//! must be dropped, in the comment it begins with.

use std::path::Path;

use crate::read;

/// The values of a key in the comment a fixture begins with.
fn values<'f>(fixture: &'f str, key: &str) -> Vec<&'f str> {
    let comment = fixture.split("-->").next().unwrap_or("");
    comment.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).collect()
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn fixtures_keep_and_drop_what_they_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rails");
    let mut faults = Vec::new();
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let fixture = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!values(&fixture, "shows").is_empty(), "{name} does not say what it shows");
        let text = squeeze(&read(&fixture).page.to_text());
        for wanted in values(&fixture, "keep") {
            if !text.contains(wanted) {
                faults.push(format!("{name} lost: {wanted}"));
            }
        }
        for unwanted in values(&fixture, "drop") {
            if text.contains(unwanted) {
                faults.push(format!("{name} kept: {unwanted}"));
            }
        }
        n_files += 1;
    }
    assert!(13 <= n_files);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
