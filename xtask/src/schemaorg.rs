//! Writes the table of schema.org types, with names and parents, from schema.org's own list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, ensure};

use crate::root;

const TABLE: &str = "crates/rutter-spxi/src/schema_types.txt";

/// Reads `types-RELEASE.csv` and writes the table.
pub(crate) fn run(file: &str) -> anyhow::Result<()> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let release = name.strip_prefix("types-").and_then(|rest| rest.strip_suffix(".csv"));
    let release = release.context("the file is not named types-RELEASE.csv")?;
    let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        let cells = cells(line);
        let [id, label, parents, of_enumeration, ..] = cells.as_slice() else {
            anyhow::bail!("line {} has {} cells", n + 1, cells.len());
        };
        if n == 0 {
            let is_known = [id, label, parents, of_enumeration].map(String::as_str)
                == ["id", "label", "subTypeOf", "enumerationtype"];
            ensure!(is_known, "the columns are others: {line}");
            continue;
        }
        // A member of an enumeration is a value; a few are types besides, and
        // then they have parents.
        if of_enumeration.is_empty() || !parents.is_empty() {
            ensure!(id.ends_with(&format!("/{label}")), "line {}: {id} {label}", n + 1);
            let parents = parents.split(',').map(|it| it.trim().trim_end_matches('/'));
            let parents = parents.filter_map(|it| it.strip_prefix("https://schema.org/"));
            kinds.insert(label.clone(), parents.map(str::to_owned).collect());
        }
    }
    let mut things = BTreeSet::from(["Thing".to_owned()]);
    loop {
        let before = things.len();
        for (name, parents) in &kinds {
            if parents.iter().any(|parent| things.contains(parent)) {
                things.insert(name.clone());
            }
        }
        if things.len() == before {
            break;
        }
    }
    let mut out =
        format!("# Types of schema.org {release} and their parents; `!` marks data types.\n");
    for (name, parents) in &kinds {
        let mark = if things.contains(name) { "" } else { "!" };
        out.push_str(mark);
        out.push_str(name);
        for parent in parents {
            out.push(' ');
            out.push_str(parent);
        }
        out.push('\n');
    }
    fs::write(root().join(TABLE), out)?;
    println!("{TABLE}: {} types under Thing, {} others", things.len(), kinds.len() - things.len());
    Ok(())
}

/// The cells of a line; quotes hold commas together.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().map_or((), |cell| cell.push(c)),
        }
    }
    cells
}
