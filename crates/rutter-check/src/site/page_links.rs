//! Finds links and images of a page whose target does not exist on the site.
//!
//! Input: the bytes of an HTML page, its URL, and the files of the site. Output: the targets that
//! do not exist, each once. Other sites are never contacted. Links that only a script or a server
//! can resolve are skipped.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rutter_fetch::Url;

use super::files::SiteFiles;
use super::site_base::SiteBase;

/// The maximum length of a link target in bytes.
const LONGEST: usize = 4096;
/// The maximum number of stored broken targets per page.
const MOST: usize = 1000;

/// How a page uses the target of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TargetKind {
    Link,
    Image,
}

/// A link target or image that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BrokenTarget {
    pub(crate) kind: TargetKind,
    /// The URL to which the target was resolved, without fragment.
    pub(crate) url: String,
    pub(crate) line: u64,
}

/// Decides which URLs of the site exist.
pub(crate) struct UrlLookup<'t> {
    files: &'t SiteFiles,
    home: &'t SiteBase,
    /// Paths that the host redirects according to `_redirects`. A path with a final `*` is a
    /// prefix.
    redirects: Vec<String>,
}

impl<'t> UrlLookup<'t> {
    /// Reads the redirects that the file `_redirects` in the folder lists.
    pub(crate) fn new(files: &'t SiteFiles, home: &'t SiteBase) -> Self {
        let text = files.find("_redirects").and_then(|at| files.read(at, 1 << 20).ok().flatten());
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let redirects = text
            .iter()
            .flat_map(|text| text.lines())
            .filter_map(|line| line.split_whitespace().next())
            .filter(|from| from.starts_with('/'))
            // A placeholder such as `:slug` in `/blog/:slug` matches any name.
            .map(|from| match from.find("/:") {
                Some(at) => format!("{}/*", &from[..at]),
                None => from.to_owned(),
            })
            .collect();
        Self { files, home, redirects }
    }

    /// Returns whether the host answers at a URL of the site.
    fn has(&self, url: &str) -> bool {
        if self.files.is_there(self.home, url) {
            return true;
        }
        let target = self.home.target_of(url).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default();
        self.redirects.iter().any(|from| match from.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix) || path == prefix.trim_end_matches('/'),
            None => path.trim_end_matches('/') == from.trim_end_matches('/'),
        })
    }

    /// Finds the broken targets of a page, in the order of kind and URL.
    pub(crate) fn broken(&self, page: &str, bytes: &[u8]) -> Vec<BrokenTarget> {
        let Ok(mut base) = Url::parse(page) else { return Vec::new() };
        let mut broken: Vec<BrokenTarget> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut lines = (0_usize, 1_u64);
        for_each_target(bytes, &mut |tag, value, at| {
            let Some(kind) = tag else {
                if let Ok(url) = base.join(value) {
                    base = url;
                }
                return;
            };
            let value = value.trim();
            if value.is_empty() || value.starts_with('#') || !seen.insert((kind, value.to_owned()))
            {
                return;
            }
            let Ok(mut url) = base.join(value) else { return };
            url.set_fragment(None);
            let is_own = self.home.path_of(url.as_str()).is_some();
            if is_own && !self.has(url.as_str()) && broken.len() < MOST {
                let passed = bytes.get(lines.0..at).unwrap_or_default();
                lines = (at, lines.1 + memchr::memchr_iter(b'\n', passed).count() as u64);
                broken.push(BrokenTarget { kind, url: url.into(), line: lines.1 });
            }
        });
        broken.sort();
        broken.dedup_by(|one, other| one.kind == other.kind && one.url == other.url);
        broken
    }
}

/// Calls `take` for each target in document order, with its kind (`None` for `<base>`), its value,
/// and the position of its tag.
fn for_each_target(bytes: &[u8], take: &mut dyn FnMut(Option<TargetKind>, &str, usize)) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', bytes.get(at..).unwrap_or_default()) {
        let tag = at + found;
        at = tag + 1;
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(b"!--") {
            at += memchr::memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        let name_len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = rest.get(..name_len).unwrap_or_default();
        if is_name(name, "script") || is_name(name, "style") || is_name(name, "textarea") {
            at += end_of_raw(rest, name);
            continue;
        }
        let (kind, wanted) = if is_name(name, "a") || is_name(name, "area") {
            (Some(TargetKind::Link), "href")
        } else if is_name(name, "img") {
            (Some(TargetKind::Image), "src")
        } else if is_name(name, "base") {
            (None, "href")
        } else {
            continue;
        };
        let (value, length) = attribute(rest.get(name_len..).unwrap_or_default(), wanted);
        at += name_len + length;
        if let Some(value) = value.filter(|value| value.len() <= LONGEST)
            && let Some(value) = without_references(&String::from_utf8_lossy(value))
        {
            take(kind, &value, tag);
        }
    }
}

