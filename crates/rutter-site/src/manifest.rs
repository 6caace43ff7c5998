//! The manifest (`files.tsv`): the files that Rutter wrote into the output folder, with sizes,
//! digests and modification times.
//!
//! A file counts as written by Rutter only if its bytes have the recorded digest. Other files are
//! never changed or deleted. A missing or damaged manifest counts as empty.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rutter_page::Digest;
use rutter_page::checksum::RecordChecksum;
use sha2::{Digest as _, Sha256};

use crate::error::{IoErrorContext, StateError};

const HEADING: &str = "# rutter files 2: path kind bytes sha256 time";

/// First line of older manifests, which have no end line.
const UNSEALED: &str = "# rutter files 1: path kind bytes sha256 time";

/// Start of the last line of a manifest, which is the only line without a tab after the two header
/// lines.
const END: &str = "# end ";

/// Owner of a file in the output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The file is a copy of a file of the site.
    Site,
    /// The file was written by Rutter.
    Rutter,
    /// The file belongs to the site owner and contains a block or links of Rutter; it is never
    /// deleted.
    Shared,
}

impl Owner {
    const ALL: [Self; 3] = [Self::Site, Self::Rutter, Self::Shared];

    fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Rutter => "made",
            Self::Shared => "beside",
        }
    }
}

/// Record of a file in the output folder: owner, size, digest and modification time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// Owner of the file.
    pub owner: Owner,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 digest of the bytes.
    pub digest: Digest,
    /// Modification time of the file in nanoseconds. If the time is unchanged, the file need not be
    /// read.
    pub time: u64,
}

/// Records of all files that Rutter wrote, by path relative to the output folder. All paths are in
/// one string, because there may be as many files as pages.
#[derive(Debug, Default)]
pub struct Manifest {
    text: String,
    /// Positions and records of the files, sorted by path.
    slots: Vec<ManifestEntry>,
}

/// Position of a file's path in [`Manifest::text`], and the record of the file.
#[derive(Debug)]
struct ManifestEntry {
    at: usize,
    bytes: u64,
    time: u64,
    digest: Digest,
    len: u32,
    owner: Owner,
}

impl ManifestEntry {
    fn record(&self) -> FileRecord {
        let Self { bytes, time, digest, owner, .. } = self;
        FileRecord { owner: *owner, bytes: *bytes, digest: *digest, time: *time }
    }
}

impl FileRecord {
    /// Returns the columns of a manifest line after the path.
    pub fn columns(&self) -> String {
        let Self { owner, bytes, digest, time } = self;
        format!("{}\t{bytes}\t{digest}\t{time}", owner.name())
    }

    /// Parses the columns of a manifest line after the path.
    pub fn of_columns(text: &str) -> Option<Self> {
        let mut columns = text.split('\t');
        let owner = columns.next()?;
        let owner = Owner::ALL.into_iter().find(|known| known.name() == owner)?;
        let bytes = columns.next()?.parse().ok()?;
        let digest = Digest::parse(columns.next()?)?;
        let time = columns.next()?.parse().ok()?;
        columns.next().is_none().then_some(Self { owner, bytes, digest, time })
    }
}

/// Writes a manifest file by file, in the order of the paths.
#[derive(Debug)]
pub struct ManifestWriter {
    path: PathBuf,
    out: BufWriter<File>,
    seal: RecordChecksum,
}

impl ManifestWriter {
    /// Creates a manifest of the output folder `target`.
    pub fn create(path: &Path, target: &Path) -> Result<Self, StateError> {
        let mut out = BufWriter::new(File::create(path).at(path)?);
        let heading = format!("{HEADING}\n# {}\n", target.display());
        out.write_all(heading.as_bytes()).at(path)?;
        let mut seal = RecordChecksum::default();
        seal.update(heading.as_bytes());
        Ok(Self { path: path.to_owned(), out, seal })
    }

    /// Adds a file with the columns of [`FileRecord::columns`].
    pub fn push(&mut self, name: &str, columns: &str) -> Result<(), StateError> {
        let line = format!("{name}\t{columns}\n");
        self.seal.record(line.as_bytes());
        self.out.write_all(line.as_bytes()).at(&self.path)
    }

    /// Writes the end line and closes the file.
    pub fn finish(mut self) -> Result<(), StateError> {
        writeln!(self.out, "{END}{}", self.seal.to_text()).at(&self.path)?;
        self.out.flush().at(&self.path)
    }
}

