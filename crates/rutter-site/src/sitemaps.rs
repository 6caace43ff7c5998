//! Sitemap files: the mark that Rutter writes into its own, and the copies of the generator's sitemap in the state.
//!
//! Rutter's sitemap may replace the sitemap of the site's generator. Its files are then copied to `sitemaps/` in the
//! state folder; `list.json` there names them. A damaged list is rejected.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rutter_page::checksum::{ChecksumStatus, append_checksum, verify_checksum};
use serde::{Deserialize, Serialize};

use crate::error::{IoErrorContext, StateError};
use crate::marked_block::WHOLE_FILE;
use crate::paths::StatePaths;

/// Number of bytes at the start of a sitemap that are searched for announcements of collections.
const START: usize = 4096;

/// Maximum number of bytes of a sitemap, as sitemaps.org defines it.
const MAX_BYTES: u64 = 52_428_800;

/// Name of the file that lists the copies of sitemap files.
const LIST: &str = "list.json";

/// One file of the generator's sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitemapFile {
    /// Path of the sitemap file, relative to the site's folder.
    pub name: String,
    /// Whether the file is an entry file, with which readers of the sitemap start.
    pub is_entry: bool,
    /// Number of pages that the file itself lists.
    pub n_pages: u64,
}

/// The copies of the generator's sitemap in the state folder.
#[derive(Debug, Clone)]
pub struct SitemapCopies {
    folder: PathBuf,
}

/// The list of copies, `list.json`.
#[derive(Deserialize)]
struct CopyList {
    files: Vec<SitemapFile>,
}

impl SitemapCopies {
    /// Returns the copies in a state folder.
    pub fn new(paths: &StatePaths) -> Self {
        Self { folder: paths.folder.join("sitemaps") }
    }

    /// Returns the files that have a copy, each with the path of the copy; empty if the list of copies is missing.
    pub fn list(&self) -> Result<Vec<(SitemapFile, PathBuf)>, StateError> {
        let files = read_list(&self.folder.join(LIST))?.into_iter().enumerate();
        let with_copy = |(n, file): (usize, SitemapFile)| {
            let copy = self.folder.join(copy_name(n, &file.name));
            (file, copy)
        };
        Ok(files.map(with_copy).collect())
    }

    /// Deletes all copies.
    pub fn clear(&self) {
        drop(fs::remove_dir_all(&self.folder));
    }

    /// Stores copies of files of the site.
    pub fn store(&self, site: &Path, files: &[SitemapFile]) -> Result<(), StateError> {
        fs::create_dir_all(&self.folder).at(&self.folder)?;
        for (n, file) in files.iter().enumerate() {
            let copy = self.folder.join(copy_name(n, &file.name));
            fs::copy(site.join(&file.name), &copy).at(&copy)?;
        }
        let list = self.folder.join(LIST);
        let text = serde_json::json!({ "files": files }).to_string();
        fs::write(&list, append_checksum(&text, files.len() as u64)).at(&list)
    }
}

/// Returns the sitemap files that have a copy in the state; empty if the list of copies is missing.
fn read_list(path: &Path) -> Result<Vec<SitemapFile>, StateError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StateError::Io(path.to_owned(), error)),
    };
    let damaged = || StateError::Damaged(path.to_owned(), 1);
    // Earlier versions of Rutter wrote this list without a checksum.
    if text.starts_with(b"[") {
        return serde_json::from_slice(&text).map_err(|_| damaged());
    }
    match verify_checksum(&*text) {
        Ok(ChecksumStatus::Valid(_)) => {}
        _ => return Err(damaged()),
    }
    serde_json::from_slice::<CopyList>(&text).map(|list| list.files).map_err(|_| damaged())
}

/// Returns the name of the copy of a sitemap file; its extension shows whether it is compressed.
fn copy_name(n: usize, name: &str) -> String {
    if is_gzip(Path::new(name)) { format!("{n}.gz") } else { n.to_string() }
}

/// Returns whether a file is compressed with gzip, by its extension.
pub fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Returns whether Rutter wrote a sitemap, which the mark at its end shows. Announcements of
/// collections do not show it, because other programs write them, too.
pub fn is_marked_sitemap(path: &Path) -> bool {
    first_and_last_bytes(path)
        .is_some_and(|(_, end)| end.trim_ascii_end().ends_with(WHOLE_FILE.as_bytes()))
}

/// Returns whether Rutter may have written a sitemap: it has the mark, or it announces collections,
/// as sitemaps of earlier versions without a mark do.
pub fn may_be_own_sitemap(path: &Path) -> bool {
    let announces = |start: &[u8]| memchr::memmem::find(start, b"<scp:version>").is_some();
    is_marked_sitemap(path)
        || first_and_last_bytes(path).is_some_and(|(start, _)| announces(&start))
}

/// Returns the first and the last bytes of a sitemap after decompression.
fn first_and_last_bytes(path: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if is_gzip(path) {
        open_sitemap(path)?.take(MAX_BYTES).read_to_end(&mut end).ok()?;
        start.extend_from_slice(end.get(..START.min(end.len())).unwrap_or_default());
    } else {
        read_ends(path, &mut start, &mut end).ok()?;
    }
    Some((start, end))
}

/// Reads the first and the last bytes of a file.
fn read_ends(path: &Path, start: &mut Vec<u8>, end: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    (&mut file).take(START as u64).read_to_end(start)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(64)))?;
    file.take(64).read_to_end(end)?;
    Ok(())
}

/// Opens a sitemap and decompresses it if needed.
pub fn open_sitemap(path: &Path) -> Option<Box<dyn Read>> {
    let file = BufReader::new(File::open(path).ok()?);
    Some(if is_gzip(path) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}
