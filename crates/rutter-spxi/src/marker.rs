//! Status of a marker of an entity on its page.

/// Status of a marker on a page (D70).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerStatus {
    /// The visible text contains the marker exactly, apart from white space.
    Visible,
    /// The visible text contains the marker with other case, quotes or dashes; holds the text
    /// found.
    Near(String),
    /// Only `meta` elements or the title contain the marker.
    MetaOnly,
    /// Only JSON-LD contains the marker.
    JsonLdOnly,
    /// The page does not contain the marker.
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
