//! Settings that are lists of tables.
//!
//! Reads tables from TOML and from the text of a variable or a flag, as their description says.
//! Rejects unknown keys, missing keys and values of another type.

use std::ffi::OsString;

use toml::de::{DeTable, DeValue};

pub(crate) mod fields;
pub(crate) mod form;

use crate::config::similarity::nearest;
use crate::config::value::{ConfigValue, InvalidValue, TomlValue, ValueType, choices, wanted};

use fields::{FieldValue, TableField, TableFields};
use form::{FieldType, TableForm};

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

/// Reads a number from 0 to 1.
pub(super) fn share(text: &str) -> Result<FieldValue, String> {
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
