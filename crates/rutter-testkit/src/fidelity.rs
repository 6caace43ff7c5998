//! Compares an extracted page with a hand-written list of expected parts and computes a score.
//!
//! Input: the extracted page as JSON; no code of the extractor is used. The format of the
//! expectation files is described in `crates/rutter-extract/corpus`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Kinds of page parts that count for the fidelity score.
pub const SCORED: [&str; 5] = ["headings", "items", "code", "cells", "links"];

/// One test page with its expected parts.
#[derive(Debug)]
pub struct CorpusCase {
    /// Path of the page below the corpus folder, without extension, such as `docs/sphinx-api`.
    pub name: String,
    /// HTML of the page.
    pub html: Vec<u8>,
    /// Expected parts and metadata of the page, from its `.expect.json` file.
    pub expected: Value,
}

impl CorpusCase {
    /// Returns the URL of the page, or `https://example.org/` if its expectation names no URL.
    pub fn url(&self) -> &str {
        self.expected["url"].as_str().unwrap_or("https://example.org/")
    }
}

/// Reads all test pages in a folder and its subfolders, sorted by path.
pub fn cases(folder: &Path) -> std::io::Result<Vec<CorpusCase>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in std::fs::read_dir(here)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| case(folder, &path)).collect()
}

fn case(folder: &Path, path: &Path) -> std::io::Result<CorpusCase> {
    let expected: PathBuf = path.with_extension("expect.json");
    let expected = serde_json::from_slice(&std::fs::read(expected)?)?;
    let name = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let name = name.to_string_lossy().replace('\\', "/");
    Ok(CorpusCase { name, html: std::fs::read(path)?, expected })
}

/// Numbers of expected, found and unexpected parts of one or more pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// Number of expected parts.
    pub expected: usize,
    /// Number of expected parts that the page contains.
    pub found: usize,
    /// Number of parts of the page that were not expected.
    pub extra: usize,
}

impl PartCounts {
    /// Adds the numbers of another count to this one.
    pub fn add(&mut self, other: Self) {
        self.expected += other.expected;
        self.found += other.found;
        self.extra += other.extra;
    }

    /// Returns the share of expected parts that were found, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of a test")]
    pub fn recall(self) -> f64 {
        if self.expected == 0 { 1.0 } else { self.found as f64 / self.expected as f64 }
    }

    /// Returns the share of parts of the page that were expected, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of a test")]
    pub fn precision(self) -> f64 {
        let all = self.found + self.extra;
        if all == 0 { 1.0 } else { self.found as f64 / all as f64 }
    }
}

/// Result of comparing extracted pages with their expected parts.
#[derive(Debug, Default)]
pub struct Score {
    /// Numbers of parts by kind, such as `headings`.
    pub counts: BTreeMap<&'static str, PartCounts>,
    /// Descriptions of missing and unexpected parts.
    pub faults: Vec<String>,
}

impl Score {
    /// Adds the counts and faults of another page to this score.
    pub fn add(&mut self, other: Self) {
        for (kind, count) in other.counts {
            self.counts.entry(kind).or_default().add(count);
        }
        self.faults.extend(other.faults);
    }

    /// Returns the sum of the counts of all kinds in [`SCORED`].
    pub fn fidelity(&self) -> PartCounts {
        let mut all = PartCounts::default();
        for kind in SCORED {
            all.add(self.counts.get(kind).copied().unwrap_or_default());
        }
        all
    }
}

