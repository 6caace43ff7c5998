//! From when on a client is odd: the same flags for `serve` and `logs`.

use rutter_logs::Thresholds;

/// What the arguments say.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Odd clients")]
pub(crate) struct Watching {
    /// Beginning of paths that are closed, where the server hides them by 404
    #[arg(long, value_name = "PATH")]
    closed: Vec<String>,
    /// Hours in which the following are counted
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8784))]
    odd_window: u32,
    /// Different pages, read one by one although there are collections (LG001)
    #[arg(long, value_name = "N", default_value_t = Thresholds::USUAL.pages, value_parser = count())]
    odd_pages: u64,
    /// Requests while the client was told to wait (LG002)
    #[arg(long, value_name = "N", default_value_t = Thresholds::USUAL.early, value_parser = count())]
    odd_early: u64,
    /// Different closed paths that were tried (LG003)
    #[arg(long, value_name = "N", default_value_t = Thresholds::USUAL.closed, value_parser = count())]
    odd_closed: u64,
    /// Answers 401, for want of a valid token (LG004)
    #[arg(long, value_name = "N", default_value_t = Thresholds::USUAL.refused, value_parser = count())]
    odd_refused: u64,
    /// Downloads of the same collection (LG005)
    #[arg(long, value_name = "N", default_value_t = Thresholds::USUAL.downloads, value_parser = count())]
    odd_downloads: u64,
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

impl Watching {
    pub(crate) fn thresholds(&self) -> Thresholds {
        Thresholds {
            window: i64::from(self.odd_window) * 3600,
            pages: self.odd_pages,
            early: self.odd_early,
            closed: self.odd_closed,
            closed_paths: self.closed.clone(),
            refused: self.odd_refused,
            downloads: self.odd_downloads,
            ..Thresholds::USUAL
        }
    }
}
