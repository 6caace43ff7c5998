//! Finds the checksum member in the bytes of line 1, so that the hash can
//! leave it out (D02).
//!
//! A scanner, not a search: the same characters inside another member's value
//! cannot move the cut. The line has been parsed before, so it is JSON.

use std::ops::Range;

/// Where the checksum member of line 1 lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The member with one comma and its surrounding blanks.
    pub(crate) member: Range<usize>,
    /// The 64 digits alone.
    pub(crate) digits: Range<usize>,
}

/// Finds `collection.checksum`; `None` where there is none.
pub(crate) fn find(line: &[u8]) -> Option<Cut> {
    let mut scan = Scan { line, at: 0 };
    scan.enter_member("collection")?;
    scan.checksum()
}

struct Scan<'l> {
    line: &'l [u8],
    at: usize,
}

impl Scan<'_> {
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

    /// Reads a string and gives the range of what stands between its quotes.
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

    /// Skips any value.
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
        // A key may be spelled with escapes; JSON decides what it says.
        let quoted = self.line.get(range.start - 1..=range.end);
        let key = quoted.and_then(|text| serde_json::from_slice::<String>(text).ok());
        key.as_deref() == Some(name)
    }

    /// Moves to just behind the colon of a member of the object at hand.
    fn enter_member(&mut self, name: &str) -> Option<()> {
        // A byte order mark is not JSON, but it may stand before line 1.
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

    fn checksum(&mut self) -> Option<Cut> {
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
                return Some(Cut { member: start..end, digits: digits_start..digits_end });
            }
            // The comma before the next member belongs to it.
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
        let cut = find(line.as_bytes()).expect("there is a checksum");
        let mut left = line.to_owned();
        left.replace_range(cut.member, "");
        left
    }

    #[test] // SCP-024 D02
    fn ours_cut_takes_the_member_and_one_comma() {
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
