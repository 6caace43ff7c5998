//! Depth of the references between term definitions in a JSON-LD context.
//!
//! JSON-LD processors and this crate resolve the references by recursion, in an unspecified order.
//! Neither may start unless every chain of definitions is short enough.

use std::collections::HashMap;

use crate::json::JsonValue;

/// Maximum length of a chain of definitions.
pub(crate) const MAX_HEIGHT: usize = 64;

/// A term whose definition is cyclic or exceeds the maximum depth.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TermTooDeep<'v>(pub(crate) &'v str);

/// Returns the length of the longest chain of definitions in a context, including its scoped
/// contexts. Adds the number of terms in the scoped contexts to `n_scoped`.
pub(crate) fn height<'v>(
    object: &'v JsonValue<'v>,
    depth: usize,
    n_scoped: &mut usize,
) -> Result<usize, TermTooDeep<'v>> {
    let members = object.members().iter();
    let pending = members.filter(|(key, _)| !key.starts_with('@'));
    let mut heights = TermHeights {
        pending: pending.map(|(key, value)| (key.as_ref(), value)).collect(),
        known: HashMap::new(),
        n_scoped,
    };
    let mut highest = 0;
    for (key, _) in object.members().iter().filter(|(key, _)| !key.starts_with('@')) {
        highest = highest.max(heights.of(key, depth).ok_or(TermTooDeep(key))?);
    }
    if let Some(vocab) = object.get("@vocab").and_then(JsonValue::as_str) {
        let names = heights.named(vocab, "");
        for name in names.into_iter().flatten() {
            highest = highest.max(heights.of(name, depth + 1).ok_or(TermTooDeep(name))?);
        }
    }
    Ok(highest)
}

struct TermHeights<'v, 'n> {
    pending: HashMap<&'v str, &'v JsonValue<'v>>,
    /// Depth of each term that was visited; `None` while the term is being resolved.
    known: HashMap<&'v str, Option<usize>>,
    n_scoped: &'n mut usize,
}

impl<'v> TermHeights<'v, '_> {
    /// Returns the terms that `text`, a part of the definition of the term `of`, may refer to.
    fn named(&self, text: &str, of: &str) -> [Option<&'v str>; 2] {
        let find = |name: &str| {
            let found = self.pending.get_key_value(name).map(|(key, _)| *key);
            found.filter(|key| *key != of)
        };
        [find(text), text.split_once(':').and_then(|(prefix, _)| find(prefix))]
    }

    /// Returns the depth of a term; `None` if the depth exceeds the maximum.
    fn of(&mut self, key: &'v str, depth: usize) -> Option<usize> {
        if MAX_HEIGHT < depth {
            return None;
        }
        if let Some(known) = self.known.get(key) {
            return known.filter(|height| *height <= MAX_HEIGHT);
        }
        self.known.insert(key, None);
        let value = self.pending.get(key).copied()?;
        let mut highest = 0;
        let parts = ["@id", "@type", "@reverse", "@index", "@nest"];
        let parts = parts.iter().filter_map(|part| value.get(part)?.as_str());
        for text in [key].into_iter().chain(value.as_str()).chain(parts) {
            for name in self.named(text, key).into_iter().flatten() {
                highest = highest.max(self.of(name, depth + 1)?);
            }
        }
        let scoped: &[JsonValue<'v>] = match value.get("@context") {
            Some(JsonValue::List(items)) => items,
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        for object in scoped {
            *self.n_scoped += 1 + object.members().len();
            highest = highest.max(height(object, depth + 1, self.n_scoped).ok()?);
        }
        let height = highest + 1;
        self.known.insert(key, Some(height));
        Some(height).filter(|height| *height <= MAX_HEIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<(usize, usize), String> {
        let value = crate::json::parse(json.as_bytes(), 1 << 20, &mut ()).expect("JSON");
        let mut n_scoped = 0;
        let found = height(&value, 0, &mut n_scoped);
        found.map(|height| (height, n_scoped)).map_err(|TermTooDeep(key)| key.to_owned())
    }

    fn row(keys: impl Iterator<Item = usize>, end: &str, form: impl Fn(usize) -> String) -> String {
        let terms: Vec<String> = keys.map(|n| format!("\"t{n}\":{}", form(n + 1))).collect();
        format!("{{{},{end}}}", terms.join(","))
    }

    #[test] // C01
    fn chains_of_definitions_are_measured_in_any_order() {
        assert_eq!(of("{}"), Ok((0, 0)));
        assert_eq!(of(r#"{"@vocab":"https://a.example/","a":"https://a.example/"}"#), Ok((1, 0)));
        assert_eq!(of(r#"{"a":"b:x","b":"https://a.example/"}"#), Ok((2, 0)));
        assert_eq!(of(r#"{"a":"a:x","b":"b"}"#), Ok((1, 0)));
        assert_eq!(of(r#"{"a":"b:x","b":"a:y"}"#), Err("a".to_owned()));
        assert_eq!(
            of(r#"{"a":{"@id":"https://a.example/","@type":"b"},"b":"a"}"#),
            Err("a".to_owned())
        );
        let texts = |n: usize| format!("\"t{n}:x\"");
        let types = |n: usize| format!("{{\"@id\":\"https://a.example/\",\"@type\":\"t{n}:x\"}}");
        for (n, is_fine) in [(63, true), (64, false), (5000, false)] {
            let end = format!("\"t{n}\":\"https://a.example/\"");
            for json in [
                row(0..n, &end, texts),
                row((0..n).rev(), &end, texts),
                row(0..n, &end, types),
                row((0..n).rev(), &end, types),
            ] {
                assert_eq!(of(&json).is_ok(), is_fine, "{n}");
            }
        }
    }

    #[test] // C01
    fn scoped_contexts_are_measured_too() {
        let inner = row(0..40, "\"t40\":\"https://a.example/\"", |n| format!("\"t{n}:x\""));
        let one = format!(r#"{{"p":{{"@id":"https://a.example/","@context":{inner}}}}}"#);
        assert_eq!(of(&one), Ok((42, 42)));
        let both = inner.replace(
            "\"t40\":\"https://a.example/\"",
            &format!(r#""t40":{{"@id":"https://a.example/","@context":[{inner}]}}"#),
        );
        assert_eq!(of(&both), Err("t0".to_owned()));
    }
}
