//! Diff and apply, and the public merge vectors.
//!
//! Every `conformance/vectors/scp/merge/*.json` is a case.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use rutter_page::{Head, Timestamp};
use rutter_scp::{
    Applied, Applying, Change, Difference, Empty, Header, Input, Kind, Limits, MassDeletion,
    MergeError, Opener, Options, Order, Packing, Target, Threads, Track, Version, Writer, apply,
    diff, pack,
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

/// Applies collections; sorts them where they are not sorted.
fn apply_all(
    collections: &[Vec<u8>],
    mass_deletion: MassDeletion,
    folder: &Path,
) -> Result<(Applied, Vec<u8>), MergeError> {
    let openers: Vec<_> = collections.iter().map(|text| opener(text)).collect();
    let target = Target::of_name(&folder.join("out.scp")).unwrap();
    let attempt = |order| {
        let mut sinks = vec![(); openers.len()];
        let inputs = openers
            .iter()
            .zip(&mut sinks)
            .map(|(open, sink)| Input { open: open as &Opener<'_>, sink })
            .collect();
        let options = Options { threads: Threads::Two, ..Options::default() };
        let how = Applying { options, order, track: Track::State, mass_deletion };
        apply(inputs, how, &target, folder)
    };
    let applied = match attempt(Order::Given) {
        Err(MergeError::Unsorted(_)) => attempt(Order::Sort)?,
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
fn spec_every_merge_vector_gets_its_result() {
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
        let said = match apply_all(&collections, MassDeletion::Refused, folder.path()) {
            Err(error) => json!({ "refused": refusal(&error) }),
            Ok((_, text)) => {
                let pages: Vec<_> = read_bytes(&text)
                    .0
                    .iter()
                    .map(|line| Head::of_line(line).unwrap())
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
fn packed(lines: &[String], day: u32, track: Track) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let text = lines.join("\n");
    let open = opener(text.as_bytes());
    let generated = Timestamp::parse(&format!("2026-06-{day:02}T00:00:00Z")).unwrap();
    let header = Header {
        id: format!("all-{day}"),
        section: "all".to_owned(),
        kind: Kind::Snapshot,
        generated,
        version: Version::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    };
    let how = Packing {
        limits: Limits::DEFAULT,
        order: Order::Sort,
        mode: rutter_finding::Mode::Strict,
        track,
        empty: Empty::Allowed,
    };
    let target = Target::of_name(&folder.path().join("a.scp")).unwrap();
    let mut findings = Vec::new();
    let inputs = vec![Input { open: &open, sink: &mut findings }];
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
fn delta_of(old: &[u8], new: &[u8], track: Track) -> Result<(Difference, Vec<u8>), MergeError> {
    let folder = tempfile::tempdir().unwrap();
    let (open_old, open_new) = (opener(old), opener(new));
    let attempt = |order| {
        let mut writer = Writer::new(folder.path(), Track::Nothing, Limits::SPEC).unwrap();
        let difference = diff(
            Input { open: &open_old, sink: &mut () },
            Input { open: &open_new, sink: &mut () },
            Options::default(),
            order,
            track,
            folder.path(),
            &mut |change| match change {
                Change::Added(new) | Change::Changed(_, new) => writer.line(&new.key, &new.line),
                Change::Removed(_) => Ok(()),
            },
        )?;
        Ok((difference, writer))
    };
    let (difference, writer) = match attempt(Order::Given) {
        Err(MergeError::Unsorted(_)) => attempt(Order::Sort)?,
        other => other?,
    };
    let target = Target::of_name(&folder.path().join("d.scp")).unwrap();
    let header = difference.delta_header("d".to_owned())?;
    let written = writer.close()?.finish(header, &[target])?;
    Ok((difference, fs::read(&written[0].path).unwrap()))
}

#[test] // SCP-128 SCP-135
fn spec_diff_says_what_came_changed_and_went() {
    let old = packed(&[page(1, 1), page(2, 1), page(3, 1)], 1, Track::State);
    let new = packed(&[page(2, 1), page(3, 2), page(4, 1)], 2, Track::State);
    let (difference, delta) = delta_of(&old, &new, Track::State).unwrap();
    assert_eq!((difference.added, difference.changed, difference.unchanged), (1, 1, 1));
    assert_eq!(difference.removed, ["https://harbour.example/0001"]);
    assert_eq!(difference.stuck, 0);
    let (lines, _, receipt) = read_bytes(&delta);
    assert_eq!(lines, [page(3, 2), page(4, 1)]);
    let header = receipt.unwrap().header;
    assert_eq!(header.kind.since(), Some(difference.old.header.generated));
    assert_eq!(header.generated, difference.new.header.generated);
    assert_eq!(header.chain.unwrap().removed, ["https://harbour.example/0001"]);
}

#[test] // SCP-133 SCP-138
fn spec_diff_counts_pages_whose_time_did_not_move() {
    let old = packed(&[page(1, 2)], 1, Track::State);
    let new = packed(&[page(1, 2).replace("Berth", "Quay")], 2, Track::State);
    // A chained delta could never lead there; a plain one says nothing of it.
    let error = delta_of(&old, &new, Track::State).unwrap_err();
    assert!(matches!(error, MergeError::Stuck(1)), "{error}");
    let (difference, _) = delta_of(&old, &new, Track::Nothing).unwrap();
    assert_eq!((difference.changed, difference.stuck), (1, 1));
}

#[test] // D25
fn ours_a_delta_needs_a_later_snapshot() {
    let old = packed(&[page(1, 1)], 2, Track::State);
    for day in [1, 2] {
        let new = packed(&[page(1, 2)], day, Track::State);
        let error = delta_of(&old, &new, Track::State).unwrap_err();
        assert!(matches!(error, MergeError::NotLater(1, ..)), "{error}");
    }
}

#[test] // D95
fn ours_a_snapshot_that_lies_about_its_state_is_found_by_apply() {
    let honest = packed(&[page(1, 1), page(2, 1)], 1, Track::State);
    let new = packed(&[page(1, 2), page(2, 1)], 2, Track::State);
    let (_, delta) = delta_of(&honest, &new, Track::State).unwrap();
    // The same claims over a page nobody counted.
    let text = String::from_utf8(honest).unwrap().replace("Berth 2", "Quay 2");
    let folder = tempfile::tempdir().unwrap();
    let lie = rechecked(&text).into_bytes();
    let error = apply_all(&[lie, delta], MassDeletion::Refused, folder.path()).unwrap_err();
    assert_eq!(refusal(&error), "state");
}

#[test] // D95
fn ours_a_snapshot_that_lies_about_its_state_is_found_by_diff() {
    let old = packed(&[page(1, 1)], 1, Track::State);
    let mut new = String::from_utf8(packed(&[page(1, 2)], 2, Track::State)).unwrap();
    let at = new.find("\"state\":\"").unwrap() + 9;
    new.replace_range(at..at + 32, &"0".repeat(32));
    let new = rechecked(&new);
    let error = delta_of(&old, new.as_bytes(), Track::State).unwrap_err();
    assert_eq!(refusal(&error), "state");
}

#[test] // D95
fn ours_a_chained_snapshot_with_pages_we_cannot_use_is_refused() {
    let honest = packed(&[page(1, 1), page(2, 1)], 1, Track::State);
    let new = packed(&[page(1, 2), page(2, 1)], 2, Track::State);
    let (_, delta) = delta_of(&honest, &new, Track::State).unwrap();
    let text =
        String::from_utf8(honest).unwrap().replacen("https://harbour.example/0002", "gopher:x", 1);
    let folder = tempfile::tempdir().unwrap();
    let inputs = [rechecked(&text).into_bytes(), delta];
    let error = apply_all(&inputs, MassDeletion::Refused, folder.path()).unwrap_err();
    assert!(matches!(error, MergeError::Skipped { input: 0, skipped: 1 }), "{error}");
}

#[test] // D23 D95
fn ours_mass_deletion_waits_for_a_word() {
    let old = packed(&(0..30).map(|n| page(n, 1)).collect::<Vec<_>>(), 1, Track::State);
    let new = packed(&(0..5).map(|n| page(n, 1)).collect::<Vec<_>>(), 2, Track::State);
    let (_, delta) = delta_of(&old, &new, Track::State).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let inputs = [old, delta];
    let error = apply_all(&inputs, MassDeletion::Refused, folder.path()).unwrap_err();
    assert_eq!(refusal(&error), "mass-delete");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (applied, text) = apply_all(&inputs, MassDeletion::Allowed, folder.path()).unwrap();
    assert_eq!(applied.removed, 25);
    assert_eq!(read_bytes(&text).0, read_bytes(&new).0);
}

#[test] // D95
fn ours_too_many_removals_need_a_snapshot() {
    let old = packed(&(0..10_002).map(|n| page(n, 1)).collect::<Vec<_>>(), 1, Track::State);
    let new = packed(&[page(0, 1)], 2, Track::State);
    let error = delta_of(&old, &new, Track::State).unwrap_err();
    assert!(error.to_string().contains("10001 removed pages"), "{error}");
}

#[test]
fn ours_a_damaged_input_writes_nothing() {
    let old = packed(&[page(1, 1)], 1, Track::State);
    let new = packed(&[page(1, 2)], 2, Track::State);
    let (_, mut delta) = delta_of(&old, &new, Track::State).unwrap();
    let last = delta.len() - 10;
    delta[last] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let error = apply_all(&[old, delta], MassDeletion::Refused, folder.path()).unwrap_err();
    assert!(matches!(error, MergeError::Read(1, _)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test] // D30
fn ours_unsorted_and_double_pages_are_brought_in_order() {
    let old = snapshot(&[page(3, 1), page(1, 1), page(1, 3), page(1, 2)]);
    let new = packed(&[page(1, 4), page(3, 1)], 2, Track::Nothing);
    let (difference, delta) = delta_of(old.as_bytes(), &new, Track::State).unwrap();
    assert_eq!((difference.changed, difference.unchanged), (1, 1));
    assert_eq!(read_bytes(&delta).0, [page(1, 4)]);
    // A double in the newer one, whose first line is the older one's.
    let old = packed(&[page(1, 1), page(3, 1)], 1, Track::Nothing);
    let new = snapshot(&[page(1, 1), page(1, 2), page(3, 1)]).replace("-02T00", "-03T00");
    let (difference, delta) =
        delta_of(&old, rechecked(&new.replace("05-03", "06-03")).as_bytes(), Track::State).unwrap();
    assert_eq!((difference.changed, difference.unchanged), (1, 1));
    assert_eq!(read_bytes(&delta).0, [page(1, 2)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    // SCP-125 SCP-140: any road to a state is as good as another.
    #[test]
    fn ours_applying_the_delta_gives_the_new_snapshot_to_the_byte(
        old in prop::collection::btree_map(0_usize..30, 1_u32..5, 0..25),
        new in prop::collection::btree_map(0_usize..30, 5_u32..9, 0..25),
        kept in prop::collection::btree_set(0_usize..30, 0..25),
        tracks_old in any::<bool>(),
    ) {
        // Pages of both keep their line where `kept` says so.
        let mut newer = new;
        for (n, hour) in &old {
            if kept.contains(n) && newer.contains_key(n) {
                newer.insert(*n, *hour);
            }
        }
        let lines = |pages: &std::collections::BTreeMap<usize, u32>| -> Vec<String> {
            pages.iter().map(|(n, hour)| page(*n, *hour)).collect()
        };
        let track = if tracks_old { Track::State } else { Track::Nothing };
        let old = packed(&lines(&old), 1, track);
        let new = packed(&lines(&newer), 2, Track::State);
        let (difference, delta) = delta_of(&old, &new, Track::State).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let result = apply_all(&[old, delta], MassDeletion::Allowed, folder.path());
        let (_, text) = result.unwrap();
        prop_assert_eq!(read_bytes(&text).0, read_bytes(&new).0);
        let chain = |text: &[u8]| read_bytes(text).2.unwrap().header.chain;
        prop_assert_eq!(chain(&text), chain(&new));
        prop_assert_eq!(difference.states.unwrap().1, chain(&new).unwrap().state);
    }
}
