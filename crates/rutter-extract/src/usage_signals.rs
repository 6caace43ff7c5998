//! Reads what a page allows others to do with it: robots `meta`, `data-ai-*` attributes and ARC
//! `meta` elements.
//!
//! Input: an [`Extraction`]. Output: [`UsageSignals`] and, for a given time, the [`UseRefusal`] that
//! follows. A site build and a crawl call the same function, so both withhold the same pages.

use std::collections::BTreeSet;

use rutter_page::Timestamp;

use crate::date;
use crate::extraction::Extraction;
use crate::facts::AnnotatedElement;

/// Why the content of a page may not be used; the most restrictive reason comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UseRefusal {
    /// The page needs a login.
    Login,
    /// The page asks not to be indexed.
    NoIndex,
    /// The `unavailable_after` time of the page is in the past.
    Expired,
    /// The page asks not to be used by AI.
    NoAi,
    /// The page asks that no copy is kept for others.
    NoArchive,
    /// The page asks that none of its text is shown.
    NoSnippet,
}

/// The usage signals of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageSignals {
    /// Robots directives for all robots or for the named robot, in lower case, without duplicates.
    pub robots: Vec<String>,
    /// Time after which the page must no longer be used (`unavailable_after`).
    pub unavailable_after: Option<Timestamp>,
    /// Whether the page says that it needs a login.
    pub needs_login: bool,
    /// Whether the page says that it needs no login.
    pub is_open: bool,
    /// Whether AI may use the page; `None` if the page does not say.
    pub is_for_ai: Option<bool>,
    /// Crawl priority of the page, from 0 to 1.
    pub priority: Option<f64>,
    /// The directives in `robots` as a set, so that duplicates are found quickly.
    known: BTreeSet<String>,
}

impl UsageSignals {
    /// Reads the usage signals of a page for all robots and for the robot with the name `token`.
    pub fn of(extraction: &Extraction, token: &str) -> Self {
        let mut signals = Self::default();
        let metas = extraction.facts.metas.iter();
        for (_, value) in metas.filter(|(name, _)| is_for(name, token)) {
            signals.direct(value);
        }
        let metas = extraction.facts.metas.iter();
        let metas = metas.map(|(name, value)| (name.strip_prefix("arc:").unwrap_or(name), value));
        let is_page = |element: &&AnnotatedElement| {
            matches!(element.element.as_str(), "html" | "body" | "main" | "article")
                || element.attributes.iter().any(|(name, _)| name == "data-ai-page")
        };
        let of_page = extraction.annotated.iter().filter(is_page);
        let attributes = of_page.flat_map(|element| &element.attributes);
        let attributes =
            attributes.filter_map(|(name, value)| Some((name.strip_prefix("data-ai-")?, value)));
        for (name, value) in metas.chain(attributes) {
            let value = value.trim().to_ascii_lowercase();
            match name {
                "ai_indexable" | "ai-indexable" | "indexable" => {
                    // Only the value `true` is consent, and a single refusal takes precedence.
                    let is_given = value == "true" && signals.is_for_ai != Some(false);
                    signals.is_for_ai = Some(is_given);
                }
                "auth_required" | "auth-required" => {
                    let is_open = matches!(value.as_str(), "false" | "no" | "0");
                    signals.needs_login |= !is_open;
                    signals.is_open |= is_open;
                }
                "robots_directive" | "robots-directive" => signals.direct(&value),
                "crawl_priority" | "crawl-priority" => {
                    let given = value.parse().ok().filter(|given| (0.0..=1.0).contains(given));
                    signals.priority = given.or(signals.priority);
                }
                _ => {}
            }
        }
        signals
    }

    /// Reads the value of a robots `meta` or of an `X-Robots-Tag` header field.
    ///
    /// ```
    /// let now = rutter_page::Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    /// let signals = rutter_extract::UsageSignals::of_directives("all, unavailable_after: 1 Jan 2020");
    /// assert_eq!(signals.refusal(now), Some(rutter_extract::UseRefusal::Expired));
    /// ```
    pub fn of_directives(value: &str) -> Self {
        let mut signals = Self::default();
        signals.direct(value);
        signals
    }

    fn direct(&mut self, value: &str) {
        let value = value.to_ascii_lowercase();
        let (words, dated) = match value.find("unavailable_after") {
            Some(at) => value.split_at(at),
            None => (value.as_str(), ""),
        };
        let mut rest = "";
        if let Some(dated) = dated.strip_prefix("unavailable_after") {
            let (after, behind) = end_of_date(dated);
            let known = self.unavailable_after;
            self.unavailable_after =
                after.map(|after| known.map_or(after, |it| it.min(after))).or(known);
            rest = behind;
        }
        for word in words.split([',', ';']).chain(rest.split([',', ';'])).map(str::trim) {
            // Directives that only repeat the default are not reported.
            let is_usual = matches!(word, "" | "all" | "index" | "follow");
            if !is_usual && !self.known.contains(word) {
                self.known.insert(word.to_owned());
                self.robots.push(word.to_owned());
            }
        }
    }

