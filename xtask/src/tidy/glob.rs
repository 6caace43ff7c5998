//! Patterns of paths: `*` is any part of one name, `**` any part of a path.

/// Returns whether `path` matches `pattern` as a whole.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let Some(at) = pattern.find('*') else { return pattern == path };
    let (start, star) = pattern.split_at(at);
    let Some(rest) = path.strip_prefix(start) else { return false };
    let (crosses_names, tail) = match star.strip_prefix("**") {
        Some(tail) => (true, tail),
        None => (false, star.get(1..).unwrap_or_default()),
    };
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.take_while(|end| crosses_names || !rest.get(..*end).unwrap_or_default().contains('/'))
        .any(|end| matches(tail, rest.get(end..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn matches_names_and_paths() {
        assert!(matches("crates/*/fixtures/**", "crates/a/fixtures/b/c.md"));
        assert!(matches("examples/*.jsonl", "examples/harbour.jsonl"));
        assert!(!matches("examples/*.jsonl", "examples/a/b.jsonl"));
        assert!(!matches("STYLE.md", "docs/STYLE.md"));
    }
}
