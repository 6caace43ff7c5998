//! The lease of a publisher, kept for as long as a visit lasts.

use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::Clock;
use rutter_store::{Lease, LeaseError, PublisherId, Store};
use tokio::task::AbortHandle;

/// How long a lease is taken for, in seconds.
const TAKEN_FOR: i64 = 600;
/// How often it is taken for longer.
const RENEWED_EVERY: Duration = Duration::from_mins(2);

/// A lease that is renewed until it is dropped.
pub(crate) struct Hold {
    store: Arc<dyn Store>,
    lease: Lease,
    renewing: AbortHandle,
}

impl Hold {
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
                their_clock.deadline(their_clock.moment() + RENEWED_EVERY).await;
                let until = their_clock.now().plus_seconds(TAKEN_FOR);
                // Whoever lost it is told when writing.
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

impl Drop for Hold {
    fn drop(&mut self) {
        self.renewing.abort();
        // Where this fails, the lease runs out by itself.
        drop(self.store.release(self.lease.clone()));
    }
}
