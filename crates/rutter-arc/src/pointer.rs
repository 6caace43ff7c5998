//! The pointer to a sitemap in JSON-LD (D53): a schema.org Dataset with its downloads, as a file
//! and as a script element of the home page.
//!
//! Escapes text so that it cannot end the script element.

use std::io::Read;

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::Timestamp;
use serde_json::Value;

use crate::limits::ArcError;
use crate::open::small;
use crate::rules;
use rutter_page::JsonTree;

/// Name of the schema.org Dataset that is the pointer.
pub const NAME: &str = "ARC Sitemap";
/// Maximum size in bytes of a pointer file that is read.
const MAX_BYTES: usize = 1 << 20;

/// URLs of a sitemap in its formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapPointer {
    /// URL of the sitemap in JSON.
    pub json: String,
    /// URL of the sitemap in YAML, if published.
    pub yaml: Option<String>,
    /// Time of the last change of the sitemap.
    pub modified: Option<Timestamp>,
}

impl SitemapPointer {
    /// Returns the pointer as the text of a file.
    pub fn to_file(&self) -> String {
        let mut out = String::new();
        self.tree().to_pretty(0, &mut out);
        out.push('\n');
        out
    }

    /// Returns the content of a `script` element. No text in it can end the element.
    pub fn to_script_text(&self) -> String {
        self.tree().to_json().replace('<', "\\u003c")
    }

    /// Returns the pointer as a complete `script` element.
    pub fn to_script(&self) -> String {
        format!("<script type=\"application/ld+json\">{}</script>", self.to_script_text())
    }

    fn tree(&self) -> JsonTree {
        let pair = |name: &str, value: &str| (name.to_owned(), JsonTree::text(value));
        let download = |format: &str, url: &str| {
            JsonTree::Map(vec![
                pair("@type", "DataDownload"),
                pair("encodingFormat", format),
                pair("contentUrl", url),
            ])
        };
        let mut members = vec![
            pair("@context", "https://schema.org"),
            pair("@type", "Dataset"),
            pair("name", NAME),
            pair("url", &self.json),
        ];
        members.extend(self.modified.map(|time| pair("dateModified", &time.to_string())));
        let mut downloads = vec![download("application/json", &self.json)];
        downloads.extend(self.yaml.iter().map(|yaml| download("application/yaml", yaml)));
        members.push(("distribution".to_owned(), JsonTree::List(downloads)));
        JsonTree::Map(members)
    }
}

/// Content of a JSON-LD file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonLdFile {
    /// A pointer to a sitemap.
    Pointer(SitemapPointer),
    /// A sitemap: it has the member `pages` and must be read as JSON.
    Sitemap,
    /// The file contains neither a pointer nor a sitemap.
    Nothing,
}

/// Reads a JSON-LD file, compressed or not.
pub fn read(input: impl Read, sink: &mut dyn FindingSink) -> Result<JsonLdFile, ArcError> {
    let bytes = small(input, MAX_BYTES)?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::new(&rules::NOT_JSON, Place::WHOLE, error.to_string()))?;
    if value.get("pages").is_some() {
        return Ok(JsonLdFile::Sitemap);
    }
    let all = nodes(&value);
    let has_type = |node: &Value, wanted: &str| texts(node.get("@type")).any(|it| it == wanted);
    let dataset = all.iter().find(|node| {
        has_type(node, "Dataset") && node.get("name").and_then(Value::as_str) == Some(NAME)
    });
    let parts = dataset
        .map_or_else(|| all.clone(), |set| set.get("distribution").map_or_else(Vec::new, nodes));
    let of_kind = |kind: &str| {
        parts.iter().find(|node| {
            let format = node.get("encodingFormat").and_then(Value::as_str).unwrap_or_default();
            has_type(node, "DataDownload") && format.to_ascii_lowercase().contains(kind)
        })
    };
    let address = |node: Option<&&Value>| {
        node.and_then(|node| node.get("contentUrl")).and_then(Value::as_str).map(str::to_owned)
    };
    let json = of_kind("json");
    let mut report = |rule, pointer: &str| {
        let place = Place { line: None, pointer: pointer.to_owned() };
        sink.report(Finding::new(rule, place, ""));
    };
    let fallback = || dataset.and_then(|set| set.get("url")).and_then(Value::as_str);
    let found = match address(json) {
        Some(url) => Some(url),
        None => {
            let url = fallback().map(str::to_owned);
            if url.is_some() {
                report(&rules::POINTER_URL, "/distribution");
            }
            url
        }
    };
    let Some(json) = found.filter(|url| is_address(url)) else {
        report(&rules::POINTER_FORM, "");
        return Ok(JsonLdFile::Nothing);
    };
    let modified = dataset.and_then(|set| set.get("dateModified")).and_then(Value::as_str);
    let modified = modified.and_then(|text| Timestamp::parse_lenient(text).ok());
    let yaml = address(of_kind("yaml")).filter(|url| is_address(url));
    Ok(JsonLdFile::Pointer(SitemapPointer { json, yaml, modified: modified.map(|(time, _)| time) }))
}

fn is_address(url: &str) -> bool {
    rutter_page::HttpUrl::parse(url).is_ok()
}

/// Returns the objects of a JSON-LD value: the value itself, the items of a list, and those of a
/// graph.
fn nodes(value: &Value) -> Vec<&Value> {
    let list = value.as_array().or_else(|| value.get("@graph").and_then(Value::as_array));
    list.map_or_else(|| vec![value], |list| list.iter().collect())
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    let many = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many)
}
