//! Types for the metadata of a page that the page object does not hold.
//!
//! [`Facts`] holds the declarations in the head, [`PageLink`] a link, and [`Annotated`] an element
//! with `data-ai-*` attributes. `meta` and `whole` fill them.

use std::sync::Arc;

use rutter_page::{LanguageTag, Timestamp};

/// Statements of a page about itself, addresses made absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The canonical URL.
    pub canonical: Option<String>,
    /// The declared publication date.
    pub published: Option<Timestamp>,
    /// The source of the publication date: `JSON-LD datePublished`, `meta date`.
    pub published_by: Option<String>,
    /// Whether the page is a login page: a password field is its main content.
    /// A login box in the header does not count.
    pub asks_for_password: bool,
    /// The declared date of the last update.
    pub modified: Option<Timestamp>,
    /// The declared language.
    pub language: Option<LanguageTag<'static>>,
    /// The name of its site.
    pub site_name: Option<String>,
    /// The preview image.
    pub image: Option<String>,
    /// Keywords, tags and section.
    pub keywords: Vec<String>,
    /// Robots directives, by agent.
    pub robots: Vec<Robots>,
    /// Other versions: languages, formats.
    pub alternates: Vec<Alternate>,
    /// Every `link` element.
    pub head_links: Vec<HeadLink>,
    /// Every `meta` with a name and a value; names in lower case.
    pub metas: Vec<(String, String)>,
    /// Every valid block of JSON-LD, as written, except that line breaks inside strings are
    /// replaced by spaces if the block is invalid with them.
    pub json_ld: Vec<String>,
    /// The value of `meta http-equiv=refresh`, as written.
    pub refresh: Option<String>,
    /// The target URL of the refresh.
    pub leads_to: Option<String>,
}

impl Facts {
    /// Whether any robots `meta` for all agents has this directive.
    pub fn asks(&self, directive: &str) -> bool {
        let all = self.robots.iter().filter(|robots| robots.agent == "robots");
        all.flat_map(|robots| &robots.directives).any(|found| {
            found == directive || (found == "none" && matches!(directive, "noindex" | "nofollow"))
        })
    }
}

/// One `meta` for robots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Robots {
    /// `robots`, or the agent it names.
    pub agent: String,
    /// `noindex`, `noai`, `max-snippet:50`, in lower case.
    pub directives: Vec<String>,
}

/// Another version of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternate {
    /// Its address.
    pub href: String,
    /// Its language, as written.
    pub hreflang: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// A `link` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadLink {
    /// Its relations, in lower case, apart by spaces.
    pub rel: String,
    /// The target, as an absolute URL.
    pub href: String,
    /// The language of what is there.
    pub hreflang: Option<String>,
    /// The media type of what is there.
    pub media_type: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

impl HeadLink {
    /// Whether it has this relation.
    pub fn has(&self, rel: &str) -> bool {
        self.rel.split_ascii_whitespace().any(|found| found == rel)
    }
}

/// A link somewhere in the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// The target URL.
    pub href: Arc<str>,
    /// Its text, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Its relations, as written.
    pub rel: Option<String>,
    /// Whether the link is in the main content.
    pub is_main: bool,
}

/// An element with `data-ai-*` attributes, or a hidden element or form field inside one, whose
/// text is excluded from the text of the outer element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotated {
    /// Its element name.
    pub element: String,
    /// Number of annotated ancestors.
    pub depth: usize,
    /// All its attributes, in order.
    pub attributes: Vec<(String, String)>,
    /// Its text, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Whether the element or one of its ancestors is hidden.
    pub is_hidden: bool,
    /// The text of its `label` element.
    pub label: Option<String>,
    /// The URL of its `href` or `src`.
    pub target: Option<String>,
}
