//! Reads schema.org data from the JSON-LD scripts of a page.
//!
//! Input: the text of the scripts. Output: metadata of the page's own object, and the `schema`
//! field. Rejects blocks that are invalid JSON, too long or nested too deep.

use rutter_page::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::date;

/// A block of JSON-LD.
#[derive(Debug, Clone)]
pub(crate) struct JsonLd {
    /// The block as JSON text.
    pub(crate) source: String,
    pub(crate) value: Value,
}

impl JsonLd {
    /// Parses a block; returns `None` if it is invalid, longer than `most` bytes or nested too
    /// deep.
    pub(crate) fn parse(source: &str, most: usize) -> Option<Self> {
        let mut source = source.trim();
        if most < source.len() {
            return None;
        }
        // Some pages wrap the JSON-LD in a comment for old browsers.
        for (open, close) in [
            ("<!--", "-->"),
            ("//<![CDATA[", "//]]>"),
            ("/*<![CDATA[*/", "/*]]>*/"),
            ("<![CDATA[", "]]>"),
        ] {
            if let Some(inner) = source.strip_prefix(open) {
                source = inner.strip_suffix(close).unwrap_or(inner).trim();
            }
        }
        let source = source.trim_end_matches(';');
        let read = |source: String| Some((serde_json::from_str::<Value>(&source).ok()?, source));
        // Line breaks inside strings are the most common error in JSON-LD.
        let (value, source) =
            read(source.to_owned()).or_else(|| read(source.replace(['\n', '\r', '\t'], " ")))?;
        (value.is_object() || value.is_array()).then_some(Self { source, value })
    }
}

/// Returns the top-level objects of all blocks, including the objects of each `@graph`.
fn objects(blocks: &[JsonLd]) -> impl Iterator<Item = &Map<String, Value>> {
    let all = blocks.iter().flat_map(|block| top(&block.value)).flat_map(|object| {
        let graph = object.get("@graph").map(top).unwrap_or_default();
        std::iter::once(object).chain(graph)
    });
    // Limits the work on hostile pages.
    all.take(1000)
}

