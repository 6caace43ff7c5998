//! Dumps the features of a set of pages for training.
//!
//! Input: every `.html` file below a folder. Output: `features.f32` (rows of
//! little-endian floats), `links.u32` (rows of little-endian integers, see
//! [`FeatureDump::links`]), `segments.jsonl` (for each page its file and the texts of
//! its segments) and `features.json` (names, version and sizes).

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use rutter_extract::{ExtractOptions, FEATURES, FEATURES_VERSION, FeatureDump, dump};
use rutter_page::{PageUrl, Timestamp};
use serde_json::json;

/// Writes the features of all pages below `set` into the folder `out`.
pub(crate) fn run(set: &Path, out: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(out)?;
    let files = pages_below(set)?;
    ensure!(!files.is_empty(), "{} holds no pages", set.display());
    let create = |name: &str| -> anyhow::Result<BufWriter<File>> {
        Ok(BufWriter::new(File::create(out.join(name))?))
    };
    let (mut rows, mut links) = (create("features.f32")?, create("links.u32")?);
    let mut lines = create("segments.jsonl")?;
    let seen = Timestamp::parse("2026-06-01T00:00:00Z")?;
    let url = PageUrl::parse("https://example.org/page.html")?;
    let options = ExtractOptions::new(url, seen);
    let mut n_segments = 0;
    for file in &files {
        let page = dump(&fs::read(file)?, &options);
        for value in &page.rows {
            rows.write_all(&value.to_le_bytes())?;
        }
        for value in &page.links {
            links.write_all(&value.to_le_bytes())?;
        }
        let name = file.strip_prefix(set).unwrap_or(file).to_string_lossy();
        serde_json::to_writer(&mut lines, &json!({ "file": name, "texts": page.texts }))?;
        lines.write_all(b"\n")?;
        n_segments += page.texts.len();
    }
    let names: Vec<_> = FEATURES.iter().map(|feature| feature.name).collect();
    let about = json!({
        "version": FEATURES_VERSION,
        "features": names,
        "links": FeatureDump::LINKS,
        "pages": files.len(),
        "segments": n_segments,
    });
    fs::write(out.join("features.json"), format!("{about:#}\n"))?;
    for writer in [&mut rows, &mut links, &mut lines] {
        writer.flush()?;
    }
    println!("{}: {} pages, {n_segments} segments", set.display(), files.len());
    Ok(())
}

/// All pages below a folder, in the order of their names.
fn pages_below(set: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![set.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).with_context(|| here.display().to_string())? {
            let path = entry?.path();
            let kind = fs::symlink_metadata(&path)?.file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "html") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
