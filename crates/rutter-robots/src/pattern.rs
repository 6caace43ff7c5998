//! Matches robots.txt patterns with `*` and `$` against paths.
//!
//! Patterns and paths have two forms, because RFC 9309 and older parsers treat percent-encoding
//! differently. The *normalised* form follows the RFC: non-ASCII bytes are encoded, and encoded
//! letters are decoded. The *written* form stays closer to the file. Disallow rules compare the
//! normalised forms. Allow rules compare the written form, so they never allow more than the file
//! says.

/// Path and query of a URL in the forms that patterns are compared with.
pub(super) struct TargetPath {
    written: Vec<u8>,
    /// The written form with encoded letters decoded.
    decoded: Vec<u8>,
    normalised: Vec<u8>,
    is_robots_txt: bool,
}

impl TargetPath {
    /// Creates the target from an absolute URL, or a path with query.
    pub(super) fn new(target: &str) -> Self {
        let path = path_of(target);
        let mut written = Vec::with_capacity(path.len() + 1);
        if !path.starts_with('/') {
            written.push(b'/');
        }
        written.extend(path.bytes());
        uppercase_hex(&mut written);
        let mut decoded = Vec::with_capacity(written.len());
        for &byte in &decode_unreserved(&written) {
            // Patterns write `*` and `$` in a path as `%2A` and `%24` (RFC 9309, 2.2.3).
            match byte {
                b'*' => decoded.extend(b"%2A"),
                b'$' => decoded.extend(b"%24"),
                _ => decoded.push(byte),
            }
        }
        let normalised = percent_encode(&decoded);
        Self { is_robots_txt: written == b"/robots.txt", written, decoded, normalised }
    }

    /// Returns whether the target is /robots.txt, which is always allowed
    /// (RFC 9309, 2.2.2).
    pub(super) fn is_robots_txt(&self) -> bool {
        self.is_robots_txt
    }

    pub(super) fn matches_written(&self, pattern: &[u8]) -> bool {
        matches(pattern, &self.written) || matches(pattern, &self.decoded)
    }

    pub(super) fn matches_normalised(&self, pattern: &[u8]) -> bool {
        matches(pattern, &self.normalised)
    }
}

/// Returns the written and the normalised form of a pattern.
pub(super) fn pattern_forms(pattern: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut written = percent_encode(pattern);
    uppercase_hex(&mut written);
    let decoded = decode_unreserved(&written);
    // A `$` is special only at the end of a pattern.
    let mut normalised = Vec::with_capacity(decoded.len());
    for (at, &byte) in decoded.iter().enumerate() {
        if byte == b'$' && at + 1 < decoded.len() {
            normalised.extend(b"%24");
        } else {
            normalised.push(byte);
        }
    }
    (written, normalised)
}

/// Returns the path and the query of a URL, without its fragment.
fn path_of(target: &str) -> &str {
    let target = target.split('#').next().unwrap_or_default();
    if target.starts_with('/') {
        return target;
    }
    let rest = match target.split_once("://") {
        // The scheme of a URL precedes all its slashes.
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => rest,
        _ => target,
    };
    rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or("/")
}

/// Percent-encodes bytes that a URL cannot contain: non-ASCII, spaces, controls.
fn percent_encode(text: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |value: u8| HEX.get(usize::from(value)).copied().unwrap_or(b'0');
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_graphic() {
            out.push(byte);
        } else {
            out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

/// Converts the hexadecimal digits of escapes such as `%e3` to upper case.
fn uppercase_hex(text: &mut [u8]) {
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr(b'%', rest)) {
        at += next + 1;
        if let Some(digits) = text.get_mut(at..at + 2)
            && digits.iter().all(u8::is_ascii_hexdigit)
        {
            digits.make_ascii_uppercase();
            at += 2;
        }
    }
}

/// Decodes percent-encoded characters that never need encoding.
fn decode_unreserved(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        if let (b'%', [high, low, after @ ..]) = (first, after)
            && let (Some(high), Some(low)) =
                (char::from(*high).to_digit(16), char::from(*low).to_digit(16))
            && let Ok(byte) = u8::try_from(high * 16 + low)
            && (byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        {
            out.push(byte);
            rest = after;
        } else {
            out.push(*first);
        }
    }
    out
}

/// Returns whether a pattern matches the beginning of a text.
///
/// Between two stars the first match is as good as any later match, so each part is searched once.
/// The time is O(pattern length × text length).
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !is_anchored || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if is_anchored && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = memchr::memmem::find(rest, part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RFC 9309, 2.2.3
    fn matches_stars_and_dollars() {
        for (pattern, text, wanted) in [
            ("/", "/anything", true),
            ("/fish*", "/fish.html", true),
            ("/*.php", "/folder/a.php?x", true),
            ("/*.php$", "/a.php?x", false),
            ("/*.php$", "/a.php", true),
            ("/fish*.php", "/fishheads/catfish.php?x", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("/*$", "/ab", true),
            ("*", "/", true),
            ("/a**b", "/axxb", true),
            ("/a*a$", "/a", false),
            ("/a$b", "/a$bc", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn matches_hostile_patterns_quickly() {
        let pattern = format!("/{}b", "*a".repeat(5000));
        let text = format!("/{}", "a".repeat(16_000));
        assert!(!matches(pattern.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn extracts_path_of_url() {
        for (target, path) in [
            ("https://h.example", "/"),
            ("https://h.example?x", "?x"),
            ("https://h.example/a?b#c", "/a?b"),
            ("/a//b", "/a//b"),
            ("//a", "//a"),
            ("h.example/a", "/a"),
            ("/a?u=http://x/y", "/a?u=http://x/y"),
            ("", "/"),
        ] {
            assert_eq!(path_of(target), path, "{target}");
        }
    }
}
