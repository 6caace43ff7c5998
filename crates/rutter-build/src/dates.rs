//! When a page changed: pure functions over what is known (D21).

use rutter_page::Timestamp;

use crate::ledger::Dated;

/// What may date a page that was never seen before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints {
    /// The page's own word.
    pub(crate) own: Option<Timestamp>,
    /// The sitemap that was there before us.
    pub(crate) sitemap: Option<Timestamp>,
    /// The site's history.
    pub(crate) git: Option<Timestamp>,
}

/// The date of a page seen for the first time: the first source that has one
/// which is not in the future, else now. Never the file's time.
pub(crate) fn first(hints: Hints, now: Timestamp) -> (Timestamp, Dated) {
    let past = |time: Option<Timestamp>| time.filter(|time| *time <= now);
    if let Some(own) = past(hints.own) {
        return (own, Dated::Page);
    }
    // Only there where the owner asked for it, and generators stamp sitemaps.
    if let Some(git) = past(hints.git) {
        return (git, Dated::Git);
    }
    if let Some(sitemap) = past(hints.sitemap) {
        return (sitemap, Dated::Sitemap);
    }
    (now, Dated::Seen)
}

/// The date of a page whose content is another than before: its own word if
/// that is later and not in the future, else now; in any case later than before.
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
    fn spec_modified_only_grows() {
        assert_eq!(next(at(10), Some(at(20)), at(30)), at(20));
        assert_eq!(next(at(10), Some(at(5)), at(30)), at(30));
        assert_eq!(next(at(10), Some(at(40)), at(30)), at(30));
        assert_eq!(next(at(10), None, at(10)), at(11));
        // A clock that went back.
        assert_eq!(next(at(10), None, at(0)), at(11));
    }

    #[test] // D21
    fn ours_the_first_date_is_the_pages_own() {
        let hints = Hints { own: Some(at(1)), sitemap: Some(at(2)), git: Some(at(3)) };
        assert_eq!(first(hints, at(9)), (at(1), Dated::Page));
        let hints = Hints { own: Some(at(99)), ..hints };
        assert_eq!(first(hints, at(9)), (at(3), Dated::Git));
        let hints = Hints { git: None, ..hints };
        assert_eq!(first(hints, at(9)), (at(2), Dated::Sitemap));
        assert_eq!(first(Hints::default(), at(9)), (at(9), Dated::Seen));
    }
}
