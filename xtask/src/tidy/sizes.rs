//! Checks sizes: functions, structs and files of the crates.
//!
//! A longer function needs a comment `// More than 80 lines: REASON` above it, a struct with more
//! fields a comment `// More than 12 fields: REASON`; a function may also expect clippy's lint
//! `too_many_lines`. Tables of rules and files that begin with `//! A table` may be longer. Tests
//! are not measured.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::root;

const MAX_FILE_LINES: usize = 450;
const MAX_FUNCTION_LINES: usize = 80;
const MAX_FIELDS: usize = 12;

/// Measures the files below `src` of all crates.
pub(super) fn check(files: &[PathBuf], faults: &mut Vec<String>) -> anyhow::Result<()> {
    for path in files {
        let shown = path.strip_prefix(root()).unwrap_or(path);
        let parts: Vec<_> = shown.iter().filter_map(|part| part.to_str()).collect();
        if !matches!(parts.as_slice(), ["crates", _, "src", rest @ ..] if !rest.contains(&"tests.rs"))
        {
            continue;
        }
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        faults.extend(faults_of(shown, &text));
    }
    Ok(())
}

/// Returns the faults of one file.
fn faults_of(path: &Path, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |at: usize| {
        lines[at] == "#[cfg(test)]" && lines.get(at + 1).is_some_and(|next| *next == "mod tests {")
    };
    let end = (0..lines.len()).find(|at| is_tests(*at)).unwrap_or(lines.len());
    let lines = &lines[..end];
    let mut faults = Vec::new();
    let is_table = lines.iter().any(|line| line.starts_with("//! A table"))
        || lines.contains(&"rutter_finding::rules! {");
    if MAX_FILE_LINES < lines.len() && !is_table {
        faults.push(format!(
            "{} has {} lines without tests, more than {MAX_FILE_LINES}",
            path.display(),
            lines.len()
        ));
    }
    for (at, line) in lines.iter().enumerate() {
        let Some((kind, name)) = item_of(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let Some(length) = lines[at..].iter().position(|line| *line == close) else { continue };
        let body = &lines[at + 1..at + length];
        // A declaration without a body ends before the next item.
        if body.iter().any(|line| item_of(line).is_some_and(|_| indent_of(line) <= indent)) {
            continue;
        }
        if has_reason_above(lines, at, kind) {
            continue;
        }
        let fault = match kind {
            "fn" if MAX_FUNCTION_LINES < length + 1 => {
                format!("function {name} has {} lines, more than {MAX_FUNCTION_LINES}", length + 1)
            }
            "struct" => {
                let n_fields = body.iter().filter(|line| is_field(line, indent + 4)).count();
                if n_fields <= MAX_FIELDS {
                    continue;
                }
                format!("struct {name} has {n_fields} fields, more than {MAX_FIELDS}")
            }
            _ => continue,
        };
        faults.push(format!("{}:{}: {fault}", path.display(), at + 1));
    }
    faults
}

/// Returns kind and name of the function or struct that begins in a line.
fn item_of(line: &str) -> Option<(&'static str, &str)> {
    let mut words = line.split_whitespace().peekable();
    while words
        .next_if(|word| matches!(*word, "async" | "const" | "unsafe") || word.starts_with("pub"))
        .is_some()
    {}
    let kind = match words.next()? {
        "fn" => "fn",
        "struct" => "struct",
        _ => return None,
    };
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    (0 < end).then(|| (kind, &name[..end]))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns whether a line begins a field of a struct.
fn is_field(line: &str, indent: usize) -> bool {
    if indent_of(line) != indent || line.trim_start().starts_with(['/', '#']) {
        return false;
    }
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ').map_or(rest, |(_, rest)| rest),
        None => line,
    };
    line.split_once(": ").is_some_and(|(name, _)| {
        name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    })
}

/// Returns whether a comment or a lint expectation above an item gives a reason.
fn has_reason_above(lines: &[&str], at: usize, kind: &str) -> bool {
    let comment = match kind {
        "fn" => format!("// More than {MAX_FUNCTION_LINES} lines: "),
        _ => format!("// More than {MAX_FIELDS} fields: "),
    };
    let above = lines[..at].iter().rev().map(|line| line.trim_start());
    let mut above = above.take_while(|line| !line.is_empty() && *line != "}" && *line != "{");
    above.any(|line| line.starts_with(&comment) || line.contains("clippy::too_many_lines"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_long_functions_structs_and_files() {
        let long = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(79));
        let faults = faults_of(Path::new("x.rs"), &long);
        assert_eq!(faults, ["x.rs:1: function a has 81 lines, more than 80"]);
        let fields = "    pub(crate) field_1: u8,\n".repeat(13);
        let wide = format!("/// Doc: it.\npub struct Wide {{\n{fields}}}\n");
        let faults = faults_of(Path::new("x.rs"), &wide);
        assert_eq!(faults, ["x.rs:2: struct Wide has 13 fields, more than 12"]);
        let faults = faults_of(Path::new("x.rs"), &"//\n".repeat(451));
        assert_eq!(faults, ["x.rs has 451 lines without tests, more than 450"]);
    }

    #[test]
    fn accepts_reasons_and_does_not_measure_tests() {
        let body = "    b();\n".repeat(79);
        let reason =
            format!("// More than 80 lines: one step after another.\nfn a() {{\n{body}}}\n");
        assert!(faults_of(Path::new("x.rs"), &reason).is_empty());
        let tests = format!("#[cfg(test)]\nmod tests {{\n    fn a() {{\n{body}    }}\n}}\n");
        assert!(faults_of(Path::new("x.rs"), &tests).is_empty());
        let table = format!("//! A table of rules.\n{}", "//\n".repeat(451));
        assert!(faults_of(Path::new("x.rs"), &table).is_empty());
    }
}
