//! The result of an extraction, and the texts that are made from it.

use std::borrow::Cow;
use std::ops::Range;

use rutter_finding::Finding;
use rutter_page::{Block, BlockMarkup, Page};

use crate::classify::PageType;
use crate::coverage::Coverage;
use crate::facts::{AnnotatedElement, PageLink, PageStatements};
use crate::headline::Headline;
use crate::shell::TextSource;
use crate::space::{end_line, gap};
use crate::template::TemplateVersionId;

/// The result of the extraction of one page.
#[derive(Debug, Clone)]
// More than 12 fields: all results of one pass over a page, so that no caller parses the page twice.
pub struct Extraction {
    /// The page, ready for a collection unless its content is empty.
    pub page: Page<'static>,
    /// Decoration of each block of the page, in the order of the blocks.
    pub rich: Vec<BlockMarkup>,
    /// The metadata of the page.
    pub facts: PageStatements,
    /// All links of the page, in document order.
    pub links: Vec<PageLink>,
    /// Elements with `data-ai-*` attributes, and the hidden elements and form fields inside them,
    /// in document order.
    pub annotated: Vec<AnnotatedElement>,
    /// The text of the body, one line per block, with collapsed white space; without scripts,
    /// styles, templates and drawings.
    pub visible_text: String,
    /// Ranges of `visible_text` that the page hides by attributes, ascending and not overlapping.
    pub hidden: Vec<Range<usize>>,
    /// Name of the encoding from which the page was decoded.
    pub charset: &'static str,
    /// Whether the first block is a headline that is not part of the main content.
    pub(crate) headline: Headline,
    /// Confidence in the choice of the main content, from 0 to 1.
    pub confidence: f32,
    /// The page type; `None` for Markdown and for pages that are too long to be classified.
    pub page_type: Option<PageType>,
    /// Share of the text in the main landmark that is kept. `None` for Markdown, for pages without
    /// a landmark or with a landmark of fewer than [`Coverage::FEWEST`] characters, and for pages
    /// that are too long to be classified.
    pub coverage: Option<Coverage>,
    /// The template version with which the page was read.
    pub template: Option<TemplateVersionId>,
    /// Whether the text of the page appears only after scripts run and the data of the page does
    /// not contain it. If so, `page` does not hold the content.
    pub needs_scripts: bool,
    /// The source of the text.
    pub text_from: TextSource,
    /// Findings about the page.
    pub findings: Vec<Finding>,
    /// The `keep` and `drop` selectors of the site owner that match an element of the page.
    pub matched: Vec<String>,
    /// Why each part was kept or dropped; empty unless [`ExtractOptions::explain`](crate::ExtractOptions::explain) is set.
    pub why: Vec<PartDecision>,
}

/// Number of bytes of text below which [`Extraction::is_short`] returns true.
const SHORT: usize = 600;

impl Extraction {
    /// Returns whether the page has so little text that it may exist for another purpose than
    /// reading.
    pub fn is_short(&self) -> bool {
        self.page.to_text().len() < SHORT
    }

    /// Returns whether the page only redirects to another page: it has a refresh target and little
    /// text.
    pub fn only_leads_on(&self) -> bool {
        let is_own = |to: &String| *to == self.page.url.as_str();
        self.facts.leads_to.as_ref().is_some_and(|to| !is_own(to)) && self.is_short()
    }

    /// Returns the page as Markdown with its links, emphasis and code.
    pub fn to_markdown(&self) -> String {
        self.page.to_rich_markdown(&self.rich)
    }

    /// Returns the text of the page without images, their alternative texts and captions, without
    /// link blocks that repeat a link, and without a headline that is not part of the main content.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let is_apart = self.headline == Headline::Restored
            && matches!(self.page.content.first(), Some(Block::Heading(_)));
        let n_apart = usize::from(is_apart);
        for (block, rich) in self.page.content.iter().zip(&self.rich).skip(n_apart) {
            if rich.is_caption || rich.is_repeat || matches!(block, Block::Image(_)) {
                continue;
            }
            let piece = block.to_text();
            let piece = piece.trim_end();
            if !piece.is_empty() {
                if !out.is_empty() {
                    out.push_str("\n\n");
                }
                out.push_str(piece);
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    /// Returns the contents of the `meta` elements, and the title.
    pub fn meta_texts(&self) -> Vec<&str> {
        let metas = self.facts.metas.iter().map(|(_, content)| content.as_str());
        metas.chain([self.page.title.as_ref()]).collect()
    }

    /// Returns the visible text without the parts that the page hides. SPXI markers are searched in
    /// this text (D70).
    pub fn shown_text(&self) -> Cow<'_, str> {
        if self.hidden.iter().all(Range::is_empty) {
            return Cow::Borrowed(&self.visible_text);
        }
        let mut out = String::with_capacity(self.visible_text.len());
        let mut from = 0;
        for cut in &self.hidden {
            put(self.visible_text.get(from..cut.start).unwrap_or(""), &mut out);
            from = cut.end;
        }
        put(self.visible_text.get(from..).unwrap_or(""), &mut out);
        Cow::Owned(out)
    }

    /// Returns the text and the URL of each link inside a block. Link blocks are not included.
    pub fn inline_links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.page.content.iter().zip(&self.rich).flat_map(|(block, rich)| {
            let parts =
                if rich.spans.is_empty() { Vec::new() } else { crate::blocks::parts(block) };
            rich.spans.iter().filter_map(move |span| {
                let text = parts.get(span.part as usize)?;
                let text = text.get(span.start as usize..span.end as usize)?;
                match &span.mark {
                    rutter_page::InlineMark::Link(url) => Some((text, &**url)),
                    _ => None,
                }
            })
        })
    }
}

/// Appends a piece of text. Where two spaces or two line ends meet, only one is kept.
fn put(piece: &str, out: &mut String) {
    let rest = piece.trim_start_matches([' ', '\n']);
    let lead = piece.get(..piece.len() - rest.len()).unwrap_or("");
    if lead.contains('\n') {
        end_line(out);
    } else if !lead.is_empty() {
        gap(out);
    }
    out.push_str(rest);
}

/// Why a part of a page was kept or dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDecision {
    /// The element and its ancestors, the innermost last.
    pub path: String,
    /// Why the part was kept or dropped; `main content` for parts that the classifier keeps.
    pub reason: String,
    /// Whether the part is content of the page.
    pub is_kept: bool,
    /// Number of characters in the part.
    pub chars: u32,
    /// The start of the text of the part.
    pub start: String,
}
