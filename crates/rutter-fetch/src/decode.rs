//! Decompresses bodies; the magic bytes of a body decide its coding (D05).
//!
//! File names prove nothing, and an intermediary may have removed a declared coding, so the bytes
//! decide. The declared codings limit how many layers are decompressed.
//!
//! Rejects: more than two layers of compression, unknown codings, output beyond the size limit,
//! garbage after the last gzip member or zstd frame.

use std::io::{self, BufRead, BufReader, Read};

use crate::header::{ContentCoding, UnknownCoding};

/// Maximum window size of zstd, as a power of two: 8 MiB (RFC 9659).
const WINDOW_LOG: u32 = 23;

/// Why a body could not be decompressed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The declared coding is not supported.
    #[error("{0}")]
    Unknown(UnknownCoding),
    /// The body is compressed more than twice.
    #[error("the body is compressed more than twice")]
    Layers,
    /// The decompressed body is too large.
    #[error("the decompressed body is larger than {0} bytes")]
    TooLarge(u64),
    /// The compressed data are damaged.
    #[error("cannot decompress the body")]
    Damaged(#[source] io::Error),
}

/// Returns a reader of the decompressed body.
///
/// `declared` is the value of `Content-Encoding`. Reading more than `max_bytes` decompressed bytes
/// fails.
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
    max_bytes: u64,
) -> Result<Box<dyn Read + Send + 'r>, DecodeError> {
    let declared =
        ContentCoding::parse_list(declared.unwrap_or_default()).map_err(DecodeError::Unknown)?;
    if 2 < declared.len() {
        return Err(DecodeError::Layers);
    }
    let mut input: Box<dyn Read + Send + 'r> = Box::new(input);
    let mut n_layers = 0;
    loop {
        let mut buffered = BufReader::with_capacity(64 << 10, input);
        let magic = magic_of(buffered.fill_buf().map_err(DecodeError::Damaged)?);
        let Some(coding) = magic else {
            return Ok(Box::new(LimitedReader { inner: buffered, left: max_bytes, max_bytes }));
        };
        // A body has at most two layers of compression, declared or not.
        if 2 <= n_layers {
            return Err(DecodeError::Layers);
        }
        n_layers += 1;
        input = match coding {
            ContentCoding::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered)),
            ContentCoding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered)
                    .map_err(DecodeError::Damaged)?;
                decoder.window_log_max(WINDOW_LOG).map_err(DecodeError::Damaged)?;
                Box::new(decoder)
            }
        };
    }
}

/// Decompresses a body in memory.
pub fn decode_all(
    bytes: &[u8],
    declared: Option<&str>,
    max_bytes: u64,
) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let read = open(bytes, declared, max_bytes)?.read_to_end(&mut out);
    match read {
        Ok(_) => Ok(out),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(DecodeError::TooLarge(max_bytes))
        }
        Err(error) => Err(DecodeError::Damaged(error)),
    }
}

/// Returns whether the bytes start with the magic bytes of gzip or zstd.
pub fn is_compressed(bytes: &[u8]) -> bool {
    magic_of(bytes).is_some()
}

fn magic_of(start: &[u8]) -> Option<ContentCoding> {
    match start {
        [0x1f, 0x8b, ..] => Some(ContentCoding::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(ContentCoding::Zstd),
        _ => None,
    }
}

/// A reader that fails if its input has more than a number of bytes.
struct LimitedReader<R> {
    inner: R,
    left: u64,
    max_bytes: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        match self.left.checked_sub(n as u64) {
            Some(left) => {
                self.left = left;
                Ok(n)
            }
            None => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the decompressed body is larger than {} bytes", self.max_bytes),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_testkit::{gzip, zstd};

    use super::*;

    fn read(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, DecodeError> {
        decode_all(bytes, declared, 1000)
    }

    #[test] // A08 A09, D05
    fn decodes_by_magic_bytes_with_any_declared_coding() {
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

    #[test] // A02 A05 A06
    fn rejects_bombs_truncated_data_and_garbage() {
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
        // This zstd frame requires a window of 2 GiB.
        let greedy = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
        assert!(matches!(read(&greedy, None), Err(DecodeError::Damaged(_))));
    }
}
