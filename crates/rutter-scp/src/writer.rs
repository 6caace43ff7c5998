//! Writes an SCP collection; the same pages give the same bytes.
//!
//! Page lines go to a spool file while they arrive ([`CollectionWriter`]). After the last page
//! ([`SpooledPages`]), line 1 is created, the text is hashed, and each target is compressed in one
//! pass with its size known in advance. A target file appears complete or not at all.
//!
//! Rejects pages over the limits of the format, and files that readers would take for a
//! decompression bomb.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::thread;

use rutter_finding::{Place, Refusal, Rule, quoted};
use rutter_page::{Digest, Page};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::codec::{self, Coding};
use crate::error::WriteError;
use crate::header::{CollectionHeader, StateChain, is_name};
use crate::limits::Limits;
use crate::rules;
use crate::spool::{SpoolFile, SpoolWriter};

/// Maximum length of line 1 in bytes (D95).
const MAX_LINE_1_BYTES: usize = 1_000_000;

/// A collection file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputTarget {
    /// Path of the file.
    pub path: PathBuf,
    /// Compression of the file.
    pub coding: Coding,
    /// Compression level; larger values are reduced to the maximum.
    pub level: u8,
}

impl OutputTarget {
    /// Returns the target that a file name implies, at the default level.
    pub fn from_file_name(path: &Path) -> Option<Self> {
        let coding = Coding::from_file_name(path)?;
        Some(Self { path: path.to_owned(), coding, level: coding.default_level() })
    }
}

/// A collection file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCollection {
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub coded: u64,
    /// Size of the decoded text in bytes.
    pub decoded: u64,
    /// Number of pages.
    pub pages: u64,
    /// Metadata in line 1, including the checksum.
    pub header: CollectionHeader,
}

/// Whether the state of the section is computed while pages arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateTracking {
    /// The state is computed, which costs one more hash per line. A snapshot with a chain needs its
    /// state (D95).
    #[default]
    State,
    /// The state is not computed; lines are only copied.
    Nothing,
}

/// Writes the pages of a collection one by one.
#[derive(Debug)]
pub struct CollectionWriter {
    spooler: SpoolWriter,
    /// Metadata of line 1, if known in advance.
    header: Option<CollectionHeader>,
    limits: Limits,
    pages: u64,
}

impl CollectionWriter {
    /// Creates a writer with its spool file in `folder`, preferably the folder of the targets.
    pub fn new(folder: &Path, track: StateTracking, limits: Limits) -> Result<Self, WriteError> {
        Ok(Self {
            spooler: SpoolWriter::start(folder, track, None)?,
            header: None,
            limits,
            pages: 0,
        })
    }

    /// Creates a writer for a caller that knows line 1 in advance.
    ///
    /// The text is hashed as it arrives, so it need not be read again at the end.
    pub fn with_header(
        folder: &Path,
        track: StateTracking,
        header: &CollectionHeader,
        limits: Limits,
    ) -> Result<Self, WriteError> {
        let header = CollectionHeader { checksum: None, ..header.clone() };
        let spooler = SpoolWriter::start(folder, track, Some(&header.to_line()))?;
        Ok(Self { spooler, header: Some(header), limits, pages: 0 })
    }

    /// Writes a page as its canonical line.
    pub fn page(&mut self, page: &Page<'_>) -> Result<(), WriteError> {
        let refuse = |rule: &'static Rule, detail: String| {
            Refusal::new(rule, Place::WHOLE, format!("{} {detail}", quoted(page.url.as_str())))
        };
        if page.content.is_empty() {
            return Err(refuse(&rutter_page::rules::EMPTY_CONTENT, String::new()).into());
        }
        let (n_blocks, most) = (page.content.len(), self.limits.parts.blocks);
        if most < n_blocks {
            let detail = format!("has {n_blocks} blocks, the limit is {most}");
            return Err(refuse(&rutter_page::rules::TOO_MANY_BLOCKS, detail).into());
        }
        self.line(page.url.key(), page.to_line().as_bytes())
    }

    /// Writes the line of a checked page unchanged.
    pub fn line(&mut self, key: &str, line: &[u8]) -> Result<(), WriteError> {
        if self.limits.page < line.len() {
            let detail = format!("{} has {} bytes", quoted(key), line.len());
            return Err(Refusal::new(&rules::PAGE_TOO_LARGE, Place::WHOLE, detail).into());
        }
        self.pages += 1;
        self.spooler.push(key, line)
    }

    /// Ends the list of pages. Afterwards the number and the state of the pages are known.
    pub fn close(self) -> Result<SpooledPages, WriteError> {
        let Self { spooler, header, limits, pages } = self;
        Ok(SpooledPages { spool: spooler.finish()?, known: header, pages, limits })
    }
}

/// All pages of a collection, before line 1 is written.
#[derive(Debug)]
pub struct SpooledPages {
    spool: SpoolFile,
    known: Option<CollectionHeader>,
    pages: u64,
    limits: Limits,
}

