//! Sections that are no longer followed: what goes with them is guarded.

use rutter_scp::MassDeletion;
use rutter_store::{Cause, CommitError, Depth, Finish, Lease, Mode, Outlook, Store};

use crate::contract::drafts;
use crate::site::{Draft, add_all, all_lines, begin, claim, publisher, put};

/// Puts a section in the place of others.
fn switch(
    store: &dyn Store,
    lease: &Lease,
    to: (&str, &[Draft], i64),
    from: &[&str],
    finish: &Finish,
) -> Result<Outlook, CommitError> {
    let (name, pages, hour) = to;
    let mut staging = store.stage(lease, begin(name, Mode::Snapshot, hour)).unwrap();
    add_all(pages, &mut *staging);
    for section in from {
        staging.unfollow(section).unwrap();
    }
    staging.commit(finish)
}

// D23: deletions by another way are deletions.
pub(crate) fn is_guarded(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("blog", Mode::Snapshot, 1), &drafts(0, 0..30)).unwrap();
    put(store, &lease, begin("docs", Mode::Snapshot, 1), &drafts(0, 20..40)).unwrap();
    let from = ["blog", "docs", "none"];
    let few = drafts(0, 5..15);
    let is_held = |done: Result<_, CommitError>| {
        matches!(done, Err(CommitError::MassDeletion { deleted: 30, pages: 40 }))
    };
    // A section that is not here yet, ten pages of forty in it; a claim that
    // holds is no word either.
    let claimed = Finish { claim: Some(claim(&few)), ..Finish::plain() };
    for finish in [Finish::plain(), claimed.clone()] {
        assert!(is_held(switch(store, &lease, ("all", &few, 2), &from, &finish)));
        assert_eq!(all_lines(store).len(), 40);
        assert_eq!(store.sections(id).unwrap().len(), 2);
    }
    // No pages at all.
    let none = switch(store, &lease, ("all", &[], 2), &from, &Finish::plain());
    assert!(matches!(none, Err(CommitError::MassDeletion { deleted: 40, pages: 40 })), "{none:?}");
    // A later one confirms it.
    let outlook = switch(store, &lease, ("all", &few, 3), &from, &claimed).unwrap();
    assert_eq!((outlook.before, outlook.removed, outlook.after), (40, 30, 10));
    assert_eq!((outlook.added, outlook.kept), (0, 10));
    assert_eq!(all_lines(store).len(), 10);
    let gone = store.tombstones(id, None, 99).unwrap();
    assert!(gone.len() == 30 && gone.iter().all(|it| it.cause == Cause::Unfollowed));

    // The other way round: pages that move to a section stay, those that a
    // third section has stay, the rest goes; somebody's word is enough.
    put(store, &lease, begin("all", Mode::Delta, 4), &drafts(4, 0..40)).unwrap();
    put(store, &lease, begin("news", Mode::Snapshot, 4), &drafts(4, [39])).unwrap();
    let blog = drafts(4, 0..10);
    let done = switch(store, &lease, ("blog", &blog, 5), &["all"], &Finish::plain());
    assert!(matches!(done, Err(CommitError::MassDeletion { deleted: 29, pages: 40 })), "{done:?}");
    let word = Finish { mass_deletion: MassDeletion::Allowed, ..Finish::plain() };
    switch(store, &lease, ("blog", &blog, 5), &["all"], &word).unwrap();
    assert_eq!(all_lines(store).len(), 11);
    assert_eq!(store.check(Depth::Bodies).unwrap(), [""; 0]);

    // Where nothing is lost nobody has to be asked.
    let all = drafts(4, (0..10).chain([39]));
    let outlook =
        switch(store, &lease, ("all", &all, 6), &["blog", "news"], &Finish::plain()).unwrap();
    assert_eq!((outlook.before, outlook.removed, outlook.after), (11, 0, 11));
}
