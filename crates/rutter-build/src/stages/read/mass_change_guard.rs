//! Stops a build that would remove or exclude most pages of a site.
//!
//! Input: the counts of pass 1. Output: an error with the numbers and, for excluded pages, the most
//! frequent reason. The limit is the same that a reader applies (D23): more than half of more than
//! 20 pages. Pages that an earlier build already excluded are not counted.

use std::collections::BTreeMap;

use rutter_site::{ExclusionReason, LedgerRow};

use crate::error::BuildError;

/// Maximum number of pages of a site to which the limit of one half does not apply.
const FEW: u64 = 20;

/// Numbers of pages that were public before and that this build excludes; the guard checks them.
#[derive(Debug, Default)]
pub(crate) struct MassChangeGuard {
    /// Number of pages that were public before this build.
    pub(crate) before: u64,
    /// Number of pages that this build excludes and that were not excluded before, by reason.
    excluded: BTreeMap<&'static str, u64>,
}

impl MassChangeGuard {
    /// Counts an excluded page if it is new or was public before. Redirects do not count as pages.
    pub(crate) fn exclude(&mut self, exclusion: ExclusionReason, old: Option<&LedgerRow>) {
        if exclusion != ExclusionReason::Redirect && old.is_none_or(LedgerRow::is_public) {
            *self.excluded.entry(exclusion.as_str()).or_default() += 1;
        }
    }

    /// Returns an error if a build with these numbers would remove or exclude too many pages.
    /// `published` is the number of pages that it publishes, `removed` the number of pages that
    /// were public before and that it removes.
    pub(crate) fn check(&self, published: u64, removed: u64) -> Result<(), BuildError> {
        let excluded: u64 = self.excluded.values().sum();
        let pages = published + excluded;
        if excluded != 0 && (published == 0 || is_majority(excluded, pages)) {
            let most = self.excluded.iter().max_by_key(|(_, n)| **n);
            let (reason, of_reason) = most.map_or(("", 0), |(reason, n)| (*reason, *n));
            return Err(BuildError::MassExclusion { excluded, pages, reason, of_reason });
        }
        if is_majority(removed, self.before) {
            return Err(BuildError::MassDeletion { removed, pages: self.before });
        }
        Ok(())
    }
}

fn is_majority(part: u64, whole: u64) -> bool {
    FEW < whole && whole < part.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D23
    fn most_of_more_than_twenty_pages_are_not_removed_unasked() {
        let check = |before, published, removed| {
            MassChangeGuard { before, ..MassChangeGuard::default() }.check(published, removed)
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
        let check = |exclusions: &[(ExclusionReason, u64)], published| {
            let mut guarded = MassChangeGuard::default();
            for (exclusion, n) in exclusions {
                (0..*n).for_each(|_| guarded.exclude(*exclusion, None));
            }
            guarded.check(published, 0)
        };
        for (exclusions, published) in [
            (&[][..], 0),
            (&[(ExclusionReason::Login, 1)], 1),
            (&[(ExclusionReason::Login, 15)], 5),
            (&[(ExclusionReason::NoIndex, 20)], 20),
            (&[(ExclusionReason::Redirect, 90)], 10),
        ] {
            check(exclusions, published).unwrap();
        }
        for (exclusions, published, wanted) in [
            (&[(ExclusionReason::Login, 1)][..], 0, (1, 1, "asks for a password", 1)),
            (&[(ExclusionReason::Restricted, 30)], 0, (30, 30, "restricted", 30)),
            (
                &[(ExclusionReason::Draft, 3), (ExclusionReason::Login, 19)],
                5,
                (22, 27, "asks for a password", 19),
            ),
            (
                &[(ExclusionReason::Robots, 30), (ExclusionReason::Redirect, 9)],
                0,
                (30, 30, "disallowed by robots.txt", 30),
            ),
        ] {
            let error = check(exclusions, published).unwrap_err();
            let BuildError::MassExclusion { excluded, pages, reason, of_reason } = error else {
                panic!("{error}")
            };
            assert_eq!((excluded, pages, reason, of_reason), wanted);
        }
    }
}
