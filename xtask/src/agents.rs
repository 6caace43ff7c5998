//! Writes the table of AI agents from the list of ai.robots.txt: names, operators, purposes.
//!
//! Input: `robots.json`. Output: `crates/rutter-logs/src/agents.txt`. Rejects cells with tabs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::root;

const TABLE: &str = "crates/rutter-logs/src/agents.txt";

/// Names that are ordinary words, or so short that other names contain them; they count only with
/// a version, outside comments.
const WORDS: [&str; 9] =
    ["Code", "Cursor", "Devin", "LCC", "Operator", "Spider", "Trae", "YaK", "newsai"];

/// Operators that the list does not name by their name.
const OPERATORS: [(&str, &str); 4] = [
    ("https://safe.search.brave.com", "Brave"),
    ("https://brightdata.com", "Bright Data"),
    ("the Chinese company Huawei", "Huawei"),
    ("Anyone who", ""),
];

/// Reads `robots.json` and writes the table. The commit it is from is the
/// second argument, or in the MANIFEST.md of the folder above.
pub(crate) fn run(file: &str, commit: Option<&str>) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
    let list: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(&text)?;
    let commit = match commit {
        Some(commit) => commit.to_owned(),
        None => manifest(Path::new(file)).context("no commit given, and none in MANIFEST.md")?,
    };
    let mut agents: BTreeMap<String, [String; 3]> = BTreeMap::new();
    for (name, facts) in &list {
        let fact = |key: &str| facts.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = bare(name);
        let row =
            [name.to_owned(), purpose(fact("function")).to_owned(), operator(fact("operator"))];
        ensure!(row.iter().all(|cell| !cell.contains(['\t', '\n'])), "{name}: a tab");
        // Of two spellings, the one with more information.
        let known = |row: &[String; 3]| (row[2] != "-", row[1] != "other");
        let old = agents.get(&name.to_lowercase());
        if old.is_none_or(|old| known(old) < known(&row)) {
            agents.insert(name.to_lowercase(), row);
        }
    }
    let mut out = format!(
        "# AI agents: name, purpose, operator; `!` marks names that are words.\n\
         # From ai-robots-txt/ai.robots.txt {commit}, by `cargo xtask agents`.\n"
    );
    for row in agents.values() {
        let mark = if WORDS.contains(&row[0].as_str()) { "!" } else { "" };
        out.push_str(mark);
        out.push_str(&row.join("\t"));
        out.push('\n');
    }
    fs::write(root().join(TABLE), out)?;
    println!("{TABLE}: {} agents of {} names", agents.len(), list.len());
    Ok(())
}

/// Returns the commit that the manifest names for this file.
fn manifest(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let row = format!("| {}/robots.json |", folder.file_name()?.to_str()?);
    let text = fs::read_to_string(folder.parent()?.join("MANIFEST.md")).ok()?;
    let line = text.lines().find(|line| line.starts_with(&row))?;
    let cell = line.split('|').nth(3)?;
    cell.split_whitespace().last().map(str::to_owned)
}

/// Returns a name without its version.
fn bare(name: &str) -> &str {
    let name = name.split('/').next().unwrap_or(name);
    match name.rsplit_once(' ') {
        Some((bare, last)) if last.chars().all(|c| c.is_ascii_digit() || c == '.') => bare,
        _ => name,
    }
}

/// Returns the purpose of an agent in one word.
fn purpose(text: &str) -> &'static str {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match text.as_str() {
        "ai assistants" => return "assistant",
        "ai agents" => return "agent",
        "ai coding agents" => return "coding",
        "ai data providers" => return "data",
        "ai data scrapers" | "ai data scraper" => return "training",
        "undocumented ai agents" | "unclear at this time." => return "other",
        _ => {}
    }
    if text.replace("research", "").contains("search") {
        "search"
    } else if has(&["train", "llm", "language model", "machine learning", "ai model"]) {
        "training"
    } else if has(&["assistant", "answer", "prompt"]) {
        "assistant"
    } else if has(&["scrap", "data", "collect"]) {
        "data"
    } else {
        "other"
    }
}

/// Returns the name of the operator, without links and sentences.
fn operator(text: &str) -> String {
    if let Some((_, name)) = OPERATORS.iter().find(|(start, _)| text.starts_with(start)) {
        return if name.is_empty() { "-".to_owned() } else { (*name).to_owned() };
    }
    let text = text.trim_start_matches('[');
    let text = text.split(']').next().unwrap_or(text);
    let end =
        [" that ", ", ", " to ", " (", " for "].iter().filter_map(|word| text.find(word)).min();
    let name = text.get(..end.unwrap_or(text.len())).unwrap_or(text).trim();
    let is_known = !name.starts_with("Unclear") && !name.starts_with("Unknown") && !name.is_empty();
    if is_known { name.to_owned() } else { "-".to_owned() }
}
