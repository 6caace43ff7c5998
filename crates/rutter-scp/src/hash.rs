//! Computes the checksum of a collection while its text is read.

use rutter_page::Digest;
use sha2::{Digest as _, Sha256};

use crate::checksum_span::ChecksumSpan;

/// How the text was hashed when the checksum matched (D02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumForm {
    /// Text without the checksum member: the usual form.
    Excised,
    /// Like `Excised`, but without the final line end.
    ExcisedNoNewline,
    /// Text with the 64 digits replaced by zeros.
    Zeroed,
    /// Text unchanged.
    Literal,
}

impl ChecksumForm {
    /// Returns a description of the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Excised => "excised",
            Self::ExcisedNoNewline => "excised, final newline ignored",
            Self::Zeroed => "zeroed",
            Self::Literal => "literal",
        }
    }
}

/// SHA-256 hasher that keeps a final line end pending, so that the digests with and without the
/// line end are both available.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextHasher {
    hash: Sha256,
    held: &'static [u8],
}

impl TextHasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.held == b"\r" && bytes == b"\n" {
            self.held = b"\r\n";
            return;
        }
        self.hash.update(self.held);
        self.held = [&b"\r\n"[..], b"\n", b"\r"]
            .into_iter()
            .find(|end| bytes.ends_with(end))
            .unwrap_or_default();
        let kept = bytes.len() - self.held.len();
        self.hash.update(bytes.get(..kept).unwrap_or_default());
    }

    /// Hashes line 1 without its checksum member.
    pub(crate) fn update_excised(&mut self, line: &[u8], cut: Option<&ChecksumSpan>) {
        let Some(cut) = cut else { return self.update(line) };
        self.update(line.get(..cut.member.start).unwrap_or_default());
        self.update(line.get(cut.member.end..).unwrap_or_default());
    }

    /// Returns the digest of the whole text, and of the text without its final line end.
    pub(crate) fn finish(self) -> (Digest, Option<Digest>) {
        let mut whole = self.hash.clone();
        whole.update(self.held);
        let whole = Digest(whole.finalize().into());
        let shorter = self.held.ends_with(b"\n").then(|| Digest(self.hash.finalize().into()));
        (whole, shorter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-025 D02
    fn digest_is_independent_of_chunk_boundaries() {
        let text = b"{}\r\n{}\n\n{}\r\n";
        for step in 1..=text.len() {
            let mut hash = TextHasher::default();
            text.chunks(step).for_each(|chunk| hash.update(chunk));
            let (whole, shorter) = hash.finish();
            assert_eq!(whole, Digest::of(text), "{step}");
            assert_eq!(shorter, Some(Digest::of(b"{}\r\n{}\n\n{}")), "{step}");
        }
        let mut hash = TextHasher::default();
        hash.update(b"{}");
        assert_eq!(hash.finish(), (Digest::of(b"{}"), None));
    }
}
