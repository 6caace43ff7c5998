//! Checks that docs/dependencies.md names every external dependency of the workspace, and no other.

use std::collections::BTreeSet;
use std::fs;

use crate::root;

const PAGE: &str = "docs/dependencies.md";

pub(super) fn check(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let page = fs::read_to_string(root().join(PAGE))?;
    faults.extend(faults_of(&manifest, &page));
    Ok(())
}

fn faults_of(manifest: &str, page: &str) -> Vec<String> {
    let (used, named) = (dependencies_of(manifest), named_in(page));
    let missing = used.difference(&named).map(|it| format!("{PAGE}: {it} is missing"));
    let extra = named.difference(&used).map(|it| format!("{PAGE}: {it} is not a dependency"));
    missing.chain(extra).collect()
}

/// Returns the names in `[workspace.dependencies]` that are not crates of this workspace.
fn dependencies_of(manifest: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()));
    names.filter(|name| !name.starts_with("rutter-")).collect()
}

/// Returns the names in the first column of the tables whose second column is `used for`.
fn named_in(page: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_list = false;
    for line in page.lines() {
        let Some(row) = line.strip_prefix('|') else {
            is_list = false;
            continue;
        };
        let row = row.trim_start();
        let (first, rest) = row.split_once(" | ").unwrap_or_default();
        is_list |= first == "crate" && rest.starts_with("used for");
        if is_list && !first.is_empty() && first != "crate" {
            names.extend(first.split(", ").map(|it| it.split(' ').next().unwrap_or(it).to_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::faults_of;

    #[test]
    fn reports_missing_and_superfluous_names() {
        let manifest = "[workspace.dependencies]\nrutter-page = { path = \"p\" }\na = \"1\"\nb = \"2\"\n[x]\nc = 1\n";
        let page = "| crate | used for |\n|---|---|\n| a (fast) | x |\n| d | y |\n\n| code | z |\n| e | f |\n";
        assert_eq!(
            faults_of(manifest, page),
            ["docs/dependencies.md: b is missing", "docs/dependencies.md: d is not a dependency"]
        );
    }
}
