//! Writes pages that need a login to a file of the state, for a server that checks tokens (D57).
//!
//! One JSON line per page in the order of URLs: the URL, the complete ARC entry and the page
//! object. The file is never in the output folder.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::push_string;

use crate::arc_entry::partner_entry;
use crate::error::{BuildError, IoErrorContext};
use crate::ledger::LedgerRow;
use crate::page_cache::PageRecord;
use crate::plan::BuildPlan;
use crate::publish;

/// Writes the file of partner pages.
#[derive(Debug)]
pub(crate) struct PartnerPages<'p> {
    plan: &'p BuildPlan,
    path: PathBuf,
    out: BufWriter<File>,
}

impl<'p> PartnerPages<'p> {
    /// Creates the file; `None` if the setting is off.
    pub(crate) fn create(plan: &'p BuildPlan, path: &Path) -> Result<Option<Self>, BuildError> {
        if !plan.arc.private {
            return Ok(None);
        }
        let out = publish::create(path)?;
        restrict_permissions(path)?;
        Ok(Some(Self { plan, path: path.to_owned(), out }))
    }

    pub(crate) fn page(&mut self, row: &LedgerRow, record: &PageRecord) -> Result<(), BuildError> {
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

/// Creates the folder with a `.gitignore`, so that its files are not committed.
pub(crate) fn prepare(file: &Path) -> Result<(), BuildError> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).at(folder)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").at(&ignore)?;
    }
    Ok(())
}

/// Makes a file readable for its owner only.
#[cfg(unix)]
pub(crate) fn restrict_permissions(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).at(path)
}

/// Without Unix permissions, the permissions of the folder apply.
#[cfg(not(unix))]
pub(crate) fn restrict_permissions(_: &Path) -> Result<(), BuildError> {
    Ok(())
}
