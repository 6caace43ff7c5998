//! Measures the memory of building very large sites.
//!
//! Pages are generated, small and all different, so that memory per page is measured.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use crate::build::{MEMORY, verdict};
use crate::table::role;

/// Memory limit in bytes for each page above this number of pages.
const PER_PAGE: u64 = 200;
const USUAL_PAGES: u64 = 10_000;
/// Pages in a folder, and folders in a section.
const IN_FOLDER: u64 = 500;
const SECTIONS: u64 = 40;

/// Builds a site of this many pages in place and into another folder, three times each, and prints
/// the peak memory of each build.
pub(crate) fn run(n_pages: u64, folder: Option<PathBuf>) -> anyhow::Result<()> {
    let folder = folder.unwrap_or_else(|| PathBuf::from("target/bench/scale"));
    ensure!(!folder.exists(), "{} is there already", folder.display());
    let missed = measure(n_pages, &folder);
    // The million small files are deleted at the end.
    fs::remove_dir_all(&folder)?;
    let missed = missed?;
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

fn measure(n_pages: u64, folder: &Path) -> anyhow::Result<usize> {
    let (site, out) = (folder.join("site"), folder.join("out"));
    let n_bytes = write_site(n_pages, &site)?;
    let limit = MEMORY + PER_PAGE * n_pages.saturating_sub(USUAL_PAGES);
    println!(
        "{n_pages} pages, {:.1} MB; at most {:.0} MB of memory, and {PER_PAGE} bytes for each page beyond {USUAL_PAGES}: {:.0} MB",
        n_bytes as f64 / 1e6,
        MEMORY as f64 / 1e6,
        limit as f64 / 1e6
    );
    let mut missed = 0;
    // First into another folder, which leaves the site unchanged.
    for (name, role_name, state) in
        [("into a folder", "build-out", "state-out"), ("in place", "build", "state")]
    {
        let state = folder.join(state);
        for step in ["first build", "nothing changed", "one edit"] {
            if step == "one edit" {
                edit(n_pages, &site)?;
            }
            let paths: &[&PathBuf] =
                if role_name == "build" { &[&site, &state] } else { &[&site, &state, &out] };
            let run = role(role_name, paths)?;
            let is_fine = run.peak <= limit;
            missed += usize::from(!is_fine);
            println!(
                "{name}, {step}: {:.1} s, {:.1} MB {}",
                run.seconds,
                run.peak as f64 / 1e6,
                verdict(is_fine)
            );
        }
        drop(fs::remove_dir_all(&out));
    }
    Ok(missed)
}

fn path_of(n: u64) -> String {
    let folder = n / IN_FOLDER;
    format!("section-{:02}/part-{folder:05}/page-{n:07}.html", folder % SECTIONS)
}

/// Writes the pages; returns their size in bytes.
fn write_site(n_pages: u64, site: &Path) -> anyhow::Result<u64> {
    let mut n_bytes = 0;
    for n in 0..n_pages {
        let path = site.join(path_of(n));
        if n % IN_FOLDER == 0 {
            fs::create_dir_all(path.parent().unwrap())?;
        }
        let text = page(n, "boats");
        n_bytes += text.len() as u64;
        fs::File::create(&path)?.write_all(text.as_bytes())?;
    }
    Ok(n_bytes)
}

fn page(n: u64, word: &str) -> String {
    // Random-looking numbers, because text that compresses too well would be refused.
    let mix = |salt: u64| (n + 1).wrapping_mul(salt).rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a);
    let (one, two, three) = (mix(0xbf58_476d_1ce4), mix(0x94d0_49bb_1331), mix(0xd6e8_feb8_6659));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><title>Berth {n}</title></head>\n<body>\
         <nav><ul><li><a href=\"/\">Home</a></li></ul></nav><main><h1>Berth {n}</h1>\
         <p>Mooring {one:x} takes {word} up to mark {two:x}, says the {n}th entry of the book.</p>\
         <p>Its lamp was last seen to by the keeper of {three:x}.</p></main></body></html>\n"
    )
}

/// Changes one word of a page in the middle, a different one each time.
fn edit(n_pages: u64, site: &Path) -> anyhow::Result<()> {
    let path = site.join(path_of(n_pages / 2));
    let text = fs::read_to_string(&path)?;
    let other = text.replacen(" up to", ", tugs up to", 1);
    ensure!(other != text, "{}: nothing to edit", path.display());
    Ok(fs::write(path, other)?)
}
