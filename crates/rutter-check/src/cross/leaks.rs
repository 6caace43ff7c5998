//! Text of closed pages in files that are open to everybody: llms.txt, twins
//! of other pages, search indexes, the semantic index, the ARC sitemap. A page
//! is closed by what it says itself or by its ARC entry; one that is only not
//! for AI may stand in a search index, which is for people.
//!
//! Runs of words of the closed pages are looked for. A run that two closed
//! pages share, or that an open page shows, gives nothing away.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rutter_finding::{Finding, Place, quoted};

use crate::Closed;
use crate::rules;
use crate::site::{FileKind, Row, View, runs};

/// Largest file that is looked through, in bytes.
const LARGEST: u64 = 64 << 20;
/// Runs that must be found before it is no accident.
const FEWEST: usize = 2;
/// Most open pages that are asked whether they show the text themselves.
const MOST_ASKED: usize = 200;

pub(super) fn compare(view: &mut View<'_>) {
    // Which run belongs to which closed page; `None` for what many have.
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
    let mut said: Vec<(u32, Finding)> = Vec::new();
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
            let is_allowed =
                secrecy(row) == Some(Secrecy::Models) && !is_for_models(file.kind, &file.path);
            if found.len() < FEWEST || row.twin == Some(at) || is_allowed {
                continue;
            }
            // The twin of an open page says what that page says.
            if let Some(open) = twins.get(&at).copied()
                && n_asked < MOST_ASKED
            {
                n_asked += 1;
                if shows(view, open, &found) {
                    continue;
                }
            }
            said.push((at, Finding::new(&rules::CLOSED_TEXT, Place::WHOLE, quoted(&row.url))));
        }
    }
    for (file, finding) in said {
        view.book.say(file, finding);
    }
}

/// From whom the text of a page is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    Models,
    Everybody,
}

/// What a page or its ARC entry says. What robots.txt forbids is only not to be
/// fetched there.
fn secrecy(row: &Row) -> Option<Secrecy> {
    let own = row.page.as_ref().and_then(|page| page.closed);
    let arc = row.arc.as_ref().and_then(|arc| arc.closed);
    match own.max(arc)? {
        Closed::NoAi => Some(Secrecy::Models),
        Closed::NoIndex | Closed::Login => Some(Secrecy::Everybody),
        Closed::Robots | Closed::Away => None,
    }
}

/// Whether a file is there for models alone.
fn is_for_models(kind: FileKind, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let begins = ["llms", "arc-sitemap", "spxi-"].iter().any(|start| name.starts_with(start));
    kind == FileKind::Markdown || begins || path.contains("arc-sitemap-deltas/")
}

/// Whether a file is text that machines read beside pages and collections.
fn is_open_text(kind: FileKind, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match kind {
        FileKind::Page => false,
        FileKind::Markdown => true,
        FileKind::Other => {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            matches!(
                ending,
                "json" | "jsonld" | "txt" | "yaml" | "yml" | "xml" | "jsonl" | "rss" | "atom"
            ) || (ending == "js" && (name.contains("search") || name.contains("index")))
        }
    }
}

/// The runs of closed pages that a text holds, by page.
fn held(secret: &HashMap<u64, Option<usize>>, text: &str) -> Vec<(usize, BTreeSet<u64>)> {
    let mut found: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    runs(text, |run| {
        if let Some(Some(owner)) = secret.get(&run) {
            found.entry(*owner).or_default().insert(run);
        }
    });
    found.into_iter().collect()
}

/// Whether an open page shows these runs itself.
fn shows(view: &View<'_>, page: u32, wanted: &BTreeSet<u64>) -> bool {
    let Ok(Some(bytes)) = view.files.read(page, LARGEST) else { return false };
    let Ok(url) = rutter_page::PageUrl::parse("http://localhost/") else { return false };
    let Some(now) = rutter_page::Timestamp::from_unix_seconds(0) else { return false };
    let seen = rutter_extract::html(&bytes, &rutter_extract::Options::new(url, now));
    let mut left = wanted.clone();
    runs(&seen.visible_text, |run| {
        left.remove(&run);
    });
    left.is_empty()
}
