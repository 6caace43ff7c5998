//! One table per wire object: its members, which are required, and the rest.
//!
//! [`wire!`] turns such a table into the struct, its strict reader, its
//! tolerant reader, its writer and its owning copy, so that each member is
//! named once. The strict reader is the fast path: it fails at the first thing
//! that is not perfect. The tolerant one works on members kept raw and says
//! what it had to drop.

use std::fmt;
use std::marker::PhantomData;

use rutter_finding::Rule;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::rules;
use crate::text::Str;

/// Makes a value independent of the line it was read from.
pub trait Own {
    /// The same type with nothing borrowed.
    type Owned;
    /// Copies what is borrowed.
    fn own(self) -> Self::Owned;
}

impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;
    fn own(self) -> Self::Owned {
        self.into_iter().map(Own::own).collect()
    }
}

impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;
    fn own(self) -> Self::Owned {
        self.map(Own::own)
    }
}

macro_rules! own_copy {
    ($($ty:ty),*) => { $(impl $crate::wire::Own for $ty {
        type Owned = $ty;
        fn own(self) -> $ty { self }
    })* };
}
pub(crate) use own_copy;
own_copy!(bool);

/// The members of an object, values unread.
pub type Members<'a> = Vec<(Str<'a>, &'a RawValue)>;

/// What the tolerant reader makes of one value.
pub(crate) enum Read<T> {
    /// As it should be.
    Good(T),
    /// Usable after mending, which the rule describes.
    Mended(T, &'static Rule),
    /// Not usable.
    Bad(&'static Rule),
    /// Not even JSON: an escape that stands for nothing.
    Broken,
}

/// A member's value, read tolerantly.
pub(crate) trait Field<'a>: Deserialize<'a> {
    /// How many of these usually stand in one array.
    const USUAL: usize = 4;

    /// Takes the value from a map; the strict reader's door.
    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value()
    }

    fn read(raw: &'a str) -> Read<Self> {
        match serde_json::from_str(raw) {
            Ok(value) => Read::Good(value),
            Err(error) if error.is_syntax() => Read::Broken,
            Err(_) => Read::Bad(&rules::BLOCK_INCOMPLETE),
        }
    }
}
impl<'a> Field<'a> for Str<'a> {}
impl<'a> Field<'a> for crate::text::Name<'a> {}
impl Field<'_> for bool {}

impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    /// Room for as many as are usual at once, instead of growing to them.
    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        struct Roomy<T>(PhantomData<T>);
        impl<'de, T: Field<'de>> DeserializeSeed<'de> for Roomy<T> {
            type Value = Vec<T>;
            fn deserialize<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Vec<T>, D::Error> {
                deserializer.deserialize_seq(self)
            }
        }
        impl<'de, T: Field<'de>> Visitor<'de> for Roomy<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Vec<T>, S::Error> {
                let mut values = Vec::with_capacity(T::USUAL);
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(values)
            }
        }
        map.next_value_seed(Roomy(PhantomData))
    }

    /// One value that was mended leaves the others as they are.
    fn read(raw: &'a str) -> Read<Self> {
        match serde_json::from_str(raw) {
            Ok(values) => return Read::Good(values),
            Err(error) if error.is_syntax() => return Read::Broken,
            Err(_) => {}
        }
        let Ok(raws) = serde_json::from_str::<Vec<&'a RawValue>>(raw) else {
            return Read::Bad(&rules::BLOCK_INCOMPLETE);
        };
        let mut mended = None;
        let mut values = Self::with_capacity(raws.len());
        for raw in raws {
            match T::read(raw.get()) {
                Read::Good(value) => values.push(value),
                Read::Mended(value, rule) => {
                    mended = Some(rule);
                    values.push(value);
                }
                Read::Bad(rule) => return Read::Bad(rule),
                Read::Broken => return Read::Broken,
            }
        }
        match mended {
            Some(rule) => Read::Mended(values, rule),
            // Every value is good by itself, yet not all of them together.
            None => Read::Bad(&rules::BLOCK_INCOMPLETE),
        }
    }
}

/// Reads a string member and makes its value from it.
pub(crate) fn read_text<'a, T>(raw: &'a str, make: impl FnOnce(Str<'a>) -> Read<T>) -> Read<T> {
    match Str::read(raw) {
        Read::Good(text) | Read::Mended(text, _) => make(text),
        Read::Bad(rule) => Read::Bad(rule),
        Read::Broken => Read::Broken,
    }
}

/// Something the tolerant reader had to mend or drop.
pub(crate) struct Fault {
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'static str,
}

/// Why the tolerant reader gave an object up.
pub(crate) enum Lost {
    /// A required member is missing or unusable.
    Member(Fault),
    /// A value is not JSON after all; the whole line is refused.
    Broken,
}

