//! Compresses text files that have no `.gz` file.
//!
//! Input: an open file, its identity and media type. Output: gzip bytes, which the response cache
//! keeps with the file's other representations. Not compressed are: media types that are not text,
//! pages and Markdown (their representation is chosen by `Accept`), files below 1 KiB or above 16
//! MiB, and files that gzip does not shrink.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use flate2::{Compression, GzBuilder};
use rutter_page::Digest;

use crate::resolve::facts::FileFacts;
use crate::resolve::root_dir::FileIdentity;

/// Minimum and maximum size of a file that is compressed, in bytes. Smaller files fit into one
/// packet; the result for larger files would take too much memory.
const SMALLEST: u64 = 1 << 10;
const LARGEST: u64 = 16 << 20;
/// Number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// Returns whether a file is compressed on request.
pub(crate) fn is_compressible(media_type: &str, identity: &FileIdentity) -> bool {
    let base = media_type.split(';').next().unwrap_or_default();
    let is_text = matches!(
        base,
        "application/xml"
            | "application/json"
            | "application/ld+json"
            | "application/yaml"
            | "application/manifest+json"
            | "application/rss+xml"
            | "application/atom+xml"
            | "image/svg+xml"
            | "text/plain"
            | "text/css"
            | "text/javascript"
            | "text/csv"
            | "text/vtt"
    );
    is_text && (SMALLEST..=LARGEST).contains(&identity.size)
}

/// Compresses a file; the same text always gives the same bytes. `None` if the result is not
/// smaller.
pub(crate) fn gzip(file: &File, bytes: Option<&Bytes>) -> io::Result<Option<Bytes>> {
    let mut out = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(6));
    let mut length = 0;
    match bytes {
        Some(bytes) => {
            out.write_all(bytes)?;
            length += bytes.len();
        }
        None => {
            let mut piece = vec![0; PIECE];
            loop {
                let n_read = file.read_at(&mut piece, length as u64)?;
                let Some(read) = piece.get(..n_read).filter(|read| !read.is_empty()) else { break };
                out.write_all(read)?;
                length += n_read;
            }
        }
    }
    let coded = out.finish()?;
    Ok((coded.len() < length).then(|| Bytes::from(coded)))
}

/// Returns the facts of the compressed file, from those of the text (D08).
pub(crate) fn facts(text: &FileFacts, coded: &Bytes) -> FileFacts {
    let stored = Some(Digest::of(coded));
    FileFacts { tag: text.stored, stored, text: text.stored, ..*text }
}
