//! The templates of a site (`templates.json`): text that its pages have in common.
//!
//! A missing file counts as empty. A damaged file is rejected, because a build would read pages differently without it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use rutter_extract::{TemplateSet, TemplateVersionId};
use rutter_page::checksum::{ChecksumStatus, append_checksum, verify_checksum};

use crate::error::{IoErrorContext, StateError};
use crate::ledger::LedgerReader;
use crate::paths::StatePaths;

/// Loads the templates that are stored in the state.
pub fn load_templates(paths: &StatePaths) -> Result<TemplateSet, StateError> {
    let path = paths.templates();
    match fs::read(&path) {
        Ok(bytes)
            if verify_checksum(&*bytes).is_ok_and(|found| found == ChecksumStatus::Mismatch) =>
        {
            Err(StateError::Damaged(path, 1))
        }
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| StateError::Damaged(path, error.line() as u64)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(TemplateSet::default()),
        Err(error) => Err(StateError::Io(path, error)),
    }
}

/// Templates that the last build learned.
#[derive(Debug, Default)]
pub struct LearnedTemplates {
    /// Templates of the site.
    pub templates: TemplateSet,
    /// Template version with which each page was read, by URL.
    pub versions: HashMap<String, Option<TemplateVersionId>>,
}

/// Loads the templates that the last build learned; empty if there is no state.
pub fn load_learned_templates(state: &Path) -> Result<LearnedTemplates, StateError> {
    let paths = StatePaths::new(state);
    let templates = load_templates(&paths)?;
    let mut versions = HashMap::new();
    let mut rows = LedgerReader::open(&paths.ledger())?;
    while let Some(row) = rows.next_row()? {
        versions.insert(row.url, row.template);
    }
    Ok(LearnedTemplates { templates, versions })
}

/// Writes the templates to a file with a checksum.
pub fn save_templates(path: &Path, templates: &TemplateSet) -> Result<(), StateError> {
    let text = serde_json::to_string(templates).expect("templates serialize to JSON");
    fs::write(path, append_checksum(&text, 1)).at(path)
}
