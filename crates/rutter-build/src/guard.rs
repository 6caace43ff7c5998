//! The guard against mass deletion: stops a build that takes most pages off
//! the site, or that publishes none or few of the pages it read.
//!
//! Input: counts of pass 1. Output: an error that names the numbers and, for
//! excluded pages, the most frequent reason. The limits are those of a reader
//! (D23): more than half of more than 20 pages. Pages that an earlier build
//! excluded were confirmed then and do not count again.

use std::collections::BTreeMap;

use crate::error::BuildError;
use crate::gate::Bar;
use crate::ledger::Row;

/// Up to so many pages, everything may happen but that none is left.
const FEW: u64 = 20;

/// What a build is judged by.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// Pages that were public before.
    pub(crate) before: u64,
    /// Pages that are excluded now and were not excluded before, by reason.
    excluded: BTreeMap<&'static str, u64>,
}

impl Guarded {
    /// Counts an excluded page. Redirects are no pages.
    pub(crate) fn exclude(&mut self, bar: Bar, old: Option<&Row>) {
        if bar != Bar::Redirect && old.is_none_or(Row::is_public) {
            *self.excluded.entry(bar.reason()).or_default() += 1;
        }
    }

    /// Judges a build that publishes `published` pages and removes `removed`
    /// that were public before.
    pub(crate) fn check(&self, published: u64, removed: u64) -> Result<(), BuildError> {
        let excluded: u64 = self.excluded.values().sum();
        let pages = published + excluded;
        if excluded != 0 && (published == 0 || is_most(excluded, pages)) {
            let most = self.excluded.iter().max_by_key(|(_, n)| **n);
            let (reason, of_reason) = most.map_or(("", 0), |(reason, n)| (*reason, *n));
            return Err(BuildError::MassExclusion { excluded, pages, reason, of_reason });
        }
        if is_most(removed, self.before) {
            return Err(BuildError::MassDeletion { removed, pages: self.before });
        }
        Ok(())
    }
}

fn is_most(part: u64, whole: u64) -> bool {
    FEW < whole && whole < part.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D23
    fn most_of_more_than_twenty_pages_are_not_removed_unasked() {
        let check = |before, published, removed| {
            Guarded { before, ..Guarded::default() }.check(published, removed)
        };
        for (before, published, removed) in [(20, 0, 20), (21, 11, 10), (22, 11, 11), (0, 50, 0)] {
            check(before, published, removed).unwrap();
        }
        for (before, published, removed) in [(21, 10, 11), (100, 40, 60), (30, 90, 16)] {
            let error = check(before, published, removed).unwrap_err();
            assert!(matches!(error, BuildError::MassDeletion { .. }), "{error}");
        }
    }

    #[test]
    fn a_build_that_excludes_all_or_most_pages_names_the_reason() {
        let check = |bars: &[(Bar, u64)], published| {
            let mut guarded = Guarded::default();
            for (bar, n) in bars {
                (0..*n).for_each(|_| guarded.exclude(*bar, None));
            }
            guarded.check(published, 0)
        };
        for (bars, published) in [
            (&[][..], 0),
            (&[(Bar::Login, 1)], 1),
            (&[(Bar::Login, 15)], 5),
            (&[(Bar::NoIndex, 20)], 20),
            (&[(Bar::Redirect, 90)], 10),
        ] {
            check(bars, published).unwrap();
        }
        for (bars, published, wanted) in [
            (&[(Bar::Login, 1)][..], 0, (1, 1, "asks for a password", 1)),
            (&[(Bar::Restricted, 30)], 0, (30, 30, "restricted", 30)),
            (&[(Bar::Draft, 3), (Bar::Login, 19)], 5, (22, 27, "asks for a password", 19)),
            (&[(Bar::Robots, 30), (Bar::Redirect, 9)], 0, (30, 30, "disallowed by robots.txt", 30)),
        ] {
            let error = check(bars, published).unwrap_err();
            let BuildError::MassExclusion { excluded, pages, reason, of_reason } = error else {
                panic!("{error}")
            };
            assert_eq!((excluded, pages, reason, of_reason), wanted);
        }
    }
}
