//! Deletions of sections that are no longer followed are checked.

use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{
    CheckDepth, CommitError, CommitOptions, CommitSummary, Lease, RemovalCause, StagingMode,
};

use crate::contract::drafts;
use crate::site::{Draft, add_all, all_lines, begin, claim, publisher, put};

/// Replaces sections by another section.
fn switch(
    store: &dyn Store,
    lease: &Lease,
    to: (&str, &[Draft], i64),
    from: &[&str],
    finish: &CommitOptions,
) -> Result<CommitSummary, CommitError> {
    let (name, pages, hour) = to;
    let mut staging = store.stage(lease, begin(name, StagingMode::Snapshot, hour)).unwrap();
    add_all(pages, &mut *staging);
    for section in from {
        staging.unfollow(section).unwrap();
    }
    staging.commit(finish)
}

// D23: pages that are deleted with their section count as deletions.
pub(crate) fn is_guarded(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("blog", StagingMode::Snapshot, 1), &drafts(0, 0..30)).unwrap();
    put(store, &lease, begin("docs", StagingMode::Snapshot, 1), &drafts(0, 20..40)).unwrap();
    let from = ["blog", "docs", "none"];
    let few = drafts(0, 5..15);
    let is_held = |done: Result<_, CommitError>| {
        matches!(done, Err(CommitError::MassDeletion { deleted: 30, pages: 40 }))
    };
    // A new section with ten of forty pages; a valid claim is not a permission.
    let claimed = CommitOptions { claim: Some(claim(&few)), ..CommitOptions::plain() };
    for finish in [CommitOptions::plain(), claimed.clone()] {
        assert!(is_held(switch(store, &lease, ("all", &few, 2), &from, &finish)));
        assert_eq!(all_lines(store).len(), 40);
        assert_eq!(store.sections(id).unwrap().len(), 2);
    }
    // A section without pages.
    let none = switch(store, &lease, ("all", &[], 2), &from, &CommitOptions::plain());
    assert!(matches!(none, Err(CommitError::MassDeletion { deleted: 40, pages: 40 })), "{none:?}");
    // A later snapshot confirms it.
    let outlook = switch(store, &lease, ("all", &few, 3), &from, &claimed).unwrap();
    assert_eq!((outlook.before, outlook.removed, outlook.after), (40, 30, 10));
    assert_eq!((outlook.added, outlook.kept), (0, 10));
    assert_eq!(all_lines(store).len(), 10);
    let gone = store.tombstones(id, None, 99).unwrap();
    assert!(gone.len() == 30 && gone.iter().all(|it| it.cause == RemovalCause::Unfollowed));

    // The other direction: pages that move to the section or are in a third section are kept, the
    // others are deleted with permission.
    put(store, &lease, begin("all", StagingMode::Delta, 4), &drafts(4, 0..40)).unwrap();
    put(store, &lease, begin("news", StagingMode::Snapshot, 4), &drafts(4, [39])).unwrap();
    let blog = drafts(4, 0..10);
    let done = switch(store, &lease, ("blog", &blog, 5), &["all"], &CommitOptions::plain());
    assert!(matches!(done, Err(CommitError::MassDeletion { deleted: 29, pages: 40 })), "{done:?}");
    let word =
        CommitOptions { mass_deletion: MassDeletionPolicy::Allowed, ..CommitOptions::plain() };
    switch(store, &lease, ("blog", &blog, 5), &["all"], &word).unwrap();
    assert_eq!(all_lines(store).len(), 11);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);

    // If no page is deleted, no confirmation is needed.
    let all = drafts(4, (0..10).chain([39]));
    let outlook =
        switch(store, &lease, ("all", &all, 6), &["blog", "news"], &CommitOptions::plain())
            .unwrap();
    assert_eq!((outlook.before, outlook.removed, outlook.after), (11, 0, 11));
}
