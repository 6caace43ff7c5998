//! Looks for banned words in all text files of the repository.
//!
//! Input: `xtask/data/banned-words.txt` and the text files. Output: one fault for each place.
//! A phrase is found across a line end, also in comments of several lines.

use std::fs;

use anyhow::Context;

use super::{glob, relative};

const LIST: &str = "xtask/data/banned-words.txt";
const ENDINGS: [&str; 13] =
    ["rs", "md", "toml", "py", "tsv", "txt", "console", "yml", "yaml", "mjs", "sh", "html", "css"];

/// The banned words, and patterns of files that may contain them.
#[derive(Debug, Default)]
struct WordList {
    /// In lower case.
    words: Vec<String>,
    /// Patterns of paths; with a text, only lines that contain it are excepted.
    exceptions: Vec<(String, Option<String>)>,
}

/// Adds a fault for each banned word in a text file.
pub(super) fn check(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let text = fs::read_to_string(crate::root().join(LIST)).context(LIST)?;
    let list = WordList::parse(&text);
    for ending in ENDINGS {
        for path in super::files(ending)? {
            let name = relative(&path);
            if list.is_excepted(&name, None) {
                continue;
            }
            // Some fixtures are not UTF-8; they are text of others.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            for (line, word) in list.find(&text) {
                let content = text.lines().nth(line - 1).unwrap_or_default();
                if !list.is_excepted(&name, Some(content)) {
                    faults.push(format!("{name}:{line}: `{word}`"));
                }
            }
        }
    }
    Ok(())
}

impl WordList {
    fn parse(text: &str) -> Self {
        let mut list = Self::default();
        let mut is_exception = false;
        for line in text.lines().map(str::trim) {
            match line {
                "" => {}
                "[except]" => is_exception = true,
                comment if comment.starts_with('#') => {}
                exception if is_exception => {
                    let (pattern, text) = exception
                        .split_once(' ')
                        .map_or((exception, None), |(pattern, text)| (pattern, Some(text)));
                    list.exceptions.push((pattern.to_owned(), text.map(str::to_owned)));
                }
                word => list.words.push(word.to_lowercase()),
            }
        }
        list
    }

    /// Returns whether a file, or a line of it, may contain banned words.
    fn is_excepted(&self, name: &str, line: Option<&str>) -> bool {
        self.exceptions.iter().any(|(pattern, text)| {
            let has_text = match (text, line) {
                (None, _) => true,
                (Some(text), Some(line)) => line.contains(text.as_str()),
                (Some(_), None) => false,
            };
            has_text && glob::matches(pattern, name)
        })
    }

    /// Lines and banned words of `text`, in order.
    fn find(&self, text: &str) -> Vec<(usize, &str)> {
        let (flat, line_starts) = flatten(text);
        let mut found = Vec::new();
        for word in &self.words {
            for (at, _) in flat.match_indices(word.as_str()) {
                let before = flat.get(..at).and_then(|it| it.chars().next_back());
                let after = flat.get(at + word.len()..).and_then(|it| it.chars().next());
                let is_letter =
                    |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
                if !is_letter(before) && !is_letter(after) {
                    let line = line_starts.partition_point(|start| *start <= at);
                    found.push((line, word.as_str()));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// `text` in lower case on one line without comment marks, and where each line begins in it.
fn flatten(text: &str) -> (String, Vec<usize>) {
    let (mut flat, mut starts) = (String::with_capacity(text.len()), Vec::new());
    for line in text.lines() {
        starts.push(flat.len());
        let line = line.trim_start();
        let marks = ["//!", "///", "//", "# "];
        let mark = marks.into_iter().find(|mark| line.starts_with(mark)).unwrap_or_default();
        flat.push_str(&line.get(mark.len()..).unwrap_or(line).trim().to_lowercase());
        flat.push(' ');
    }
    (flat, starts)
}

#[cfg(test)]
mod tests {
    use super::WordList;

    fn list() -> WordList {
        WordList::parse("# remark\nwhoever\nis told\n\n[except]\nSTYLE.md\n")
    }

    #[test]
    fn finds_planted_words_with_their_lines() {
        let text = "fine\n// Whoever reads this\nlet a = \"it is told\";\n";
        assert_eq!(list().find(text), [(2, "whoever"), (3, "is told")]);
    }

    #[test]
    fn finds_a_phrase_across_comment_lines() {
        assert_eq!(list().find("/// The caller is\n/// told so."), [(1, "is told")]);
    }

    #[test]
    fn ignores_parts_of_longer_words() {
        assert_eq!(list().find("this toldo, nowhoever, whoever_else"), []);
    }

    #[test]
    fn reads_exceptions() {
        let list = WordList::parse("whoever\n[except]\nSTYLE.md\na.py x-whoever\n");
        assert!(list.is_excepted("STYLE.md", None));
        assert!(!list.is_excepted("a.py", None));
        assert!(list.is_excepted("a.py", Some("tag = x-whoever")));
        assert!(!list.is_excepted("a.py", Some("whoever")));
    }
}
