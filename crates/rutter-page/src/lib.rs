//! What a page is.
//!
//! The page object of SCP 0.1 *is* the page model: [`Page`] serialises to the
//! wire shape and back, strings borrow from the line they were read from, and
//! what this version does not know (members, block types) is kept byte-exact.
//!
//! Two doors lead in. `serde_json::from_str::<Page>` accepts perfect pages
//! only. [`Judge::read`] takes any line, mends or drops what the specification
//! lets a reader mend or drop, says so to a
//! [`FindingSink`](rutter_finding::FindingSink), and refuses the rest.
//!
//! Refuses: to keep a URL that is not http(s), a date that is none, or a
//! language tag that is not well-formed, in a type that promises otherwise.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod block;
mod digest;
mod head;
mod honest;
mod judge;
mod language;
mod markdown;
mod media;
mod page;
mod plain;
mod privacy;
mod rich;
pub mod rules;
pub mod seal;
mod text;
mod time;
mod tree;
mod uri;
mod url;
mod view;
mod wire;

pub use block::{Block, Code, Heading, Image, Level, Link, List, Quote, Table, Text, Unknown};
pub use digest::{Digest, LineDigest};
pub use head::Head;
pub use honest::{Unseen, order_to_models};
pub use judge::{Judge, PageLimits, members, nesting};
pub use language::LanguageTag;
pub use media::{
    Audio, Caption, Chapter, Duration, Icon, ImageKind, MediaLink, MediaUrl, Pixels, Seconds, Video,
};
pub use page::Page;
pub use privacy::Private;
pub use rich::{Mark, Note, Rich, Span};
pub use text::{Extra, Member, Name, Object, Raw, RawError, Str};
pub use time::{TimeError, Timestamp};
pub use tree::{Tree, push_string};
pub use uri::{is_uri, to_uri};
pub use url::{HttpUrl, PageUrl, UrlError};
pub use view::ReaderView;
pub use wire::{Members, Own};
