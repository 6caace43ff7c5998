//! The own set: pages with expectations written by hand, and a floor below
//! which the score may not fall.

use std::path::Path;

use rutter_extract::{LinkBlocks, html};
use rutter_testkit::fidelity::{Score, cases, score};

use crate::options;

/// Minimum score; raised after every improvement.
const FLOOR: f64 = 0.990;
const PRECISION: f64 = 0.970;
const TEXT: f64 = 0.995;
/// Pieces that must not be there count against this one.
const CLEAN: f64 = 0.960;
/// Quotations, pictures, recordings and terms, each.
const OTHERS: f64 = 0.960;
const METADATA: f64 = 0.970;
/// Minimum number of pages in the corpus.
const PAGES: usize = 51;

#[test]
fn block_fidelity_stays_above_the_floor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let cases = cases(&folder).unwrap();
    assert!(PAGES <= cases.len(), "only {} pages", cases.len());
    let mut total = Score::default();
    for case in &cases {
        // Links are scored where they stand; as blocks they would count twice.
        let mut options = options(case.url());
        options.links = LinkBlocks::Lone;
        let extraction = html(&case.html, &options);
        let page = serde_json::from_str(&extraction.page.to_line()).unwrap();
        let links: Vec<(String, String)> = extraction
            .inline_links()
            .map(|(text, url)| (text.to_owned(), url.to_owned()))
            .collect();
        total.add(score(case, &page, &links));
    }
    let (all, text, metadata) = (total.fidelity(), total.counts["text"], total.counts["metadata"]);
    let others = ["quotes", "images", "media", "terms"].map(|kind| total.counts[kind].recall());
    let others = others.into_iter().fold(1.0, f64::min);
    let found =
        [all.recall(), all.precision(), text.recall(), text.precision(), metadata.recall(), others];
    let floors = [FLOOR, PRECISION, TEXT, CLEAN, METADATA, OTHERS];
    for (found, floor) in found.into_iter().zip(floors) {
        assert!(floor <= found, "{found:.4} is below {floor}:\n{}", total.faults.join("\n"));
    }
}
