//! Reads the title and the canonical link of an HTML page.
//!
//! The code scans for tags and is not an HTML parser, because two pages of one host are compared
//! that were read in the same way. Rejects feeds and other documents that are not HTML.

/// Elements that an HTML page can start with. (A feed also has a `title` element, but is not a
/// page.)
const FIRST: [&str; 9] =
    ["html", "head", "title", "meta", "link", "base", "script", "style", "body"];

/// Title and canonical link of an HTML page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageTitle {
    pub(crate) title: Option<String>,
    canonical: Option<String>,
}

impl PageTitle {
    /// Reads the head of a page; `None` if the text is not HTML or has neither title nor canonical
    /// link.
    pub(crate) fn of(page: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(page);
        let mut page_title = Self::default();
        let mut is_first = true;
        let mut rest = text.trim_start_matches('\u{feff}').trim_start();
        if !rest.starts_with('<') {
            return None;
        }
        while let Some((_, after)) = rest.split_once('<') {
            if let Some(comment) = after.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
                continue;
            }
            let Some((tag, after)) = cut_tag(after) else { break };
            rest = after;
            let name: String =
                tag.chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
            let name = name.to_ascii_lowercase();
            if name.is_empty() {
                continue;
            }
            if std::mem::take(&mut is_first) && !FIRST.contains(&name.as_str()) {
                return None;
            }
            match name.as_str() {
                "title" if page_title.title.is_none() => {
                    let (title, after) = until_end(rest, "title");
                    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                    page_title.title = Some(title).filter(|title| !title.is_empty());
                    rest = after;
                }
                // Skip the content of these elements, which is not markup or not displayed.
                "script" | "style" | "noscript" | "template" => rest = until_end(rest, &name).1,
                "link" if page_title.canonical.is_none() => page_title.canonical = canonical(tag),
                "body" => break,
                _ => {}
            }
        }
        (page_title != Self::default()).then_some(page_title)
    }

    /// Returns whether another page has the same title and canonical link. `path` is the path of
    /// this page; the title and the link of this page may contain it.
    pub(crate) fn is_same_page_as(&self, other: &Self, path: &str) -> bool {
        is_same(self.title.as_deref(), other.title.as_deref(), path)
            && is_same(self.canonical.as_deref(), other.canonical.as_deref(), path)
    }
}

/// Returns whether two texts are equal, or differ only where the first text contains its path.
fn is_same(missing: Option<&str>, other: Option<&str>, path: &str) -> bool {
    let (Some(missing), Some(other)) = (missing, other) else { return missing == other };
    if missing == other {
        return true;
    }
    let name = path.trim_start_matches('/');
    if name.is_empty() {
        return false;
    }
    let Some((before, after)) = missing.split_once(name) else { return false };
    // A text that is only the path would match any title.
    if before.is_empty() && after.is_empty() {
        return false;
    }
    let rest = other.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    rest.is_some_and(|rest| !rest.contains(char::is_whitespace))
}

/// Splits a tag from the text that follows it. A `>` in quotes does not end the tag.
fn cut_tag(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some((text.get(..at)?, text.get(at + 1..)?)),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Splits the content of an element from the text after its end tag.
fn until_end<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("</")) {
        let start = from + at;
        let is_end = text
            .get(start + 2..start + 2 + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if is_end {
            let inside = text.get(..start).unwrap_or_default();
            let after = text.get(start..).unwrap_or_default();
            return (inside, after.split_once('>').map_or("", |(_, rest)| rest));
        }
        from = start + 2;
    }
    (text, "")
}

/// Returns the URL of `<link rel=canonical href=...>`.
fn canonical(tag: &str) -> Option<String> {
    let attributes = attributes(tag);
    let value = |wanted: &str| {
        attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    let is_canonical =
        value("rel")?.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"));
    let href = value("href")?.trim();
    (is_canonical && !href.is_empty()).then(|| href.to_owned())
}

/// Returns the attributes of a tag: names in lower case, values as written.
fn attributes(tag: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = tag.split_once(|c: char| c.is_ascii_whitespace() || c == '/').map_or("", second);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=').unwrap_or(rest.len());
        // An equals sign at the start of an attribute name is part of the name.
        let (name, after) = rest.split_at(end.max(rest.chars().next().map_or(1, char::len_utf8)));
        let after = after.trim_start();
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else {
            found.push((name.to_ascii_lowercase(), String::new()));
            rest = after;
            continue;
        };
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inside = value.get(1..).unwrap_or_default();
                inside.split_once(quote).unwrap_or((inside, ""))
            }
            _ => value.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((value, "")),
        };
        found.push((name.to_ascii_lowercase(), value.to_owned()));
        rest = after;
    }
}

fn second<'t>((_, second): (&'t str, &'t str)) -> &'t str {
    second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Option<String>, Option<String>)> {
        PageTitle::of(text.as_bytes()).map(|page| (page.title, page.canonical))
    }

    #[test]
    fn reads_title_and_canonical_link_of_html_pages() {
        let both = Some((Some("A b".to_owned()), Some("/x".to_owned())));
        for text in [
            "<!DOCTYPE html><html><head><title>A b</title><link rel=canonical href=/x></head>",
            "\u{feff} <!-- <title>No</title> --><HTML><TITLE lang='en'>\n A\n b </TITLE>\n<LINK HREF='/x' REL='Canonical alternate'/>",
            "<meta charset=utf-8><script>\"<title>No</title>\"</script><title>A b</title><link data-x=\"a>b\" href=\"/x\" rel=\"canonical\">",
            "<html><link rel=icon href=/i><title>A b</title><title>Second</title><link rel = canonical href = '/x'><link rel=canonical href=/y>",
        ] {
            assert_eq!(read(text), both, "{text}");
        }
        for none in [
            "",
            "{}",
            "Words <title>A</title>",
            "<rss><channel><title>A</title>",
            "<?xml version='1.0'?><feed><title>A</title></feed>",
            "<html><body><title>A</title>",
            "<html><title",
            "<html><link rel=canonical><link rel=canonical href=''>",
            "<html><link =x='><",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn ignores_the_requested_path_in_titles() {
        let path = "/rutter-0123";
        let is_same = |missing, other| is_same(Some(missing), Some(other), path);
        assert!(is_same("Home", "Home"));
        assert!(!is_same("Home", "Tides"));
        assert!(is_same("No /rutter-0123 here", "No /a/b.json here"));
        assert!(!is_same("No /rutter-0123 here", "No luck for me here"));
        assert!(is_same("https://a.example/rutter-0123", "https://a.example/tides"));
        assert!(!is_same("https://a.example/rutter-0123", "https://b.example/tides"));
        assert!(!is_same("rutter-0123", "Tides"));
    }
}
