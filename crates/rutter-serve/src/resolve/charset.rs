//! Detects whether a page is UTF-8 while its bytes are read.
//!
//! `Content-Type` takes precedence over the charset that a page declares in its first kilobyte, so
//! it must not contradict the page. The server declares UTF-8 only if the page declares UTF-8 or no
//! charset, and all bytes of the page are valid UTF-8.

use std::io::{self, Read};

/// Number of bytes in which browsers look for a declared charset (HTML, section 13.2.3.2).
const START: usize = 1024;

/// A reader that checks whether its bytes are UTF-8.
#[derive(Debug)]
pub(crate) struct Utf8Checker<R> {
    input: R,
    start: Vec<u8>,
    /// Bytes of a character that is not complete yet.
    rest: Vec<u8>,
    is_fine: bool,
}

impl<R: Read> Utf8Checker<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, start: Vec::new(), rest: Vec::new(), is_fine: true }
    }

    /// Returns whether all bytes read so far are UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.is_fine && self.rest.is_empty() && !declares_other(&self.start)
    }

    fn check(&mut self, bytes: &[u8]) {
        let n_missing = START - self.start.len();
        self.start.extend_from_slice(bytes.get(..n_missing.min(bytes.len())).unwrap_or_default());
        let mut bytes = bytes;
        while let (false, [first, after @ ..]) = (self.rest.is_empty(), bytes) {
            self.rest.push(*first);
            bytes = after;
            match std::str::from_utf8(&self.rest) {
                Ok(_) => self.rest.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.is_fine = false;
                    return;
                }
            }
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            self.is_fine = error.error_len().is_none();
            self.rest.extend_from_slice(bytes.get(error.valid_up_to()..).unwrap_or_default());
        }
    }
}

impl<R: Read> Read for Utf8Checker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buffer)?;
        if self.is_fine {
            self.check(buffer.get(..n).unwrap_or_default());
        }
        Ok(n)
    }
}

/// Returns whether the start of a page declares a charset other than UTF-8.
fn declares_other(start: &[u8]) -> bool {
    let lower = start.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    while let Some(at) = memchr::memmem::find(rest, b"charset") {
        rest = rest.get(at + b"charset".len()..).unwrap_or_default();
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte);
        let end = value.iter().position(is_end).unwrap_or(value.len());
        if !matches!(value.get(..end), Some(b"utf-8" | b"utf8")) {
            return true;
        }
    }
    // XHTML declares the charset in its first line.
    let declared = memchr::memmem::find(&lower, b"<?xml").is_some()
        && memchr::memmem::find(&lower, b"encoding=").is_some();
    declared && memchr::memmem::find(&lower, b"utf-8").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads in chunks of every size; the result must be the same.
    fn is_utf8(bytes: &[u8]) -> bool {
        let mut verdicts = (1..=bytes.len().max(1)).map(|size| {
            let mut text = Utf8Checker::new(bytes);
            let mut piece = vec![0; size];
            while 0 < text.read(&mut piece).unwrap() {}
            text.is_utf8()
        });
        let first = verdicts.next().unwrap();
        assert!(verdicts.all(|verdict| verdict == first), "{bytes:?}");
        first
    }

    #[test]
    fn detects_utf8_pages() {
        for fine in [
            "",
            "<p>plain",
            "<p>héllo \u{1f980}",
            "<meta charset=utf-8><p>é",
            "<META CHARSET = 'UTF-8'>",
            "<meta http-equiv=content-type content='text/html; charset=utf8'>",
            "<?xml version='1.0' encoding='UTF-8'?><p>é",
            "<p>the charset of a page",
        ] {
            assert!(is_utf8(fine.as_bytes()), "{fine}");
        }
        for other in [
            &b"<p>h\xe9llo"[..],
            b"\xff\xfe<\0p\0",
            b"<p>\xc3",
            b"<meta charset=iso-8859-1><p>plain",
            b"<meta charset=\"windows-1252\">",
            b"<meta charset=utf-8><meta charset=koi8-r>",
            b"<?xml version='1.0' encoding='latin1'?>",
        ] {
            assert!(!is_utf8(other), "{other:?}");
        }
        // Browsers ignore a declaration after the first kilobyte.
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(START));
        let mut text = Utf8Checker::new(late.as_bytes());
        io::copy(&mut text, &mut io::sink()).unwrap();
        assert!(text.is_utf8());
    }
}
