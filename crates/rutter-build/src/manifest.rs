//! Which files of the output folder are ours: their sizes, digests and times.
//!
//! A file is ours where its bytes are those we wrote. What is not known is not
//! ours and is never touched.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rutter_page::Digest;
use sha2::{Digest as _, Sha256};

use crate::error::{At, BuildError};

const HEADING: &str = "# rutter files 1: path kind bytes sha256 time";

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
    pub(crate) time: u128,
}

/// All files we wrote, by path below the output folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    pub(crate) files: BTreeMap<String, Ours>,
}

impl Manifest {
    /// The list, and the folder it is about; a missing or unreadable one
    /// knows nothing: a cache may be lost.
    pub(crate) fn load(path: &Path) -> Option<(PathBuf, Self)> {
        let mut files = BTreeMap::new();
        let file = File::open(path).ok()?;
        let mut lines = BufReader::new(file).lines().map_while(Result::ok);
        if lines.next()? != HEADING {
            return None;
        }
        let target = PathBuf::from(lines.next()?.strip_prefix("# ")?);
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            let &[path, whose, bytes, digest, time] = columns.as_slice() else { continue };
            let whose = Whose::ALL.into_iter().find(|known| known.name() == whose);
            if let (Some(whose), Ok(bytes), Some(digest), Ok(time)) =
                (whose, bytes.parse(), Digest::parse(digest), time.parse())
            {
                files.insert(path.to_owned(), Ours { whose, bytes, digest, time });
            }
        }
        Some((target, Self { files }))
    }

    pub(crate) fn save(&self, path: &Path, target: &Path) -> Result<(), BuildError> {
        let mut out = BufWriter::new(File::create(path).at(path)?);
        writeln!(out, "{HEADING}\n# {}", target.display()).at(path)?;
        for (name, ours) in &self.files {
            let Ours { whose, bytes, digest, time } = ours;
            writeln!(out, "{name}\t{}\t{bytes}\t{digest}\t{time}", whose.name()).at(path)?;
        }
        out.flush().at(path)
    }

    /// Whether the file that is there now is the one we wrote.
    pub(crate) fn is_ours(&self, folder: &Path, name: &str) -> bool {
        let Some(ours) = self.files.get(name) else { return false };
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
        self.files.iter().all(|(name, ours)| {
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
            let Some(ours) = self.files.get(name) else { return false };
            let is_same = fs::metadata(site.join(name)).is_ok_and(|metadata| {
                metadata.len() == ours.bytes && time_of(&metadata) == ours.time
            });
            if !is_same {
                return false;
            }
            n_copies += 1;
        }
        n_copies == self.files.values().filter(|ours| ours.whose == Whose::Site).count()
    }
}

/// When a file was last written, in nanoseconds.
pub(crate) fn time_of(metadata: &Metadata) -> u128 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.map_or(0, |time| time.as_nanos())
}

/// The digest of a file's bytes.
pub(crate) fn digest_of(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest(hash.finalize().into())),
            n => hash.update(buffer.get(..n).unwrap_or_default()),
        }
    }
}
