//! Writes the accepted values of `basin-state` and `bdr` into the settings of an entity.
//!
//! Input: the settings file or entity file. The module changes or adds these two values and keeps
//! all other bytes of the file.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use rutter_spxi::BasinState;
use toml::de::{DeTable, DeValue};

/// Writes `basin-state` and `bdr` of an entity into the file that declares the entity. The new file
/// is written beside the old one and then renamed.
pub(crate) fn accept(
    file: &Path,
    (name, page): (&str, &str),
    state: BasinState,
    bdr: f64,
) -> anyhow::Result<()> {
    // If the path is a symbolic link, change its target and keep the link.
    let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let shown = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(shown)?;
    let edited = edited(&text, (name, page), state, bdr).with_context(|| {
        format!(
            "cannot change entity `{name}` in {}; set `basin-state` and `bdr` yourself",
            file.display()
        )
    })?;
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).with_context(shown)?;
    temporary.write_all(edited.as_bytes()).with_context(shown)?;
    temporary.as_file().sync_all().with_context(shown)?;
    let permissions = fs::metadata(file).with_context(shown)?.permissions();
    temporary.as_file().set_permissions(permissions).with_context(shown)?;
    temporary.persist(file).with_context(shown)?;
    Ok(())
}

/// Returns the text with both values, or `None` if the text does not declare the entity.
fn edited(text: &str, (name, page): (&str, &str), state: BasinState, bdr: f64) -> Option<String> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let table = DeTable::parse(text).ok()?;
    let entity = find(table.get_ref(), name, page)?;
    let values = [("basin-state", format!("\"{}\"", state.word())), ("bdr", format!("{bdr:?}"))];
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut missing = String::new();
    for (key, value) in values {
        match entity.iter().find(|(found, _)| found.get_ref().as_ref() == key) {
            Some((_, found)) => edits.push((found.span(), value)),
            None => missing.extend([key, " = ", &value, end]),
        }
    }
    if !missing.is_empty() {
        // Add missing values on new lines after the line of the name.
        let (_, named) = entity.iter().find(|(key, _)| key.get_ref().as_ref() == "name")?;
        let rest = text.get(named.span().end..)?;
        let line = rest.find('\n').map(|at| named.span().end + at + 1);
        match line {
            Some(at) => edits.push((at..at, missing)),
            None => edits.push((text.len()..text.len(), format!("\n{missing}"))),
        }
    }
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut out = text.to_owned();
    for (span, value) in edits {
        out.replace_range(span, &value);
    }
    // Verify that the edited text has the new state.
    let table = DeTable::parse(&out).ok()?;
    let entity = find(table.get_ref(), name, page)?;
    let is_there = entity.iter().any(|(key, value)| {
        key.get_ref().as_ref() == "basin-state" && value.get_ref().as_str() == Some(state.word())
    });
    is_there.then_some(out)
}

/// Finds the table of an entity: the file itself, or one of its `[[entities]]`.
fn find<'t, 'i>(table: &'t DeTable<'i>, name: &str, page: &str) -> Option<&'t DeTable<'i>> {
    let says = |table: &DeTable<'_>, key: &str, wanted: &str| {
        let found = table.iter().find(|(found, _)| found.get_ref().as_ref() == key);
        found.and_then(|(_, value)| value.get_ref().as_str()) == Some(wanted)
    };
    let is_it = |table: &DeTable<'_>| {
        says(table, "name", name) && (page.is_empty() || says(table, "page", page))
    };
    let listed = table.iter().find(|(key, _)| key.get_ref().as_ref() == "entities");
    let listed = listed.and_then(|(_, value)| match value.get_ref() {
        DeValue::Array(items) => Some(items),
        _ => None,
    });
    let mut tables = listed.into_iter().flatten().filter_map(|item| item.get_ref().as_table());
    tables.find(|table| is_it(table)).or_else(|| is_it(table).then_some(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: BasinState = BasinState::Contested;

    #[test]
    fn values_are_changed_or_added_and_the_rest_is_kept() {
        for (text, wanted) in [
            // Both values exist, with comments.
            (
                "name = \"Loft\" # its name\nbdr = 0.25 # old\nbasin-state = 'ghost'\n",
                "name = \"Loft\" # its name\nbdr = 0.5 # old\nbasin-state = \"contested\"\n",
            ),
            // Neither value exists, and the file does not end with a line break.
            ("name = \"Loft\"", "name = \"Loft\"\nbasin-state = \"contested\"\nbdr = 0.5\n"),
            // Only the named entity of a list is changed.
            (
                "[[entities]]\nname = \"Mole\"\n[[entities]]\nname = \"Loft\"\ntype = \"Museum\"\n",
                "[[entities]]\nname = \"Mole\"\n[[entities]]\nname = \"Loft\"\n\
                 basin-state = \"contested\"\nbdr = 0.5\ntype = \"Museum\"\n",
            ),
        ] {
            assert_eq!(edited(text, ("Loft", ""), STATE, 0.5).as_deref(), Some(wanted));
        }
        // A multi-line string contains a line like that of the name.
        let text =
            "description = \"\"\"\nname = \"no\"\n\"\"\"\r\nname = \"Loft\"\r\n[[collisions]]\r\n";
        let out = edited(text, ("Loft", ""), STATE, 1.0).expect("an entity");
        assert!(out.ends_with(
            "name = \"Loft\"\r\nbasin-state = \"contested\"\r\nbdr = 1.0\r\n[[collisions]]\r\n"
        ));
        assert_eq!(edited("name = \"Mole\"", ("Loft", ""), STATE, 0.5), None);
        assert_eq!(edited("name = \"Loft", ("Loft", ""), STATE, 0.5), None);
        // An inline table has no lines to add.
        assert_eq!(edited("entities = [{ name = \"Loft\" }]", ("Loft", ""), STATE, 0.5), None);
    }

    #[test]
    fn file_is_replaced_atomically() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("loft.toml");
        fs::write(&file, "name = \"Loft\"\n").expect("written");
        accept(&file, ("Loft", ""), STATE, 0.4).expect("accepted");
        let text = fs::read_to_string(&file).expect("read");
        assert_eq!(text, "name = \"Loft\"\nbasin-state = \"contested\"\nbdr = 0.4\n");
        assert!(accept(&file, ("Mole", ""), STATE, 0.4).is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }
}