/// Defines a wire object.
macro_rules! wire {
    (
        $(#[$meta:meta])*
        $name:ident $(= $tag:literal)? {
            $( $(#[$doc:meta])* $kind:ident $field:ident : $ty:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name<'a> {
            $( $(#[$doc])* pub $field: wire!(@type $kind $ty), )*
            /// Members this version does not know, byte-exact.
            pub extra: $crate::text::Extra<'a>,
        }

        impl<'a> $name<'a> {
            /// Reads what is left of a map; fails at the first imperfection.
            #[allow(dead_code, reason = "not every object is read by both roads")]
            pub(crate) fn from_map<A: serde::de::MapAccess<'a>>(
                mut map: A,
            ) -> Result<Self, A::Error> {
                $( let mut $field: Option<$ty> = None; )*
                let mut extra = Vec::new();
                while let Some(key) = map.next_key::<$crate::text::Str<'a>>()? {
                    match &*key {
                        $( $key => {
                            let value = <$ty as $crate::wire::Field<'a>>::take(&mut map)?;
                            if $field.replace(value).is_some() {
                                return Err(serde::de::Error::duplicate_field($key));
                            }
                        } )*
                        // The tag has been read; here it would be a second one.
                        $( "type" if !$tag.is_empty() => {
                            return Err(serde::de::Error::duplicate_field("type"));
                        } )?
                        _ => extra.push($crate::text::Member { key, value: map.next_value()? }),
                    }
                }
                Ok(Self { $( $field: wire!(@take $kind $field $key), )* extra })
            }

            /// Reads unread members; says what it drops, gives up when a
            /// required one is missing or unusable. The last of two wins.
            #[allow(dead_code, reason = "not every object is read by both roads")]
            pub(crate) fn from_members(
                members: $crate::wire::Members<'a>,
                faults: &mut dyn FnMut($crate::wire::Fault),
            ) -> Result<Self, $crate::wire::Lost> {
                use $crate::wire::{Fault, Field, Lost, Read};
                $( let mut $field: Option<&'a serde_json::value::RawValue> = None; )*
                let mut extra = Vec::new();
                for (key, raw) in members {
                    match &*key {
                        $( $key => {
                            if $field.replace(raw).is_some() {
                                faults(Fault { rule: &$crate::rules::DUPLICATE_MEMBER, key: $key });
                            }
                        } )*
                        _ => extra.push($crate::text::Member { key, value: raw.into() }),
                    }
                }
                $( let $field: Option<$ty> = match $field {
                    None => None,
                    Some(raw) => match <$ty as Field<'a>>::read(raw.get()) {
                        Read::Good(value) => Some(value),
                        Read::Mended(value, rule) => {
                            faults(Fault { rule, key: $key });
                            Some(value)
                        }
                        Read::Bad(rule) => wire!(@bad $kind rule $key faults),
                        Read::Broken => return Err(Lost::Broken),
                    },
                }; )*
                Ok(Self { $( $field: wire!(@keep $kind $field $key), )* extra })
            }
        }

        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $( map.serialize_entry("type", $tag)?; )?
                $( wire!(@put $kind map $key self.$field); )*
                for member in &self.extra {
                    map.serialize_entry(&*member.key, &member.value)?;
                }
                map.end()
            }
        }

        impl $crate::wire::Own for $name<'_> {
            type Owned = $name<'static>;
            fn own(self) -> $name<'static> {
                $name {
                    $( $field: $crate::wire::Own::own(self.$field), )*
                    extra: $crate::wire::Own::own(self.extra),
                }
            }
        }
    };

    (@type required $ty:ty) => { $ty };
    (@type optional $ty:ty) => { Option<$ty> };

    (@take required $field:ident $key:literal) => {
        match $field {
            Some(value) => value,
            None => return Err(serde::de::Error::missing_field($key)),
        }
    };
    (@take optional $field:ident $key:literal) => { $field };

    (@keep required $field:ident $key:literal) => {
        match $field {
            Some(value) => value,
            None => {
                return Err($crate::wire::Lost::Member($crate::wire::Fault {
                    rule: &$crate::rules::BLOCK_INCOMPLETE,
                    key: $key,
                }));
            }
        }
    };
    (@keep optional $field:ident $key:literal) => { $field };

    (@bad required $rule:ident $key:literal $faults:ident) => {
        return Err(Lost::Member(Fault { rule: $rule, key: $key }))
    };
    (@bad optional $rule:ident $key:literal $faults:ident) => {{
        let _ = $rule;
        $faults(Fault { rule: &$crate::rules::BLOCK_FIELD, key: $key });
        None
    }};

    (@put required $map:ident $key:literal $value:expr) => {
        $map.serialize_entry($key, &$value)?;
    };
    (@put optional $map:ident $key:literal $value:expr) => {
        if let Some(value) = &$value {
            $map.serialize_entry($key, value)?;
        }
    };
}
pub(crate) use wire;

/// Gives a wire object its `Deserialize`, by way of `from_map`.
macro_rules! wire_deserialize {
    ($($name:ident),*) => { $(
        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;
                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<Self::Value, A::Error> {
                        $name::from_map(map)
                    }
                }
                deserializer.deserialize_map(ObjectVisitor)
            }
        }
    )* };
}
pub(crate) use wire_deserialize;
