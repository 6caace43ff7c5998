//! What to do with a page, and with a whole staging: pure functions.
//!
//! Both stores ask here, so that they cannot disagree. Merge rule and
//! membership are separate questions: a page whose content stays may still be
//! new in its section.

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::merge::{self, Merge};
use rutter_scp::{Chain, MassDeletion};

use crate::error::CommitError;
use crate::model::{Finish, Mode, Outlook, Quota, Section, Withheld};

/// A page that is here, as far as a decision needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) withheld: Option<Withheld>,
    /// Whether a verified collection brought it.
    pub(crate) is_verified: bool,
    /// What the section at hand delivered last; `None` where it lacks the page.
    pub(crate) delivered: Option<LineDigest>,
}

/// A page that comes in, likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coming {
    pub(crate) modified: Timestamp,
    pub(crate) digest: LineDigest,
    pub(crate) withheld: Option<Withheld>,
    pub(crate) is_verified: bool,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The content.
    pub(crate) content: bool,
    /// The membership, and what the section delivered.
    pub(crate) member: bool,
}

impl Fate {
    pub(crate) fn is_nothing(self) -> bool {
        !self.content && !self.member
    }
}

/// Decides about one page.
pub(crate) fn decide(mode: Mode, known: Option<&Known>, coming: Coming) -> Fate {
    let Some(known) = known else { return Fate { content: true, member: true } };
    let member = known.delivered != Some(coming.digest);
    let content = if known.digest == coming.digest {
        known.withheld != coming.withheld
    } else {
        let merge = match mode {
            Mode::Snapshot => merge::snapshot(Some(known.modified), coming.modified, false),
            Mode::Delta => merge::delta(Some(known.modified), coming.modified),
            Mode::Visit => Merge::Replace,
        };
        // Words that may not be shown never stay for being later ones.
        let must_go = known.withheld.is_none() && coming.withheld.is_some();
        // What the publisher delivered goes before what we read ourselves (D87).
        let is_better = !known.is_verified && coming.is_verified;
        merge != Merge::Keep || must_go || is_better
    };
    Fate { content, member }
}

/// Tells whether a delta's chain starts where the section stands (D95).
pub fn links(section: &Section, chain: &Chain) -> bool {
    chain.from == Some(section.state)
}

/// Tells whether a page the section has and a snapshot lacks goes away.
///
/// One that a later delta wrote stays (D23), unless the snapshot names its
/// state: then the delta is applied again after it, and the state proves it.
pub(crate) fn goes(
    generated: Timestamp,
    by_delta: Option<Timestamp>,
    is_state_named: bool,
) -> bool {
    is_state_named || merge::is_deleted_by(generated, by_delta)
}

/// What the guard says of a staging (D23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// It may go on.
    Fine,
    /// It is held back until a later snapshot or somebody confirms it.
    HeldBack,
}

/// Since when a collection for a section is held back.
///
/// A section that takes the place of others may not be there yet; then they
/// remember it, all of them.
pub(crate) fn held<'s>(
    own: Option<&Section>,
    unfollowed: impl IntoIterator<Item = &'s Section>,
) -> Option<Timestamp> {
    let held = unfollowed.into_iter().map(|section| section.held);
    let all = || held.collect::<Option<Vec<_>>>()?.into_iter().max();
    own.and_then(|section| section.held).or_else(all)
}

/// Asks whether so many deletions need somebody's word.
///
/// A snapshot later than the one held back confirms it.
pub fn guard(
    outlook: &Outlook,
    mode: Mode,
    generated: Timestamp,
    held: Option<Timestamp>,
    mass_deletion: MassDeletion,
) -> Guard {
    let is_much = merge::is_held_back(outlook.before, outlook.removed, outlook.after);
    let is_confirmed = mode == Mode::Snapshot && held.is_some_and(|held| held < generated);
    if is_much && !is_confirmed && mass_deletion == MassDeletion::Refused {
        Guard::HeldBack
    } else {
        Guard::Fine
    }
}

/// Asks whether a publisher would have more pages than it may. One that had
/// them before may still change and lose pages.
pub(crate) fn fits(outlook: &Outlook, pages: u64, quota: Quota) -> Result<(), CommitError> {
    let most = quota.pages;
    if 0 < outlook.added && most < pages {
        return Err(CommitError::Quota { pages, most });
    }
    Ok(())
}

