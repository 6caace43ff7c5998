//! Parses `crawl_rate` (D52).

use std::time::Duration;

/// Request rate that a site asks crawlers to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrawlRate {
    /// Delay between two requests.
    pub delay: Duration,
}

impl CrawlRate {
    /// Parses a number, a slash and a unit (s, m, min, h or d), such as `30/min`.
    ///
    /// ```
    /// # use rutter_arc::CrawlRate;
    /// # use std::time::Duration;
    /// assert_eq!(CrawlRate::parse("30/min").unwrap().delay, Duration::from_secs(2));
    /// assert_eq!(CrawlRate::parse("fast"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = text.trim().split_once('/')?;
        let unit = match unit.trim() {
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let number = number.trim();
        let is_number = !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number.ends_with(|c: char| c.is_ascii_digit());
        let number: f64 = if is_number { number.parse().ok()? } else { return None };
        // A rate of zero would give an infinite delay.
        let delay = Duration::try_from_secs_f64(unit / number).ok()?;
        (0.0 < number && number.is_finite()).then_some(Self { delay })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // ARC-032 D52
    fn parses_valid_rates_and_rejects_invalid_ones() {
        for (text, millis) in
            [("1/s", 1000), ("2/s", 500), ("0.5/s", 2000), ("6/m", 10_000), ("1/h", 3_600_000)]
        {
            let delay = CrawlRate::parse(text).map(|rate| rate.delay);
            assert_eq!(delay, Some(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(CrawlRate::parse("24/d"), CrawlRate::parse("1/h"));
        for bad in
            ["", "1", "/s", "0/s", "-1/s", "1/week", "1e400/s", "1//s", "NaN/s", "inf/s", "1./s"]
        {
            assert_eq!(CrawlRate::parse(bad), None, "{bad}");
        }
    }
}
