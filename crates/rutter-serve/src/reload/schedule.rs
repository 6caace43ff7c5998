//! When the files of a site are checked for changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::reload::CHECK_INTERVAL;

/// Lets one thread at a time check for changes, and one thread reload.
#[derive(Debug, Default)]
pub(crate) struct CheckSchedule {
    /// When the files were last checked, in milliseconds of the site's clock.
    checked: AtomicU64,
    is_loading: Arc<AtomicBool>,
}

/// The permission to reload; dropping it permits the next reload.
pub(crate) struct LoadPermit(Arc<AtomicBool>);

impl Drop for LoadPermit {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl CheckSchedule {
    /// Returns whether the caller must check for changes now.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let last = self.checked.load(Ordering::Relaxed);
        last + CHECK_INTERVAL <= now
            && self
                .checked
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Returns the permission to reload, unless a reload is running.
    pub(crate) fn try_load(&self) -> Option<LoadPermit> {
        let was_loading = self.is_loading.swap(true, Ordering::AcqRel);
        (!was_loading).then(|| LoadPermit(Arc::clone(&self.is_loading)))
    }
}
