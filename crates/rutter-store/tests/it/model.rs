//! Random histories are compared with a simple model.
//!
//! Each step stages pages and commits them, drops them, or loses them with the process: the file is
//! copied while the staging is open, and the test continues with the copy. After each step, both
//! stores must be equal to the model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rutter_page::Timestamp;
use rutter_scp::{MassDeletionPolicy, SectionState};
use rutter_store::prelude::*;
use rutter_store::{
    ChangeKind, CheckDepth, CommitOptions, Lease, MemoryStore, PageSelection, RemovalCause,
    SqliteStore, StagingBuffer, StagingMode, StoreOptions,
};

use crate::site::{Draft, at, begin, publisher};

const SECTIONS: [&str; 2] = ["all", "blog"];

#[derive(Debug, Clone)]
struct Step {
    section: usize,
    mode: StagingMode,
    /// Page, shift of its time in hours, content.
    pages: Vec<(usize, i64, u8)>,
    removed: Vec<usize>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Commit,
    Drop,
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let mode = prop::sample::select(vec![
        StagingMode::Snapshot,
        StagingMode::Delta,
        StagingMode::Delta,
        StagingMode::Visit,
    ]);
    let end =
        prop::sample::select(vec![End::Commit, End::Commit, End::Commit, End::Drop, End::Kill]);
    let pages = prop::collection::vec((0..8_usize, 0..4_i64, 0..3_u8), 0..9);
    let removed = prop::collection::vec(0..8_usize, 0..3);
    let step =
        (0..2_usize, mode, pages, removed, end).prop_map(|(section, mode, pages, removed, end)| {
            Step { section, mode, pages, removed, end }
        });
    prop::collection::vec(step, 1..14)
}

/// A page of the model.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    modified: Timestamp,
    line: String,
}

/// A simple model of a replica.
#[derive(Debug, Clone, Default)]
struct Model {
    pages: BTreeMap<String, Known>,
    /// By section: the time of the delta that last wrote a page, and the delivered line.
    members: [BTreeMap<String, (Option<Timestamp>, Draft)>; 2],
}

impl Model {
    fn apply(&mut self, step: &Step, drafts: &[Draft], removed: &[String], generated: Timestamp) {
        let mut coming: BTreeMap<&str, &Draft> = BTreeMap::new();
        for draft in drafts {
            let is_later = |before: &&Draft| before.modified < draft.modified;
            if coming.get(draft.key.as_str()).is_none_or(is_later) {
                coming.insert(&draft.key, draft);
            }
        }
        let members = &mut self.members[step.section];
        for (key, draft) in &coming {
            if removed.iter().any(|it| it == key) {
                continue;
            }
            let takes = match (self.pages.get(*key), step.mode) {
                (None, _) | (_, StagingMode::Visit) => true,
                (Some(known), StagingMode::Delta) => known.modified < draft.modified,
                (Some(known), StagingMode::Snapshot) => known.modified <= draft.modified,
            };
            let is_other = self.pages.get(*key).is_none_or(|known| known.line != draft.line);
            if takes {
                let Draft { modified, line, .. } = (*draft).clone();
                self.pages.insert((*key).to_owned(), Known { modified, line });
            }
            let by_delta = (step.mode == StagingMode::Delta).then_some(generated);
            let is_same = members.get(*key).is_some_and(|(_, before)| before.line == draft.line);
            if !is_same || (takes && is_other) {
                members.insert((*key).to_owned(), (by_delta, (*draft).clone()));
            }
        }
        members.retain(|key, (by_delta, _)| {
            let is_absent =
                step.mode == StagingMode::Snapshot && !coming.contains_key(key.as_str());
            let is_protected = by_delta.is_some_and(|delta| generated < delta);
            !removed.contains(key) && (!is_absent || is_protected)
        });
        let members = &self.members;
        self.pages.retain(|key, _| members.iter().any(|section| section.contains_key(key)));
    }

    fn state(&self, section: usize) -> SectionState {
        let mut state = SectionState::EMPTY;
        for (key, (_, draft)) in &self.members[section] {
            state.add(key, draft.digest());
        }
        state
    }
}

