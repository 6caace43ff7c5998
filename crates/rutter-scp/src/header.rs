//! Line 1: the collection's metadata, read and written.
//!
//! Reading refuses what leaves a reader guessing (D32) and keeps members it
//! does not know. Writing gives the one form everybody can verify (D01):
//! compact, fixed order, checksum last.

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{Digest, Extra, Member, Own, Raw, Str, Timestamp, members, nesting};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::rules;
use crate::state::State;

/// What a collection says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Names this one collection.
    pub id: String,
    /// The section it belongs to.
    pub section: String,
    /// Whole section, or changes only.
    pub kind: Kind,
    /// When it was made.
    pub generated: Timestamp,
    /// Version of the format.
    pub version: Version,
    /// Digest of the text without this member; `None` where there is none.
    pub checksum: Option<Digest>,
    /// Where this collection leads from and to (D95).
    pub chain: Option<Chain>,
    /// Members this version does not know, byte-exact.
    pub extra: Extra<'static>,
}

/// Whole section, or changes only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every page of the section.
    Snapshot,
    /// Pages created or changed from `since` on.
    Delta {
        /// Inclusive lower bound of the changes.
        since: Timestamp,
    },
}

impl Kind {
    /// The value of `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Delta { .. } => "delta",
        }
    }

    /// `since`, on a delta.
    pub fn since(self) -> Option<Timestamp> {
        match self {
            Self::Snapshot => None,
            Self::Delta { since } => Some(since),
        }
    }
}

/// A format version, MAJOR.MINOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Raised when old readers would misread.
    pub major: u64,
    /// Raised when old readers miss something.
    pub minor: u64,
}

impl Version {
    /// The version this crate writes.
    pub const CURRENT: Self = Self { major: 0, minor: 1 };

    /// Reads two non-negative integers joined by a dot.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| digits.parse().unwrap_or(u64::MAX))
        };
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: number(major)?, minor: number(minor)? })
    }
}

/// States and removals, so that a replica knows where it stands (D95).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// State a delta starts from; `None` on snapshots.
    pub from: Option<State>,
    /// State after the collection was applied.
    pub state: State,
    /// Pages in the section then.
    pub pages: u64,
    /// Keys of pages that went away; empty on snapshots.
    pub removed: Vec<String>,
}

impl Chain {
    /// Most removals a delta carries.
    pub const MOST_REMOVED: usize = 10_000;
}

/// The shape of [`Chain`] on the wire.
#[derive(Serialize, Deserialize)]
struct ChainWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    state: String,
    pages: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

