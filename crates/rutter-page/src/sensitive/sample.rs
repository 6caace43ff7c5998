//! Distinguishes placeholders in documentation from secrets.
//!
//! A value is a placeholder if it has few different characters, counts up, or contains a word such
//! as `EXAMPLE`, `your` or `xxxx`. A password is a placeholder if it is short, if it is a variable
//! (`$DB_PASS`, `<password>`), or if it consists only of words such as `my`, `secret` and
//! `password`, digits and punctuation.

/// Substrings that mark a value as a placeholder.
const MARKERS: &[&str] = &[
    "example",
    "xxxx",
    "your",
    "1234567",
    "abcdef",
    "sample",
    "placeholder",
    "dummy",
    "redacted",
    "changeme",
    "insert",
    "replace",
    "foobar",
    "........",
    "****",
    "test_key",
    "fake",
    "0000000",
];

/// Length in bytes from which on a random value may contain a short word by chance.
const LONG_VALUE: usize = 128;

/// Words that occur in placeholder passwords.
const WORDS: &[&str] = &[
    "my",
    "your",
    "the",
    "a",
    "db",
    "database",
    "user",
    "username",
    "admin",
    "root",
    "super",
    "secret",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pw",
    "word",
    "key",
    "token",
    "some",
    "any",
    "strong",
    "weak",
    "new",
    "old",
    "test",
    "testing",
    "example",
    "sample",
    "demo",
    "dummy",
    "default",
    "change",
    "me",
    "foo",
    "bar",
    "baz",
    "qux",
    "postgres",
    "mysql",
    "mongo",
    "redis",
    "rabbit",
    "guest",
    "hunter",
    "tiger",
    "here",
    "it",
    "this",
    "is",
    "abc",
    "xyz",
    "login",
    "api",
    "app",
    "service",
    "letmein",
    "qwerty",
    "placeholder",
    "redacted",
    "hidden",
    "open",
    "personal",
    "access",
    "basic",
    "auth",
    "private",
    "server",
    "host",
];

/// Spellings of `password` and `secret` with digits.
const DISGUISED: &[&str] =
    &["passw0rd", "p4ssw0rd", "p4ssword", "p@ssw0rd", "p@ssword", "pa55w0rd", "s3cret", "s3cr3t"];

/// Returns whether a value is a placeholder and not a random value.
pub(super) fn is_sample(value: &str) -> bool {
    if LONG_VALUE < value.len() {
        return is_sample_key(value);
    }
    let lower = value.to_ascii_lowercase();
    entropy(lower.as_bytes()) < 2.5 || MARKERS.iter().any(|word| lower.contains(word))
}

/// Returns whether a long value is a placeholder.
///
/// Only words of at least seven letters count: a key may contain a word of four letters by chance
/// (`your` in one of 600 RSA keys).
pub(super) fn is_sample_key(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut words = MARKERS.iter().filter(|word| 7 <= word.len());
    entropy(lower.as_bytes()) < 2.5 || words.any(|word| lower.contains(word))
}

/// Returns whether a password is a placeholder, or too weak to distinguish from one.
pub(super) fn is_sample_password(password: &str, user: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let has = |is: fn(&u8) -> bool| usize::from(password.as_bytes().iter().any(is));
    let n_classes = has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(|byte| byte.is_ascii_punctuation() && !b"-_.".contains(byte));
    let is_variable = lower.contains("...")
        || lower.contains("${")
        || lower.contains("%s")
        || lower.starts_with(['$', '<', '{', '[', '%', '*', '('])
        || lower.contains(['<', '>', '{', '}', '\u{2026}']);
    password.len() < 8
        || n_classes < 2
        || is_variable
        || lower == user.to_ascii_lowercase()
        || DISGUISED.contains(&lower.trim_end_matches(|c: char| !c.is_ascii_lowercase()))
        || MARKERS.iter().any(|word| lower.contains(word))
        || is_made_of_words(&lower)
}

/// Returns whether a text consists only of known words, digits and punctuation.
fn is_made_of_words(lower: &str) -> bool {
    let mut rest = lower;
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphabetic());
        if rest.is_empty() {
            return true;
        }
        let words = WORDS.iter().filter(|word| rest.starts_with(**word));
        let Some(longest) = words.max_by_key(|word| word.len()) else { return false };
        rest = rest.get(longest.len()..).unwrap_or_default();
    }
}

/// Returns the Shannon entropy in bits per byte: 0 for `aaaa`, nearly 4 for random hexadecimal
/// digits.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| 0 < **count).map(|count| -share(count) * share(count).log2()).sum()
}

/// Returns whether a host name is reserved for documentation (RFC 2606, RFC 6761).
pub(super) fn is_sample_host(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let (name, ending) = host.rsplit_once('.').unwrap_or(("", &host));
    matches!(ending, "example" | "test" | "invalid")
        || name == "example"
        || name.ends_with(".example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D94
    fn distinguishes_placeholders_from_passwords() {
        for sample in [
            "password",
            "pass",
            "secret",
            "Password123!",
            "my-secret-password",
            "P@ssw0rd",
            "hunter2",
            "changeme123",
            "<password>",
            "${DB_PASS}",
            "$PASSWORD",
            "xxxxxxxx1",
            "s3cret",
            "12345678",
            "p4ssw0rd!",
            "YOUR_PASSWORD",
            "correcthorse",
            "passwd-on-proxy",
        ] {
            assert!(is_sample_password(sample, "user"), "{sample}");
        }
        for real in
            ["hV7kq2Zr9LmX", "Sup3rS3cret!", "S3cr3tPassw0rd", "tr0ub4dor&3", "9f8a7c6e5d4b"]
        {
            assert!(!is_sample_password(real, "app"), "{real}");
        }
    }

    #[test]
    fn entropy_is_in_bits_per_byte() {
        assert!(entropy(b"aaaaaaaa").abs() < 1e-9);
        assert!((entropy(b"abcdabcd") - 2.0).abs() < 1e-9);
        assert!(is_sample("aaaaaaaabbbbbbbb") && is_sample("AKIAIOSFODNN7EXAMPLE"));
        assert!(!is_sample("Q3EGRT7WZ5KLM2NP"));
    }
}
