//! Decides what a staged page changes in the replica, and whether a staging may be committed.
//!
//! `MemoryStore` and `SqliteStore` both use these pure functions, so they make the same decisions.
//! The content of a page and its membership in a section are decided separately: a page with
//! unchanged content may still be new in its section.

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::MassDeletionPolicy;
use rutter_scp::merge::{self, MergeDecision};

use crate::error::CommitError;
use crate::model::{CommitOptions, CommitSummary, Quota, Section, StagingMode, WithheldReason};

/// The fields of a stored page version that [`decide`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredVersion {
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) withheld: Option<WithheldReason>,
    /// Whether the version comes from a verified collection.
    pub(crate) is_verified: bool,
    /// Digest of the page's last line in the collections of the section; `None` if the page is not
    /// in the section.
    pub(crate) delivered: Option<LineDigest>,
}

/// The fields of a staged page version that [`decide`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IncomingVersion {
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) withheld: Option<WithheldReason>,
    pub(crate) is_verified: bool,
}

/// Which parts of a staged page the commit writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageUpdate {
    /// Whether the commit writes the content.
    pub(crate) content: bool,
    /// Whether the commit writes the membership of the page in the section, with the staged digest.
    pub(crate) member: bool,
}

impl PageUpdate {
    pub(crate) fn is_nothing(self) -> bool {
        !self.content && !self.member
    }
}

/// Decides which parts of a staged page the commit writes.
pub(crate) fn decide(
    mode: StagingMode,
    known: Option<&StoredVersion>,
    coming: IncomingVersion,
) -> PageUpdate {
    let Some(known) = known else { return PageUpdate { content: true, member: true } };
    let member = known.delivered != Some(coming.digest);
    let content = if known.digest == coming.digest {
        known.withheld != coming.withheld
    } else {
        let merge = match mode {
            StagingMode::Snapshot => {
                merge::decide_snapshot_page(Some(known.modified), coming.modified, false)
            }
            StagingMode::Delta => merge::decide_delta_page(Some(known.modified), coming.modified),
            StagingMode::Visit => MergeDecision::Replace,
        };
        // A staged version that is withheld deletes the stored content, even if the stored version
        // is newer.
        let must_withhold = known.withheld.is_none() && coming.withheld.is_some();
        // A verified version takes precedence over one that was extracted from HTML (D87).
        let is_better = !known.is_verified && coming.is_verified;
        merge != MergeDecision::Keep || must_withhold || is_better
    };
    PageUpdate { content, member }
}

/// Returns whether the commit of a snapshot deletes a page that the snapshot does not contain.
///
/// A page that a delta newer than the snapshot wrote is kept (D23). If the snapshot claims a state,
/// the page is deleted: that delta is applied again after the snapshot, and the state proves the
/// result.
pub(crate) fn is_deleted_by_snapshot(
    generated: Timestamp,
    by_delta: Option<Timestamp>,
    is_state_named: bool,
) -> bool {
    is_state_named || merge::is_deleted_by(generated, by_delta)
}

/// Whether a staging deletes too many pages to be committed (D23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionCheck {
    /// The staging may be committed.
    Fine,
    /// The staging deletes too many pages: it is held back until a later snapshot or the user
    /// confirms the deletions.
    HeldBack,
}

/// Returns `generated` of the collection that is held back for a section; `None` if none is.
///
/// A section that replaces other sections may not exist yet; then each of the replaced sections
/// records the time.
pub(crate) fn held_back_since<'s>(
    own: Option<&Section>,
    unfollowed: impl IntoIterator<Item = &'s Section>,
) -> Option<Timestamp> {
    let held = unfollowed.into_iter().map(|section| section.held);
    let all = || held.collect::<Option<Vec<_>>>()?.into_iter().max();
    own.and_then(|section| section.held).or_else(all)
}

/// Checks whether a staging deletes so many pages that a confirmation is needed.
///
/// A snapshot that is newer than the collection that was held back confirms the deletions.
pub fn check_deletions(
    outlook: &CommitSummary,
    mode: StagingMode,
    generated: Timestamp,
    held: Option<Timestamp>,
    mass_deletion: MassDeletionPolicy,
) -> DeletionCheck {
    let is_much = merge::is_held_back(outlook.before, outlook.removed, outlook.after);
    let is_confirmed = mode == StagingMode::Snapshot && held.is_some_and(|held| held < generated);
    if is_much && !is_confirmed && mass_deletion == MassDeletionPolicy::Refused {
        DeletionCheck::HeldBack
    } else {
        DeletionCheck::Fine
    }
}

/// Returns an error if a commit adds pages beyond the publisher's quota of pages. A publisher that
/// has reached its quota may still change and remove pages.
pub(crate) fn check_quota(
    outlook: &CommitSummary,
    pages: u64,
    quota: Quota,
) -> Result<(), CommitError> {
    let most = quota.pages;
    if 0 < outlook.added && most < pages {
        return Err(CommitError::Quota { pages, most });
    }
    Ok(())
}

