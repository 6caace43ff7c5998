//! Defines the JSON objects of SCP with their readers and writers.
//!
//! [`wire!`] takes a table of members and generates the struct, a strict reader, a tolerant reader,
//! a writer and a conversion to an owned value, so that each member is listed once. The strict
//! reader is the fast path and fails at the first fault. The tolerant reader works on unparsed
//! members and reports each fault.

use std::fmt;
use std::marker::PhantomData;

use rutter_finding::Rule;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::rules;
use crate::text::CowStr;

/// Converts a value that borrows from a line into one that owns its data.
pub trait IntoOwned {
    /// The same type without borrowed data.
    type Owned;
    /// Copies all borrowed data.
    fn into_owned(self) -> Self::Owned;
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;
    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(IntoOwned::into_owned).collect()
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;
    fn into_owned(self) -> Self::Owned {
        self.map(IntoOwned::into_owned)
    }
}

macro_rules! impl_into_owned_copy {
    ($($ty:ty),*) => { $(impl $crate::wire::IntoOwned for $ty {
        type Owned = $ty;
        fn into_owned(self) -> $ty { self }
    })* };
}
pub(crate) use impl_into_owned_copy;
impl_into_owned_copy!(bool);

/// The members of a JSON object, with unparsed values.
pub type ObjectMembers<'a> = Vec<(CowStr<'a>, &'a RawValue)>;

/// The result of reading one value tolerantly.
pub(crate) enum FieldValue<T> {
    /// The value has no fault.
    Valid(T),
    /// The value was repaired; the rule describes the fault.
    Repaired(T, &'static Rule),
    /// The value is unusable; the rule describes the fault.
    Invalid(&'static Rule),
    /// The value is not JSON: it contains an invalid escape.
    NotJson,
}

/// The type of a member's value, with its tolerant reader.
pub(crate) trait TolerantField<'a>: Deserialize<'a> {
    /// Initial capacity for an array of these values.
    const USUAL: usize = 4;

    /// Reads the value from a map, for the strict reader.
    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value()
    }

    fn read(raw: &'a str) -> FieldValue<Self> {
        match serde_json::from_str(raw) {
            Ok(value) => FieldValue::Valid(value),
            Err(error) if error.is_syntax() => FieldValue::NotJson,
            Err(_) => FieldValue::Invalid(&rules::BLOCK_INCOMPLETE),
        }
    }
}
impl<'a> TolerantField<'a> for CowStr<'a> {}
impl<'a> TolerantField<'a> for crate::text::NameField<'a> {}
impl TolerantField<'_> for bool {}

impl<'a, T: TolerantField<'a>> TolerantField<'a> for Vec<T> {
    /// Allocates for the usual number of values, to avoid repeated growth.
    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        struct SizedVecSeed<T>(PhantomData<T>);
        impl<'de, T: TolerantField<'de>> DeserializeSeed<'de> for SizedVecSeed<T> {
            type Value = Vec<T>;
            fn deserialize<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Vec<T>, D::Error> {
                deserializer.deserialize_seq(self)
            }
        }
        impl<'de, T: TolerantField<'de>> Visitor<'de> for SizedVecSeed<T> {
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
        map.next_value_seed(SizedVecSeed(PhantomData))
    }

    /// Repairs values one by one; a value without a fault is unchanged.
    fn read(raw: &'a str) -> FieldValue<Self> {
        match serde_json::from_str(raw) {
            Ok(values) => return FieldValue::Valid(values),
            Err(error) if error.is_syntax() => return FieldValue::NotJson,
            Err(_) => {}
        }
        let Ok(raws) = serde_json::from_str::<Vec<&'a RawValue>>(raw) else {
            return FieldValue::Invalid(&rules::BLOCK_INCOMPLETE);
        };
        let mut repair_rule = None;
        let mut values = Self::with_capacity(raws.len());
        for raw in raws {
            match T::read(raw.get()) {
                FieldValue::Valid(value) => values.push(value),
                FieldValue::Repaired(value, rule) => {
                    repair_rule = Some(rule);
                    values.push(value);
                }
                FieldValue::Invalid(rule) => return FieldValue::Invalid(rule),
                FieldValue::NotJson => return FieldValue::NotJson,
            }
        }
        match repair_rule {
            Some(rule) => FieldValue::Repaired(values, rule),
            // Each value is valid, but the array is not.
            None => FieldValue::Invalid(&rules::BLOCK_INCOMPLETE),
        }
    }
}

