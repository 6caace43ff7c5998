//! Kinds of values, each read from TOML and from the text of a variable or flag.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::PathBuf;

use rutter_arc::policy::Grant;
use rutter_build::{Base, Checksum, Host, Oversize, Source, Twins};
use rutter_finding::Severity;
use rutter_page::LanguageTag;
use rutter_scp::advert::Frequency;
use serde_json::json;
use toml::Spanned;
use toml::de::DeValue;

use crate::config::table::{Form, RATE_PATTERN};

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
    /// None or more.
    Whole,
    /// Days that are remembered.
    Days,
    /// How often somebody may come.
    Rate,
    Choice(fn() -> Vec<&'static str>),
    Texts,
    Tables(&'static Form),
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
            Self::Whole => "whole number of 0 or more".to_owned(),
            Self::Days => "whole number from 1 to 366".to_owned(),
            Self::Rate => "a number per s, m, h or d, as in 1/s".to_owned(),
            Self::Choice(names) => choices(&names()),
            Self::Texts => "list of texts".to_owned(),
            Self::Tables(form) => form.name(),
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
            Self::Count | Self::Whole | Self::Days => "N",
            Self::Rate => "RATE",
            Self::Choice(_) => "CHOICE",
            Self::Tables(form) => form.placeholder,
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
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Days => json!({ "type": "integer", "minimum": 1, "maximum": 366 }),
            Self::Rate => json!({ "type": "string", "pattern": RATE_PATTERN }),
            Self::Choice(names) => json!({ "enum": names() }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Tables(form) => form.schema(),
        }
    }
}

/// What is said of a value of another kind.
pub(crate) fn wanted<T: Value>() -> String {
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
        whole(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|number| 1 <= *number).ok_or_else(wanted::<Self>)
    }
}

impl Value for u64 {
    const SHAPE: Shape = Shape::Whole;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        whole(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| wanted::<Self>())
    }
}

/// How many days something is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Days(pub(crate) u32);

impl Value for Days {
    const SHAPE: Shape = Shape::Days;

    fn of_toml(value: &Stated<'_>) -> Result<Self, Wrong> {
        whole(value)
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let days = text.parse().ok().filter(|days| (1..=366).contains(days));
        days.map(Self).ok_or_else(wanted::<Self>)
    }
}

/// Reads a whole number of TOML the way a variable is read.
fn whole<T: Value>(value: &Stated<'_>) -> Result<T, Wrong> {
    match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => Ok(T::of_text(number.as_str())?),
        _ => Err(wanted::<T>().into()),
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
    const ALL: &'static [(&'static str, Self)] = &[("merge", Self::Merge), ("stop", Self::Stop)];
}

impl Choice for Host {
    const ALL: &'static [(&'static str, Self)] =
        &[("nginx", Self::Nginx), ("netlify", Self::Netlify)];
}

impl Choice for Checksum {
    const ALL: &'static [(&'static str, Self)] =
        &[("content", Self::Content), ("html", Self::Html)];
}

impl Choice for Grant {
    const ALL: &'static [(&'static str, Self)] = &[("allow", Self::Allow), ("deny", Self::Deny)];
}

impl Choice for Severity {
    const ALL: &'static [(&'static str, Self)] =
        &[("note", Self::Note), ("warning", Self::Warning), ("error", Self::Error)];
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
