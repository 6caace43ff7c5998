//! Tables of `surfaces`: the purpose of pages, by path.

use rutter_build::SurfaceRule;

use crate::config::table::fields::TableFields;
use crate::config::table::form::{FieldForm, FieldType, TableForm};
use crate::config::table::{TableRow, named_parts};
use crate::config::value::InvalidValue;

impl TableRow for SurfaceRule {
    const FORM: &'static TableForm = &TableForm {
        what: "a surface",
        members: &[
            FieldForm::new(
                "path",
                FieldType::Text("^/"),
                "Path of a page; with `*` at its end, a path prefix",
            )
            .required(),
            FieldForm::text("type", "Type of the page, such as gateway or entity_page"),
            FieldForm::text("function", "Function of the page, such as person_definition"),
            FieldForm::texts(
                "protects",
                "Names of entities that the page distinguishes from others",
            ),
        ],
        placeholder: "PATH;type=TEXT;function=TEXT;protects=A+B",
        example: (
            r#"{ path = "/museum/", type = "entity_page", function = "definition" }"#,
            "/museum/;type=entity_page;function=definition",
        ),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let at = parts.span("path");
        let path = parts.text("path").unwrap_or_default();
        if !path.starts_with('/') {
            let shown = rutter_finding::quoted(&path);
            let what = format!("{shown}: a path must start with a slash");
            return Err(InvalidValue { what, span: at, hint: None });
        }
        Ok(Self {
            path,
            surface_type: parts.text("type"),
            function: parts.text("function"),
            protects: parts.texts("protects"),
        })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        named_parts(Self::FORM, text)
    }
}
