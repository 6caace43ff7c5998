//! SHA-256 digests: the full digest of a file and the short digest of a page's line.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses `sha256:` and 64 hexadecimal digits of either case (D03); returns `None` for anything
    /// else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.as_bytes();
        let mut digest = [0; 32];
        if digits.len() != 2 * digest.len() {
            return None;
        }
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            let &[high, low] = pair else { return None };
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Some(Self(digest))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first 16 bytes of the SHA-256 digest of a page's line, without the line end.
///
/// It identifies a page version in the ledger, in the replica and in the state of a section (D95).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineDigest(pub [u8; 16]);

impl LineDigest {
    /// Hashes the line of a page.
    pub fn of(line: &[u8]) -> Self {
        Self(first_16(Sha256::digest(line).into()))
    }

    /// Parses 32 hexadecimal digits; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digest = [0; 16];
        if text.len() != 2 * digest.len() {
            return None;
        }
        for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let &[high, low] = pair else { return None };
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Some(Self(digest))
    }
}

impl fmt::Display for LineDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for LineDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn first_16(digest: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|position| digest.get(position).copied().unwrap_or(0))
}

fn hex(bytes: &[u8]) -> String {
    // Runs for every page; faster than the formatter.
    let digit =
        |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-027 SCP-088
    fn parses_and_displays_digests() {
        let empty = Digest::of(b"");
        let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(empty.to_string(), text);
        assert_eq!(Digest::parse(text), Some(empty));
        let upper = text.to_uppercase().replace("SHA256", "sha256");
        assert_eq!(Digest::parse(&upper), Some(empty));
        for bad in [&text[..70], &format!("{text}00"), &text.replace("sha256", "md5"), ""] {
            assert_eq!(Digest::parse(bad), None, "{bad}");
        }
        assert_eq!(Digest::parse(&text.replace('e', "g")), None);
    }

    #[test] // D95
    fn line_digest_is_first_half_of_sha256() {
        let digest = LineDigest::of(b"");
        assert_eq!(digest.to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
        assert_eq!(LineDigest::parse(&digest.to_string()), Some(digest));
        assert_eq!(LineDigest::parse("e3"), None);
    }
}
