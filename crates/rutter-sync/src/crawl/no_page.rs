//! Reasons why a response is not a page.

use rutter_store::WithheldReason;

use crate::report::left_out::LeftOutReason;

/// Reason why a response is not a page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPageReason {
    #[error("the response has the media type {0}")]
    Type(String),
    #[error("the page has no text")]
    Empty,
    #[error("the page only redirects")]
    Onward,
    #[error("the response cannot be decoded")]
    Broken,
    #[error("the URL is an alias of {0}")]
    Alias(String),
}

impl From<NoPageReason> for LeftOutReason {
    fn from(why: NoPageReason) -> Self {
        match why {
            NoPageReason::Type(name) => Self::media_type(name),
            NoPageReason::Empty => Self::NO_TEXT,
            NoPageReason::Onward => Self::REDIRECT_PAGE,
            NoPageReason::Broken => Self::UNDECODABLE,
            NoPageReason::Alias(page) => Self::alias(page),
        }
    }
}

impl NoPageReason {
    /// Returns whether the same response would not be a page in a later sync either.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Broken)
    }

    /// Returns whether the page that the replica has for this URL no longer exists. If the
    /// response cannot be decoded, the page may still exist.
    pub(crate) fn is_other(&self) -> bool {
        matches!(self, Self::Type(_) | Self::Empty | Self::Onward | Self::Alias(_))
    }
}

/// A response that is not a page, with the reason.
#[derive(Debug)]
pub(crate) struct RejectedPage {
    pub(crate) why: NoPageReason,
    /// Reason to withhold the stored content of the page, if the response withdraws
    /// consent.
    pub(crate) withheld: Option<WithheldReason>,
    /// Links that may be followed, and those beyond the limit per page.
    pub(crate) links: Vec<String>,
    pub(crate) more_links: Vec<String>,
}

impl RejectedPage {
    pub(super) fn of(why: NoPageReason, withheld: Option<WithheldReason>) -> Self {
        Self { why, withheld, links: Vec::new(), more_links: Vec::new() }
    }
}
