//! Prepares the Schema.org data of a page for publication.
//!
//! `dateModified` is set to the page's date in the ledger, so that a build time never becomes part
//! of a line. Members of persons that have nothing to do with their work, such as birth dates, are
//! removed (D94). The bytes of all other values are unchanged.

use rutter_page::{RawJson, RawObject, Timestamp, split_members};
use serde_json::value::RawValue;

/// Members of a person that are published.
const PERSON_MEMBERS: [&str; 16] = [
    "@type",
    "@id",
    "@context",
    "name",
    "givenName",
    "familyName",
    "alternateName",
    "honorificPrefix",
    "url",
    "sameAs",
    "jobTitle",
    "image",
    "description",
    "worksFor",
    "affiliation",
    "identifier",
];

/// Members of a Schema.org object that name authors.
const AUTHOR_MEMBERS: [&str; 4] = ["author", "creator", "contributor", "editor"];

/// Maximum nesting depth in which values are changed.
const MAX_DEPTH: usize = 60;

/// Date and setting that decide how Schema.org data is changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaRules {
    pub(crate) modified: Timestamp,
    pub(crate) no_authors: bool,
}

/// Returns the Schema.org data in its published form; `None` if the result is not a JSON object.
pub(crate) fn prepare(schema: &RawObject<'_>, rules: SchemaRules) -> Option<RawObject<'static>> {
    let mut out = String::with_capacity(schema.get().len());
    value(schema.get(), rules, 0, &mut out);
    RawObject::new(RawJson::parse(&out).ok()?)
}

fn value(text: &str, rules: SchemaRules, depth: usize, out: &mut String) {
    let text = text.trim();
    if depth < MAX_DEPTH
        && text.starts_with('{')
        && let Ok(members) = split_members(text)
    {
        let is_person = members.iter().any(|(key, raw)| {
            &**key == "@type" && raw.get().split(['"', '/', ':']).any(|word| word == "Person")
        });
        out.push('{');
        let mut is_first = true;
        for (key, raw) in members {
            let is_private = (is_person && !PERSON_MEMBERS.contains(&&*key))
                || (rules.no_authors && AUTHOR_MEMBERS.contains(&&*key));
            if is_private {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(&*key).expect("a string serializes to JSON"));
            out.push(':');
            if &*key == "dateModified" && raw.get().starts_with('"') {
                out.push('"');
                out.push_str(&rules.modified.to_string());
                out.push('"');
            } else {
                value(raw.get(), rules, depth + 1, out);
            }
        }
        out.push('}');
    } else if depth < MAX_DEPTH
        && text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
    {
        out.push('[');
        for (n, item) in items.into_iter().enumerate() {
            if n != 0 {
                out.push(',');
            }
            value(item.get(), rules, depth + 1, out);
        }
        out.push(']');
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-172 SCP-044 D94
    fn removes_personal_members_and_sets_the_date() {
        let text = r#"{"@type":"Article", "dateModified":"2031-01-01", "n": 1.50,
            "author":[{"@type":"Person","name":"Ada","email":"a@b.org","birthDate":"1990-01-01"}],
            "publisher":{"@type":"Organization","telephone":"+1"}}"#;
        let schema = RawObject::new(RawJson::parse(text).unwrap()).unwrap();
        let modified = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let prepared = prepare(&schema, SchemaRules { modified, no_authors: false }).unwrap();
        assert_eq!(
            prepared.get(),
            r#"{"@type":"Article","dateModified":"2026-05-01T00:00:00Z","n":1.50,"author":[{"@type":"Person","name":"Ada"}],"publisher":{"@type":"Organization","telephone":"+1"}}"#
        );
        let prepared = prepare(&schema, SchemaRules { modified, no_authors: true }).unwrap();
        assert!(!prepared.get().contains("Ada"));
    }
}
