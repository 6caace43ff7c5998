//! Finds secrets in a text without invisible characters.
//!
//! Input: text. Output: the kind and the mark of each secret. Two automata find prefixes of tokens
//! and names of variables in one pass each; a bounded check of the following characters decides. A
//! candidate counts only if it starts at a word boundary. A run of token characters is measured
//! once per character class, which keeps the scan linear.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use sha2::{Digest as _, Sha256};

use super::sample::{entropy, is_sample, is_sample_host, is_sample_key, is_sample_password};
use super::secret_forms::{CharClass, FORMS, NAMED, SecretForm};

/// Prefixes of secrets that consist of more than a prefix and a run of characters.
const COMPOSITE_PREFIXES: [&str; 9] = [
    "PRIVATE KEY-----",
    "PRIVATE KEY BLOCK-----",
    "Private-Lines: ",
    "eyJ",
    "://",
    ":AA",
    "8Q~",
    ".atlasv1.",
    "-us",
];

/// Minimum entropy, in bits per byte, of a value without a specific form.
const MIN_ENTROPY: f64 = 3.2;

static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let starts = COMPOSITE_PREFIXES.iter().copied().chain(FORMS.iter().map(|form| form.start));
    let builder = &mut AhoCorasick::builder();
    let built = builder.match_kind(MatchKind::LeftmostLongest).build(starts);
    built.expect("the table is small")
});

static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let builder = &mut AhoCorasick::builder();
    // Names may overlap: `api_secret_key` contains `api_secret` and `secret_key`.
    builder.match_kind(MatchKind::Standard).ascii_case_insensitive(true);
    builder.build(NAMED.iter().map(|form| form.start)).expect("the table is small")
});

type Secret = (&'static str, String);

/// Returns the kind and the mark of each distinct secret, in order.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut runs = CharacterRuns::new(text);
    for start in STARTS.find_iter(text) {
        let (idx, at, end) = (start.pattern().as_usize(), start.start(), start.end());
        found.extend(
            match idx.checked_sub(COMPOSITE_PREFIXES.len()).and_then(|idx| FORMS.get(idx)) {
                Some(form) => secret_with_prefix(&mut runs, form, at),
                None => composite_secret(
                    text,
                    COMPOSITE_PREFIXES.get(idx).copied().unwrap_or_default(),
                    at,
                    end,
                ),
            },
        );
    }
    let mut runs = CharacterRuns::new(text);
    // Names that end at the same position belong to one value: the longest match gives its kind.
    let mut value_of = None;
    for name in NAMES.find_overlapping_iter(text) {
        let form = NAMED.get(name.pattern().as_usize());
        if value_of == Some(name.end()) {
            continue;
        }
        if let Some(secret) = form.and_then(|form| secret_after_name(&mut runs, form, name.end())) {
            value_of = Some(name.end());
            found.push(secret);
        }
    }
    found.extend(basic_credentials(text));
    found.extend(discord_tokens(text));
    found.sort();
    found.dedup();
    found
}

/// Returns the kind and the mark of a secret: the first 12 hexadecimal digits of its SHA-256, which
/// identify the secret without revealing it.
fn mark(kind: &'static str, secret: &str) -> Secret {
    let digest: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
    let digits = crate::Digest(digest).to_string();
    (kind, digits.trim_start_matches("sha256:").chars().take(12).collect())
}

/// Maximum number of values that are checked in one run of characters.
const MOST_JUDGED: usize = 8;

/// The last run of each character class, so that no run is measured twice, even if it contains many
/// candidates.
struct CharacterRuns<'t> {
    text: &'t str,
    /// By class: start and end of the run, and the number of values that were checked in it.
    last: [(usize, usize, usize); CharClass::N],
}

