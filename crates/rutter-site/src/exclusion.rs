//! The reasons to exclude a page, as the page cache stores them.
//!
//! A page cache of a newer version may hold reasons that this version does not know.

use crate::ledger::Visibility;

/// Reason why a page is left out of at least one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExclusionReason {
    /// The page asks not to be indexed.
    NoIndex,
    /// The page asks not to be used by AI.
    NoAi,
    /// The page has a publication date in the future.
    Scheduled,
    /// The page is marked as a draft.
    Draft,
    /// The main content of the page is a form that asks for a password.
    Login,
    /// The page redirects readers to another page.
    Redirect,
    /// The page has no extractable content.
    Empty,
    /// The page shows its text only with scripts.
    Shell,
    /// The page has more blocks than a collection may hold.
    Oversize,
    /// The site owner restricted the path, or the page declares that it needs a login.
    Restricted,
    /// The page marks content as sensitive, and the site owner did not approve it.
    Sensitive,
    /// robots.txt disallows the page for all crawlers.
    Robots,
}

impl ExclusionReason {
    const ALL: [Self; 12] = [
        Self::NoIndex,
        Self::NoAi,
        Self::Scheduled,
        Self::Draft,
        Self::Login,
        Self::Redirect,
        Self::Empty,
        Self::Shell,
        Self::Oversize,
        Self::Restricted,
        Self::Sensitive,
        Self::Robots,
    ];

    /// Returns the reason as text, for messages and for the page cache.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoIndex => "noindex",
            Self::NoAi => "not for AI",
            Self::Scheduled => "published later",
            Self::Draft => "draft",
            Self::Login => "asks for a password",
            Self::Redirect => "redirect",
            Self::Empty => "no text",
            Self::Shell => "needs scripts",
            Self::Oversize => "too many blocks",
            Self::Restricted => "restricted",
            Self::Sensitive => "marked sensitive",
            Self::Robots => "disallowed by robots.txt",
        }
    }

    /// Parses the text of a reason; `None` for a reason of another version.
    pub fn parse(reason: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|exclusion| exclusion.as_str() == reason)
    }

    /// Returns the layers that may still show the page.
    pub fn visibility(self) -> Visibility {
        match self {
            Self::NoAi | Self::Shell | Self::Oversize => Visibility::Listed,
            Self::NoIndex | Self::Login | Self::Restricted | Self::Sensitive | Self::Robots => {
                Visibility::AddressOnly
            }
            Self::Scheduled | Self::Draft | Self::Redirect | Self::Empty => Visibility::Hidden,
        }
    }

    /// Returns whether only authenticated readers may see the page (D57).
    pub fn needs_login(self) -> bool {
        matches!(self, Self::Login | Self::Restricted | Self::Sensitive)
    }
}
