//! Bytes of a sitemap as UTF-8: decompressed, counted, decoded.

use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::bufread::MultiGzDecoder;

/// Where the bytes come from.
pub(super) struct Feed<R: BufRead> {
    source: Source<R>,
    decoder: Option<Decoder>,
    coded: Vec<u8>,
    left: u64,
    end: Option<End>,
    is_lossy: bool,
}

enum Source<R: BufRead> {
    New(Option<R>),
    Plain(Whole<R>),
    Gzip(Box<BufReader<MultiGzDecoder<Whole<R>>>>),
}

/// The input with the bytes that were looked at put back.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// Why there are no more bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// There are none.
    Whole,
    /// There are more than the limit.
    TooLarge,
    /// The compression is broken.
    Damaged(String),
}

/// What the first bytes say about the encoding.
pub(super) struct Charset {
    /// Bytes of a byte order mark that is still in the window.
    pub(super) mark: usize,
    /// What is wrong with the encoding; empty for UTF-8.
    pub(super) fault: String,
}

impl<R: BufRead> Feed<R> {
    pub(super) fn new(input: R, most: u64) -> Self {
        Self {
            source: Source::New(Some(input)),
            decoder: None,
            coded: Vec::new(),
            left: most,
            end: None,
            is_lossy: false,
        }
    }

    /// Why the bytes ended; `None` while there may be more.
    pub(super) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Tells, once, whether bytes were met that the encoding does not know.
    pub(super) fn take_lossy(&mut self) -> bool {
        std::mem::take(&mut self.is_lossy)
    }

    /// Appends about `want` bytes, fewer only at the end.
    pub(super) fn fill(&mut self, window: &mut Vec<u8>, want: usize) -> io::Result<()> {
        let wanted = window.len() + want;
        while window.len() < wanted && self.end.is_none() {
            if self.decoder.is_none() {
                self.raw(wanted - window.len(), window)?;
                continue;
            }
            let mut coded = std::mem::take(&mut self.coded);
            self.raw(want, &mut coded)?;
            self.decode(&coded, window);
            coded.clear();
            self.coded = coded;
        }
        Ok(())
    }

    /// Looks at the first bytes; where they are not UTF-8, decodes them and all
    /// that follow.
    pub(super) fn sniff(&mut self, window: &mut Vec<u8>) -> Charset {
        let plain = |mark| Charset { mark, fault: String::new() };
        let encoding = match window.as_slice() {
            [0xef, 0xbb, 0xbf, ..] => return plain(3),
            [0xff, 0xfe, ..] | [b'<', 0, ..] => UTF_16LE,
            [0xfe, 0xff, ..] | [0, b'<', ..] => UTF_16BE,
            _ => {
                let Some(label) = declared(window) else { return plain(0) };
                let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
                    let fault = format!("declared as {}", rutter_finding::quoted(&label));
                    return Charset { mark: 0, fault };
                };
                if encoding == UTF_8 || label.eq_ignore_ascii_case("us-ascii") {
                    return plain(0);
                }
                // The declaration was read as ASCII, so this one lies.
                if encoding == UTF_16LE || encoding == UTF_16BE {
                    let fault = format!("declared as {}, but it is not", encoding.name());
                    return Charset { mark: 0, fault };
                }
                encoding
            }
        };
        self.decoder = Some(encoding.new_decoder_with_bom_removal());
        let coded = std::mem::take(window);
        self.decode(&coded, window);
        Charset { mark: 0, fault: encoding.name().to_owned() }
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

    /// Appends one piece of what the source has.
    fn raw(&mut self, want: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.open()?;
        let is_gzip = matches!(self.source, Source::Gzip(_));
        let source: &mut dyn BufRead = match &mut self.source {
            Source::New(_) => return Ok(()),
            Source::Plain(source) => source,
            Source::Gzip(source) => source,
        };
        match source.fill_buf() {
            Ok([]) => self.end = Some(End::Whole),
            Ok(_) if self.left == 0 => self.end = Some(End::TooLarge),
            Ok(got) => {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let length = got.len().min(want).min(left);
                out.extend(got.get(..length).unwrap_or_default());
                source.consume(length);
                self.left -= length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_gzip && is_damage(&error) => {
                self.end = Some(End::Damaged(error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Looks whether the input is compressed.
    fn open(&mut self) -> io::Result<()> {
        let Source::New(input) = &mut self.source else { return Ok(()) };
        let Some(mut input) = input.take() else { return Ok(()) };
        let mut first = Vec::new();
        input.by_ref().take(2).read_to_end(&mut first)?;
        let is_gzip = first == [0x1f, 0x8b];
        let whole = Cursor::new(first).chain(input);
        self.source = if is_gzip {
            let gzip = MultiGzDecoder::new(whole);
            Source::Gzip(Box::new(BufReader::with_capacity(64 << 10, gzip)))
        } else {
            Source::Plain(whole)
        };
        Ok(())
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

/// The encoding that an XML declaration gives.
fn declared(window: &[u8]) -> Option<String> {
    let start = window.trim_ascii_start();
    let end = memchr::memchr(b'>', start.get(..start.len().min(512))?)?;
    let declaration = std::str::from_utf8(start.get(..end)?).ok()?;
    let (_, rest) = declaration.strip_prefix("<?xml")?.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest.get(1..)?.split(quote).next().map(|label| label.trim().to_owned())
}
