//! Converts request paths to file names.
//!
//! A path is decoded once and never repaired. Rejects every path that could name a hidden file or a
//! file outside the root: `..`, encoded slashes, backslashes, NUL and control characters, bytes
//! that are not UTF-8 (including overlong forms), names with a leading dot except `.well-known`.
//! Names are not normalized: restrictions are stored by name, so each file must have one spelling.

use std::borrow::Cow;
use std::path::Path;

/// Maximum length of a path and of one component, in bytes.
const MAX_LENGTH: usize = 4096;
const MAX_NAME: usize = 255;

/// The file name in a request path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestPath {
    /// Relative to the root, without leading and trailing slash; empty for the root.
    pub(crate) name: String,
    /// Whether the path ended with a slash.
    pub(crate) is_folder: bool,
}

/// Why a path is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// The path is malformed (400).
    Bad,
    /// The name is hidden, or no file can have it (404).
    Hidden,
}

/// Parses the path of a request.
pub(crate) fn read(path: &str) -> Result<RequestPath, PathFault> {
    let Some(rest) = path.strip_prefix('/') else { return Err(PathFault::Bad) };
    if MAX_LENGTH < rest.len() {
        return Err(PathFault::Hidden);
    }
    let name = decoded(rest)?;
    let (name, is_folder) = match name.strip_suffix('/') {
        Some(name) => (name.to_owned(), true),
        None => (name, rest.is_empty()),
    };
    if name.is_empty() {
        // `//` is not the root.
        return if rest.is_empty() {
            Ok(RequestPath { name, is_folder: true })
        } else {
            Err(PathFault::Hidden)
        };
    }
    for (at, part) in name.split('/').enumerate() {
        if part == "." || part == ".." {
            return Err(PathFault::Bad);
        }
        let is_served = !part.starts_with('.') || (at == 0 && part == ".well-known");
        if part.is_empty() || MAX_NAME < part.len() || !is_served {
            return Err(PathFault::Hidden);
        }
    }
    Ok(RequestPath { name, is_folder })
}

/// Returns the canonical spelling of a path, which is its key in the response cache.
///
/// All percent-encoded spellings of a path have the same key. A path that cannot be decoded is
/// returned unchanged.
pub(crate) fn cache_key(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    match path.strip_prefix('/').map(decoded) {
        Some(Ok(name)) => Cow::Owned(encoded(&name)),
        _ => Cow::Borrowed(path),
    }
}

/// Returns whether a server of `root` would serve a file or directory under its own name. For a
/// file that does not exist yet, its directory decides. Restricted files count as served.
pub fn is_served(root: &Path, path: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    let whole = path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    });
    let below = whole.as_deref().and_then(|whole| whole.strip_prefix(root).ok());
    below.and_then(Path::to_str).is_some_and(|name| read(&encoded(name)).is_ok())
}

