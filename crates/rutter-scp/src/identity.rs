//! Decides whether a checksum identifies a plain collection byte for byte.
//!
//! Input: the uncompressed text. Output: the checksum of line 1, if the text has this checksum and
//! no other accepted text can have it. For every other text, the result is `None`. Errors occur
//! only while the input is read.

use std::io::{self, BufRead, Read};

use rutter_page::Digest;

use crate::checksum_span;
use crate::hash::TextHasher;
use crate::limits::Limits;

/// Returns the checksum of a plain collection if it identifies its bytes.
///
/// The checksum is the hash of the text without the checksum member (D01), so texts that spell this
/// member differently have the same checksum. Only the spelling without blanks or escapes is
/// accepted.
pub fn identifying_checksum(mut input: impl BufRead) -> io::Result<Option<Digest>> {
    let mut line = Vec::new();
    let longest = u64::try_from(Limits::default().page).unwrap_or(u64::MAX);
    input.by_ref().take(longest).read_until(b'\n', &mut line)?;
    let Some(cut) = checksum_span::find(&line) else { return Ok(None) };
    let [member, digits] = [&cut.member, &cut.digits].map(|range| line.get(range.clone()));
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let Some(claimed) = digits.and_then(|digits| Digest::parse(&format!("sha256:{digits}"))) else {
        return Ok(None);
    };
    let plain = format!("\"checksum\":\"{claimed}\"");
    let is_plain = member.is_some_and(|member| {
        let member = member.strip_prefix(b",").or(member.strip_suffix(b",")).unwrap_or(member);
        member == plain.as_bytes()
    });
    if !is_plain {
        return Ok(None);
    }
    let mut hash = TextHasher::default();
    hash.update_excised(&line, Some(&cut));
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        let n = bytes.len();
        input.consume(n);
    }
    let (whole, _) = hash.finish();
    Ok((whole == claimed).then_some(claimed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(member: impl Fn(Digest) -> String) -> Vec<u8> {
        let bare = br#"{"collection":{"id":"a"}}"#;
        let rest = b"\n{\"url\":\"https://a.example/\"}\n";
        let digest = Digest::of(&[&bare[..], rest].concat());
        let line = format!(r#"{{"collection":{{"id":"a"{}}}}}"#, member(digest));
        [line.as_bytes(), rest].concat()
    }

    #[test] // SCP-150 D01 D08
    fn only_a_correct_checksum_in_its_usual_form_identifies_bytes() {
        let good = collection(|digest| format!(",\"checksum\":\"{digest}\""));
        let found = identifying_checksum(&*good).unwrap();
        assert!(found.is_some());
        let blank = collection(|digest| format!(", \"checksum\": \"{digest}\""));
        let upper = collection(|digest| {
            let digits = digest.to_string().replace("sha256:", "").to_uppercase();
            format!(",\"checksum\":\"sha256:{digits}\"")
        });
        let escaped = collection(|digest| format!(",\"check\\u0073um\":\"{digest}\""));
        let mut changed = good;
        changed.extend(b"{}\n");
        for other in [blank, upper, escaped, changed, b"{}".to_vec(), Vec::new()] {
            let text = String::from_utf8_lossy(&other).into_owned();
            assert_eq!(identifying_checksum(&*other).unwrap(), None, "{text}");
        }
    }
}
