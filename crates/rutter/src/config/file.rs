//! Finds and reads `rutter.toml`.
//!
//! Rejects unknown keys and values of the wrong type, with file, line and column.

use std::path::{Path, PathBuf};

use anyhow::Context;
use toml::de::{DeTable, DeValue};

use crate::config::key::{keys, keys_of, tables};
use crate::config::settings::{SettingSource, SettingsError, SiteSettings};
use crate::config::similarity::nearest;

/// Name of the settings file.
pub(crate) const FILE: &str = "rutter.toml";

/// Reads the text of a settings file into the settings; `name` is the name of the file in messages.
pub(crate) fn read_file(
    settings: &mut SiteSettings,
    name: &str,
    text: &str,
) -> Result<(), SettingsError> {
    let place = |at: usize| SettingSource::File(format!("{name}:{}", line_and_column(text, at)));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        SettingsError::new(&place(at), error.message().trim_end())
    })?;
    read_table("", table.get_ref(), &place, settings)
}

fn read_table(
    table: &str,
    entries: &DeTable<'_>,
    place: &dyn Fn(usize) -> SettingSource,
    settings: &mut SiteSettings,
) -> Result<(), SettingsError> {
    // Read the entries in the order of the file, so that the first error is reported.
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        let by = place(name.span().start);
        let name = name.get_ref().as_ref();
        if let Some(key) = keys_of(table).find(|key| key.name == name) {
            key.slot(settings).read_toml(value, by).map_err(|wrong| {
                let at = wrong.span.unwrap_or(value.span()).start;
                let fault =
                    SettingsError::new(&place(at), format_args!("{}: {}", key.name, wrong.what));
                fault.with_hint(wrong.hint)
            })?;
        } else if table.is_empty() && tables().any(|known| known == name) {
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(SettingsError::new(
                    &by,
                    format_args!("{name}: expected a table, [{name}]"),
                ));
            };
            read_table(name, inner, place, settings)?;
        } else {
            let shown = rutter_finding::visible(name);
            let whose = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
            let fault = SettingsError::new(&by, format_args!("unknown key `{shown}`{whose}"));
            return Err(fault.with_hint(suggestion(table, name)));
        }
    }
    Ok(())
}

/// Returns a hint for an unknown key: the most similar key of the same table, else of another
/// table.
fn suggestion(table: &str, name: &str) -> Option<String> {
    let same = keys_of(table).map(|key| key.name);
    let tables = tables().filter(|_| table.is_empty());
    if let Some(near) = nearest(name, same.chain(tables)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let near = nearest(name, keys().map(|key| key.name))?;
    let key = keys().find(|key| key.name == near)?;
    Some(match key.table {
        "" => format!("`{near}` is a key at the top of the file, before the first table"),
        table => format!("`{near}` is a key of [{table}]"),
    })
}

/// Returns the line and the column of a byte offset, counted from 1.
pub(super) fn line_and_column(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

/// Finds the settings file: in the parent folders of the site, then in the current folder and its
/// parents.
pub(crate) fn find(site: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let beside = site.map(|site| real(&here.join(site)));
    let beside = beside.as_deref().and_then(|site| {
        // If the current folder is inside the site, the search starts at the current folder.
        if here.starts_with(site) { None } else { site.parent() }
    });
    let found = beside.into_iter().chain([here.as_path()]).find_map(upwards);
    Ok(found.map(|file| file.strip_prefix(&here).map(Path::to_owned).unwrap_or(file)))
}

/// Searches for the settings file in a folder and its parents, up to the root of the repository.
pub(super) fn upwards(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Resolves symbolic links and `..` in the part of a path that exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match found {
        Some((part, real)) => match path.strip_prefix(part) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path,
    }
}
