//! Finds the known name that is most similar to a misspelt name.

/// Returns the name that is most similar to `text`, if one is similar enough.
pub(crate) fn nearest<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let text = text.to_lowercase().replace('_', "-");
    let most = 1 + text.chars().count() / 4;
    let near = names.into_iter().map(|name| (distance(&text, name), name));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// Returns the edit distance of two names: the number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // Names are short; longer input is not a misspelt name.
    for (a_idx, letter) in a.chars().take(64).enumerate() {
        let mut next = vec![a_idx + 1];
        for (b_idx, other) in b.iter().enumerate() {
            let replaced = row[b_idx] + usize::from(letter != *other);
            next.push(replaced.min(row[b_idx + 1] + 1).min(next[b_idx] + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_the_nearest_name() {
        for (typed, meant) in [
            ("base_url", Some("base-url")),
            ("BaseURL", Some("base-url")),
            ("exlude", Some("exclude")),
            ("crawldelay", Some("crawl-delay")),
            ("colour", None),
        ] {
            let names = ["base-url", "exclude", "crawl-delay", "out"];
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }
}
