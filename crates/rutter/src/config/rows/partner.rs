//! Tables of `[policy]`: endpoints for partners, and approved consumers.

use rutter_arc::policy::{ApprovedConsumer, PartnerEndpoint};
use rutter_page::HttpUrl;

use crate::config::table::fields::TableFields;
use crate::config::table::form::{FieldForm, FieldType, TableForm};
use crate::config::table::{TableRow, named_parts};
use crate::config::value::{ConfigValue, InvalidValue, RATE_PATTERN, Rate};

impl TableRow for PartnerEndpoint {
    const FORM: &'static TableForm = &TableForm {
        what: "an endpoint",
        members: &[
            FieldForm::new("url", FieldType::Text("^https?://"), "URL of the endpoint").required(),
            FieldForm::text("auth", "Authentication scheme, such as bearer"),
            FieldForm::new("rate", FieldType::Text(RATE_PATTERN), "Request rate, such as 10/m"),
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
            FieldForm::text("name", "Name").required(),
            FieldForm::text(
                "user-agent",
                "Product token in the `User-Agent` header of the consumer",
            ),
            FieldForm::texts("purposes", "Purposes that the consumer may use pages for"),
            FieldForm::text("access", "Content that the consumer may access"),
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
