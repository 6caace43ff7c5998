//! `ignore` of `[check]`: findings that are not spoken of.

use crate::commands::check::parse_selector;
use crate::config::table::{Form, Kind, Member, Parts, Row, named_parts};
use crate::config::value::Wrong;

/// Findings of some rules, of some files, or of some rules in some files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignore {
    pub(crate) rules: Vec<String>,
    pub(crate) paths: Vec<String>,
}

impl Ignore {
    /// `SX029, HT013 in drafts/`
    pub(crate) fn shown(&self) -> String {
        let paths = rutter_finding::visible(&self.paths.join(", "));
        match (self.rules.join(", "), paths) {
            (rules, paths) if paths.is_empty() => rules,
            (rules, paths) if rules.is_empty() => paths,
            (rules, paths) => format!("{rules} in {paths}"),
        }
    }
}

impl Row for Ignore {
    const FORM: &'static Form = &Form {
        what: "an ignore",
        members: &[
            Member {
                name: "rules",
                kind: Kind::Texts,
                is_needed: false,
                about: "Codes or names of rules, or layers such as SC; all when left out",
            },
            Member {
                name: "paths",
                kind: Kind::Texts,
                is_needed: false,
                about: "Files or pages; * within a segment, ** across; all when left out",
            },
            Member {
                name: "reason",
                kind: Kind::Text(""),
                is_needed: false,
                about: "Why, for whoever reads the file",
            },
        ],
        placeholder: "",
        example: (r#"{ rules = ["SX029"], paths = ["blog/**"], reason = "no DOI yet" }"#, ""),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let rules = parts.placed_texts("rules");
        for (rule, span) in &rules {
            if let Err(what) = parse_selector(rule) {
                let what = format!("{}: {what}", rutter_finding::quoted(rule));
                return Err(Wrong { what, span: Some(span.clone()), hint: None });
            }
        }
        let rules: Vec<String> = rules.into_iter().map(|(rule, _)| rule).collect();
        let paths = parts.texts("paths");
        if rules.is_empty() && paths.is_empty() {
            return Err("an ignore names rules or paths".to_owned().into());
        }
        Ok(Self { rules, paths })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        named_parts(Self::FORM, text)
    }
}
