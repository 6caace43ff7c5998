//! Settings that are lists of tables.
//!
//! Describes the keys of each table, and reads tables from TOML and from the text of a variable or
//! a flag. Rejects unknown keys, missing keys and values of another type.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::ops::Range;

use rutter_arc::CrawlRate;
use rutter_arc::policy::{ApprovedConsumer, PartnerEndpoint};
use rutter_build::SectionRule;
use rutter_page::HttpUrl;
use rutter_scp::is_name;
use serde_json::{Map, json};
use toml::de::{DeTable, DeValue};

use crate::config::similarity::nearest;
use crate::config::value::{ConfigValue, InvalidValue, TomlValue, ValueType, choices, wanted};

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

#[derive(Debug)]
pub(crate) struct FieldForm {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldType,
    pub(crate) is_needed: bool,
    pub(crate) about: &'static str,
}

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

    fn member(&self, name: &str) -> Option<&'static FieldForm> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns a hint with the key that is most similar to an unknown name.
    fn hint(&self, name: &str) -> Option<String> {
        let near = nearest(name, self.members.iter().map(|member| member.name))?;
        Some(format!("did you mean `{near}`?"))
    }

    fn unknown(&self, name: &str) -> String {
        format!("unknown key `{}` of {}", rutter_finding::visible(name), self.what)
    }

    fn check(&self, parts: &TableFields) -> Result<(), String> {
        let is_there = |member: &&FieldForm| parts.0.iter().any(|part| part.name == member.name);
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

/// The values of one table.
#[derive(Debug, Default)]
pub(crate) struct TableFields(Vec<TableField>);

#[derive(Debug)]
struct TableField {
    name: &'static str,
    datum: FieldValue,
    /// Position of the value in the file.
    span: Range<usize>,
}

#[derive(Debug)]
enum FieldValue {
    Text(String),
    Share(f64),
    Texts(Vec<(String, Range<usize>)>),
    Switch(bool),
    Rows(Vec<TableFields>),
}

impl TableFields {
    fn push(&mut self, name: &'static str, datum: FieldValue) {
        self.0.push(TableField { name, datum, span: 0..0 });
    }

    fn take(&mut self, name: &str) -> Option<FieldValue> {
        let at = self.0.iter().position(|part| part.name == name)?;
        Some(self.0.swap_remove(at).datum)
    }

    /// Returns the position of a value in the file.
    pub(crate) fn span(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|part| part.name == name).map(|part| part.span.clone())
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        if let FieldValue::Text(text) = self.take(name)? { Some(text) } else { None }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        self.placed_texts(name).into_iter().map(|(text, _)| text).collect()
    }

    /// Takes a list of texts, each with its position in the file.
    pub(crate) fn placed_texts(&mut self, name: &str) -> Vec<(String, Range<usize>)> {
        if let Some(FieldValue::Texts(texts)) = self.take(name) { texts } else { Vec::new() }
    }

    pub(crate) fn share(&mut self, name: &str) -> Option<f64> {
        if let FieldValue::Share(share) = self.take(name)? { Some(share) } else { None }
    }

    pub(crate) fn switch(&mut self, name: &str) -> Option<bool> {
        if let FieldValue::Switch(switch) = self.take(name)? { Some(switch) } else { None }
    }

    pub(crate) fn rows(&mut self, name: &str) -> Vec<Self> {
        if let Some(FieldValue::Rows(rows)) = self.take(name) { rows } else { Vec::new() }
    }
}

/// A type of which each value is read from one table.
pub(crate) trait TableRow: Sized + 'static {
    const FORM: &'static TableForm;

    /// Reads a table that has all required keys.
    fn from_parts(parts: TableFields) -> Result<Self, InvalidValue>;

    /// Splits the text of a variable or a flag into the values of a table.
    fn parts(text: &str) -> Result<TableFields, String>;

    fn from_text(text: &str) -> Result<Self, String> {
        let parts = Self::parts(text)?;
        Self::FORM.check(&parts)?;
        Self::from_parts(parts).map_err(|wrong| wrong.what)
    }
}

