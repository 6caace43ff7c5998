//! Strict parser: reads an entry in its usual form without intermediate values.
//!
//! Stops at the first deviation from this form, without a message. The [tolerant
//! parser](crate::tolerant) then reads the entry and reports the problem. A property test checks
//! that both parsers give the same result.

use std::fmt;

use rutter_page::{CowStr, PageUrl, RawObject, Timestamp, UnknownMember};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::checksum::is_checksum;
use crate::entry::{ArcEntry, MAX_TAGS};
use crate::tolerant::is_uri;

/// Maximum number of unknown members that this parser accepts in one entry.
const FEW: usize = 16;

/// Name of a member of an entry.
enum EntryKey<'a> {
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

impl<'de> Deserialize<'de> for EntryKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = EntryKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plain name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<EntryKey<'de>, E> {
                Ok(match name {
                    "url" => EntryKey::Url,
                    "lastmod" => EntryKey::LastMod,
                    "ai_indexable" => EntryKey::Indexable,
                    "auth_required" => EntryKey::Auth,
                    "robots_directive" => EntryKey::Robots,
                    "removed" => EntryKey::Removed,
                    "crawl_priority" => EntryKey::Priority,
                    "ai_summary" => EntryKey::Summary,
                    "ai_tags" => EntryKey::Tags,
                    "ai_checksum" => EntryKey::Checksum,
                    "ai_snapshot" => EntryKey::Snapshot,
                    name => EntryKey::Other(name),
                })
            }
            // The tolerant parser handles a name with escapes.
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A list of tags that is not longer than the limit of this parser.
struct StrictTags<'a>(Vec<CowStr<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for StrictTags<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TagsVisitor;
        impl<'de> Visitor<'de> for TagsVisitor {
            type Value = StrictTags<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a few strings")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<StrictTags<'de>, A::Error> {
                let mut tags = Vec::with_capacity(4);
                while let Some(tag) = seq.next_element()? {
                    if MAX_TAGS <= tags.len() {
                        return Err(de::Error::custom("too many"));
                    }
                    tags.push(tag);
                }
                Ok(StrictTags(tags))
            }
        }
        deserializer.deserialize_seq(TagsVisitor)
    }
}

/// An entry in its usual form.
pub(crate) struct StrictEntry<'a>(pub(crate) ArcEntry<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for StrictEntry<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = StrictEntry<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entry")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StrictEntry<'de>, A::Error> {
                read(map).map(StrictEntry)
            }
        }
        deserializer.deserialize_map(EntryVisitor)
    }
}

fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<ArcEntry<'de>, A::Error> {
    let odd = |what: &str| de::Error::custom(what);
    let mut url: Option<PageUrl<'de>> = None;
    let mut seen = 0_u16;
    let mut entry = ArcEntry::new(PageUrl::parse("http://none/").map_err(de::Error::custom)?, None);
    while let Some(key) = map.next_key::<EntryKey<'de>>()? {
        let bit = match key {
            EntryKey::Url => {
                url = Some(map.next_value()?);
                1
            }
            EntryKey::LastMod => {
                entry.lastmod = Some(map.next_value::<Timestamp>()?);
                2
            }
            EntryKey::Indexable => {
                entry.ai_indexable = Some(map.next_value()?);
                4
            }
            EntryKey::Auth => {
                entry.auth_required = Some(map.next_value()?);
                8
            }
            EntryKey::Robots => {
                entry.robots_directive = Some(map.next_value()?);
                16
            }
            EntryKey::Removed => {
                entry.removed = map.next_value()?;
                32
            }
            EntryKey::Priority => {
                let priority = Some(map.next_value()?).filter(|it| (0.0..=1.0).contains(it));
                entry.crawl_priority = Some(priority.ok_or_else(|| odd("outside of 0 to 1"))?);
                64
            }
            EntryKey::Summary => {
                entry.ai_summary = Some(map.next_value()?);
                128
            }
            EntryKey::Tags => {
                entry.ai_tags = map.next_value::<StrictTags<'de>>()?.0;
                256
            }
            EntryKey::Checksum => {
                let checksum: CowStr<'de> = map.next_value()?;
                if !is_checksum(&checksum) {
                    return Err(odd("not a checksum"));
                }
                entry.ai_checksum = Some(checksum);
                512
            }
            EntryKey::Snapshot => {
                entry.ai_snapshot = Some(map.next_value::<RawObject<'de>>()?);
                1024
            }
            EntryKey::Other(name) => {
                let member = UnknownMember { key: name.into(), value: map.next_value()? };
                // A linear search is fine for so few members.
                let is_twice = entry.extra.iter().any(|other| other.key == member.key);
                if is_twice || FEW <= entry.extra.len() {
                    return Err(odd("twice, or too many"));
                }
                entry.extra.push(member);
                0
            }
        };
        if seen & bit != 0 {
            return Err(odd("twice"));
        }
        seen |= bit;
    }
    entry.url = url.ok_or_else(|| odd("no address"))?;
    match find_fault(&entry) {
        Some(fault) => Err(odd(fault)),
        None => Ok(entry),
    }
}

/// Returns why a complete entry needs the tolerant reader, if it does.
fn find_fault(entry: &ArcEntry<'_>) -> Option<&'static str> {
    if !is_uri(entry.url.as_str()) {
        return Some("characters to escape");
    }
    entry.ai_indexable.is_none().then_some("no word about consent")
}
