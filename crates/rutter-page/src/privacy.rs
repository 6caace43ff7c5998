//! Finds what should not be published: secrets, and personal data (D94).
//!
//! Input: text, or a JSON line. Output: [`Private`], with the kind and a mark
//! of each secret, never the secret itself, and counts of personal data.
//! One pass over the text: each check looks at a bounded number of bytes, or at
//! bytes that no other check of its kind looks at.

mod personal;
mod sample;
mod secret;
mod table;

use std::borrow::Cow;

use crate::honest::is_invisible;

/// What was found in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// Kind and mark of each secret; the secret itself is never shown.
    pub secrets: Vec<(&'static str, String)>,
    /// How many e-mail addresses.
    pub addresses: usize,
    /// How many telephone numbers.
    pub numbers: usize,
    /// How many card numbers.
    pub cards: usize,
    /// How many bank account numbers (IBAN).
    pub accounts: usize,
    /// How many `mailto:` and `tel:` links.
    pub links: usize,
}

impl Private {
    /// The date of the table of secrets; a newer one may find more.
    pub const TABLE: &str = table::DATE;

    /// Looks through a text.
    pub fn of(text: &str) -> Self {
        let text = without_invisible(text);
        let bytes = text.as_bytes();
        Self {
            secrets: secret::find(&text),
            addresses: personal::n_addresses(bytes),
            numbers: personal::n_numbers(bytes),
            cards: personal::n_cards(bytes),
            accounts: personal::n_accounts(bytes),
            links: 0,
        }
    }

    /// Looks through all strings of a JSON document, with their escapes
    /// resolved: `\nAKIA…` is a key at the start of a line.
    pub fn of_json(line: &str) -> Self {
        Self::of(&without_escapes(line))
    }

    /// Counts the `mailto:` and `tel:` links of a page of HTML.
    pub fn links_of_html(html: &[u8]) -> usize {
        personal::n_links(html)
    }

    /// `2 e-mail addresses, 1 telephone number`; `None` where there are none.
    pub fn personal(&self) -> Option<String> {
        let count = |n: usize, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        let parts = [
            count(self.addresses, "e-mail address", "e-mail addresses"),
            count(self.numbers, "telephone number", "telephone numbers"),
            count(self.cards, "card number", "card numbers"),
            count(self.accounts, "bank account number", "bank account numbers"),
            count(self.links, "mailto: or tel: link", "mailto: or tel: links"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A text without characters that have no width: they hide a key from a scan,
/// and not from a program that reads it.
fn without_invisible(text: &str) -> Cow<'_, str> {
    let is_unseen = |c: char| {
        is_invisible(c)
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}')
    };
    if text.is_ascii() || !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !is_unseen(*c)).collect())
}

/// A JSON text with the escapes of its strings resolved; an escape that is no
/// character becomes a space.
fn without_escapes(json: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', json.as_bytes()).is_none() {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = behind.chars();
        let escaped = match chars.next() {
            Some('u') => {
                let digits = chars.as_str().get(..4).unwrap_or_default();
                chars = chars.as_str().get(digits.len()..).unwrap_or_default().chars();
                u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap_or(' ')
            }
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('n' | 'r') | None => '\n',
            Some(_) => ' ',
        };
        out.push(escaped);
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-201 D94
    fn finds_secrets_behind_invisible_characters_and_escapes() {
        let key = ["AKIA", "Q3EGRT7WZ5KLM2NP"].concat();
        for split in ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{200d}', '\u{fe0f}'] {
            let text: String = key.chars().flat_map(|c| [c, split]).collect();
            let found = Private::of(&text).secrets;
            assert_eq!(found.len(), 1, "{split:?}");
            assert_eq!(found, Private::of(&key).secrets, "{split:?}");
        }
        let line = format!("{{\"text\":\"first\\n{key}\\u0020x\"}}");
        assert_eq!(Private::of_json(&line).secrets, Private::of(&key).secrets);
        assert!(!format!("{:?}", Private::of(&key)).contains(&key));
        assert_eq!(without_escapes("a\\u00e9\\\"\\\\n\\"), "a\u{e9}\"\\n\n");
    }

    #[test] // SCP-172 D94
    fn spec_addresses_and_numbers_are_counted() {
        let text = "Write to office@harbour.org or a.b+c@mail.port.co.uk, call +44 20 7946 0958. \
            Not a@b, not user@example.com, not x@y.example, not +1, not 2+2222222222.";
        let found = Private::of(text);
        assert_eq!((found.addresses, found.numbers), (2, 1));
        assert_eq!(found.personal().as_deref(), Some("2 e-mail addresses, 1 telephone number"));
        assert_eq!(Private::of("nothing here").personal(), None);
    }
}
