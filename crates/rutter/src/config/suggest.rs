//! The known name that was probably meant.

/// The name nearest to a misspelt one, unless all are far away.
pub(crate) fn nearest<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let text = text.to_lowercase().replace('_', "-");
    let most = 1 + text.chars().count() / 4;
    let near = names.into_iter().map(|name| (distance(&text, name), name));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// How many letters must be put in, taken out or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // Names are short; what is longer is nobody's misspelling.
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
    fn ours_the_nearest_name_is_suggested() {
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
