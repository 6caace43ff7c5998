//! Strings and raw JSON values that borrow from the line they came from.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::Own;

/// A string that borrows where it can.
///
/// A newtype because `Cow<str>` inside `Vec` and `Option` never borrows when
/// serde reads it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Str<'a>(Cow<'a, str>);

impl<'a> Str<'a> {
    /// Borrows a text, also in constants.
    pub const fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Gives the text as a `String` of its own.
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for Str<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StrVisitor)
    }
}

impl Own for Str<'_> {
    type Owned = Str<'static>;
    fn own(self) -> Str<'static> {
        Str(Cow::Owned(self.0.into_owned()))
    }
}

/// A JSON value kept exactly as it was written.
#[derive(Debug, Clone)]
pub struct Raw<'a>(Cow<'a, RawValue>);

/// The text is not one JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not a JSON value")]
pub struct RawError(#[source] serde_json::Error);

impl Raw<'_> {
    /// Takes a JSON value as text.
    ///
    /// Line breaks between its parts become spaces, so that it can stand in a
    /// line of JSON Lines.
    pub fn parse(text: &str) -> Result<Raw<'static>, RawError> {
        // A line break inside a JSON string must be escaped, so every bare one
        // is white space between tokens.
        let text = text.replace(['\n', '\r'], " ");
        let raw = RawValue::from_string(text).map_err(RawError)?;
        Ok(Raw(Cow::Owned(raw)))
    }

    /// The value as it was written.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(Cow::Borrowed(raw))
    }
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
impl Eq for Raw<'_> {}

impl Serialize for Raw<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Deeper values than this leave the fast path; [`crate::Judge`] then measures
/// the whole line exactly.
const SHALLOW: usize = 100;

/// An unread value that is not nested too deeply for the fast path.
pub(crate) struct Shallow<'a>(pub(crate) &'a RawValue);

impl<'de: 'a, 'a> Deserialize<'de> for Shallow<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        if SHALLOW < crate::judge::nesting(raw.get()) {
            return Err(de::Error::custom("nested too deeply"));
        }
        Ok(Self(raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shallow::deserialize(deserializer).map(|raw| Self(Cow::Borrowed(raw.0)))
    }
}

impl Own for Raw<'_> {
    type Owned = Raw<'static>;
    fn own(self) -> Raw<'static> {
        Raw(Cow::Owned(self.0.into_owned()))
    }
}

/// A JSON object kept exactly as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<'a>(Raw<'a>);

impl<'a> Object<'a> {
    /// Takes a value that is an object; `None` for any other.
    pub fn new(raw: Raw<'a>) -> Option<Self> {
        raw.get().starts_with('{').then_some(Self(raw))
    }

    /// The object as it was written.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Self::new(raw).ok_or_else(|| de::Error::custom("not an object"))
    }
}

impl Own for Object<'_> {
    type Owned = Object<'static>;
    fn own(self) -> Object<'static> {
        Object(self.0.own())
    }
}

/// A member this version does not know: its name and its value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The member's name.
    pub key: Str<'a>,
    /// Its value, byte-exact.
    pub value: Raw<'a>,
}

/// Unknown members in the order they came.
pub type Extra<'a> = Vec<Member<'a>>;

impl Own for Member<'_> {
    type Owned = Member<'static>;
    fn own(self) -> Member<'static> {
        Member { key: self.key.own(), value: self.value.own() }
    }
}

/// A name given as a string, or as an object that has one (D43).
///
/// Written as a string, whichever it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name<'a>(pub Str<'a>);

impl Serialize for Name<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an object with a name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Str::from(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Str::from(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut name = None;
                while let Some(key) = map.next_key::<Str<'de>>()? {
                    if &*key == "name" {
                        name = Some(Name(map.next_value()?));
                    } else {
                        // Not ignored outright: it may be nested too deeply.
                        map.next_value::<Raw<'de>>()?;
                    }
                }
                name.ok_or_else(|| de::Error::missing_field("name"))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

impl Own for Name<'_> {
    type Owned = Name<'static>;
    fn own(self) -> Name<'static> {
        Name(self.0.own())
    }
}
