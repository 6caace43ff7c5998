//! Status of a marker of an entity on its page.

/// Status of a marker on a page (D70).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerStatus {
    /// Verbatim in the visible text, ignoring white space.
    Visible,
    /// In the visible text with other case, quotes or dashes; holds the text found.
    Near(String),
    /// Only in `meta` elements or the title.
    MetaOnly,
    /// Only in JSON-LD.
    JsonLdOnly,
    /// Not on the page.
    Absent,
}

impl MarkerStatus {
    /// Returns the keyword of the status.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Near(_) => "near",
            Self::MetaOnly => "meta-only",
            Self::JsonLdOnly => "jsonld-only",
            Self::Absent => "absent",
        }
    }
}