    /// Returns whether the page gives this directive.
    pub fn asks(&self, directive: &str) -> bool {
        self.robots.iter().any(|word| {
            word == directive || (word == "none" && matches!(directive, "noindex" | "nofollow"))
        })
    }

    /// Returns why the content may not be used at a given time; the most restrictive reason.
    pub fn refusal(&self, now: Timestamp) -> Option<UseRefusal> {
        let is_expired = self.unavailable_after.is_some_and(|after| after <= now);
        let found = [
            (self.needs_login, UseRefusal::Login),
            (self.asks("noindex"), UseRefusal::NoIndex),
            (is_expired, UseRefusal::Expired),
            (self.is_for_ai == Some(false) || self.asks("noai"), UseRefusal::NoAi),
            (self.asks("noarchive"), UseRefusal::NoArchive),
            (self.asks("nosnippet"), UseRefusal::NoSnippet),
        ];
        found.into_iter().find(|(is_so, _)| *is_so).map(|(_, refusal)| refusal)
    }
}

fn is_for(name: &str, token: &str) -> bool {
    name == "robots" || name.eq_ignore_ascii_case(token)
}

/// Splits a text into the date of `unavailable_after` and the text after it. A date may contain
/// commas (`Friday, 25 Jun 2010`). A date that cannot be parsed has no effect.
fn end_of_date(text: &str) -> (Option<Timestamp>, &str) {
    let text = text.trim_start().trim_start_matches([':', '=']);
    let mut ends: Vec<usize> = text.match_indices(',').map(|(at, _)| at).take(2).collect();
    ends.push(text.len());
    for end in ends {
        let (date, rest) = text.split_at(end);
        if let Some(after) = date::parse(date) {
            return (Some(after), rest);
        }
    }
    (None, text.split_once(',').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use rutter_page::PageUrl;

    use super::*;
    use crate::options::ExtractOptions;
    use crate::read::html;

    fn refusal(page: &str) -> Option<UseRefusal> {
        let now = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
        let url = PageUrl::parse("https://h.example/a").unwrap();
        let page = format!("<html lang=en><title>T</title>{page}</html>");
        UsageSignals::of(&html(page.as_bytes(), &ExtractOptions::new(url, now)), "Rutter")
            .refusal(now)
    }

    #[test] // D56 D57 D58
    fn page_refuses_its_use_in_every_way_it_can() {
        let body = "<main><p>Text of this page.</p></main>";
        for (head, wanted) in [
            ("", None),
            ("<meta name=robots content='index, follow'>", None),
            ("<meta name=robots content=NOINDEX>", Some(UseRefusal::NoIndex)),
            ("<meta name=robots content=none>", Some(UseRefusal::NoIndex)),
            ("<meta name=robots content='noarchive'>", Some(UseRefusal::NoArchive)),
            ("<meta name=robots content='nosnippet, nofollow'>", Some(UseRefusal::NoSnippet)),
            ("<meta name=rutter content=noindex>", Some(UseRefusal::NoIndex)),
            ("<meta name=otherbot content=noindex>", None),
            ("<meta name=ai-indexable content=false>", Some(UseRefusal::NoAi)),
            ("<meta name=ai_indexable content=true>", None),
            ("<meta name='arc:auth_required' content=true>", Some(UseRefusal::Login)),
        ] {
            assert_eq!(refusal(&format!("{head}{body}")), wanted, "{head}");
        }
        for (attributes, wanted) in [
            ("data-ai-indexable=false", Some(UseRefusal::NoAi)),
            ("data-ai-indexable=true", None),
            ("data-ai-auth-required", Some(UseRefusal::Login)),
            ("data-ai-auth-required=false", None),
            ("data-ai-robots-directive=noindex", Some(UseRefusal::NoIndex)),
        ] {
            let page = format!("<main {attributes}><p>Text of this page.</p></main>");
            assert_eq!(refusal(&page), wanted, "{attributes}");
        }
    }

    #[test]
    fn page_that_is_no_longer_available_is_refused() {
        let now = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
        for (text, wanted) in [
            ("unavailable_after: 25 Jun 2010 15:00:00 GMT", Some(UseRefusal::Expired)),
            ("unavailable_after: 2010-06-25", Some(UseRefusal::Expired)),
            ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", Some(UseRefusal::Expired)),
            ("Unavailable_After: 25 Jun 2010 15:00:00 GMT, noarchive", Some(UseRefusal::Expired)),
            ("unavailable_after: 2030-06-25", None),
            ("unavailable_after: 2030-06-25, noindex", Some(UseRefusal::NoIndex)),
            ("noai, unavailable_after: 2030-06-25", Some(UseRefusal::NoAi)),
            ("unavailable_after: some day", None),
            ("unavailable_after: some day, noai", Some(UseRefusal::NoAi)),
            ("unavailable_after", None),
        ] {
            assert_eq!(UsageSignals::of_directives(text).refusal(now), wanted, "{text}");
        }
    }
}
