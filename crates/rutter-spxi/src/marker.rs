//! Where a marker of an entity stands on its page.

/// What became of a marker on a page (D70).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerStatus {
    /// In the text people see, letter for letter but for white space.
    Visible,
    /// In the text people see, but for case, quotes or dashes: the text found.
    Near(String),
    /// Only in `meta` elements or the title.
    MetaOnly,
    /// Only in JSON-LD.
    JsonLdOnly,
    /// Nowhere.
    Absent,
}

impl MarkerStatus {
    /// Its word.
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
