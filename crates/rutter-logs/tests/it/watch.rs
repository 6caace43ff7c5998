//! Every `fixtures/watch/CODE-fires*.log` violates that rule and no other, every `CODE-quiet*.log`
//! none; low thresholds keep the files small.

use std::collections::BTreeMap;

use rutter_finding::Finding;
use rutter_logs::{AccessRecord, ClientMonitor, OddClientThresholds, rules};
use rutter_page::Timestamp;

fn small() -> OddClientThresholds {
    OddClientThresholds {
        window: 3600,
        pages: 8,
        early: 3,
        closed: 4,
        closed_paths: vec!["/private/".to_owned()],
        refused: 5,
        downloads: 3,
        ..OddClientThresholds::DEFAULT
    }
}

fn findings(bytes: &[u8], thresholds: OddClientThresholds) -> Vec<Finding> {
    let mut watch = ClientMonitor::new(thresholds);
    crate::records(bytes).iter().flat_map(|record| watch.observe(record)).collect()
}

#[test] // SCP-206 ARC-065
fn reports_exactly_the_unusual_clients() {
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

fn page(n: i64, seconds: i64) -> AccessRecord<'static> {
    let time = Timestamp::from_unix_seconds(1_777_636_800 + seconds).unwrap();
    AccessRecord {
        method: "GET".into(),
        target: format!("/{n}").into(),
        user_agent: Some("GPTBot/1.2".into()),
        ..AccessRecord::new(time, "192.0.2.1", 200)
    }
}

#[test] // SCP-206
fn default_thresholds_are_exact() {
    let thresholds = OddClientThresholds { has_collections: true, ..OddClientThresholds::DEFAULT };
    let mut watch = ClientMonitor::new(thresholds);
    for n in 0..499 {
        assert_eq!(watch.observe(&page(n, n)), [], "{n}");
    }
    let found = watch.observe(&page(499, 499));
    assert_eq!(found[0].detail, "`192.0.2.1` as GPTBot: 500 pages in 499 s");
    // Reported once, until the next day.
    for n in 500..2000 {
        assert_eq!(watch.observe(&page(n, n)), [], "{n}");
    }
    let repeated: usize = (0..600).map(|n| watch.observe(&page(n, 86_500 + n)).len()).sum();
    assert_eq!(repeated, 1);
}

#[test]
fn limits_the_monitored_clients() {
    let thresholds = OddClientThresholds {
        clients: 2,
        has_collections: true,
        pages: 3,
        ..OddClientThresholds::DEFAULT
    };
    let see = |watch: &mut ClientMonitor, client: &'static str, n| {
        watch.observe(&AccessRecord { client: client.into(), ..page(n, n) }).len()
    };
    let mut watch = ClientMonitor::new(thresholds);
    // Two clients are monitored at a time; with three in turn, each one is dropped.
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
fn escapes_client_text_in_findings() {
    let thresholds =
        OddClientThresholds { has_collections: true, pages: 1, ..OddClientThresholds::DEFAULT };
    let record = AccessRecord {
        client: "a\u{1b}[31m\n".into(),
        token: Some("t\u{202e}".into()),
        ..page(1, 1)
    };
    let found = ClientMonitor::new(thresholds).observe(&record);
    assert_eq!(
        found[0].detail,
        "`a\\u{1b}[31m\\n` as GPTBot with token `t\\u{202e}`: 1 pages in 0 s"
    );
}
