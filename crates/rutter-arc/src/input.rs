//! Bytes of a document: decompressed where they are gzip, and counted.
//!
//! Refuses: to hand out more than the limit, and to call a broken compression
//! an end.

use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use rutter_finding::{Place, Refusal};

use crate::limits::ArcError;
use crate::rules;

/// Where the bytes come from.
pub(crate) struct Input<R: Read> {
    source: Source<R>,
    most: u64,
    left: u64,
}

enum Source<R: Read> {
    New(Option<R>),
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Whole<R>>>>),
}

/// The input with the bytes that were looked at put back.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> Input<R> {
    pub(crate) fn new(input: R, most: u64) -> Self {
        Self { source: Source::New(Some(input)), most, left: most }
    }

    /// Reads some bytes; 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ArcError> {
        self.open()?;
        let is_gzip = matches!(self.source, Source::Gzip(_));
        let source: &mut dyn Read = match &mut self.source {
            Source::New(_) => return Ok(0),
            Source::Plain(source) => source,
            Source::Gzip(source) => source,
        };
        loop {
            match source.read(buffer) {
                Ok(n) if self.left < n as u64 => {
                    let detail = format!("at most {} bytes", self.most);
                    return Err(Refusal::new(&rules::TOO_LARGE, Place::WHOLE, detail).into());
                }
                Ok(n) => {
                    self.left -= n as u64;
                    return Ok(n);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_gzip && is_damage(&error) => {
                    let detail = error.to_string();
                    return Err(Refusal::new(&rules::GZIP_DAMAGED, Place::WHOLE, detail).into());
                }
                Err(error) => return Err(error.into()),
            }
        }
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
            let buffered = BufReader::with_capacity(64 << 10, whole);
            Source::Gzip(Box::new(MultiGzDecoder::new(buffered)))
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
