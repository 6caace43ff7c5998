//! Input of a document: decompresses bytes that are gzip, and counts the result.
//!
//! Rejects documents over the size limit and damaged gzip data.

use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use rutter_finding::{Place, Refusal};

use crate::limits::ArcError;
use crate::rules;

/// Reads the bytes of a document, decompressed and up to a limit.
pub(crate) struct ArcInput<R: Read> {
    source: InputSource<R>,
    most: u64,
    left: u64,
}

enum InputSource<R: Read> {
    New(Option<R>),
    Plain(PeekedInput<R>),
    Gzip(Box<MultiGzDecoder<BufReader<PeekedInput<R>>>>),
}

/// The input after its first bytes were examined and put back.
type PeekedInput<R> = Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> ArcInput<R> {
    pub(crate) fn new(input: R, most: u64) -> Self {
        Self { source: InputSource::New(Some(input)), most, left: most }
    }

    /// Reads some bytes into `buffer`. Returns 0 at the end of the document.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ArcError> {
        self.open()?;
        let is_gzip = matches!(self.source, InputSource::Gzip(_));
        let source: &mut dyn Read = match &mut self.source {
            InputSource::New(_) => return Ok(0),
            InputSource::Plain(source) => source,
            InputSource::Gzip(source) => source,
        };
        loop {
            match source.read(buffer) {
                Ok(n) if self.left < n as u64 => {
                    let detail = format!("the limit is {} bytes", self.most);
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

    /// Detects whether the input is compressed, and prepares the decoder.
    fn open(&mut self) -> io::Result<()> {
        let InputSource::New(input) = &mut self.source else { return Ok(()) };
        let Some(mut input) = input.take() else { return Ok(()) };
        let mut first = Vec::new();
        input.by_ref().take(2).read_to_end(&mut first)?;
        let is_gzip = first == [0x1f, 0x8b];
        let whole = Cursor::new(first).chain(input);
        self.source = if is_gzip {
            let buffered = BufReader::with_capacity(64 << 10, whole);
            InputSource::Gzip(Box::new(MultiGzDecoder::new(buffered)))
        } else {
            InputSource::Plain(whole)
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