fn top(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether an object describes the page, and not its site or its breadcrumbs.
fn is_about_page(object: &Map<String, Value>) -> bool {
    types(object).any(|kind| {
        kind.ends_with("Article")
            || kind.ends_with("Posting")
            || matches!(
                kind,
                "Report"
                    | "Product"
                    | "Recipe"
                    | "HowTo"
                    | "Event"
                    | "Course"
                    | "Book"
                    | "VideoObject"
                    | "Question"
                    | "QAPage"
                    | "Review"
                    | "APIReference"
            )
    })
}

fn is_web_page(object: &Map<String, Value>) -> bool {
    types(object).any(|kind| kind.ends_with("Page") || kind == "CreativeWork")
}

fn types(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let kinds = match object.get("@type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    kinds.into_iter().map(|kind| kind.rsplit(['/', ':']).next().unwrap_or(kind))
}

/// Returns whether a top-level object has a type that `is_wanted` accepts.
pub(crate) fn has_type(blocks: &[JsonLd], is_wanted: impl Fn(&str) -> bool) -> bool {
    objects(blocks).any(|object| types(object).any(&is_wanted))
}

/// Returns the objects that describe the page, articles before web pages.
fn own(blocks: &[JsonLd]) -> impl Iterator<Item = &Map<String, Value>> {
    objects(blocks)
        .filter(|object| is_about_page(object))
        .chain(objects(blocks).filter(|object| is_web_page(object)))
}

/// Returns a text property of the objects that describe the page.
pub(crate) fn text(blocks: &[JsonLd], names: &[&str]) -> Option<String> {
    own(blocks).find_map(|object| {
        let value = names.iter().find_map(|name| object.get(*name)?.as_str())?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then_some(value)
    })
}

/// Returns the full text of the page if exactly one object that describes the page has it.
pub(crate) fn body(blocks: &[JsonLd]) -> Option<&str> {
    let mut bodies = objects(blocks)
        .filter(|object| is_about_page(object))
        .filter_map(|object| object.get("articleBody").or_else(|| object.get("text"))?.as_str());
    let first = bodies.next()?;
    bodies.all(|other| other == first).then_some(first)
}

pub(crate) fn date(blocks: &[JsonLd], name: &str) -> Option<Timestamp> {
    own(blocks).find_map(|object| date::parse(object.get(name)?.as_str()?))
}

/// Returns the names of people in a property, separated by commas.
pub(crate) fn people(blocks: &[JsonLd], name: &str) -> Option<String> {
    own(blocks).find_map(|object| {
        let names = names_of(object.get(name)?, blocks);
        (!names.is_empty()).then(|| names.join(", "))
    })
}

fn names_of(value: &Value, blocks: &[JsonLd]) -> Vec<String> {
    match value {
        Value::String(name) if !name.contains("://") => vec![name.trim().to_owned()],
        Value::Object(object) => {
            if let Some(name) = object.get("name") {
                return names_of(name, &[]);
            }
            // The value is a reference to another object of the page.
            let Some(id) = object.get("@id") else { return Vec::new() };
            let found = objects(blocks)
                .find(|other| other.get("@id") == Some(id) && other.contains_key("name"));
            found
                .and_then(|other| other.get("name"))
                .map(|name| names_of(name, &[]))
                .unwrap_or_default()
        }
        Value::Array(values) => {
            values.iter().take(20).flat_map(|value| names_of(value, blocks)).collect()
        }
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|name| !name.is_empty() && name.len() < 200)
    .collect()
}

/// Returns the name of the first object of a type.
pub(crate) fn name_of(blocks: &[JsonLd], kind: &str) -> Option<String> {
    let mut found = objects(blocks).filter(|object| types(object).any(|found| found == kind));
    found.find_map(|object| object.get("name")?.as_str().map(str::to_owned))
}

/// Returns the name of an object that is a property of the page's object.
pub(crate) fn inner_name(blocks: &[JsonLd], name: &str) -> Option<String> {
    own(blocks).find_map(|object| names_of(object.get(name)?, blocks).into_iter().next())
}

pub(crate) fn image(blocks: &[JsonLd]) -> Option<String> {
    fn address(value: &Value) -> Option<String> {
        match value {
            Value::String(url) => Some(url.clone()),
            Value::Object(object) => {
                object.get("url").or_else(|| object.get("contentUrl")).and_then(address)
            }
            Value::Array(values) => values.first().and_then(address),
            _ => None,
        }
    }
    own(blocks).find_map(|object| address(object.get("image")?))
}

pub(crate) fn keywords(blocks: &[JsonLd]) -> Vec<String> {
    let Some(value) = own(blocks).find_map(|object| object.get("keywords")) else {
        return Vec::new();
    };
    match value {
        Value::String(words) => {
            words.split([',', ';']).map(|word| word.trim().to_owned()).collect()
        }
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Returns the `schema` field of the page (D47): one object unchanged, several objects as a graph.
/// Breadcrumbs and the site are left out if there are other objects. Values are kept byte for byte,
/// and white space between them is removed.
pub(crate) fn schema(blocks: &[JsonLd]) -> Option<String> {
    #[derive(Deserialize)]
    struct JsonLdGraph<'a> {
        #[serde(borrow, rename = "@graph")]
        graph: Option<Vec<&'a RawValue>>,
    }
    if let [only] = blocks
        && only.value.is_object()
    {
        return Some(compact(&only.source));
    }
    let mut parts: Vec<&str> = Vec::new();
    for block in blocks {
        let source = block.source.as_str();
        let graph = match &block.value {
            Value::Array(_) => serde_json::from_str::<Vec<&RawValue>>(source).ok(),
            _ => serde_json::from_str::<JsonLdGraph<'_>>(source).ok().and_then(|found| found.graph),
        };
        match graph {
            Some(inner) => parts.extend(inner.into_iter().map(RawValue::get)),
            None => parts.push(source),
        }
    }
    let is_minor = |part: &&str| {
        serde_json::from_str::<Value>(part).ok().as_ref().and_then(Value::as_object).is_none_or(
            |object| {
                0 < types(object).count()
                    && types(object).all(|kind| matches!(kind, "BreadcrumbList" | "WebSite"))
            },
        )
    };
    let kept: Vec<&str> = parts.iter().copied().filter(|part| !is_minor(part)).collect();
    let kept = if kept.is_empty() { parts } else { kept };
    match kept.as_slice() {
        [] => None,
        [only] => {
            let only = compact(only);
            let is_placed = only.contains("\"@context\"");
            let inner = only.strip_prefix('{').filter(|_| !is_placed);
            Some(match inner {
                Some(inner) => format!("{{\"@context\":\"https://schema.org\",{inner}"),
                None => only,
            })
        }
        several => {
            let several: Vec<String> = several.iter().map(|part| compact(part)).collect();
            let graph = several.join(",");
            Some(format!("{{\"@context\":\"https://schema.org\",\"@graph\":[{graph}]}}"))
        }
    }
}

/// Removes the white space between the values of a JSON text.
fn compact(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let (mut is_string, mut is_escaped) = (false, false);
    for c in source.chars() {
        if is_string {
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if c == '"' {
            is_string = true;
        } else if matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        out.push(c);
    }
    out
}
