//! One name below an open folder, opened without leaving it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::Links;

/// Tries of an opening that the kernel gave up because names were moving.
#[cfg(target_os = "linux")]
const TRIES: usize = 16;

/// How files are opened: a pipe must not block, and no terminal becomes ours.
pub const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Whether an error may come of a link that was not followed.
pub(crate) fn is_link(error: &io::Error) -> bool {
    let link = [Errno::XDEV, Errno::LOOP, Errno::NOTDIR];
    Errno::from_io_error(error).is_some_and(|error| link.contains(&error))
}

/// Opens what a name leads to beneath a folder. `is_modern` remembers whether
/// the kernel knows `openat2`; without it no link is followed.
pub fn open_beneath(
    folder: &OwnedFd,
    name: &str,
    links: Links,
    is_modern: &AtomicBool,
) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if is_modern.load(Ordering::Relaxed) {
        use rustix::fs::ResolveFlags;
        let mut how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if links == Links::Never {
            how |= ResolveFlags::NO_SYMLINKS;
        }
        for _ in 0..TRIES {
            match rustix::fs::openat2(folder, name, FLAGS, Mode::empty(), how) {
                Err(Errno::AGAIN) => {}
                Err(Errno::NOSYS | Errno::PERM) => {
                    // Asked of the root itself, this tells whether the call is known.
                    let here = rustix::fs::openat2(folder, ".", FLAGS, Mode::empty(), how);
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

/// Opens part after part, following no link.
fn open_parts(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for part in name.split('/') {
        if matches!(part, "" | "." | "..") {
            return Err(Errno::NOENT.into());
        }
        let flags = FLAGS | OFlags::NOFOLLOW;
        let next = rustix::fs::openat(here.as_ref().unwrap_or(folder), part, flags, Mode::empty())?;
        here = Some(next);
    }
    here.ok_or_else(|| Errno::NOENT.into())
}