/// Tells whether a text can be an id or a section name (D49).
pub fn is_name(text: &str) -> bool {
    const LONGEST: usize = 255;
    (1..=LONGEST).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

impl Header {
    /// Reads line 1.
    pub fn parse(line: &str, sink: &mut dyn FindingSink) -> Result<Self, Refusal> {
        let outer = members(line).map_err(|_| {
            let is_json = serde_json::from_str::<IgnoredAny>(line).is_ok();
            let invalid = &rutter_page::rules::INVALID_JSON;
            refuse(if is_json { &rules::NOT_METADATA } else { invalid }, "", "")
        })?;
        if rutter_page::Judge::DEEPEST < nesting(line) {
            return Err(refuse(&rutter_page::rules::INVALID_JSON, "", "nested too deeply"));
        }
        let collection = one(&outer, "collection", "/collection")?
            .ok_or_else(|| refuse(&rules::NOT_METADATA, "", "no `collection` member"))?;
        let inner = members(collection.get())
            .map_err(|_| refuse(&rules::NOT_METADATA, "/collection", "not an object"))?;
        Fields { members: &inner }.header(sink)
    }

    /// Line 1 without its line end; the checksum last, or absent.
    ///
    /// The text without the member is the hash input's first line.
    pub fn to_line(&self) -> String {
        let mut out = String::from("{\"collection\":{");
        put(&mut out, "id", &self.id);
        put(&mut out, "section", &self.section);
        put(&mut out, "type", self.kind.name());
        put(&mut out, "generated", &self.generated);
        put(&mut out, "version", &format!("{}.{}", self.version.major, self.version.minor));
        if let Some(since) = self.kind.since() {
            put(&mut out, "since", &since);
        }
        for Member { key, value } in &self.extra {
            put(&mut out, key, value);
        }
        if let Some(chain) = &self.chain {
            let wire = ChainWire {
                from: chain.from.map(|state| state.to_string()),
                state: chain.state.to_string(),
                pages: chain.pages,
                removed: chain.removed.clone(),
            };
            put(&mut out, "rutter", &wire);
        }
        if let Some(checksum) = &self.checksum {
            put(&mut out, "checksum", &checksum.to_string());
        }
        out.push_str("}}");
        out
    }
}

fn put(out: &mut String, key: &str, value: &(impl Serialize + ?Sized)) {
    if !out.ends_with('{') {
        out.push(',');
    }
    let json = |value: Result<String, serde_json::Error>| value.expect("metadata is always JSON");
    out.push_str(&json(serde_json::to_string(key)));
    out.push(':');
    out.push_str(&json(serde_json::to_string(value)));
}

fn refuse(rule: &'static Rule, pointer: &str, detail: impl Into<String>) -> Refusal {
    Refusal::new(rule, Place::pointer(1, pointer), detail)
}

/// The value of a member that may occur once.
fn one<'a>(
    members: &[(Str<'a>, &'a RawValue)],
    name: &str,
    pointer: &str,
) -> Result<Option<&'a RawValue>, Refusal> {
    let mut found = members.iter().filter(|(key, _)| &**key == name).map(|(_, raw)| *raw);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(_) => Err(refuse(&rules::METADATA_TWICE, pointer, "")),
    }
}

/// The members of `collection`, one by one.
struct Fields<'m, 'a> {
    members: &'m [(Str<'a>, &'a RawValue)],
}

