//! Holds the lease of a publisher during a sync.
//!
//! A [`LeaseGuard`] acquires the lease, renews it in a background task, and releases it
//! when dropped. If another process takes over the lease, the next write to the replica
//! fails.

use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::Clock;
use rutter_store::{Lease, LeaseError, PublisherId, Store};
use tokio::task::AbortHandle;

/// Duration of a lease in seconds, unless it is renewed.
const TAKEN_FOR: i64 = 600;
/// Time between two renewals of the lease.
const RENEWED_EVERY: Duration = Duration::from_mins(2);

/// A lease that is renewed until this value is dropped.
pub(crate) struct LeaseGuard {
    store: Arc<dyn Store>,
    lease: Lease,
    renewing: AbortHandle,
}

impl LeaseGuard {
    pub(crate) fn take(
        store: &Arc<dyn Store>,
        publisher: PublisherId,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, LeaseError> {
        let now = clock.now();
        let lease = store.lease(publisher, now, now.plus_seconds(TAKEN_FOR))?;
        let (their_store, their_clock, theirs) =
            (Arc::clone(store), Arc::clone(clock), lease.clone());
        let renewing = tokio::spawn(async move {
            loop {
                their_clock.deadline(their_clock.monotonic() + RENEWED_EVERY).await;
                let until = their_clock.now().plus_seconds(TAKEN_FOR);
                // If the lease is lost, the task ends; the next write to the replica
                // reports the error.
                if matches!(their_store.renew(&theirs, until), Err(LeaseError::Lost)) {
                    return;
                }
            }
        });
        Ok(Self { store: Arc::clone(store), lease, renewing: renewing.abort_handle() })
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        self.renewing.abort();
        // If the release fails, the lease expires without it.
        drop(self.store.release(self.lease.clone()));
    }
}
