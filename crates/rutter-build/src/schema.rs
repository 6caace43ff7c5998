//! Schema.org data on its way out: its date is the ledger's, and of people
//! only what identifies their work stays (D94, design: a build time must never
//! enter a line).

use rutter_page::{Object, Raw, Timestamp, members};
use serde_json::value::RawValue;

/// Members of a person that may leave.
const OF_PEOPLE: [&str; 16] = [
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

/// Members that name who made something.
const MAKERS: [&str; 4] = ["author", "creator", "contributor", "editor"];

/// Nesting beyond which nothing is looked at.
const DEEPEST: usize = 60;

/// How a schema is settled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) modified: Timestamp,
    pub(crate) no_authors: bool,
}

/// The schema as it may leave; everything else keeps its bytes.
pub(crate) fn settle(schema: &Object<'_>, how: How) -> Option<Object<'static>> {
    let mut out = String::with_capacity(schema.get().len());
    value(schema.get(), how, 0, &mut out);
    Object::new(Raw::parse(&out).ok()?)
}

fn value(text: &str, how: How, depth: usize, out: &mut String) {
    let text = text.trim();
    if depth < DEEPEST
        && text.starts_with('{')
        && let Ok(members) = members(text)
    {
        let is_person = members.iter().any(|(key, raw)| {
            &**key == "@type" && raw.get().split(['"', '/', ':']).any(|word| word == "Person")
        });
        out.push('{');
        let mut is_first = true;
        for (key, raw) in members {
            let is_private = (is_person && !OF_PEOPLE.contains(&&*key))
                || (how.no_authors && MAKERS.contains(&&*key));
            if is_private {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(&*key).expect("a string is JSON"));
            out.push(':');
            if &*key == "dateModified" && raw.get().starts_with('"') {
                out.push('"');
                out.push_str(&how.modified.to_string());
                out.push('"');
            } else {
                value(raw.get(), how, depth + 1, out);
            }
        }
        out.push('}');
    } else if depth < DEEPEST
        && text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
    {
        out.push('[');
        for (n, item) in items.into_iter().enumerate() {
            if n != 0 {
                out.push(',');
            }
            value(item.get(), how, depth + 1, out);
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
    fn spec_of_people_only_their_work_stays() {
        let text = r#"{"@type":"Article", "dateModified":"2031-01-01", "n": 1.50,
            "author":[{"@type":"Person","name":"Ada","email":"a@b.org","birthDate":"1990-01-01"}],
            "publisher":{"@type":"Organization","telephone":"+1"}}"#;
        let schema = Object::new(Raw::parse(text).unwrap()).unwrap();
        let modified = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let settled = settle(&schema, How { modified, no_authors: false }).unwrap();
        assert_eq!(
            settled.get(),
            r#"{"@type":"Article","dateModified":"2026-05-01T00:00:00Z","n":1.50,"author":[{"@type":"Person","name":"Ada"}],"publisher":{"@type":"Organization","telephone":"+1"}}"#
        );
        let settled = settle(&schema, How { modified, no_authors: true }).unwrap();
        assert!(!settled.get().contains("Ada"));
    }
}
