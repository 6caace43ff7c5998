//! Prints the progress of each site to the terminal while a sync runs.

use rutter_fetch::redact;
use rutter_finding::visible;
use rutter_sync::{SyncEvent, SyncObserver};

use crate::commands::{counted, format_bytes};
use crate::output::Progress;

/// Prints the progress of each site to the terminal.
pub(super) struct SyncProgress(pub(super) Progress);

impl SyncObserver for SyncProgress {
    fn event(&self, site: &str, event: SyncEvent<'_>) {
        if let SyncEvent::Slow { delay } = event {
            self.0.note(&format!(
                "warning: {site}: robots.txt asks for {} s between requests, more than the maximum \
                 of {} s: syncing collections only, no single pages",
                delay.as_secs(),
                rutter_fetch::MAX_CRAWL_DELAY.as_secs()
            ));
            return;
        }
        let text = match event {
            SyncEvent::Discovering => "discovering".to_owned(),
            SyncEvent::Planned(plan) => {
                let (size, requests) = plan.total();
                format!("{}, {}", counted(requests, "file"), format_bytes(size))
            }
            SyncEvent::Fetching { url, size } => {
                format!("fetching {}, {}", visible(&redact(url)), format_bytes(size))
            }
            SyncEvent::Applying { section } => format!("applying `{}`", visible(section)),
            SyncEvent::Pages { done, known } => format!("{done} of {known} pages"),
            _ => return,
        };
        self.0.show(site, text);
    }
}
