//! JSON values that preserve the order of object members.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Objects preserve the order of their members and duplicate members.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonTree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number in its JSON form.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object; a name may occur more than once.
    Map(Vec<(String, Self)>),
}

impl JsonTree {
    /// Creates a string value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Parses JSON; returns `None` if the text is not JSON or is nested too deeply.
    pub fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the members of an object; empty for other values.
    pub fn members(&self) -> &[(String, Self)] {
        if let Self::Map(members) = self { members } else { &[] }
    }

    /// Returns the items of an array; empty for other values.
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns the first member with this name.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Appends the value as JSON.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend(b"null"),
            Self::Bool(value) => out.extend(value.to_string().bytes()),
            Self::Number(number) => out.extend(number.bytes()),
            Self::Text(text) => push_string(text, out),
            Self::List(items) => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n != 0 {
                        out.push(b',');
                    }
                    item.push_json(out);
                }
                out.push(b']');
            }
            Self::Map(members) => {
                out.push(b'{');
                for (n, (key, value)) in members.iter().enumerate() {
                    if n != 0 {
                        out.push(b',');
                    }
                    push_string(key, out);
                    out.push(b':');
                    value.push_json(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Returns the value as JSON on one line.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.push_json(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Appends the value as indented JSON on several lines.
    pub fn to_pretty(&self, indent: usize, out: &mut String) {
        let is_flat = |tree: &Self| !matches!(tree, Self::List(_) | Self::Map(_));
        let gap = "  ".repeat(indent + 1);
        let (open, close, n) = match self {
            Self::List(items) if !items.iter().all(is_flat) => ('[', ']', items.len()),
            Self::Map(members) if !members.is_empty() => ('{', '}', members.len()),
            _ => return out.push_str(&self.to_json()),
        };
        out.push(open);
        for at in 0..n {
            out.push_str(if at == 0 { "\n" } else { ",\n" });
            out.push_str(&gap);
            if let Some((key, value)) = self.members().get(at) {
                out.push_str(&Self::text(key.as_str()).to_json());
                out.push_str(": ");
                value.to_pretty(indent + 1, out);
            } else if let Some(item) = self.items().get(at) {
                item.to_pretty(indent + 1, out);
            }
        }
        out.push('\n');
        out.push_str(&"  ".repeat(indent));
        out.push(close);
    }
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TreeVisitor;
        impl<'de> Visitor<'de> for TreeVisitor {
            type Value = JsonTree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<JsonTree, E> {
                Ok(JsonTree::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<JsonTree, E> {
                Ok(JsonTree::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<JsonTree, E> {
                Ok(JsonTree::Number(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<JsonTree, E> {
                Ok(JsonTree::Number(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<JsonTree, E> {
                // `serde_json::Number` keeps the fraction of `1.0`.
                let number = serde_json::Number::from_f64(value);
                Ok(number.map_or(JsonTree::Null, |number| JsonTree::Number(number.to_string())))
            }
            fn visit_str<E>(self, text: &str) -> Result<JsonTree, E> {
                Ok(JsonTree::text(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonTree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(JsonTree::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTree, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(JsonTree::Map(members))
            }
        }
        deserializer.deserialize_any(TreeVisitor)
    }
}

/// Appends a text as a JSON string.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: u8| b' ' <= byte && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Writing to memory cannot fail, and every text is valid as a JSON string.
    drop(serde_json::to_writer(out, text));
}
