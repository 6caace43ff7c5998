//! A wrong and a right example for every rule.
//!
//! The examples of each layer are in `explain/XX.txt`. `## CODE` begins the examples of a rule,
//! `wrong` and `right` begin the two examples, and lines indented by four spaces are their text. A
//! file name or a part of a file may follow `wrong`, for example `page in all.scp`; without a file
//! name, both examples are prose. The tests check examples of a single file: the wrong example must
//! break the rule, and the right example must not.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The example files by layer code.
const FAMILIES: [(&str, &str); 14] = [
    ("AR", include_str!("explain/AR.txt")),
    ("BD", include_str!("explain/BD.txt")),
    ("DC", include_str!("explain/DC.txt")),
    ("HP", include_str!("explain/HP.txt")),
    ("HT", include_str!("explain/HT.txt")),
    ("LG", include_str!("explain/LG.txt")),
    ("LL", include_str!("explain/LL.txt")),
    ("RB", include_str!("explain/RB.txt")),
    ("SC", include_str!("explain/SC.txt")),
    ("SE", include_str!("explain/SE.txt")),
    ("SM", include_str!("explain/SM.txt")),
    ("SV", include_str!("explain/SV.txt")),
    ("SX", include_str!("explain/SX.txt")),
    ("XL", include_str!("explain/XL.txt")),
];

/// A wrong and a right example of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// The file, or the part of a file, that both examples show; empty for prose.
    pub place: &'static str,
    /// The example that breaks the rule.
    pub wrong: String,
    /// The example that follows the rule.
    pub right: String,
}

impl Example {
    /// Returns both examples as Markdown with a final empty line.
    pub fn to_markdown(&self) -> String {
        let place = match self.place.rsplit_once(' ') {
            None if self.place.is_empty() => String::new(),
            None => format!(" (`{}`)", self.place),
            Some((part, file)) => format!(" ({part} `{file}`)"),
        };
        let fenced = |text: &str| {
            if self.place.is_empty() {
                format!("{text}\n\n")
            } else {
                format!("```text\n{text}\n```\n\n")
            }
        };
        format!("Wrong{place}:\n\n{}Right:\n\n{}", fenced(&self.wrong), fenced(&self.right))
    }
}

/// Returns the examples of a rule by the code of the rule.
pub fn example(code: &str) -> Option<&'static Example> {
    all().get(code)
}

/// Layers whose examples the tests check, unless they are prose.
const JUDGED: [&str; 7] = ["RB", "LL", "SM", "SC", "AR", "SX", "HT"];

/// Returns whether the tests check the example of a rule.
///
/// The tests check an example that is a file, or a part of a file, and breaks the rule by itself.
/// Rules about a whole site are tested by the small sites in `conformance/vectors/spxi`, rules
/// about annotations by the tests of `rutter-arc`.
pub fn is_judged(code: &str) -> bool {
    let Some((layer, number)) = code.split_at_checked(2) else { return false };
    let needs_more = match (layer, number.parse()) {
        ("SX", Ok(90..=109)) | ("AR", Ok(90_u32..)) => true,
        (_, number) => number.is_err(),
    };
    let is_file = example(code).is_some_and(|example| !example.place.is_empty());
    is_file && JUDGED.contains(&layer) && !needs_more
}

/// Returns the examples of all rules by code.
pub fn all() -> &'static BTreeMap<&'static str, Example> {
    static ALL: OnceLock<BTreeMap<&'static str, Example>> = OnceLock::new();
    ALL.get_or_init(|| FAMILIES.iter().flat_map(|(_, text)| read(text)).collect())
}

fn read(text: &'static str) -> BTreeMap<&'static str, Example> {
    let mut examples = BTreeMap::new();
    let mut code = "";
    let mut is_right = false;
    for line in text.lines() {
        if let Some(next) = line.strip_prefix("## ") {
            code = next.trim();
            is_right = false;
            examples.insert(code, Example::default());
            continue;
        }
        let Some(example) = examples.get_mut(code) else { continue };
        if let Some(place) = line.strip_prefix("wrong") {
            example.place = place.trim();
        } else if line == "right" {
            is_right = true;
        } else if let Some(line) = line.strip_prefix("    ") {
            let part = if is_right { &mut example.right } else { &mut example.wrong };
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(line);
        }
    }
    examples
}

/// Returns the lines of the example files that do not belong to an example.
#[cfg(test)]
fn stray() -> Vec<String> {
    let is_known = |line: &str| {
        line.is_empty()
            || line.starts_with("# ")
            || line.starts_with("## ")
            || line.starts_with("    ")
            || line == "right"
            || line == "wrong"
            || line.starts_with("wrong ")
    };
    let lines = FAMILIES.iter().flat_map(|(layer, text)| text.lines().map(move |it| (layer, it)));
    lines
        .filter(|(_, line)| !is_known(line))
        .map(|(layer, line)| format!("{layer}: {line}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::LAYERS;

    #[test]
    fn every_line_belongs_to_an_example() {
        assert_eq!(stray(), Vec::<String>::new());
        for (layer, text) in FAMILIES {
            assert!(LAYERS.iter().any(|(code, _)| *code == layer), "{layer}");
            for code in read(text).keys() {
                assert!(code.starts_with(layer), "{code} does not belong to {layer}");
            }
        }
    }

    #[test]
    fn reads_and_formats_an_example() {
        let text = "# A\n\n## RB001\nwrong robots.txt\n    a\n\n    b\nright\n    c\n";
        let example = read(text).remove("RB001").unwrap();
        assert_eq!((example.place, &*example.wrong, &*example.right), ("robots.txt", "a\nb", "c"));
        let shown = example.to_markdown();
        assert_eq!(
            shown,
            "Wrong (`robots.txt`):\n\n```text\na\nb\n```\n\nRight:\n\n```text\nc\n```\n\n"
        );
    }
}
