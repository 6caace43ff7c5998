//! Checks names of types: none shadows the standard library, none occurs twice in a crate.
//!
//! Input: the `src` folders and `xtask/data/std-names.txt`. Output: one fault for each name.
//! Associated types of traits and impls do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context;

use super::relative;
use super::rust_source::{PieceKind, pieces};

const STD_NAMES: &str = "xtask/data/std-names.txt";

/// Adds a fault for each name that shadows std or occurs twice in a crate.
pub(super) fn check(faults: &mut Vec<String>) -> anyhow::Result<()> {
    let text = fs::read_to_string(crate::root().join(STD_NAMES)).context(STD_NAMES)?;
    let std_names = std_names(&text);
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for path in super::files("rs")? {
        let name = relative(&path);
        let Some((krate, _)) = name.split_once("/src/") else { continue };
        let text = fs::read_to_string(&path)?;
        let types = defined_types(&text);
        let places = types.iter().map(|(line, it)| (it.clone(), format!("{name}:{line}")));
        crates.entry(krate.to_owned()).or_default().extend(places);
    }
    for types in crates.values() {
        faults.extend(name_faults(types, &std_names));
    }
    Ok(())
}

fn std_names(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Faults of the types of one crate, each a name and its place.
fn name_faults(types: &[(String, String)], std_names: &BTreeSet<&str>) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, place) in types {
        places.entry(name).or_default().push(place);
    }
    let mut faults = Vec::new();
    for (name, places) in places {
        if std_names.contains(name) {
            faults.push(format!("{}: type `{name}` has a name of std", places.join(", ")));
        }
        if 1 < places.len() {
            faults.push(format!("{}: type `{name}` is defined twice", places.join(", ")));
        }
    }
    faults
}

/// Lines and names of the types that `source` defines.
fn defined_types(source: &str) -> Vec<(usize, String)> {
    let mut types = Vec::new();
    // What opened each block, and the first keyword of the item that is being read.
    let (mut blocks, mut item): (Vec<Option<&str>>, Option<&str>) = (Vec::new(), None);
    let mut keyword = None;
    for piece in pieces(source) {
        if piece.kind != PieceKind::Code {
            continue;
        }
        for (offset, token) in tokens(piece.text) {
            let line =
                piece.line + piece.text.get(..offset).unwrap_or_default().matches('\n').count();
            if let Some(keyword) = keyword.take() {
                let is_name = token.starts_with(|c: char| c.is_ascii_uppercase());
                let is_associated =
                    keyword == "type" && matches!(blocks.last(), Some(Some("impl" | "trait")));
                if is_name && !is_associated {
                    types.push((line, token.to_owned()));
                }
            }
            match token {
                "{" => blocks.push(item.take()),
                "}" => {
                    blocks.pop();
                    item = None;
                }
                ";" => item = None,
                "struct" | "enum" | "trait" | "union" | "type" => {
                    keyword = Some(token);
                    item = item.or(Some(token));
                }
                "impl" | "fn" | "mod" => item = item.or(Some(token)),
                _ => {}
            }
        }
    }
    types
}

/// Words and brackets of code, with their offsets.
fn tokens(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = code.get(at..).filter(|rest| !rest.is_empty())?;
            let start = at;
            let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let len = if word == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { word };
            at += len;
            let token = rest.get(..len).unwrap_or_default();
            if !token.trim().is_empty() {
                return Some((start, token));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{defined_types, name_faults, std_names};

    fn names(source: &str) -> Vec<String> {
        defined_types(source).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn finds_types_and_skips_associated_ones() {
        let source = "pub struct Page; impl Iterator for Page { type Item = u8; }\n\
                      trait Layer { type Error; }\n// struct Remark;\n\
                      mod tests { type Row = u8; fn f() -> impl Fn() { enum Local { A } } }";
        assert_eq!(names(source), ["Page", "Layer", "Row", "Local"]);
    }

    #[test]
    fn skips_names_of_macros_and_generic_bounds() {
        assert_eq!(
            names("macro_rules! m { ($n:ident) => { struct $n; } } fn f<T: impl_>() {}"),
            [""; 0]
        );
    }

    #[test]
    fn reports_a_planted_shadow_of_std() {
        let types = [("Cursor".to_owned(), "a.rs:1".to_owned())];
        let faults = name_faults(&types, &std_names("# io\nCursor Lines\n"));
        assert_eq!(faults, ["a.rs:1: type `Cursor` has a name of std"]);
    }

    #[test]
    fn reports_a_planted_second_type_of_one_name() {
        let types = ["a.rs:1", "b.rs:2"].map(|place| ("Row".to_owned(), place.to_owned()));
        let faults = name_faults(&types, &std_names(""));
        assert_eq!(faults, ["a.rs:1, b.rs:2: type `Row` is defined twice"]);
    }
}
