//! Tests of diff and apply with the public merge vectors.
//!
//! Every `conformance/vectors/scp/merge/*.json` is a case.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use rutter_page::{PageHead, Timestamp};
use rutter_scp::{
    ApplyOptions, ApplySummary, CollectionHeader, CollectionInput, CollectionKind,
    CollectionOpener, CollectionWriter, EmptyInputPolicy, FormatVersion, InputOrder, Limits,
    MassDeletionPolicy, MergeError, OutputTarget, PackOptions, PageChange, ReadOptions,
    ReaderThreads, SnapshotDiff, StateTracking, apply, diff, pack,
};
use rutter_testkit::{page, snapshot};
use serde_json::{Value, json};

use crate::read_bytes;

fn opener(text: &[u8]) -> impl Fn() -> std::io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    let text = text.to_vec();
    move || {
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(text.clone()));
        Ok((input, Some(text.len() as u64)))
    }
}

/// Applies collections after sorting them if needed.
fn apply_all(
    collections: &[Vec<u8>],
    mass_deletion: MassDeletionPolicy,
    folder: &Path,
) -> Result<(ApplySummary, Vec<u8>), MergeError> {
    let openers: Vec<_> = collections.iter().map(|text| opener(text)).collect();
    let target = OutputTarget::from_file_name(&folder.join("out.scp")).unwrap();
    let attempt = |order| {
        let mut sinks = vec![(); openers.len()];
        let inputs = openers
            .iter()
            .zip(&mut sinks)
            .map(|(open, sink)| CollectionInput { open: open as &CollectionOpener<'_>, sink })
            .collect();
        let options = ReadOptions { threads: ReaderThreads::Two, ..ReadOptions::default() };
        let how = ApplyOptions { options, order, track: StateTracking::State, mass_deletion };
        apply(inputs, how, &target, folder)
    };
    let applied = match attempt(InputOrder::Given) {
        Err(MergeError::Unsorted(_)) => attempt(InputOrder::Sort)?,
        other => other?,
    };
    Ok((applied, fs::read(&target.path).unwrap()))
}

fn refusal(error: &MergeError) -> &'static str {
    match error {
        MergeError::Gap { .. } => "gap",
        MergeError::MassDeletion { .. } => "mass-delete",
        MergeError::State { .. } => "state",
        MergeError::Section(..) => "section",
        MergeError::Kind(..) => "kind",
        other => panic!("{other:?}"),
    }
}

#[test] // SCP-130 SCP-131 SCP-132 SCP-133 SCP-134 SCP-139
fn every_merge_vector_gets_its_result() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/scp/merge");
    let mut wrong = String::new();
    let mut n_cases = 0;
    for entry in fs::read_dir(cases).unwrap() {
        let path = entry.unwrap().path();
        let case: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let collections: Vec<Vec<u8>> = case["collections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().as_bytes().to_vec())
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let said = match apply_all(&collections, MassDeletionPolicy::Refused, folder.path()) {
            Err(error) => json!({ "refused": refusal(&error) }),
            Ok((_, text)) => {
                let pages: Vec<_> = read_bytes(&text)
                    .0
                    .iter()
                    .map(|line| PageHead::of_line(line).unwrap())
                    .map(|head| json!([head.url.as_str(), head.modified]))
                    .collect();
                json!({ "pages": pages })
            }
        };
        n_cases += 1;
        if said != case["expect"] {
            let (name, wanted) = (path.file_name().unwrap(), &case["expect"]);
            writeln!(wrong, "{}\n  expected {wanted}\n  got      {said}", name.display()).unwrap();
        }
    }
    assert!(12 <= n_cases, "only {n_cases} cases");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Packs lines into a snapshot of the given day, sorted.
fn packed(lines: &[String], day: u32, track: StateTracking) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let text = lines.join("\n");
    let open = opener(text.as_bytes());
    let generated = Timestamp::parse(&format!("2026-06-{day:02}T00:00:00Z")).unwrap();
    let header = CollectionHeader {
        id: format!("all-{day}"),
        section: "all".to_owned(),
        kind: CollectionKind::Snapshot,
        generated,
        version: FormatVersion::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    };
    let how = PackOptions {
        limits: Limits::DEFAULT,
        order: InputOrder::Sort,
        mode: rutter_finding::Strictness::Strict,
        track,
        empty: EmptyInputPolicy::Allowed,
    };
    let target = OutputTarget::from_file_name(&folder.path().join("a.scp")).unwrap();
    let mut findings = Vec::new();
    let inputs = vec![CollectionInput { open: &open, sink: &mut findings }];
    let written = pack(inputs, header, how, &[target], folder.path()).unwrap();
    fs::read(&written[0].path).unwrap()
}

/// A changed collection with a checksum that covers the change.
fn rechecked(text: &str) -> String {
    let cut = text.find(",\"checksum\"").unwrap();
    let end = text.find("\"}}\n").unwrap() + 1;
    let (before, after) = (&text[..cut], &text[end..]);
    let digest = rutter_page::Digest::of(format!("{before}{after}").as_bytes());
    format!("{before},\"checksum\":\"{digest}\"{after}")
}

/// Compares two snapshots and makes the delta between them.
fn delta_of(
    old: &[u8],
    new: &[u8],
    track: StateTracking,
) -> Result<(SnapshotDiff, Vec<u8>), MergeError> {
    let folder = tempfile::tempdir().unwrap();
    let (open_old, open_new) = (opener(old), opener(new));
    let attempt = |order| {
        let mut writer =
            CollectionWriter::new(folder.path(), StateTracking::Nothing, Limits::SPEC).unwrap();
        let difference = diff(
            CollectionInput { open: &open_old, sink: &mut () },
            CollectionInput { open: &open_new, sink: &mut () },
            ReadOptions::default(),
            order,
            track,
            folder.path(),
            &mut |change| match change {
                PageChange::Added(new) | PageChange::Changed(_, new) => {
                    writer.line(&new.key, &new.line)
                }
                PageChange::Removed(_) => Ok(()),
            },
        )?;
        Ok((difference, writer))
    };
    let (difference, writer) = match attempt(InputOrder::Given) {
        Err(MergeError::Unsorted(_)) => attempt(InputOrder::Sort)?,
        other => other?,
    };
    let target = OutputTarget::from_file_name(&folder.path().join("d.scp")).unwrap();
    let header = difference.delta_header("d".to_owned())?;
    let written = writer.close()?.finish(header, &[target])?;
    Ok((difference, fs::read(&written[0].path).unwrap()))
}

#[test] // SCP-128 SCP-135
fn diff_reports_added_changed_and_removed_pages() {
    let old = packed(&[page(1, 1), page(2, 1), page(3, 1)], 1, StateTracking::State);
    let new = packed(&[page(2, 1), page(3, 2), page(4, 1)], 2, StateTracking::State);
    let (difference, delta) = delta_of(&old, &new, StateTracking::State).unwrap();
    assert_eq!((difference.added, difference.changed, difference.unchanged), (1, 1, 1));
    assert_eq!(difference.removed, ["https://harbour.example/0001"]);
    assert_eq!(difference.stale, 0);
    let (lines, _, receipt) = read_bytes(&delta);
    assert_eq!(lines, [page(3, 2), page(4, 1)]);
    let header = receipt.unwrap().header;
    assert_eq!(header.kind.since(), Some(difference.old.header.generated));
    assert_eq!(header.generated, difference.new.header.generated);
    assert_eq!(header.chain.unwrap().removed, ["https://harbour.example/0001"]);
}

#[test] // SCP-133 SCP-138
fn diff_counts_changed_pages_without_a_later_time() {
    let old = packed(&[page(1, 2)], 1, StateTracking::State);
    let new = packed(&[page(1, 2).replace("Berth", "Quay")], 2, StateTracking::State);
    // A chained delta cannot express this change; a plain one does not record states.
    let error = delta_of(&old, &new, StateTracking::State).unwrap_err();
    assert!(matches!(error, MergeError::StaleModified(1)), "{error}");
    let (difference, _) = delta_of(&old, &new, StateTracking::Nothing).unwrap();
    assert_eq!((difference.changed, difference.stale), (1, 1));
}

#[test] // D25
fn delta_needs_a_later_snapshot() {
    let old = packed(&[page(1, 1)], 2, StateTracking::State);
    for day in [1, 2] {
        let new = packed(&[page(1, 2)], day, StateTracking::State);
        let error = delta_of(&old, &new, StateTracking::State).unwrap_err();
        assert!(matches!(error, MergeError::NotLater(1, ..)), "{error}");
    }
}

#[test] // D95
fn apply_rejects_snapshot_with_wrong_state() {
    let honest = packed(&[page(1, 1), page(2, 1)], 1, StateTracking::State);
    let new = packed(&[page(1, 2), page(2, 1)], 2, StateTracking::State);
    let (_, delta) = delta_of(&honest, &new, StateTracking::State).unwrap();
    // The same state with one additional page.
    let text = String::from_utf8(honest).unwrap().replace("Berth 2", "Quay 2");
    let folder = tempfile::tempdir().unwrap();
    let lie = rechecked(&text).into_bytes();
    let error = apply_all(&[lie, delta], MassDeletionPolicy::Refused, folder.path()).unwrap_err();
    assert_eq!(refusal(&error), "state");
}

#[test] // D95
fn diff_rejects_snapshot_with_wrong_state() {
    let old = packed(&[page(1, 1)], 1, StateTracking::State);
    let mut new = String::from_utf8(packed(&[page(1, 2)], 2, StateTracking::State)).unwrap();
    let at = new.find("\"state\":\"").unwrap() + 9;
    new.replace_range(at..at + 32, &"0".repeat(32));
    let new = rechecked(&new);
    let error = delta_of(&old, new.as_bytes(), StateTracking::State).unwrap_err();
    assert_eq!(refusal(&error), "state");
}

#[test] // D95
fn rejects_chained_snapshot_with_skipped_pages() {
    let honest = packed(&[page(1, 1), page(2, 1)], 1, StateTracking::State);
    let new = packed(&[page(1, 2), page(2, 1)], 2, StateTracking::State);
    let (_, delta) = delta_of(&honest, &new, StateTracking::State).unwrap();
    let text =
        String::from_utf8(honest).unwrap().replacen("https://harbour.example/0002", "gopher:x", 1);
    let folder = tempfile::tempdir().unwrap();
    let inputs = [rechecked(&text).into_bytes(), delta];
    let error = apply_all(&inputs, MassDeletionPolicy::Refused, folder.path()).unwrap_err();
    assert!(matches!(error, MergeError::Skipped { input: 0, skipped: 1 }), "{error}");
}

#[test] // D23 D95
fn mass_deletion_must_be_allowed() {
    let old = packed(&(0..30).map(|n| page(n, 1)).collect::<Vec<_>>(), 1, StateTracking::State);
    let new = packed(&(0..5).map(|n| page(n, 1)).collect::<Vec<_>>(), 2, StateTracking::State);
    let (_, delta) = delta_of(&old, &new, StateTracking::State).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let inputs = [old, delta];
    let error = apply_all(&inputs, MassDeletionPolicy::Refused, folder.path()).unwrap_err();
    assert_eq!(refusal(&error), "mass-delete");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (applied, text) = apply_all(&inputs, MassDeletionPolicy::Allowed, folder.path()).unwrap();
    assert_eq!(applied.removed, 25);
    assert_eq!(read_bytes(&text).0, read_bytes(&new).0);
}

#[test] // D95
fn rejects_delta_with_too_many_removals() {
    let old = packed(&(0..10_002).map(|n| page(n, 1)).collect::<Vec<_>>(), 1, StateTracking::State);
    let new = packed(&[page(0, 1)], 2, StateTracking::State);
    let error = delta_of(&old, &new, StateTracking::State).unwrap_err();
    assert!(error.to_string().contains("10001 removed pages"), "{error}");
}

#[test]
fn damaged_input_writes_nothing() {
    let old = packed(&[page(1, 1)], 1, StateTracking::State);
    let new = packed(&[page(1, 2)], 2, StateTracking::State);
    let (_, mut delta) = delta_of(&old, &new, StateTracking::State).unwrap();
    let last = delta.len() - 10;
    delta[last] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let error = apply_all(&[old, delta], MassDeletionPolicy::Refused, folder.path()).unwrap_err();
    assert!(matches!(error, MergeError::Read(1, _)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test] // D30
fn unsorted_and_duplicate_pages_are_sorted() {
    let old = snapshot(&[page(3, 1), page(1, 1), page(1, 3), page(1, 2)]);
    let new = packed(&[page(1, 4), page(3, 1)], 2, StateTracking::Nothing);
    let (difference, delta) = delta_of(old.as_bytes(), &new, StateTracking::State).unwrap();
    assert_eq!((difference.changed, difference.unchanged), (1, 1));
    assert_eq!(read_bytes(&delta).0, [page(1, 4)]);
    // A duplicate in the newer snapshot; its first line equals the older snapshot's.
    let old = packed(&[page(1, 1), page(3, 1)], 1, StateTracking::Nothing);
    let new = snapshot(&[page(1, 1), page(1, 2), page(3, 1)]).replace("-02T00", "-03T00");
    let (difference, delta) =
        delta_of(&old, rechecked(&new.replace("05-03", "06-03")).as_bytes(), StateTracking::State)
            .unwrap();
    assert_eq!((difference.changed, difference.unchanged), (1, 1));
    assert_eq!(read_bytes(&delta).0, [page(1, 2)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    // SCP-125 SCP-140: every route to a state gives the same result.
    #[test]
    fn applying_the_delta_gives_the_new_snapshot_byte_for_byte(
        old in prop::collection::btree_map(0_usize..30, 1_u32..5, 0..25),
        new in prop::collection::btree_map(0_usize..30, 5_u32..9, 0..25),
        kept in prop::collection::btree_set(0_usize..30, 0..25),
        tracks_old in any::<bool>(),
    ) {
        // Pages in both snapshots are unchanged if `kept` is set.
        let mut newer = new;
        for (n, hour) in &old {
            if kept.contains(n) && newer.contains_key(n) {
                newer.insert(*n, *hour);
            }
        }
        let lines = |pages: &std::collections::BTreeMap<usize, u32>| -> Vec<String> {
            pages.iter().map(|(n, hour)| page(*n, *hour)).collect()
        };
        let track = if tracks_old { StateTracking::State } else { StateTracking::Nothing };
        let old = packed(&lines(&old), 1, track);
        let new = packed(&lines(&newer), 2, StateTracking::State);
        let (difference, delta) = delta_of(&old, &new, StateTracking::State).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let result = apply_all(&[old, delta], MassDeletionPolicy::Allowed, folder.path());
        let (_, text) = result.unwrap();
        prop_assert_eq!(read_bytes(&text).0, read_bytes(&new).0);
        let chain = |text: &[u8]| read_bytes(text).2.unwrap().header.chain;
        prop_assert_eq!(chain(&text), chain(&new));
        prop_assert_eq!(difference.states.unwrap().1, chain(&new).unwrap().state);
    }
}
