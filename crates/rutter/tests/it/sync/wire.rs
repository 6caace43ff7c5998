//! Tests that the traffic of a sync is proportional to the changes, not to the size of the site.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rutter_store::MemoryStore;
use rutter_store::prelude::*;

use super::{Harbour, replicated};

const N_PAGES: usize = 3_000;
/// Maximum traffic of a sync in bytes, in addition to twice the delta.
const ALLOWANCE: u64 = 64 << 10;

const WORDS: [&str; 24] = [
    "anchor", "beacon", "cable", "draught", "ebb", "fender", "gale", "hawser", "inlet", "jetty",
    "keel", "ledge", "mooring", "narrows", "offing", "pilot", "quay", "reef", "shoal", "tide",
    "upwind", "vessel", "wharf", "yard",
];

/// Returns a unique page.
fn page(n: usize, version: usize) -> String {
    let mut seed = n * 7919 + version * 104_729 + 1;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(seed >> 33) % WORDS.len()]
    };
    let text: Vec<String> = (0..60).map(|_| format!("{} {n}", word())).collect();
    format!(
        "<!doctype html><html lang=en><head><title>Chart {n}</title></head><body><main>\
         <h1>Chart {n}</h1><p>{}.</p></main></body></html>",
        text.join(" ")
    )
}

fn name(n: usize) -> String {
    format!("charts/{}/{}-{}-{n}.html", n % 7, WORDS[n % 23], WORDS[n % 19])
}

/// Edits one page in a hundred and returns the size of the delta.
fn edit(harbour: &mut Harbour, version: usize) -> u64 {
    for n in (version..N_PAGES).step_by(100) {
        harbour.put(&name(n), &page(n, version));
    }
    harbour.build();
    harbour.serve();
    let deltas = fs::read_dir(harbour.path("public/scp")).unwrap().filter_map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_zstd = entry.path().extension().is_some_and(|it| it == "zst");
        let is_delta = name.starts_with("all-delta-") && is_zstd;
        is_delta.then(|| (name, entry.metadata().unwrap().len()))
    });
    deltas.max().unwrap().1
}

#[test] // D60
fn traffic_is_proportional_to_changes() {
    let mut harbour = Harbour::new();
    harbour.put("index.html", &page(0, 0));
    for n in 1..N_PAGES {
        harbour.put(&name(n), &page(n, 0));
    }
    harbour.build();
    harbour.serve();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    harbour.sync(&store);
    let hours = [
        ("on the day of the first build", 1, 1),
        ("on the same day again", 1, 1),
        ("on the day after", 24, 1),
        ("built before midnight, synced after", 1, 14),
        ("after three quiet days", 72, 2),
    ];
    for (n, (when, before, after)) in hours.into_iter().enumerate() {
        harbour.clock.advance(Duration::from_hours(before));
        let delta = edit(&mut harbour, n + 1);
        harbour.clock.advance(Duration::from_hours(after));
        let report = harbour.sync(&store);
        assert_eq!(report.changed, 30, "{when}");
        assert!(report.bytes <= 2 * delta + ALLOWANCE, "{when}: {} for {delta}", report.bytes);
        assert_eq!(replicated(store.as_ref()), harbour.published());
        // A sync on another day, without a change.
        harbour.clock.advance(Duration::from_hours(30));
        let quiet = harbour.sync(&store);
        assert!(quiet.is_quiet() && quiet.bytes == 0, "{when}: {quiet:?}");
        assert!(quiet.requests <= 4, "{when}: {quiet:?}");
    }
}
