//! The head of a page: just enough to merge, sort and store its line.

use serde::Deserialize;

use crate::text::Str;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Address and modification time of a page whose line is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head<'a> {
    /// The page's address.
    pub url: PageUrl<'a>,
    /// When its content last changed.
    pub modified: Timestamp,
}

impl<'a> Head<'a> {
    /// Takes the head of a line that has been judged before, skipping the rest.
    ///
    /// `None` where the line has no usable head; a line that
    /// [`Judge::read`](crate::Judge::read) accepted always has one.
    pub fn of_line(line: &'a str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire<'a> {
            #[serde(borrow)]
            url: PageUrl<'a>,
            #[serde(borrow)]
            modified: Str<'a>,
        }
        let wire: Wire<'_> = serde_json::from_str(line).ok()?;
        let (modified, _) = Timestamp::parse_lenient(&wire.modified).ok()?;
        Some(Self { url: wire.url, modified })
    }
}
