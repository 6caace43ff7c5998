//! Descriptions of the keys of a table: the documentation and the JSON Schema come from them.

use std::fmt::Write as _;

use serde_json::{Map, json};

use crate::config::similarity::nearest;
use crate::config::table::fields::TableFields;
use crate::config::value::{ValueType, choices};

/// Description of a setting that is a list of tables.
#[derive(Debug)]
pub(crate) struct TableForm {
    /// Noun for one table of the list, with its article, such as `a section`.
    pub(crate) what: &'static str,
    pub(crate) members: &'static [FieldForm],
    /// Syntax of one table in a variable or a flag; empty if only the settings file can contain
    /// such tables.
    pub(crate) placeholder: &'static str,
    /// An example table in TOML, and the same table in the syntax of `placeholder`.
    pub(crate) example: (&'static str, &'static str),
}

/// Description of one key of a table.
#[derive(Debug)]
pub(crate) struct FieldForm {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldType,
    pub(crate) is_needed: bool,
    pub(crate) about: &'static str,
}

/// Type of the value of a key of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldType {
    /// A text that matches a pattern of JSON Schema; an empty pattern matches all.
    Text(&'static str),
    /// A number from 0 to 1.
    Share,
    Texts,
    /// A text, or a list of texts.
    TextOrTexts,
    Switch,
    Choice(fn() -> Vec<&'static str>),
    Rows(&'static TableForm),
}

impl FieldForm {
    /// Describes an optional key.
    pub(crate) const fn new(name: &'static str, kind: FieldType, about: &'static str) -> Self {
        Self { name, kind, is_needed: false, about }
    }

    /// Describes an optional key whose value is any text.
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, FieldType::Text(""), about)
    }

    /// Describes an optional key whose value is a list of texts.
    pub(crate) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self::new(name, FieldType::Texts, about)
    }

    /// Makes the key required.
    pub(crate) const fn required(self) -> Self {
        Self { is_needed: true, ..self }
    }
}

impl TableForm {
    /// Returns the name of the list, for messages and documentation.
    pub(crate) fn name(&self) -> String {
        format!("tables with {}", listed(self.members.iter(), ""))
    }

    /// Returns the JSON Schema of the list.
    pub(crate) fn schema(&self) -> serde_json::Value {
        json!({ "type": "array", "items": self.item_schema() })
    }

    /// Returns the JSON Schema of one table.
    pub(crate) fn item_schema(&self) -> serde_json::Value {
        let mut properties = Map::new();
        for member in self.members {
            let mut schema = match member.kind {
                FieldType::Text("") => json!({ "type": "string" }),
                FieldType::Text(pattern) => json!({ "type": "string", "pattern": pattern }),
                FieldType::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
                FieldType::Texts => ValueType::Texts.schema(),
                FieldType::TextOrTexts => ValueType::TextOrTexts.schema(),
                FieldType::Switch => json!({ "type": "boolean" }),
                FieldType::Choice(names) => json!({ "enum": names() }),
                FieldType::Rows(form) => form.schema(),
            };
            schema["description"] = member.about.into();
            properties.insert(member.name.to_owned(), schema);
        }
        let needed: Vec<&str> = self.needed().map(|member| member.name).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": false,
        })
    }

    /// Returns the rows of a Markdown table: key, value and description.
    pub(crate) fn rows(&self, whose: &str) -> String {
        let mut text = String::new();
        for member in self.members {
            let kind = match member.kind {
                FieldType::Text(_) => "text".to_owned(),
                FieldType::Share => "number from 0 to 1".to_owned(),
                FieldType::Texts => ValueType::Texts.name(),
                FieldType::TextOrTexts => ValueType::TextOrTexts.name(),
                FieldType::Switch => "true or false".to_owned(),
                FieldType::Choice(names) => choices(&names()),
                FieldType::Rows(_) => "tables".to_owned(),
            };
            let needed = if member.is_needed { ", required" } else { "" };
            let (name, about) = (member.name, member.about);
            let _ = writeln!(text, "| `{whose}{name}` | {kind}{needed} | {about} |");
        }
        text
    }

    fn needed(&self) -> impl Iterator<Item = &'static FieldForm> {
        self.members.iter().filter(|member| member.is_needed)
    }

    pub(super) fn member(&self, name: &str) -> Option<&'static FieldForm> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns a hint with the key that is most similar to an unknown name.
    pub(super) fn hint(&self, name: &str) -> Option<String> {
        let near = nearest(name, self.members.iter().map(|member| member.name))?;
        Some(format!("did you mean `{near}`?"))
    }

    pub(super) fn unknown(&self, name: &str) -> String {
        format!("unknown key `{}` of {}", rutter_finding::visible(name), self.what)
    }

    pub(super) fn check(&self, parts: &TableFields) -> Result<(), String> {
        let is_there = |member: &&FieldForm| parts.has(member.name);
        let Some(missing) = self.needed().find(|member| !is_there(member)) else { return Ok(()) };
        let has = listed(self.needed(), "a ");
        if self.needed().count() < 3 {
            return Err(format!("{} needs {has}", self.what));
        }
        Err(format!("{} needs `{}`: {}", self.what, missing.name, missing.about))
    }
}

/// Joins the names of keys to a list such as: `a`, `b` and `c`. Each name follows the article.
fn listed(members: impl Iterator<Item = &'static FieldForm>, article: &str) -> String {
    let names: Vec<String> = members.map(|member| format!("{article}`{}`", member.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
