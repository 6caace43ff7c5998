//! Tests of deltas: each leads exactly from one sitemap to the next.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rutter_arc::delta::{EntryOrderError, apply, delta_path, diff, format_day, merge};
use rutter_arc::{ArcEntry, ArcError, SitemapHeader, parse_delta_file_name};
use rutter_page::{IntoOwned, Timestamp};

use crate::json::write;
use crate::{json, time, url};

type Entries = Vec<ArcEntry<'static>>;
type Stream<'s> = Box<dyn Iterator<Item = Result<ArcEntry<'static>, ArcError>> + 's>;

fn stream<'e>(entries: &'e [ArcEntry<'static>]) -> Stream<'e> {
    Box::new(entries.iter().cloned().map(Ok))
}

/// A site with the current content of each page.
type Site = BTreeMap<String, u32>;

fn entries(site: &Site) -> Entries {
    let one = |(path, version): (&String, &u32)| ArcEntry {
        ai_summary: Some(format!("version {version}").into()),
        ..ArcEntry::new(url(path), Some(version % 3 != 0)).into_owned()
    };
    site.iter().map(one).collect()
}

fn difference(old: &[ArcEntry<'static>], new: &[ArcEntry<'static>]) -> Entries {
    let mut changes = Vec::new();
    let tally = diff::<ArcError>(stream(old), stream(new), |entry| {
        changes.push(entry);
        Ok(())
    });
    let tally = tally.unwrap();
    assert_eq!(tally.added + tally.changed + tally.removed, changes.len() as u64);
    changes
}

fn collect(
    streams: Vec<Stream<'_>>,
    how: impl FnOnce(
        Vec<Stream<'_>>,
        &mut dyn FnMut(ArcEntry<'static>) -> Result<(), ArcError>,
    ) -> Result<(), ArcError>,
) -> Entries {
    let mut out = Vec::new();
    how(streams, &mut |entry| {
        out.push(entry);
        Ok(())
    })
    .unwrap();
    out
}

proptest! {
    #[test] // ARC-003 ARC-039 ARC-040 D60
    fn deltas_applied_to_any_sitemap_give_the_last_one(
        builds in prop::collection::vec(
            (0_i64..2, prop::collection::vec(("[a-e]{1,2}", 0_u32..4), 0..6)), 1..9),
    ) {
        let midnight = time("2026-05-01T00:00:00Z");
        let head = |now: Timestamp| SitemapHeader::new("https://harbour.example", now);
        let mut site = Site::new();
        let mut now = midnight;
        let mut state: Entries = Vec::new();
        // Every published sitemap and the delta of each day.
        let mut published: Vec<(Timestamp, Entries)> = vec![(now, state.clone())];
        let mut days: BTreeMap<String, (Entries, SitemapHeader)> = BTreeMap::new();
        for (days_later, edits) in builds {
            now = now.plus_seconds(days_later * 86_400 + 60);
            for (path, version) in edits {
                if version == 0 {
                    site.remove(&path);
                } else {
                    site.insert(path, version);
                }
            }
            let next = entries(&site);
            let changes = difference(&state, &next);
            let so_far = days.get(&format_day(now)).map_or_else(Vec::new, |(all, _)| all.clone());
            let merged = collect(vec![stream(&so_far), stream(&changes)], |s, f| merge(s, f));
            days.insert(format_day(now), (merged, head(now).for_day(midnight, now)));
            state = next;
            published.push((now, state.clone()));
        }
        let wanted = write(&head(now), &state);
        for (when, old) in &published {
            let later: Vec<_> = days.range(format_day(*when)..).collect();
            let mut streams = vec![stream(old)];
            streams.extend(later.iter().map(|(_, (all, _))| stream(all)));
            let result = collect(streams, |s, f| apply(s, f));
            let last = later.last().map_or_else(|| head(*when), |(_, (_, head))| head.for_sitemap());
            prop_assert_eq!(write(&last, &result), wanted.clone());
        }
        for (all, head) in days.values() {
            // Every delta is a valid document.
            let got = json(&write(head, all));
            prop_assert!(got.findings.is_empty(), "{:?}", got.findings);
            for entry in got.entries.iter().filter(|entry| entry.removed) {
                prop_assert_eq!(entry.consent(), rutter_arc::Consent::Refused);
            }
        }
    }
}

#[test] // ARC-040 D60
fn delta_holds_changes_and_tombstones() {
    let old = entries(&[("a".into(), 1), ("b".into(), 1), ("c".into(), 1)].into());
    let new = entries(&[("a".into(), 1), ("b".into(), 2), ("d".into(), 1)].into());
    let lines: Vec<String> = difference(&old, &new).iter().map(ArcEntry::to_json).collect();
    assert_eq!(
        lines,
        [
            r#"{"url":"https://harbour.example/b","ai_indexable":true,"ai_summary":"version 2"}"#,
            r#"{"url":"https://harbour.example/c","ai_indexable":false,"robots_directive":"noindex","removed":true}"#,
            r#"{"url":"https://harbour.example/d","ai_indexable":true,"ai_summary":"version 1"}"#,
        ]
    );
    assert_eq!(difference(&old, &old), []);
}

#[test]
fn rejects_unsorted_entries() {
    let mut old = entries(&[("a".into(), 1), ("b".into(), 1)].into());
    old.reverse();
    let result =
        diff::<std::io::Error>(old.iter().cloned().map(Ok), std::iter::empty(), |_| Ok(()));
    let error = result.unwrap_err();
    let cause = error.get_ref().and_then(|it| it.downcast_ref::<EntryOrderError>());
    assert_eq!(cause, Some(&EntryOrderError("https://harbour.example/a".to_owned())));
}

#[test] // ARC-039 C12
fn delta_files_are_named_by_day() {
    let noon = time("2026-05-01T12:00:00Z");
    assert_eq!(delta_path(noon), "/arc-sitemap-deltas/2026-05-01.json");
    let day = Some(Some(time("2026-05-01T00:00:00Z")));
    assert_eq!(parse_delta_file_name("site/arc-sitemap-deltas/2026-05-01.json"), day);
    assert_eq!(parse_delta_file_name("2026-05-01.json.gz"), day);
    assert_eq!(parse_delta_file_name("arc-sitemap-deltas/2026-13-40.json"), Some(None));
    assert_eq!(parse_delta_file_name("arc-sitemap-deltas/latest.json"), Some(None));
    assert_eq!(parse_delta_file_name("arc-sitemap.json"), None);
}