impl<T: TableRow> ConfigValue for Vec<T> {
    const SHAPE: ValueType = ValueType::Tables(T::FORM);

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        let tables = value.get_ref().as_array().ok_or_else(wanted::<Self>)?;
        tables
            .iter()
            .map(|table| {
                let here = |wrong: InvalidValue| InvalidValue {
                    span: wrong.span.or(Some(table.span())),
                    ..wrong
                };
                let row = table.get_ref().as_table().ok_or_else(|| wanted::<Self>().into());
                row.and_then(row_from_toml).map_err(here)
            })
            .collect()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(T::from_text).collect()
    }

    fn from_flag(texts: &[OsString]) -> Result<Self, String> {
        let row = |text: &OsString| T::from_text(text.to_str().ok_or("the value is not UTF-8")?);
        texts.iter().map(row).collect()
    }
}

/// Reads a table of a settings file.
pub(crate) fn row_from_toml<T: TableRow>(table: &DeTable<'_>) -> Result<T, InvalidValue> {
    T::from_parts(parts_from_toml(T::FORM, table)?)
}

fn parts_from_toml(
    form: &'static TableForm,
    table: &DeTable<'_>,
) -> Result<TableFields, InvalidValue> {
    let mut parts = TableFields::default();
    // Read the entries in the order of the file, so that the first error is reported.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        let Some(member) = form.member(name) else {
            let (what, hint) = (form.unknown(name), form.hint(name));
            return Err(InvalidValue { what, span: Some(key.span()), hint });
        };
        let span = value.span();
        let here = |wrong: InvalidValue| {
            let what =
                if wrong.span.is_none() { format!("{name}: {}", wrong.what) } else { wrong.what };
            InvalidValue { what, span: wrong.span.or(Some(span.clone())), ..wrong }
        };
        let datum = datum_from_toml(member.kind, value).map_err(here)?;
        parts.0.push(TableField { name: member.name, datum, span });
    }
    form.check(&parts)?;
    Ok(parts)
}

fn datum_from_toml(kind: FieldType, value: &TomlValue<'_>) -> Result<FieldValue, InvalidValue> {
    match (kind, value.get_ref()) {
        (FieldType::Text(_), _) => Ok(FieldValue::Text(String::from_toml(value)?)),
        (FieldType::TextOrTexts, DeValue::String(text)) => {
            Ok(FieldValue::Texts(vec![(text.to_string(), value.span())]))
        }
        (FieldType::Texts | FieldType::TextOrTexts, DeValue::Array(items)) => {
            let texts = Vec::<String>::from_toml(value)?;
            let spans = items.iter().map(toml::Spanned::span);
            Ok(FieldValue::Texts(texts.into_iter().zip(spans).collect()))
        }
        (FieldType::Texts, _) => Err(wanted::<Vec<String>>().into()),
        (FieldType::TextOrTexts, _) => {
            Err(format!("expected {}", ValueType::TextOrTexts.name()).into())
        }
        (FieldType::Share, DeValue::Float(number)) => Ok(share(number.as_str())?),
        (FieldType::Share, DeValue::Integer(number)) => Ok(share(number.as_str())?),
        (FieldType::Share, _) => Err(SHARE.to_owned().into()),
        (FieldType::Switch, _) => Ok(FieldValue::Switch(bool::from_toml(value)?)),
        (FieldType::Choice(names), DeValue::String(text)) => {
            let (names, text) = (names(), text.as_ref());
            if names.contains(&text) {
                return Ok(FieldValue::Text(text.to_owned()));
            }
            let near = nearest(text, names.iter().copied());
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            Err(InvalidValue { what: format!("expected {}", choices(&names)), span: None, hint })
        }
        (FieldType::Choice(names), _) => Err(format!("expected {}", choices(&names())).into()),
        (FieldType::Rows(form), DeValue::Array(tables)) => {
            let row = |table: &TomlValue<'_>| {
                let inner = table.get_ref().as_table().ok_or_else(|| form.name().into());
                inner.and_then(|inner| parts_from_toml(form, inner)).map_err(
                    |wrong: InvalidValue| InvalidValue {
                        span: wrong.span.or(Some(table.span())),
                        ..wrong
                    },
                )
            };
            Ok(FieldValue::Rows(tables.iter().map(row).collect::<Result<_, _>>()?))
        }
        (FieldType::Rows(form), _) => Err(format!("expected {}", form.name()).into()),
    }
}

