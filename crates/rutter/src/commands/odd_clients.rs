//! Arguments of `rutter serve` and `rutter logs`: the thresholds of the rules LG001 to LG005, which
//! report clients that behave unusually.

use rutter_logs::OddClientThresholds;

/// Arguments about the detection of odd clients.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Odd clients")]
pub(crate) struct OddClientArgs {
    /// Path prefix of restricted pages for which the server answers 404
    ///
    /// May be repeated. Requests for these paths count for --odd-closed. Example: /members/.
    #[arg(long, value_name = "PATH")]
    closed: Vec<String>,
    /// Number of hours over which the requests of a client are counted
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8784))]
    odd_window: u32,
    /// Report clients that read at least N pages one by one (LG001)
    ///
    /// Different pages count, and only if the site has collections.
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.pages, value_parser = count())]
    odd_pages: u64,
    /// Report clients that send at least N requests too early (LG002)
    ///
    /// A request is too early if the client sends it before the time in a Retry-After header has
    /// passed.
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.early, value_parser = count())]
    odd_early: u64,
    /// Report clients that request at least N restricted paths (LG003)
    ///
    /// Different paths count.
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.closed, value_parser = count())]
    odd_closed: u64,
    /// Report clients that get at least N responses with status 401 (LG004)
    #[arg(long, value_name = "N", default_value_t = OddClientThresholds::DEFAULT.refused, value_parser = count())]
    odd_refused: u64,
    /// Report clients that download a collection at least N times (LG005)
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
