//! Checks the raw bytes of HTTP/1 requests before they are parsed.
//!
//! Requests have no bodies, so the bytes after a head belong to the next head and can all be
//! checked here: line ends, lengths, and fields by which two parsers could disagree about the end
//! of a request. The parser of hyper, which runs after this check, accepts some requests that are
//! rejected here (a bare LF, `Transfer-Encoding` together with `Content-Length`).

use std::time::Instant;

use crate::settings::ConnectionLimits;

/// Number of bytes at the start of a line that are inspected.
const START: usize = 48;

/// Maximum number of bytes of a request line that are kept for the log.
const KEPT: usize = 256;

/// Maximum number of empty lines before a request (RFC 9112, section 2.2).
const MAX_EMPTY_LINES: usize = 4;

/// What is wrong with a request head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadFault {
    /// Not HTTP, or ambiguous.
    Bad,
    /// The request line is too long.
    Line,
    /// The head is too long, or has too many fields.
    Head,
    /// The head was not complete in time.
    Late,
}

impl HeadFault {
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Bad => 400,
            Self::Line => 414,
            Self::Head => 431,
            Self::Late => 408,
        }
    }

    /// Returns the complete response.
    pub(crate) fn answer(self) -> &'static [u8] {
        match self {
            Self::Bad => b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            Self::Line => b"HTTP/1.1 414 URI Too Long\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            Self::Head => b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            Self::Late => b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        }
    }
}

/// The state of the check within a head.
#[derive(Debug)]
pub(crate) struct HeadScreener {
    limits: ConnectionLimits,
    /// When the first byte of the incomplete head arrived.
    since: Option<Instant>,
    head: usize,
    /// Length of the incomplete line, and its first bytes.
    line: usize,
    start: [u8; START],
    /// The start of the request line of the incomplete head.
    request: Vec<u8>,
    last: u8,
    n_lines: usize,
    n_empty: usize,
    framing: FramingFields,
    /// Whether a body follows. Then the request is rejected and the connection closed, so no more
    /// bytes are checked.
    is_over: bool,
}

/// What the header fields of a head say about the body that follows.
#[derive(Debug, Default)]
struct FramingFields {
    is_chunked: bool,
    n_lengths: usize,
    has_body: bool,
}

impl HeadScreener {
    pub(crate) fn new(limits: &ConnectionLimits) -> Self {
        Self {
            limits: *limits,
            since: None,
            head: 0,
            line: 0,
            start: [0; START],
            request: Vec::new(),
            last: 0,
            n_lines: 0,
            n_empty: 0,
            framing: FramingFields::default(),
            is_over: false,
        }
    }

    /// Returns the start of the last request line.
    pub(crate) fn request(&self) -> &[u8] {
        &self.request
    }

