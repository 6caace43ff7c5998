//! Codings undone: what the head declares, then one more layer by its first
//! bytes (D05).
//!
//! Names are no evidence, and a declared coding is none either where the bytes
//! say otherwise: a server on the way may have undone it.
//!
//! Refuses: more than two layers, unknown codings, more bytes than allowed,
//! garbage behind the last member or frame.

use std::io::{self, BufRead, BufReader, Read};

use crate::header::{Coding, UnknownCoding};

/// Largest window of zstd: 8 MiB (RFC 9659).
const WINDOW_LOG: u32 = 23;

/// Why bytes could not be decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A coding nobody asked for.
    #[error("{0}")]
    Unknown(UnknownCoding),
    /// Compressed more than twice.
    #[error("compressed more than twice")]
    Layers,
    /// More bytes than allowed.
    #[error("more than {0} bytes decoded")]
    TooLarge(u64),
    /// The bytes are damaged.
    #[error("cannot be decoded")]
    Damaged(#[source] io::Error),
}

/// Opens a stream of decoded bytes.
///
/// `declared` is `Content-Encoding`; reading stops with an error after `most`
/// bytes.
///
/// ```
/// # use std::io::Read;
/// let mut text = String::new();
/// let mut input = rutter_fetch::decode::open(&b"plain"[..], Some("gzip"), 100).unwrap();
/// input.read_to_string(&mut text).unwrap();
/// assert_eq!(text, "plain");
/// ```
pub fn open<'r>(
    input: impl Read + Send + 'r,
    declared: Option<&str>,
    most: u64,
) -> Result<Box<dyn Read + Send + 'r>, DecodeError> {
    let declared =
        Coding::parse_list(declared.unwrap_or_default()).map_err(DecodeError::Unknown)?;
    if 2 < declared.len() {
        return Err(DecodeError::Layers);
    }
    let mut input: Box<dyn Read + Send + 'r> = Box::new(input);
    let mut n_layers = 0;
    loop {
        let mut buffered = BufReader::with_capacity(64 << 10, input);
        let magic = magic_of(buffered.fill_buf().map_err(DecodeError::Damaged)?);
        let Some(coding) = magic else {
            return Ok(Box::new(Capped { inner: buffered, left: most, most }));
        };
        // The declared layers, and one more; two at the least.
        if 2 <= n_layers {
            return Err(DecodeError::Layers);
        }
        n_layers += 1;
        input = match coding {
            Coding::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered)),
            Coding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered)
                    .map_err(DecodeError::Damaged)?;
                decoder.window_log_max(WINDOW_LOG).map_err(DecodeError::Damaged)?;
                Box::new(decoder)
            }
        };
    }
}

/// Decodes bytes that are at hand.
pub fn whole(bytes: &[u8], declared: Option<&str>, most: u64) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let read = open(bytes, declared, most)?.read_to_end(&mut out);
    match read {
        Ok(_) => Ok(out),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(DecodeError::TooLarge(most))
        }
        Err(error) => Err(DecodeError::Damaged(error)),
    }
}

/// Whether bytes begin like a compressed file, whatever a head declares.
pub fn is_coded(bytes: &[u8]) -> bool {
    magic_of(bytes).is_some()
}

fn magic_of(start: &[u8]) -> Option<Coding> {
    match start {
        [0x1f, 0x8b, ..] => Some(Coding::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Coding::Zstd),
        _ => None,
    }
}

/// Ends with an error after so many bytes.
struct Capped<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        match self.left.checked_sub(n as u64) {
            Some(left) => {
                self.left = left;
                Ok(n)
            }
            None => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("more than {} bytes decoded", self.most),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_testkit::{gzip, zstd};

    use super::*;

    fn read(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, DecodeError> {
        whole(bytes, declared, 1000)
    }

    #[test] // A08 A09 of reliability.md, D05
    fn ours_declared_absent_double_and_wrong() {
        let text = b"{\"collection\":1}";
        for (bytes, declared) in [
            (text.to_vec(), None),
            (text.to_vec(), Some("gzip")),
            (gzip(text), Some("gzip")),
            (gzip(text), None),
            (gzip(text), Some("zstd")),
            (zstd(text), Some("zstd, identity")),
            (zstd(text), None),
            (gzip(&gzip(text)), Some("gzip")),
            (gzip(&zstd(text)), None),
            ([gzip(b"{\"collection"), gzip(b"\":1}")].concat(), Some("gzip")),
        ] {
            assert_eq!(read(&bytes, declared).unwrap(), text, "{declared:?}");
        }
    }

    #[test] // A02 A05 A06 of reliability.md
    fn ours_bombs_cuts_and_garbage() {
        let text = vec![b'a'; 2000];
        assert!(matches!(read(&gzip(&text), None), Err(DecodeError::TooLarge(1000))));
        assert!(matches!(read(&zstd(&text), None), Err(DecodeError::TooLarge(1000))));
        assert!(matches!(read(&text, None), Err(DecodeError::TooLarge(1000))));
        let thrice = gzip(&gzip(&gzip(b"a")));
        assert!(matches!(read(&thrice, None), Err(DecodeError::Layers)));
        assert!(matches!(read(b"a", Some("br")), Err(DecodeError::Unknown(_))));
        assert!(matches!(read(b"a", Some("gzip,gzip,gzip")), Err(DecodeError::Layers)));
        let small = gzip(b"hello");
        for cut in [3, small.len() / 2, small.len() - 1] {
            let (part, _) = small.split_at(cut);
            assert!(matches!(read(part, None), Err(DecodeError::Damaged(_))), "{cut}");
        }
        let garbage = [gzip(b"hello"), b"garbage".to_vec()].concat();
        assert!(matches!(read(&garbage, None), Err(DecodeError::Damaged(_))));
        // A frame that asks for a window of 2 GiB.
        let greedy = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
        assert!(matches!(read(&greedy, None), Err(DecodeError::Damaged(_))));
    }
}
