//! Opens files inside the root directory and nowhere else.
//!
//! On Linux, the kernel checks and opens a name in one system call (`openat2`), so a symbolic link
//! that another process creates meanwhile cannot lead out of the root. Without `openat2`, each
//! component is opened separately and symbolic links are not followed.
//!
//! Rejects: symbolic links that lead out of the root, and everything except regular files.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use rutter_root::{OPEN_FLAGS, open_beneath};

pub(crate) use rutter_root::LinkPolicy;

/// Identifies one state of a file.
///
/// A replaced file has another inode, a modified file another time. The change time cannot be set
/// by a program, unlike the modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i128,
    pub(crate) changed: i128,
}

impl FileIdentity {
    /// Returns the identity; `None` if it is not a regular file.
    pub(crate) fn of(file: &File) -> io::Result<Option<Self>> {
        Ok(Self::of_metadata(&file.metadata()?))
    }

    /// Returns the identity; `None` if it is not a regular file.
    pub(crate) fn of_metadata(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Returns whether this is the same file with the same bytes, under any name.
    pub(crate) fn is_same_bytes(&self, other: &Self) -> bool {
        let bytes = |it: &Self| (it.device, it.inode, it.size, it.modified);
        bytes(self) == bytes(other)
    }

    /// Returns whether an open file was not modified. Deleting its name changes the change time,
    /// but not the bytes.
    pub(crate) fn is_unwritten(&self, file: &File) -> io::Result<bool> {
        let now = Self::of(file)?;
        Ok(now.is_some_and(|now| (now.size, now.modified) == (self.size, self.modified)))
    }

    /// Returns the modification time in seconds.
    pub(crate) fn modified_seconds(&self) -> i64 {
        i64::try_from(self.modified.div_euclid(1_000_000_000)).unwrap_or(0)
    }
}

fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

/// An opened directory entry.
#[derive(Debug)]
pub(crate) enum OpenedEntry {
    File(File, FileIdentity),
    Folder,
}

/// Returns whether an error means that the name does not exist. Other errors, such as too many open
/// files, say nothing about the name.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    let absent = [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::LOOP,
        Errno::XDEV,
        Errno::ACCESS,
        Errno::NAMETOOLONG,
        // A socket, or a missing device.
        Errno::NXIO,
        Errno::NODEV,
    ];
    Errno::from_io_error(error).is_some_and(|error| absent.contains(&error))
}

/// Returns the identity of a file by its path; `None` if it does not exist.
pub(crate) fn identity_of(path: &Path) -> Option<FileIdentity> {
    FileIdentity::of_metadata(&std::fs::metadata(path).ok()?)
}

