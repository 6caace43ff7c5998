//! A window that moves over the text of a JSON document.
//!
//! Input: bytes from an [`ArcInput`]. The window checks once that they are UTF-8, and keeps them
//! until the reader has used them. It grows only for a value that does not fit.
//!
//! Rejects bytes that are not UTF-8, and values over a limit.

use std::io::Read;

use rutter_finding::{Place, Refusal, Rule};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::input::ArcInput;
use crate::limits::ArcError;
use crate::rules;

/// Number of bytes that are read at once.
const PIECE: usize = 64 << 10;

pub(crate) struct InputWindow<R: Read> {
    input: ArcInput<R>,
    text: String,
    /// Length of the text that the reader has used.
    start: usize,
    /// Number of bytes of used text that were dropped.
    n_dropped: u64,
    piece: Vec<u8>,
    /// Bytes of an incomplete character at the end of the text.
    tail: Vec<u8>,
    is_over: bool,
}

impl<R: Read> InputWindow<R> {
    pub(crate) fn new(input: R, most: u64) -> Self {
        Self {
            input: ArcInput::new(input, most),
            text: String::new(),
            start: 0,
            n_dropped: 0,
            piece: vec![0; PIECE],
            tail: Vec::new(),
            is_over: false,
        }
    }

    /// Returns the text that the reader has not used yet.
    pub(crate) fn rest(&self) -> &str {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// Returns whether the whole document was read.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn advance(&mut self, n: usize) {
        self.start += n;
    }

    /// Skips a byte order mark at the beginning. Returns whether the document has one.
    pub(crate) fn skip_mark(&mut self) -> Result<bool, ArcError> {
        while self.rest().is_empty() && !self.is_over {
            self.more(usize::MAX)?;
        }
        let has_mark = self.rest().starts_with('\u{feff}');
        self.start += if has_mark { '\u{feff}'.len_utf8() } else { 0 };
        Ok(has_mark)
    }

    /// Returns the next byte that is not white space; `None` at the end of the document.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, ArcError> {
        loop {
            let rest = self.rest().as_bytes();
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
            let n = rest.iter().take_while(|byte| is_space(byte)).count();
            let next = rest.get(n).copied();
            self.start += n;
            if next.is_some() || self.is_over {
                return Ok(next);
            }
            self.more(usize::MAX)?;
        }
    }

    /// Reads more text, at least as much as is waiting to be used, so that the total work stays
    /// linear. Fails if more than `most` bytes are waiting already.
    pub(crate) fn more(&mut self, most: usize) -> Result<(), ArcError> {
        let waiting = self.rest().len();
        if most < waiting {
            return Err(self
                .refuse(&rules::TOO_LONG, &format!("the limit is {most} bytes"))
                .into());
        }
        self.n_dropped += self.start as u64;
        self.text.drain(..self.start.min(self.text.len()));
        self.start = 0;
        let wanted = 2 * waiting + 1;
        while self.text.len() < wanted && !self.is_over {
            let n = self.input.read(&mut self.piece)?;
            self.is_over = n == 0;
            self.take(n)?;
        }
        Ok(())
    }

    /// Moves the first `n` bytes of the piece that was read into the text.
    fn take(&mut self, n: usize) -> Result<(), Refusal> {
        let mended;
        let mut bytes = self.piece.get(..n).unwrap_or_default();
        if !self.tail.is_empty() {
            self.tail.extend_from_slice(bytes);
            mended = std::mem::take(&mut self.tail);
            bytes = &mended;
        }
        let good = match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let (good, bad) = bytes.split_at(error.valid_up_to());
                if error.error_len().is_some() || self.is_over {
                    let at = self.n_dropped + (self.text.len() + good.len()) as u64;
                    let detail = format!("the first invalid byte is number {at}");
                    return Err(Refusal::new(&rules::NOT_UTF8, Place::WHOLE, detail));
                }
                self.tail = bad.to_vec();
                simdutf8::basic::from_utf8(good).unwrap_or_default()
            }
        };
        self.text.push_str(good);
        Ok(())
    }

    /// Returns the length of the value at the current position, after reading the whole value.
    pub(crate) fn measure(&mut self, most: usize) -> Result<usize, ArcError> {
        loop {
            let rest = self.rest();
            let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
            let found = values.next();
            let n = values.byte_offset();
            match found {
                // A number at the end of the window may continue in text that was not read yet.
                Some(Ok(_)) if n < rest.len() || self.is_over => {
                    if most < n {
                        let detail = format!("the limit is {most} bytes");
                        return Err(self.refuse(&rules::TOO_LONG, &detail).into());
                    }
                    return Ok(n);
                }
                // A number that the window cuts after its decimal point would be reported as
                // malformed.
                Some(Err(error)) if !error.is_eof() && (self.is_over || !ends_in_number(rest)) => {
                    return Err(self.refuse(&rules::NOT_JSON, &shown(&error)).into());
                }
                _ if self.is_over => {
                    return Err(self.refuse(&rules::TRUNCATED, "").into());
                }
                _ => self.more(most)?,
            }
        }
    }

    /// Creates a refusal that states the current position in the document.
    pub(crate) fn refuse(&self, rule: &'static Rule, detail: &str) -> Refusal {
        let at = format!("at byte {}", self.n_dropped + self.start as u64);
        let detail = if detail.is_empty() { at } else { format!("{detail}, {at}") };
        Refusal::new(rule, Place::WHOLE, detail)
    }
}

fn ends_in_number(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'))
}

/// Returns the message of the JSON parser without its position, which is relative to the window.
fn shown(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}
