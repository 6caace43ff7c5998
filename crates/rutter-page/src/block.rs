//! Content blocks: the ten types of SCP 0.1, and those we do not know.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::media::{Audio, Icon, Video};
use crate::rules;
use crate::text::{Raw, Shallow, Str};
use crate::url::HttpUrl;
use crate::wire::{Fault, Field, Lost, Members, Own, Read, own_copy, wire};

/// One piece of a page's content, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// A paragraph.
    Text(Text<'a>),
    /// A heading.
    Heading(Heading<'a>),
    /// A link that stands by itself.
    Link(Link<'a>),
    /// A picture.
    Image(Image<'a>),
    /// A list.
    List(List<'a>),
    /// Program text.
    Code(Code<'a>),
    /// A table.
    Table(Table<'a>),
    /// A quotation.
    Quote(Quote<'a>),
    /// A film.
    Video(Box<Video<'a>>),
    /// A sound recording.
    Audio(Box<Audio<'a>>),
    /// A type this version does not know, kept as it was.
    Unknown(Unknown<'a>),
}

wire! {
    /// A paragraph of plain text.
    Text = "text" {
        /// The text.
        required text: Str<'a> = "text",
    }
}

wire! {
    /// A heading of level 1 to 6.
    Heading = "heading" {
        /// 1 for the topmost.
        required level: Level = "level",
        /// Its text.
        required text: Str<'a> = "text",
    }
}

wire! {
    /// A link that stands by itself.
    Link = "link" {
        /// Where it leads.
        required url: HttpUrl<'a> = "url",
        /// What it says.
        required text: Str<'a> = "text",
        /// Link relations, such as `nofollow`.
        optional rel: Vec<Str<'a>> = "rel",
    }
}

wire! {
    /// A picture and the words that stand for it.
    Image = "image" {
        /// Address of the picture.
        required url: HttpUrl<'a> = "url",
        /// What it shows; may be empty.
        required alt: Str<'a> = "alt",
    }
}

wire! {
    /// A list; nested ones are flattened into items that begin with two spaces
    /// and `- ` for each level (D45).
    List = "list" {
        /// Numbered or not.
        required ordered: bool = "ordered",
        /// The items.
        required items: Vec<Str<'a>> = "items",
    }
}

wire! {
    /// Program text.
    Code = "code" {
        /// Programming language, such as `rust`.
        optional language: Str<'a> = "language",
        /// The text, white space kept.
        required code: Str<'a> = "code",
    }
}

wire! {
    /// A table, row by row, header row first.
    Table = "table" {
        /// Rows of cells.
        required rows: Vec<Vec<Str<'a>>> = "rows",
    }
}

wire! {
    /// A quotation.
    Quote = "quote" {
        /// What was said.
        required text: Str<'a> = "text",
        /// Who said it.
        optional citation: Str<'a> = "citation",
    }
}

/// A block of a type this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown<'a> {
    /// The value of its `type`.
    pub kind: Str<'a>,
    /// The whole block as it was written.
    pub raw: Raw<'a>,
}

impl Own for Unknown<'_> {
    type Owned = Unknown<'static>;
    fn own(self) -> Unknown<'static> {
        Unknown { kind: self.kind.own(), raw: self.raw.own() }
    }
}

/// A heading's level, 1 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// The nearest valid level.
    pub fn clamp(level: i64) -> Self {
        Self(u8::try_from(level.clamp(1, 6)).unwrap_or(1))
    }

    /// The level as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let level = u8::deserialize(deserializer)?;
        if matches!(level, 1..=6) {
            Ok(Self(level))
        } else {
            Err(de::Error::custom("heading level is outside 1 to 6"))
        }
    }
}

impl Field<'_> for Level {
    /// Integers outside 1 to 6 are clamped, integral floats count as integers,
    /// anything else is no level (D32).
    fn read(raw: &str) -> Read<Self> {
        let whole = match raw.parse::<i64>() {
            Ok(level) => Some(level),
            Err(_) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                raw.parse::<f64>().ok().filter(|level| level.fract() == 0.0).map(|level| {
                    #[expect(clippy::cast_possible_truncation, reason = "clamped to 1..=6 before")]
                    let level = level.clamp(0.0, 7.0) as i64;
                    level
                })
            }
            Err(_) => None,
        };
        match whole {
            Some(level @ 1..=6) => Read::Good(Self::clamp(level)),
            Some(level) => Read::Mended(Self::clamp(level), &rules::HEADING_LEVEL),
            None => Read::Bad(&rules::BLOCK_INCOMPLETE),
        }
    }
}

own_copy!(Level);

impl Block<'_> {
    /// The same block with every URL as a URI of RFC 3986, for writers.
    #[must_use]
    pub fn with_uris(self) -> Self {
        match self {
            Self::Link(link) => Self::Link(Link { url: link.url.into_uri(), ..link }),
            Self::Image(image) => Self::Image(Image { url: image.url.into_uri(), ..image }),
            Self::Video(mut video) => {
                video.url = video.url.into_uri();
                video.icon = video.icon.map(Icon::with_uri);
                for caption in video.captions.iter_mut().flatten() {
                    caption.url = caption.url.clone().into_uri();
                }
                Self::Video(video)
            }
            Self::Audio(mut audio) => {
                audio.url = audio.url.into_uri();
                audio.icon = audio.icon.map(Icon::with_uri);
                Self::Audio(audio)
            }
            other => other,
        }
    }
}

/// Says each block type once: its name on the wire and its variant.
macro_rules! kinds {
    ($( $name:literal $variant:ident $ty:ident $([$wrap:ident])? ),* $(,)?) => {
        impl<'a> Block<'a> {
            /// The value of `type`.
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $name, )*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            fn from_map<A: MapAccess<'a>>(kind: &str, map: A) -> Result<Self, A::Error> {
                match kind {
                    $( $name => $ty::from_map(map).map(|it| Self::$variant(kinds!(@wrap it $($wrap)?))), )*
                    // The judge keeps it byte-exact; here its beginning is gone.
                    _ => Err(de::Error::custom("unknown block type")),
                }
            }

            /// Reads a block whose type is known from unread members; `None`
            /// for an unknown type.
            pub(crate) fn from_members(
                kind: &str,
                members: Members<'a>,
                faults: &mut dyn FnMut(Fault),
            ) -> Option<Result<Self, Lost>> {
                Some(match kind {
                    $( $name => $ty::from_members(members, faults)
                        .map(|it| Self::$variant(kinds!(@wrap it $($wrap)?))), )*
                    _ => return None,
                })
            }
        }

        impl Serialize for Block<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(block) => block.serialize(serializer), )*
                    Self::Unknown(unknown) => unknown.raw.serialize(serializer),
                }
            }
        }

        impl Own for Block<'_> {
            type Owned = Block<'static>;
            fn own(self) -> Block<'static> {
                match self {
                    $( Self::$variant(block) => Block::$variant(kinds!(@own block $($wrap)?)), )*
                    Self::Unknown(unknown) => Block::Unknown(unknown.own()),
                }
            }
        }
    };
    (@wrap $value:ident) => { $value };
    (@wrap $value:ident $wrap:ident) => { $wrap::new($value) };
    (@own $value:ident) => { $value.own() };
    (@own $value:ident $wrap:ident) => { $wrap::new((*$value).own()) };
}