    /// Returns when the incomplete head began.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Checks received bytes. An error contains the number of bytes that belong to earlier
    /// requests.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Result<(), (HeadFault, usize)> {
        if self.is_over {
            return Ok(());
        }
        let (mut at, mut good) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.since.is_none() {
                self.since = Some(Instant::now());
            }
            let end = memchr::memchr(b'\n', rest);
            let piece = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            self.take(piece).map_err(|fault| (fault, good))?;
            let Some(end) = end else { return Ok(()) };
            at += end + 1;
            if self.end_line().map_err(|fault| (fault, good))? {
                good = at;
                if self.is_over {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Checks part of a line.
    fn take(&mut self, piece: &[u8]) -> Result<(), HeadFault> {
        if let Some(place) = self.start.get_mut(self.line..) {
            let n = place.len().min(piece.len());
            if let (Some(to), Some(from)) = (place.get_mut(..n), piece.get(..n)) {
                to.copy_from_slice(from);
            }
        }
        if self.n_lines == 0 {
            let n_kept = KEPT.saturating_sub(self.request.len()).min(piece.len());
            self.request.extend_from_slice(piece.get(..n_kept).unwrap_or_default());
        }
        self.line += piece.len();
        self.head += piece.len();
        self.last = piece.last().copied().unwrap_or(self.last);
        if self.n_lines == 0 && self.limits.request_line < self.line {
            return Err(HeadFault::Line);
        }
        if self.limits.head < self.head { Err(HeadFault::Head) } else { Ok(()) }
    }

    /// Checks the end of a line; returns whether the head is complete.
    fn end_line(&mut self) -> Result<bool, HeadFault> {
        self.head += 1;
        if self.line == 0 || self.last != b'\r' {
            return Err(HeadFault::Bad);
        }
        let length = self.line - 1;
        let line = self.start;
        let line = line.get(..length.min(START)).unwrap_or_default();
        (self.line, self.last) = (0, 0);
        if length == 0 {
            return if self.n_lines == 0 {
                self.n_empty += 1;
                self.head = 0;
                self.request.clear();
                if self.n_empty <= MAX_EMPTY_LINES { Ok(false) } else { Err(HeadFault::Bad) }
            } else {
                self.end_head().map(|()| true)
            };
        }
        self.n_lines += 1;
        if 1 < self.n_lines {
            self.field(line, length)?;
        }
        Ok(false)
    }

    fn field(&mut self, line: &[u8], length: usize) -> Result<(), HeadFault> {
        if self.limits.fields + 1 < self.n_lines {
            return Err(HeadFault::Head);
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            // The name may be longer than the inspected bytes; the parser checks such names.
            return if length <= START { Err(HeadFault::Bad) } else { Ok(()) };
        };
        let (name, value) = line.split_at(colon);
        // A continuation line, or a space before the colon.
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(HeadFault::Bad);
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.framing.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.framing.n_lengths += 1;
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            if !is_number || START <= length {
                return Err(HeadFault::Bad);
            }
            self.framing.has_body |= value.iter().any(|digit| *digit != b'0');
        }
        Ok(())
    }

    fn end_head(&mut self) -> Result<(), HeadFault> {
        if self.framing.is_chunked || 1 < self.framing.n_lengths {
            return Err(HeadFault::Bad);
        }
        let is_over = self.framing.has_body;
        // The buffer is reused, so a request allocates nothing.
        let mut request = std::mem::take(&mut self.request);
        request.clear();
        *self = Self { request, is_over, ..Self::new(&self.limits) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits =
        ConnectionLimits { request_line: 60, head: 200, fields: 4, ..ConnectionLimits::DEFAULT };

    /// Checks a text in chunks of every size; the result must be the same.
    fn judge(text: &str) -> Option<HeadFault> {
        let mut verdicts = (1..=text.len().max(1)).map(|size| {
            let mut screen = HeadScreener::new(&LIMITS);
            let pieces = text.as_bytes().chunks(size);
            let verdict = pieces.map(|piece| screen.check(piece)).find_map(Result::err);
            verdict.map(|(fault, _)| fault)
        });
        let first = verdicts.next().unwrap();
        assert!(verdicts.all(|verdict| verdict == first), "{text}");
        first
    }

    #[test] // E05, E06
    fn rejects_ambiguous_heads() {
        let head = |fields: &str| format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        for fine in [
            head(""),
            head("Content-Length: 0\r\n"),
            head("Content-Length: 5\r\n") + "a\nb\0c",
            head("Range: bytes=0-1\r\nTE: trailers\r\n"),
            format!("\r\n\r\n{}{}", head(""), head("A:\r\n")),
            format!("{}GET / HT", head("")),
        ] {
            assert_eq!(judge(&fine), None, "{fine}");
        }
        for bad in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n".to_owned(),
            head("A: b\n"),
            "\nGET / HTTP/1.1\r\n".to_owned(),
            head("Transfer-Encoding: chunked\r\n"),
            head("transfer-ENCODING: xchunked\r\nContent-Length: 5\r\n"),
            head("Content-Length: 5\r\nContent-Length: 5\r\n"),
            head("Content-Length: 5, 5\r\n"),
            head("Content-Length: +5\r\n"),
            head("Content-Length:\r\n"),
            head("Content-Length: 99999999999999999999999999999999999\r\n"),
            head("Content-Length : 5\r\n"),
            head("A: b\r\n folded\r\n"),
            head("A: b\r\n\tfolded\r\n"),
            head("no colon\r\n"),
            head(": x\r\n"),
            "\r\n".repeat(6),
        ] {
            assert_eq!(judge(&bad), Some(HeadFault::Bad), "{bad:?}");
        }
        assert_eq!(judge(&format!("GET /{} HTTP/1.1\r\n", "a".repeat(60))), Some(HeadFault::Line));
        assert_eq!(judge(&"a".repeat(100)), Some(HeadFault::Line));
        assert_eq!(judge(&head(&format!("A: {}\r\n", "a".repeat(200)))), Some(HeadFault::Head));
        assert_eq!(judge(&head(&"A: b\r\n".repeat(4))), Some(HeadFault::Head));
    }

    #[test]
    fn accepts_requests_before_a_rejected_head() {
        let good = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let text = format!("{good}{good}GET / HTTP/1.1\n");
        let mut screen = HeadScreener::new(&LIMITS);
        assert_eq!(screen.check(text.as_bytes()), Err((HeadFault::Bad, 2 * good.len())));
        let mut screen = HeadScreener::new(&LIMITS);
        assert!(screen.since().is_none());
        screen.check(b"GET").unwrap();
        assert!(screen.since().is_some());
        assert_eq!(screen.request(), b"GET");
        screen.check(good.get(3..).unwrap().as_bytes()).unwrap();
        assert!(screen.since().is_none() && screen.request().is_empty());
        // The log gets the request line of the rejected head, truncated.
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(900));
        let text = format!("{good}\r\nGET /x HTTP/1.1\r\nA: b\r\nB\n");
        for (text, wanted) in [(text.as_str(), "GET /x HTTP/1.1\r"), (&long, &long[..KEPT])] {
            let mut screen = HeadScreener::new(&ConnectionLimits {
                request_line: 800,
                ..ConnectionLimits::DEFAULT
            });
            screen.check(text.as_bytes()).unwrap_err();
            assert_eq!(screen.request(), wanted.as_bytes());
        }
    }
}
