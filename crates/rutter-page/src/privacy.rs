//! Looks for what should not leave: secrets, addresses, telephone numbers
//! (D94). Certain forms only: a documentation is full of lookalikes.
//!
//! Refuses: to show a secret it has found.

use memchr::{memchr_iter, memmem};
use sha2::{Digest as _, Sha256};

/// What was found in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// Kind and mark of each secret; the secret itself is never shown.
    pub secrets: Vec<(&'static str, String)>,
    /// How many e-mail addresses.
    pub addresses: usize,
    /// How many telephone numbers.
    pub numbers: usize,
}

impl Private {
    /// Looks through a text.
    pub fn of(text: &str) -> Self {
        let (addresses, numbers) = (n_addresses(text), n_numbers(text));
        Self { secrets: secrets(text), addresses, numbers }
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
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Names a secret without giving it away.
fn mark(secret: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
    let digits = crate::Digest(digest).to_string();
    digits.trim_start_matches("sha256:").chars().take(12).collect()
}

/// A kind of secret: how it begins, what follows, and how many of that.
struct Form {
    kind: &'static str,
    start: &'static str,
    is_part: fn(u8) -> bool,
    fewest: usize,
    most: usize,
}

const FORMS: [Form; 9] = [
    Form { kind: "AWS access key", start: "AKIA", is_part: is_upper, fewest: 16, most: 16 },
    Form { kind: "GitHub token", start: "ghp_", is_part: is_alnum, fewest: 36, most: 255 },
    Form { kind: "GitHub token", start: "ghs_", is_part: is_alnum, fewest: 36, most: 255 },
    Form { kind: "GitHub token", start: "github_pat_", is_part: is_word, fewest: 60, most: 255 },
    Form { kind: "GitLab token", start: "glpat-", is_part: is_word, fewest: 20, most: 64 },
    Form { kind: "Slack token", start: "xoxb-", is_part: is_word, fewest: 30, most: 255 },
    Form { kind: "Stripe key", start: "sk_live_", is_part: is_alnum, fewest: 24, most: 255 },
    Form { kind: "Google API key", start: "AIza", is_part: is_word, fewest: 35, most: 35 },
    Form { kind: "npm token", start: "npm_", is_part: is_alnum, fewest: 36, most: 36 },
];

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn secrets(text: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    for form in &FORMS {
        for at in memmem::find_iter(bytes, form.start) {
            let is_inside =
                at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|byte| is_word(*byte));
            let rest = bytes.get(at + form.start.len()..).unwrap_or_default();
            let n = rest.iter().take_while(|byte| (form.is_part)(**byte)).count();
            if is_inside || n < form.fewest || form.most < n {
                continue;
            }
            let secret = text.get(at..at + form.start.len() + n).unwrap_or_default();
            if !is_sample(secret.get(form.start.len()..).unwrap_or_default()) {
                found.push((form.kind, mark(secret)));
            }
        }
    }
    let key = memmem::find_iter(bytes, "PRIVATE KEY-----").filter_map(|at| {
        let body = text.get(at + "PRIVATE KEY-----".len()..)?;
        let end = body.find("-----END ")?;
        let body = body.get(..end)?;
        let n = body.bytes().filter(u8::is_ascii_alphanumeric).count();
        // A key of any strength has more; a sample says `...`.
        (200 <= n && !body.contains("...")).then(|| ("private key", mark(body)))
    });
    found.extend(key);
    found.sort();
    found.dedup();
    found
}

/// Letters that nobody drew: `EXAMPLE`, one character over and over, a row.
fn is_sample(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut different: Vec<u8> = lower.bytes().collect();
    different.sort_unstable();
    different.dedup();
    different.len() < 6
        || ["example", "xxxx", "your", "1234567", "abcdef"].iter().any(|word| lower.contains(word))
}

fn n_addresses(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let found = memchr_iter(b'@', bytes).filter(|at| {
        let (before, behind) = bytes.split_at(*at);
        let n_before = before.iter().rev().take_while(|byte| is_local(byte)).count();
        let behind = behind.get(1..).unwrap_or_default();
        let n_behind = behind.iter().take_while(|byte| is_host(byte)).count();
        let host = behind.get(..n_behind).unwrap_or_default();
        let host = String::from_utf8_lossy(host).trim_end_matches('.').to_ascii_lowercase();
        let (name, ending) = host.rsplit_once('.').unwrap_or(("", ""));
        let is_real = 2 <= ending.len() && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_sample = matches!(ending, "example" | "test" | "invalid" | "localhost")
            || name == "example"
            || name.ends_with(".example");
        0 < n_before && !name.is_empty() && is_real && !is_sample
    });
    found.count()
}

/// International numbers: a plus sign and 9 to 15 digits, a little apart.
fn n_numbers(text: &str) -> usize {
    let bytes = text.as_bytes();
    let found = memchr_iter(b'+', bytes).filter(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let behind = bytes.get(at + 1..).unwrap_or_default();
        let is_start = before.is_none_or(|byte| matches!(byte, b' ' | b'(' | b':' | b'\n' | b'"'));
        let starts = behind.first().is_some_and(|byte| (b'1'..=b'9').contains(byte));
        let mut n_digits = 0;
        let mut n_apart = 0;
        for byte in behind {
            match byte {
                b'0'..=b'9' => (n_digits, n_apart) = (n_digits + 1, 0),
                b' ' | b'-' | b'(' | b')' | b'.' | b'/' if n_apart < 2 => n_apart += 1,
                _ => break,
            }
        }
        is_start && starts && (9..=15).contains(&n_digits)
    });
    found.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-201 D94
    fn spec_secrets_are_found_and_samples_are_not() {
        // Put together here, so that no scanner takes this file for a leak.
        let key = ["AKIA", "Q3EGRT7WZ5KLM2NP"].concat();
        let token = ["ghp_", "a8Kd92kLmQ0zXcVbN4rT6yUiOp1sDfGhJk3W"].concat();
        let found = Private::of(&format!("key {key} and {token}.")).secrets;
        assert_eq!(
            found.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
            ["AWS access key", "GitHub token"]
        );
        assert!(found.iter().all(|(_, mark)| mark.len() == 12));
        assert!(!format!("{found:?}").contains(&key));
        for sample in [
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIA",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        ] {
            assert_eq!(Private::of(sample).secrets, [], "{sample}");
        }
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ".repeat(5);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
        assert_eq!(Private::of(&pem).secrets.len(), 1);
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