const SHARE: &str = "expected number from 0 to 1";

fn share(text: &str) -> Result<FieldValue, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(FieldValue::Share).ok_or_else(|| SHARE.to_owned())
}

/// Splits `FIRST;name=value;name=value`. The first value belongs to the first key of the table.
pub(crate) fn named_parts(form: &TableForm, text: &str) -> Result<TableFields, String> {
    let mut parts = TableFields::default();
    for (idx, part) in text.split(';').enumerate() {
        let (name, value) = match (idx, form.members.first()) {
            (0, Some(first)) => (first.name, part),
            _ => part.split_once('=').ok_or_else(|| format!("expected {}", form.placeholder))?,
        };
        let member = form.member(name.trim()).ok_or_else(|| form.unknown(name))?;
        let value = value.trim();
        let datum = match member.kind {
            FieldType::Text(_) => FieldValue::Text(value.to_owned()),
            FieldType::Share => share(value)?,
            FieldType::Texts | FieldType::TextOrTexts => {
                let texts = value.split('+').map(|it| (it.trim().to_owned(), 0..0));
                FieldValue::Texts(texts.collect())
            }
            FieldType::Switch | FieldType::Choice(_) | FieldType::Rows(_) => {
                return Err(format!("`{}` can be set in a file only", member.name));
            }
        };
        parts.0.retain(|known| known.name != member.name);
        parts.push(member.name, datum);
    }
    Ok(parts)
}

fn check_prefix(whose: &str, prefix: &str) -> Result<(), String> {
    if prefix.starts_with('/') {
        return Ok(());
    }
    Err(format!("{whose}: a prefix must start with a slash, such as /docs/"))
}

impl TableRow for SectionRule {
    const FORM: &'static TableForm = &TableForm {
        what: "a section",
        members: &[
            FieldForm {
                name: "name",
                kind: FieldType::Text("^[A-Za-z0-9_-]{1,255}$"),
                is_needed: true,
                about: "Name of the section",
            },
            FieldForm {
                name: "prefix",
                kind: FieldType::Text("^/"),
                is_needed: true,
                about: "Path prefix of the pages of the section",
            },
        ],
        placeholder: "NAME=PREFIX",
        example: (r#"{ name = "docs", prefix = "/docs/" }"#, "docs=/docs/"),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let name = parts.text("name").unwrap_or_default();
        let prefix = parts.text("prefix").unwrap_or_default();
        if !is_name(&name) {
            let name = rutter_finding::quoted(&name);
            let wanted = "expected letters, digits, hyphens and underscores";
            return Err(format!("section {name}: {wanted}").into());
        }
        if name == "all" {
            return Err("section `all`: the name is reserved for the collection of all pages"
                .to_owned()
                .into());
        }
        check_prefix(&format!("section `{name}`"), &prefix)?;
        Ok(Self { name, prefix })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        let (name, prefix) =
            text.split_once('=').ok_or("expected NAME=PREFIX, such as docs=/docs/")?;
        let mut parts = TableFields::default();
        parts.push("name", FieldValue::Text(name.to_owned()));
        parts.push("prefix", FieldValue::Text(prefix.to_owned()));
        Ok(parts)
    }
}

/// A priority of pages in the ARC sitemap, by path prefix.
#[derive(Debug, Clone)]
pub(crate) struct Priority {
    pub(crate) prefix: String,
    pub(crate) priority: f64,
}

