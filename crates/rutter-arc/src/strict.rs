//! The fast road: an entry that is perfect, read without a detour.
//!
//! Fails at the first thing that is not, without saying what; the
//! [tolerant road](crate::tolerant) then says it. A property test holds the
//! two to the same result.

use std::fmt;

use rutter_page::{Member, Object, PageUrl, Raw, Str, Timestamp};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::checksum::is_checksum;
use crate::entry::{Entry, MOST_TAGS};
use crate::tolerant::is_uri;

/// Unknown members of one entry that this road takes.
const FEW: usize = 16;

/// A member's name.
enum Key<'a> {
    Url,
    LastMod,
    Indexable,
    Auth,
    Robots,
    Removed,
    Priority,
    Summary,
    Tags,
    Checksum,
    Snapshot,
    Other(&'a str),
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plain name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(match name {
                    "url" => Key::Url,
                    "lastmod" => Key::LastMod,
                    "ai_indexable" => Key::Indexable,
                    "auth_required" => Key::Auth,
                    "robots_directive" => Key::Robots,
                    "removed" => Key::Removed,
                    "crawl_priority" => Key::Priority,
                    "ai_summary" => Key::Summary,
                    "ai_tags" => Key::Tags,
                    "ai_checksum" => Key::Checksum,
                    "ai_snapshot" => Key::Snapshot,
                    name => Key::Other(name),
                })
            }
            // A name with escapes is read on the other road.
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A few tags.
struct Tags<'a>(Vec<Str<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Tags<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TagsVisitor;
        impl<'de> Visitor<'de> for TagsVisitor {
            type Value = Tags<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a few strings")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tags<'de>, A::Error> {
                let mut tags = Vec::with_capacity(4);
                while let Some(tag) = seq.next_element()? {
                    if MOST_TAGS <= tags.len() {
                        return Err(de::Error::custom("too many"));
                    }
                    tags.push(tag);
                }
                Ok(Tags(tags))
            }
        }
        deserializer.deserialize_seq(TagsVisitor)
    }
}

/// A perfect entry.
pub(crate) struct Strict<'a>(pub(crate) Entry<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Strict<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Strict<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entry")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Strict<'de>, A::Error> {
                read(map).map(Strict)
            }
        }
        deserializer.deserialize_map(EntryVisitor)
    }
}

fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Entry<'de>, A::Error> {
    let odd = |what: &str| de::Error::custom(what);
    let mut url: Option<PageUrl<'de>> = None;
    let mut seen = 0_u16;
    let mut entry = Entry::new(PageUrl::parse("http://none/").map_err(de::Error::custom)?, None);
    while let Some(key) = map.next_key::<Key<'de>>()? {
        let bit = match key {
            Key::Url => {
                url = Some(map.next_value()?);
                1
            }
            Key::LastMod => {
                entry.lastmod = Some(map.next_value::<Timestamp>()?);
                2
            }
            Key::Indexable => {
                entry.ai_indexable = Some(map.next_value()?);
                4
            }
            Key::Auth => {
                entry.auth_required = Some(map.next_value()?);
                8
            }
            Key::Robots => {
                entry.robots_directive = Some(map.next_value()?);
                16
            }
            Key::Removed => {
                entry.removed = map.next_value()?;
                32
            }
            Key::Priority => {
                let priority: f64 = map.next_value()?;
                if !(0.0..=1.0).contains(&priority) {
                    return Err(odd("outside of 0 to 1"));
                }
                entry.crawl_priority = Some(priority);
                64
            }
            Key::Summary => {
                entry.ai_summary = Some(map.next_value()?);
                128
            }
            Key::Tags => {
                entry.ai_tags = map.next_value::<Tags<'de>>()?.0;
                256
            }
            Key::Checksum => {
                let checksum: Str<'de> = map.next_value()?;
                if !is_checksum(&checksum) {
                    return Err(odd("not a checksum"));
                }
                entry.ai_checksum = Some(checksum);
                512
            }
            Key::Snapshot => {
                entry.ai_snapshot = Some(map.next_value::<Object<'de>>()?);
                1024
            }
            Key::Other(name) => {
                let value: Raw<'de> = map.next_value()?;
                let is_twice = entry.extra.iter().any(|member| &*member.key == name);
                // Looking through them all is fine only while they are few.
                if is_twice || FEW <= entry.extra.len() {
                    return Err(odd("twice, or too many"));
                }
                entry.extra.push(Member { key: name.into(), value });
                0
            }
        };
        if seen & bit != 0 {
            return Err(odd("twice"));
        }
        seen |= bit;
    }
    entry.url = url.ok_or_else(|| odd("no address"))?;
    if !is_uri(entry.url.as_str()) {
        return Err(odd("characters to escape"));
    }
    if entry.ai_indexable.is_none() {
        return Err(odd("no word about consent"));
    }
    Ok(entry)
}
