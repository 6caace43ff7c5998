//! Arguments of `rutter serve` and `rutter logs`: the thresholds at which a client is reported as
//! odd.

use rutter_logs::OddClientThresholds;

/// Arguments about the detection of odd clients.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Odd clients")]
pub(crate) struct OddClientArgs {
    /// Path prefix of closed pages, if the server answers 404 for them
    ///
    /// May be repeated. Requests for these paths count for --odd-closed. Example: /members/.
    #[arg(long, value_name = "PATH")]
    closed: Vec<String>,
    /// Hours within which requests of a client are counted
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8784))]
    odd_window: u32,
    /// Minimum number of pages to report a client (LG001)
    ///
    /// Counts different pages that a client reads one by one although the site has collections.
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.pages, value_parser = count())]
    odd_pages: u64,
    /// Minimum number of too early requests to report a client (LG002)
    ///
    /// Counts requests that a client sends before the time in a Retry-After header has passed.
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.early, value_parser = count())]
    odd_early: u64,
    /// Minimum number of different closed paths to report a client (LG003)
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.closed, value_parser = count())]
    odd_closed: u64,
    /// Minimum number of 401 responses to report a client (LG004)
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.refused, value_parser = count())]
    odd_refused: u64,
    /// Minimum number of downloads of a collection to report a client (LG005)
    ///
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.downloads, value_parser = count())]
    odd_downloads: u64,
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

impl OddClientArgs {
    pub(crate) fn thresholds(&self) -> OddClientThresholds {
        OddClientThresholds {
            window: i64::from(self.odd_window) * 3600,
            pages: self.odd_pages,
            early: self.odd_early,
            closed: self.odd_closed,
            closed_paths: self.closed.clone(),
            refused: self.odd_refused,
            downloads: self.odd_downloads,
            ..OddClientThresholds::DEFAULT
        }
    }
}
