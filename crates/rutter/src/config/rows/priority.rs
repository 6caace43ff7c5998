//! Tables of `priorities`: priorities of pages, by path prefix.

use crate::config::rows::check_prefix;
use crate::config::table::fields::{FieldValue, TableFields};
use crate::config::table::form::{FieldForm, FieldType, TableForm};
use crate::config::table::{TableRow, share};
use crate::config::value::InvalidValue;

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
            FieldForm::new("prefix", FieldType::Text("^/"), "Path prefix of the pages").required(),
            FieldForm::new(
                "priority",
                FieldType::Share,
                "Priority from 0 to 1; 1 is the most important",
            )
            .required(),
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
