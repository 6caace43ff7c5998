//! Patterns with `*` and `$`, and what they are compared with.
//!
//! Both sides exist in two forms, because RFC 9309 and the matchers older than
//! it differ about percent-encoding. The *full* form is the RFC's: bytes beyond
//! ASCII encoded, encoded letters decoded. The *light* form stays closer to
//! what is written. Disallow compares the full forms; Allow wants its light
//! form to fit either, so it never reaches further than its letters.

/// An address as patterns see it: path and query.
pub(super) struct Target {
    light: Vec<u8>,
    /// Encoded letters decoded, the rest as it is written.
    decoded: Vec<u8>,
    full: Vec<u8>,
    is_robots_txt: bool,
}

impl Target {
    /// Takes an absolute URL, or a path with its query.
    pub(super) fn new(target: &str) -> Self {
        let path = path_of(target);
        let mut light = Vec::with_capacity(path.len() + 1);
        if !path.starts_with('/') {
            light.push(b'/');
        }
        light.extend(path.bytes());
        upper_hex(&mut light);
        let mut decoded = Vec::with_capacity(light.len());
        for &byte in &unencoded(&light) {
            // Patterns say `%2A` and `%24` for these two (RFC 9309, 2.2.3).
            match byte {
                b'*' => decoded.extend(b"%2A"),
                b'$' => decoded.extend(b"%24"),
                _ => decoded.push(byte),
            }
        }
        let full = encoded(&decoded);
        Self { is_robots_txt: light == b"/robots.txt", light, decoded, full }
    }

    /// The file itself may always be fetched (RFC 9309, 2.2.2).
    pub(super) fn is_robots_txt(&self) -> bool {
        self.is_robots_txt
    }

    pub(super) fn fits_light(&self, pattern: &[u8]) -> bool {
        matches(pattern, &self.light) || matches(pattern, &self.decoded)
    }

    pub(super) fn fits_full(&self, pattern: &[u8]) -> bool {
        matches(pattern, &self.full)
    }
}

/// The light and the full form of a pattern.
pub(super) fn forms(pattern: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut light = encoded(pattern);
    upper_hex(&mut light);
    let decoded = unencoded(&light);
    // Only a `$` at the end is special.
    let mut full = Vec::with_capacity(decoded.len());
    for (at, &byte) in decoded.iter().enumerate() {
        if byte == b'$' && at + 1 < decoded.len() {
            full.extend(b"%24");
        } else {
            full.push(byte);
        }
    }
    (light, full)
}

/// Path and query of an address, without fragment.
fn path_of(target: &str) -> &str {
    let target = target.split('#').next().unwrap_or_default();
    if target.starts_with('/') {
        return target;
    }
    let rest = match target.split_once("://") {
        // A scheme stands before any slash.
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => rest,
        _ => target,
    };
    rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or("/")
}

/// Encodes bytes that no address holds: beyond ASCII, spaces, controls.
fn encoded(text: &[u8]) -> Vec<u8> {
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

/// Writes the digits of `%e3` as `%E3`.
fn upper_hex(text: &mut [u8]) {
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

/// Decodes what never needs encoding.
fn unencoded(text: &[u8]) -> Vec<u8> {
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

/// Tells whether a pattern fits the beginning of a text.
///
/// Between two stars the first place that fits is as good as any later one, so
/// each part is searched once: no pattern takes more than its length times
/// the text's.
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
    fn spec_stars_and_dollars() {
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
    fn ours_hostile_patterns_take_no_time() {
        let pattern = format!("/{}b", "*a".repeat(5000));
        let text = format!("/{}", "a".repeat(16_000));
        assert!(!matches(pattern.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn ours_paths_of_addresses() {
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