fn is_name(name: &[u8], wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted.as_bytes())
}

/// Returns the length of an element whose content is raw text, such as `script`.
fn end_of_raw(rest: &[u8], name: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(rest.get(at..).unwrap_or_default(), b"</") {
        at += found + 2;
        let end = rest.get(at..at + name.len()).unwrap_or_default();
        if end.eq_ignore_ascii_case(name) {
            return at;
        }
    }
    rest.len()
}

/// Returns the value of an attribute of a tag, and the length of the tag. `rest` begins inside the
/// tag.
fn attribute<'b>(rest: &'b [u8], wanted: &str) -> (Option<&'b [u8]>, usize) {
    let mut value = None;
    let mut at = 0;
    let byte = |at: usize| rest.get(at).copied();
    let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte == b'/';
    loop {
        while byte(at).is_some_and(is_blank) {
            at += 1;
        }
        let start = at;
        while byte(at).is_some_and(|byte| !is_blank(byte) && byte != b'=' && byte != b'>') {
            at += 1;
        }
        let name = rest.get(start..at).unwrap_or_default();
        while byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        match byte(at) {
            Some(b'=') => {
                at += 1;
                while byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
                    at += 1;
                }
                let (found, end) = match byte(at) {
                    Some(quote @ (b'"' | b'\'')) => {
                        let inner = rest.get(at + 1..).unwrap_or_default();
                        let length = memchr::memchr(quote, inner).unwrap_or(inner.len());
                        (inner.get(..length), at + 1 + length + 1)
                    }
                    _ => {
                        let inner = rest.get(at..).unwrap_or_default();
                        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                        let length = inner.iter().position(is_end).unwrap_or(inner.len());
                        (inner.get(..length), at + length)
                    }
                };
                at = end;
                if value.is_none() && is_name(name, wanted) {
                    value = found;
                }
            }
            Some(b'>') | None => return (value, at),
            Some(_) => {}
        }
    }
}

/// Decodes character references; returns `None` for unsupported references, so
/// that such links are not reported.
fn without_references(value: &str) -> Option<Cow<'_, str>> {
    if !value.contains('&') {
        return Some(Cow::Borrowed(value));
    }
    let plain =
        value.replace("&amp;", "\u{0}").replace("&#38;", "\u{0}").replace("&#x26;", "\u{0}");
    let has_reference = plain.split('&').skip(1).any(|rest| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '#').next();
        let end = name.map_or(0, str::len);
        rest.get(end..).is_some_and(|rest| rest.starts_with(';'))
    });
    (!has_reference).then(|| Cow::Owned(plain.replace('\u{0}', "&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(html: &str) -> Vec<(Option<TargetKind>, String)> {
        let mut found = Vec::new();
        for_each_target(html.as_bytes(), &mut |kind, value, _| {
            found.push((kind, value.to_owned()));
        });
        found
    }

    #[test]
    fn finds_targets_in_tags_only() {
        let link = |value: &str| (Some(TargetKind::Link), value.to_owned());
        let image = |value: &str| (Some(TargetKind::Image), value.to_owned());
        for (html, wanted) in [
            ("<a href=\"x.html\">", vec![link("x.html")]),
            ("<A\nclass=b HREF = 'x y'>t</A>", vec![link("x y")]),
            ("<a href=x.html><img alt='>' src=y.png>", vec![link("x.html"), image("y.png")]),
            ("<a href=a href=b>", vec![link("a")]),
            ("<a data-href=a>", vec![]),
            ("<a href=\"?a=1&amp;b=2\">", vec![link("?a=1&b=2")]),
            ("<a href=\"?a=1&b=2\">", vec![link("?a=1&b=2")]),
            ("<a href=\"caf&eacute;\">", vec![]),
            ("<!-- <a href=x> --><area href=y>", vec![link("y")]),
            ("<script>'<a href=x>'</script><a href=y>", vec![link("y")]),
            ("<style>a</STYLE ><a href=y>", vec![link("y")]),
            ("<base href=\"/docs/\">", vec![(None, "/docs/".to_owned())]),
            ("<abbr href=x><imgx src=y>", vec![]),
            ("<a href=\"x", vec![link("x")]),
            ("<a", vec![]),
            ("<!--", vec![]),
            ("<script>", vec![]),
        ] {
            assert_eq!(targets(html), wanted, "{html}");
        }
    }
}
