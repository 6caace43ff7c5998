//! Strings and unparsed JSON values that borrow from the line they were read from.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::IntoOwned;

/// A string that borrows from its line unless it contains escapes.
///
/// A newtype, because serde never borrows for a `Cow<str>` inside `Vec` or `Option`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CowStr<'a>(Cow<'a, str>);

impl<'a> CowStr<'a> {
    /// Creates a borrowed string; usable in constants.
    pub const fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Converts the text into a `String`.
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for CowStr<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for CowStr<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for CowStr<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl fmt::Debug for CowStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for CowStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for CowStr<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CowStr<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = CowStr<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(CowStr(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(CowStr(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StrVisitor)
    }
}

impl IntoOwned for CowStr<'_> {
    type Owned = CowStr<'static>;
    fn into_owned(self) -> CowStr<'static> {
        CowStr(Cow::Owned(self.0.into_owned()))
    }
}

/// An unparsed JSON value, kept byte for byte.
#[derive(Debug, Clone)]
pub struct RawJson<'a>(Cow<'a, RawValue>);

/// An error of [`RawJson::parse`]: the text is not a JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not a JSON value")]
pub struct RawJsonError(#[source] serde_json::Error);

impl RawJson<'_> {
    /// Creates a value from JSON text.
    ///
    /// Line breaks between tokens become spaces, so that the value fits on one line of a JSON Lines
    /// file.
    pub fn parse(text: &str) -> Result<RawJson<'static>, RawJsonError> {
        // JSON strings cannot contain line breaks, so every line break is white space.
        let text = text.replace(['\n', '\r'], " ");
        let raw = RawValue::from_string(text).map_err(RawJsonError)?;
        Ok(RawJson(Cow::Owned(raw)))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl<'a> From<&'a RawValue> for RawJson<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(Cow::Borrowed(raw))
    }
}

impl PartialEq for RawJson<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}
impl Eq for RawJson<'_> {}

impl Serialize for RawJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Maximum nesting of a value in the strict reader. For deeper values, [`crate::PageReader`]
/// measures the whole line.
const SHALLOW: usize = 100;

/// An unparsed value with limited nesting.
pub(crate) struct DepthLimitedJson<'a>(pub(crate) &'a RawValue);

impl<'de: 'a, 'a> Deserialize<'de> for DepthLimitedJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        if SHALLOW < crate::page_reader::nesting_depth(raw.get()) {
            return Err(de::Error::custom("nested too deeply"));
        }
        Ok(Self(raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DepthLimitedJson::deserialize(deserializer).map(|raw| Self(Cow::Borrowed(raw.0)))
    }
}

impl IntoOwned for RawJson<'_> {
    type Owned = RawJson<'static>;
    fn into_owned(self) -> RawJson<'static> {
        RawJson(Cow::Owned(self.0.into_owned()))
    }
}

/// An unparsed JSON object, kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawObject<'a>(RawJson<'a>);

impl<'a> RawObject<'a> {
    /// Creates an object; returns `None` if the value is not an object.
    pub fn new(raw: RawJson<'a>) -> Option<Self> {
        raw.get().starts_with('{').then_some(Self(raw))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl Serialize for RawObject<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Self::new(raw).ok_or_else(|| de::Error::custom("not an object"))
    }
}

impl IntoOwned for RawObject<'_> {
    type Owned = RawObject<'static>;
    fn into_owned(self) -> RawObject<'static> {
        RawObject(self.0.into_owned())
    }
}

/// An unknown member: its name and its unparsed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMember<'a> {
    /// The name.
    pub key: CowStr<'a>,
    /// The value, kept byte for byte.
    pub value: RawJson<'a>,
}

/// Unknown members, in their original order.
pub type UnknownMembers<'a> = Vec<UnknownMember<'a>>;

impl IntoOwned for UnknownMember<'_> {
    type Owned = UnknownMember<'static>;
    fn into_owned(self) -> UnknownMember<'static> {
        UnknownMember { key: self.key.into_owned(), value: self.value.into_owned() }
    }
}

/// A name, given as a string or as an object with a `name` member (D43).
///
/// Always written as a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameField<'a>(pub CowStr<'a>);

impl Serialize for NameField<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for NameField<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = NameField<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an object with a name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(NameField(CowStr::from(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(NameField(CowStr::from(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut name = None;
                while let Some(key) = map.next_key::<CowStr<'de>>()? {
                    if &*key == "name" {
                        name = Some(NameField(map.next_value()?));
                    } else {
                        // Read it to check its nesting.
                        map.next_value::<RawJson<'de>>()?;
                    }
                }
                name.ok_or_else(|| de::Error::missing_field("name"))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

impl IntoOwned for NameField<'_> {
    type Owned = NameField<'static>;
    fn into_owned(self) -> NameField<'static> {
        NameField(self.0.into_owned())
    }
}
