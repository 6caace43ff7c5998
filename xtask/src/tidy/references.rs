//! Checks that every id and path that text names is defined in the repository.
//!
//! Ids are those of decisions (`docs/decisions.md`), faults and promises (`docs/reliability.md`),
//! clauses (`conformance/requirements.tsv`) and rules (`docs/rules.md`). Paths are those of this
//! repository, and links of Markdown files with their anchors.
//! Input: comments of Rust files, Markdown, clause lists of vectors. Output: one fault per place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;

use super::rust_source::{PieceKind, pieces};
use super::{glob, relative};

const EXCEPTIONS: &str = "xtask/data/reference-exceptions.txt";
/// Folders whose names begin a path of this repository.
const FOLDERS: [&str; 8] =
    ["crates/", "docs/", "conformance/", "benches/", "training/", "examples/", "xtask/", "fuzz/"];
/// Files that are no text of this project, or lists of its own.
const FOREIGN: [&str; 7] = [
    "examples/harbour/**",
    "crates/*/corpus/**",
    "crates/*/fixtures/**",
    "crates/*/tests/fixtures/**",
    "conformance/vectors/*/files/**",
    "xtask/generators/**",
    "xtask/src/tidy/**",
];

/// Everything that text may name.
#[derive(Debug, Default)]
struct KnownIds {
    ids: BTreeSet<String>,
    /// Prefixes of rule codes, such as `SC`.
    rule_prefixes: BTreeSet<String>,
    exceptions: BTreeSet<String>,
}

