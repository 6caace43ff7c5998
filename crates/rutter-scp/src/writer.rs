//! Writes one SCP collection so that the same pages give the same bytes.
//!
//! Page lines go to a spool on disk while they come ([`Writer`]). When all are
//! there ([`Spooled`]), line 1 is made, the text is hashed, and each target is compressed in one pass
//! with its exact size known. A target appears under its name complete or not
//! at all.
//!
//! Refuses: pages over the limits of the format, and files that readers would
//! take for a bomb.

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
use crate::header::{Chain, Header, is_name};
use crate::limits::Limits;
use crate::rules;
use crate::spool::{Spool, Spooler};

/// Longest line 1 we write (D95).
const LONGEST_LINE_1: usize = 1_000_000;

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it goes.
    pub path: PathBuf,
    /// How it is compressed.
    pub coding: Coding,
    /// How hard; beyond the highest useful level counts as that.
    pub level: u8,
}

impl Target {
    /// The target a file name promises, at the usual level.
    pub fn of_name(path: &Path) -> Option<Self> {
        let coding = Coding::of_name(path)?;
        Some(Self { path: path.to_owned(), coding, level: coding.usual_level() })
    }
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub coded: u64,
    /// Size of its text.
    pub decoded: u64,
    /// Pages in it.
    pub pages: u64,
    /// What line 1 says, checksum included.
    pub header: Header,
}

/// Whether the state of the pages is kept while they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Track {
    /// One more hash per line; needed to write a snapshot's chain (D95).
    #[default]
    State,
    /// Lines are only copied.
    Nothing,
}

/// Takes pages, one by one.
#[derive(Debug)]
pub struct Writer {
    spooler: Spooler,
    /// What line 1 will say, where it is known.
    header: Option<Header>,
    limits: Limits,
    pages: u64,
}

impl Writer {
    /// A writer whose spool lies in `folder`, best the one of the targets.
    pub fn new(folder: &Path, track: Track, limits: Limits) -> Result<Self, WriteError> {
        Ok(Self { spooler: Spooler::start(folder, track, None)?, header: None, limits, pages: 0 })
    }

    /// A writer for a caller who knows already what line 1 will say: the text
    /// is hashed as it comes, which saves a reading in the end.
    pub fn with_header(
        folder: &Path,
        track: Track,
        header: &Header,
        limits: Limits,
    ) -> Result<Self, WriteError> {
        let header = Header { checksum: None, ..header.clone() };
        let spooler = Spooler::start(folder, track, Some(&header.to_line()))?;
        Ok(Self { spooler, header: Some(header), limits, pages: 0 })
    }

    /// Adds a page, in its canonical form.
    pub fn page(&mut self, page: &Page<'_>) -> Result<(), WriteError> {
        let refuse = |rule: &'static Rule, detail: String| {
            Refusal::new(rule, Place::WHOLE, format!("{} {detail}", quoted(page.url.as_str())))
        };
        if page.content.is_empty() {
            return Err(refuse(&rutter_page::rules::EMPTY_CONTENT, String::new()).into());
        }
        let (n_blocks, most) = (page.content.len(), self.limits.parts.blocks);
        if most < n_blocks {
            let detail = format!("has {n_blocks} blocks, at most {most}");
            return Err(refuse(&rutter_page::rules::TOO_MANY_BLOCKS, detail).into());
        }
        self.line(page.url.key(), page.to_line().as_bytes())
    }

    /// Adds the line of a page that has been judged, as it is.
    pub fn line(&mut self, key: &str, line: &[u8]) -> Result<(), WriteError> {
        if self.limits.page < line.len() {
            let detail = format!("{} has {} bytes", quoted(key), line.len());
            return Err(Refusal::new(&rules::PAGE_TOO_LARGE, Place::WHOLE, detail).into());
        }
        self.pages += 1;
        self.spooler.push(key, line)
    }

    /// Ends the taking of pages; now their number and state are known.
    pub fn close(self) -> Result<Spooled, WriteError> {
        let Self { spooler, header, limits, pages } = self;
        Ok(Spooled { spool: spooler.finish()?, known: header, pages, limits })
    }
}

/// All pages of a collection, waiting for line 1.
#[derive(Debug)]
pub struct Spooled {
    spool: Spool,
    known: Option<Header>,
    pages: u64,
    limits: Limits,
}

impl Spooled {
    /// How many pages there are.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The chain of a snapshot of these pages; `None` where the state was not
    /// tracked.
    pub fn snapshot_chain(&self) -> Option<Chain> {
        let pages = self.pages;
        self.spool.state.map(|state| Chain { from: None, state, pages, removed: Vec::new() })
    }

    /// Bytes of the text with this line 1, checksum included.
    pub fn decoded(&self, header: &Header) -> u64 {
        let header = Header { checksum: Some(Digest([0; 32])), ..header.clone() };
        header.to_line().len() as u64 + self.spool.bytes
    }

    /// Makes line 1, hashes, compresses, and puts every target in its place.
    ///
    /// The header's checksum is computed here, whatever it was.
    pub fn finish(self, header: Header, targets: &[Target]) -> Result<Vec<Written>, WriteError> {
        let Self { spool, known, pages, limits } = self;
        for name in [&header.id, &header.section] {
            if !is_name(name) {
                return Err(WriteError::Name(name.clone()));
            }
        }

        let header = Header { checksum: None, ..header };
        let digest = match spool.digest.filter(|_| known.as_ref() == Some(&header)) {
            Some(digest) => digest,
            None => hash(&header.to_line(), spool.reader())
                .map_err(|error| WriteError::Io(spool.folder.clone(), error))?,
        };
        let header = Header { checksum: Some(digest), ..header };
        let line_1 = header.to_line();
        if LONGEST_LINE_1 < line_1.len() {
            let removed = header.chain.as_ref().map_or(0, |chain| chain.removed.len());
            return Err(WriteError::TooManyRemoved(removed));
        }
        let decoded = line_1.len() as u64 + spool.bytes;
        if limits.decoded < decoded {
            return Err(WriteError::TooLarge(decoded, limits.decoded));
        }
        let make = |target: &Target| {
            let mut text = Cursor::new(line_1.as_bytes()).chain(spool.reader());
            encode(target, decoded, &mut text, &limits)
        };
        let staged = in_parallel(targets, make)?;
        // Gone before anything is synced: nobody waits for a spool to reach
        // the disk.
        drop(spool);
        let mut written = Vec::new();
        for (target, (file, coded)) in targets.iter().zip(staged) {
            put_in_place(file, &target.path)?;
            let path = target.path.clone();
            written.push(Written { path, coded, decoded, pages, header: header.clone() });
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

/// Runs `make` for every target, each on a thread of its own.
fn in_parallel<T: Send>(
    targets: &[Target],
    make: impl Fn(&Target) -> Result<T, WriteError> + Sync,
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

/// Compresses into a nameless neighbour of the target.
fn encode(
    target: &Target,
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
    // A temporary file is private by default; a published one is not.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

fn put_in_place(file: NamedTempFile, path: &Path) -> Result<(), WriteError> {
    let at = |error| WriteError::Io(path.to_owned(), error);
    file.as_file().sync_all().map_err(at)?;
    file.persist(path).map_err(|error| at(error.error))?;
    // The name is only safe once its folder is.
    #[cfg(unix)]
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(at)?;
    Ok(())
}

/// The folder a path lies in; the current one for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
