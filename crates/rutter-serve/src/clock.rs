//! The current time, as HTTP dates, records and expiry times use it.

use std::time::SystemTime;

/// The last second of the year 9999, the latest date with four digits of the year.
pub(crate) const LATEST: i64 = 253_402_300_799;

/// Returns the seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