impl<'t> CharacterRuns<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, last: [(0, 0, 0); CharClass::N] }
    }

    #[expect(clippy::indexing_slicing, reason = "there is one for each class")]
    fn last_of(&mut self, class: CharClass) -> &mut (usize, usize, usize) {
        &mut self.last[class as usize]
    }

    /// Counts the following characters of a class, at most `most + 1`.
    fn measure(&mut self, from: usize, class: CharClass, most: usize) -> usize {
        let (start, end, _) = *self.last_of(class);
        let end = if (start..end).contains(&from) {
            end
        } else {
            let end = from + run(self.text, from, class, usize::MAX - 1);
            *self.last_of(class) = (from, end, 0);
            end
        };
        (end - from).min(most + 1)
    }

    /// Returns whether another value of the last measured run may be checked.
    fn may_check(&mut self, class: CharClass, value: &str) -> bool {
        let n_judged = &mut self.last_of(class).2;
        *n_judged += 1;
        let may = *n_judged <= MOST_JUDGED;
        if may {
            count_read(value.len());
        }
        may
    }
}

#[cfg(test)]
std::thread_local! {
    /// Number of bytes that the checks after the automata have read.
    static N_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts the bytes that are read, for tests.
fn count_read(n: usize) {
    #[cfg(test)]
    N_READ.set(N_READ.get() + n);
    let _ = n;
}

/// Counts the following characters of a class, at most `most + 1`.
fn run(text: &str, from: usize, class: CharClass, most: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let n = rest.iter().take(most + 1).take_while(|byte| class.has(**byte)).count();
    count_read(n + 1);
    n
}

/// Counts the preceding characters of a class, at most `most + 1`.
fn run_before(text: &str, until: usize, class: CharClass, most: usize) -> usize {
    let before = text.as_bytes().get(..until).unwrap_or_default();
    let n = before.iter().rev().take(most + 1).take_while(|byte| class.has(**byte)).count();
    count_read(n + 1);
    n
}

fn byte_before(text: &str, at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.as_bytes().get(at)).copied()
}

fn secret_with_prefix(
    runs: &mut CharacterRuns<'_>,
    form: &SecretForm,
    at: usize,
) -> Option<Secret> {
    let text = runs.text;
    // A prefix of letters must start at a word boundary; one of punctuation need not.
    let is_free = form.start.starts_with(|c: char| !c.is_ascii_alphanumeric())
        || form.start.contains(".com/");
    // `Word` does not include `=`, which may separate a name from its value.
    let is_inside = byte_before(text, at).is_some_and(|byte| CharClass::Word.has(byte));
    let from = at + form.start.len();
    if is_inside && !is_free {
        return None;
    }
    let n = runs.measure(from, form.class, form.most);
    let mut body = text.get(from..from + n).unwrap_or_default();
    // A full stop that ends the sentence is not part of the secret.
    if form.class == CharClass::Dotted {
        body = body.trim_end_matches('.');
    }
    let is_long_enough = (form.fewest..=form.most).contains(&body.len());
    if !is_long_enough || !runs.may_check(form.class, body) {
        return None;
    }
    if is_sample(body) || !has_parts(form, body) {
        return None;
    }
    Some(mark(form.kind, &format!("{}{body}", form.start)))
}

/// Checks the structure of a value, because other text may consist of the same characters.
fn has_parts(form: &SecretForm, body: &str) -> bool {
    let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
    let is_mixed = has_digit && body.bytes().any(|byte| byte.is_ascii_alphabetic());
    match form.start {
        // Two parts, separated by a full stop.
        "SG." => {
            matches!(body.split_once('.'), Some((id, key)) if id.len() == 22 && key.len() == 43)
        }
        "pat" => matches!(body.split_once('.'), Some((id, key))
            if id.len() == 14 && key.bytes().all(|byte| CharClass::Hex.has(byte))),
        "dt0c01." => {
            matches!(body.split_once('.'), Some((id, key)) if id.len() == 24 && key.len() == 64)
        }
        "cio" | "oy2" | "sk-" | "sk_" | "EAA" => is_mixed && MIN_ENTROPY < entropy(body.as_bytes()),
        "hooks.slack.com/services/T" => 2 == body.matches('/').count(),
        _ => has_digit || form.class == CharClass::Upper || 60 < body.len(),
    }
}

