//! Opens files beneath a root folder and nowhere else.
//!
//! Input: a folder and a name below it, with `/` between its parts. Output: an
//! open file. The kernel resolves a name in one step (`openat2`), so that a
//! link that is swapped in meanwhile leads nowhere; a kernel without that call
//! opens part by part and follows no link.
//!
//! Rejects links that leave the folder, names with `..`, and, in [`open`],
//! everything that is not a plain file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

#[cfg(unix)]
mod beneath;

#[cfg(unix)]
pub use beneath::{FLAGS, open_beneath};

/// Which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Those that stay beneath the root.
    Inside,
    /// None.
    Never,
}

/// What an error about a link out of the folder says.
const OUTSIDE: &str = "a link leads out of the folder";

/// Returns whether an error of this crate means that a link leads out of the
/// folder, and not that its target may not be read.
pub fn leads_out(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.to_string() == OUTSIDE)
}

/// Opens a plain file by its name below a folder. Links are followed while
/// they stay in the folder, also absolute ones.
pub fn open(root: &Path, name: &str) -> io::Result<File> {
    let is_plain = !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if !is_plain {
        return Err(io::Error::new(io::ErrorKind::NotFound, "not a name below the folder"));
    }
    let file = open_inside(root, name)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"))
    }
}

/// The bytes of a plain file below a folder; see [`open`].
pub fn read(root: &Path, name: &str) -> io::Result<Vec<u8>> {
    read_file(open(root, name)?)
}

/// The bytes of an open file.
pub fn read_file(file: File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // No more than there was, so that a file that grows ends.
    file.take(size.max(1) + (64 << 10)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where a name leads, below the folder; an error where it leads out of it.
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
    let opened = match open_beneath(&folder, name, Links::Inside, &IS_MODERN) {
        Ok(opened) => opened,
        Err(error) if !beneath::is_link(&error) => return Err(error),
        // An absolute link may lead into the folder, and a kernel without
        // `openat2` follows none: the name is resolved first, then opened
        // without following anything.
        Err(_) => {
            let inside = resolve(root, name)?;
            let inside = inside.to_str().ok_or(io::ErrorKind::InvalidInput)?;
            open_beneath(&folder, inside, Links::Never, &IS_MODERN)?
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
    fn links_out_of_the_folder_are_not_followed_and_links_inside_are() {
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
        // Also where the root is a link itself.
        symlink(&root, folder.path().join("alias")).unwrap();
        let alias = folder.path().join("alias");
        assert_eq!(read(&alias, "absolute").unwrap(), b"page");
        assert_eq!(resolve(&alias, "absolute").unwrap(), Path::new("in/page"));
        let error = resolve(&alias, "file").unwrap_err();
        assert!(leads_out(&error), "{error}");
        assert!(!leads_out(&io::Error::from(io::ErrorKind::PermissionDenied)));
    }
}
