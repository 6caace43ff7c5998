//! Writes the pages that need a login to a file in the state folder, for a server that checks
//! tokens (D57).
//!
//! The file has one JSON line per page in the order of URLs, with the URL, the complete ARC entry
//! and the page object. It is never written to the output folder.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::push_string;

use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageEntry};
use crate::arc_entry::partner_entry;
use crate::error::{BuildError, IoErrorContext};
use crate::plan::BuildPlan;
use crate::staging;

/// Writer of the file with the pages for partners.
struct PartnerPages<'p> {
    plan: &'p BuildPlan,
    path: PathBuf,
    out: BufWriter<File>,
}

/// Creates the file with the pages for partners; `None` if the plan does not ask for it.
pub(crate) fn open<'p>(input: &LayerInput<'p>) -> Result<Option<OpenLayer<'p>>, BuildError> {
    let plan = input.plan;
    if !plan.arc.private {
        return Ok(None);
    }
    let path = input.draft.private();
    let out = staging::create(&path)?;
    restrict_permissions(&path)?;
    Ok(Some(Box::new(PartnerPages { plan, path, out })))
}

impl Layer for PartnerPages<'_> {
    fn entry(&mut self, entry: &mut Entry<'_>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let Entry::Page(PageEntry { row, record, .. }) = entry else { return Ok(()) };
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

    fn finish(self: Box<Self>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        staging::close(self.out, &self.path)
    }
}

/// Creates the folder of a file with a `.gitignore`, so that git does not commit the files in it.
pub(crate) fn prepare(file: &Path) -> Result<(), BuildError> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).at(folder)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").at(&ignore)?;
    }
    Ok(())
}

/// Sets the permissions of a file so that only its owner can read it.
#[cfg(unix)]
pub(crate) fn restrict_permissions(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).at(path)
}

/// On systems without Unix permissions, the permissions of the folder apply and nothing is changed.
#[cfg(not(unix))]
pub(crate) fn restrict_permissions(_: &Path) -> Result<(), BuildError> {
    Ok(())
}