kinds! {
    "text" Text Text,
    "heading" Heading Heading,
    "link" Link Link,
    "image" Image Image,
    "list" List List,
    "code" Code Code,
    "table" Table Table,
    "quote" Quote Quote,
    "video" Video Video [Box],
    "audio" Audio Audio [Box],
}

/// The strict road: `type` first and everything perfect, without buffering.
/// Another order of members costs a second look at each value.
impl<'de: 'a, 'a> Deserialize<'de> for Block<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlockVisitor;
        impl<'de> Visitor<'de> for BlockVisitor {
            type Value = Block<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let first = map.next_key::<Str<'de>>()?;
                if first.as_deref() == Some("type") {
                    let kind = map.next_value::<Str<'de>>()?;
                    return Block::from_map(&kind, map);
                }
                let mut members = Members::new();
                let mut kind = None;
                let mut next = first;
                while let Some(key) = next {
                    if &*key == "type" {
                        if kind.replace(map.next_value::<Str<'de>>()?).is_some() {
                            return Err(de::Error::duplicate_field("type"));
                        }
                    } else {
                        members.push((key, map.next_value::<Shallow<'de>>()?.0));
                    }
                    next = map.next_key()?;
                }
                let kind = kind.ok_or_else(|| de::Error::missing_field("type"))?;
                let mut is_perfect = true;
                let block = Block::from_members(&kind, members, &mut |_| is_perfect = false);
                match block {
                    Some(Ok(block)) if is_perfect => Ok(block),
                    _ => Err(de::Error::custom("not a perfect block")),
                }
            }
        }
        deserializer.deserialize_map(BlockVisitor)
    }
}