/// Finds a value after its name: `aws_secret_access_key = "…"`.
fn secret_after_name(
    runs: &mut CharacterRuns<'_>,
    form: &SecretForm,
    end: usize,
) -> Option<Secret> {
    let text = runs.text;
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let is_between = |byte: &u8| b" \t\"'`=:>".contains(byte);
    let n = rest.iter().take(9).take_while(|byte| is_between(byte)).count();
    let between = rest.get(..n).unwrap_or_default();
    let is_assigned = form.start.contains(' ') || between.iter().any(|byte| b"=:".contains(byte));
    if n == 0 || 8 < n || !is_assigned {
        return None;
    }
    let from = end + n;
    let len = runs.measure(from, form.class, form.most);
    let value = text.get(from..from + len).unwrap_or_default().trim_end_matches('.');
    let is_long_enough = (form.fewest..=form.most).contains(&value.len());
    if !is_long_enough || !runs.may_check(form.class, value) {
        return None;
    }
    // The name of a function has few digits; a random value has several.
    let is_random = || {
        let n_digits = value.bytes().filter(u8::is_ascii_digit).count();
        let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
        (value.len() / 16).max(2) <= n_digits
            && has_letter
            && MIN_ENTROPY < entropy(value.as_bytes())
    };
    // A call, a path or an identifier is not a value.
    let behind = text.as_bytes().get(from + len);
    let is_code =
        behind.is_some_and(|byte| b"([$%{".contains(byte)) || value.matches('-').count() > 5;
    (is_random() && !is_code && !is_sample(value)).then(|| mark(form.kind, value))
}

/// Finds secrets of several parts.
fn composite_secret(text: &str, start: &str, at: usize, end: usize) -> Option<Secret> {
    match start {
        "PRIVATE KEY-----" | "PRIVATE KEY BLOCK-----" => private_key(text, at, end),
        "Private-Lines: " => {
            // PuTTY: a number, then that many lines.
            let n = run(text, end, CharClass::Hex, 4);
            let body = text.get(end + n..).unwrap_or_default();
            let is_part = |byte: u8| CharClass::Base64.has(byte) || byte.is_ascii_whitespace();
            let len = body.bytes().take_while(|byte| is_part(*byte)).count();
            count_read(len + 1);
            let key = base64_of(body.get(..len).unwrap_or_default());
            (60 <= key.len() && !is_sample_key(&key)).then(|| mark("private key", &key))
        }
        "eyJ" => jwt(text, at),
        "://" => url_password(text, at, end),
        ":AA" => {
            let id = run_before(text, at, CharClass::Hex, 12);
            let id = text.get(at - id..at).unwrap_or_default();
            let is_id =
                (8..=10).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
            let n = run(text, end, CharClass::Word, 34);
            let secret = text.get(at - id.len()..end + n).unwrap_or_default();
            (is_id && n == 33 && !is_sample(text.get(end..end + n)?))
                .then(|| mark("Telegram token", secret))
        }
        "8Q~" => {
            let before = run_before(text, at, CharClass::Alnum, 4);
            let n = run(text, end, CharClass::Dotted, 40);
            let secret = text.get(at - before..end + n).unwrap_or_default();
            let is_secret = before == 3 && (31..=34).contains(&n) && !is_sample(secret);
            is_secret.then(|| mark("Azure secret", secret))
        }
        ".atlasv1." => {
            let before = run_before(text, at, CharClass::Alnum, 14);
            let n = run(text, end, CharClass::Word, 80);
            let secret = text.get(at - before..end + n).unwrap_or_default();
            (before == 14 && 60 <= n).then(|| mark("Terraform token", secret))
        }
        "-us" => {
            let before = run_before(text, at, CharClass::Hex, 32);
            let n = run(text, end, CharClass::Alnum, 2);
            let is_number = text.get(end..end + n).is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
            let key = text.get(at - before..at).unwrap_or_default();
            (before == 32 && is_number && !is_sample(key)).then(|| mark("Mailchimp key", key))
        }
        _ => None,
    }
}

