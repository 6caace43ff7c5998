//! Provides the content of a sitemap as UTF-8: decompressed, limited in size, and decoded.

use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::bufread::MultiGzDecoder;

/// Reads the bytes of a sitemap, decompresses them and converts them to UTF-8.
pub(super) struct ByteSource<R: BufRead> {
    source: Decompression<R>,
    decoder: Option<Decoder>,
    encoded: Vec<u8>,
    remaining: u64,
    end: Option<EndReason>,
    is_lossy: bool,
}

enum Decompression<R: BufRead> {
    New(Option<R>),
    Plain(FullInput<R>),
    Gzip(Box<BufReader<MultiGzDecoder<FullInput<R>>>>),
}

/// The input preceded by the bytes that were read to detect compression.
type FullInput<R> = Chain<Cursor<Vec<u8>>, R>;

/// The reason why there are no more bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The input was read to its end.
    Complete,
    /// The input is larger than the limit.
    TooLarge,
    /// The compressed data is damaged; contains the error message.
    Damaged(String),
}

/// The encoding that the first bytes indicate.
pub(super) struct DetectedCharset {
    /// The length of a byte order mark that is still in the window.
    pub(super) mark: usize,
    /// The problem with the encoding; empty if the encoding is UTF-8.
    pub(super) fault: String,
}

impl<R: BufRead> ByteSource<R> {
    pub(super) fn new(input: R, max_bytes: u64) -> Self {
        Self {
            source: Decompression::New(Some(input)),
            decoder: None,
            encoded: Vec::new(),
            remaining: max_bytes,
            end: None,
            is_lossy: false,
        }
    }

    /// Returns the reason why the bytes ended; `None` while more bytes may follow.
    pub(super) fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }

    /// Returns whether invalid bytes were replaced; further calls return false.
    pub(super) fn take_lossy(&mut self) -> bool {
        std::mem::take(&mut self.is_lossy)
    }

    /// Appends about `want` bytes to `window`; fewer only at the end of the input.
    pub(super) fn fill(&mut self, window: &mut Vec<u8>, want: usize) -> io::Result<()> {
        let wanted = window.len() + want;
        while window.len() < wanted && self.end.is_none() {
            if self.decoder.is_none() {
                self.read_chunk(wanted - window.len(), window)?;
                continue;
            }
            let mut coded = std::mem::take(&mut self.encoded);
            self.read_chunk(want, &mut coded)?;
            self.decode(&coded, window);
            coded.clear();
            self.encoded = coded;
        }
        Ok(())
    }

    /// Detects the encoding from the first bytes. If the encoding is not UTF-8, these bytes and all
    /// further bytes are decoded.
    pub(super) fn sniff(&mut self, window: &mut Vec<u8>) -> DetectedCharset {
        let plain = |mark| DetectedCharset { mark, fault: String::new() };
        let encoding = match window.as_slice() {
            [0xef, 0xbb, 0xbf, ..] => return plain(3),
            [0xff, 0xfe, ..] | [b'<', 0, ..] => UTF_16LE,
            [0xfe, 0xff, ..] | [0, b'<', ..] => UTF_16BE,
            _ => {
                let Some(label) = declared_encoding(window) else { return plain(0) };
                let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
                    let fault = format!("declared as {}", rutter_finding::quoted(&label));
                    return DetectedCharset { mark: 0, fault };
                };
                if encoding == UTF_8 || label.eq_ignore_ascii_case("us-ascii") {
                    return plain(0);
                }
                // The declaration could be read as ASCII, so the encoding of the file is not
                // UTF-16.
                if encoding == UTF_16LE || encoding == UTF_16BE {
                    let fault = format!("declared as {}, but it is not", encoding.name());
                    return DetectedCharset { mark: 0, fault };
                }
                encoding
            }
        };
        self.decoder = Some(encoding.new_decoder_with_bom_removal());
        let coded = std::mem::take(window);
        self.decode(&coded, window);
        DetectedCharset { mark: 0, fault: encoding.name().to_owned() }
    }

    fn decode(&mut self, mut coded: &[u8], window: &mut Vec<u8>) {
        let Some(decoder) = &mut self.decoder else { return };
        let is_last = self.end.is_some();
        let mut buffer = [0; 4096];
        loop {
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(coded, &mut buffer, is_last);
            window.extend(buffer.get(..written).unwrap_or_default());
            coded = coded.get(read..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    window.extend("\u{fffd}".bytes());
                    self.is_lossy = true;
                }
            }
        }
    }

    /// Appends one chunk of decompressed bytes.
    fn read_chunk(&mut self, want: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.open()?;
        let is_gzip = matches!(self.source, Decompression::Gzip(_));
        let source: &mut dyn BufRead = match &mut self.source {
            Decompression::New(_) => return Ok(()),
            Decompression::Plain(source) => source,
            Decompression::Gzip(source) => source,
        };
        match source.fill_buf() {
            Ok([]) => self.end = Some(EndReason::Complete),
            Ok(_) if self.remaining == 0 => self.end = Some(EndReason::TooLarge),
            Ok(got) => {
                let left = usize::try_from(self.remaining).unwrap_or(usize::MAX);
                let length = got.len().min(want).min(left);
                out.extend(got.get(..length).unwrap_or_default());
                source.consume(length);
                self.remaining -= length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_gzip && is_corruption(&error) => {
                self.end = Some(EndReason::Damaged(error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Detects compression and creates the decoder.
    fn open(&mut self) -> io::Result<()> {
        let Decompression::New(input) = &mut self.source else { return Ok(()) };
        let Some(mut input) = input.take() else { return Ok(()) };
        let mut first = Vec::new();
        input.by_ref().take(2).read_to_end(&mut first)?;
        let is_gzip = first == [0x1f, 0x8b];
        let whole = Cursor::new(first).chain(input);
        self.source = if is_gzip {
            let gzip = MultiGzDecoder::new(whole);
            Decompression::Gzip(Box::new(BufReader::with_capacity(64 << 10, gzip)))
        } else {
            Decompression::Plain(whole)
        };
        Ok(())
    }
}

fn is_corruption(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

/// Returns the encoding label in the XML declaration.
fn declared_encoding(window: &[u8]) -> Option<String> {
    let start = window.trim_ascii_start();
    let end = memchr::memchr(b'>', start.get(..start.len().min(512))?)?;
    let declaration = std::str::from_utf8(start.get(..end)?).ok()?;
    let (_, rest) = declaration.strip_prefix("<?xml")?.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest.get(1..)?.split(quote).next().map(|label| label.trim().to_owned())
}
