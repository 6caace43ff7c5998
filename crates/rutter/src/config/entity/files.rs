//! Reads entity files, one entity each.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use toml::de::{DeTable, DeValue};

use crate::config::entity::DeclaredEntity;
use crate::config::entity::form::ENTITY;
use crate::config::file::line_and_column;
use crate::config::table::row_from_toml;
use crate::config::{SettingSource, SettingsError};

/// Reads the entity files of a folder, in the order of their names.
pub(crate) fn from_folder(folder: &Path) -> anyhow::Result<EntityFolder> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(EntityFolder::default());
        }
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        // Hidden files belong to editors and the operating system.
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if path.extension() == Some(OsStr::new("toml")) && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    let mut found = EntityFolder::default();
    for file in &files {
        match from_file(file)? {
            EntityFile::Entity(stated) => found.entities.push(*stated),
            EntityFile::Draft(empty) => found.drafts.push((file.clone(), empty)),
        }
    }
    Ok(found)
}

/// The content of a folder of entity files.
#[derive(Debug, Default)]
pub(crate) struct EntityFolder {
    pub(crate) entities: Vec<DeclaredEntity>,
    /// Incomplete entity files, each with the names of its empty required keys.
    pub(crate) drafts: Vec<(PathBuf, Vec<&'static str>)>,
}

/// The content of an entity file.
#[derive(Debug)]
pub(crate) enum EntityFile {
    Entity(Box<DeclaredEntity>),
    /// A template, with the names of its empty required keys.
    Draft(Vec<&'static str>),
}

/// Returns the required keys that are present but empty, as in a new template.
fn empty_members(table: &DeTable<'_>) -> Vec<&'static str> {
    let is_empty = |name: &str| {
        let found = table.iter().find(|(key, _)| key.get_ref().as_ref() == name);
        found.is_some_and(|(_, value)| match value.get_ref() {
            DeValue::String(text) => text.is_empty(),
            DeValue::Array(items) => items.is_empty(),
            _ => false,
        })
    };
    let needed = ENTITY.members.iter().filter(|member| member.is_needed);
    needed.map(|member| member.name).filter(|name| is_empty(name)).collect()
}

/// Reads an entity file.
pub(crate) fn from_file(file: &Path) -> anyhow::Result<EntityFile> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    let place = |at: usize| SettingSource::File(format!("{name}:{}", line_and_column(&text, at)));
    let table = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        SettingsError::new(&place(at), error.message().trim_end())
    })?;
    let empty = empty_members(table.get_ref());
    if !empty.is_empty() {
        return Ok(EntityFile::Draft(empty));
    }
    let stated: DeclaredEntity = row_from_toml(table.get_ref()).map_err(|wrong| {
        let at = wrong.span.map_or(0, |span| span.start);
        SettingsError::new(&place(at), wrong.what).with_hint(wrong.hint)
    })?;
    let stated = DeclaredEntity {
        by: SettingSource::File(name.clone()),
        file: Some(file.to_owned()),
        ..stated
    };
    Ok(EntityFile::Entity(Box::new(stated)))
}