impl TableRow for Priority {
    const FORM: &'static TableForm = &TableForm {
        what: "a priority",
        members: &[
            FieldForm {
                name: "prefix",
                kind: FieldType::Text("^/"),
                is_needed: true,
                about: "Path prefix of the pages",
            },
            FieldForm {
                name: "priority",
                kind: FieldType::Share,
                is_needed: true,
                about: "Priority from 0 to 1; 1 is the most important",
            },
        ],
        placeholder: "PREFIX=NUMBER",
        example: (r#"{ prefix = "/docs/", priority = 0.8 }"#, "/docs/=0.8"),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let prefix = parts.text("prefix").unwrap_or_default();
        check_prefix(&rutter_finding::quoted(&prefix), &prefix)?;
        Ok(Self { prefix, priority: parts.share("priority").unwrap_or_default() })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        // A path may contain an equals sign.
        let (prefix, priority) =
            text.rsplit_once('=').ok_or("expected PREFIX=NUMBER, such as /docs/=0.8")?;
        let mut parts = TableFields::default();
        parts.push("prefix", FieldValue::Text(prefix.trim().to_owned()));
        parts.push("priority", share(priority.trim())?);
        Ok(parts)
    }
}

impl TableRow for PartnerEndpoint {
    const FORM: &'static TableForm = &TableForm {
        what: "an endpoint",
        members: &[
            FieldForm {
                name: "url",
                kind: FieldType::Text("^https?://"),
                is_needed: true,
                about: "URL of the endpoint",
            },
            FieldForm {
                name: "auth",
                kind: FieldType::Text(""),
                is_needed: false,
                about: "Authentication scheme, such as bearer",
            },
            FieldForm {
                name: "rate",
                kind: FieldType::Text(RATE_PATTERN),
                is_needed: false,
                about: "Request rate, such as 10/m",
            },
        ],
        placeholder: "URL;auth=TEXT;rate=RATE",
        example: (
            r#"{ url = "https://www.example.org/api/pages", auth = "bearer", rate = "10/m" }"#,
            "https://www.example.org/api/pages;auth=bearer;rate=10/m",
        ),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let (url, auth) = (parts.text("url").unwrap_or_default(), parts.text("auth"));
        if HttpUrl::parse(url.as_str()).is_err() {
            let url = rutter_finding::quoted(&url);
            return Err(format!("{url} is not an absolute http or https URL").into());
        }
        let rate = parts.text("rate");
        let rate = rate.map(|rate| Rate::from_text(&rate)).transpose()?.map(|rate| rate.0);
        Ok(Self { url, auth, rate })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        named_parts(Self::FORM, text)
    }
}

impl TableRow for ApprovedConsumer {
    const FORM: &'static TableForm = &TableForm {
        what: "a consumer",
        members: &[
            FieldForm { name: "name", kind: FieldType::Text(""), is_needed: true, about: "Name" },
            FieldForm {
                name: "user-agent",
                kind: FieldType::Text(""),
                is_needed: false,
                about: "Product token in the `User-Agent` header of the consumer",
            },
            FieldForm {
                name: "purposes",
                kind: FieldType::Texts,
                is_needed: false,
                about: "Purposes that the consumer may use pages for",
            },
            FieldForm {
                name: "access",
                kind: FieldType::Text(""),
                is_needed: false,
                about: "Content that the consumer may access",
            },
        ],
        placeholder: "NAME;user-agent=TEXT;purposes=A+B;access=TEXT",
        example: (
            r#"{ name = "Example Search", user-agent = "ExampleBot", purposes = ["search", "answers"], access = "full" }"#,
            "Example Search;user-agent=ExampleBot;purposes=search+answers;access=full",
        ),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let name = parts.text("name").unwrap_or_default();
        if name.trim().is_empty() {
            return Err("the name of a consumer is empty".to_owned().into());
        }
        Ok(Self {
            name,
            user_agent: parts.text("user-agent"),
            purposes: parts.texts("purposes"),
            access: parts.text("access"),
        })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        named_parts(Self::FORM, text)
    }
}

/// A request rate, such as `1/s`.
#[derive(Debug, Clone)]
pub(crate) struct Rate(pub(crate) String);

/// Pattern of rates in JSON Schema.
pub(crate) const RATE_PATTERN: &str = "^[0-9.]+/(s|m|min|h|d)$";

impl ConfigValue for Rate {
    const SHAPE: ValueType = ValueType::Rate;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        let text = value.get_ref().as_str().ok_or_else(wanted::<Self>)?;
        Ok(Self::from_text(text)?)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        CrawlRate::parse(text).ok_or_else(wanted::<Self>)?;
        Ok(Self(text.trim().to_owned()))
    }
}
