//! Which clauses of the specifications are proved by a test.
//!
//! A clause counts as named when its id stands in the comment of a Rust test
//! (after `#[test]`, or just above it) or in the `clauses` of a conformance
//! vector, which is a test in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::{root, tidy};

/// Areas of SCP that the container, the page model, the merge rules and the
/// building of sites prove.
const PROVED_AREAS: [&str; 17] = [
    "file",
    "metadata",
    "version",
    "checksum",
    "page",
    "block",
    "json-schema",
    "validation",
    "errors",
    "limits",
    "delta",
    "deletion",
    "collection",
    "sitemap",
    "sitemap-xsd",
    "snapshot",
    "privacy",
];
/// Sides whose clauses can be proved without a network.
const PROVED_SIDES: [&str; 3] = ["publisher", "parser", "validator"];

struct Clause {
    id: String,
    level: String,
    side: String,
    area: String,
    text: String,
}

/// Prints named and unnamed clauses, of one specification or of all.
pub(crate) fn run(spec: Option<&str>) -> anyhow::Result<()> {
    let named = named()?;
    let mut specs: BTreeMap<String, Vec<Clause>> = BTreeMap::new();
    for clause in clauses()? {
        let name = clause.id.split('-').next().unwrap_or_default().to_owned();
        specs.entry(name).or_default().push(clause);
    }
    for (name, clauses) in specs {
        if spec.is_some_and(|spec| !spec.eq_ignore_ascii_case(&name)) {
            continue;
        }
        let (yes, no): (Vec<_>, Vec<_>) =
            clauses.iter().partition(|clause| named.contains_key(&clause.id));
        println!("{name}: {} of {} clauses are named by a test", yes.len(), clauses.len());
        for clause in &yes {
            let places = named.get(&clause.id).map_or(0, BTreeSet::len);
            println!("  named    {} {places:>3} x  {}", clause.id, clause.text);
        }
        for clause in &no {
            let Clause { id, level, side, area, text } = clause;
            println!("  unnamed  {id} {level} {side}/{area}: {text}");
        }
    }
    Ok(())
}

/// Fails where a clause that should be proved by now is not.
pub(crate) fn check() -> anyhow::Result<()> {
    let named = named()?;
    let missing: Vec<String> = clauses()?
        .into_iter()
        .filter(|clause| {
            let area = clause.area.as_str();
            let is_due = clause.id.starts_with("ARC-")
                || clause.id.starts_with("SPX-")
                || (clause.id.starts_with("SCP-") && PROVED_AREAS.contains(&area));
            let is_due = is_due && PROVED_SIDES.contains(&clause.side.as_str());
            // Everything a server does is proved over sockets.
            (is_due || clause.side == "server") && !named.contains_key(&clause.id)
        })
        .map(|clause| format!("{} {}", clause.id, clause.text))
        .collect();
    ensure!(missing.is_empty(), "no test names these clauses:\n  {}", missing.join("\n  "));
    let known: BTreeSet<String> = clauses()?.into_iter().map(|clause| clause.id).collect();
    let unknown: Vec<_> = named.keys().filter(|id| !known.contains(*id)).collect();
    ensure!(unknown.is_empty(), "tests name clauses that do not exist: {unknown:?}");
    println!("xtask clauses: every clause that is due is named");
    Ok(())
}

fn clauses() -> anyhow::Result<Vec<Clause>> {
    let path = root().join("conformance/requirements.tsv");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(text
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            let mut next = || fields.next();
            Some(Clause {
                id: next()?,
                level: next()?,
                side: next()?,
                area: next()?,
                text: next()?,
            })
        })
        .collect())
}

/// Clause ids and the files that name them.
fn named() -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note = |text: &str, path: &Path| {
        for id in ids(text) {
            named.entry(id).or_default().insert(path.display().to_string());
        }
    };
    for path in tidy::files("rs")? {
        let text = fs::read_to_string(&path)?;
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if !line.trim_start().starts_with("#[test]") {
                continue;
            }
            note(line, &path);
            let is_comment = |line: &&&str| line.trim_start().starts_with("//");
            let above = lines.get(..at).unwrap_or_default().iter().rev().take_while(is_comment);
            let below = lines.get(at + 1..).unwrap_or_default().iter().take_while(is_comment);
            above.chain(below).for_each(|comment| note(comment, &path));
        }
    }
    for path in tidy::files("json")? {
        // Beside the expectations lie the inputs, and many of those are broken.
        let is_input = path.parent().is_some_and(|folder| folder.ends_with("files"))
            && !path.to_string_lossy().ends_with(".expect.json");
        if path.components().any(|part| part.as_os_str() == "vectors") && !is_input {
            let case: serde_json::Value = serde_json::from_slice(&fs::read(&path)?)?;
            note(&case.get("clauses").map_or_else(String::new, ToString::to_string), &path);
        }
    }
    Ok(named)
}

/// Ids such as SCP-019 in a text.
fn ids(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for spec in ["SCP-", "ARC-", "SPX-"] {
        for (at, _) in text.match_indices(spec) {
            let id = text.get(at..at + spec.len() + 3).unwrap_or_default();
            if id.bytes().skip(spec.len()).all(|b| b.is_ascii_digit()) && !id.is_empty() {
                ids.push(id.to_owned());
            }
        }
    }
    ids
}
