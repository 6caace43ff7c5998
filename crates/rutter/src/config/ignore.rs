//! The setting `ignore` of `[check]`: findings that `rutter check` ignores.

use crate::commands::check::parse_selector;
use crate::config::table::fields::TableFields;
use crate::config::table::form::{FieldForm, TableForm};
use crate::config::table::{TableRow, named_parts};
use crate::config::value::InvalidValue;

/// Selects findings to ignore: by their rules, by the paths of their files, or by both.
#[derive(Debug, Clone, Default)]
pub(crate) struct IgnoreRule {
    pub(crate) rules: Vec<String>,
    pub(crate) paths: Vec<String>,
}

impl IgnoreRule {
    /// Formats the rules and paths, such as `SX029, HT013 in drafts/`.
    pub(crate) fn shown(&self) -> String {
        let paths = rutter_finding::visible(&self.paths.join(", "));
        match (self.rules.join(", "), paths) {
            (rules, paths) if paths.is_empty() => rules,
            (rules, paths) if rules.is_empty() => paths,
            (rules, paths) => format!("{rules} in {paths}"),
        }
    }
}

impl TableRow for IgnoreRule {
    const FORM: &'static TableForm = &TableForm {
        what: "an ignore",
        members: &[
            FieldForm::texts(
                "rules",
                "Codes or names of rules, or layers such as SC; default: all rules",
            ),
            FieldForm::texts(
                "paths",
                "Files or pages; `*` matches within a path segment, `**` across; default: all",
            ),
            FieldForm::text("reason", "Reason, for readers of the file"),
        ],
        placeholder: "",
        example: (r#"{ rules = ["SX029"], paths = ["blog/**"], reason = "no DOI yet" }"#, ""),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let rules = parts.placed_texts("rules");
        for (rule, span) in &rules {
            if let Err(what) = parse_selector(rule) {
                let what = format!("{}: {what}", rutter_finding::quoted(rule));
                return Err(InvalidValue { what, span: Some(span.clone()), hint: None });
            }
        }
        let rules: Vec<String> = rules.into_iter().map(|(rule, _)| rule).collect();
        let paths = parts.texts("paths");
        if rules.is_empty() && paths.is_empty() {
            return Err("an ignore needs `rules` or `paths`".to_owned().into());
        }
        Ok(Self { rules, paths })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        named_parts(Self::FORM, text)
    }
}
