//! Types that the values of settings have; each type is read from TOML, and from the text of a
//! variable or a flag.
//!
//! Output: typed values, and the description of each type for help texts, the documentation and
//! the JSON Schema. Rejects values of another type.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::PathBuf;

use rutter_arc::CrawlRate;
use rutter_build::BaseUrl;
use rutter_page::LanguageTag;
use serde_json::json;
use toml::Spanned;
use toml::de::DeValue;

use crate::config::table::form::TableForm;

/// A TOML value with its position in the file.
pub(crate) type TomlValue<'i> = Spanned<DeValue<'i>>;

/// The reason why the value of a setting is rejected.
#[derive(Debug)]
pub(crate) struct InvalidValue {
    pub(crate) what: String,
    /// The position of the rejected part in the file; `None` for the whole value.
    pub(crate) span: Option<Range<usize>>,
    pub(crate) hint: Option<String>,
}

impl From<String> for InvalidValue {
    fn from(what: String) -> Self {
        Self { what, span: None, hint: None }
    }
}

/// A type that the value of a setting can have.
pub(crate) trait ConfigValue: Sized {
    const SHAPE: ValueType;

    /// Reads a TOML value. By default, a string is read like the text of a variable.
    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        let text = value.get_ref().as_str().ok_or_else(wanted::<Self>)?;
        Ok(Self::from_text(text)?)
    }

    /// Reads a value from the text of an environment variable.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Reads a value from the bytes of an environment variable.
    fn from_os(text: &OsStr) -> Result<Self, String> {
        Self::from_text(text.to_str().ok_or("the value is not UTF-8")?)
    }

    /// Reads a value from all values of a flag; the last value of the flag wins.
    fn from_flag(texts: &[OsString]) -> Result<Self, String> {
        Self::from_os(texts.last().map_or(OsStr::new(""), OsString::as_os_str))
    }
}

/// Description of the type of a setting, for the documentation, the JSON Schema and the command
/// line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueType {
    Text,
    Url,
    Language,
    Path,
    Switch,
    /// A number of seconds, with a fraction.
    Number,
    /// An integer of 1 or more.
    Count,
    /// An integer of 0 or more.
    Whole,
    /// A number of days.
    Days,
    /// A request rate, such as `1/s`.
    Rate,
    Choice(fn() -> Vec<&'static str>),
    Texts,
    /// A text, or a list of texts.
    TextOrTexts,
    Tables(&'static TableForm),
}

impl ValueType {
    /// Returns the name of the type, for messages and documentation.
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
            Self::Rate => "a number per s, m, h or d, such as 1/s".to_owned(),
            Self::Choice(names) => choices(&names()),
            Self::Texts => "list of texts".to_owned(),
            Self::TextOrTexts => "text or list of texts".to_owned(),
            Self::Tables(form) => form.name(),
        }
    }

    /// Returns the placeholder for a value of this type in help texts, for keys without their own
    /// placeholder.
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Text | Self::Texts | Self::TextOrTexts => "TEXT",
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

    /// Returns the JSON Schema of the type.
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
            Self::TextOrTexts => json!({
                "anyOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "type": "string" } },
                ],
            }),
            Self::Tables(form) => form.schema(),
        }
    }
}

/// Returns the message for a value that does not have the type `T`.
pub(crate) fn wanted<T: ConfigValue>() -> String {
    format!("expected {}", T::SHAPE.name())
}

/// Joins names to a list such as: `a`, `b` or `c`.
pub(crate) fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

impl ConfigValue for String {
    const SHAPE: ValueType = ValueType::Text;

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl ConfigValue for BaseUrl {
    const SHAPE: ValueType = ValueType::Url;

    fn from_text(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

impl ConfigValue for LanguageTag<'static> {
    const SHAPE: ValueType = ValueType::Language;

    fn from_text(text: &str) -> Result<Self, String> {
        let tag = LanguageTag::parse(text.to_owned());
        let tag = tag.ok_or_else(|| format!("{}, such as en or pt-BR", wanted::<Self>()))?;
        Ok(tag.canonical())
    }
}

impl ConfigValue for PathBuf {
    const SHAPE: ValueType = ValueType::Path;

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(wanted::<Self>()) } else { Ok(text.into()) }
    }

    fn from_os(text: &OsStr) -> Result<Self, String> {
        if text.is_empty() { Err(wanted::<Self>()) } else { Ok(text.into()) }
    }
}

impl ConfigValue for bool {
    const SHAPE: ValueType = ValueType::Switch;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        Ok(value.get_ref().as_bool().ok_or_else(wanted::<Self>)?)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wanted::<Self>()),
        }
    }
}

impl ConfigValue for f64 {
    const SHAPE: ValueType = ValueType::Number;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        match value.get_ref() {
            DeValue::Float(number) => Ok(Self::from_text(number.as_str())?),
            DeValue::Integer(number) if number.radix() == 10 => {
                Ok(Self::from_text(number.as_str())?)
            }
            _ => Err(wanted::<Self>().into()),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| (0.0..Self::INFINITY).contains(number));
        number.ok_or_else(wanted::<Self>)
    }
}

impl ConfigValue for usize {
    const SHAPE: ValueType = ValueType::Count;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        whole(value)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|number| 1 <= *number).ok_or_else(wanted::<Self>)
    }
}

impl ConfigValue for u64 {
    const SHAPE: ValueType = ValueType::Whole;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        whole(value)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| wanted::<Self>())
    }
}

/// A number of days from 1 to 366.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Days(pub(crate) u32);

impl ConfigValue for Days {
    const SHAPE: ValueType = ValueType::Days;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        whole(value)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let days = text.parse().ok().filter(|days| (1..=366).contains(days));
        days.map(Self).ok_or_else(wanted::<Self>)
    }
}

/// A request rate, such as `1/s`.
#[derive(Debug, Clone)]
pub(crate) struct Rate(pub(crate) String);

/// Pattern of rates in JSON Schema.
pub(crate) const RATE_PATTERN: &str = "^[0-9.]+/(s|m|min|h|d)$";

impl ConfigValue for Rate {
    const SHAPE: ValueType = ValueType::Rate;

    fn from_text(text: &str) -> Result<Self, String> {
        CrawlRate::parse(text).ok_or_else(wanted::<Self>)?;
        Ok(Self(text.trim().to_owned()))
    }
}

/// Reads a TOML integer in the same way as the text of a variable.
fn whole<T: ConfigValue>(value: &TomlValue<'_>) -> Result<T, InvalidValue> {
    match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => Ok(T::from_text(number.as_str())?),
        _ => Err(wanted::<T>().into()),
    }
}

impl ConfigValue for Vec<String> {
    const SHAPE: ValueType = ValueType::Texts;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        let texts = value.get_ref().as_array().ok_or_else(wanted::<Self>)?;
        let text = |text: &TomlValue<'_>| {
            let wrong = || InvalidValue { span: Some(text.span()), ..wanted::<String>().into() };
            text.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)
        };
        texts.iter().map(text).collect()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Ok(parts.map(str::to_owned).collect())
    }

    /// Reads one text per flag. Commas do not separate texts.
    fn from_flag(texts: &[OsString]) -> Result<Self, String> {
        let text = |text: &OsString| {
            text.to_str().map(str::to_owned).ok_or("the value is not UTF-8".into())
        };
        texts.iter().map(text).collect()
    }
}
