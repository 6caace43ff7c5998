//! Addresses that are not worth asking: crawler traps, and how far one goes.
//!
//! Pure rules over an address; what they turn away is counted by its reason.

use std::collections::BTreeMap;

use rutter_fetch::Url;

/// Longest address.
const LONGEST: usize = 2048;
/// Deepest path.
const DEEPEST: usize = 20;
/// How often a part of a path may stand in it.
const REPEATED: usize = 2;
/// Different queries of one path.
const MOST_QUERIES: u32 = 100;
/// Parameters that name a visit and not a page.
const SESSIONS: [&str; 8] = [
    "phpsessid",
    "jsessionid",
    "sessionid",
    "session_id",
    "sid",
    "aspsessionid",
    "cfid",
    "cftoken",
];

/// What was seen of each path.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    queries: BTreeMap<String, u32>,
}

impl Traps {
    /// Why an address is not asked for; `None` where it is.
    pub(crate) fn refuse(&mut self, url: &Url) -> Option<&'static str> {
        if LONGEST < url.as_str().len() {
            return Some("the address is too long");
        }
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        if DEEPEST < parts.len() {
            return Some("the path is too deep");
        }
        let repeats = |part: &&&str| REPEATED < parts.iter().filter(|it| it == part).count();
        if parts.iter().any(|part| repeats(&part)) {
            return Some("the path repeats itself");
        }
        let query = url.query()?;
        let is_session = |pair: &str| {
            let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
            SESSIONS.contains(&name.as_str())
        };
        if query.split('&').any(is_session) {
            return Some("the address names a session");
        }
        let seen = self.queries.entry(url.path().to_owned()).or_default();
        *seen += 1;
        (MOST_QUERIES < *seen).then_some("too many queries of one path")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D16 of the cases for fetching
    fn ours_traps_are_turned_away() {
        let mut traps = Traps::default();
        let mut ask =
            |path: &str| traps.refuse(&Url::parse(&format!("https://h.example{path}")).unwrap());
        assert_eq!(ask("/"), None);
        assert_eq!(ask("/a/b/a/b"), None);
        assert_eq!(ask("/a/b/a/b/a"), Some("the path repeats itself"));
        assert_eq!(ask("/x?PHPSESSID=1"), Some("the address names a session"));
        assert_eq!(ask("/d"), None);
        let deep = (0..21).fold(String::new(), |path, n| format!("{path}/{n}"));
        assert_eq!(ask(&deep), Some("the path is too deep"));
        assert_eq!(ask(&format!("/{}", "a".repeat(3000))), Some("the address is too long"));
        for n in 0..100 {
            assert_eq!(ask(&format!("/calendar?day={n}")), None);
        }
        assert_eq!(ask("/calendar?day=100"), Some("too many queries of one path"));
    }
}
