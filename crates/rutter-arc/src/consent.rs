//! Whether a page may be used: flags and directives joined, the most
//! restrictive wins (D56, D57, D58).
//!
//! Refuses: to take anything for consent that is not clearly `true`.

use crate::entry::Entry;

/// What a site lets AI consumers do with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consent {
    /// Index it.
    Given,
    /// Index it for those who may see it; do not ask for it without a login.
    WithLogin,
    /// Do not index it.
    Refused,
}

/// One word of a robots directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Directive {
    /// Not indexed at all.
    NoIndex = 1,
    /// Its links are not followed.
    NoFollow = 2,
    /// No copy is kept for others.
    NoArchive = 4,
    /// Nothing of its text is shown.
    NoSnippet = 8,
    /// Not used by AI.
    NoAi = 16,
    /// Its pictures are not used by AI.
    NoImageAi = 32,
}

/// A set of [`Directive`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directives(u8);

impl Directives {
    /// Nothing is restricted.
    pub const NONE: Self = Self(0);

    /// Reads a comma list in any case; unknown words are handed to `unknown`.
    ///
    /// ```
    /// # use rutter_arc::{Directive, Directives};
    /// let mut unknown = Vec::new();
    /// let found = Directives::parse("None, max-snippet:50", |word| unknown.push(word.to_owned()));
    /// assert!(found.has(Directive::NoIndex) && found.has(Directive::NoFollow));
    /// assert_eq!(unknown, ["max-snippet:50"]);
    /// ```
    pub fn parse(text: &str, mut unknown: impl FnMut(&str)) -> Self {
        const WORDS: [(&str, u8); 10] = [
            ("noindex", Directive::NoIndex as u8),
            ("nofollow", Directive::NoFollow as u8),
            ("none", Directive::NoIndex as u8 | Directive::NoFollow as u8),
            ("noarchive", Directive::NoArchive as u8),
            ("nosnippet", Directive::NoSnippet as u8),
            ("noai", Directive::NoAi as u8),
            ("noimageai", Directive::NoImageAi as u8),
            // These restrict nothing.
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

    /// Tells whether a directive is in the set.
    pub fn has(self, directive: Directive) -> bool {
        self.0 & directive as u8 != 0
    }

    /// Everything that either forbids.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Entry<'_> {
    /// What `robots_directive` forbids.
    pub fn directives(&self) -> Directives {
        self.robots_directive
            .as_deref()
            .map_or(Directives::NONE, |text| Directives::parse(text, |_| {}))
    }

    /// What may be done with the page, by this entry alone.
    pub fn consent(&self) -> Consent {
        self.consent_with(Directives::NONE)
    }

    /// What may be done with the page, joined with what its robots `meta` and
    /// `X-Robots-Tag` forbid.
    pub fn consent_with(&self, page: Directives) -> Consent {
        let directives = self.directives().join(page);
        let is_forbidden = self.is_doubtful
            || self.removed
            || self.ai_indexable != Some(true)
            || directives.has(Directive::NoIndex)
            || directives.has(Directive::NoAi);
        if is_forbidden {
            Consent::Refused
        } else if self.auth_required == Some(true) {
            Consent::WithLogin
        } else {
            Consent::Given
        }
    }
}