/// Reads a small file; `None` if it changed while it was read.
pub(crate) fn read_small(mut file: &File, identity: &FileIdentity) -> io::Result<Option<Bytes>> {
    let size = usize::try_from(identity.size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    file.by_ref().take(identity.size + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() == size && identity.is_unwritten(file)?;
    Ok(is_whole.then(|| Bytes::from(bytes)))
}

/// The root directory.
#[derive(Debug)]
pub(crate) struct RootDir {
    path: PathBuf,
    folder: RwLock<Option<Arc<OwnedFd>>>,
    /// Whether the kernel supports `openat2`.
    is_modern: AtomicBool,
}

impl RootDir {
    pub(crate) fn new(path: &Path) -> Self {
        let root = Self {
            path: path.to_owned(),
            folder: RwLock::new(None),
            is_modern: AtomicBool::new(cfg!(target_os = "linux")),
        };
        root.reopen();
        root
    }

    /// Opens the directory at the path of the root again. If the directory is missing, the root
    /// contains no files.
    pub(crate) fn reopen(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(CWD, &self.path, flags, Mode::empty()) {
            Ok(opened) => Some(Arc::new(opened)),
            Err(error) if is_absent(&error.into()) => None,
            // The directory may still exist, so the open directory is kept.
            Err(_) => return,
        };
        *self.folder.write().unwrap_or_else(PoisonError::into_inner) = opened;
    }

    /// Returns whether the path of the root still refers to the open directory.
    pub(crate) fn is_current(&self) -> bool {
        let named = rustix::fs::stat(&self.path).ok().map(|stat| (stat.st_dev, stat.st_ino));
        let open = self.folder().and_then(|folder| rustix::fs::fstat(&folder).ok());
        named == open.map(|stat| (stat.st_dev, stat.st_ino))
    }

    fn folder(&self) -> Option<Arc<OwnedFd>> {
        self.folder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a file or directory by a name from [`path::read`](crate::resolve::path::read) or `served.json`.
    pub(crate) fn open(&self, name: &str, links: LinkPolicy) -> io::Result<OpenedEntry> {
        let Some(folder) = self.folder() else { return Err(Errno::NOENT.into()) };
        if name.is_empty() {
            return Ok(OpenedEntry::Folder);
        }
        let fd = open_beneath(&folder, name, links, &self.is_modern)?;
        let file = File::from(fd);
        match FileIdentity::of(&file)? {
            Some(identity) => Ok(OpenedEntry::File(file, identity)),
            None if file.metadata()?.is_dir() => Ok(OpenedEntry::Folder),
            // Pipes, sockets, devices.
            None => Err(Errno::NOENT.into()),
        }
    }

    /// Returns the current identity of the file with this name, for comparison. The call may follow
    /// a symbolic link out of the root, but reads no bytes.
    pub(crate) fn stat_identity(&self, name: &str) -> Option<FileIdentity> {
        let stat = rustix::fs::statat(&*self.folder()?, name, AtFlags::empty()).ok()?;
        #[expect(
            clippy::cast_sign_loss,
            clippy::cast_possible_wrap,
            reason = "the types of these fields differ between systems; values of a file are small"
        )]
        Some(FileIdentity {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        })
    }

    /// Returns whether all names have files of these identities.
    pub(crate) fn is_unchanged(&self, seen: &[(String, Option<FileIdentity>)]) -> bool {
        seen.iter().all(|(name, was)| self.stat_identity(name) == *was)
    }

    /// Returns whether each component of a name is spelled as its directory lists it.
    ///
    /// A file system may open a file by other spellings than the restricted one: another case,
    /// another Unicode form, ignored characters. A directory is listed only if its file system may
    /// accept other spellings, because listing a directory of 60,000 files takes 15 ms.
    pub(crate) fn is_spelled(&self, name: &str) -> io::Result<bool> {
        let Some(root) = self.folder() else { return Ok(false) };
        let mut here: Option<OwnedFd> = None;
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            let folder = here.as_ref().unwrap_or(&root);
            if may_be_misspelled(folder, part)? && !has_entry(folder, part)? {
                return Ok(false);
            }
            if parts.peek().is_some() {
                let flags = OPEN_FLAGS | OFlags::NOFOLLOW | OFlags::DIRECTORY;
                here = Some(rustix::fs::openat(folder, part, flags, Mode::empty())?);
            }
        }
        Ok(true)
    }
}

