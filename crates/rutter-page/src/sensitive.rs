//! Finds secrets and personal data in text (D94).
//!
//! Input: text, a JSON line or HTML. Output: [`SensitiveData`], with the kind and a mark of each
//! secret, never the secret itself, and counts of personal data. The scan is linear: each check
//! reads a bounded number of bytes, or bytes that no other check of its kind reads.

mod personal;
mod sample;
mod secret;
mod secret_forms;

use std::borrow::Cow;

use crate::hidden_text::is_invisible;

/// The secrets and personal data of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SensitiveData {
    /// The kind and a mark of each secret. The mark, the first 12 hexadecimal digits of the
    /// secret's SHA-256, identifies the secret without revealing it.
    pub secrets: Vec<(&'static str, String)>,
    /// Number of e-mail addresses.
    pub addresses: usize,
    /// Number of telephone numbers.
    pub numbers: usize,
    /// Number of card numbers.
    pub cards: usize,
    /// Number of bank account numbers (IBAN).
    pub accounts: usize,
    /// Number of `mailto:` and `tel:` links.
    pub links: usize,
}

impl SensitiveData {
    /// Date of the table of secret forms. A newer table may detect more secrets.
    pub const PATTERNS_DATE: &str = secret_forms::DATE;

    /// Scans a text.
    pub fn find_in(text: &str) -> Self {
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

    /// Scans the strings of a JSON document after decoding their escapes: `\nAKIA…` is a key at the
    /// start of a line.
    pub fn find_in_json(line: &str) -> Self {
        Self::find_in(&without_escapes(line))
    }

    /// Counts the `mailto:` and `tel:` links of an HTML page.
    pub fn count_contact_links(html: &[u8]) -> usize {
        personal::n_links(html)
    }

    /// Formats the counts of personal data, as in `2 e-mail addresses, 1 telephone number`; returns
    /// `None` if all are zero.
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

/// Removes invisible characters, which could prevent the scan from finding a secret.
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

/// Decodes the escapes of a JSON text. An escape without a printable character becomes a space or a
/// line break.
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
    fn finds_secrets_despite_invisible_characters_and_escapes() {
        let key = ["AKIA", "Q3EGRT7WZ5KLM2NP"].concat();
        for split in ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{200d}', '\u{fe0f}'] {
            let text: String = key.chars().flat_map(|c| [c, split]).collect();
            let found = SensitiveData::find_in(&text).secrets;
            assert_eq!(found.len(), 1, "{split:?}");
            assert_eq!(found, SensitiveData::find_in(&key).secrets, "{split:?}");
        }
        let line = format!("{{\"text\":\"first\\n{key}\\u0020x\"}}");
        assert_eq!(
            SensitiveData::find_in_json(&line).secrets,
            SensitiveData::find_in(&key).secrets
        );
        assert!(!format!("{:?}", SensitiveData::find_in(&key)).contains(&key));
        assert_eq!(without_escapes("a\\u00e9\\\"\\\\n\\"), "a\u{e9}\"\\n\n");
    }

    #[test] // SCP-172 D94
    fn counts_addresses_and_telephone_numbers() {
        let text = "Write to office@harbour.org or a.b+c@mail.port.co.uk, call +44 20 7946 0958. \
            Not a@b, not user@example.com, not x@y.example, not +1, not 2+2222222222.";
        let found = SensitiveData::find_in(text);
        assert_eq!((found.addresses, found.numbers), (2, 1));
        assert_eq!(found.personal().as_deref(), Some("2 e-mail addresses, 1 telephone number"));
        assert_eq!(SensitiveData::find_in("nothing here").personal(), None);
    }
}
