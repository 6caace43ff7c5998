//! Decides when a page changed (D21).
//!
//! Input: the date in the ledger, and the dates that the page, git and the sitemap state. Output:
//! the modification date and its source. The module ignores dates in the future and the
//! modification times of files.

use rutter_page::Timestamp;
use rutter_site::DateSource;

/// Dates that the page, its sitemap entry and git state for a page without a ledger row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DateHints {
    /// Date that the page itself states.
    pub(crate) own: Option<Timestamp>,
    /// Date of the page in the sitemap of the site's generator.
    pub(crate) sitemap: Option<Timestamp>,
    /// Date of the last git commit that changed the page.
    pub(crate) git: Option<Timestamp>,
}

/// Returns the date of a new page: the first stated date that is not in the future, else `now`.
pub(crate) fn first(hints: DateHints, now: Timestamp) -> (Timestamp, DateSource) {
    let past = |time: Option<Timestamp>| time.filter(|time| *time <= now);
    if let Some(own) = past(hints.own) {
        return (own, DateSource::Page);
    }
    // A git date is preferred to a sitemap date: git is used only on request, and generators often
    // write the build time into sitemaps.
    if let Some(git) = past(hints.git) {
        return (git, DateSource::Git);
    }
    if let Some(sitemap) = past(hints.sitemap) {
        return (sitemap, DateSource::Sitemap);
    }
    (now, DateSource::Seen)
}

/// Returns the date of a page with changed content: the date that the page states if it is later
/// than before and not in the future, else `now`. The result is always later than `before`.
pub(crate) fn next(before: Timestamp, own: Option<Timestamp>, now: Timestamp) -> Timestamp {
    match own {
        Some(own) if before < own && own <= now => own,
        _ => now.max(before.plus_seconds(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_seconds(1_700_000_000 + seconds).unwrap()
    }

    #[test] // D21, SCP-138
    fn modified_never_decreases() {
        assert_eq!(next(at(10), Some(at(20)), at(30)), at(20));
        assert_eq!(next(at(10), Some(at(5)), at(30)), at(30));
        assert_eq!(next(at(10), Some(at(40)), at(30)), at(30));
        assert_eq!(next(at(10), None, at(10)), at(11));
        // The clock was set back.
        assert_eq!(next(at(10), None, at(0)), at(11));
    }

    #[test] // D21
    fn first_date_prefers_the_page_then_git_then_the_sitemap() {
        let hints = DateHints { own: Some(at(1)), sitemap: Some(at(2)), git: Some(at(3)) };
        assert_eq!(first(hints, at(9)), (at(1), DateSource::Page));
        let hints = DateHints { own: Some(at(99)), ..hints };
        assert_eq!(first(hints, at(9)), (at(3), DateSource::Git));
        let hints = DateHints { git: None, ..hints };
        assert_eq!(first(hints, at(9)), (at(2), DateSource::Sitemap));
        assert_eq!(first(DateHints::default(), at(9)), (at(9), DateSource::Seen));
    }
}
