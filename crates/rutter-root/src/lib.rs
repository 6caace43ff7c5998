//! Opens files inside a root folder and nowhere else.
//!
//! Input: a folder and a relative name with `/` between its components. Output: an open file. The
//! kernel checks and opens the name in one system call (`openat2`), so that a symbolic link that
//! another process creates meanwhile cannot lead out of the folder. On kernels without that call,
//! symbolic links are resolved first, and the resulting path is opened component by component
//! without following links.
//!
//! Rejects links that lead out of the folder and names with `..`. [`open`] also rejects everything
//! that is not a regular file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

#[cfg(unix)]
mod beneath;

#[cfg(unix)]
pub use beneath::{OPEN_FLAGS, open_beneath};

/// Which symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Links that stay inside the root folder.
    Inside,
    /// No links.
    Never,
}

/// The message of an error about a link that leads out of the folder.
const OUTSIDE: &str = "a link leads out of the folder";

/// Returns whether an error of this crate means that a link leads out of the folder, and not that
/// the file is missing or unreadable.
pub fn is_outside_link(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.to_string() == OUTSIDE)
}

/// Opens a regular file inside a folder. Links, including absolute ones, are followed as long as
/// they stay inside the folder.
pub fn open(root: &Path, name: &str) -> io::Result<File> {
    let is_plain = !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if !is_plain {
        return Err(io::Error::new(io::ErrorKind::NotFound, "not a name inside the folder"));
    }
    let file = open_inside(root, name)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Reads a regular file inside a folder; see [`open`].
pub fn read(root: &Path, name: &str) -> io::Result<Vec<u8>> {
    read_file(open(root, name)?)
}

/// Reads an open file.
pub fn read_file(file: File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The limit ends the read of a file that grows meanwhile.
    file.take(size.max(1) + (64 << 10)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Resolves the links of a name; returns the path relative to the folder, or an error if it leads
/// out of the folder.
pub fn resolve(root: &Path, name: &str) -> io::Result<PathBuf> {
    let found = root.join(name).canonicalize()?;
    let inside = found.strip_prefix(root.canonicalize()?).map(Path::to_owned);
    inside.map_err(|_| io::Error::new(io::ErrorKind::PermissionDenied, OUTSIDE))
}

#[cfg(unix)]
fn open_inside(root: &Path, name: &str) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags};
    use std::sync::atomic::AtomicBool;

    static IS_MODERN: AtomicBool = AtomicBool::new(cfg!(target_os = "linux"));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
    let opened = match open_beneath(&folder, name, LinkPolicy::Inside, &IS_MODERN) {
        Ok(opened) => opened,
        Err(error) if !beneath::is_link(&error) => return Err(error),
        // Absolute links into the folder, and all links on kernels without `openat2`: resolve the
        // name first, then open it without following links.
        Err(_) => {
            let inside = resolve(root, name)?;
            let inside = inside.to_str().ok_or(io::ErrorKind::InvalidInput)?;
            open_beneath(&folder, inside, LinkPolicy::Never, &IS_MODERN)?
        }
    };
    Ok(File::from(opened))
}

#[cfg(not(unix))]
fn open_inside(root: &Path, name: &str) -> io::Result<File> {
    File::open(root.join(resolve(root, name)?))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn follows_links_inside_the_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("in")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(root.join("in/page"), "page").unwrap();
        symlink(&outside, root.join("out")).unwrap();
        symlink("../outside/secret", root.join("file")).unwrap();
        symlink("/proc/self/environ", root.join("magic")).unwrap();
        symlink("in/page", root.join("relative")).unwrap();
        symlink(root.join("in/page"), root.join("absolute")).unwrap();
        symlink("in", root.join("folder")).unwrap();
        for name in ["out/secret", "file", "magic", "../outside/secret", "none", "in", "folder", ""]
        {
            assert!(open(&root, name).is_err(), "{name}");
        }
        for name in ["in/page", "relative", "absolute", "folder/page"] {
            assert_eq!(read(&root, name).unwrap(), b"page", "{name}");
        }
        // The root folder may be a link itself.
        symlink(&root, folder.path().join("alias")).unwrap();
        let alias = folder.path().join("alias");
        assert_eq!(read(&alias, "absolute").unwrap(), b"page");
        assert_eq!(resolve(&alias, "absolute").unwrap(), Path::new("in/page"));
        let error = resolve(&alias, "file").unwrap_err();
        assert!(is_outside_link(&error), "{error}");
        assert!(!is_outside_link(&io::Error::from(io::ErrorKind::PermissionDenied)));
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
