//! Scores extraction: required and unwanted snippets, block fidelity, metadata.
//!
//! Snippets are scored by the rule of their set: white space is collapsed, a snippet counts if the
//! text contains it; precision, recall and F1 are over all snippets of all pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use rutter_extract::{ExtractOptions, Extraction, html};
use rutter_page::{PageUrl, Timestamp};
use rutter_testkit::fidelity;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Scores each folder by its content.
pub(crate) fn run(folders: &[PathBuf]) -> anyhow::Result<()> {
    ensure!(!folders.is_empty(), "score needs a folder");
    for folder in folders {
        if let Some(list) = snippets_of(folder)? {
            snippets(folder, &list)?;
        } else if is_readability(folder)? {
            metadata(folder)?;
        } else {
            own_set(folder)?;
        }
    }
    Ok(())
}

fn snippets_of(folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("evaldata") && path.extension().is_some_and(|ending| ending == "json") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn read(bytes: &[u8], url: &str) -> anyhow::Result<Extraction> {
    let url = PageUrl::parse(url.to_owned()).or_else(|_| PageUrl::parse("https://example.org/"));
    let seen = Timestamp::parse("2026-06-01T00:00:00Z")?;
    Ok(html(bytes, &ExtractOptions::new(url?, seen)))
}

/// Writes the text of each listed page, as `rutter extract --format text` prints it.
///
/// Each line of the list holds an input file, an output file and the URL of the page, separated by
/// tabs. An output appears in one step, so an interrupted run leaves no partial text.
pub(crate) fn texts(list: &Path) -> anyhow::Result<()> {
    for line in fs::read_to_string(list)?.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [input, output, url] = fields.as_slice() else {
            anyhow::bail!("`{line}` is not INPUT, OUTPUT and URL");
        };
        let text = read(&fs::read(input).context((*input).to_owned())?, url)?.to_text();
        let partial = format!("{output}.partial");
        fs::write(&partial, text)?;
        fs::rename(&partial, output)?;
    }
    Ok(())
}