/// Reads a string and converts it with `make`.
pub(crate) fn read_text<'a, T>(
    raw: &'a str,
    make: impl FnOnce(CowStr<'a>) -> FieldValue<T>,
) -> FieldValue<T> {
    match CowStr::read(raw) {
        FieldValue::Valid(text) | FieldValue::Repaired(text, _) => make(text),
        FieldValue::Invalid(rule) => FieldValue::Invalid(rule),
        FieldValue::NotJson => FieldValue::NotJson,
    }
}

/// A fault of a member that the tolerant reader repaired or dropped.
pub(crate) struct FieldFault {
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'static str,
}

/// An error that makes the tolerant reader drop an object.
pub(crate) enum ObjectError {
    /// A required member is missing or unusable.
    Member(FieldFault),
    /// A value is not JSON; the whole line is rejected.
    NotJson,
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
            /// Unknown members, kept unchanged.
            pub extra: $crate::text::UnknownMembers<'a>,
        }

        impl<'a> $name<'a> {
            /// Reads the remaining members of a map; fails at the first fault.
            #[allow(dead_code, reason = "not every object has both readers in use")]
            pub(crate) fn from_map<A: serde::de::MapAccess<'a>>(
                mut map: A,
            ) -> Result<Self, A::Error> {
                $( let mut $field: Option<$ty> = None; )*
                let mut extra = Vec::new();
                while let Some(key) = map.next_key::<$crate::text::CowStr<'a>>()? {
                    match &*key {
                        $( $key => {
                            let value = <$ty as $crate::wire::TolerantField<'a>>::take(&mut map)?;
                            if $field.replace(value).is_some() {
                                return Err(serde::de::Error::duplicate_field($key));
                            }
                        } )*
                        // `type` was read before, so this member is a duplicate.
                        $( "type" if !$tag.is_empty() => {
                            return Err(serde::de::Error::duplicate_field("type"));
                        } )?
                        _ => {
                            let value = map.next_value()?;
                            extra.push($crate::text::UnknownMember { key, value });
                        }
                    }
                }
                Ok(Self { $( $field: wire!(@take $kind $field $key), )* extra })
            }

            /// Reads unparsed members and reports each fault. Of duplicate members, the last is
            /// used. Fails if a required member is missing or unusable.
            #[allow(dead_code, reason = "not every object has both readers in use")]
            pub(crate) fn from_members(
                members: $crate::wire::ObjectMembers<'a>,
                faults: &mut dyn FnMut($crate::wire::FieldFault),
            ) -> Result<Self, $crate::wire::ObjectError> {
                use $crate::wire::{FieldFault, TolerantField, ObjectError, FieldValue};
                $( let mut $field: Option<&'a serde_json::value::RawValue> = None; )*
                let mut extra = Vec::new();
                for (key, raw) in members {
                    match &*key {
                        $( $key => {
                            if $field.replace(raw).is_some() {
                                let rule = &$crate::rules::DUPLICATE_MEMBER;
                                faults(FieldFault { rule, key: $key });
                            }
                        } )*
                        _ => extra.push($crate::text::UnknownMember { key, value: raw.into() }),
                    }
                }
                $( let $field: Option<$ty> = match $field {
                    None => None,
                    Some(raw) => match <$ty as TolerantField<'a>>::read(raw.get()) {
                        FieldValue::Valid(value) => Some(value),
                        FieldValue::Repaired(value, rule) => {
                            faults(FieldFault { rule, key: $key });
                            Some(value)
                        }
                        FieldValue::Invalid(rule) => wire!(@bad $kind rule $key faults),
                        FieldValue::NotJson => return Err(ObjectError::NotJson),
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

        impl $crate::wire::IntoOwned for $name<'_> {
            type Owned = $name<'static>;
            fn into_owned(self) -> $name<'static> {
                $name {
                    $( $field: $crate::wire::IntoOwned::into_owned(self.$field), )*
                    extra: $crate::wire::IntoOwned::into_owned(self.extra),
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
                return Err($crate::wire::ObjectError::Member($crate::wire::FieldFault {
                    rule: &$crate::rules::BLOCK_INCOMPLETE,
                    key: $key,
                }));
            }
        }
    };
    (@keep optional $field:ident $key:literal) => { $field };

    (@bad required $rule:ident $key:literal $faults:ident) => {
        return Err(ObjectError::Member(FieldFault { rule: $rule, key: $key }))
    };
    (@bad optional $rule:ident $key:literal $faults:ident) => {{
        let _ = $rule;
        $faults(FieldFault { rule: &$crate::rules::BLOCK_FIELD, key: $key });
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

/// Implements `Deserialize` for objects of [`wire!`] with their strict reader.
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
