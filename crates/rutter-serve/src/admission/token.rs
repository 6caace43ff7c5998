//! Access tokens of partners: parses the token file and creates new tokens.
//!
//! ```toml
//! [[token]]
//! name = "partner"
//! hash = "sha256:…"                  # of the token; the token itself is not stored
//! scopes = ["entries", "content"]
//! rate = "10/m"
//! expires = "2027-01-01T00:00:00Z"   # optional
//! ```
//!
//! A token has 32 random bytes, so it cannot be found from its SHA-256 by trying values. Lookup
//! compares all hashes in constant time.
//!
//! Rejects: unknown keys and scopes, duplicate names. `Debug` output contains no hash.

use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rutter_arc::CrawlRate;
use rutter_page::{Digest, Timestamp};
use serde::Deserialize;

use crate::monitor::access::TOKEN_PREFIX;
use crate::settings::RateLimit;

/// Maximum length of a token that is checked, in bytes.
const MAX_LENGTH: usize = 512;

/// Maximum size of a token file, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// A permission of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Full entries of restricted pages.
    Entries,
    /// The content of restricted pages.
    Content,
}

impl TokenScope {
    /// Returns the name used in the token file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Content => "content",
        }
    }
}

/// Why tokens could not be read or created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file could not be read or written.
    #[error("cannot read or write the token file")]
    Io(#[from] io::Error),
    /// The file is not valid. The message contains the line and no hash.
    #[error("the token file is not valid: line {line}: {message}")]
    Form {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A value is not valid.
    #[error("token `{name}`: {key} is not valid")]
    Value {
        /// Name of the token.
        name: String,
        /// Key of the value.
        key: &'static str,
    },
    /// Two tokens have the same name.
    #[error("duplicate token name `{0}`")]
    Twice(String),
    /// No token has this name.
    #[error("no token is named `{0}`")]
    NoSuch(String),
    /// The token is not a table of its own in the file.
    #[error(
        "cannot remove token `{0}`: it is not a [[token]] table of its own; edit the file by hand"
    )]
    Fixed(String),
}

/// The rights of a token.
#[derive(Clone)]
pub struct TokenGrant {
    /// Name of the token; shown in logs.
    pub name: String,
    /// Permissions of the token.
    pub scopes: Vec<TokenScope>,
    /// Request rate of the token.
    pub rate: RateLimit,
    /// Expiry in seconds since 1970.
    pub expires: Option<i64>,
    hash: [u8; 32],
}

impl fmt::Debug for TokenGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TokenGrant {
    /// Returns whether the token has a scope.
    pub fn allows(&self, scope: TokenScope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Returns the start of the hash, as a table key.
    pub(crate) fn key(&self) -> [u8; 8] {
        *self.hash.first_chunk().expect("a hash has 32 bytes")
    }
}

/// The tokens of a token file.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    grants: Vec<Arc<TokenGrant>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default)]
    token: Vec<TokenTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenTable {
    name: String,
    hash: String,
    scopes: Vec<TokenScope>,
    rate: Option<String>,
    expires: Option<String>,
}

impl Tokens {
    /// Reads a token file.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        if MAX_BYTES < fs::metadata(path)?.len() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more than 4 MiB").into());
        }
        Self::parse(&fs::read_to_string(path)?)
    }

    /// Parses the text of a token file.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let written: TokenFile = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            TokenError::Form { line, message: error.message().to_owned() }
        })?;
        let mut grants: Vec<Arc<TokenGrant>> = Vec::new();
        for TokenTable { name, hash, scopes, rate, expires } in written.token {
            let wrong = |key| TokenError::Value { name: name.clone(), key };
            let Digest(hash) = Digest::parse(&hash).ok_or_else(|| wrong("hash"))?;
            let rate =
                rate.map_or(Ok(RateLimit::DEFAULT), |rate| parse_rate(&rate).ok_or(wrong("rate")))?;
            let expires = match expires {
                Some(time) => {
                    let time = Timestamp::parse(&time).map_err(|_| wrong("expires"))?;
                    Some(time.unix_seconds())
                }
                None => None,
            };
            if grants.iter().any(|grant| grant.name == name) {
                return Err(TokenError::Twice(name));
            }
            grants.push(Arc::new(TokenGrant { name, scopes, rate, expires, hash }));
        }
        Ok(Self { grants })
    }

    /// Returns all tokens, in the order of the file.
    pub fn grants(&self) -> impl Iterator<Item = &TokenGrant> {
        self.grants.iter().map(|grant| &**grant)
    }

    /// Returns whether `others` contains all of these tokens except the one with this name.
    pub(crate) fn is_but(&self, others: &Self, name: &str) -> bool {
        fn facts(
            grant: &TokenGrant,
        ) -> (&str, &[TokenScope], Duration, u32, Option<i64>, [u8; 32]) {
            let TokenGrant { name, scopes, rate, expires, hash } = grant;
            (name, scopes, rate.every, rate.burst, *expires, *hash)
        }
        let left = self.grants().filter(|grant| grant.name != name).map(facts);
        left.eq(others.grants().map(facts))
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.grants.len()
    }

    /// Returns whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Finds a valid token; `None` if it is unknown or expired.
    pub fn find(&self, token: &[u8], now: i64) -> Option<Arc<TokenGrant>> {
        if MAX_LENGTH < token.len() {
            return None;
        }
        let Digest(hash) = Digest::of(token);
        let mut found = None;
        for grant in &self.grants {
            if is_equal(&grant.hash, &hash) {
                found = Some(grant);
            }
        }
        found.filter(|grant| grant.expires.is_none_or(|end| now < end)).map(Arc::clone)
    }
}