/// Compares a store with the model, and the history with the pages.
fn compare(store: &dyn Store, model: &Model) {
    let lines = store.lines(&PageSelection::default(), None, 100).unwrap();
    let found: BTreeMap<String, Known> = lines
        .into_iter()
        .map(Result::unwrap)
        .map(|(row, line)| (row.url, Known { modified: row.modified, line }))
        .collect();
    assert_eq!(found, model.pages);
    let id = store.publishers().unwrap()[0].id;
    for section in store.sections(id).unwrap() {
        let at = SECTIONS.iter().position(|name| *name == section.name).unwrap();
        assert_eq!(section.state, model.state(at), "{}", section.name);
        let keys = crate::site::keys(store, id, &section.name);
        assert!(keys.iter().eq(model.members[at].keys()), "{keys:?}");
    }
    // A copy that follows the history has the same pages.
    let mut followed = BTreeMap::new();
    for event in store.changes_since(None, 10_000).unwrap().events {
        match event.kind {
            ChangeKind::Forgotten | ChangeKind::Erased => panic!("nothing is forgotten here"),
            ChangeKind::Added => {
                assert!(followed.insert(event.url, event.digest).is_none());
            }
            ChangeKind::Changed => {
                assert_ne!(followed.insert(event.url, event.digest).unwrap(), event.digest);
            }
            ChangeKind::Removed | ChangeKind::Withheld => {
                followed.remove(&event.url).unwrap();
            }
        }
    }
    let digests: BTreeMap<_, _> = model
        .pages
        .iter()
        .map(|(key, known)| (key.clone(), rutter_page::LineDigest::of(known.line.as_bytes())))
        .collect();
    assert_eq!(followed, digests);
    let gone = store.tombstones(id, None, 100).unwrap();
    assert!(gone.iter().all(|tombstone| !model.pages.contains_key(&tombstone.url)));
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}

fn copy(from: &Path, to: &Path) {
    for ending in ["", "-wal"] {
        let beside = |path: &Path| path.with_extension(format!("db{ending}"));
        if beside(from).exists() {
            fs::copy(beside(from), beside(to)).unwrap();
        }
    }
}

fn play(steps: &[Step], folder: &Path, tuning: StagingBuffer) {
    let options = StoreOptions { tuning, ..StoreOptions::default() };
    let mut path = folder.join("0.db");
    let mut file = SqliteStore::open(&path, options.clone()).unwrap();
    let memory = MemoryStore::new();
    let mut leases: [Lease; 2] = [publisher(&file).1, publisher(&memory).1];
    let mut model = Model::default();
    for (number, step) in steps.iter().enumerate() {
        let hour = i64::try_from(number).unwrap() + 1;
        let drafts: Vec<Draft> = step
            .pages
            .iter()
            .map(|(page, moved, words)| Draft::new(*page, *moved, &words.to_string()))
            .collect();
        let removed: Vec<String> =
            step.removed.iter().map(|page| crate::site::url(*page)).collect();
        let stores: [&dyn Store; 2] = [&file, &memory];
        let mut outlooks = Vec::new();
        let mut copied = None;
        for (store, lease) in stores.into_iter().zip(&leases) {
            let mut staging =
                store.stage(lease, begin(SECTIONS[step.section], step.mode, hour)).unwrap();
            for draft in &drafts {
                draft.add(&mut *staging);
            }
            for key in &removed {
                staging.remove(key, RemovalCause::Removed).unwrap();
            }
            outlooks.push(staging.preview(None).unwrap());
            match step.end {
                End::Commit => {
                    let mass_deletion = MassDeletionPolicy::Allowed;
                    let finish = CommitOptions { mass_deletion, ..CommitOptions::plain() };
                    let outlook = staging.commit(&finish).unwrap();
                    assert_eq!(outlooks.last(), Some(&outlook));
                }
                End::Drop => drop(staging),
                End::Kill => {
                    if copied.is_none() {
                        let next = folder.join(format!("{hour}.db"));
                        copy(&path, &next);
                        copied = Some(next);
                    }
                    drop(staging);
                }
            }
        }
        assert_eq!(outlooks[0], outlooks[1]);
        if let Some(next) = copied {
            path = next;
            file = SqliteStore::open(&path, options.clone()).unwrap();
            // The process still runs, but its lease expired.
            let id = file.publishers().unwrap()[0].id;
            let later = at(20_000 * hour);
            leases[0] = file.lease(id, later, later.plus_seconds(60)).unwrap();
        }
        if step.end == End::Commit {
            model.apply(step, &drafts, &removed, at(hour));
        }
        compare(&file, &model);
        compare(&memory, &model);
    }
}

/// `CASES=2000 cargo test -p rutter-store model` runs more cases.
fn cases() -> u32 {
    std::env::var("CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test] // SCP-132 SCP-133 SCP-134 SCP-135
    fn random_histories_match_the_model(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        play(&steps, folder.path(), StagingBuffer::DEFAULT);
    }

    #[test]
    fn random_histories_with_small_batches_match_the_model(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        play(&steps, folder.path(), StagingBuffer { held: 1, held_bytes: 1 << 20, batch: 2 });
    }
}
