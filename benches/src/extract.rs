//! Measures extraction: speed compared with other programs on documentation and news, and one very
//! large page.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use rutter_extract::{ExtractOptions, bare_tree, html};
use rutter_page::{PageUrl, Timestamp};
use sha2::{Digest, Sha256};

use crate::table::{Job, Run, Table, role, seconds, timed};

/// How often each page is read in one measurement.
const PASSES: usize = 3;
/// Pairs of extraction and bare tree for each round of the others.
const PAIRS: usize = 6;
/// Pages of a corpus that are measured, and the largest of them.
const MOST_PAGES: usize = 300;
const LARGEST: u64 = 400_000;

/// Paths of corpora and of programs for comparison.
pub(crate) struct ExtractPaths {
    pub(crate) docs: Option<PathBuf>,
    pub(crate) news: Option<PathBuf>,
    pub(crate) python: Option<PathBuf>,
    pub(crate) peer: Option<PathBuf>,
    pub(crate) n_rounds: usize,
}

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(places: &ExtractPaths) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/extract");
    fs::create_dir_all(&folder)?;
    let mut missed = 0;
    // Main-content extraction by resiliparse; whole documents by rs-trafilatura.
    let corpora = [("documentation", &places.docs, 0.75), ("news", &places.news, 0.60)];
    for (name, place, goal) in corpora {
        let Some(place) = place else {
            println!("{name}: no pages given, not measured");
            continue;
        };
        let list = folder.join(format!("{name}.list"));
        let n_bytes = sample(place, &list)?;
        missed += corpus(name, &list, n_bytes, goal, places)?;
    }
    missed += large(&folder, places.n_rounds)?;
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

fn corpus(
    name: &str,
    list: &PathBuf,
    n_bytes: u64,
    goal: f64,
    places: &ExtractPaths,
) -> anyhow::Result<usize> {
    println!("\n{name}: {:.1} MB, {PASSES} passes", n_bytes as f64 / 1e6);
    let (ours_beside, bare) = beside_bare(list, PAIRS * places.n_rounds)?;
    let mut jobs: Vec<Job<'_>> = vec![("extract", Box::new(|| role("extract", &[list])))];
    if let Some(python) = &places.python {
        let script = resiliparse(list);
        jobs.push((
            "resiliparse",
            Box::new(move || timed(Command::new(python).args(["-c", &script]))),
        ));
    }
    if let Some(peer) = &places.peer {
        jobs.push((
            "rs-trafilatura",
            Box::new(move || {
                timed(Command::new(peer).arg("rs-trafilatura").arg(list).arg(PASSES.to_string()))
            }),
        ));
    }
    let mut table = Table::new(places.n_rounds);
    let runs = table.rotate(&mut jobs)?;
    let names: Vec<&str> = jobs.iter().map(|(name, _)| *name).collect();
    drop(jobs);
    let of = |wanted: &str| -> Option<&Vec<Run>> {
        names.iter().position(|name| *name == wanted).and_then(|at| runs.get(at))
    };
    let ours = of("extract").context("nothing was measured")?;
    table.compare("extract", &ours_beside, "bare tree", &bare, (0.7, None));
    for (peer, goal) in [("resiliparse", goal), ("rs-trafilatura", 6.0)] {
        match of(peer) {
            Some(theirs) => table.compare("extract", ours, peer, &seconds(theirs), (goal, None)),
            None => println!("{peer}: not there, not measured"),
        }
    }
    table.print(n_bytes * PASSES as u64);
    Ok(table.missed)
}

/// A job on pages that returns a count.
type Work = dyn Fn(&[Vec<u8>]) -> u64;

/// Extracts the pages and builds their trees in turn, in one process, so that differences between
/// processes do not count. Returns the seconds of both, pair by pair.
fn beside_bare(list: &PathBuf, n_pairs: usize) -> anyhow::Result<(Vec<Run>, Vec<f64>)> {
    let pages = listed(std::slice::from_ref(list))?;
    let timed = |work: &Work| {
        let started = Instant::now();
        std::hint::black_box(work(&pages));
        started.elapsed().as_secs_f64()
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for pair in 0..n_pairs {
        // The order alternates.
        let (first, second): (&Work, &Work) =
            if pair % 2 == 0 { (&extract, &bare) } else { (&bare, &extract) };
        let times = (timed(first), timed(second));
        let (own, other) = if pair % 2 == 0 { times } else { (times.1, times.0) };
        ours.push(Run { seconds: own, peak: 0 });
        theirs.push(other);
    }
    println!("  {n_pairs} pairs of extract and bare tree");
    Ok((ours, theirs))
}

/// Writes a list of the pages to measure, chosen by the hash of their names.
pub(crate) fn sample(folder: &Path, list: &Path) -> anyhow::Result<u64> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).with_context(|| here.display().to_string())? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && path.extension().is_some_and(|ending| ending == "html")
                && entry.metadata()?.len() <= LARGEST
            {
                files.push(path);
            }
        }
    }
    files.sort_by_key(|path| {
        let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
        digest
    });
    files.truncate(MOST_PAGES);
    ensure!(!files.is_empty(), "{} holds no pages", folder.display());
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    fs::write(list, names.join("\n"))?;
    files.iter().map(|path| Ok(fs::metadata(path)?.len())).sum()
}