/// Adds a fault for each id and path without definition.
pub(super) fn check(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let read = |name: &str| fs::read_to_string(crate::root().join(name)).context(name.to_owned());
    let definitions = KnownIds::new(
        &read("docs/decisions.md")?,
        &read("docs/reliability.md")?,
        &read("conformance/requirements.tsv")?,
        &read("docs/rules.md")?,
        &read(EXCEPTIONS)?,
    );
    let exists = |path: &str| crate::root().join(path).exists();
    for ending in ["rs", "md"] {
        for path in super::files(ending)? {
            let name = relative(&path);
            if FOREIGN.iter().any(|pattern| glob::matches(pattern, &name)) {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let lines = if ending == "md" { markdown_lines(&text) } else { comment_lines(&text) };
            for (line, text) in lines {
                let undefined = definitions.undefined_ids(text);
                let missing = definitions.missing_paths(text, exists);
                // Markdown files use names of the pages of examples.
                let is_rust = ending == "rs";
                let documents = is_rust.then(|| definitions.missing_documents(text, exists));
                let all =
                    undefined.into_iter().chain(missing).chain(documents.into_iter().flatten());
                faults.extend(all.map(|it| format!("{name}:{line}: `{it}` is not defined")));
            }
        }
    }
    vectors(&definitions, faults)?;
    links(faults)
}

/// Checks the `clauses` of conformance vectors.
fn vectors(definitions: &KnownIds, faults: &mut Vec<String>) -> anyhow::Result<()> {
    for path in super::files("json")? {
        let name = relative(&path);
        if !glob::matches("conformance/vectors/**.expect.json", &name) {
            continue;
        }
        let case: serde_json::Value =
            serde_json::from_slice(&fs::read(&path)?).context(name.clone())?;
        let clauses = case.get("clauses").and_then(|it| it.as_array());
        for clause in clauses.into_iter().flatten().filter_map(|it| it.as_str()) {
            if !definitions.ids.contains(clause) {
                faults.push(format!("{name}: `{clause}` is not defined"));
            }
        }
    }
    Ok(())
}

/// Checks links between Markdown files, with their anchors.
fn links(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let mut texts = BTreeMap::new();
    for path in super::files("md")? {
        let name = relative(&path);
        if !FOREIGN.iter().any(|pattern| glob::matches(pattern, &name)) {
            texts.insert(name, fs::read_to_string(&path)?);
        }
    }
    for (name, text) in &texts {
        for (line, target) in link_targets(text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(file) = resolve(name, file) else {
                faults.push(format!("{name}:{line}: link `{target}` leaves the repository"));
                continue;
            };
            let is_known = match (texts.get(&file), anchor) {
                (Some(text), anchor) => anchor.is_empty() || anchors(text).contains(anchor),
                (None, _) => crate::root().join(&file).exists(),
            };
            if !is_known {
                faults.push(format!("{name}:{line}: link `{target}` has no target"));
            }
        }
    }
    Ok(())
}

impl KnownIds {
    fn new(decisions: &str, faults: &str, clauses: &str, rules: &str, exceptions: &str) -> Self {
        let mut this = Self::default();
        for line in decisions.lines().filter_map(|line| line.strip_prefix("### ")) {
            this.ids.extend(line.split_once(':').map(|(id, _)| id.to_owned()));
        }
        for line in faults.lines().filter_map(|line| line.strip_prefix("| ")) {
            this.ids.extend(line.split_once(" |").map(|(id, _)| id.to_owned()));
        }
        for line in clauses.lines().skip(1) {
            this.ids.extend(line.split_once('\t').map(|(id, _)| id.to_owned()));
        }
        for line in rules.lines().filter_map(|line| line.strip_prefix("### ")) {
            let code = line.split(' ').next().unwrap_or_default();
            this.rule_prefixes.extend(code.get(..2).map(str::to_owned));
            this.ids.insert(code.to_owned());
        }
        let lines = exceptions.lines().filter(|line| !line.starts_with('#'));
        this.exceptions = lines.map(str::to_owned).collect();
        this
    }

    /// Words of `text` that have the form of an id and no definition.
    fn undefined_ids<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+');
        text.split(|c| !is_part(c))
            .filter(|word| self.is_id(word) && !self.ids.contains(*word))
            .filter(|word| !self.exceptions.contains(*word))
            .collect()
    }

    fn is_id(&self, word: &str) -> bool {
        let digits_at = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
        let (start, digits) = word.split_at(digits_at);
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        match (start, digits.len()) {
            ("A" | "B" | "C" | "D" | "E" | "F" | "G" | "N", 2) | ("K", 1) => true,
            ("SCP-" | "ARC-" | "SPX-", 3) => true,
            (prefix, 3) => self.rule_prefixes.contains(prefix),
            _ => false,
        }
    }

    /// Paths of this repository in `text` that do not exist.
    fn missing_paths<'t>(&self, text: &'t str, exists: impl Fn(&str) -> bool) -> Vec<&'t str> {
        let is_end = |c: char| c.is_whitespace() || "`\"'()[]|,;".contains(c);
        text.split(is_end)
            .map(|word| word.trim_end_matches(['.', ':', '…']))
            .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
            .map(|word| word.split_once(['#', ':']).map_or(word, |(path, _)| path))
            .filter(|word| !word.contains(['*', '<', '{', '$', '…', '\\', '=', '?']))
            .filter(|word| !word.chars().any(char::is_uppercase) || word.contains(".md"))
            .filter(|word| !exists(word) && !self.exceptions.contains(*word))
            .collect()
    }

    /// Names of Markdown files in a comment that are neither at the root nor in `docs/`.
    fn missing_documents<'t>(&self, text: &'t str, exists: impl Fn(&str) -> bool) -> Vec<&'t str> {
        text.split(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_' | '/' | '{' | '*')
        })
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| is_markdown(word) && !word.contains(['/', '{', '*']) && 3 < word.len())
        .filter(|word| !exists(word) && !exists(&format!("docs/{word}")))
        .filter(|word| !self.exceptions.contains(*word))
        .collect()
    }
}

/// Lines of the comments of a Rust file.
fn comment_lines(source: &str) -> Vec<(usize, &str)> {
    let comments = pieces(source).into_iter().filter(|piece| piece.kind == PieceKind::Comment);
    comments
        .flat_map(|piece| {
            let start = piece.line;
            piece.text.lines().enumerate().map(move |(at, line)| (start + at, line))
        })
        .collect()
}

