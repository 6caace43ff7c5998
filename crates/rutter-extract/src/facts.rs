//! Types for the metadata of a page that the page object does not hold.
//!
//! [`PageStatements`] holds the declarations in the head, [`PageLink`] a link, and [`AnnotatedElement`] an element
//! with `data-ai-*` attributes. `meta` and `whole` fill them.

use std::sync::Arc;

use rutter_page::{LanguageTag, Timestamp};

/// Statements of a page about itself. URLs are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
// More than 12 fields: one field per statement that a page can make.
pub struct PageStatements {
    /// The canonical URL.
    pub canonical: Option<String>,
    /// The declared publication date.
    pub published: Option<Timestamp>,
    /// The source of the publication date, such as `JSON-LD datePublished` or `meta date`.
    pub published_by: Option<String>,
    /// Whether the page is a login page: a password field is its main content. A login form in the
    /// header does not count.
    pub asks_for_password: bool,
    /// The declared date of the last update.
    pub modified: Option<Timestamp>,
    /// The declared language.
    pub language: Option<LanguageTag<'static>>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// URL of the preview image.
    pub image: Option<String>,
    /// Keywords, tags and section names.
    pub keywords: Vec<String>,
    /// Robots directives of each `meta` element for robots.
    pub robots: Vec<RobotsMeta>,
    /// Versions of the page in other languages or formats.
    pub alternates: Vec<AlternateVersion>,
    /// Every `link` element of the page.
    pub head_links: Vec<HeadLink>,
    /// Every `meta` element with a name and a value; the names are in lower case.
    pub metas: Vec<(String, String)>,
    /// Every valid block of JSON-LD, as written, except that line breaks inside strings are
    /// replaced by spaces if the block is invalid with them.
    pub json_ld: Vec<String>,
    /// The value of `meta http-equiv=refresh`, as written in the page.
    pub refresh: Option<String>,
    /// Target URL of the refresh.
    pub leads_to: Option<String>,
}

impl PageStatements {
    /// Returns whether a robots `meta` for all agents has this directive.
    pub fn asks(&self, directive: &str) -> bool {
        let all = self.robots.iter().filter(|robots| robots.agent == "robots");
        all.flat_map(|robots| &robots.directives).any(|found| {
            found == directive || (found == "none" && matches!(directive, "noindex" | "nofollow"))
        })
    }
}

/// The directives of one `meta` element for robots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsMeta {
    /// `robots` for all robots, or the name of an agent.
    pub agent: String,
    /// Directives in lower case, such as `noindex`, `noai` or `max-snippet:50`.
    pub directives: Vec<String>,
}

/// A version of the page in another language or format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlternateVersion {
    /// URL of the other version.
    pub href: String,
    /// Language of the other version, as written in the page.
    pub hreflang: Option<String>,
    /// Media type of the other version.
    pub media_type: Option<String>,
}

/// A `link` element of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadLink {
    /// Relations in lower case, separated by spaces.
    pub rel: String,
    /// Target as an absolute URL.
    pub href: String,
    /// Language of the target.
    pub hreflang: Option<String>,
    /// Media type of the target.
    pub media_type: Option<String>,
    /// Title of the link.
    pub title: Option<String>,
}

impl HeadLink {
    /// Returns whether the link has this relation.
    pub fn has(&self, rel: &str) -> bool {
        self.rel.split_ascii_whitespace().any(|found| found == rel)
    }
}

/// A link somewhere in the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Target URL of the link.
    pub href: Arc<str>,
    /// Text of the link, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Relations of the link, as written in the page.
    pub rel: Option<String>,
    /// Whether the link is in the main content.
    pub is_main: bool,
}

/// An element with `data-ai-*` attributes, or a hidden element or form field inside such an
/// element. The text of the inner element is excluded from the text of the outer element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotatedElement {
    /// Name of the element.
    pub element: String,
    /// Number of annotated ancestors.
    pub depth: usize,
    /// All attributes of the element, in order.
    pub attributes: Vec<(String, String)>,
    /// Text of the element, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Whether the element or one of its ancestors is hidden.
    pub is_hidden: bool,
    /// Text of the `label` element of a form field.
    pub label: Option<String>,
    /// URL in the `href` or `src` attribute of the element.
    pub target: Option<String>,
}
