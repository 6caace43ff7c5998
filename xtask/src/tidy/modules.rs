//! Checks that the modules of a crate form no cycle: each module imports only modules that are
//! listed after it.
//!
//! A module is a file or folder directly below `src`; a name with a slash is one level deeper.

use std::fs;

use super::{files, relative};

/// The top-level modules of crates, each before the modules that it imports.
const MODULES: &[(&str, &[&str])] = &[
    (
        "rutter-sync",
        &[
            "audit",
            "explain",
            "syncer",
            "crawl",
            "arc",
            "collections",
            "run",
            "discovered_entries",
            "context",
            "report",
            "state",
            "options",
            "traffic",
            "error",
            "discover",
            "plan",
            "consent",
            "limits",
        ],
    ),
    (
        "rutter-build",
        &[
            "build",
            "stages/publish",
            "stages/project",
            "layers",
            "stages/collect",
            "stages/read",
            "stages/inventory",
            "stages",
            "state",
            "section",
            "staging",
            "name_table",
            "rules",
            "finding_counter",
            "summary",
            "entities",
            "arc_publication",
            "error",
            "arc_entry",
            "exclusion",
            "address",
            "plan",
        ],
    ),
    (
        "rutter-site",
        &[
            "templates",
            "served",
            "recovery",
            "publication",
            "sections",
            "lock",
            "journal",
            "head_links",
            "findings_log",
            "cached_pages",
            "page_cache",
            "manifest",
            "file_marks",
            "sitemaps",
            "paths",
            "marked_block",
            "exclusion",
            "ledger",
            "error",
            "arc",
        ],
    ),
    (
        "rutter-serve",
        &[
            "server",
            "site",
            "reload",
            "partner",
            "respond",
            "resolve",
            "admission",
            "settings",
            "monitor",
            "clock",
            "bounded_map",
        ],
    ),
    (
        "rutter-store",
        &["memory", "sqlite", "store", "records", "decide", "error", "model", "words"],
    ),
];

pub(super) fn check(faults: &mut Vec<String>) -> anyhow::Result<()> {
    for path in files("rs")? {
        let name = relative(&path);
        for (of, order) in MODULES {
            let Some(rest) = name.strip_prefix(&format!("crates/{of}/src/")) else { continue };
            let module = module_of(rest.trim_end_matches(".rs"), order);
            if module == "lib" {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            faults.extend(faults_of(&module, code, order).map(|fault| format!("{name}: {fault}")));
        }
    }
    Ok(())
}

/// Returns the module that a path belongs to: its first two parts if the table has such a name,
/// else its first part.
fn module_of(path: &str, order: &[&str]) -> String {
    let mut parts = path.split('/');
    let first = parts.next().unwrap_or_default();
    let deeper = format!("{first}/{}", parts.next().unwrap_or_default());
    if order.contains(&deeper.as_str()) { deeper } else { first.to_owned() }
}

/// Splits the content of `{…}` at the commas that are not in inner braces.
fn group_paths(group: &str) -> Vec<&str> {
    let (mut paths, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                paths.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    paths.push(group[start..].trim());
    paths
}

/// Returns what is wrong with the imports of one file of a module.
fn faults_of(module: &str, code: &str, order: &[&str]) -> impl Iterator<Item = String> {
    let place = |name: &str| order.iter().position(|it| *it == name);
    let own = place(module);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let imported = code.split("crate::").skip(1);
    let is_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ':';
    let paths = imported.flat_map(|rest| match rest.strip_prefix('{') {
        Some(group) => group_paths(group.split(';').next().unwrap_or_default()),
        None => vec![rest],
    });
    let paths = paths.filter_map(|rest| rest.split(|c: char| !is_path(c)).next());
    let mut others: Vec<String> = paths
        .map(|path| module_of(&path.replace("::", "/"), order))
        .filter(|other| *other != module && place(other).is_some())
        .collect();
    others.sort_unstable();
    others.dedup();
    let unlisted = own.is_none().then(|| format!("module {module} is not in the table of modules"));
    let wrong = others.into_iter().filter(move |other| place(other) < own);
    let wrong = wrong.map(|other| format!("module {module} must not import {other}"));
    unlisted.into_iter().chain(wrong.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_imports_against_the_order() {
        let order = ["crawl", "run", "state"];
        let faults = |module: &str, code: &str| faults_of(module, code, &order).count();
        assert_eq!(faults("crawl", "use crate::run::SyncRun;\nuse crate::state::UrlSet;"), 0);
        assert_eq!(faults("run", "// see crate::crawl\nuse crate::run::x;"), 0);
        assert_eq!(faults("state", "let x = crate::run::x(crate::crawl::y);"), 2);
        assert_eq!(faults("other", ""), 1);
        assert_eq!(faults("state", "use crate::{run::{x, y},\n crawl::z, state::UrlSet};"), 2);
        let order = ["layers", "stages/read", "stages"];
        let faults = |module: &str, code: &str| faults_of(module, code, &order).count();
        assert_eq!(faults("layers", "use crate::stages::read::SectionTally;"), 0);
        assert_eq!(faults("stages/read", "use crate::layers::LayerOutput;"), 1);
        assert_eq!(module_of("stages/read/window", &order), "stages/read");
        assert_eq!(module_of("stages/collect", &order), "stages");
    }
}
