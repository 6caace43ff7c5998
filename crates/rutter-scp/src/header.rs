//! Line 1 of a collection: its metadata.
//!
//! Reading rejects ambiguous metadata (D32) and keeps unknown members. Writing produces the one
//! form that every reader can verify (D01): compact, in fixed order, checksum last.

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::{
    CowStr, Digest, IntoOwned, RawJson, Timestamp, UnknownMember, UnknownMembers, nesting_depth,
    split_members,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::rules;
use crate::state::SectionState;

/// Metadata of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionHeader {
    /// Id of the collection.
    pub id: String,
    /// Name of the section that the collection belongs to.
    pub section: String,
    /// Type of the collection: snapshot or delta.
    pub kind: CollectionKind,
    /// Time at which the collection was generated.
    pub generated: Timestamp,
    /// Version of the SCP format.
    pub version: FormatVersion,
    /// Digest of the text without this member; `None` if the member is absent.
    pub checksum: Option<Digest>,
    /// States before and after this collection (D95).
    pub chain: Option<StateChain>,
    /// Unknown members, byte for byte.
    pub extra: UnknownMembers<'static>,
}

/// Whether a collection holds a whole section or only changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionKind {
    /// Every page of the section.
    Snapshot,
    /// Pages created or changed since a time.
    Delta {
        /// Start of the covered period: the delta contains the changes at or after this time.
        since: Timestamp,
    },
}

impl CollectionKind {
    /// Returns the value of the member `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Delta { .. } => "delta",
        }
    }

    /// Returns the time in the member `since` of a delta.
    pub fn since(self) -> Option<Timestamp> {
        match self {
            Self::Snapshot => None,
            Self::Delta { since } => Some(since),
        }
    }
}

/// A format version, MAJOR.MINOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// Incremented when old readers would misread a file.
    pub major: u64,
    /// Incremented when old readers would miss information.
    pub minor: u64,
}

impl FormatVersion {
    /// The version that this crate writes.
    pub const CURRENT: Self = Self { major: 0, minor: 1 };

    /// Parses two non-negative integers joined by a dot.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| digits.parse().unwrap_or(u64::MAX))
        };
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: number(major)?, minor: number(minor)? })
    }
}

/// States and removals that link a collection to the previous one (D95).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChain {
    /// State before a delta; `None` for a snapshot.
    pub from: Option<SectionState>,
    /// State after the collection is applied.
    pub state: SectionState,
    /// Number of pages in the section after the collection is applied.
    pub pages: u64,
    /// Keys of removed pages; empty for a snapshot.
    pub removed: Vec<String>,
}

impl StateChain {
    /// Maximum number of removed pages in one delta.
    pub const MAX_REMOVED: usize = 10_000;
}

/// JSON form of [`StateChain`].
#[derive(Serialize, Deserialize)]
struct StateChainJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    state: String,
    pages: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

/// Returns whether `text` is a valid id or section name (D49).
pub fn is_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 255;
    (1..=MAX_LENGTH).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

impl CollectionHeader {
    /// Parses line 1 of a collection.
    pub fn parse(line: &str, sink: &mut dyn FindingSink) -> Result<Self, Refusal> {
        let outer = split_members(line).map_err(|_| {
            let is_json = serde_json::from_str::<IgnoredAny>(line).is_ok();
            let invalid = &rutter_page::rules::INVALID_JSON;
            refuse(if is_json { &rules::NOT_METADATA } else { invalid }, "", "")
        })?;
        if rutter_page::PageReader::DEEPEST < nesting_depth(line) {
            return Err(refuse(&rutter_page::rules::INVALID_JSON, "", "nesting is too deep"));
        }
        let collection = one(&outer, "collection", "/collection")?.ok_or_else(|| {
            refuse(&rules::NOT_METADATA, "", "the member `collection` is missing")
        })?;
        let inner = split_members(collection.get()).map_err(|_| {
            refuse(&rules::NOT_METADATA, "/collection", "`collection` is not an object")
        })?;
        MetadataMembers { members: &inner }.header(sink)
    }

