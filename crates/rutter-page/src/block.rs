//! Content blocks: the ten types of SCP 0.1, and blocks of unknown type.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::media::{AudioBlock, Icon, VideoBlock};
use crate::rules;
use crate::text::{CowStr, DepthLimitedJson, RawJson};
use crate::url::HttpUrl;
use crate::wire::{
    FieldFault, FieldValue, IntoOwned, ObjectError, ObjectMembers, TolerantField,
    impl_into_owned_copy, wire,
};

/// One block of the content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// A paragraph.
    Text(TextBlock<'a>),
    /// A heading.
    Heading(HeadingBlock<'a>),
    /// A link that is not part of a paragraph.
    Link(LinkBlock<'a>),
    /// An image.
    Image(ImageBlock<'a>),
    /// A list.
    List(ListBlock<'a>),
    /// A code listing.
    Code(CodeBlock<'a>),
    /// A table.
    Table(TableBlock<'a>),
    /// A quotation.
    Quote(QuoteBlock<'a>),
    /// A video.
    Video(Box<VideoBlock<'a>>),
    /// An audio recording.
    Audio(Box<AudioBlock<'a>>),
    /// A block of unknown type, kept unchanged.
    Unknown(UnknownBlock<'a>),
}

wire! {
    /// A paragraph of plain text.
    TextBlock = "text" {
        /// The text.
        required text: CowStr<'a> = "text",
    }
}

wire! {
    /// A heading of level 1 to 6.
    HeadingBlock = "heading" {
        /// The level; 1 is the highest.
        required level: HeadingLevel = "level",
        /// The text.
        required text: CowStr<'a> = "text",
    }
}

wire! {
    /// A link that is not part of a paragraph.
    LinkBlock = "link" {
        /// The target.
        required url: HttpUrl<'a> = "url",
        /// The link text.
        required text: CowStr<'a> = "text",
        /// Link relations, such as `nofollow`.
        optional rel: Vec<CowStr<'a>> = "rel",
    }
}

wire! {
    /// An image and its alternative text.
    ImageBlock = "image" {
        /// The URL of the image.
        required url: HttpUrl<'a> = "url",
        /// The alternative text; may be empty.
        required alt: CowStr<'a> = "alt",
    }
}

wire! {
    /// A list. Nested lists are flattened into items that begin with two spaces per level and `- `
    /// (D45).
    ListBlock = "list" {
        /// Whether the list is numbered.
        required ordered: bool = "ordered",
        /// The items.
        required items: Vec<CowStr<'a>> = "items",
    }
}

wire! {
    /// A code listing.
    CodeBlock = "code" {
        /// The programming language, such as `rust`.
        optional language: CowStr<'a> = "language",
        /// The code, with its white space.
        required code: CowStr<'a> = "code",
    }
}

wire! {
    /// A table, row by row. The header row is the first row.
    TableBlock = "table" {
        /// The rows, each a list of cells.
        required rows: Vec<Vec<CowStr<'a>>> = "rows",
    }
}

wire! {
    /// A quotation.
    QuoteBlock = "quote" {
        /// The quoted text.
        required text: CowStr<'a> = "text",
        /// The source of the quotation.
        optional citation: CowStr<'a> = "citation",
    }
}

/// A block of unknown type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBlock<'a> {
    /// The value of the `type` member.
    pub kind: CowStr<'a>,
    /// The whole block, unchanged.
    pub raw: RawJson<'a>,
}

impl IntoOwned for UnknownBlock<'_> {
    type Owned = UnknownBlock<'static>;
    fn into_owned(self) -> UnknownBlock<'static> {
        UnknownBlock { kind: self.kind.into_owned(), raw: self.raw.into_owned() }
    }
}

/// The level of a heading, from 1 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeadingLevel(u8);

impl HeadingLevel {
    /// Returns the valid level that is nearest to `level`.
    pub fn clamp(level: i64) -> Self {
        Self(u8::try_from(level.clamp(1, 6)).unwrap_or(1))
    }

    /// Returns the level as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Serialize for HeadingLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl<'de> Deserialize<'de> for HeadingLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let level = u8::deserialize(deserializer)?;
        if matches!(level, 1..=6) {
            Ok(Self(level))
        } else {
            Err(de::Error::custom("heading level is outside 1 to 6"))
        }
    }
}

impl TolerantField<'_> for HeadingLevel {
    /// Clamps integers outside 1 to 6 and accepts floats without a fraction; rejects everything
    /// else (D32).
    fn read(raw: &str) -> FieldValue<Self> {
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
            Some(level @ 1..=6) => FieldValue::Valid(Self::clamp(level)),
            Some(level) => FieldValue::Repaired(Self::clamp(level), &rules::HEADING_LEVEL),
            None => FieldValue::Invalid(&rules::BLOCK_INCOMPLETE),
        }
    }
}

impl_into_owned_copy!(HeadingLevel);

impl Block<'_> {
    /// Returns the block with every URL written as a URI of RFC 3986, for publishing.
    #[must_use]
    pub fn with_uris(self) -> Self {
        match self {
            Self::Link(link) => Self::Link(LinkBlock { url: link.url.into_uri(), ..link }),
            Self::Image(image) => Self::Image(ImageBlock { url: image.url.into_uri(), ..image }),
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

/// Defines the block types: the value of `type`, the variant and the struct of each.
macro_rules! block_types {
    ($( $name:literal $variant:ident $ty:ident $([$wrap:ident])? ),* $(,)?) => {
        impl<'a> Block<'a> {
            /// Returns the value of the `type` member.
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $name, )*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            fn from_map<A: MapAccess<'a>>(kind: &str, map: A) -> Result<Self, A::Error> {
                match kind {
                    $( $name => $ty::from_map(map)
                        .map(|it| Self::$variant(block_types!(@wrap it $($wrap)?))), )*
                    // `PageReader` keeps a block of unknown type unchanged. This reader cannot,
                    // because it has already consumed the first member.
                    _ => Err(de::Error::custom("unknown block type")),
                }
            }

            /// Reads a block from its members; returns `None` if the type is unknown.
            pub(crate) fn from_members(
                kind: &str,
                members: ObjectMembers<'a>,
                faults: &mut dyn FnMut(FieldFault),
            ) -> Option<Result<Self, ObjectError>> {
                Some(match kind {
                    $( $name => $ty::from_members(members, faults)
                        .map(|it| Self::$variant(block_types!(@wrap it $($wrap)?))), )*
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

        impl IntoOwned for Block<'_> {
            type Owned = Block<'static>;
            fn into_owned(self) -> Block<'static> {
                match self {
                    $( Self::$variant(block) => {
                        Block::$variant(block_types!(@own block $($wrap)?))
                    } )*
                    Self::Unknown(unknown) => Block::Unknown(unknown.into_owned()),
                }
            }
        }
    };
    (@wrap $value:ident) => { $value };
    (@wrap $value:ident $wrap:ident) => { $wrap::new($value) };
    (@own $value:ident) => { $value.into_owned() };
    (@own $value:ident $wrap:ident) => { $wrap::new((*$value).into_owned()) };
}

block_types! {
    "text" Text TextBlock,
    "heading" Heading HeadingBlock,
    "link" Link LinkBlock,
    "image" Image ImageBlock,
    "list" List ListBlock,
    "code" Code CodeBlock,
    "table" Table TableBlock,
    "quote" Quote QuoteBlock,
    "video" Video VideoBlock [Box],
    "audio" Audio AudioBlock [Box],
}

/// The strict reader. If `type` is the first member, the reader does not buffer the members;
/// otherwise it collects all members before it reads their values.
impl<'de: 'a, 'a> Deserialize<'de> for Block<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlockVisitor;
        impl<'de> Visitor<'de> for BlockVisitor {
            type Value = Block<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let first = map.next_key::<CowStr<'de>>()?;
                if first.as_deref() == Some("type") {
                    let kind = map.next_value::<CowStr<'de>>()?;
                    return Block::from_map(&kind, map);
                }
                let mut members = ObjectMembers::new();
                let mut kind = None;
                let mut next = first;
                while let Some(key) = next {
                    if &*key == "type" {
                        if kind.replace(map.next_value::<CowStr<'de>>()?).is_some() {
                            return Err(de::Error::duplicate_field("type"));
                        }
                    } else {
                        members.push((key, map.next_value::<DepthLimitedJson<'de>>()?.0));
                    }
                    next = map.next_key()?;
                }
                let kind = kind.ok_or_else(|| de::Error::missing_field("type"))?;
                let mut is_faultless = true;
                let block = Block::from_members(&kind, members, &mut |_| is_faultless = false);
                match block {
                    Some(Ok(block)) if is_faultless => Ok(block),
                    _ => Err(de::Error::custom("block has a fault")),
                }
            }
        }
        deserializer.deserialize_map(BlockVisitor)
    }
}
