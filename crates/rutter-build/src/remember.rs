//! What the state remembers of pages, for whoever judges what was published:
//! pages whose bytes are the same need not be read again.

use std::path::Path;

use rutter_page::{Digest, LineDigest};

use crate::error::BuildError;
use crate::manifest::Manifest;
use crate::pack::Records;
use crate::state::{Paths, whole};

/// A page as the last build read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Its address.
    pub url: String,
    /// Digest of its bytes, without what was put into its head.
    pub source: Digest,
    /// Digest of its line; `None` where it may not leave.
    pub line: Option<LineDigest>,
    /// Digest of its Markdown twin; `None` likewise.
    pub twin: Option<LineDigest>,
    /// Its title.
    pub title: String,
    /// Why it may not leave, in words.
    pub barred: Option<String>,
    /// What was found wrong with it: code and detail.
    pub findings: Vec<(String, String)>,
}

/// Whether the state tells of files in this folder.
pub fn is_built_into(state: &Path, folder: &Path) -> bool {
    let list = Manifest::load(&Paths::new(state).files());
    list.is_some_and(|(known, _)| known == whole(folder))
}

/// Everything that the state of a build remembers, in the order of addresses;
/// nothing where there is no state.
pub fn remembered(state: &Path) -> Result<Vec<Remembered>, BuildError> {
    let mut all = Vec::new();
    let paths = Paths::new(state);
    Records::open(&paths.pack())?.every(&mut |url, record| {
        let Some(source) = Digest::parse(&record.meta.source) else { return };
        let digest = |bytes: &[u8]| (!bytes.is_empty()).then(|| LineDigest::of(bytes));
        all.push(Remembered {
            url: url.to_owned(),
            source,
            line: digest(&record.line),
            twin: digest(&record.markdown),
            title: record.meta.title.clone(),
            barred: record.meta.barred.clone(),
            findings: record.meta.findings.clone(),
        });
    })?;
    Ok(all)
}
