//! Fields and links without frills, read right from the bytes.
//!
//! Each function takes what stands at the beginning of some XML, or nothing:
//! then the events have their turn. So nothing here needs to know a fault.

use std::borrow::Cow;

use super::Field;
use crate::sitemap::AlternateLink;

/// A field with nothing but text: which it is, its text, and what follows it.
pub(super) fn field(xml: &[u8], longest: usize) -> Option<(Field, Cow<'_, str>, &[u8])> {
    let tag = xml.trim_ascii_start().strip_prefix(b"<")?;
    let (field, name): (_, &[u8]) = match tag {
        [b'l', b'o', b'c', b'>', ..] => (Field::Loc, b"loc>"),
        [b'l', b'a', ..] => (Field::Lastmod, b"lastmod>"),
        [b'c', b'h', ..] => (Field::Changefreq, b"changefreq>"),
        [b'p', ..] => (Field::Priority, b"priority>"),
        _ => return None,
    };
    let rest = tag.strip_prefix(name)?;
    let (text, rest) = rest.split_at_checked(memchr::memchr(b'<', rest)?)?;
    let rest = rest.strip_prefix(b"</")?.strip_prefix(name)?;
    (text.len() <= longest).then_some(())?;
    Some((field, decoded(text)?, rest))
}

/// An empty tag `<prefix:link …/>` with double quotes and known attributes,
/// whose `rel` is `alternate`.
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
        // Twice is a fault, and so is a tag in a value; line ends become spaces.
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

/// Text with its entities decoded; `None` where something is wrong with it.
fn decoded(text: &[u8]) -> Option<Cow<'_, str>> {
    let is_escaped = memchr::memchr(b'&', text).is_some();
    let text = std::str::from_utf8(text).ok()?;
    if is_escaped { quick_xml::escape::unescape(text).ok() } else { Some(Cow::Borrowed(text)) }
}
