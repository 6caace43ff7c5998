//! Options for the extraction of one page: its URL, its template and the selectors of the site owner.

use std::sync::Arc;

use rutter_page::{LanguageTag, PageUrl, Timestamp};

use crate::Limits;
use crate::selector::Selector;
use crate::template::{TemplateSet, TemplateVersionId};

/// Options for the extraction of one page.
#[derive(Debug, Clone)]
pub struct ExtractOptions {
    /// URL of the page, against which relative links are resolved.
    pub url: PageUrl<'static>,
    /// The last known change of the bytes; used as `modified` if the page declares no date.
    pub seen: Timestamp,
    /// The charset in the HTTP header of the page.
    pub charset: Option<String>,
    /// The language of the site, used for pages that declare none.
    pub language: Option<LanguageTag<'static>>,
    /// Selects the links that become separate blocks.
    pub links: LinkBlocks,
    /// Selects the template version.
    pub template: TemplateChoice,
    /// Limits on the size of a page.
    pub limits: Limits,
    /// Whether to explain why each part was kept or dropped.
    pub explain: bool,
    /// Selectors of the site owner: main content, kept parts and dropped parts.
    pub control: OwnerSelectors,
}

/// Selectors by which the site owner controls the extraction of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnerSelectors {
    /// Selectors of the main content; nothing outside it is kept.
    pub main: Vec<Selector>,
    /// Selectors of elements that are always kept.
    pub keep: Vec<Selector>,
    /// Selectors of elements that are always dropped; they take precedence over `keep`.
    pub drop: Vec<Selector>,
}

impl ExtractOptions {
    /// Creates options with default values for a page.
    pub fn new(url: PageUrl<'static>, seen: Timestamp) -> Self {
        Self {
            url,
            seen,
            charset: None,
            language: None,
            links: LinkBlocks::All,
            template: TemplateChoice::Nothing,
            limits: Limits::USUAL,
            explain: false,
            control: OwnerSelectors::default(),
        }
    }
}

/// Selects the template version that a page is extracted with.
#[derive(Debug, Clone, Default)]
pub enum TemplateChoice {
    /// No template.
    #[default]
    Nothing,
    /// The version that matches the layout of the page.
    Fitting(Arc<TemplateSet>),
    /// A fixed version: the one of the previous extraction.
    Pinned(Arc<TemplateSet>, TemplateVersionId),
}

/// Selects the links that become blocks (D45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkBlocks {
    /// Links that are the only content of a paragraph.
    Lone,
    /// Also links inside other blocks, placed behind the block; each URL once.
    #[default]
    All,
}
