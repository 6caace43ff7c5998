//! The URL and modification time of a page, read without the rest of its line.

use serde::Deserialize;

use crate::text::CowStr;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// The URL and modification time of a page, sufficient to merge, sort and store its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageHead<'a> {
    /// The URL of the page.
    pub url: PageUrl<'a>,
    /// The time of the last change of the content.
    pub modified: Timestamp,
}

impl<'a> PageHead<'a> {
    /// Reads the URL and time of a line that was validated before, and skips the rest of the line.
    ///
    /// Returns `None` if either is missing or invalid, which cannot happen for a line that
    /// [`PageReader::read`](crate::PageReader::read) accepted.
    pub fn of_line(line: &'a str) -> Option<Self> {
        #[derive(Deserialize)]
        struct HeadMembers<'a> {
            #[serde(borrow)]
            url: PageUrl<'a>,
            #[serde(borrow)]
            modified: CowStr<'a>,
        }
        let members: HeadMembers<'_> = serde_json::from_str(line).ok()?;
        let (modified, _) = Timestamp::parse_lenient(&members.modified).ok()?;
        Some(Self { url: members.url, modified })
    }
}
