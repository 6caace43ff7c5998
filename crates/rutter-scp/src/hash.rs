//! The checksum, taken as the text goes by.

use rutter_page::Digest;
use sha2::{Digest as _, Sha256};

use crate::excise::Cut;

/// How a checksum was found to match (D02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text without the checksum member: the usual form.
    Excised,
    /// The same without the final line end.
    ExcisedNoNewline,
    /// Text with the 64 digits replaced by zeros.
    Zeroed,
    /// The text as it is.
    Literal,
}

impl Form {
    /// The form in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Excised => "excised",
            Self::ExcisedNoNewline => "excised, final newline ignored",
            Self::Zeroed => "zeroed",
            Self::Literal => "literal",
        }
    }
}

/// SHA-256 that holds a final line end back, so that both digests, with and
/// without it, are known in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct TailHash {
    hash: Sha256,
    held: &'static [u8],
}

impl TailHash {
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

    /// Hashes line 1 with its checksum member cut out.
    pub(crate) fn update_excised(&mut self, line: &[u8], cut: Option<&Cut>) {
        let Some(cut) = cut else { return self.update(line) };
        self.update(line.get(..cut.member.start).unwrap_or_default());
        self.update(line.get(cut.member.end..).unwrap_or_default());
    }

    /// The digest of everything, and of everything but the final line end.
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
    fn spec_newlines_are_hashed_however_the_text_is_cut() {
        let text = b"{}\r\n{}\n\n{}\r\n";
        for step in 1..=text.len() {
            let mut hash = TailHash::default();
            text.chunks(step).for_each(|chunk| hash.update(chunk));
            let (whole, shorter) = hash.finish();
            assert_eq!(whole, Digest::of(text), "{step}");
            assert_eq!(shorter, Some(Digest::of(b"{}\r\n{}\n\n{}")), "{step}");
        }
        let mut hash = TailHash::default();
        hash.update(b"{}");
        assert_eq!(hash.finish(), (Digest::of(b"{}"), None));
    }
}
