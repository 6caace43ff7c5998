//! How far a crawl is: its counts, its times, and whether it has to stop.

use std::time::Duration;

use rutter_page::Timestamp;

/// Counts and times of a crawl.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrawlProgress {
    /// Number of pages that were handled.
    pub(super) n_done: u64,
    /// Number of consecutive network faults.
    pub(super) n_faults: u32,
    /// Number of requests for pages, number of requests that failed because of the network
    /// or the server, and number of URLs without a usable page.
    pub(super) n_asked: u64,
    pub(super) n_failed: u64,
    pub(super) n_without_page: u64,
    /// Number of new pages that the quota admits, number of new pages that were fetched,
    /// and number of new pages that were not requested because of the quota.
    pub(super) n_admitted: u64,
    pub(super) n_new: u64,
    pub(super) n_beyond: u64,
    pub(super) is_stopped: bool,
    /// End of the pause that the host asked for. The crawl stores it when it ends, because
    /// nothing else can be written while pages are staged.
    pub(super) pause: Option<Timestamp>,
    pub(super) began: Duration,
    pub(super) committed: Duration,
}

impl CrawlProgress {
    /// Creates the progress of a crawl that begins now and may add `n_admitted` pages.
    pub(super) fn new(began: Duration, n_admitted: u64) -> Self {
        Self {
            n_done: 0,
            n_faults: 0,
            n_asked: 0,
            n_failed: 0,
            n_without_page: 0,
            n_admitted,
            n_new: 0,
            n_beyond: 0,
            is_stopped: false,
            pause: None,
            began,
            committed: began,
        }
    }

    /// Returns whether most requests failed. A few failing pages are normal.
    pub(super) fn has_mostly_failed(&self) -> bool {
        self.n_asked < 2 * self.n_failed
    }
}

/// What a crawl does next. Each step is repeated until it has nothing left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CrawlStep {
    /// Wait for a response to a request.
    AwaitResponse,
    /// Learn the templates of the site from the pages that wait for them.
    LearnTemplates,
    /// Wait for the result of a worker; if there is none, continue with
    /// [`CrawlStep::ReleaseWaiting`].
    AwaitWorker,
    /// Release URLs and pages that waited until all others were fetched: other spellings of
    /// known URLs, then pages with a canonical page.
    ReleaseWaiting,
}

impl CrawlStep {
    /// Returns the next step of a crawl that cannot start another request now.
    pub(super) fn of(n_in_flight: usize, has_sample: bool, is_extracting: bool) -> Self {
        match (n_in_flight, has_sample, is_extracting) {
            (1.., _, _) => Self::AwaitResponse,
            (0, true, _) => Self::LearnTemplates,
            (0, false, true) => Self::AwaitWorker,
            (0, false, false) => Self::ReleaseWaiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_responses_before_templates_and_workers() {
        for (state, expected) in [
            ((2, true, true), CrawlStep::AwaitResponse),
            ((0, true, true), CrawlStep::LearnTemplates),
            ((0, false, true), CrawlStep::AwaitWorker),
            ((0, false, false), CrawlStep::ReleaseWaiting),
        ] {
            assert_eq!(CrawlStep::of(state.0, state.1, state.2), expected);
        }
    }
}
