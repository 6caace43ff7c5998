//! Finds text of restricted pages in public files: llms.txt, twins of other pages, search indexes,
//! the semantic index, and the ARC sitemap.
//!
//! A page is restricted by its own statements or by its ARC entry. A page that is only restricted
//! for AI may be in a search index, because people use search indexes. The public files are
//! searched for runs, which are six consecutive words of a restricted page. A run that several
//! restricted pages share, or that a public page shows, is ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rutter_finding::{Finding, Place, quoted};

use crate::RestrictionReason;
use crate::site::{MediaKind, PageRow, SiteView, runs};

rutter_finding::rules! {
    CLOSED_TEXT = "SE012" "closed-text-elsewhere" (warning, "D85") {
        title: "file contains text of a page that must not be indexed",
        why: "The restriction of the page has no effect on this file.",
        fix: "Delete the text, and find out how it got into the file.",
        wrong: "A paragraph of the restricted page `members/list.html` in `llms-full.txt`.",
        right: "Text of public pages only.",
    }
}

/// The maximum size in bytes of a file that is searched.
const LARGEST: u64 = 64 << 20;
/// The minimum number of runs in a file that count as text of a restricted page, not as a
/// coincidence.
const FEWEST: usize = 2;
/// The maximum number of public pages that are searched for the same text.
const MOST_ASKED: usize = 200;

pub(super) fn compare(view: &mut SiteView<'_>) {
    // The index of the restricted page of each run; `None` if several restricted pages contain the
    // run.
    let mut secret: HashMap<u64, Option<usize>> = HashMap::new();
    for (n, row) in view.rows.list.iter().enumerate() {
        let Some(page) = row.page.as_ref().filter(|_| secrecy(row).is_some()) else { continue };
        for run in page.pieces.iter().flat_map(|piece| &piece.runs) {
            let owner = secret.entry(*run).or_insert(Some(n));
            if *owner != Some(n) {
                *owner = None;
            }
        }
    }
    secret.retain(|_, owner| owner.is_some());
    if secret.is_empty() {
        return;
    }
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    let twins = view.rows.list.iter().filter_map(|row| Some((row.twin?, row.file?)));
    let twins: HashMap<u32, u32> = twins.collect();
    let mut n_asked = 0;
    for (at, file) in view.files.iter() {
        if LARGEST < file.bytes || !is_open_text(file.kind, &file.path) {
            continue;
        }
        let Ok(Some(bytes)) = view.files.read(at, LARGEST) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        for (owner, found) in held(&secret, &text) {
            let Some(row) = view.rows.list.get(owner) else { continue };
            let is_allowed = secrecy(row) == Some(BarredAudience::Models)
                && !is_for_models(file.kind, &file.path);
            if found.len() < FEWEST || row.twin == Some(at) || is_allowed {
                continue;
            }
            // The twin of a public page contains only the text of that page.
            if let Some(open) = twins.get(&at).copied()
                && n_asked < MOST_ASKED
            {
                n_asked += 1;
                if shows(view, open, &found) {
                    continue;
                }
            }
            findings.push((at, Finding::new(&CLOSED_TEXT, Place::WHOLE, quoted(&row.url))));
        }
    }
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

/// The audience that must not get the text of a restricted page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarredAudience {
    Models,
    All,
}

/// Returns the restriction of a page by its own statements or its ARC entry. robots.txt is ignored,
/// because it only restricts fetching.
fn secrecy(row: &PageRow) -> Option<BarredAudience> {
    let own = row.page.as_ref().and_then(|page| page.closed);
    let arc = row.arc.as_ref().and_then(|arc| arc.closed);
    match own.max(arc)? {
        RestrictionReason::NoAi => Some(BarredAudience::Models),
        RestrictionReason::NoIndex | RestrictionReason::Login => Some(BarredAudience::All),
        RestrictionReason::Robots | RestrictionReason::Away => None,
    }
}

/// Returns whether a file is only for language models.
fn is_for_models(kind: MediaKind, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let begins = ["llms", "arc-sitemap", "spxi-"].iter().any(|start| name.starts_with(start));
    kind == MediaKind::Markdown || begins || path.contains("arc-sitemap-deltas/")
}

/// Returns whether a file is a public text for programs, but not only for language models.
fn is_open_text(kind: MediaKind, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match kind {
        MediaKind::Page => false,
        MediaKind::Markdown => true,
        MediaKind::Other => {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            matches!(
                ending,
                "json" | "jsonld" | "txt" | "yaml" | "yml" | "xml" | "jsonl" | "rss" | "atom"
            ) || (ending == "js" && (name.contains("search") || name.contains("index")))
        }
    }
}

/// Returns the runs of restricted pages that a text contains, grouped by page.
fn held(secret: &HashMap<u64, Option<usize>>, text: &str) -> Vec<(usize, BTreeSet<u64>)> {
    let mut found: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    runs(text, |run| {
        if let Some(Some(owner)) = secret.get(&run) {
            found.entry(*owner).or_default().insert(run);
        }
    });
    found.into_iter().collect()
}

/// Returns whether a public page shows the wanted runs.
fn shows(view: &SiteView<'_>, page: u32, wanted: &BTreeSet<u64>) -> bool {
    let Ok(Some(bytes)) = view.files.read(page, LARGEST) else { return false };
    let Ok(url) = rutter_page::PageUrl::parse("http://localhost/") else { return false };
    let Some(now) = rutter_page::Timestamp::from_unix_seconds(0) else { return false };
    let seen = rutter_extract::html(&bytes, &rutter_extract::ExtractOptions::new(url, now));
    let mut left = wanted.clone();
    runs(&seen.visible_text, |run| {
        left.remove(&run);
    });
    left.is_empty()
}
