//! Decides whether AI consumers may use a page. Flags and robots directives are combined, and the
//! most restrictive one counts (D56, D57, D58).
//!
//! Only a literal `true` counts as consent.

use crate::entry::ArcEntry;

/// What a site allows AI consumers to do with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consent {
    /// AI consumers may index the page.
    Given,
    /// AI consumers may index the page for users who have access to it. They must not fetch it
    /// without a login.
    WithLogin,
    /// AI consumers must not index the page.
    Refused,
}

/// A robots directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RobotsDirective {
    /// Do not index the page.
    NoIndex = 1,
    /// Do not follow the links of the page.
    NoFollow = 2,
    /// Do not keep a copy of the page for other people.
    NoArchive = 4,
    /// Do not show any text of the page.
    NoSnippet = 8,
    /// Do not use the page for AI.
    NoAi = 16,
    /// Do not use the images of the page for AI.
    NoImageAi = 32,
}

/// A set of [`RobotsDirective`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RobotsDirectives(u8);

impl RobotsDirectives {
    /// The empty set: no restriction.
    pub const NONE: Self = Self(0);

    /// Parses a comma-separated list, ignoring case. Unknown directives are passed to `unknown`.
    ///
    /// ```
    /// # use rutter_arc::{RobotsDirective, RobotsDirectives};
    /// let mut unknown = Vec::new();
    /// let text = "None, max-snippet:50";
    /// let found = RobotsDirectives::parse(text, |word| unknown.push(word.to_owned()));
    /// assert!(found.has(RobotsDirective::NoIndex) && found.has(RobotsDirective::NoFollow));
    /// assert_eq!(unknown, ["max-snippet:50"]);
    /// ```
    pub fn parse(text: &str, mut unknown: impl FnMut(&str)) -> Self {
        const WORDS: [(&str, u8); 10] = [
            ("noindex", RobotsDirective::NoIndex as u8),
            ("nofollow", RobotsDirective::NoFollow as u8),
            ("none", RobotsDirective::NoIndex as u8 | RobotsDirective::NoFollow as u8),
            ("noarchive", RobotsDirective::NoArchive as u8),
            ("nosnippet", RobotsDirective::NoSnippet as u8),
            ("noai", RobotsDirective::NoAi as u8),
            ("noimageai", RobotsDirective::NoImageAi as u8),
            // These directives do not restrict the page.
            ("all", 0),
            ("index", 0),
            ("follow", 0),
        ];
        let mut found = 0;
        for word in text.split([',', ';', ' ']).map(str::trim).filter(|word| !word.is_empty()) {
            match WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
                Some((_, bits)) => found |= bits,
                None => unknown(word),
            }
        }
        Self(found)
    }

    /// Returns whether a directive is in the set.
    pub fn has(self, directive: RobotsDirective) -> bool {
        self.0 & directive as u8 != 0
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl ArcEntry<'_> {
    /// Returns the directives in `robots_directive`.
    pub fn directives(&self) -> RobotsDirectives {
        self.robots_directive
            .as_deref()
            .map_or(RobotsDirectives::NONE, |text| RobotsDirectives::parse(text, |_| {}))
    }

    /// Returns the consent that this entry alone gives.
    pub fn consent(&self) -> Consent {
        self.consent_with(RobotsDirectives::NONE)
    }

    /// Returns the consent that the entry gives, combined with the robots `meta` element and the
    /// `X-Robots-Tag` header of the page.
    pub fn consent_with(&self, page: RobotsDirectives) -> Consent {
        let directives = self.directives().join(page);
        let is_forbidden = self.is_doubtful
            || self.removed
            || self.ai_indexable != Some(true)
            || directives.has(RobotsDirective::NoIndex)
            || directives.has(RobotsDirective::NoAi);
        if is_forbidden {
            Consent::Refused
        } else if self.auth_required == Some(true) {
            Consent::WithLogin
        } else {
            Consent::Given
        }
    }
}
