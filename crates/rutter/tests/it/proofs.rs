//! Tests that each rule of each crate is the expected result of a test.
//!
//! A code counts as proved if a test would fail without its finding: it occurs in a planted fault,
//! in the expectation of a conformance vector, in the output of a session, in a snapshot, in a
//! checked example, or in a test function with an assertion.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_check::{has_checkable_example, rule_tables};
use serde_json::Value;

use crate::root;

/// The rules that `rutter rules` lists: code and name.
fn rules() -> BTreeMap<String, String> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rutter"));
    let output = program.args(["rules", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rules = document["rules"].as_array().unwrap().iter();
    rules.map(|rule| (text(&rule["code"]), text(&rule["name"]))).collect()
}

/// Returns all files with this extension in a folder of the workspace.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no file in {folder} ends with {ending}");
    found
}

/// Returns the words of a text that have the form of a code.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_code = |word: &&str| {
        let (letters, digits) = word.split_at_checked(2).unwrap_or_default();
        letters.bytes().all(|byte| byte.is_ascii_uppercase())
            && digits.len() == 3
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_code)
}

/// Visits the strings of a JSON document, without those for people.
fn strings(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(list) => list.iter().for_each(|value| strings(value, take)),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "about" && *name != "clauses");
            kept.for_each(|(_, value)| strings(value, take));
        }
        _ => {}
    }
}

/// The bodies of test functions that assert something.
fn tests(text: &str) -> Vec<&str> {
    let mut bodies = Vec::new();
    let mut rest = text;
    let first =
        |text: &str| ["#[test]", "#[tokio::test"].iter().filter_map(|it| text.find(it)).min();
    while let Some(at) = first(rest) {
        let start = rest[..at].rfind('\n').map_or(0, |line| line + 1);
        // The function ends with a brace at the indentation of its attribute.
        let end = format!("\n{}}}\n", &rest[start..at]);
        let len = rest[at..].find(&end).map_or(rest.len() - at, |len| len + end.len());
        let body = &rest[at..at + len];
        bodies.extend(body.contains("assert").then_some(body));
        rest = &rest[at + len..];
    }
    bodies
}

/// Rules by the names they have in their crates, `rutter-scp BLANK_LINE`, and
/// by name alone where no other crate has it.
fn constants() -> BTreeMap<String, String> {
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for path in files("crates", ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().map(str::trim) {
            let Some((name, rest)) = line.split_once(" = \"") else { continue };
            let is_name = name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
            let Some(code) = rest.get(..5).filter(|_| is_name && rest[5..].starts_with("\" \""))
            else {
                continue;
            };
            by_name.entry(name.to_owned()).or_default().insert(code.to_owned());
            all.insert(format!("{} {name}", crate_of(&path)), code.to_owned());
        }
    }
    let alone = by_name.into_iter().filter(|(_, codes)| codes.len() == 1);
    all.extend(alone.filter_map(|(name, codes)| Some((name, codes.into_iter().next()?))));
    all
}

/// The folder of a file's crate.
fn crate_of(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let at = parts.iter().rposition(|part| part == "crates").unwrap();
    parts[at + 1].clone().into_owned()
}

fn proved() -> BTreeSet<String> {
    let mut proved: BTreeSet<String> = BTreeSet::new();
    let mut note = |text: &str| proved.extend(words(text).map(str::to_owned));
    for path in files("crates/rutter-check/fixtures/faults", ".toml") {
        let text = fs::read_to_string(path).unwrap();
        text.lines().filter(|line| line.starts_with("codes = ")).for_each(&mut note);
    }
    for path in files("conformance/vectors", "expect.json") {
        strings(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap(), &mut note);
    }
    for path in files("crates/rutter/tests/sessions", ".console") {
        let text = fs::read_to_string(path).unwrap();
        // Explained or listed codes are not findings.
        let mut is_found = false;
        for line in text.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                is_found = !["explain", "rules", "--help"].iter().any(|it| command.contains(it));
            } else if is_found && !line.starts_with("; ") {
                note(line);
            }
        }
    }
    for path in files("crates", ".snap").iter().chain(&files("crates", ".expect")) {
        note(&fs::read_to_string(path).unwrap());
    }
    let with_example = rule_tables().into_iter().flatten().filter(|it| has_checkable_example(it));
    with_example.for_each(|rule| note(rule.code));
    let constants = constants();
    let by_name: BTreeMap<String, String> =
        rules().into_iter().map(|(code, name)| (name, code)).collect();
    for path in files("crates", ".rs") {
        if path.ends_with("tests/it/proofs.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for body in tests(&text) {
            // An assertion that a finding is absent proves nothing.
            for line in body.lines().filter(|line| !line.contains("assert!(!")) {
                note(line);
                line.split('"').filter_map(|text| by_name.get(text)).for_each(|code| note(code));
                let names = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                for name in names.filter(|name| 3 < name.len()) {
                    let own = constants.get(&format!("{} {name}", crate_of(&path)));
                    if let Some(code) = own.or_else(|| constants.get(name)) {
                        note(code);
                    }
                }
            }
        }
    }
    proved
}

#[test]
fn each_rule_is_expected_by_a_test() {
    let proved = proved();
    let missing: Vec<String> = rules().into_keys().filter(|code| !proved.contains(code)).collect();
    assert!(missing.is_empty(), "no test expects {} rules: {missing:?}", missing.len());
}

#[test]
fn each_rule_of_each_crate_is_listed() {
    let rules = rules();
    let mut defined: BTreeSet<String> = constants().into_values().collect();
    // Codes of examples and tests.
    defined.retain(|code| !["EX001", "RB999", "XX001"].contains(&code.as_str()));
    let missing: Vec<&String> = defined.iter().filter(|it| !rules.contains_key(*it)).collect();
    assert!(missing.is_empty(), "not in `rule_registry`: {missing:?}");
}

#[test]
fn only_asserted_codes_count_as_proved() {
    let text = "#[test]\nfn a() {\n    assert_eq!(x, [\"SC001\"]);\n}\n\n\
                fn b() {\n    let x = \"SC002\";\n}\n\n#[test]\nfn c() {\n    run(\"SC003\");\n}\n";
    let found: Vec<&str> = tests(text).into_iter().flat_map(words).collect();
    assert_eq!(found, ["SC001"]);
    assert_eq!(words("XL001, `AR0012` SC02 [HT013]").collect::<Vec<_>>(), ["XL001", "HT013"]);
}
