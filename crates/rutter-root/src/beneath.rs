//! Opens a name inside an open folder: with `openat2`, or component by component on kernels that do
//! not support the call.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::LinkPolicy;

/// Number of retries if the kernel aborts because of concurrent renames.
#[cfg(target_os = "linux")]
const TRIES: usize = 16;

/// Flags for opening files: opening a pipe must not block, and a terminal must not become the
/// controlling terminal.
pub const OPEN_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Returns whether an error may be caused by a link that was not followed.
pub(crate) fn is_link(error: &io::Error) -> bool {
    let link = [Errno::XDEV, Errno::LOOP, Errno::NOTDIR];
    Errno::from_io_error(error).is_some_and(|error| link.contains(&error))
}

/// Opens a file or folder inside a folder.
///
/// `is_modern` caches whether the kernel supports `openat2`. If it does not, no link is followed,
/// regardless of `links`.
pub fn open_beneath(
    folder: &OwnedFd,
    name: &str,
    links: LinkPolicy,
    is_modern: &AtomicBool,
) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if is_modern.load(Ordering::Relaxed) {
        use rustix::fs::ResolveFlags;
        let mut how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if links == LinkPolicy::Never {
            how |= ResolveFlags::NO_SYMLINKS;
        }
        for _ in 0..TRIES {
            match rustix::fs::openat2(folder, name, OPEN_FLAGS, Mode::empty(), how) {
                Err(Errno::AGAIN) => {}
                Err(Errno::NOSYS | Errno::PERM) => {
                    // Opening the folder itself shows whether the call is unsupported, or only
                    // failed for this name.
                    let here = rustix::fs::openat2(folder, ".", OPEN_FLAGS, Mode::empty(), how);
                    if here.is_ok() {
                        return Err(Errno::NOENT.into());
                    }
                    is_modern.store(false, Ordering::Relaxed);
                    return open_parts(folder, name);
                }
                other => return Ok(other?),
            }
        }
        return Err(Errno::AGAIN.into());
    }
    let _ = (links, is_modern);
    open_parts(folder, name)
}

/// Opens the components one by one without following links.
fn open_parts(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for part in name.split('/') {
        if matches!(part, "" | "." | "..") {
            return Err(Errno::NOENT.into());
        }
        let flags = OPEN_FLAGS | OFlags::NOFOLLOW;
        let next = rustix::fs::openat(here.as_ref().unwrap_or(folder), part, flags, Mode::empty())?;
        here = Some(next);
    }
    here.ok_or_else(|| Errno::NOENT.into())
}