/// Compares the expected result of a commit with the number of lines in the receipt and with the
/// state that the collection claims.
pub(crate) fn verify_claim(
    outlook: &CommitSummary,
    finish: &CommitOptions,
) -> Result<(), CommitError> {
    if let Some(counted) = finish.lines.filter(|lines| *lines != outlook.lines) {
        return Err(CommitError::Count { staged: outlook.lines, counted });
    }
    if let Some(claim) = finish.claim
        && (claim.state != outlook.state || claim.pages != outlook.after)
    {
        return Err(CommitError::State {
            claimed: claim.state,
            claimed_pages: claim.pages,
            found: outlook.state,
            pages: outlook.after,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_unix_seconds(1_700_000_000 + hour * 3600).unwrap()
    }

    fn known(hour: i64, text: &[u8]) -> StoredVersion {
        let digest = LineDigest::of(text);
        StoredVersion {
            modified: at(hour),
            digest,
            withheld: None,
            is_verified: true,
            delivered: Some(digest),
        }
    }

    fn coming(hour: i64, text: &[u8]) -> IncomingVersion {
        let digest = LineDigest::of(text);
        IncomingVersion { modified: at(hour), digest, withheld: None, is_verified: true }
    }

    #[test] // SCP-132 SCP-133 SCP-134
    fn delta_page_replaces_only_older_versions() {
        let fate = |known: Option<&StoredVersion>, coming| {
            decide(StagingMode::Delta, known, coming).content
        };
        assert!(fate(None, coming(1, b"a")));
        assert!(fate(Some(&known(1, b"a")), coming(2, b"b")));
        assert!(!fate(Some(&known(2, b"a")), coming(2, b"b")));
        assert!(!fate(Some(&known(2, b"a")), coming(1, b"b")));
    }

    #[test] // D23
    fn snapshot_page_replaces_versions_of_equal_time() {
        let fate =
            |hour| decide(StagingMode::Snapshot, Some(&known(2, b"a")), coming(hour, b"b")).content;
        assert!(!fate(1));
        assert!(fate(2) && fate(3));
    }

    #[test] // D24
    fn membership_is_independent_of_the_merge_rule() {
        let elsewhere = StoredVersion { delivered: None, ..known(5, b"a") };
        let fate = decide(StagingMode::Delta, Some(&elsewhere), coming(5, b"a"));
        assert_eq!(fate, PageUpdate { content: false, member: true });
        // The section delivered an older version of the page than another section did.
        let fate = decide(StagingMode::Delta, Some(&elsewhere), coming(4, b"b"));
        assert_eq!(fate, PageUpdate { content: false, member: true });
        assert!(decide(StagingMode::Delta, Some(&known(5, b"a")), coming(5, b"a")).is_nothing());
    }

    #[test] // D87
    fn withholds_content_regardless_of_its_age() {
        let withheld =
            IncomingVersion { withheld: Some(WithheldReason::Consent), ..coming(1, b"b") };
        assert!(decide(StagingMode::Delta, Some(&known(5, b"a")), withheld).content);
        let same = IncomingVersion { withheld: Some(WithheldReason::Consent), ..coming(5, b"a") };
        assert!(decide(StagingMode::Snapshot, Some(&known(5, b"a")), same).content);
        // The content is stored again when the page is no longer withheld.
        let hidden = StoredVersion { withheld: Some(WithheldReason::Consent), ..known(5, b"a") };
        assert!(decide(StagingMode::Snapshot, Some(&hidden), coming(5, b"a")).content);
    }

    #[test] // D87
    fn verified_version_replaces_extracted_version() {
        let read = StoredVersion { is_verified: false, ..known(5, b"a") };
        assert!(decide(StagingMode::Delta, Some(&read), coming(4, b"b")).content);
        assert!(decide(StagingMode::Snapshot, Some(&read), coming(4, b"b")).content);
        assert!(!decide(StagingMode::Delta, Some(&known(5, b"a")), coming(4, b"b")).content);
    }

    #[test]
    fn visit_replaces_versions_that_differ() {
        assert!(decide(StagingMode::Visit, Some(&known(5, b"a")), coming(4, b"b")).content);
        assert!(decide(StagingMode::Visit, Some(&known(5, b"a")), coming(5, b"a")).is_nothing());
    }

    #[test] // D23
    fn mass_deletion_needs_a_later_snapshot() {
        let outlook =
            CommitSummary { before: 100, after: 40, removed: 60, ..CommitSummary::default() };
        let ask = |mode, generated, held| {
            check_deletions(&outlook, mode, generated, held, MassDeletionPolicy::Refused)
        };
        assert_eq!(ask(StagingMode::Snapshot, at(1), None), DeletionCheck::HeldBack);
        assert_eq!(ask(StagingMode::Snapshot, at(1), Some(at(1))), DeletionCheck::HeldBack);
        assert_eq!(ask(StagingMode::Snapshot, at(2), Some(at(1))), DeletionCheck::Fine);
        assert_eq!(ask(StagingMode::Delta, at(2), Some(at(1))), DeletionCheck::HeldBack);
        let allowed =
            check_deletions(&outlook, StagingMode::Delta, at(1), None, MassDeletionPolicy::Allowed);
        assert_eq!(allowed, DeletionCheck::Fine);
        let few = CommitSummary { removed: 50, after: 50, ..outlook };
        assert_eq!(
            check_deletions(&few, StagingMode::Snapshot, at(1), None, MassDeletionPolicy::Refused),
            DeletionCheck::Fine
        );
    }

    #[test] // D23 D95
    fn later_delta_protects_a_page_unless_states_prove_it() {
        assert!(
            is_deleted_by_snapshot(at(5), None, false)
                && is_deleted_by_snapshot(at(5), Some(at(5)), false)
        );
        assert!(!is_deleted_by_snapshot(at(5), Some(at(6)), false));
        assert!(is_deleted_by_snapshot(at(5), Some(at(6)), true));
    }
}