    /// Returns line 1 without its line end. The checksum is the last member, if present.
    ///
    /// Without the checksum, the result is the first line of the text that is hashed.
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
        for UnknownMember { key, value } in &self.extra {
            put(&mut out, key, value);
        }
        if let Some(chain) = &self.chain {
            let wire = StateChainJson {
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

/// Returns the value of a member, and rejects a member that occurs twice.
fn one<'a>(
    members: &[(CowStr<'a>, &'a RawValue)],
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

/// The members of the object `collection`.
struct MetadataMembers<'m, 'a> {
    members: &'m [(CowStr<'a>, &'a RawValue)],
}

impl<'a> MetadataMembers<'_, 'a> {
    const KNOWN: [&'static str; 8] =
        ["id", "section", "type", "generated", "version", "since", "checksum", "rutter"];

    fn header(&self, sink: &mut dyn FindingSink) -> Result<CollectionHeader, Refusal> {
        // Check the version first: it decides whether the other members have their known meaning.
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
        let is_unknown = |(key, _): &&(CowStr<'a>, &'a RawValue)| !Self::KNOWN.contains(&&**key);
        let keep = |(key, raw): &(CowStr<'a>, &'a RawValue)| {
            UnknownMember { key: key.clone(), value: RawJson::from(*raw) }.into_owned()
        };
        let extra = self.members.iter().filter(is_unknown).map(keep).collect();
        Ok(CollectionHeader { id, section, kind, generated, version, checksum, chain, extra })
    }

    /// Returns an optional member that must be a string.
    fn text(&self, name: &str) -> Result<Option<CowStr<'a>>, Refusal> {
        let pointer = format!("/collection/{name}");
        let Some(raw) = one(self.members, name, &pointer)? else { return Ok(None) };
        serde_json::from_str(raw.get())
            .map(Some)
            .map_err(|_| refuse(malformed(name), &pointer, "not a string"))
    }

    fn required(&self, name: &str) -> Result<CowStr<'a>, Refusal> {
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

    fn version(&self, sink: &mut dyn FindingSink) -> Result<FormatVersion, Refusal> {
        let text = self.required("version")?;
        let pointer = "/collection/version";
        let version = FormatVersion::parse(&text)
            .ok_or_else(|| refuse(&rules::VERSION_MALFORMED, pointer, quoted(&text)))?;
        if FormatVersion::CURRENT.major < version.major {
            return Err(refuse(&rules::VERSION_UNSUPPORTED, pointer, quoted(&text)));
        }
        if FormatVersion::CURRENT.minor < version.minor {
            report(sink, &rules::NEWER_MINOR, pointer, quoted(&text));
        }
        Ok(version)
    }

    fn kind(&self, sink: &mut dyn FindingSink) -> Result<CollectionKind, Refusal> {
        let kind = self.required("type")?;
        match &*kind {
            "snapshot" => {
                if one(self.members, "since", "/collection/since")?.is_some() {
                    report(sink, &rules::SINCE_ON_SNAPSHOT, "/collection/since", "");
                }
                Ok(CollectionKind::Snapshot)
            }
            "delta" => {
                let since = self.required("since").and_then(|t| time("since", &t, sink))?;
                Ok(CollectionKind::Delta { since })
            }
            other => Err(refuse(&rules::METADATA_MALFORMED, "/collection/type", quoted(other))),
        }
    }

    fn checksum(&self) -> Result<Option<Digest>, Refusal> {
        let Some(text) = self.text("checksum")? else { return Ok(None) };
        let digest = Digest::parse(&text).ok_or_else(|| {
            let detail =
                format!("the value has {} digits", text.rsplit(':').next().map_or(0, str::len));
            refuse(&rules::CHECKSUM_MALFORMED, "/collection/checksum", detail)
        })?;
        Ok(Some(digest))
    }

    fn chain(&self, sink: &mut dyn FindingSink) -> Result<Option<StateChain>, Refusal> {
        let pointer = "/collection/rutter";
        let Some(raw) = one(self.members, "rutter", pointer)? else { return Ok(None) };
        let chain = serde_json::from_str::<StateChainJson>(raw.get()).ok().and_then(|wire| {
            let from = match wire.from {
                Some(text) => Some(SectionState::parse(&text)?),
                None => None,
            };
            let state = SectionState::parse(&wire.state)?;
            (wire.removed.len() <= StateChain::MAX_REMOVED).then_some(StateChain {
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