/// Returns whether the file that `name` opens may have another name.
///
/// A file system that ignores case also opens the name with its case swapped. Otherwise, an ASCII
/// name has only one spelling. For names in other scripts, names without letters and short names of
/// FAT (`PROGRA~1`), the result is always `true`.
fn may_be_misspelled(folder: &OwnedFd, name: &str) -> io::Result<bool> {
    let is_plain = name.is_ascii() && !name.contains('~') && !name.ends_with(['.', ' ']);
    if !is_plain || !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return Ok(true);
    }
    let swapped: String =
        name.chars()
            .map(|c| {
                if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
            })
            .collect();
    match rustix::fs::statat(folder, swapped.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => {
            // Returns an error if the name itself does not exist.
            rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(false)
        }
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a directory lists exactly this name.
fn has_entry(folder: &OwnedFd, name: &str) -> io::Result<bool> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        if entry?.file_name().to_bytes() == name.as_bytes() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::Ordering;

    use super::*;

    fn text(opened: io::Result<OpenedEntry>) -> Option<String> {
        match opened.ok()? {
            OpenedEntry::File(file, _) => io::read_to_string(file).ok(),
            OpenedEntry::Folder => Some("folder".to_owned()),
        }
    }

    #[test] // E02
    fn does_not_follow_links_out_of_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("in")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(root.join("in/page"), "page").unwrap();
        symlink(&outside, root.join("out")).unwrap();
        symlink("../outside/secret", root.join("file")).unwrap();
        symlink("in/page", root.join("inside")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        let opened = RootDir::new(&root);
        for is_modern in [true, false] {
            opened.is_modern.store(is_modern, Ordering::Relaxed);
            for links in [LinkPolicy::Inside, LinkPolicy::Never] {
                for name in ["out/secret", "file", "magic/etc/passwd", "../outside/secret", "none"]
                {
                    assert_eq!(text(opened.open(name, links)), None, "{name}");
                }
                assert_eq!(text(opened.open("in/page", links)).as_deref(), Some("page"));
                assert_eq!(text(opened.open("in", links)).as_deref(), Some("folder"));
                let is_followed = is_modern && links == LinkPolicy::Inside;
                assert_eq!(text(opened.open("inside", links)).is_some(), is_followed);
            }
        }
        let OpenedEntry::File(_, identity) = opened.open("in/page", LinkPolicy::Never).unwrap()
        else {
            panic!("not a file")
        };
        assert_eq!(opened.stat_identity("in/page"), Some(identity));
    }

    #[test]
    fn detects_other_spellings_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("men\u{fc}/s")).unwrap();
        for name in ["a.html", "men\u{fc}/log.html", "men\u{fc}/s/\u{e9}.html"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let root = RootDir::new(folder.path());
        // Also on a file system that treats both as one name, only one is listed.
        for (name, wanted) in [
            ("a.html", true),
            ("A.html", false),
            ("a.h\u{ad}tml", false),
            ("men\u{fc}/log.html", true),
            ("menu\u{308}/log.html", false),
            ("men\u{dc}/log.html", false),
            ("men\u{fc}/s/\u{e9}.html", true),
            ("men\u{fc}/s/e\u{301}.html", false),
            ("men\u{fc}/\u{17f}/\u{e9}.html", false),
            ("men\u{fc}/s", true),
            ("a.html/b", false),
        ] {
            assert_eq!(root.is_spelled(name).unwrap_or(false), wanted, "{name}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn lists_a_folder_only_where_a_name_may_have_other_spellings() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.html", "Both.html", "bOTH.HTML", "men\u{fc}.html", "12", "LONGNA~1.HTM"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let fd: OwnedFd = File::open(folder.path()).unwrap().into();
        for (name, wanted) in [
            ("a.html", false),
            ("Both.html", true),
            ("men\u{fc}.html", true),
            ("12", true),
            ("LONGNA~1.HTM", true),
        ] {
            assert_eq!(may_be_misspelled(&fd, name).unwrap(), wanted, "{name}");
        }
        assert!(may_be_misspelled(&fd, "none.html").is_err());
    }

    #[test]
    fn treats_only_some_errors_as_missing() {
        for absent in [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::XDEV, Errno::ACCESS] {
            assert!(is_absent(&absent.into()), "{absent}");
        }
        for other in [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOMEM, Errno::AGAIN] {
            assert!(!is_absent(&other.into()), "{other}");
        }
        assert!(!is_absent(&io::ErrorKind::TimedOut.into()));
    }

    #[test]
    fn reopens_a_root_that_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root");
        let root = RootDir::new(&path);
        assert!(root.open("a", LinkPolicy::Inside).is_err() && root.is_current());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("a"), "a").unwrap();
        assert!(!root.is_current());
        root.reopen();
        assert!(root.is_current() && root.open("a", LinkPolicy::Inside).is_ok());
        // A pipe is not opened.
        rustix::fs::mknodat(CWD, path.join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        assert!(root.open("pipe", LinkPolicy::Inside).is_err());
    }
}