/// Compares what came out with what the receipt and line 1 say.
pub(crate) fn prove(outlook: &Outlook, finish: &Finish) -> Result<(), CommitError> {
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

    fn known(hour: i64, text: &[u8]) -> Known {
        let digest = LineDigest::of(text);
        Known {
            modified: at(hour),
            digest,
            withheld: None,
            is_verified: true,
            delivered: Some(digest),
        }
    }

    fn coming(hour: i64, text: &[u8]) -> Coming {
        let digest = LineDigest::of(text);
        Coming { modified: at(hour), digest, withheld: None, is_verified: true }
    }

    #[test] // SCP-132 SCP-133 SCP-134
    fn spec_a_delta_page_wins_only_by_being_later() {
        let fate = |known: Option<&Known>, coming| decide(Mode::Delta, known, coming).content;
        assert!(fate(None, coming(1, b"a")));
        assert!(fate(Some(&known(1, b"a")), coming(2, b"b")));
        assert!(!fate(Some(&known(2, b"a")), coming(2, b"b")));
        assert!(!fate(Some(&known(2, b"a")), coming(1, b"b")));
    }

    #[test] // D23
    fn ours_a_snapshot_page_wins_at_equal_times_too() {
        let fate = |hour| decide(Mode::Snapshot, Some(&known(2, b"a")), coming(hour, b"b")).content;
        assert!(!fate(1));
        assert!(fate(2) && fate(3));
    }

    #[test] // D24
    fn ours_membership_does_not_ask_the_merge_rule() {
        let elsewhere = Known { delivered: None, ..known(5, b"a") };
        let fate = decide(Mode::Delta, Some(&elsewhere), coming(5, b"a"));
        assert_eq!(fate, Fate { content: false, member: true });
        // The section delivered an older version than another section did.
        let fate = decide(Mode::Delta, Some(&elsewhere), coming(4, b"b"));
        assert_eq!(fate, Fate { content: false, member: true });
        assert!(decide(Mode::Delta, Some(&known(5, b"a")), coming(5, b"a")).is_nothing());
    }

    #[test] // D87
    fn ours_words_that_may_not_be_shown_go_whatever_their_age() {
        let withheld = Coming { withheld: Some(Withheld::Consent), ..coming(1, b"b") };
        assert!(decide(Mode::Delta, Some(&known(5, b"a")), withheld).content);
        let same = Coming { withheld: Some(Withheld::Consent), ..coming(5, b"a") };
        assert!(decide(Mode::Snapshot, Some(&known(5, b"a")), same).content);
        // And come back when they may be shown again.
        let hidden = Known { withheld: Some(Withheld::Consent), ..known(5, b"a") };
        assert!(decide(Mode::Snapshot, Some(&hidden), coming(5, b"a")).content);
    }

    #[test] // D87
    fn ours_a_verified_line_goes_before_what_we_read_ourselves() {
        let read = Known { is_verified: false, ..known(5, b"a") };
        assert!(decide(Mode::Delta, Some(&read), coming(4, b"b")).content);
        assert!(decide(Mode::Snapshot, Some(&read), coming(4, b"b")).content);
        assert!(!decide(Mode::Delta, Some(&known(5, b"a")), coming(4, b"b")).content);
    }

    #[test]
    fn ours_a_visit_takes_what_differs() {
        assert!(decide(Mode::Visit, Some(&known(5, b"a")), coming(4, b"b")).content);
        assert!(decide(Mode::Visit, Some(&known(5, b"a")), coming(5, b"a")).is_nothing());
    }

    #[test] // D23
    fn ours_mass_deletion_waits_for_a_later_snapshot() {
        let outlook = Outlook { before: 100, after: 40, removed: 60, ..Outlook::default() };
        let ask =
            |mode, generated, held| guard(&outlook, mode, generated, held, MassDeletion::Refused);
        assert_eq!(ask(Mode::Snapshot, at(1), None), Guard::HeldBack);
        assert_eq!(ask(Mode::Snapshot, at(1), Some(at(1))), Guard::HeldBack);
        assert_eq!(ask(Mode::Snapshot, at(2), Some(at(1))), Guard::Fine);
        assert_eq!(ask(Mode::Delta, at(2), Some(at(1))), Guard::HeldBack);
        let allowed = guard(&outlook, Mode::Delta, at(1), None, MassDeletion::Allowed);
        assert_eq!(allowed, Guard::Fine);
        let few = Outlook { removed: 50, after: 50, ..outlook };
        assert_eq!(guard(&few, Mode::Snapshot, at(1), None, MassDeletion::Refused), Guard::Fine);
    }

    #[test] // D23 D95
    fn ours_a_later_delta_protects_a_page_unless_states_prove_it() {
        assert!(goes(at(5), None, false) && goes(at(5), Some(at(5)), false));
        assert!(!goes(at(5), Some(at(6)), false));
        assert!(goes(at(5), Some(at(6)), true));
    }
}
