//! Lists which clauses of the specifications a test names, and writes `docs/conformance.md`.
//!
//! A clause counts as named if its id is in the comment of a Rust test (after `#[test]`, or just
//! above it) or in `clauses` of a conformance vector. Rejects clauses that neither a test names nor
//! a list explains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::{root, tidy};

const UNTESTED: &str = "conformance/untested.tsv";
const STRENGTHENED: &str = "conformance/strengthened.tsv";
const WEAK: &str = "conformance/weak.tsv";
const SPECS: [(&str, &str); 3] =
    [("SCP-", "SCP 0.1"), ("ARC-", "ARC Appendix E 2.1"), ("SPX-", "SPXI-Sitemap 1.0")];

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

/// Fails if a clause is neither named by a test nor listed with a reason.
pub(crate) fn check() -> anyhow::Result<()> {
    let (named, untested, clauses) = (named()?, untested()?, clauses()?);
    let mut faults = Vec::new();
    for clause in &clauses {
        let id = &clause.id;
        match (named.contains_key(id), untested.contains_key(id)) {
            (false, false) => faults.push(format!("no test names {id} {}", clause.text)),
            (true, true) => faults.push(format!("{UNTESTED} lists {id}, which a test names")),
            _ => {}
        }
    }
    let known: BTreeSet<&String> = clauses.iter().map(|clause| &clause.id).collect();
    let (strengthened, weak) = (table(STRENGTHENED)?, table(WEAK)?);
    let listed = untested.keys().chain(strengthened.keys()).chain(weak.keys());
    let named_or_listed = named.keys().chain(listed);
    faults.extend(
        named_or_listed.filter(|id| !known.contains(id)).map(|id| format!("there is no {id}")),
    );
    ensure!(faults.is_empty(), "clauses:\n  {}", faults.join("\n  "));
    println!("xtask clauses: every clause is named by a test or listed with a reason");
    Ok(())
}

/// Returns the text of `docs/conformance.md`.
pub(crate) fn document() -> anyhow::Result<String> {
    let (named, untested, clauses) = (named()?, untested()?, clauses()?);
    let mut out = String::from(
        "# Conformance\n\n\
         Written by `cargo xtask docs` from `conformance/requirements.tsv`, the tests, `conformance/untested.tsv`, `conformance/strengthened.tsv` and `conformance/weak.tsv`.\n\
         A clause counts as covered when a test or a conformance vector names it; `cargo xtask clauses` lists each with the number of files that do.\n\n\
         | specification | clauses | covered | of the MUSTs |\n|---|---|---|---|\n",
    );
    let share = |clauses: &[&Clause]| {
        let n = clauses.iter().filter(|clause| named.contains_key(&clause.id)).count();
        format!("{n} of {}", clauses.len())
    };
    for (prefix, name) in SPECS {
        let all: Vec<&Clause> =
            clauses.iter().filter(|clause| clause.id.starts_with(prefix)).collect();
        let musts: Vec<&Clause> =
            all.iter().copied().filter(|clause| clause.level == "MUST").collect();
        writeln!(out, "| {name} | {} | {} | {} |", all.len(), share(&all), share(&musts))?;
    }
    out.push_str("\n## Covered by no test\n\n| clause | requirement | side | why there is no test |\n|---|---|---|---|\n");
    for clause in &clauses {
        if let Some(reason) = untested.get(&clause.id) {
            let Clause { id, level, side, text, .. } = clause;
            writeln!(out, "| {id} | {level}: {text} | {side} | {reason} |")?;
        }
    }
    out.push_str(
        "\n## Tests that were strengthened\n\n\
         The first test of these clauses proved only a part of the clause, or one side of it.\n\n\
         | clause | what the test shows now |\n|---|---|\n",
    );
    let strengthened = table(STRENGTHENED)?;
    let in_order = |table: &BTreeMap<String, String>, out: &mut String| -> anyhow::Result<()> {
        for clause in &clauses {
            if let Some(text) = table.get(&clause.id) {
                writeln!(out, "| {} | {text} |", clause.id)?;
            }
        }
        Ok(())
    };
    in_order(&strengthened, &mut out)?;
    out.push_str(
        "\n## Tests that prove a part\n\n\
         The tests of these clauses cannot fail for every way to break the clause.\n\n\
         | clause | what is not proved |\n|---|---|\n",
    );
    in_order(&table(WEAK)?, &mut out)?;
    Ok(out)
}

/// Reads the clauses that no test can prove, with the reason.
fn untested() -> anyhow::Result<BTreeMap<String, String>> {
    table(UNTESTED)
}

/// Reads a file with a clause id and a text on each line, below a heading.
fn table(name: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(root().join(name)).with_context(|| name.to_owned())?;
    let rows = text.lines().skip(1).filter(|line| !line.is_empty());
    rows.map(|line| {
        let (id, text) = line.split_once('\t').with_context(|| format!("{name}: {line}"))?;
        Ok((id.to_owned(), text.to_owned()))
    })
    .collect()
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

/// Returns clause ids and the files that name them.
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
            let line = line.trim_start();
            if !["#[test]", "#[tokio::test"].iter().any(|start| line.starts_with(start)) {
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
        // The inputs are in the same folder, and many of them are invalid JSON.
        let is_input = path.parent().is_some_and(|folder| folder.ends_with("files"))
            && !path.to_string_lossy().ends_with(".expect.json");
        if path.components().any(|part| part.as_os_str() == "vectors") && !is_input {
            let case: serde_json::Value = serde_json::from_slice(&fs::read(&path)?)?;
            note(&case.get("clauses").map_or_else(String::new, ToString::to_string), &path);
        }
    }
    Ok(named)
}

/// Returns ids such as SCP-019 in a text.
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
