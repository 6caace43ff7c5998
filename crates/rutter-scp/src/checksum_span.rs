//! Finds the checksum member in line 1, so that hashing can skip it (D02).
//!
//! Input: line 1, which was parsed as JSON before. Output: byte ranges. The scanner follows the
//! JSON structure, so the same characters inside a string value are not mistaken for the member.

use std::ops::Range;

/// Position of the checksum member in line 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChecksumSpan {
    /// Range of the member, one comma and the blanks around them.
    pub(crate) member: Range<usize>,
    /// Range of the 64 hexadecimal digits only.
    pub(crate) digits: Range<usize>,
}

/// Finds the member `collection.checksum`. Returns `None` if line 1 has no such member.
pub(crate) fn find(line: &[u8]) -> Option<ChecksumSpan> {
    let mut scan = ChecksumScanner { line, at: 0 };
    scan.enter_member("collection")?;
    scan.checksum()
}

struct ChecksumScanner<'l> {
    line: &'l [u8],
    at: usize,
}

impl ChecksumScanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Reads a JSON string and returns the range between its quotes.
    fn string(&mut self) -> Option<Range<usize>> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(start..self.at - 1)
    }

    /// Skips a JSON value of any type.
    fn value(&mut self) -> Option<()> {
        self.blanks();
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' | b'[' => {
                let mut depth = 0_usize;
                loop {
                    match self.peek()? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
            }
            _ => {
                while !matches!(self.peek()?, b',' | b'}' | b']' | b' ' | b'\t') {
                    self.at += 1;
                }
                Some(())
            }
        }
    }

    fn is_key(&self, range: &Range<usize>, name: &str) -> bool {
        // A key may contain escapes, so compare the parsed text.
        let quoted = self.line.get(range.start - 1..=range.end);
        let key = quoted.and_then(|text| serde_json::from_slice::<String>(text).ok());
        key.as_deref() == Some(name)
    }

    /// Moves to the value of the member `name` of the current object, behind its colon.
    fn enter_member(&mut self, name: &str) -> Option<()> {
        // A byte order mark is not JSON, but it is accepted before line 1.
        if self.line.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            if self.is_key(&key, name) {
                return Some(());
            }
            self.value()?;
            self.expect(b',')?;
        }
    }

    fn checksum(&mut self) -> Option<ChecksumSpan> {
        self.expect(b'{')?;
        let mut start = self.at;
        let mut is_first = true;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            self.blanks();
            let value_start = self.at;
            self.value()?;
            let value_end = self.at;
            self.blanks();
            if self.is_key(&key, "checksum") {
                let has_next = self.peek() == Some(b',');
                let end = if is_first && has_next { self.at + 1 } else { self.at };
                let digits_end = value_end.checked_sub(1)?;
                let digits_start = digits_end.saturating_sub(64).max(value_start);
                return Some(ChecksumSpan { member: start..end, digits: digits_start..digits_end });
            }
            // The comma before the next member is part of that member's range.
            start = self.at;
            is_first = false;
            self.expect(b',')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(line: &str) -> String {
        let cut = find(line.as_bytes()).expect("the line has a checksum");
        let mut left = line.to_owned();
        left.replace_range(cut.member, "");
        left
    }

    #[test] // SCP-024 D02
    fn span_covers_the_member_and_one_comma() {
        for (line, wanted) in [
            (r#"{"collection":{"id":"a","checksum":"x"}}"#, r#"{"collection":{"id":"a"}}"#),
            (r#"{"collection":{"checksum":"x","id":"a"}}"#, r#"{"collection":{"id":"a"}}"#),
            (
                r#"{"collection":{"id":"a","checksum":"x","version":"0.1"}}"#,
                r#"{"collection":{"id":"a","version":"0.1"}}"#,
            ),
            (r#"{"collection":{"checksum":"x"}}"#, r#"{"collection":{}}"#),
            (
                r#"{ "collection" : { "id" : 1 , "checksum" : "x" , "b" : 2 } }"#,
                r#"{ "collection" : { "id" : 1 , "b" : 2 } }"#,
            ),
            (
                r#"{"collection":{"note":"\",\"checksum\":\"y\"","checksum":"x"}}"#,
                r#"{"collection":{"note":"\",\"checksum\":\"y\""}}"#,
            ),
            (
                r#"{"checksum":"no","collection":{"o":{"checksum":"no"},"check\u0073um":"x"}}"#,
                r#"{"checksum":"no","collection":{"o":{"checksum":"no"}}}"#,
            ),
        ] {
            assert_eq!(without(line), wanted, "{line}");
        }
        assert_eq!(find(br#"{"collection":{"id":"a"}}"#), None);
        assert_eq!(find(br#"{"x":{"checksum":"a"}}"#), None);
    }
}
