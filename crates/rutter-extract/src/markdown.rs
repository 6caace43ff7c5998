//! Extracts Markdown pages with front matter.
//!
//! Input: Markdown bytes and [`ExtractOptions`]. Output: an [`Extraction`]. The text is rendered to HTML
//! and read like an HTML page, all of it main content; front matter replaces `meta` elements.
//! Front matter that does not parse is reported and ignored; front matter that is too long is read
//! as text.

use pulldown_cmark::{Options as Features, Parser};
use rutter_finding::{Finding, Place};
use serde_json::Value;

use crate::assemble::{ParsedPage, assemble_page};
use crate::dom::Dom;
use crate::extraction::Extraction;
use crate::meta::FoundMetadata;
use crate::options::ExtractOptions;
use crate::region::MainRegion;
use crate::survey::PageSurvey;
use crate::{charset, rules};

/// Maximum length of front matter, in bytes.
const LONGEST: usize = 64 << 10;

/// Extracts a Markdown page.
pub fn markdown(bytes: &[u8], options: &ExtractOptions) -> Extraction {
    let decoded = charset::decode(bytes, options.charset.as_deref().or(Some("utf-8")));
    let mut findings = decoded.findings();
    let (front, text) = split(&decoded.text);
    let front = match front.map(FrontMatter::read) {
        None => Value::Null,
        Some(Ok(front)) => front,
        Some(Err(why)) => {
            findings.push(Finding::new(&rules::FRONT_MATTER, Place::WHOLE, why));
            Value::Null
        }
    };
    let html = to_html(text);
    let dom = Dom::parse(&html, &options.limits);
    let mut found = FoundMetadata::of(&dom, options.limits.json);
    found.front_matter(&front);
    let survey = PageSurvey::of(&dom);
    // The whole body is main content.
    let roots = dom.body.into_iter().collect();
    let region = MainRegion { roots, dropped: vec![None; dom.items.len()], confidence: 1.0 };
    let mut extraction = assemble_page(
        ParsedPage { dom, survey, region, found, is_bounded: false },
        options,
        findings,
    );
    extraction.charset = decoded.encoding.name();
    extraction
}

/// Renders Markdown without front matter.
pub(crate) fn to_html(text: &str) -> String {
    let features = Features::ENABLE_TABLES
        | Features::ENABLE_FOOTNOTES
        | Features::ENABLE_STRIKETHROUGH
        | Features::ENABLE_TASKLISTS
        | Features::ENABLE_GFM
        | Features::ENABLE_MATH
        | Features::ENABLE_DEFINITION_LIST
        | Features::ENABLE_HEADING_ATTRIBUTES;
    let mut html = String::with_capacity(text.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(text, features));
    html
}

/// The front matter of a page, by format.
enum FrontMatter<'t> {
    Yaml(&'t str),
    Toml(&'t str),
    Json(&'t str),
}

impl FrontMatter<'_> {
    fn read(self) -> Result<Value, String> {
        let value: Value = match self {
            Self::Yaml(text) => serde_saphyr::from_str(text).map_err(|error| first_line(&error))?,
            Self::Toml(text) => {
                let table: toml::Table =
                    toml::from_str(text).map_err(|error| first_line(&error))?;
                of_toml(toml::Value::Table(table))
            }
            Self::Json(text) => serde_json::from_str(text).map_err(|error| first_line(&error))?,
        };
        if value.is_object() || value.is_null() {
            Ok(value)
        } else {
            Err("it is not a list of names and values".to_owned())
        }
    }
}

fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Converts a TOML value to a JSON value. TOML has a date type, which becomes text.
fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(is_true) => Value::Bool(is_true),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(values) => Value::Array(values.into_iter().map(of_toml).collect()),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, of_toml(value))).collect())
        }
    }
}

/// Splits a page into front matter and text.
fn split(text: &str) -> (Option<FrontMatter<'_>>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    for (fence, kind) in [("---", 0), ("+++", 1)] {
        let Some(rest) = text.strip_prefix(fence) else { continue };
        let Some(rest) = rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n') else {
            continue;
        };
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == fence || (kind == 0 && line.trim_end() == "...") {
                let front = rest.get(..at).unwrap_or("");
                let behind = rest.get(at + line.len()..).unwrap_or("");
                return (
                    Some(if kind == 0 {
                        FrontMatter::Yaml(front)
                    } else {
                        FrontMatter::Toml(front)
                    }),
                    behind,
                );
            }
            at += line.len();
            if LONGEST < at {
                break;
            }
        }
    }
    // Some generators write the front matter as a JSON object at the start of the page.
    if text.starts_with('{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        if let Some(Ok(Value::Object(_))) = values.next() {
            let (front, behind) = text.split_at(values.byte_offset());
            if front.len() <= LONGEST && behind.starts_with(['\n', '\r']) {
                return (Some(FrontMatter::Json(front)), behind);
            }
        }
    }
    (None, text)
}

impl FoundMetadata {
    /// Uses the front matter as metadata, in place of `meta` elements.
    fn front_matter(&mut self, front: &Value) {
        let text = |names: &[&str]| names.iter().find_map(|name| plain(front.get(*name)?));
        self.title = text(&["title"]).or_else(|| self.headings.first().cloned());
        self.lang = text(&["lang", "language", "locale"]).map(|lang| lang.replace('_', "-"));
        let mut put = |name: &str, value: Option<String>| {
            self.metas.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("description", text(&["description", "summary", "excerpt", "abstract"]));
        put("author", text(&["author", "authors"]));
        put(
            "article:published_time",
            text(&["date", "published", "pubDate", "publishDate", "created"]),
        );
        let modified = ["lastmod", "updated", "modified", "lastUpdated", "last_modified_at"];
        put("article:modified_time", text(&modified));
        put("keywords", text(&["tags", "keywords", "categories"]));
        put("og:image", text(&["image", "cover", "thumbnail"]));
        put("robots", text(&["robots"]));
        let is_true = |name: &str| front.get(name).and_then(Value::as_bool) == Some(true);
        put("robots", (is_true("draft") || is_true("noindex")).then(|| "noindex".to_owned()));
        put("draft", is_true("draft").then(|| "true".to_owned()));
        // Fields of ARC in the front matter are stored like `meta` elements.
        let arc =
            ["ai_indexable", "auth_required", "robots_directive", "crawl_priority", "ai_summary"];
        for name in arc {
            let hyphens = name.replace('_', "-");
            let value = front.get(name).or_else(|| front.get(hyphens.as_str()));
            put(
                name,
                value.and_then(|value| {
                    value.as_bool().map(|flag| flag.to_string()).or_else(|| plain(value))
                }),
            );
        }
        let canonical = text(&["canonical", "canonical_url", "canonicalUrl"]);
        self.links.extend(canonical.map(|href| crate::facts::HeadLink {
            rel: "canonical".to_owned(),
            href,
            hreflang: None,
            media_type: None,
            title: None,
        }));
    }
}

/// Returns a value as plain text: the items of a list separated by commas, people by their names.
fn plain(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().filter_map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(object) => plain(object.get("name")?)?,
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}
