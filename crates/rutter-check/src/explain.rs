//! A wrong and a right example for every rule, as data: `explain/XX.txt` holds
//! those of a layer.
//!
//! `## CODE` begins a rule, `wrong` and `right` begin its examples, and what is
//! indented by four spaces is the example. Behind `wrong` stands where it was
//! taken from: a file, or a part of one, such as `page in all.scp`; nothing
//! where the example is words. The tests judge examples that are of one file:
//! the wrong one breaks the rule, the right one does not.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The files, by layer.
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

/// What breaks a rule, and what does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// Where both were taken from; empty where they are words.
    pub place: &'static str,
    /// What breaks the rule.
    pub wrong: String,
    /// What does not.
    pub right: String,
}

impl Example {
    /// Both examples as Markdown, with an empty line behind.
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

/// The example of a rule, by its code.
pub fn example(code: &str) -> Option<&'static Example> {
    all().get(code)
}

/// Layers whose examples are judged wherever they are not words.
const JUDGED: [&str; 7] = ["RB", "LL", "SM", "SC", "AR", "SX", "HT"];

/// Tells whether the example of a rule is a file, or a part of one, that shows
/// the rule broken by itself; the tests judge it then.
///
/// Rules about a whole site need more than one file: the suite of small sites
/// in `conformance/vectors/spxi` judges them. Annotations are judged by the
/// tests of `rutter-arc`.
pub fn is_judged(code: &str) -> bool {
    let Some((layer, number)) = code.split_at_checked(2) else { return false };
    let needs_more = match (layer, number.parse()) {
        ("SX", Ok(90..=109)) | ("AR", Ok(90_u32..)) => true,
        (_, number) => number.is_err(),
    };
    let is_file = example(code).is_some_and(|example| !example.place.is_empty());
    is_file && JUDGED.contains(&layer) && !needs_more
}

/// All examples by code.
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

/// Lines of the files that mean nothing, for the test that wants none.
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
    fn ours_every_line_of_the_examples_means_something() {
        assert_eq!(stray(), Vec::<String>::new());
        for (layer, text) in FAMILIES {
            assert!(LAYERS.iter().any(|(code, _)| *code == layer), "{layer}");
            for code in read(text).keys() {
                assert!(code.starts_with(layer), "{code} does not belong to {layer}");
            }
        }
    }

    #[test]
    fn ours_an_example_is_read_and_shown() {
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
