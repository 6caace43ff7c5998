//! Recognises crawler traps: URLs whose shape says that following them does
//! not end. Pure rules over a URL; the bounds come from [`CrawlLimits`].

use std::collections::BTreeMap;

use rutter_fetch::Url;

use crate::left_out::LeftOut;
use crate::limits::CrawlLimits;
use crate::variants::is_session;

/// What was seen of each path.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    queries: BTreeMap<String, u32>,
}

impl Traps {
    /// Why an address is not asked for; `None` where it is.
    pub(crate) fn refuse(&mut self, url: &Url, limits: &CrawlLimits) -> Option<LeftOut> {
        if limits.url_length < url.as_str().len() {
            return Some(LeftOut::URL_LENGTH);
        }
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        if limits.path_segments < parts.len() {
            return Some(LeftOut::PATH_DEPTH);
        }
        let most = limits.path_repeats;
        let repeats = |part: &&&str| most < parts.iter().filter(|it| it == part).count();
        if parts.iter().any(|part| repeats(&part)) {
            return Some(LeftOut::PATH_REPEATS);
        }
        let query = url.query()?;
        if query.split('&').any(is_session) {
            return Some(LeftOut::SESSION);
        }
        let seen = self.queries.entry(url.path().to_owned()).or_default();
        *seen += 1;
        (limits.queries_per_path < *seen).then_some(LeftOut::QUERIES_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D16 of the cases for fetching
    fn ours_traps_are_turned_away() {
        let mut traps = Traps::default();
        let limits = CrawlLimits::default();
        let mut ask = |path: &str| {
            traps.refuse(&Url::parse(&format!("https://h.example{path}")).unwrap(), &limits)
        };
        assert_eq!(ask("/"), None);
        assert_eq!(ask("/a/b/a/b"), None);
        assert_eq!(ask("/a/b/a/b/a"), Some(LeftOut::PATH_REPEATS));
        assert_eq!(ask("/x?PHPSESSID=1"), Some(LeftOut::SESSION));
        assert_eq!(ask("/d"), None);
        let deep = (0..21).fold(String::new(), |path, n| format!("{path}/{n}"));
        assert_eq!(ask(&deep), Some(LeftOut::PATH_DEPTH));
        assert_eq!(ask(&format!("/{}", "a".repeat(3000))), Some(LeftOut::URL_LENGTH));
        for n in 0..100 {
            assert_eq!(ask(&format!("/calendar?day={n}")), None);
        }
        assert_eq!(ask("/calendar?day=100"), Some(LeftOut::QUERIES_LIMIT));
    }
}