fn base64_of(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')).collect()
}

/// Finds a key between `-----BEGIN … PRIVATE KEY-----` and the next dashes. The shortest key,
/// Ed25519, has 64 characters.
fn private_key(text: &str, at: usize, end: usize) -> Option<Secret> {
    let before = text.as_bytes().get(at.saturating_sub(32)..at).unwrap_or_default();
    memchr::memmem::rfind(before, b"-----BEGIN ")?;
    let body = text.get(end..).unwrap_or_default();
    let body = body.get(..memchr::memmem::find(body.as_bytes(), b"-----").unwrap_or(body.len()))?;
    count_read(body.len());
    // `\n` in a string literal is not part of the key.
    let key = base64_of(&body.replace("\\n", ""));
    let is_cut = body.contains("...") || body.contains('\u{2026}');
    (60 <= key.len() && !is_cut && !is_sample_key(&key)).then(|| mark("private key", &key))
}

/// Finds a signed JSON web token: two parts of JSON and a signature. The common example token, of
/// John Doe with number 1234567890, is a placeholder.
fn jwt(text: &str, at: usize) -> Option<Secret> {
    const MOST: usize = 8192;
    if byte_before(text, at).is_some_and(|byte| CharClass::Dotted.has(byte)) {
        return None;
    }
    let token = text.get(at..at + run(text, at, CharClass::Dotted, MOST))?;
    let mut parts = token.trim_end_matches('.').split('.');
    let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() && !payload.starts_with("eyJ") {
        return None;
    }
    let header = decode_base64(header)?;
    let payload = decode_base64(payload)?.to_ascii_lowercase();
    let is_signed =
        header.starts_with("{\"") && header.contains("\"alg\"") && 20 <= signature.len();
    // Compare whole values only: `alice@harbour.org` may be a real account.
    let is_shown = [
        "\"1234567890\"",
        "\"john doe\"",
        "\"jane doe\"",
        "\"alice\"",
        "\"foobar\"",
        "\"example\"",
        "example.com",
        "example.org",
        "example.net",
        ".example",
    ]
    .iter()
    .any(|word| payload.contains(word));
    // A token that grants access has a subject, an issuer or an expiry time.
    let has_claim = ["exp", "iat", "nbf", "iss", "sub", "aud", "jti"]
        .iter()
        .any(|claim| payload.contains(&format!("\"{claim}\"")));
    let is_whole = payload.starts_with('{') && has_claim;
    (is_signed && is_whole && !is_shown && !is_sample(signature))
        .then(|| mark("JSON Web Token", token))
}

/// Decodes Base64 of either alphabet into text.
fn decode_base64(encoded: &str) -> Option<String> {
    let mut out = Vec::with_capacity(encoded.len());
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in encoded.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        (bits, n_bits) = ((bits << 6) | u32::from(value), n_bits + 6);
        if 8 <= n_bits {
            n_bits -= 8;
            out.push(u8::try_from((bits >> n_bits) & 0xff).ok()?);
        }
    }
    String::from_utf8(out).ok()
}

/// Finds the password in `postgres://app:PASSWORD@db.internal/app`, with any scheme.
fn url_password(text: &str, at: usize, end: usize) -> Option<Secret> {
    const MOST: usize = 512;
    let scheme = run_before(text, at, CharClass::Base64, 20);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'`\\".contains(byte);
    let n = rest.iter().take(MOST).take_while(|byte| !is_end(byte)).count();
    count_read(n + 1);
    let (user, host) = text.get(end..end + n)?.rsplit_once('@')?;
    let (user, password) = user.split_once(':')?;
    let host = host.split([':', '?', ',', '#']).next().unwrap_or_default();
    if scheme == 0 || host.is_empty() || is_sample_host(host) {
        return None;
    }
    (!is_sample_password(password, user)).then(|| mark("password in a URL", password))
}