/// The pages a list names.
pub(crate) fn listed(lists: &[PathBuf]) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut pages = Vec::new();
    for list in lists {
        for path in fs::read_to_string(list)?.lines() {
            pages.push(fs::read(path)?);
        }
    }
    Ok(pages)
}

/// Extracts all pages with all outputs.
pub(crate) fn extract(pages: &[Vec<u8>]) -> u64 {
    (0..PASSES).map(|_| extract_once(pages)).sum()
}

/// Extracts each page once.
pub(crate) fn extract_once(pages: &[Vec<u8>]) -> u64 {
    let url = PageUrl::parse("https://docs.example.org/guide/page.html").unwrap();
    let options = ExtractOptions::new(url, Timestamp::parse("2026-06-01T00:00:00Z").unwrap());
    pages.iter().map(|page| html(page, &options).page.content.len() as u64).sum()
}

/// Builds the trees of all pages.
pub(crate) fn bare(pages: &[Vec<u8>]) -> u64 {
    (0..PASSES).flat_map(|_| pages).map(|page| bare_tree(page) as u64).sum()
}

fn resiliparse(list: &Path) -> String {
    format!(
        "import time\n\
         from resiliparse.extract.html2text import extract_plain_text as text\n\
         pages = [open(p, 'rb').read().decode('utf8', 'replace') for p in open({:?}).read().split('\\n')]\n\
         start = time.perf_counter()\n\
         for _ in range({PASSES}):\n    \
             for page in pages: text(page, main_content=True, alt_texts=False, list_bullets=False)\n\
         print(time.perf_counter() - start)\n",
        list.display().to_string()
    )
}

/// Compares a page of 10 MB with a hundred pages of 100 KB and the same text.
fn large(folder: &Path, n_rounds: usize) -> anyhow::Result<usize> {
    let small: Vec<String> = (0..100).map(|n| page(n * 240, 240)).collect();
    let (small_list, large_list) = (folder.join("small.list"), folder.join("large.list"));
    let mut names = Vec::new();
    let mut n_bytes = 0;
    for (n, page) in small.iter().enumerate() {
        let path = folder.join(format!("small-{n}.html"));
        n_bytes += page.len() as u64;
        fs::write(&path, page)?;
        names.push(path.display().to_string());
    }
    fs::write(&small_list, names.join("\n"))?;
    let large = folder.join("large.html");
    let whole = page(0, 24_000);
    let n_large = whole.len() as u64;
    fs::write(&large, whole)?;
    fs::write(&large_list, large.display().to_string())?;

    println!(
        "\none page of {:.1} MB beside 100 pages of together {:.1} MB",
        n_large as f64 / 1e6,
        n_bytes as f64 / 1e6
    );
    let mut table = Table::new(n_rounds);
    let mut jobs: Vec<Job<'_>> = vec![
        ("large page", Box::new(|| role("extract", &[&large_list]))),
        ("small pages", Box::new(|| role("extract", &[&small_list]))),
    ];
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [one, many] = runs.as_slice() else { unreachable!() };
    let scale = n_large as f64 / n_bytes as f64;
    let many: Vec<f64> = seconds(many).iter().map(|seconds| seconds * scale).collect();
    table.compare("one large page", one, "many small pages", &many, (0.5, None));
    let once = role("extract-once", &[&large_list])?;
    table.remember_peak("one large page, read once", &[once]);
    table.print(n_large * PASSES as u64);
    table.print_peaks("at most 12 times the page's bytes", 12 * n_large);
    Ok(table.missed)
}

/// Returns documentation of invented functions, each different.
fn page(first: usize, n: usize) -> String {
    let mut out = String::from(
        "<!doctype html><html lang=en><head><title>Reference</title><meta charset=utf-8></head><body>\
         <nav><ul><li><a href=/>Home</a></li><li><a href=/ref>Reference</a></li></ul></nav><main><h1>Reference</h1>",
    );
    for n in first..first + n {
        write!(
            out,
            "<section id=\"f{n}\"><h2><code>harbour_{n}</code><a class=headerlink href=\"#f{n}\">#</a></h2>\n\
             <p>Moves boat <em>{n}</em> to berth <code>{}</code>, as <a href=\"/guide/{n}.html\">the guide</a> says, \
             and waits until the gate is open.</p>\n<ul><li>Returns {n} where the berth is free.</li>\
             <li>Fails with error {} where it is not.</li></ul>\n\
             <pre><code class=\"language-c\">int r = harbour_{n}({});\nif (r &lt; 0) return r;</code></pre></section>\n",
            n * 7 % 113,
            n % 17,
            n * 31 % 997,
        )
        .unwrap();
    }
    out.push_str("</main><footer>Written by the harbour office.</footer></body></html>");
    out
}