/// Prints the dates of each listed page as a line of JSON; each line of the list holds an input file
/// and the URL of the page, separated by a tab.
pub(crate) fn dates(list: &Path) -> anyhow::Result<()> {
    for line in fs::read_to_string(list)?.lines() {
        let (input, url) = line.split_once('\t').context("a line is not INPUT and URL")?;
        let facts = read(&fs::read(input).context(input.to_owned())?, url)?.facts;
        let day = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let (published, modified) = (day(facts.published), day(facts.modified));
        let by = facts.published_by;
        println!("{}", json!({ "published": published, "published_by": by, "modified": modified }));
    }
    Ok(())
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Numbers of snippets: found, unwanted but found, missing.
#[derive(Default, Clone, Copy)]
struct Pieces {
    right: usize,
    wrong: usize,
    missing: usize,
}

impl Pieces {
    fn print(self, name: &str) {
        let precision = self.right as f64 / (self.right + self.wrong).max(1) as f64;
        let recall = self.right as f64 / (self.right + self.missing).max(1) as f64;
        let f1 = 2.0 * precision * recall / (precision + recall);
        println!("{name:<28} P {precision:.3}  R {recall:.3}  F1 {f1:.4}");
    }
}

/// Scores snippets: all pages, and the two halves by the hash of file names.
/// Only the first half may be looked at while tuning.
fn snippets(folder: &Path, list: &Path) -> anyhow::Result<()> {
    let pages: BTreeMap<String, Value> = serde_json::from_slice(&fs::read(list)?)?;
    let mut parts = [Pieces::default(); 2];
    let mut n_pages = [0; 2];
    for (url, expected) in &pages {
        let file = expected["file"].as_str().unwrap_or_default();
        let places = ["html", "cache", "eval"].map(|place| folder.join(place).join(file));
        let Some(bytes) = places.iter().find_map(|path| fs::read(path).ok()) else { continue };
        let text = squeeze(&read(&bytes, url)?.to_text());
        let part = usize::from(Sha256::digest(file.as_bytes())[0] % 2);
        n_pages[part] += 1;
        let has = |key: &str| {
            let pieces = expected[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            let (found, lost): (Vec<_>, Vec<_>) =
                pieces.map(squeeze).partition(|piece| text.contains(piece));
            (found.len(), lost.len())
        };
        let ((right, missing), (wrong, _)) = (has("with"), has("without"));
        parts[part].right += right;
        parts[part].missing += missing;
        parts[part].wrong += wrong;
    }
    let [tuned, untouched] = parts;
    println!("snippets: {} pages tuned on, {} untouched", n_pages[0], n_pages[1]);
    tuned.print("rutter, tuned on");
    untouched.print("rutter, untouched");
    let all = Pieces {
        right: tuned.right + untouched.right,
        wrong: tuned.wrong + untouched.wrong,
        missing: tuned.missing + untouched.missing,
    };
    all.print("rutter, all");
    Ok(())
}

/// Scores block fidelity on pages with expectations.
fn own_set(folder: &Path) -> anyhow::Result<()> {
    let cases = fidelity::cases(folder)?;
    let mut total = fidelity::Score::default();
    for case in &cases {
        let mut extraction = read(&case.html, case.url())?;
        // Links are scored inside their block; as blocks they would count twice.
        let mut rich = extraction.rich.iter();
        extraction.page.content.retain(|_| rich.next().is_none_or(|rich| !rich.is_repeat));
        extraction.rich.retain(|rich| !rich.is_repeat);
        let page = serde_json::from_str(&extraction.page.to_line())?;
        let links: Vec<(String, String)> = extraction
            .inline_links()
            .map(|(text, url)| (text.to_owned(), url.to_owned()))
            .collect();
        total.add(fidelity::score(case, &page, &links));
    }
    println!("block fidelity: {} pages", cases.len());
    for (kind, count) in &total.counts {
        println!(
            "{kind:<12} expected {:>5}  found {:>5}  too many {:>4}  found/expected {:.3}",
            count.expected,
            count.found,
            count.extra,
            count.recall()
        );
    }
    let all = total.fidelity();
    println!(
        "fidelity {:.4}, precision {:.4} (headings, items, code, cells, links)",
        all.recall(),
        all.precision()
    );
    Ok(())
}

fn is_readability(folder: &Path) -> anyhow::Result<bool> {
    let mut entries = fs::read_dir(folder)?;
    Ok(entries.any(|entry| {
        entry.is_ok_and(|entry| entry.path().join("expected-metadata.json").is_file())
    }))
}

/// Compares metadata with that of another tool.
fn metadata(folder: &Path) -> anyhow::Result<()> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut classes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    let is_loud = std::env::var_os("RUTTER_DIFFERENCES").is_some();
    for case in folders {
        let (Ok(page), Ok(expected)) =
            (fs::read(case.join("source.html")), fs::read(case.join("expected-metadata.json")))
        else {
            continue;
        };
        let expected: Value = serde_json::from_slice(&expected)?;
        let extraction = read(&page, "http://fakehost/test/page.html")?;
        let page = &extraction.page;
        let day = |time: &str| time.get(..10).unwrap_or(time).to_owned();
        let published = page.published.map(|time| time.to_string());
        let ours = [
            ("title", Some(squeeze(&page.title))),
            ("byline", page.author.as_deref().map(squeeze)),
            ("lang", Some(page.language.as_str().to_owned())),
            ("publishedTime", published.as_deref().map(day)),
        ];
        for (key, ours) in ours {
            let Some(theirs) = expected[key].as_str().map(squeeze) else { continue };
            let (same, all) = counts.entry(key).or_default();
            *all += 1;
            let class = class_of(key, ours.as_deref(), &theirs);
            *same += usize::from(class != "other");
            *classes.entry((key, class)).or_default() += 1;
            if class == "other" && is_loud {
                let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
                println!("{name} {key}: {ours:?}, theirs {theirs:?}");
            }
        }
    }
    println!("metadata beside another tool's");
    for (key, (same, all)) in counts {
        println!("{key:<14} {same} of {all} agree, {:.3}", same as f64 / all as f64);
        for ((_, class), n) in classes.iter().filter(|((found, _), _)| *found == key) {
            println!("    {n:>4} {class}");
        }
    }
    Ok(())
}

/// Returns whether two dates are one day apart.
fn is_next_day(ours: &str, theirs: &str) -> bool {
    let day = |text: &str| {
        let noon = format!("{}T12:00:00Z", text.get(..10)?);
        Some(Timestamp::parse(&noon).ok()?.unix_seconds())
    };
    matches!((day(ours), day(theirs)), (Some(a), Some(b)) if (a - b).abs() == 86_400)
}

/// Returns why two values differ, if the documented order of sources explains it.
fn class_of(key: &str, ours: Option<&str>, theirs: &str) -> &'static str {
    let Some(ours) = ours else {
        return if key == "byline" && 1 < theirs.matches(char::is_numeric).count() {
            "theirs is a date"
        } else {
            "other"
        };
    };
    let lower = |text: &str| text.to_lowercase().replace('_', "-");
    let (ours_low, theirs_low) = (lower(ours), lower(theirs));
    if ours_low == theirs_low || (key == "publishedTime" && theirs.get(..10) == Some(ours)) {
        return "the same";
    }
    match key {
        // The same instant in another zone may be another day.
        "publishedTime" if is_next_day(ours, theirs) => "the day in UTC",
        "title" if theirs.is_empty() => "theirs is empty",
        "title" if theirs_low.starts_with(&ours_low) => "we drop what follows the title",
        "title" if ours_low.ends_with(theirs_low.split(" \u{b7} ").next().unwrap_or("")) => {
            "they cut the title at a colon"
        }
        "byline" if theirs_low.contains(&ours_low) => "we drop what stands beside the name",
        "byline" if 1 < theirs.matches(char::is_numeric).count() => "theirs is a date",
        _ => "other",
    }
}
