//! Tokens of partners: a file with their hashes, and the making of new ones.
//!
//! ```toml
//! [[token]]
//! name = "partner"
//! hash = "sha256:…"                  # of the token; the token itself is nowhere
//! scopes = ["entries", "content"]
//! rate = "10/m"
//! expires = "2027-01-01T00:00:00Z"   # may be left out
//! ```
//!
//! A token is 32 random bytes, so its plain SHA-256 cannot be searched.
//! Compared are hashes, all of them and to their last byte.
//!
//! Refuses: files with unknown keys or scopes, names given twice, and to show
//! a token in `Debug`.

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

use crate::settings::Rate;

/// What a token starts with, so that one that leaked can be found.
pub(crate) const PREFIX: &str = "rutter_";

/// Longest token that is looked at.
const LONGEST: usize = 512;

/// Largest file of tokens.
const MOST_BYTES: u64 = 4 << 20;

/// What a token lets its holder have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Full entries of pages that need a login.
    Entries,
    /// The pages themselves.
    Content,
}

impl Scope {
    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Content => "content",
        }
    }
}

/// Why tokens cannot be read or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("the file of tokens cannot be read or written")]
    Io(#[from] io::Error),
    /// The file is not TOML of the wanted form. The cause names the place, and
    /// no hash.
    #[error("the file of tokens is wrong in line {line}: {message}")]
    Form {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A value cannot be read.
    #[error("token `{name}`: {key} cannot be read")]
    Value {
        /// Whose value.
        name: String,
        /// Which value.
        key: &'static str,
    },
    /// Two tokens have one name.
    #[error("there are two tokens named `{0}`")]
    Twice(String),
    /// No token has this name.
    #[error("there is no token named `{0}`")]
    NoSuch(String),
    /// The token is not a table of its own in the file.
    #[error("token `{0}` is not written as a [[token]] of its own; take it out by hand")]
    Fixed(String),
}

/// A token as the server knows it.
#[derive(Clone)]
pub struct Grant {
    /// Whose it is; shown in logs.
    pub name: String,
    /// What it lets its holder have.
    pub scopes: Vec<Scope>,
    /// How often its holder may come.
    pub rate: Rate,
    /// When it ends, in seconds since 1970.
    pub expires: Option<i64>,
    hash: [u8; 32],
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Grant {
    /// Tells whether it lets its holder have something.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// The start of its hash, for tables.
    pub(crate) fn key(&self) -> [u8; 8] {
        *self.hash.first_chunk().expect("a hash has 32 bytes")
    }
}

/// All tokens.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    grants: Vec<Arc<Grant>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    #[serde(default)]
    token: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    hash: String,
    scopes: Vec<Scope>,
    rate: Option<String>,
    expires: Option<String>,
}

impl Tokens {
    /// Reads a file of tokens.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        if MOST_BYTES < fs::metadata(path)?.len() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more than 4 MiB").into());
        }
        Self::parse(&fs::read_to_string(path)?)
    }

    /// Reads the text of such a file.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let written: WrittenFile = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            TokenError::Form { line, message: error.message().to_owned() }
        })?;
        let mut grants: Vec<Arc<Grant>> = Vec::new();
        for Written { name, hash, scopes, rate, expires } in written.token {
            let wrong = |key| TokenError::Value { name: name.clone(), key };
            let Digest(hash) = Digest::parse(&hash).ok_or_else(|| wrong("hash"))?;
            let rate = rate.map_or(Ok(Rate::USUAL), |rate| rate_of(&rate).ok_or(wrong("rate")))?;
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
            grants.push(Arc::new(Grant { name, scopes, rate, expires, hash }));
        }
        Ok(Self { grants })
    }

    /// All of them, in the order of the file.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.grants.iter().map(|grant| &**grant)
    }

    /// Whether `others` are these without the one of this name.
    pub(crate) fn is_but(&self, others: &Self, name: &str) -> bool {
        fn facts(grant: &Grant) -> (&str, &[Scope], Duration, u32, Option<i64>, [u8; 32]) {
            let Grant { name, scopes, rate, expires, hash } = grant;
            (name, scopes, rate.every, rate.burst, *expires, *hash)
        }
        let left = self.grants().filter(|grant| grant.name != name).map(facts);
        left.eq(others.grants().map(facts))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.grants.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Whose token this is; `None` for nobody's and for one that has ended.
    pub fn find(&self, token: &[u8], now: i64) -> Option<Arc<Grant>> {
        if LONGEST < token.len() {
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

/// Compares to the last byte, whatever the first ones are.
fn is_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let different = one.iter().zip(other).fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
    black_box(different) == 0
}

/// Reads `10/m`: so many in the time, all of them at once if need be.
///
/// ```
/// # use rutter_serve::rate_of;
/// let rate = rate_of("10/m").unwrap();
/// assert_eq!((rate.every.as_secs(), rate.burst), (6, 10));
/// assert!(rate_of("often").is_none());
/// ```
pub fn rate_of(text: &str) -> Option<Rate> {
    let every = CrawlRate::parse(text)?.delay;
    let number: f64 = text.split('/').next()?.trim().parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let burst = number.ceil().clamp(1.0, 1e6) as u32;
    // Less than a nanosecond would be no limit at all.
    Some(Rate { every: every.max(Duration::from_nanos(1)), burst })
}

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct NewToken<'n> {
    /// Whose it is.
    pub name: &'n str,
    /// What it lets its holder have.
    pub scopes: &'n [Scope],
    /// How often its holder may come, such as `10/m`.
    pub rate: &'n str,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

/// Makes a token, adds its hash to the file, and gives it back: this is the
/// only moment at which it is known.
pub fn new_token(path: &Path, new: &NewToken<'_>) -> Result<String, TokenError> {
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
    let mut token = PREFIX.to_owned();
    for byte in random {
        write!(token, "{byte:02x}").expect("memory takes everything");
    }
    let mut added = String::new();
    if !text.is_empty() {
        added.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    // A string of JSON is one of TOML.
    let quoted = |text: &str| serde_json::to_string(text).expect("a text is JSON");
    let scopes: Vec<String> = new.scopes.iter().map(|scope| quoted(scope.name())).collect();
    write!(
        added,
        "[[token]]\nname = {}\nhash = \"{}\"\nscopes = [{}]\nrate = {}\n",
        quoted(new.name),
        Digest::of(token.as_bytes()),
        scopes.join(", "),
        quoted(new.rate)
    )
    .expect("memory takes everything");
    if let Some(expires) = new.expires {
        writeln!(added, "expires = \"{expires}\"").expect("memory takes everything");
    }
    // What is added must be what is read.
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
        NewToken { name: "one", scopes: &[Scope::Entries], rate: "10/m", expires: None };

    #[test] // ARC-064 ARC-066
    fn spec_a_token_is_shown_once_and_kept_as_a_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let one = new_token(&path, &NEW).unwrap();
        let expires = Timestamp::parse("2027-01-01T00:00:00Z").ok();
        let scopes = [Scope::Entries, Scope::Content];
        let two = NewToken { name: "two \"\n[x", scopes: &scopes, expires, ..NEW };
        let two = new_token(&path, &two).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&one) && !text.contains(one.strip_prefix(PREFIX).unwrap()));
        let tokens = Tokens::load(&path).unwrap();
        assert_eq!(tokens.len(), 2);
        let found = tokens.find(one.as_bytes(), 0).unwrap();
        assert!(found.allows(Scope::Entries) && !found.allows(Scope::Content));
        assert_eq!((found.rate.every.as_secs(), found.rate.burst), (6, 10));
        assert!(tokens.find(two.as_bytes(), 0).unwrap().allows(Scope::Content));
        // It ends, and others never began.
        assert!(tokens.find(two.as_bytes(), 1_798_761_600).is_none());
        for other in ["", "rutter_", &one.to_uppercase(), &format!("{one} "), &"a".repeat(9999)] {
            assert!(tokens.find(other.as_bytes(), 0).is_none(), "{other}");
        }
        assert!(matches!(new_token(&path, &NEW), Err(TokenError::Twice(_))));
        assert!(!format!("{tokens:?}").contains("sha256"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn ours_a_wrong_file_says_where_and_shows_no_hash() {
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