/// Lines of a Markdown file outside fenced code.
fn markdown_lines(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let lines = text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.map(|(at, line)| (at + 1, line)).collect()
}

/// Targets of links in Markdown that lead to files.
fn link_targets(text: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    for (line, text) in markdown_lines(text) {
        // What stands in backticks is no link.
        for outside in text.split('`').step_by(2) {
            for (at, _) in outside.match_indices("](") {
                let rest = outside.get(at + 2..).unwrap_or_default();
                let target = rest.split([')', ' ']).next().unwrap_or_default();
                if !target.is_empty() && !target.contains(':') {
                    targets.push((line, target));
                }
            }
        }
    }
    targets
}

/// The path that a link of `from` leads to.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = Path::new(from).parent()?.to_str()?.split('/').collect();
    parts.retain(|part| !part.is_empty());
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Anchors of the headings of a Markdown file, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in markdown_lines(text) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim())
        else {
            continue;
        };
        let anchor: String = title
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        anchors.insert(anchor);
    }
    anchors
}

/// Returns whether a word is the name of a Markdown file.
fn is_markdown(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(_, ending)| ending == "md")
}

#[cfg(test)]
mod tests {
    use super::{KnownIds, anchors, comment_lines, link_targets, resolve};

    fn definitions() -> KnownIds {
        KnownIds::new(
            "### D01: the checksum\n",
            "| A01 | an empty file | rejected |\n",
            "id\tlevel\nSCP-001\tMUST\n",
            "### SC001 empty-file\n",
            "# remark\nF16\ndocs/intro.md\n",
        )
    }

    #[test]
    fn reports_planted_ids_without_definition() {
        let text = "// D01 D96, A01 A99; SCP-001 SCP-999, SC001 SC999";
        assert_eq!(definitions().undefined_ids(text), ["D96", "A99", "SCP-999", "SC999"]);
    }

    #[test]
    fn ignores_words_that_are_no_ids() {
        assert_eq!(definitions().undefined_ids("U+D800 F1 2026-W01 T12:00 F16 XX999 A4"), [""; 0]);
    }

    #[test]
    fn reports_a_planted_path_that_does_not_exist() {
        let text = "see `docs/lost.md` and docs/scp.md, docs/intro.md, crates/*/src, a docs/";
        let missing =
            definitions().missing_paths(text, |path| matches!(path, "docs/scp.md" | "docs/"));
        assert_eq!(missing, ["docs/lost.md"]);
    }

    #[test]
    fn reports_a_planted_document_that_does_not_exist() {
        let text = "// see lost.md, guide.md and a/b.md; F16.md";
        let missing = definitions().missing_documents(text, |path| path == "docs/guide.md");
        assert_eq!(missing, ["lost.md", "F16.md"]);
    }

    #[test]
    fn reads_comments_only() {
        let source = "let a = \"D96\"; // D97\n/* D98\nD99 */";
        let lines: Vec<_> = comment_lines(source);
        assert_eq!(lines, [(1, "// D97"), (2, "/* D98"), (3, "D99 */")]);
    }

    #[test]
    fn finds_links_and_their_targets() {
        let text = "[a](b.md#c) `[d](e.md)` [f](https://g.example)\n```\n[h](i.md)\n```\n[j](../k)";
        assert_eq!(link_targets(text), [(1, "b.md#c"), (5, "../k")]);
        assert_eq!(resolve("docs/a.md", "../b.md"), Some("b.md".to_owned()));
        assert_eq!(resolve("a.md", "../b.md"), None);
    }

    #[test]
    fn makes_anchors_of_headings() {
        let anchors = anchors("# D01: the `.gz` file\n## What is sent\n");
        assert!(anchors.contains("d01-the-gz-file") && anchors.contains("what-is-sent"));
    }
}