/// Compares an extracted page and its links with the expected parts of a test page.
pub fn score(case: &CorpusCase, page: &Value, links: &[(String, String)]) -> Score {
    let mut score = Score::default();
    let mut made = PageParts::of(page);
    made.links.extend(links.iter().map(|(text, url)| format!("{} -> {url}", squeeze(text))));
    let expected = &case.expected;
    let list = |key: &str| expected[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| squeeze(value.as_str().unwrap_or_default());

    let headings = list("headings").iter().map(|pair| format!("{} {}", pair[0], text(&pair[1])));
    score.compare(case, "headings", headings.collect(), made.headings);
    let terms: Vec<(String, String)> =
        list("terms").iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    // The extractor may also return a term with its definition as a list item, which is no fault.
    made.items.retain(|item| {
        !terms.iter().any(|(term, meaning)| item.contains(term) && item.contains(meaning))
    });
    score.compare(case, "items", list("items").iter().map(text).collect(), made.items);
    let code = list("code").iter().map(|pair| {
        let language = pair[0].as_str().unwrap_or("-");
        format!("{language}\n{}", lines(pair[1].as_str().unwrap_or_default()))
    });
    score.compare(case, "code", code.collect(), made.code);
    score.compare(case, "cells", list("cells").iter().map(text).collect(), made.cells);
    let quotes = list("quotes").iter().map(|pair| text(&pair[0]));
    score.compare(case, "quotes", quotes.collect(), made.quotes);
    let pair = |pair: &Value| format!("{} -> {}", text(&pair[0]), pair[1].as_str().unwrap_or(""));
    score.compare(case, "links", list("links").iter().map(pair).collect(), made.links);
    score.compare(case, "images", list("images").iter().map(pair).collect(), made.images);
    if !expected["media"].is_null() {
        let media = list("media").iter().map(|url| url.as_str().unwrap_or("").to_owned());
        score.compare(case, "media", media.collect(), made.media);
    }

    let mut count = PartCounts { expected: terms.len(), ..PartCounts::default() };
    for (term, meaning) in &terms {
        let is_there = made.text.contains(term.as_str()) && made.text.contains(meaning.as_str());
        count.found += usize::from(is_there);
        if !is_there {
            score.faults.push(format!("{}: terms lack {term}: {meaning}", case.name));
        }
    }
    score.counts.insert("terms", count);
    let mut count = PartCounts::default();
    for piece in list("with").iter().map(text) {
        count.expected += 1;
        if made.text.contains(&piece) {
            count.found += 1;
        } else {
            score.faults.push(format!("{}: text lacks {piece}", case.name));
        }
    }
    for piece in list("without").iter().map(text) {
        if made.text.contains(&piece) {
            count.extra += 1;
            score.faults.push(format!("{}: text has {piece}", case.name));
        }
    }
    score.counts.insert("text", count);
    score.metadata(case, page);
    score
}

impl Score {
    fn compare(
        &mut self,
        case: &CorpusCase,
        kind: &'static str,
        expected: Vec<String>,
        made: Vec<String>,
    ) {
        let mut left: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = PartCounts { expected: expected.len(), ..PartCounts::default() };
        for one in made {
            *left.entry(one).or_default() += 1;
        }
        for one in expected {
            match left.get_mut(&one).filter(|n| 0 < **n) {
                Some(n) => {
                    *n -= 1;
                    count.found += 1;
                }
                None => self.faults.push(format!("{}: {kind} lack {one}", case.name)),
            }
        }
        for (one, n) in left.into_iter().filter(|(_, n)| 0 < *n) {
            count.extra += n;
            self.faults.push(format!("{}: {kind} have {one}", case.name));
        }
        self.counts.insert(kind, count);
    }

    fn metadata(&mut self, case: &CorpusCase, page: &Value) {
        let mut count = PartCounts::default();
        for key in ["title", "description", "author", "published", "modified", "language"] {
            let Some(expected) = case.expected[key].as_str() else { continue };
            count.expected += 1;
            let made = squeeze(page[key].as_str().unwrap_or_default());
            // Dates are compared by day, because many expectations state no time.
            let is_same = if matches!(key, "published" | "modified") {
                made.get(..10) == expected.get(..10)
            } else {
                made == squeeze(expected)
                    || key == "language" && made.eq_ignore_ascii_case(expected)
            };
            count.found += usize::from(is_same);
            if !is_same {
                self.faults.push(format!("{}: {key} is {made:?}, not {expected:?}", case.name));
            }
        }
        self.counts.insert("metadata", count);
    }
}

/// Parts of an extracted page as text, in the form in which they are compared.
#[derive(Debug, Default)]
struct PageParts {
    headings: Vec<String>,
    items: Vec<String>,
    code: Vec<String>,
    cells: Vec<String>,
    quotes: Vec<String>,
    links: Vec<String>,
    images: Vec<String>,
    media: Vec<String>,
    text: String,
}

impl PageParts {
    fn of(page: &Value) -> Self {
        let mut made = Self::default();
        let mut all = String::new();
        for block in page["content"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let text = block["text"].as_str().unwrap_or_default();
            all.push(' ');
            all.push_str(text);
            match block["type"].as_str().unwrap_or_default() {
                "heading" => made.headings.push(format!("{} {}", block["level"], squeeze(text))),
                "list" => {
                    for item in block["items"].as_array().into_iter().flatten() {
                        let item = item.as_str().unwrap_or_default();
                        let flat = item.trim_start().strip_prefix("- ").unwrap_or(item);
                        made.items.push(squeeze(flat));
                        all.push(' ');
                        all.push_str(flat);
                    }
                }
                "code" => {
                    let language = block["language"].as_str().unwrap_or("-");
                    let code = block["code"].as_str().unwrap_or_default();
                    made.code.push(format!("{language}\n{}", lines(code)));
                    all.push(' ');
                    all.push_str(code);
                }
                "table" => {
                    let rows = block["rows"].as_array().into_iter().flatten();
                    for cell in rows.flat_map(|row| row.as_array().into_iter().flatten()) {
                        let cell = squeeze(cell.as_str().unwrap_or_default());
                        all.push(' ');
                        all.push_str(&cell);
                        if !cell.is_empty() {
                            made.cells.push(cell);
                        }
                    }
                }
                "quote" => made.quotes.push(squeeze(text)),
                "link" => {
                    let url = block["url"].as_str().unwrap_or_default();
                    made.links.push(format!("{} -> {url}", squeeze(text)));
                }
                "image" => {
                    let alt = squeeze(block["alt"].as_str().unwrap_or_default());
                    let url = block["url"].as_str().unwrap_or_default();
                    made.images.push(format!("{alt} -> {url}"));
                }
                "video" | "audio" => {
                    for key in ["name", "summary", "transcript"] {
                        all.push(' ');
                        all.push_str(block[key].as_str().unwrap_or_default());
                    }
                    let url = block["url"].as_str().or_else(|| block["url"][0]["href"].as_str());
                    made.media.push(url.unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
        made.text = squeeze(&all);
        made
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes white space at the end of a code block and replaces non-breaking spaces.
fn lines(code: &str) -> String {
    code.replace('\u{a0}', " ").trim_end().to_owned()
}
