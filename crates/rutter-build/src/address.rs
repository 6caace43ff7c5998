//! The URLs of files, and the files of URLs.
//!
//! Pure functions of the base URL and a path. Rejects URLs outside the site, and paths that could lead out of the
//! site's folder.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_page::PageUrl;
use rutter_site::is_below;

use crate::plan::BaseUrl;

/// Folder of the SCP collections, relative to the output folder.
pub(crate) const SCP: &str = "scp";

/// Returns the default URL of a file: the folder for an index file, else the file itself (D30).
pub(crate) fn address(base: &BaseUrl, path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let shown = match name {
        "index.html" | "index.htm" | "index.xhtml" => String::new(),
        "index.md" | "_index.md" | "README.md" | "index.markdown" => String::new(),
        // Generators write a Markdown page as the index file of a folder.
        _ => match name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")) {
            Some(stem) => format!("{stem}/"),
            None => name.to_owned(),
        },
    };
    let mut url = String::from(base.as_str());
    for segment in folder.split('/').filter(|segment| !segment.is_empty()) {
        encode(segment, &mut url);
        url.push('/');
    }
    if let Some(stem) = shown.strip_suffix('/') {
        encode(stem, &mut url);
        url.push('/');
    } else {
        encode(&shown, &mut url);
    }
    PageUrl::parse(url).ok().map(|url| url.key().to_owned())
}

/// Returns whether a page is the home page, by its URL or by the name of its file.
pub(crate) fn is_home(base: &BaseUrl, url: &str, path: Option<&str>) -> bool {
    url == base.as_str()
        || path.is_some_and(|path| matches!(path, "index.html" | "index.htm" | "index.xhtml"))
}

/// Percent-encodes a path segment as the URL standard does.
fn encode(segment: &str, out: &mut String) {
    for byte in segment.bytes() {
        let stays = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'.'
                    | b'_'
                    | b'~'
                    | b'!'
                    | b'$'
                    | b'&'
                    | b'('
                    | b')'
                    | b'*'
                    | b'+'
                    | b','
                    | b';'
                    | b'='
                    | b':'
                    | b'@'
                    | b'\''
            );
        if stays {
            out.push(char::from(byte));
        } else {
            out.push('%');
            let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
            out.push(digit(byte >> 4).to_ascii_uppercase());
            out.push(digit(byte & 15).to_ascii_uppercase());
        }
    }
}

/// Returns the path that a URL names, relative to the site's folder; `None` for URLs outside the
/// site and for paths that could lead out of the folder.
pub(crate) fn path_inside<'u>(base: &BaseUrl, url: &'u str) -> Option<&'u str> {
    let path = base.strip(url)?;
    let is_safe = !path.starts_with('/')
        && !path.contains(['\\', '%', '?', '#', ':'])
        && !path.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    is_safe.then_some(path)
}

/// Returns whether a path is below a prefix or is the page next to that folder, such as `/a.html`
/// for `/a/`. Settings that restrict pages use this test instead of [`is_below`].
pub(crate) fn is_below_or_beside(path: &str, prefix: &str) -> bool {
    let stem = [".html", ".htm", ".xhtml"].iter().find_map(|ending| path.strip_suffix(ending));
    is_below(path, prefix) || stem.is_some_and(|stem| prefix.strip_suffix('/') == Some(stem))
}

/// Returns a configured path prefix as it appears in URLs: percent-encoded and below the path of
/// the base URL.
pub(crate) fn prefix(base: &BaseUrl, written: &str) -> String {
    let inside = written.strip_prefix(base.path()).unwrap_or(written).trim_start_matches('/');
    let mut out = String::from(base.path());
    for c in inside.chars() {
        let mut buffer = [0; 4];
        match c {
            '/' | '%' => out.push(c),
            _ => encode(c.encode_utf8(&mut buffer), &mut out),
        }
    }
    out
}

