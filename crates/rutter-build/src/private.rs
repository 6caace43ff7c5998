//! What partners may read of pages that need a login: a file of the state,
//! which a server hands out against tokens (D57).
//!
//! One line for each page, in the order of addresses: its address, its entry
//! in full, and its page object.
//!
//! Refuses: to lie in the folder that is published.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::push_string;

use crate::arc::partner_entry;
use crate::error::{At, BuildError};
use crate::ledger::Row;
use crate::pack::Record;
use crate::plan::Plan;
use crate::publish;

/// Writes the file.
#[derive(Debug)]
pub(crate) struct Private<'p> {
    plan: &'p Plan,
    path: PathBuf,
    out: BufWriter<File>,
}

impl<'p> Private<'p> {
    /// `None` where the owner did not ask for it.
    pub(crate) fn create(plan: &'p Plan, path: &Path) -> Result<Option<Self>, BuildError> {
        if !plan.arc.private {
            return Ok(None);
        }
        let out = publish::create(path)?;
        close_to_others(path)?;
        Ok(Some(Self { plan, path: path.to_owned(), out }))
    }

    pub(crate) fn page(&mut self, row: &Row, record: &Record) -> Result<(), BuildError> {
        let Some(entry) = partner_entry(self.plan, row, record) else { return Ok(()) };
        let Some(withheld) = &record.meta.withheld else { return Ok(()) };
        let mut line = Vec::from("{\"url\":");
        push_string(&row.url, &mut line);
        line.extend_from_slice(b",\"entry\":");
        line.extend_from_slice(entry.to_json().as_bytes());
        line.extend_from_slice(b",\"page\":");
        line.extend_from_slice(withheld.line.trim_end().as_bytes());
        line.extend_from_slice(b"}\n");
        self.out.write_all(&line).at(&self.path)
    }

    pub(crate) fn finish(self) -> Result<(), BuildError> {
        publish::close(self.out, &self.path)
    }
}

/// Makes the folder, which nobody commits by accident.
pub(crate) fn prepare(file: &Path) -> Result<(), BuildError> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).at(folder)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").at(&ignore)?;
    }
    Ok(())
}

/// Lets only the owner of the file read it.
#[cfg(unix)]
pub(crate) fn close_to_others(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).at(path)
}

/// Elsewhere the folder's own rights have to do.
#[cfg(not(unix))]
pub(crate) fn close_to_others(_: &Path) -> Result<(), BuildError> {
    Ok(())
}
