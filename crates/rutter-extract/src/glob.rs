//! Matches paths against glob patterns.
//!
//! Input: a pattern and a path. `*` matches within a segment, `**` across segments, `?` one
//! character. Output: whether the whole path matches. Every text is a valid pattern.

/// A glob pattern for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Parses a pattern. A pattern without a slash, or with a slash only at its end, matches at any
    /// depth. A pattern that ends with a slash matches everything below that folder.
    pub fn new(pattern: &str) -> Self {
        let pattern = pattern.trim_start_matches('/');
        Self(match pattern {
            folder if folder.trim_end_matches('/').contains('/') && folder.ends_with('/') => {
                format!("{folder}**")
            }
            folder if folder.ends_with('/') => format!("**/{folder}**"),
            name if !name.contains('/') => format!("**/{name}"),
            path => path.to_owned(),
        })
    }

    /// Returns whether a path matches the pattern. The path has `/` between its segments and no `/`
    /// at its start.
    ///
    /// ```
    /// # use rutter_extract::Glob;
    /// assert!(Glob::new("drafts/").matches("drafts/2026/a.html"));
    /// assert!(Glob::new("drafts/").matches("blog/drafts/a.html"));
    /// assert!(Glob::new("*.tmp.html").matches("a/b.tmp.html"));
    /// assert!(!Glob::new("a/*.html").matches("a/b/c.html"));
    /// ```
    pub fn matches(&self, path: &str) -> bool {
        let pattern: Vec<&str> = self.0.split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        segments(&pattern, &path)
    }
}

/// Compares with one row of a dynamic programming table per pattern segment, so that no pattern
/// takes exponential time.
fn segments(pattern: &[&str], path: &[&str]) -> bool {
    let mut row = vec![false; path.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut reached = false;
        for at in 0..=path.len() {
            if *part == "**" {
                reached |= row[at];
                next[at] = reached;
            } else if at < path.len() && row[at] && within(part, path[at]) {
                next[at + 1] = true;
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or(false)
}

fn within(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut row = vec![false; text.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    for c in pattern.chars() {
        let mut next = vec![false; text.len() + 1];
        let mut reached = false;
        for at in 0..=text.len() {
            match c {
                '*' => {
                    reached |= row[at];
                    next[at] = reached;
                }
                _ if at < text.len() && row[at] && (c == '?' || c == text[at]) => {
                    next[at + 1] = true;
                }
                _ => {}
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or(false)
}