/// Finds the credentials of each `Authorization: Basic …`.
fn basic_credentials(text: &str) -> impl Iterator<Item = Secret> {
    const NAME: &str = "uthorization: Basic ";
    memchr::memmem::find_iter(text.as_bytes(), NAME).filter_map(|at| {
        let from = at + NAME.len();
        let encoded = text.get(from..from + run(text, from, CharClass::Base64, 255))?;
        let pair = decode_base64(encoded)?;
        let (user, password) = pair.split_once(':')?;
        (!is_sample_password(password, user)).then(|| mark("password in a header", &pair))
    })
}

/// Finds Discord bot tokens: a number in Base64, a time and a signature.
fn discord_tokens(text: &str) -> impl Iterator<Item = Secret> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'.', bytes).filter_map(|at| {
        if bytes.get(at + 7) != Some(&b'.') || run(text, at + 1, CharClass::Word, 6) != 6 {
            return None;
        }
        let id = run_before(text, at, CharClass::Word, 29);
        let n = run(text, at + 8, CharClass::Word, 39);
        let number = decode_base64(text.get(at - id..at)?)?;
        let is_id = (17..=20).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        let secret = text.get(at - id..at + 8 + n)?;
        (is_id && (27..=38).contains(&n)).then(|| mark("Discord token", secret))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudo-random characters of a class, the same in every run.
    fn random_text(class: CharClass, n: usize) -> String {
        let all: Vec<char> = (b'0'..=b'z')
            .filter(|b| b.is_ascii_alphanumeric() && class.has(*b))
            .map(char::from)
            .collect();
        let mut seed = 88_172_645_463_325_252_u64;
        let mut out = String::from("7");
        while out.len() < n {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let at = usize::try_from(seed % all.len() as u64).unwrap();
            out.extend(all.get(at));
        }
        out
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().map(|(kind, _)| kind).collect()
    }

    #[test] // SCP-201 D94
    fn finds_every_form_of_the_table() {
        for form in FORMS {
            let mut body = random_text(form.class, form.fewest);
            match form.start {
                "SG." => body.replace_range(22..23, "."),
                "pat" => {
                    body = format!(
                        "{}.{}",
                        random_text(CharClass::Alnum, 14),
                        random_text(CharClass::Hex, 64)
                    );
                }
                "dt0c01." => {
                    body = format!(
                        "{}.{}",
                        random_text(CharClass::Upper, 24),
                        random_text(CharClass::Upper, 64)
                    );
                }
                "hooks.slack.com/services/T" => {
                    body.replace_range(9..10, "/");
                    body.replace_range(19..20, "/");
                }
                _ => {}
            }
            let text = format!("key: {}{body} and more.", form.start);
            let found = kinds(&text);
            assert!(found.contains(&form.kind), "{}: {found:?}", form.start);
            assert!(
                find(&text)
                    .iter()
                    .all(|(_, mark)| mark.len() == 12 && !text.contains(mark.as_str()))
            );
            // After the name of a variable, and as a member of an object.
            for before in ["NAME=", "NAME='", "\"NAME\":\"", "/"] {
                let text = format!("{before}{}{body}\"", form.start);
                assert!(kinds(&text).contains(&form.kind), "{text}");
            }
            // Too short, and inside another word.
            let short = body.get(..body.len() / 2).unwrap();
            assert_eq!(find(&format!("{}{short} x", form.start)), [], "{}", form.start);
            if form.start.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !form.start.contains(".com/")
            {
                let inside = format!("x{}{body} x", form.start);
                assert_eq!(find(&inside), [], "{inside}");
            }
        }
        for form in NAMED {
            let text = format!(
                "{} = \"{}\"",
                form.start.to_uppercase(),
                random_text(form.class, form.fewest)
            );
            assert!(!find(&text).is_empty(), "{text}");
        }
    }

    #[test] // SCP-201 D94
    fn finds_keys_tokens_and_passwords_of_several_parts() {
        for (kind, text) in [
            (
                "private key",
                format!(
                    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
                    random_text(CharClass::Alnum, 64)
                ),
            ),
            (
                "private key",
                format!(
                    "-----BEGIN EC PRIVATE KEY----- {} -----END EC PRIVATE KEY-----",
                    random_text(CharClass::Alnum, 164)
                ),
            ),
            (
                "private key",
                format!(
                    "-----BEGIN OPENSSH PRIVATE KEY-----\n{}",
                    random_text(CharClass::Alnum, 300)
                ),
            ),
            (
                "private key",
                format!(
                    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END",
                    random_text(CharClass::Alnum, 300)
                ),
            ),
            (
                "private key",
                format!(
                    "\"-----BEGIN RSA PRIVATE KEY-----\\n{}\\n-----END RSA\"",
                    random_text(CharClass::Alnum, 300)
                ),
            ),
            (
                "private key",
                format!("Private-Lines: 1\n{}\nPrivate-MAC: 0", random_text(CharClass::Alnum, 64)),
            ),
            ("password in a URL", "postgres://app:hV7kq2Zr9LmX@db.internal:5432/app".to_owned()),
            (
                "password in a URL",
                "mongodb+srv://root:Zx81-Kpq7w@cluster0.ab1cd.mongodb.net".to_owned(),
            ),
            ("password in a URL", "see https://ci:q8Wz2LkP0t@git.harbour.org/x.git".to_owned()),
            ("password in a URL", "redis://:hV7kq2Zr9LmX@cache:6379".to_owned()),
            ("Telegram token", format!("123456789:AA{}", random_text(CharClass::Alnum, 33))),
            ("Azure secret", format!("abc8Q~{}", random_text(CharClass::Alnum, 34))),
            (
                "Terraform token",
                format!(
                    "{}.atlasv1.{}",
                    random_text(CharClass::Alnum, 14),
                    random_text(CharClass::Alnum, 67)
                ),
            ),
            ("Mailchimp key", format!("{}-us12", random_text(CharClass::Hex, 32))),
            ("password in a header", "Authorization: Basic YXBwOmhWN2txMlpyOUxtWA==".to_owned()),
            (
                "Discord token",
                format!("MTE5ODYyMjQ4MzQ3MTkyNTI0OA.Gh7xQ2.{}", random_text(CharClass::Alnum, 38)),
            ),
        ] {
            assert_eq!(kinds(&text), [kind], "{text}");
        }
        // {"alg":"HS256"} and {"sub":"u-7193","role":"admin"}
        let jwt = format!(
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1LTcxOTMiLCJyb2xlIjoiYWRtaW4ifQ.{}",
            random_text(CharClass::Alnum, 43)
        );
        assert_eq!(kinds(&jwt), ["JSON Web Token"]);
        // {"sub":"alice@harbour.org","exp":1893456000}: only whole values mark a placeholder.
        let jwt = format!(
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZUBoYXJib3VyLm9yZyIsImV4cCI6MTg5MzQ1NjAwMH0.{}",
            random_text(CharClass::Alnum, 43)
        );
        assert_eq!(kinds(&jwt), ["JSON Web Token"]);
    }

    #[test] // SCP-201 D94
    fn finds_values_after_overlapping_names_once() {
        let value = random_text(CharClass::Alnum, 40);
        for (name, kind) in [
            ("API_SECRET_KEY", "secret key"),
            ("client_secret_key", "secret key"),
            ("AWS_SECRET_KEY", "AWS secret key"),
            ("heroku_api_key", "API key"),
            ("x_api_key", "API key"),
        ] {
            assert_eq!(kinds(&format!("{name}={value}")), [kind], "{name}");
            assert_eq!(kinds(&format!("\"{name}\": \"{value}\"")), [kind], "{name}");
        }
        let key = random_text(CharClass::Alnum, 36);
        assert_eq!(kinds(&format!("HEROKU_API_KEY={key}")), ["Heroku key"]);
    }

    #[test] // SCP-201 D94
    fn finds_every_header_and_bot_token() {
        let header = |pair| format!("Authorization: Basic {pair}\n");
        let text =
            ["QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "YXBwOmhWN2txMlpyOUxtWA==", "Y2k6cThXejJMa1AwdA=="]
                .map(header)
                .concat();
        assert_eq!(kinds(&text), ["password in a header"; 2]);
        let token = |time| {
            format!("MTE5ODYyMjQ4MzQ3MTkyNTI0OA.{time}.{} ", random_text(CharClass::Alnum, 38))
        };
        assert_eq!(kinds(&["Gh7xQ2", "Gk2wZ9"].map(token).concat()), ["Discord token"; 2]);
    }

    #[test] // SCP-201 D94
    fn finds_keys_with_a_short_word_by_chance() {
        for word in ["Your", "fake", "xXxx", "AbCdEf", "dUmMy"] {
            let key = format!(
                "{}{word}{}",
                random_text(CharClass::Alnum, 100),
                random_text(CharClass::Alnum, 400)
            );
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----");
            assert_eq!(kinds(&pem), ["private key"], "{word}");
            let putty = format!("Private-Lines: 9\n{key}\nPrivate-MAC: 0");
            assert_eq!(kinds(&putty), ["private key"], "{word}");
            let data = format!("client-key-data: {key}");
            assert_eq!(kinds(&data), ["Kubernetes key"], "{word}");
        }
        let key = format!(
            "{}placeholder{}",
            random_text(CharClass::Alnum, 100),
            random_text(CharClass::Alnum, 100)
        );
        assert_eq!(find(&format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END")), []);
    }

    #[test] // D94
    fn ignores_placeholders_of_documentation() {
        for sample in [
            "AKIAIOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIA",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq6Xn0mB2x8Yk4Jt5Zf3Qw9Rv1Lp6Hs0Gd8Uc7Ea5Ti2...\n-----END",
            "postgres://user:password@localhost/db",
            "mysql://root:secret@db:3306/app",
            "https://user:hV7kq2Zr9LmX@example.com/",
            "https://username:personal_access_token@github.com/x",
            "postgres://app:${DB_PASSWORD}@db/app",
            "postgres://app:<your-password>@db/app",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE_1234",
            "api_key = \"your-api-key-goes-right-here-1\"",
            "client_secret: process.env.CLIENT_SECRET_2",
            "apikey=sqlite3_get_auxdata_function_name",
            "sk-container-fluid-0123456789-wrapper",
            "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
            "http://www.sqlite.org:8080/a@b",
            "ssh://git@host:22/x",
        ] {
            assert_eq!(find(sample), [], "{sample}");
        }
    }

    /// Returns the number of bytes of a text that the checks read.
    fn n_read(text: &str) -> usize {
        N_READ.set(0);
        drop(find(text));
        N_READ.get()
    }

    #[test] // SCP-201
    fn reads_each_byte_a_limited_number_of_times() {
        let others = [
            "PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----A",
            "Private-Lines: 1\n",
            "://a:b@",
            "eyJ.",
            ".eyJ",
            "a.aaaaaa.",
            "Authorization: Basic ",
            "xAKIA00",
        ];
        let forms = FORMS.iter().chain(NAMED).map(|form| form.start);
        for start in forms.chain(others) {
            for between in ["", "=", " ", "/", ".", ": "] {
                let unit = format!("{start}{between}");
                let (once, twice) = (n_read(&unit.repeat(500)), n_read(&unit.repeat(1000)));
                assert!(5 * twice <= 11 * once.max(100), "{unit:?}: {once}, then {twice}");
                // 512 times as much if each name measured the 8,192 bytes after it.
                let most = 64 * unit.len() * 1000;
                assert!(twice <= most, "{unit:?}: {twice} bytes of {}", unit.len() * 1000);
            }
        }
    }
}
