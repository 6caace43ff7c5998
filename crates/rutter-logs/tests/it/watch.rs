//! Every `fixtures/watch/CODE-fires*.log` breaks that rule and no other, every
//! `CODE-quiet*.log` none; the thresholds are small, so that the files are.

use std::collections::BTreeMap;

use rutter_finding::Finding;
use rutter_logs::{Record, Thresholds, Watch, rules};
use rutter_page::Timestamp;

fn small() -> Thresholds {
    Thresholds {
        window: 3600,
        pages: 8,
        early: 3,
        closed: 4,
        closed_paths: vec!["/private/".to_owned()],
        refused: 5,
        downloads: 3,
        ..Thresholds::USUAL
    }
}

fn findings(bytes: &[u8], thresholds: Thresholds) -> Vec<Finding> {
    let mut watch = Watch::new(thresholds);
    crate::records(bytes).iter().flat_map(|record| watch.see(record)).collect()
}

#[test] // SCP-206 ARC-065
fn spec_odd_clients_are_found_and_others_are_not() {
    let mut cases: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    insta::glob!("../fixtures/watch", "*.log", |path| {
        let bytes = std::fs::read(path).unwrap();
        assert!(3 <= crate::records(&bytes).len(), "{}", path.display());
        let found = findings(&bytes, small());
        let name = path.file_stem().unwrap().to_str().unwrap();
        let codes: Vec<&str> = found.iter().map(|finding| finding.rule.code).collect();
        if name.contains("fires") {
            assert_eq!(codes, [&name[..5]], "{name}");
            insta::assert_snapshot!(found[0].detail);
        } else {
            assert_eq!(codes, [""; 0], "{name}");
        }
    });
    for rule in rules::ALL {
        for (idx, kind) in ["fires", "quiet"].into_iter().enumerate() {
            let start = format!("{}-{kind}", rule.code);
            let files = std::fs::read_dir(crate::fixture("watch")).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            cases.entry(rule.code).or_default()[idx] =
                names.filter(|name| name.starts_with(&start)).count();
        }
    }
    assert!(cases.values().flatten().all(|n| 0 < *n), "{cases:?}");
}

fn page(n: i64, seconds: i64) -> Record<'static> {
    let time = Timestamp::from_unix_seconds(1_777_636_800 + seconds).unwrap();
    Record {
        method: "GET".into(),
        target: format!("/{n}").into(),
        user_agent: Some("GPTBot/1.2".into()),
        ..Record::new(time, "192.0.2.1", 200)
    }
}

#[test] // SCP-206
fn ours_the_usual_thresholds_are_exact() {
    let thresholds = Thresholds { has_collections: true, ..Thresholds::USUAL };
    let mut watch = Watch::new(thresholds);
    for n in 0..499 {
        assert_eq!(watch.see(&page(n, n)), [], "{n}");
    }
    let found = watch.see(&page(499, 499));
    assert_eq!(found[0].detail, "`192.0.2.1` as GPTBot: 500 pages in 499 s");
    // Said once, until the next day.
    for n in 500..2000 {
        assert_eq!(watch.see(&page(n, n)), [], "{n}");
    }
    let again: usize = (0..600).map(|n| watch.see(&page(n, 86_500 + n)).len()).sum();
    assert_eq!(again, 1);
}

#[test]
fn ours_a_watch_takes_only_so_many_clients() {
    let thresholds =
        Thresholds { clients: 2, has_collections: true, pages: 3, ..Thresholds::USUAL };
    let see = |watch: &mut Watch, client: &'static str, n| {
        watch.see(&Record { client: client.into(), ..page(n, n) }).len()
    };
    let mut watch = Watch::new(thresholds);
    // Two at a time are watched; with three in turn each is forgotten.
    let two = (0..9).map(|n| see(&mut watch, if n % 2 == 0 { "a" } else { "b" }, n)).sum::<usize>();
    assert_eq!(two, 2);
    let three = (0..30)
        .map(|n| {
            see(
                &mut watch,
                ["c", "d", "e"].into_iter().cycle().nth(usize::try_from(n).unwrap()).unwrap(),
                n,
            )
        })
        .sum::<usize>();
    assert_eq!(three, 0);
}

#[test]
fn ours_foreign_text_in_findings_is_harmless() {
    let thresholds = Thresholds { has_collections: true, pages: 1, ..Thresholds::USUAL };
    let record =
        Record { client: "a\u{1b}[31m\n".into(), token: Some("t\u{202e}".into()), ..page(1, 1) };
    let found = Watch::new(thresholds).see(&record);
    assert_eq!(
        found[0].detail,
        "`a\\u{1b}[31m\\n` as GPTBot with token `t\\u{202e}`: 1 pages in 0 s"
    );
}
