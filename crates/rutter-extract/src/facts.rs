//! What a page says about itself beyond its page object.

use std::sync::Arc;

use rutter_page::{LanguageTag, Timestamp};

/// Statements of a page about itself, addresses made absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The address it wants to be known by.
    pub canonical: Option<String>,
    /// When it says it appeared.
    pub published: Option<Timestamp>,
    /// Where that is said: `JSON-LD datePublished`, `meta date`.
    pub published_by: Option<String>,
    /// Whether it is there to ask for a password: a password field is its main
    /// content. A login box in the header is no sign of that.
    pub asks_for_password: bool,
    /// When it says it changed.
    pub modified: Option<Timestamp>,
    /// The language it declares.
    pub language: Option<LanguageTag<'static>>,
    /// The name of its site.
    pub site_name: Option<String>,
    /// A picture that stands for it.
    pub image: Option<String>,
    /// Keywords, tags and section.
    pub keywords: Vec<String>,
    /// Wishes towards robots, by agent.
    pub robots: Vec<Robots>,
    /// Other versions: languages, formats.
    pub alternates: Vec<Alternate>,
    /// Every `link` element.
    pub head_links: Vec<HeadLink>,
    /// Every `meta` with a name and a value; names in lower case.
    pub metas: Vec<(String, String)>,
    /// Every readable block of JSON-LD, as it was written; stray line
    /// breaks inside its strings are mended.
    pub json_ld: Vec<String>,
    /// A `meta` that sends readers elsewhere, as it was written.
    pub refresh: Option<String>,
    /// Where it sends them.
    pub leads_to: Option<String>,
}

impl Facts {
    /// Whether any robots `meta` for everybody holds this directive.
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
    /// Where it points.
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
    /// Where it leads.
    pub href: Arc<str>,
    /// What it says, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Its relations, as written.
    pub rel: Option<String>,
    /// Whether it lies in the main content.
    pub is_main: bool,
}

/// An element with `data-ai-*` attributes; or one inside such an element that
/// is out of sight or filled in, whose text is therefore not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotated {
    /// Its element name.
    pub element: String,
    /// How many annotated elements it lies in.
    pub depth: usize,
    /// All its attributes, in order.
    pub attributes: Vec<(String, String)>,
    /// What it says, as a range of the visible text.
    pub text: std::ops::Range<usize>,
    /// Whether it is out of sight, by itself or by what it lies in.
    pub is_hidden: bool,
    /// What its `label` element says.
    pub label: Option<String>,
    /// Where its `href` or `src` leads.
    pub target: Option<String>,
}
