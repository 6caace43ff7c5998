//! Tables of `sections`: sections of the site, by path prefix.

use rutter_build::SectionRule;
use rutter_scp::is_name;

use crate::config::rows::check_prefix;
use crate::config::table::TableRow;
use crate::config::table::fields::{FieldValue, TableFields};
use crate::config::table::form::{FieldForm, FieldType, TableForm};
use crate::config::value::InvalidValue;

impl TableRow for SectionRule {
    const FORM: &'static TableForm = &TableForm {
        what: "a section",
        members: &[
            FieldForm::new(
                "name",
                FieldType::Text("^[A-Za-z0-9_-]{1,255}$"),
                "Name of the section",
            )
            .required(),
            FieldForm::new(
                "prefix",
                FieldType::Text("^/"),
                "Path prefix of the pages of the section",
            )
            .required(),
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
