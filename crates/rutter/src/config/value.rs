//! Kinds of values, each read from TOML and from the text of a variable or flag.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::PathBuf;

use rutter_build::{Base, Host, Oversize, SectionRule, Source, Twins};
use rutter_page::LanguageTag;
use rutter_scp::advert::Frequency;
use rutter_scp::is_name;
use serde_json::json;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::config::suggest::nearest;

/// A value of `rutter.toml`, with the place where it stands.
pub(crate) type Stated<'i> = Spanned<DeValue<'i>>;

/// Why a value is not taken.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    /// Which part of the file, where it is narrower than the value.
    pub(crate) span: Option<Range<usize>>,
    pub(crate) hint: Option<String>,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Self { what, span: None, hint: None }
    }
}

/// A kind of value.
pub(crate) trait Value: Sized {
    const SHAPE: Shape;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong>;

    /// Reads the text of a variable.
    fn of_text(text: &str) -> Result<Self, String>;

    /// Reads the bytes of a variable.
    fn of_os(text: &OsStr) -> Result<Self, String> {
        Self::of_text(text.to_str().ok_or("is not UTF-8")?)
    }

    /// Reads a flag, given once or more often; the last one counts.
    fn of_flag(texts: &[OsString]) -> Result<Self, String> {
        Self::of_os(texts.last().map_or(OsStr::new(""), OsString::as_os_str))
    }
}

/// What documentation, schema and command line need to know about a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Text,
    Url,
    Language,
    Path,
    Switch,
    /// Seconds, with a fraction.
    Number,
    /// One or more.
    Count,
    Choice(fn() -> Vec<&'static str>),
    Texts,
    Sections,
}

impl Shape {
    /// What a file calls it.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Url => "URL".to_owned(),
            Self::Language => "language tag".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Switch => "true or false".to_owned(),
            Self::Number => "number of 0 or more".to_owned(),
            Self::Count => "whole number of 1 or more".to_owned(),
            Self::Choice(names) => choices(&names()),
            Self::Texts => "list of texts".to_owned(),
            Self::Sections => "tables with `name` and `prefix`".to_owned(),
        }
    }

    /// What help puts in place of a value, unless the key has a better word.
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Text | Self::Texts => "TEXT",
            Self::Url => "URL",
            Self::Language => "TAG",
            Self::Path => "PATH",
            Self::Switch => "true|false",
            Self::Number => "SECONDS",
            Self::Count => "N",
            Self::Choice(_) => "CHOICE",
            Self::Sections => "NAME=PREFIX",
        }
    }

    /// Its JSON Schema.
    pub(crate) fn schema(self) -> serde_json::Value {
        match self {
            Self::Text | Self::Path | Self::Language => json!({ "type": "string" }),
            Self::Url => json!({ "type": "string", "format": "uri", "pattern": "^https?://" }),
            Self::Switch => json!({ "type": "boolean" }),
            Self::Number => json!({ "type": "number", "minimum": 0 }),
            Self::Count => json!({ "type": "integer", "minimum": 1 }),
            Self::Choice(names) => json!({ "enum": names() }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Sections => json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {
                            "type": "string",
                            "pattern": "^[A-Za-z0-9_-]{1,255}$",
                            "description": "Name of the section",
                        },
                        "prefix": {
                            "type": "string",
                            "pattern": "^/",
                            "description": "How the paths of its pages begin",
                        },
                    },
                    "required": ["name", "prefix"],
                    "additionalProperties": false,
                },
            }),
        }
    }
}

fn wanted<T: Value>() -> String {
    format!("wanted {}", T::SHAPE.name())
}

/// Names for people: `a`, `b` or `c`.
pub(crate) fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// Reads a string of TOML the way a variable is read.
fn string<T: Value>(value: &Stated<'_>) -> Result<T, Wrong> {
    let text = value.get_ref().as_str().ok_or_else(wanted::<T>)?;
    Ok(T::of_text(text)?)
}

impl Value for String {
    const SHAPE: Shape = Shape::Text;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        string(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl Value for Base {
    const SHAPE: Shape = Shape::Url;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        string(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

impl Value for LanguageTag<'static> {
    const SHAPE: Shape = Shape::Language;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        string(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let tag = LanguageTag::parse(text.to_owned());
        let tag = tag.ok_or_else(|| format!("{}, for instance en or pt-BR", wanted::<Self>()))?;
        Ok(tag.canonical())
    }
}

impl Value for PathBuf {
    const SHAPE: Shape = Shape::Path;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        string(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(wanted::<Self>()) } else { Ok(text.into()) }
    }

    fn of_os(text: &OsStr) -> Result<Self, String> {
        if text.is_empty() { Err(wanted::<Self>()) } else { Ok(text.into()) }
    }
}

impl Value for bool {
    const SHAPE: Shape = Shape::Switch;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        Ok(value.get_ref().as_bool().ok_or_else(wanted::<Self>)?)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wanted::<Self>()),
        }
    }
}

