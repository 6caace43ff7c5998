//! Which files of the output folder are ours: their sizes, digests and times.
//!
//! A file is ours where its bytes are those we wrote. What is not known is not
//! ours and is never touched.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rutter_page::Digest;
use rutter_page::seal::Seal;
use sha2::{Digest as _, Sha256};

use crate::error::{At, BuildError};

const HEADING: &str = "# rutter files 2: path kind bytes sha256 time";

/// The heading of lists without a last line.
const UNSEALED: &str = "# rutter files 1: path kind bytes sha256 time";

/// What begins the last line; no other one is without a tab.
const END: &str = "# end ";

/// How far a file is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A copy of a file of the site.
    Site,
    /// Made by us.
    Made,
    /// The owner's, with something of ours in it: never taken away.
    Beside,
}

impl Whose {
    const ALL: [Self; 3] = [Self::Site, Self::Made, Self::Beside];

    fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Made => "made",
            Self::Beside => "beside",
        }
    }
}

/// A file we wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ours {
    pub(crate) whose: Whose,
    pub(crate) bytes: u64,
    pub(crate) digest: Digest,
    /// When it was written, in nanoseconds; an equal time spares a reading.
    pub(crate) time: u64,
}

/// All files we wrote, by path below the output folder. A list may be as long
/// as the site is large, so names lie in one text and the rest beside it.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    text: String,
    /// Sorted by name.
    slots: Vec<Slot>,
}

/// Where a name lies, and what is known of its file.
#[derive(Debug)]
struct Slot {
    at: usize,
    bytes: u64,
    time: u64,
    digest: Digest,
    len: u32,
    whose: Whose,
}

impl Slot {
    fn ours(&self) -> Ours {
        let Self { bytes, time, digest, whose, .. } = self;
        Ours { whose: *whose, bytes: *bytes, digest: *digest, time: *time }
    }
}

impl Ours {
    /// The columns behind the name.
    pub(crate) fn columns(&self) -> String {
        let Self { whose, bytes, digest, time } = self;
        format!("{}\t{bytes}\t{digest}\t{time}", whose.name())
    }

    pub(crate) fn of_columns(text: &str) -> Option<Self> {
        let mut columns = text.split('\t');
        let whose = columns.next()?;
        let whose = Whose::ALL.into_iter().find(|known| known.name() == whose)?;
        let bytes = columns.next()?.parse().ok()?;
        let digest = Digest::parse(columns.next()?)?;
        let time = columns.next()?.parse().ok()?;
        columns.next().is_none().then_some(Self { whose, bytes, digest, time })
    }
}

/// Writes a list, name by name.
#[derive(Debug)]
pub(crate) struct ListWriter {
    path: PathBuf,
    out: BufWriter<File>,
    seal: Seal,
}

impl ListWriter {
    pub(crate) fn create(path: &Path, target: &Path) -> Result<Self, BuildError> {
        let mut out = BufWriter::new(File::create(path).at(path)?);
        let heading = format!("{HEADING}\n# {}\n", target.display());
        out.write_all(heading.as_bytes()).at(path)?;
        let mut seal = Seal::default();
        seal.update(heading.as_bytes());
        Ok(Self { path: path.to_owned(), out, seal })
    }

    pub(crate) fn push(&mut self, name: &str, columns: &str) -> Result<(), BuildError> {
        let line = format!("{name}\t{columns}\n");
        self.seal.record(line.as_bytes());
        self.out.write_all(line.as_bytes()).at(&self.path)
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        writeln!(self.out, "{END}{}", self.seal.to_text()).at(&self.path)?;
        self.out.flush().at(&self.path)
    }
}

impl Manifest {
    /// The list, and the folder it is about; a missing or damaged one knows
    /// nothing: a cache may be lost. A part of a list is worse than none.
    pub(crate) fn load(path: &Path) -> Option<(PathBuf, Self)> {
        let file = File::open(path).ok()?;
        let mut lines = BufReader::new(file).lines().map_while(Result::ok);
        let heading = lines.next()?;
        let is_sealed = heading == HEADING;
        if !is_sealed && heading != UNSEALED {
            return None;
        }
        let folder = lines.next()?;
        let target = PathBuf::from(folder.strip_prefix("# ")?);
        let mut seal = Seal::default();
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
            let Some(ours) = Ours::of_columns(columns) else { continue };
            let Ok(len) = u32::try_from(name.len()) else { continue };
            let at = list.text.len();
            list.text.push_str(name);
            let Ours { whose, bytes, digest, time } = ours;
            list.slots.push(Slot { at, bytes, time, digest, len, whose });
        }
        if !is_whole {
            return None;
        }
        let Self { text, slots } = &mut list;
        // It was written in order; this only makes sure.
        slots.sort_by(|one, other| name_of(text, one).cmp(name_of(text, other)));
        Some((target, list))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Ours> {
        let found = self.slots.binary_search_by(|slot| name_of(&self.text, slot).cmp(name)).ok()?;
        self.slots.get(found).map(Slot::ours)
    }

    /// All names with what is known of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Ours)> {
        self.slots.iter().map(|slot| (name_of(&self.text, slot), slot.ours()))
    }

    /// Whether the file that is there now is the one we wrote.
    pub(crate) fn is_ours(&self, folder: &Path, name: &str) -> bool {
        let Some(ours) = self.get(name) else { return false };
        if ours.whose == Whose::Beside {
            return false;
        }
        let path = folder.join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
        if !metadata.is_file() || metadata.len() != ours.bytes {
            return false;
        }
        time_of(&metadata) == ours.time || digest_of(&path).is_ok_and(|found| found == ours.digest)
    }
}

impl Manifest {
    /// Whether every file is there with the size and time it had.
    pub(crate) fn is_in_place(&self, folder: &Path) -> bool {
        self.iter().all(|(name, ours)| {
            fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| {
                metadata.len() == ours.bytes && time_of(&metadata) == ours.time
            })
        })
    }

    /// Whether the copies of these files of the site are up to date, and
    /// there are no others.
    pub(crate) fn has_copies<'n>(
        &self,
        site: &Path,
        names: impl Iterator<Item = &'n str>,
        is_made: &dyn Fn(&str) -> bool,
    ) -> bool {
        let mut n_copies = 0;
        for name in names.filter(|name| !is_made(name)) {
            let Some(ours) = self.get(name) else { return false };
            let is_same = fs::metadata(site.join(name)).is_ok_and(|metadata| {
                metadata.len() == ours.bytes && time_of(&metadata) == ours.time
            });
            if !is_same {
                return false;
            }
            n_copies += 1;
        }
        n_copies == self.slots.iter().filter(|slot| slot.whose == Whose::Site).count()
    }
}

fn name_of<'t>(text: &'t str, slot: &Slot) -> &'t str {
    text.get(slot.at..slot.at + slot.len as usize).unwrap_or_default()
}

/// When a file was last written, in nanoseconds.
pub(crate) fn time_of(metadata: &Metadata) -> u64 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0)
}

/// The digest of a file's bytes.
pub(crate) fn digest_of(path: &Path) -> io::Result<Digest> {
    digest_of_file(&mut File::open(path)?)
}

/// The digest of the bytes that are left in an open file.
pub(crate) fn digest_of_file(file: &mut File) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest(hash.finalize().into())),
            n => hash.update(buffer.get(..n).unwrap_or_default()),
        }
    }
}