impl SpooledPages {
    /// Returns the number of pages.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the chain of a snapshot with these pages; `None` if the state was not tracked.
    pub fn snapshot_chain(&self) -> Option<StateChain> {
        let pages = self.pages;
        self.spool.state.map(|state| StateChain { from: None, state, pages, removed: Vec::new() })
    }

    /// Returns the size in bytes of the text with `header` as line 1, including the checksum.
    pub fn decoded(&self, header: &CollectionHeader) -> u64 {
        let header = CollectionHeader { checksum: Some(Digest([0; 32])), ..header.clone() };
        header.to_line().len() as u64 + self.spool.bytes
    }

    /// Creates line 1, hashes and compresses the text, and moves every target file to its path.
    ///
    /// The checksum in `header` is ignored and computed here.
    pub fn finish(
        self,
        header: CollectionHeader,
        targets: &[OutputTarget],
    ) -> Result<Vec<WrittenCollection>, WriteError> {
        let Self { spool, known, pages, limits } = self;
        for name in [&header.id, &header.section] {
            if !is_name(name) {
                return Err(WriteError::Name(name.clone()));
            }
        }

        let header = CollectionHeader { checksum: None, ..header };
        let digest = match spool.digest.filter(|_| known.as_ref() == Some(&header)) {
            Some(digest) => digest,
            None => hash(&header.to_line(), spool.reader())
                .map_err(|error| WriteError::Io(spool.folder.clone(), error))?,
        };
        let header = CollectionHeader { checksum: Some(digest), ..header };
        let line_1 = header.to_line();
        if MAX_LINE_1_BYTES < line_1.len() {
            let removed = header.chain.as_ref().map_or(0, |chain| chain.removed.len());
            return Err(WriteError::TooManyRemoved(removed));
        }
        let decoded = line_1.len() as u64 + spool.bytes;
        if limits.decoded < decoded {
            return Err(WriteError::TooLarge(decoded, limits.decoded));
        }
        let make = |target: &OutputTarget| {
            let mut text = Cursor::new(line_1.as_bytes()).chain(spool.reader());
            encode(target, decoded, &mut text, &limits)
        };
        let staged = in_parallel(targets, make)?;
        // Delete the spool file before anything is synced to disk, so that its content is never
        // written out.
        drop(spool);
        let mut written = Vec::new();
        for (target, (file, coded)) in targets.iter().zip(staged) {
            put_in_place(file, &target.path)?;
            let path = target.path.clone();
            written.push(WrittenCollection { path, coded, decoded, pages, header: header.clone() });
        }
        Ok(written)
    }
}

fn hash(line_1: &str, mut spool: impl Read) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    hash.update(line_1.as_bytes());
    let mut buffer = vec![0; 256 << 10];
    loop {
        let n = match spool.read(&mut buffer) {
            Ok(0) => return Ok(Digest(hash.finalize().into())),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(buffer.get(..n).unwrap_or_default());
    }
}

/// Runs `make` for every target, each in its own thread.
fn in_parallel<T: Send>(
    targets: &[OutputTarget],
    make: impl Fn(&OutputTarget) -> Result<T, WriteError> + Sync,
) -> Result<Vec<T>, WriteError> {
    let (first, others) = match targets {
        [] => return Ok(Vec::new()),
        [first, others @ ..] => (first, others),
    };
    thread::scope(|scope| {
        let make = &make;
        let others: Vec<_> =
            others.iter().map(|target| scope.spawn(move || make(target))).collect();
        let mut made = vec![make(first)?];
        for other in others {
            made.push(other.join().expect("the encoder does not panic")?);
        }
        Ok(made)
    })
}

/// Compresses the text into a temporary file in the folder of the target.
fn encode(
    target: &OutputTarget,
    decoded: u64,
    text: &mut dyn Read,
    limits: &Limits,
) -> Result<(NamedTempFile, u64), WriteError> {
    let at = |error| WriteError::Io(target.path.clone(), error);
    let file = staged_beside(&target.path).map_err(at)?;
    codec::encode(target.coding, target.level, decoded, text, file.as_file()).map_err(at)?;
    let coded = file.as_file().metadata().map_err(at)?.len();
    if limits.coded < coded {
        return Err(WriteError::TooLarge(coded, limits.coded));
    }
    if limits.ratio.saturating_mul(coded) < decoded {
        return Err(WriteError::Ratio(decoded.div_ceil(coded.max(1)), limits.ratio));
    }
    Ok((file, coded))
}

fn staged_beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rutter-");
    // A temporary file is private by default; a published file must not be.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent_folder(path))
}

fn put_in_place(file: NamedTempFile, path: &Path) -> Result<(), WriteError> {
    let at = |error| WriteError::Io(path.to_owned(), error);
    file.as_file().sync_all().map_err(at)?;
    file.persist(path).map_err(|error| at(error.error))?;
    // The file name is durable only after its folder was synced.
    #[cfg(unix)]
    File::open(parent_folder(path)).and_then(|folder| folder.sync_all()).map_err(at)?;
    Ok(())
}

/// Returns the folder of a path; the current folder for a bare file name.
pub fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
