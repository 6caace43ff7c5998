//! Scope of a sync: the part of a site that is synced.
//!
//! Input: path prefixes, globs on the path, languages. Output: whether a page is inside.
//! Pages outside are not fetched. If a collection delivers a page outside, the replica
//! stores its row without content, so that the state of the section can equal the state
//! that the publisher claims (D95). Rejects invalid globs and language ranges.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

/// Rules of a scope, as written by the user and stored with the site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeRules {
    /// Path prefixes: a page is inside if its path is at or below one of them. If empty,
    /// every path is inside.
    pub prefixes: Vec<String>,
    /// Globs on the path: a page is inside if it matches one of them. If empty, every path
    /// is inside.
    pub include: Vec<String>,
    /// Globs on the path: a page that matches one of them is outside, even if another rule
    /// includes the page.
    pub exclude: Vec<String>,
    /// Language ranges (RFC 4647, basic filtering): `en` also matches `en-GB`. A page
    /// without a language is inside. If empty, every language is inside.
    pub languages: Vec<String>,
}

/// The part of a site that a sync is limited to. A page is inside if all rules include it.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    rules: ScopeRules,
    include: GlobSet,
    exclude: GlobSet,
}

/// Why a rule is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// The glob is invalid.
    #[error("`{0}` is not a valid glob: {1}")]
    Glob(String, String),
    /// The text is not a language range.
    #[error("`{0}` is not a language, such as `en` or `de-AT`")]
    Language(String),
}

impl Scope {
    /// Compiles the rules of a scope.
    ///
    /// In a glob, `*` matches any characters except `/`, `**` matches any characters, and
    /// `?` matches one. A glob that ends with `/` matches every path below.
    ///
    /// ```
    /// use rutter_sync::{Scope, ScopeRules};
    /// let rules = ScopeRules { include: vec!["/docs/**".into()], ..ScopeRules::default() };
    /// let scope = Scope::new(rules).unwrap();
    /// assert!(scope.has_url("https://h.example/docs/a/b?x=1"));
    /// assert!(!scope.has_url("https://h.example/blog/"));
    /// ```
    pub fn new(rules: ScopeRules) -> Result<Self, ScopeError> {
        for language in &rules.languages {
            let is_part = |part: &str| {
                (1..=8).contains(&part.len()) && part.bytes().all(|it| it.is_ascii_alphanumeric())
            };
            if !language.split('-').all(is_part) {
                return Err(ScopeError::Language(language.clone()));
            }
        }
        let (include, exclude) = (compile(&rules.include)?, compile(&rules.exclude)?);
        Ok(Self { rules, include, exclude })
    }

    /// Returns the rules of this scope.
    pub fn rules(&self) -> &ScopeRules {
        &self.rules
    }

    /// Returns whether every page is inside, because there are no rules.
    pub fn is_everything(&self) -> bool {
        self.rules == ScopeRules::default()
    }

    /// Returns whether a page is inside by the path of its URL.
    pub fn has_url(&self, address: &str) -> bool {
        let path = path_of(address);
        let prefixes = &self.rules.prefixes;
        let is_below = |prefix: &String| {
            let prefix = prefix.trim_end_matches('/');
            let rest = path.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        (prefixes.is_empty() || prefixes.iter().any(is_below))
            && (self.rules.include.is_empty() || self.include.is_match(path))
            && !self.exclude.is_match(path)
    }

    /// Returns whether a page in this language is inside by its language.
    pub fn has_language(&self, language: &str) -> bool {
        let fits = |range: &String| {
            let start = language.get(..range.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(range))
                && matches!(language.as_bytes().get(range.len()), None | Some(b'-'))
        };
        let ranges = &self.rules.languages;
        ranges.is_empty() || language.is_empty() || ranges.iter().any(fits)
    }
}

fn compile(globs: &[String]) -> Result<GlobSet, ScopeError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let bad = |error: &globset::Error| ScopeError::Glob(glob.clone(), error.kind().to_string());
        let mut pattern = encoded(glob);
        if !pattern.starts_with(['/', '*']) {
            pattern.insert(0, '/');
        }
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let built = GlobBuilder::new(&pattern).literal_separator(true).build();
        set.add(built.map_err(|error| bad(&error))?);
    }
    set.build().map_err(|error| ScopeError::Glob(globs.join(" "), error.to_string()))
}

/// Percent-encodes the non-ASCII characters of a glob, because URL paths are
/// percent-encoded.
fn encoded(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len());
    for c in glob.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.extend(["%", &format!("{byte:02X}")]);
            }
        }
    }
    out
}

/// Returns the path of a URL, without query and fragment.
fn path_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    path.split(['?', '#']).next().unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(prefixes: &[&str], include: &[&str], exclude: &[&str], languages: &[&str]) -> Scope {
        let [prefixes, include, exclude, languages] = [prefixes, include, exclude, languages]
            .map(|words| words.iter().map(|&word| word.to_owned()).collect());
        Scope::new(ScopeRules { prefixes, include, exclude, languages }).unwrap()
    }

    #[test]
    fn prefix_matches_whole_segments() {
        for prefix in ["/docs", "/docs/"] {
            let scope = scope(&[prefix, "/blog"], &[], &[], &[]);
            for (path, wanted) in [
                ("/docs", true),
                ("/docs/", true),
                ("/docs/a/b?c=/x", true),
                ("/blog/1", true),
                ("/docs2", false),
                ("/", false),
                ("", false),
            ] {
                assert_eq!(scope.has_url(&format!("https://h.example{path}")), wanted, "{path}");
            }
        }
        assert!(scope(&[], &[], &[], &[]).has_url("https://h.example/anything"));
        assert!(scope(&["/"], &[], &[], &[]).has_url("https://h.example/anything"));
    }

    #[test]
    fn exclude_wins_over_include_and_globs_match_whole_paths() {
        let scope = scope(&[], &["/docs/**", "/über/"], &["/docs/old/", "**/*.pdf"], &[]);
        for (path, wanted) in [
            ("/docs/a", true),
            ("/docs/a/b", true),
            ("/docs/old/a", false),
            ("/docs/a.pdf", false),
            ("/%C3%BCber/a/b", true),
            ("/blog", false),
            ("/x/docs/a", false),
        ] {
            assert_eq!(scope.has_url(&format!("https://h.example{path}")), wanted, "{path}");
        }
    }

    #[test]
    fn language_range_matches_its_subtags() {
        let scope = scope(&[], &[], &[], &["en", "de-AT"]);
        for (language, wanted) in [
            ("en", true),
            ("EN-gb", true),
            ("de-AT", true),
            ("de", false),
            ("eng", false),
            ("fr", false),
            ("", true),
        ] {
            assert_eq!(scope.has_language(language), wanted, "{language}");
        }
    }

    #[test]
    fn rejects_invalid_globs_and_languages() {
        let bad = |include: &str, language: &str| {
            Scope::new(ScopeRules {
                include: vec![include.to_owned()],
                languages: vec![language.to_owned()],
                ..ScopeRules::default()
            })
        };
        assert!(matches!(bad("/a[", "en"), Err(ScopeError::Glob(glob, _)) if glob == "/a["));
        assert!(matches!(bad("/a", "english please"), Err(ScopeError::Language(_))));
        assert!(bad("/{a,b}/**", "en").is_ok());
    }
}
