//! Adds the headline to a page whose main content does not include it.
//!
//! Input: the page title and the blocks. Output: the blocks, with the headline as first block if
//! it was missing. Themes put the headline into a header outside the region. Rejects headings that
//! are not of level 1, come after the text, or differ from the title.

use rutter_page::{Block, BlockMarkup, HeadingBlock, HeadingLevel};

use crate::blocks::Both;
use crate::dom::Dom;
use crate::hint::ElementHints;
use crate::region::MainRegion;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::verdict::DropReason;

/// Minimum number of characters of a part of a title that counts as the title.
const SHORTEST_PART: usize = 15;

/// Whether the headline was added before the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headline {
    /// The headline is part of the main content, or the page has none.
    InText,
    /// The headline was added as the first block.
    Restored,
}

/// The page in which a headline is searched.
pub(crate) struct HeadlineSearch<'p> {
    pub(crate) dom: &'p Dom,
    pub(crate) survey: &'p PageSurvey,
    pub(crate) region: &'p MainRegion,
    /// Index of the first text item that became content; the headline is before it.
    pub(crate) first_text: u32,
}

impl HeadlineSearch<'_> {
    /// Adds the headline before the blocks of a page that do not contain it.
    pub(crate) fn restore(&self, title: Option<&str>, blocks: &mut Vec<Both>) -> Headline {
        let Self { dom, survey, region, first_text } = *self;
        let (Some(title), Some(body)) = (title.map(key), dom.body) else {
            return Headline::InText;
        };
        if blocks.is_empty() || title.is_empty() {
            return Headline::InText;
        }
        let is_outside = |at: u32| {
            dom.ancestors(at).any(|up| {
                region.dropped.get(up as usize) == Some(&Some(DropReason::Owner))
                    || matches!(dom.item(up).tag, Tag::Nav | Tag::Aside | Tag::Footer | Tag::Dialog)
            })
        };
        let mut headlines = (body..first_text.min(dom.item(body).end)).filter(|at| {
            dom.item(*at).tag == Tag::H1
                && !survey.marks(*at).has(InheritedMarks::UNSEEN)
                && !survey.hints(*at).has(ElementHints::HIDDEN)
                && !is_outside(*at)
        });
        let found = headlines.find_map(|at| {
            let words = dom.words(at);
            let words = words.trim_end_matches(['#', '\u{b6}', ' ']);
            is_title(&key(words), &title).then(|| words.to_owned())
        });
        let Some(text) = found else { return Headline::InText };
        let own = key(&text);
        let is_there =
            |(block, _): &Both| matches!(block, Block::Heading(it) if key(&it.text) == own);
        if blocks.iter().take(12).any(is_there) {
            return Headline::InText;
        }
        let heading =
            HeadingBlock { level: HeadingLevel::clamp(1), text: text.into(), extra: Vec::new() };
        blocks.insert(0, (Block::Heading(heading), BlockMarkup::default()));
        Headline::Restored
    }
}

/// Returns whether a heading is the title: both are equal, or one contains the other, which must
/// have at least [`SHORTEST_PART`] characters.
fn is_title(heading: &str, title: &str) -> bool {
    if heading == title {
        return !heading.is_empty();
    }
    let (short, long) =
        if heading.len() < title.len() { (heading, title) } else { (title, heading) };
    SHORTEST_PART <= short.chars().count() && long.contains(short)
}

/// Returns the letters and digits of a text in lower case.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
