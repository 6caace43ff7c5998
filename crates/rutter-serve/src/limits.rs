//! The system's limit of open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises this process's limit of open files as far as it may, and gives it
/// back; `None` where there is none. Every connection is a file, and so is
/// every large answer, and the limit that a shell gives is often 1,024.
pub fn raise_file_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    // Where that is not allowed, there are fewer.
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}
