//! Parses simple fields and links directly from bytes.
//!
//! Each function parses the beginning of `xml`, or returns `None`; the event loop then parses the
//! same text and reports its errors.

use std::borrow::Cow;

use super::state::EntryField;
use crate::AlternateLink;

/// Parses a field that contains only text; returns the field, its text and the rest of `xml`.
pub(super) fn field(xml: &[u8], longest: usize) -> Option<(EntryField, Cow<'_, str>, &[u8])> {
    let tag = xml.trim_ascii_start().strip_prefix(b"<")?;
    let (field, name): (_, &[u8]) = match tag {
        [b'l', b'o', b'c', b'>', ..] => (EntryField::Loc, b"loc>"),
        [b'l', b'a', ..] => (EntryField::Lastmod, b"lastmod>"),
        [b'c', b'h', ..] => (EntryField::Changefreq, b"changefreq>"),
        [b'p', ..] => (EntryField::Priority, b"priority>"),
        _ => return None,
    };
    let rest = tag.strip_prefix(name)?;
    let (text, rest) = rest.split_at_checked(memchr::memchr(b'<', rest)?)?;
    let rest = rest.strip_prefix(b"</")?.strip_prefix(name)?;
    (text.len() <= longest).then_some(())?;
    Some((field, decoded(text)?, rest))
}

/// Parses an empty tag `<prefix:link …/>` with known attributes in double quotes
/// and the `rel` value `alternate`.
pub(super) fn link(xml: &[u8]) -> Option<(&str, AlternateLink, &[u8])> {
    let tag = xml.trim_ascii_start().strip_prefix(b"<")?;
    let (prefix, rest) = tag.split_at_checked(memchr::memchr(b':', tag.get(..16)?)?)?;
    let mut rest = rest.strip_prefix(b":link ")?;
    let mut link = AlternateLink::default();
    let (mut is_alternate, mut seen) = (false, 0_u8);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"/>") {
            let is_whole = is_alternate && seen & 4 != 0;
            return is_whole.then_some((std::str::from_utf8(prefix).ok()?, link, after));
        }
        let (bit, name): (_, &[u8]) = match rest {
            [b'r', ..] => (1, b"rel=\""),
            [b'h', b'r', b'e', b'f', b'l', ..] => (2, b"hreflang=\""),
            [b'h', ..] => (4, b"href=\""),
            [b't', b'y', ..] => (8, b"type=\""),
            _ => return None,
        };
        let value = rest.strip_prefix(name)?;
        let (value, after) = value.split_at_checked(memchr::memchr(b'"', value)?)?;
        // Duplicate attributes, tags in values and line ends need the event loop.
        if seen & bit != 0 || memchr::memchr3(b'<', b'\n', b'\t', value).is_some() {
            return None;
        }
        seen |= bit;
        match bit {
            1 => is_alternate = value == b"alternate",
            2 => decoded(value)?.trim_ascii().clone_into(&mut link.hreflang),
            4 => link.href = decoded(value)?.into_owned(),
            _ => link.media_type = Some(decoded(value)?.trim_ascii().to_owned()),
        }
        rest = after.get(1..)?;
    }
}

/// Decodes the entities in a text; returns `None` if an entity is invalid.
fn decoded(text: &[u8]) -> Option<Cow<'_, str>> {
    let is_escaped = memchr::memchr(b'&', text).is_some();
    let text = std::str::from_utf8(text).ok()?;
    if is_escaped { quick_xml::escape::unescape(text).ok() } else { Some(Cow::Borrowed(text)) }
}