/// Returns the path of the Markdown twin of a page, relative to the output folder.
pub(crate) fn twin(base: &BaseUrl, url: &str, path: Option<&str>) -> Option<String> {
    let inside = match path {
        Some(path) => path.to_owned(),
        None if url == base.as_str() => "index.html".to_owned(),
        None => match url.strip_suffix('/') {
            Some(folder) => format!("{}/index.html", path_inside(base, folder)?),
            None => path_inside(base, url)?.to_owned(),
        },
    };
    let stem = [".html", ".htm", ".xhtml", ".markdown", ".md"]
        .iter()
        .find_map(|ending| inside.strip_suffix(ending))
        .unwrap_or(&inside);
    Some(format!("{stem}.md"))
}

/// Returns the URL of an artifact by its path relative to the output folder.
pub(crate) fn file_address(base: &BaseUrl, path: &str) -> String {
    let mut url = String::from(base.as_str());
    for (n, segment) in path.split('/').enumerate() {
        if n != 0 {
            url.push('/');
        }
        encode(segment, &mut url);
    }
    url
}

/// Returns a path percent-decoded, or unchanged if the result is not valid UTF-8.
pub(crate) fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = after.first_chunk::<2>().filter(|_| *first == b'%');
        let byte = encoded.and_then(|digits| {
            let text = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(text, 16).ok()
        });
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of a file below a folder; `None` if there is no file or a symbolic link is part
/// of the path.
pub(crate) fn regular_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    let mut kind = None;
    for part in name.split('/') {
        path.push(part);
        kind = Some(fs::symlink_metadata(&path).ok().filter(|it| !it.is_symlink())?);
    }
    kind?.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_prefix_covers_its_index_page_in_every_form() {
        for (path, below, beside) in [
            ("/a/", true, true),
            ("/a/b", true, true),
            ("/a", true, true),
            ("/a.html", false, true),
            ("/a.htm", false, true),
            ("/ab", false, false),
            ("/a.md", false, false),
            ("/", false, false),
        ] {
            assert_eq!(is_below(path, "/a/"), below, "{path}");
            assert_eq!(is_below_or_beside(path, "/a/"), beside, "{path}");
        }
        assert!(is_below("/ab", "/a") && !is_below("/b", "/a"));
    }

    #[test]
    fn urls_follow_from_paths() {
        let base = BaseUrl::parse("https://h.example/repo").unwrap();
        for (path, url) in [
            ("index.html", "https://h.example/repo/"),
            ("a/index.htm", "https://h.example/repo/a/"),
            ("a/b.html", "https://h.example/repo/a/b.html"),
            ("a b/ü.html", "https://h.example/repo/a%20b/%C3%BC.html"),
            ("100%.html", "https://h.example/repo/100%25.html"),
            ("q?x#y.html", "https://h.example/repo/q%3Fx%23y.html"),
            ("guide/install.md", "https://h.example/repo/guide/install/"),
            ("guide/README.md", "https://h.example/repo/guide/"),
        ] {
            assert_eq!(address(&base, path).as_deref(), Some(url), "{path}");
        }
        let twin = |url: &str, path| twin(&base, url, path);
        assert_eq!(twin("", Some("a/index.html")).as_deref(), Some("a/index.md"));
        assert_eq!(twin("https://h.example/repo/", None).as_deref(), Some("index.md"));
        assert_eq!(twin("https://h.example/repo/a/b", None).as_deref(), Some("a/b.md"));
        assert_eq!(twin("https://h.example/repo/%2e%2e/b", None), None);
        assert_eq!(twin("https://h.example/repo//etc/b", None), None);
        assert_eq!(prefix(&base, "/für/"), "/repo/f%C3%BCr/");
        assert_eq!(prefix(&base, "/repo/a/"), "/repo/a/");
        assert_eq!(file_address(&base, "a/ü.md"), "https://h.example/repo/a/%C3%BC.md");
    }
}