/// Compares in constant time.
fn is_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let different = one.iter().zip(other).fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
    black_box(different) == 0
}

/// Parses a rate such as `10/m`: the number of requests in the period, which may all be sent at
/// once.
///
/// ```
/// # use rutter_serve::parse_rate;
/// let rate = parse_rate("10/m").unwrap();
/// assert_eq!((rate.every.as_secs(), rate.burst), (6, 10));
/// assert!(parse_rate("often").is_none());
/// ```
pub fn parse_rate(text: &str) -> Option<RateLimit> {
    let every = CrawlRate::parse(text)?.delay;
    let number: f64 = text.split('/').next()?.trim().parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let burst = number.ceil().clamp(1.0, 1e6) as u32;
    // Zero would mean no limit.
    Some(RateLimit { every: every.max(Duration::from_nanos(1)), burst })
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub struct NewToken<'n> {
    /// Name of the token.
    pub name: &'n str,
    /// Permissions of the token.
    pub scopes: &'n [TokenScope],
    /// Request rate, such as `10/m`.
    pub rate: &'n str,
    /// Expiry.
    pub expires: Option<Timestamp>,
}

/// Creates a token, appends its hash to the file, and returns the token. The token cannot be
/// recovered from the file.
pub fn create_token(path: &Path, new: &NewToken<'_>) -> Result<String, TokenError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let before = Tokens::parse(&text)?;
    if before.grants.iter().any(|grant| grant.name == new.name) {
        return Err(TokenError::Twice(new.name.to_owned()));
    }
    let mut random = [0; 32];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(io::Error::from)?;
    let mut token = TOKEN_PREFIX.to_owned();
    for byte in random {
        write!(token, "{byte:02x}").expect("writing to a string cannot fail");
    }
    let mut added = String::new();
    if !text.is_empty() {
        added.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    // A JSON string is also a TOML string.
    let quoted = |text: &str| serde_json::to_string(text).expect("a string can be written as JSON");
    let scopes: Vec<String> = new.scopes.iter().map(|scope| quoted(scope.name())).collect();
    write!(
        added,
        "[[token]]\nname = {}\nhash = \"{}\"\nscopes = [{}]\nrate = {}\n",
        quoted(new.name),
        Digest::of(token.as_bytes()),
        scopes.join(", "),
        quoted(new.rate)
    )
    .expect("writing to a string cannot fail");
    if let Some(expires) = new.expires {
        writeln!(added, "expires = \"{expires}\"").expect("writing to a string cannot fail");
    }
    // The result must parse to one more token.
    let after = Tokens::parse(&format!("{text}{added}"))?;
    if after.len() != before.len() + 1 {
        return Err(TokenError::Value { name: new.name.to_owned(), key: "name" });
    }
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.write_all(added.as_bytes())?;
    file.sync_all()?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NEW: NewToken<'_> =
        NewToken { name: "one", scopes: &[TokenScope::Entries], rate: "10/m", expires: None };

    #[test] // ARC-064 ARC-066
    fn stores_only_the_hash_of_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let one = create_token(&path, &NEW).unwrap();
        let expires = Timestamp::parse("2027-01-01T00:00:00Z").ok();
        let scopes = [TokenScope::Entries, TokenScope::Content];
        let two = NewToken { name: "two \"\n[x", scopes: &scopes, expires, ..NEW };
        let two = create_token(&path, &two).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&one) && !text.contains(one.strip_prefix(TOKEN_PREFIX).unwrap()));
        let tokens = Tokens::load(&path).unwrap();
        assert_eq!(tokens.len(), 2);
        let found = tokens.find(one.as_bytes(), 0).unwrap();
        assert!(found.allows(TokenScope::Entries) && !found.allows(TokenScope::Content));
        assert_eq!((found.rate.every.as_secs(), found.rate.burst), (6, 10));
        assert!(tokens.find(two.as_bytes(), 0).unwrap().allows(TokenScope::Content));
        // An expired token, and unknown ones.
        assert!(tokens.find(two.as_bytes(), 1_798_761_600).is_none());
        for other in ["", "rutter_", &one.to_uppercase(), &format!("{one} "), &"a".repeat(9999)] {
            assert!(tokens.find(other.as_bytes(), 0).is_none(), "{other}");
        }
        assert!(matches!(create_token(&path, &NEW), Err(TokenError::Twice(_))));
        assert!(!format!("{tokens:?}").contains("sha256"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn errors_name_the_line_without_the_hash() {
        let hash = format!("sha256:{}", "ab".repeat(32));
        let token = format!("[[token]]\nname = \"a\"\nhash = \"{hash}\"\nscopes = [\"entries\"]\n");
        assert_eq!(Tokens::parse(&token).unwrap().len(), 1);
        assert!(Tokens::parse("").unwrap().is_empty());
        for (from, to) in [
            ("scopes", "scope"),
            ("\"entries\"", "\"all\""),
            ("sha256:", "sha1:"),
            ("[[token]]", "[[token]]\nrate = \"often\""),
            ("[[token]]", "[[token]]\nexpires = \"soon\""),
            ("[[token]]", "[[tokens]]"),
            ("\"a\"", "7"),
        ] {
            let error = Tokens::parse(&token.replace(from, to)).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("abab"), "{error}");
        }
        assert!(matches!(Tokens::parse(&token.repeat(2)), Err(TokenError::Twice(_))));
    }
}
