//! The page model: one URL with its metadata and content blocks.
//!
//! [`Page`] is the page object of SCP 0.1. Its strings borrow from the line they were read from,
//! and unknown members and block types are kept byte for byte, so that a page that is read and
//! written again is unchanged.
//!
//! There are two ways to read a page. `serde_json::from_str::<Page>` accepts only pages without
//! any fault. [`PageReader::read`] accepts any line: it repairs or drops what the specification
//! allows a reader to repair or drop, and reports it to a
//! [`FindingSink`](rutter_finding::FindingSink).
//!
//! Rejects lines that are not page objects. The types reject URLs that are not http or https,
//! invalid times and malformed language tags.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod block;
mod calendar;
pub mod checksum;
mod digest;
mod head;
mod hidden_text;
mod json_tree;
mod language;
mod markdown;
mod markup;
mod media;
mod named_values;
mod page;
mod page_reader;
mod plain;
mod repeated_links;
pub mod rules;
mod sensitive;
mod text;
mod time;
mod uri;
mod url;
mod view;
mod wire;

pub use block::{
    Block, CodeBlock, HeadingBlock, HeadingLevel, ImageBlock, LinkBlock, ListBlock, QuoteBlock,
    TableBlock, TextBlock, UnknownBlock,
};
pub use calendar::CalendarDate;
pub use digest::{Digest, LineDigest};
pub use head::PageHead;
pub use hidden_text::{HiddenCharacters, find_model_instruction};
pub use json_tree::{JsonTree, push_string};
pub use language::LanguageTag;
pub use markup::{Admonition, BlockMarkup, InlineMark, InlineSpan};
pub use media::{
    AudioBlock, Caption, Chapter, Icon, IconType, MediaDuration, MediaLink, PixelLength,
    RecordingUrls, VideoBlock, WholeSeconds,
};
pub use page::Page;
pub use page_reader::{PageLimits, PageReader, nesting_depth, split_members};
pub use repeated_links::remove_repeats;
pub use sensitive::SensitiveData;
pub use text::{
    CowStr, NameField, RawJson, RawJsonError, RawObject, UnknownMember, UnknownMembers,
};
pub use time::{TimeError, Timestamp};
pub use uri::{is_uri, to_uri};
pub use url::{HttpUrl, PageUrl, UrlError};
pub use view::ReaderView;
pub use wire::{IntoOwned, ObjectMembers};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
