//! `rutter spxi new`: a commented file for an entity.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::slug;
use crate::config::entity::{self, Draft};
use crate::config::{self, flags::Flags};
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::folder_of_entities;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the entity
    #[arg(value_name = "NAME")]
    name: String,
    /// Path or address of its page
    #[arg(long, value_name = "PATH")]
    page: Option<String>,
    /// Its type, one of schema.org
    #[arg(long, value_name = "TYPE")]
    r#type: Option<String>,
    /// Folder the file is written to [default: entities beside rutter.toml]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    anyhow::ensure!(!args.name.trim().is_empty(), "the name is empty");
    let draft = Draft {
        page: args.page.clone(),
        kind: args.r#type.clone(),
        name: Some(args.name.clone()),
        ..Draft::default()
    };
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => {
            let config = config::load(&Flags::default(), None, &config::environment)?;
            folder_of_entities(&config)
        }
    };
    let path = write(&folder, &args.name, &draft)?;
    writeln!(out.data(), "{}", path.display())?;
    out.say(format_args!("fill in what is empty; `rutter build` says what is missing"));
    Ok(Exit::Clean)
}

/// Writes a draft where there is no file yet.
pub(super) fn write(folder: &Path, name: &str, draft: &Draft) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{}.toml", slug(name)));
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{}: is there already; edit it, or remove it first", path.display());
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    file.write_all(entity::template(draft).as_bytes())
        .with_context(|| path.display().to_string())?;
    Ok(path)
}
