//! Measures marker search: how much longer a page takes when the markers of a whole site are
//! searched in it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;
use rutter_extract::{ExtractOptions, Extraction, html};
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::survival::{MarkerSearch, PageTexts};

use crate::extract::{listed, sample};

/// Number of markers of the site.
const MARKERS: usize = 3000;
/// Maximum time of the search, relative to extraction.
const MOST: f64 = 0.15;

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(docs: &Path, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/markers");
    std::fs::create_dir_all(&folder)?;
    let list = folder.join("documentation.list");
    let n_bytes = sample(docs, &list)?;
    let pages = listed(std::slice::from_ref(&list))?;
    let extractions: Vec<Extraction> = pages.iter().map(|page| read(page)).collect();
    let (phrases, wanted) = phrases(&extractions);
    let started = Instant::now();
    let markers = MarkerSearch::new(phrases.iter().map(String::as_str));
    let made = started.elapsed().as_secs_f64();
    let n_text: usize = extractions.iter().map(|page| page.visible_text.len()).sum();
    println!(
        "\n{} pages, {:.1} MB, {:.1} MB of them text; {} markers, made ready in {:.1} ms",
        pages.len(),
        n_bytes as f64 / 1e6,
        n_text as f64 / 1e6,
        markers.len(),
        made * 1e3
    );
    let mut shares = Vec::new();
    let mut times = Vec::new();
    for _ in 0..5 * n_rounds {
        let extract = timed(|| pages.iter().map(|page| read(page).page.content.len()).sum());
        let look = timed(|| looked(&markers, &wanted, &extractions));
        let all = timed(|| {
            extractions.iter().map(|page| markers.find_in_blocks(&page.shown_text()).len()).sum()
        });
        shares.push(look / extract);
        times.push((extract, look, all));
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let of = |pick: &dyn Fn(&(f64, f64, f64)) -> f64| median(&mut times.iter().map(pick).collect());
    let (extract, look, all) = (of(&|it| it.0), of(&|it| it.1), of(&|it| it.2));
    let share = median(&mut shares);
    println!("  extraction               {:8.2} ms", extract * 1e3);
    println!("  markers of each page     {:8.2} ms", look * 1e3);
    println!("  all markers in all pages {:8.2} ms", all * 1e3);
    let verdict = if share <= MOST { "reached" } else { "MISSED" };
    println!(
        "  markers of each page take {:.1} % of extraction; goal at most {:.0} %: {verdict}",
        share * 100.0,
        MOST * 100.0
    );
    ensure!(share <= MOST, "1 figure misses its goal");
    Ok(())
}

fn timed(work: impl FnOnce() -> usize) -> f64 {
    let started = Instant::now();
    std::hint::black_box(work());
    started.elapsed().as_secs_f64()
}

fn read(page: &[u8]) -> Extraction {
    let url = PageUrl::parse("https://docs.example.org/guide/page.html").unwrap();
    html(page, &ExtractOptions::new(url, Timestamp::parse("2026-06-01T00:00:00Z").unwrap()))
}

/// Searches the markers of each page on that page, as a check does.
fn looked(markers: &MarkerSearch, wanted: &[Vec<usize>], pages: &[Extraction]) -> usize {
    let looked = pages.iter().zip(wanted).map(|(page, wanted)| {
        let metas = page.facts.metas.iter().map(|(_, value)| value.as_str());
        let text = page.shown_text();
        let places = PageTexts {
            visible: &text,
            metas: metas.chain([&*page.page.title]).collect(),
            json_ld: page.facts.json_ld.iter().map(String::as_str).collect(),
        };
        let found = markers.classify(wanted, &places);
        found.iter().filter(|status| **status == rutter_spxi::MarkerStatus::Visible).count()
    });
    looked.sum()
}

/// Returns phrases of five words from all pages and the phrases of each page; every tenth page
/// also gets a phrase that it does not have, so that every code path is used.
fn phrases(pages: &[Extraction]) -> (Vec<String>, Vec<Vec<usize>>) {
    // Some pages have only a few lines.
    let each = 4 * MARKERS / (3 * pages.len());
    let mut phrases = Vec::new();
    let mut wanted = Vec::new();
    for (n, page) in pages.iter().enumerate() {
        let text = page.shown_text();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .filter(|words| 5 <= words.len())
            .collect();
        let mut own = Vec::new();
        for at in 0..each.min(lines.len()) {
            let words = &lines[at * lines.len() / each.min(lines.len())];
            let from = (words.len() - 5) / 2;
            own.push(phrases.len());
            phrases.push(words[from..from + 5].join(" "));
        }
        if n % 10 == 0 {
            own.push(phrases.len());
            phrases.push(format!("what page {n} never said"));
        }
        wanted.push(own);
    }
    (phrases, wanted)
}