/// Decodes percent-encoding once.
fn decoded(text: &str) -> Result<String, PathFault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let (byte, was_encoded) = if byte == b'%' {
            let high = rest.next().and_then(digit).ok_or(PathFault::Bad)?;
            let low = rest.next().and_then(digit).ok_or(PathFault::Bad)?;
            (high << 4 | low, true)
        } else {
            (byte, false)
        };
        let is_bad = byte < 0x20 || byte == 0x7f || byte == b'\\' || (byte == b'/' && was_encoded);
        if is_bad {
            return Err(PathFault::Bad);
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| PathFault::Bad)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Encodes a file name as a URL path.
pub(crate) fn encoded(name: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(name.len() + 1);
    text.push('/');
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_path_share_a_cache_key() {
        for path in ["/a%20b/%C3%BC.html", "/%61%20b/%c3%bc.%68tml", "/a%20%62/%C3%BC%2Ehtml"] {
            assert_eq!(cache_key(path), "/a%20b/%C3%BC.html");
        }
        for path in ["/a.html", "/", "/a/", "/a%2fb", "/%zz", "/%ff", "*"] {
            assert_eq!(cache_key(path), path);
        }
    }

    #[test] // E01, E03
    fn rejects_paths_that_could_leave_the_root() {
        let bad = [
            "",
            "x",
            "/..",
            "/../x",
            "/a/../b",
            "/./a",
            "/a/.",
            "/%2e%2e/x",
            "/%2E%2e%2fetc",
            "/..%2fbar",
            "/a%2fb",
            "/..%5cx",
            "/a\\b",
            "/%5c",
            "/%00",
            "/a%00.html",
            "/%0a",
            "/%7f",
            "/%c0%ae%c0%ae/x",
            "/%e0%80%af",
            "/%ff",
            "/%",
            "/%4",
            "/%zz",
            "/a/%2e/b",
            "*",
        ];
        for path in bad {
            assert_eq!(read(path), Err(PathFault::Bad), "{path}");
        }
        let hidden = [
            "//",
            "//etc/passwd",
            "/a//b",
            "/.git/config",
            "/.rutter/served.json",
            "/a/.htaccess",
            "/.rutter-stage/1",
            "/docs/.well-known/x",
            "/a/..b",
            "/%2egit/config",
            "/...",
        ];
        for path in hidden {
            assert_eq!(read(path), Err(PathFault::Hidden), "{path}");
        }
        assert_eq!(read(&format!("/{}", "a".repeat(256))), Err(PathFault::Hidden));
        assert_eq!(read(&format!("/{}", "a/".repeat(3000))), Err(PathFault::Hidden));
    }

    #[test]
    fn accepts_other_paths_as_names() {
        let read = |path| read(path).map(|asked| (asked.name, asked.is_folder)).unwrap();
        assert_eq!(read("/"), (String::new(), true));
        assert_eq!(read("/a/b.html"), ("a/b.html".to_owned(), false));
        assert_eq!(read("/a/b/"), ("a/b".to_owned(), true));
        assert_eq!(read("/.well-known/arc-policy.json").0, ".well-known/arc-policy.json");
        // Decoded once: a second layer of encoding stays in the name.
        assert_eq!(read("/%252e%252e/x").0, "%2e%2e/x");
        assert_eq!(read("/%C3%BCber%20uns.html").0, "über uns.html");
        assert_eq!(encoded("über uns.html"), "/%C3%BCber%20uns.html");
    }

    #[test]
    fn serves_files_below_the_root_unless_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["root/a", "root/.b", "beside"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("root/a/key"), "").unwrap();
        std::os::unix::fs::symlink(at("root/a/key"), at("beside/link")).unwrap();
        std::os::unix::fs::symlink(at("beside"), at("root/out")).unwrap();
        for (name, wanted) in [
            ("root", true),
            ("root/a", true),
            ("root/a/key", true),
            ("root/a/not-yet.log", true),
            ("root/a/../a/key", true),
            ("beside/link", true),
            ("root/.b", false),
            ("root/.b/key", false),
            ("root/.key", false),
            ("root/out/key", false),
            ("beside", false),
            ("none/at/all", false),
        ] {
            assert_eq!(is_served(&at("root"), &at(name)), wanted, "{name}");
        }
        assert!(!is_served(&at("none"), &at("none/a")));
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_root_or_names_a_dotfile(path in "(/|%2[ef]|%5c|\\.|[a-z%é\\\\]|\\PC){0,128}") {
            if let Ok(asked) = read(&path) {
                prop_assert!(!asked.name.starts_with('/') && !asked.name.contains('\0'));
                for (at, part) in asked.name.split('/').enumerate() {
                    let is_root = asked.name.is_empty();
                    prop_assert!(is_root || !part.is_empty());
                    prop_assert!(!part.starts_with('.') || (at == 0 && part == ".well-known"));
                }
                // An encoded name decodes to itself.
                if !asked.name.is_empty() {
                    prop_assert_eq!(read(&encoded(&asked.name)).unwrap().name, asked.name);
                }
            }
        }
    }
}
