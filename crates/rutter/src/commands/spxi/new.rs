//! `rutter spxi new`: creates a commented entity file. Never overwrites a file.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::slug;
use crate::config::entity::template::{EntityDraft, template};
use crate::config::{self, flags::Flags};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::plan::entity_files_folder;

/// Arguments of `rutter spxi new`.
#[derive(Debug, clap::Args)]
pub(crate) struct NewEntityArgs {
    /// Name of the entity
    #[arg(value_name = "NAME")]
    name: String,
    /// Path or URL of the page of the entity
    #[arg(long, value_name = "PATH")]
    page: Option<String>,
    /// Type of the entity, from schema.org
    ///
    /// Examples: Museum, Person, Product.
    #[arg(long, value_name = "TYPE")]
    r#type: Option<String>,
    /// Folder to write the file to
    ///
    /// Default: entities beside rutter.toml.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &NewEntityArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(!args.name.trim().is_empty(), "the name of the entity is empty");
    let draft = EntityDraft {
        page: args.page.clone(),
        kind: args.r#type.clone(),
        name: Some(args.name.clone()),
        ..EntityDraft::default()
    };
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => {
            let config = config::load(&Flags::default(), None, &config::environment)?;
            entity_files_folder(&config)
        }
    };
    let path = write(&folder, &args.name, &draft)?;
    writeln!(out.data(), "{}", path.display())?;
    out.say("fill in the empty values; `rutter build` reports missing values");
    Ok(ExitStatus::Clean)
}

/// Writes a draft to a new file.
pub(super) fn write(folder: &Path, name: &str, draft: &EntityDraft) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{}.toml", slug(name)));
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{} already exists; edit it, or delete it first", path.display());
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    file.write_all(template(draft).as_bytes()).with_context(|| path.display().to_string())?;
    Ok(path)
}
