//! Writes an accepted state into the owner's own file: two values change or
//! come, every other byte stays.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use rutter_spxi::BasinState;
use toml::de::{DeTable, DeValue};

/// Writes state and share of an entity into the file where it is declared,
/// beside its place and then renamed.
pub(crate) fn accept(
    file: &Path,
    (name, page): (&str, &str),
    state: BasinState,
    bdr: f64,
) -> anyhow::Result<()> {
    // A link stays a link; what it leads to is changed.
    let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let shown = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(shown)?;
    let edited = edited(&text, (name, page), state, bdr).with_context(|| {
        format!(
            "{}: entity `{name}` cannot be changed there; write `basin-state` and `bdr` yourself",
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

/// The text with both values; `None` where no such entity is declared.
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
        // On a line of its own behind the name's.
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
    // What was written must say what was meant.
    let table = DeTable::parse(&out).ok()?;
    let entity = find(table.get_ref(), name, page)?;
    let is_there = entity.iter().any(|(key, value)| {
        key.get_ref().as_ref() == "basin-state" && value.get_ref().as_str() == Some(state.word())
    });
    is_there.then_some(out)
}

/// The table of an entity: the file itself, or one of its `[[entities]]`.
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
    fn ours_values_change_or_come_and_the_rest_stays() {
        for (text, wanted) in [
            // Both are there, with remarks.
            (
                "name = \"Loft\" # its name\nbdr = 0.25 # old\nbasin-state = 'ghost'\n",
                "name = \"Loft\" # its name\nbdr = 0.5 # old\nbasin-state = \"contested\"\n",
            ),
            // None is, and the file does not end with a line break.
            ("name = \"Loft\"", "name = \"Loft\"\nbasin-state = \"contested\"\nbdr = 0.5\n"),
            // In the list of rutter.toml the right one changes.
            (
                "[[entities]]\nname = \"Mole\"\n[[entities]]\nname = \"Loft\"\ntype = \"Museum\"\n",
                "[[entities]]\nname = \"Mole\"\n[[entities]]\nname = \"Loft\"\n\
                 basin-state = \"contested\"\nbdr = 0.5\ntype = \"Museum\"\n",
            ),
        ] {
            assert_eq!(edited(text, ("Loft", ""), STATE, 0.5).as_deref(), Some(wanted));
        }
        // Where the name stands behind another line of a long text.
        let text =
            "description = \"\"\"\nname = \"no\"\n\"\"\"\r\nname = \"Loft\"\r\n[[collisions]]\r\n";
        let out = edited(text, ("Loft", ""), STATE, 1.0).expect("an entity");
        assert!(out.ends_with(
            "name = \"Loft\"\r\nbasin-state = \"contested\"\r\nbdr = 1.0\r\n[[collisions]]\r\n"
        ));
        assert_eq!(edited("name = \"Mole\"", ("Loft", ""), STATE, 0.5), None);
        assert_eq!(edited("name = \"Loft", ("Loft", ""), STATE, 0.5), None);
        // An inline table has no line of its own.
        assert_eq!(edited("entities = [{ name = \"Loft\" }]", ("Loft", ""), STATE, 0.5), None);
    }

    #[test]
    fn ours_a_file_is_replaced_whole() {
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