impl Value for f64 {
    const SHAPE: Shape = Shape::Number;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        match value.get_ref() {
            DeValue::Float(number) => Ok(Self::of_text(number.as_str())?),
            DeValue::Integer(number) if number.radix() == 10 => Ok(Self::of_text(number.as_str())?),
            _ => Err(wanted::<Self>().into()),
        }
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| (0.0..Self::INFINITY).contains(number));
        number.ok_or_else(wanted::<Self>)
    }
}

impl Value for usize {
    const SHAPE: Shape = Shape::Count;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Ok(Self::of_text(number.as_str())?),
            _ => Err(wanted::<Self>().into()),
        }
    }

    fn of_text(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|number| 1 <= *number).ok_or_else(wanted::<Self>)
    }
}

impl Value for Vec<String> {
    const SHAPE: Shape = Shape::Texts;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        let texts = value.get_ref().as_array().ok_or_else(wanted::<Self>)?;
        let text = |text: &Stated<'_>| {
            let wrong = || Wrong { span: Some(text.span()), ..wanted::<String>().into() };
            text.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)
        };
        texts.iter().map(text).collect()
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Ok(parts.map(str::to_owned).collect())
    }

    /// Each flag is one text, commas and all.
    fn of_flag(texts: &[OsString]) -> Result<Self, String> {
        let text = |text: &OsString| text.to_str().map(str::to_owned).ok_or("is not UTF-8".into());
        texts.iter().map(text).collect()
    }
}

impl Value for Vec<SectionRule> {
    const SHAPE: Shape = Shape::Sections;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        let tables: &DeArray<'_> = value.get_ref().as_array().ok_or_else(wanted::<Self>)?;
        tables
            .iter()
            .map(|table| {
                let here =
                    |wrong: Wrong| Wrong { span: wrong.span.or(Some(table.span())), ..wrong };
                let rule = table.get_ref().as_table().ok_or_else(|| wanted::<Self>().into());
                rule.and_then(section_of_toml).map_err(here)
            })
            .collect()
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(section_of_text).collect()
    }

    fn of_flag(texts: &[OsString]) -> Result<Self, String> {
        let rule = |text: &OsString| section_of_text(text.to_str().ok_or("is not UTF-8")?);
        texts.iter().map(rule).collect()
    }
}

fn section_of_toml(table: &DeTable<'_>) -> Result<SectionRule, Wrong> {
    let mut parts = [None, None];
    for (key, value) in table {
        let part = match key.get_ref().as_ref() {
            "name" => &mut parts[0],
            "prefix" => &mut parts[1],
            other => {
                return Err(Wrong {
                    what: format!("unknown key `{}` of a section", rutter_finding::visible(other)),
                    span: Some(key.span()),
                    hint: nearest(other, ["name", "prefix"])
                        .map(|near| format!("did you mean `{near}`?")),
                });
            }
        };
        let text = value.get_ref().as_str();
        let wrong = || Wrong { span: Some(value.span()), ..wanted::<String>().into() };
        *part = Some(text.ok_or_else(wrong)?.to_owned());
    }
    let [Some(name), Some(prefix)] = parts else {
        return Err("a section has a `name` and a `prefix`".to_owned().into());
    };
    Ok(section(name, prefix)?)
}

fn section_of_text(text: &str) -> Result<SectionRule, String> {
    let (name, prefix) = text.split_once('=').ok_or("wanted NAME=PREFIX, as in docs=/docs/")?;
    section(name.to_owned(), prefix.to_owned())
}

fn section(name: String, prefix: String) -> Result<SectionRule, String> {
    if !is_name(&name) {
        let name = rutter_finding::quoted(&name);
        return Err(format!("section {name}: wanted letters, digits, hyphen and underscore"));
    }
    if name == "all" {
        return Err("section `all`: is the name of the collection of all pages".to_owned());
    }
    if !prefix.starts_with('/') {
        return Err(format!("section `{name}`: a prefix begins with a slash, as in /docs/"));
    }
    Ok(SectionRule { name, prefix })
}

/// A value out of a few.
pub(crate) trait Choice: Sized + Copy + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl Choice for Source {
    const ALL: &'static [(&'static str, Self)] =
        &[("html", Self::Html), ("markdown", Self::Markdown), ("lines", Self::Lines)];
}

impl Choice for Frequency {
    const ALL: &'static [(&'static str, Self)] = &[
        ("hourly", Self::Hourly),
        ("daily", Self::Daily),
        ("weekly", Self::Weekly),
        ("monthly", Self::Monthly),
    ];
}

impl Choice for Twins {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];
}

impl Choice for Oversize {
    const ALL: &'static [(&'static str, Self)] = &[("stop", Self::Stop), ("omit", Self::Omit)];
}

impl Choice for Host {
    const ALL: &'static [(&'static str, Self)] =
        &[("nginx", Self::Nginx), ("netlify", Self::Netlify)];
}

impl<T: Choice> Value for T {
    const SHAPE: Shape = Shape::Choice(names::<T>);

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        string(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(wanted::<Self>)
    }
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|(name, _)| *name).collect()
}
