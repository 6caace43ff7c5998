//! Detects crawler traps: URLs whose form suggests that the site generates an endless
//! number of pages.
//!
//! Input: URLs of links, and [`CrawlLimits`]. Output: the reason why a URL is not fetched,
//! or none.

use std::collections::BTreeMap;

use rutter_fetch::Url;

use crate::crawl::variants::is_session;
use crate::limits::CrawlLimits;
use crate::report::left_out::LeftOutReason;

/// Detector for one crawl. It counts the URLs with a query for each path.
#[derive(Debug, Default)]
pub(crate) struct TrapDetector {
    queries: BTreeMap<String, u32>,
}

impl TrapDetector {
    /// Returns the reason why a URL is not fetched; `None` if the URL may be fetched.
    pub(crate) fn refuse(&mut self, url: &Url, limits: &CrawlLimits) -> Option<LeftOutReason> {
        if limits.url_length < url.as_str().len() {
            return Some(LeftOutReason::URL_LENGTH);
        }
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        if limits.path_segments < parts.len() {
            return Some(LeftOutReason::PATH_DEPTH);
        }
        let most = limits.path_repeats;
        let repeats = |part: &&&str| most < parts.iter().filter(|it| it == part).count();
        if parts.iter().any(|part| repeats(&part)) {
            return Some(LeftOutReason::PATH_REPEATS);
        }
        let query = url.query()?;
        if query.split('&').any(is_session) {
            return Some(LeftOutReason::SESSION);
        }
        let seen = self.queries.entry(url.path().to_owned()).or_default();
        *seen += 1;
        (limits.queries_per_path < *seen).then_some(LeftOutReason::QUERIES_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_crawler_traps() {
        let mut traps = TrapDetector::default();
        let limits = CrawlLimits::default();
        let mut ask = |path: &str| {
            traps.refuse(&Url::parse(&format!("https://h.example{path}")).unwrap(), &limits)
        };
        assert_eq!(ask("/"), None);
        assert_eq!(ask("/a/b/a/b"), None);
        assert_eq!(ask("/a/b/a/b/a"), Some(LeftOutReason::PATH_REPEATS));
        assert_eq!(ask("/x?PHPSESSID=1"), Some(LeftOutReason::SESSION));
        assert_eq!(ask("/d"), None);
        let deep = (0..21).fold(String::new(), |path, n| format!("{path}/{n}"));
        assert_eq!(ask(&deep), Some(LeftOutReason::PATH_DEPTH));
        assert_eq!(ask(&format!("/{}", "a".repeat(3000))), Some(LeftOutReason::URL_LENGTH));
        for n in 0..100 {
            assert_eq!(ask(&format!("/calendar?day={n}")), None);
        }
        assert_eq!(ask("/calendar?day=100"), Some(LeftOutReason::QUERIES_LIMIT));
    }
}
