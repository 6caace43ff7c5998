//! The settings of `[extract]`: selectors of kept and dropped elements, for all pages and by path.

use std::ffi::OsString;
use std::ops::Range;

use rutter_extract::{OwnerSelectors, PathExtractSettings, Selector};
use toml::de::DeValue;

use crate::config::table::fields::TableFields;
use crate::config::table::form::{FieldForm, FieldType, TableForm};
use crate::config::table::{TableRow, named_parts};
use crate::config::value::{ConfigValue, InvalidValue, TomlValue, ValueType, wanted};

/// The value of a setting that is one selector or a list of selectors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selectors(pub(crate) Vec<Selector>);

impl ConfigValue for Selectors {
    const SHAPE: ValueType = ValueType::TextOrTexts;

    fn from_toml(value: &TomlValue<'_>) -> Result<Self, InvalidValue> {
        let read = |value: &TomlValue<'_>| {
            let text = value.get_ref().as_str().ok_or_else(wanted::<Self>);
            let here = |wrong: InvalidValue| InvalidValue { span: Some(value.span()), ..wrong };
            text.map_err(|what| here(what.into())).and_then(|text| selector(text).map_err(here))
        };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(read).collect::<Result<_, _>>().map(Self),
            _ => Ok(Self(vec![read(value)?])),
        }
    }

    /// Reads one selector. Commas are part of the selector, because they separate its alternatives.
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self(vec![parse(text)?]))
    }

    fn from_flag(texts: &[OsString]) -> Result<Self, String> {
        let read = |text: &OsString| parse(text.to_str().ok_or("the value is not UTF-8")?);
        texts.iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// Reads a selector of a settings file. The hint of an error says which syntax is supported.
fn selector(text: &str) -> Result<Selector, InvalidValue> {
    text.parse().map_err(|error: rutter_extract::SelectorError| InvalidValue {
        what: error.to_string(),
        span: None,
        hint: Some(format!("supported: {}", Selector::SUPPORTED)),
    })
}

/// Reads a selector of a variable or a flag.
fn parse(text: &str) -> Result<Selector, String> {
    let say = |error: rutter_extract::SelectorError| {
        format!("{error}; supported: {}", Selector::SUPPORTED)
    };
    text.parse().map_err(say)
}

impl TableRow for PathExtractSettings {
    const FORM: &'static TableForm = &TableForm {
        what: "a path",
        members: &[
            FieldForm::text(
                "match",
                "Paths of pages below the base URL; `*` matches within a segment, `**` across",
            )
            .required(),
            FieldForm::new(
                "main",
                FieldType::TextOrTexts,
                "Selectors that replace `main` of `[extract]`; the last matching table wins",
            ),
            FieldForm::new(
                "keep",
                FieldType::TextOrTexts,
                "Selectors that are added to `keep` of `[extract]`",
            ),
            FieldForm::new(
                "drop",
                FieldType::TextOrTexts,
                "Selectors that are added to `drop` of `[extract]`",
            ),
        ],
        placeholder: "",
        example: (r##"{ match = "/guides/**", main = "#guide", drop = [".toc"] }"##, ""),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let pattern = parts.text("match").unwrap_or_default();
        let mut read = |name: &str| selectors(parts.placed_texts(name));
        let control =
            OwnerSelectors { main: read("main")?, keep: read("keep")?, drop: read("drop")? };
        if control == OwnerSelectors::default() {
            return Err("a path needs `main`, `keep` or `drop`".to_owned().into());
        }
        Ok(Self::new(&pattern, control))
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        named_parts(Self::FORM, text)
    }
}

fn selectors(texts: Vec<(String, Range<usize>)>) -> Result<Vec<Selector>, InvalidValue> {
    let read = |(text, span): (String, Range<usize>)| {
        selector(&text).map_err(|wrong| InvalidValue { span: Some(span), ..wrong })
    };
    texts.into_iter().map(read).collect()
}