impl Manifest {
    /// Loads the manifest and the path of its output folder. Returns `None` if the manifest is
    /// missing, damaged or incomplete.
    pub fn load(path: &Path) -> Option<(PathBuf, Self)> {
        let file = File::open(path).ok()?;
        let mut lines = BufReader::new(file).lines().map_while(Result::ok);
        let heading = lines.next()?;
        let is_sealed = heading == HEADING;
        if !is_sealed && heading != UNSEALED {
            return None;
        }
        let folder = lines.next()?;
        let target = PathBuf::from(folder.strip_prefix("# ")?);
        let mut seal = RecordChecksum::default();
        seal.update(format!("{heading}\n{folder}\n").as_bytes());
        let mut list = Self::default();
        let mut is_whole = !is_sealed;
        for line in lines {
            if let Some(end) = line.strip_prefix(END).filter(|_| is_sealed && !line.contains('\t'))
            {
                is_whole = end == seal.to_text();
                break;
            }
            seal.record(line.as_bytes());
            seal.update(b"\n");
            let Some((name, columns)) = line.split_once('\t') else { continue };
            let Some(record) = FileRecord::of_columns(columns) else { continue };
            let Ok(len) = u32::try_from(name.len()) else { continue };
            let at = list.text.len();
            list.text.push_str(name);
            let FileRecord { owner, bytes, digest, time } = record;
            list.slots.push(ManifestEntry { at, bytes, time, digest, len, owner });
        }
        if !is_whole {
            return None;
        }
        let Self { text, slots } = &mut list;
        // The lines are already sorted, unless the manifest was edited.
        slots.sort_by(|one, other| name_of(text, one).cmp(name_of(text, other)));
        Some((target, list))
    }

    /// Returns whether the manifest has no files.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the record of a file.
    pub fn get(&self, name: &str) -> Option<FileRecord> {
        let found = self.slots.binary_search_by(|slot| name_of(&self.text, slot).cmp(name)).ok()?;
        self.slots.get(found).map(ManifestEntry::record)
    }

    /// Iterates over the paths and records of all files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FileRecord)> {
        self.slots.iter().map(|slot| (name_of(&self.text, slot), slot.record()))
    }

    /// Returns whether the file that exists in the folder is unchanged since Rutter wrote it.
    pub fn is_own_file(&self, folder: &Path, name: &str) -> bool {
        let Some(record) = self.get(name) else { return false };
        if record.owner == Owner::Shared {
            return false;
        }
        let path = folder.join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
        if !metadata.is_file() || metadata.len() != record.bytes {
            return false;
        }
        time_of(&metadata) == record.time
            || digest_of(&path).is_ok_and(|found| found == record.digest)
    }
}

impl Manifest {
    /// Returns whether every file exists with its recorded size and modification time.
    pub fn is_in_place(&self, folder: &Path) -> bool {
        self.iter().all(|(name, record)| {
            fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| {
                metadata.len() == record.bytes && time_of(&metadata) == record.time
            })
        })
    }

    /// Returns whether the output folder has an up-to-date copy of each of these files of the site,
    /// and no other copies.
    pub fn has_copies<'n>(
        &self,
        site: &Path,
        names: impl Iterator<Item = &'n str>,
        is_made: &dyn Fn(&str) -> bool,
    ) -> bool {
        let mut n_copies = 0;
        for name in names.filter(|name| !is_made(name)) {
            let Some(record) = self.get(name) else { return false };
            let is_same = fs::metadata(site.join(name)).is_ok_and(|metadata| {
                metadata.len() == record.bytes && time_of(&metadata) == record.time
            });
            if !is_same {
                return false;
            }
            n_copies += 1;
        }
        n_copies == self.slots.iter().filter(|slot| slot.owner == Owner::Site).count()
    }
}

fn name_of<'t>(text: &'t str, slot: &ManifestEntry) -> &'t str {
    text.get(slot.at..slot.at + slot.len as usize).unwrap_or_default()
}

/// Returns the modification time of a file in nanoseconds.
pub fn time_of(metadata: &Metadata) -> u64 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0)
}

/// Returns the SHA-256 digest of a file.
pub fn digest_of(path: &Path) -> io::Result<Digest> {
    digest_of_file(&mut File::open(path)?)
}

/// Returns the SHA-256 digest of the rest of an open file.
pub fn digest_of_file(file: &mut File) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest(hash.finalize().into())),
            n => hash.update(buffer.get(..n).unwrap_or_default()),
        }
    }
}
