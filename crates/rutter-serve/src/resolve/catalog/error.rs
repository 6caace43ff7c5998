//! Why a catalog could not be loaded.

use std::io;
use std::path::PathBuf;

/// Why `served.json` or the ARC sitemap could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The file could not be read.
    #[error("cannot read served.json")]
    Io(#[from] io::Error),
    /// The file does not exist. Without it, the restrictions are unknown.
    #[error("{0} does not exist; a build writes it")]
    Missing(PathBuf),
    /// The file was not written by a build of this version.
    #[error("served.json was not written by this version of Rutter; build the site again")]
    Form(#[from] serde_json::Error),
    /// The checksum of the file does not match.
    #[error("served.json is damaged; build the site again")]
    Damaged,
    /// The ARC sitemap of a directory without `served.json` could not be read.
    #[error("cannot read {path}, so the pages that require a login are unknown: {why}", path = .0.display(), why = .1)]
    Announced(PathBuf, String),
    /// Tokens are configured, but no file says which pages are restricted.
    #[error("tokens are configured, but no served.json and no ARC sitemap lists restricted pages")]
    Unknown,
    /// The ARC sitemap that defined the restrictions was deleted.
    #[error("the ARC sitemap was deleted; its restrictions stay in force")]
    Gone,
    /// The file describes another directory.
    #[error("{path} describes {about}, not this directory", path = .0.display(), about = .1.display())]
    Elsewhere(PathBuf, PathBuf),
}