impl<'a> Fields<'_, 'a> {
    const KNOWN: [&'static str; 8] =
        ["id", "section", "type", "generated", "version", "since", "checksum", "rutter"];

    fn header(&self, sink: &mut dyn FindingSink) -> Result<Header, Refusal> {
        // The version first: it decides whether the others mean what we think.
        let version = self.version(sink)?;
        let id = self.name("id")?;
        let section = self.name("section")?;
        let generated = self.required("generated").and_then(|t| time("generated", &t, sink))?;
        let kind = self.kind(sink)?;
        if kind.since().is_some_and(|since| generated < since) {
            report(sink, &rules::SINCE_AFTER_GENERATED, "/collection/since", "");
        }
        let checksum = self.checksum()?;
        let chain = self.chain(sink)?;
        let names_chain = self.members.iter().any(|(key, _)| &**key == "rutter");
        if names_chain && checksum.is_none() {
            return Err(refuse(&rules::CHAIN_WITHOUT_CHECKSUM, "/collection/rutter", ""));
        }
        let is_unknown = |(key, _): &&(Str<'a>, &'a RawValue)| !Self::KNOWN.contains(&&**key);
        let keep = |(key, raw): &(Str<'a>, &'a RawValue)| {
            Member { key: key.clone(), value: Raw::from(*raw) }.own()
        };
        let extra = self.members.iter().filter(is_unknown).map(keep).collect();
        Ok(Header { id, section, kind, generated, version, checksum, chain, extra })
    }

    /// A member that may be missing but, if there, is a string.
    fn text(&self, name: &str) -> Result<Option<Str<'a>>, Refusal> {
        let pointer = format!("/collection/{name}");
        let Some(raw) = one(self.members, name, &pointer)? else { return Ok(None) };
        serde_json::from_str(raw.get())
            .map(Some)
            .map_err(|_| refuse(malformed(name), &pointer, "not a string"))
    }

    fn required(&self, name: &str) -> Result<Str<'a>, Refusal> {
        self.text(name)?
            .ok_or_else(|| refuse(&rules::METADATA_MISSING, "/collection", format!("`{name}`")))
    }

    fn name(&self, name: &str) -> Result<String, Refusal> {
        let text = self.required(name)?;
        if !is_name(&text) {
            let pointer = format!("/collection/{name}");
            return Err(refuse(&rules::METADATA_MALFORMED, &pointer, quoted(&text)));
        }
        Ok(text.into_string())
    }

    fn version(&self, sink: &mut dyn FindingSink) -> Result<Version, Refusal> {
        let text = self.required("version")?;
        let pointer = "/collection/version";
        let version = Version::parse(&text)
            .ok_or_else(|| refuse(&rules::VERSION_MALFORMED, pointer, quoted(&text)))?;
        if Version::CURRENT.major < version.major {
            return Err(refuse(&rules::VERSION_UNSUPPORTED, pointer, quoted(&text)));
        }
        if Version::CURRENT.minor < version.minor {
            report(sink, &rules::NEWER_MINOR, pointer, quoted(&text));
        }
        Ok(version)
    }

    fn kind(&self, sink: &mut dyn FindingSink) -> Result<Kind, Refusal> {
        let kind = self.required("type")?;
        match &*kind {
            "snapshot" => {
                if one(self.members, "since", "/collection/since")?.is_some() {
                    report(sink, &rules::SINCE_ON_SNAPSHOT, "/collection/since", "");
                }
                Ok(Kind::Snapshot)
            }
            "delta" => {
                let since = self.required("since").and_then(|t| time("since", &t, sink))?;
                Ok(Kind::Delta { since })
            }
            other => Err(refuse(&rules::METADATA_MALFORMED, "/collection/type", quoted(other))),
        }
    }

    fn checksum(&self) -> Result<Option<Digest>, Refusal> {
        let Some(text) = self.text("checksum")? else { return Ok(None) };
        let digest = Digest::parse(&text).ok_or_else(|| {
            let detail = format!("{} digits", text.rsplit(':').next().map_or(0, str::len));
            refuse(&rules::CHECKSUM_MALFORMED, "/collection/checksum", detail)
        })?;
        Ok(Some(digest))
    }

    fn chain(&self, sink: &mut dyn FindingSink) -> Result<Option<Chain>, Refusal> {
        let pointer = "/collection/rutter";
        let Some(raw) = one(self.members, "rutter", pointer)? else { return Ok(None) };
        let chain = serde_json::from_str::<ChainWire>(raw.get()).ok().and_then(|wire| {
            let from = match wire.from {
                Some(text) => Some(State::parse(&text)?),
                None => None,
            };
            let state = State::parse(&wire.state)?;
            (wire.removed.len() <= Chain::MOST_REMOVED).then_some(Chain {
                from,
                state,
                pages: wire.pages,
                removed: wire.removed,
            })
        });
        if chain.is_none() {
            report(sink, &rules::CHAIN_MALFORMED, pointer, "");
        }
        Ok(chain)
    }
}

fn malformed(name: &str) -> &'static Rule {
    match name {
        "version" => &rules::VERSION_MALFORMED,
        "checksum" => &rules::CHECKSUM_MALFORMED,
        _ => &rules::METADATA_MALFORMED,
    }
}

fn time(name: &str, text: &str, sink: &mut dyn FindingSink) -> Result<Timestamp, Refusal> {
    let pointer = format!("/collection/{name}");
    match Timestamp::parse_lenient(text) {
        Ok((time, is_proper)) => {
            if !is_proper {
                report(sink, &rutter_page::rules::TIME_FORM, &pointer, quoted(text));
            }
            Ok(time)
        }
        Err(_) => Err(refuse(&rules::METADATA_MALFORMED, &pointer, quoted(text))),
    }
}

fn report(
    sink: &mut dyn FindingSink,
    rule: &'static Rule,
    pointer: &str,
    detail: impl Into<String>,
) {
    sink.report(Finding::new(rule, Place::pointer(1, pointer), detail));
}
