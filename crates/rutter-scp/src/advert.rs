//! Adverts: the `scp:` elements of a sitemap that announce sections and collections.
//!
//! Input and output are local names, attributes and text; a sitemap reader or writer handles the
//! XML. [`compare`] checks an advert against the file it announces (D20).

use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal, counted};
use rutter_page::{Digest, HttpUrl, Timestamp};

use crate::header::{CollectionHeader, CollectionKind, FormatVersion, is_name};
use crate::reader::ReadReceipt;
use crate::rules;

/// XML namespace of the `scp:` elements.
pub const NAMESPACE: &str = "https://scp-protocol.org/schemas/sitemap/1.0";

/// Returns whether an element is an advert in a wrong namespace.
///
/// A wrong namespace contains `scp` but is not [`NAMESPACE`]: for example, it belongs to another
/// version or begins with `http:`.
pub fn is_in_wrong_namespace(namespace: &str, name: &str) -> bool {
    let is_known = matches!(name, "version" | "compression" | "section" | "collection" | "delta");
    is_known && namespace != NAMESPACE && namespace.to_ascii_lowercase().contains("scp")
}

/// One `scp:` element under the root of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advert {
    /// `scp:version`: version of the protocol.
    Version(FormatVersion),
    /// `scp:compression`: names of the available codings.
    Compression(Vec<String>),
    /// `scp:section`: a section.
    Section(AdvertisedSection),
    /// `scp:collection` or `scp:delta`: a file to download.
    Collection(AdvertisedCollection),
}

/// A section announced in a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertisedSection {
    /// Name of the section.
    pub name: String,
    /// How often the section changes.
    pub update: UpdateFrequency,
    /// Number of pages.
    pub pages: u64,
    /// Whether the number of pages is an estimate.
    pub is_estimate: bool,
}

/// How often a section changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpdateFrequency {
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
}

impl UpdateFrequency {
    const ALL: [Self; 4] = [Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly];

    /// Returns the value of the attribute `updateFreq`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
        }
    }

    /// Parses the value of the attribute `updateFreq`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|frequency| frequency.name() == text)
    }

    /// Returns the interval in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Hourly => 3600,
            Self::Daily => 86_400,
            Self::Weekly => 604_800,
            Self::Monthly => 2_592_000,
        }
    }
}

/// A collection file announced in a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertisedCollection {
    /// Name of the section that the file belongs to.
    pub section: String,
    /// Type of the collection: snapshot, or delta with its `since`.
    pub kind: CollectionKind,
    /// Label of the period a delta covers. Free text, never used for ordering.
    pub period: Option<String>,
    /// URL of the file.
    pub url: String,
    /// Time at which the file was generated.
    pub generated: Timestamp,
    /// Time after which the file may be removed.
    pub expires: Timestamp,
    /// Number of pages in the file.
    pub pages: u64,
    /// Size of the file in bytes.
    pub size: u64,
    /// Checksum of the file, if stated. The schema has no such attribute, but Rutter reads it
    /// (D04).
    pub checksum: Option<Digest>,
}

/// Name and value of an attribute.
pub type AdvertAttribute = (String, String);

/// Reason why an `scp:` element is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertError {
    /// Name of the missing or malformed attribute; empty if the text of the element is malformed.
    pub attribute: &'static str,
    /// The malformed value; empty if the attribute is missing.
    pub value: String,
}

impl fmt::Display for AdvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = rutter_finding::quoted(&self.value);
        match (self.attribute, self.value.as_str()) {
            ("", _) => write!(f, "malformed text {shown}"),
            (name, "") => write!(f, "attribute `{name}` is missing"),
            (name, _) => write!(f, "malformed value {shown} of attribute `{name}`"),
        }
    }
}

impl std::error::Error for AdvertError {}

impl Advert {
    /// Parses an `scp:` element by its local name. Returns `None` for an unknown name.
    ///
    /// Attributes may come in any order; unknown attributes are ignored.
    pub fn read(
        name: &str,
        attributes: &[(&str, &str)],
        text: &str,
    ) -> Option<Result<Self, AdvertError>> {
        let attributes = AttributeList(attributes);
        Some(match name {
            "version" => read_version(text),
            "compression" => read_compression(text),
            "section" => attributes.section().map(Self::Section),
            "collection" => attributes.snapshot().map(Self::Collection),
            "delta" => attributes.delta().map(Self::Collection),
            _ => return None,
        })
    }

    /// Returns the local name of the element, its attributes in schema order, and its text.
    pub fn write(&self) -> (&'static str, Vec<AdvertAttribute>, String) {
        match self {
            Self::Version(version) => {
                ("version", Vec::new(), format!("{}.{}", version.major, version.minor))
            }
            Self::Compression(codings) => ("compression", Vec::new(), codings.join(",")),
            Self::Section(section) => {
                let mark = if section.is_estimate { "~" } else { "" };
                let attributes = vec![
                    ("name".into(), section.name.clone()),
                    ("updateFreq".into(), section.update.name().into()),
                    ("pages".into(), format!("{mark}{}", section.pages)),
                ];
                ("section", attributes, String::new())
            }
            Self::Collection(collection) => collection.write(),
        }
    }
}

impl AdvertisedCollection {
    fn write(&self) -> (&'static str, Vec<AdvertAttribute>, String) {
        let mut attributes: Vec<AdvertAttribute> = vec![("section".into(), self.section.clone())];
        let name = match self.kind {
            CollectionKind::Snapshot => {
                attributes.push(("type".into(), "snapshot".into()));
                "collection"
            }
            CollectionKind::Delta { .. } => {
                attributes.push(("period".into(), self.period.clone().unwrap_or_default()));
                "delta"
            }
        };
        attributes.push(("url".into(), self.url.clone()));
        attributes.push(("generated".into(), self.generated.to_string()));
        attributes.push(("expires".into(), self.expires.to_string()));
        attributes.push(("pages".into(), self.pages.to_string()));
        attributes.push(("size".into(), self.size.to_string()));
        if let Some(since) = self.kind.since() {
            attributes.push(("since".into(), since.to_string()));
        }
        (name, attributes, String::new())
    }
}

/// Compares an advert with the file it announces (D20).
///
/// Pass `receipt` once the file was read; without a receipt, only line 1 is compared. A
/// contradiction returns a refusal; a smaller difference is reported as a finding.
pub fn compare(
    advert: &AdvertisedCollection,
    header: &CollectionHeader,
    receipt: Option<&ReadReceipt>,
    sink: &mut dyn FindingSink,
) -> Result<(), Refusal> {
    let contradicts =
        |detail: String| Refusal::new(&rules::ADVERT_CONTRADICTS, Place::line(1), detail);
    if advert.section != header.section {
        let (ours, theirs) = (&header.section, &advert.section);
        return Err(contradicts(format!("section is `{ours}`, the advert says `{theirs}`")));
    }
    if advert.kind.name() != header.kind.name() {
        let (ours, theirs) = (header.kind.name(), advert.kind.name());
        return Err(contradicts(format!("type is {ours}, the advert says {theirs}")));
    }
    if header.kind == CollectionKind::Snapshot && header.generated < advert.generated {
        let (ours, theirs) = (header.generated, advert.generated);
        return Err(contradicts(format!(
            "generated at {ours}, the advert says {theirs}: the file is an old copy"
        )));
    }
    if let Some(claimed) = advert.checksum
        && header.checksum != Some(claimed)
    {
        return Err(contradicts("checksum differs from the advert".into()));
    }
    let mut differs = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            let detail = format!("{what} is {ours}, the advert says {theirs}");
            sink.report(Finding::new(&rules::ADVERT_DIFFERS, Place::line(1), detail));
        }
    };
    let Some(receipt) = receipt else {
        differs("generated", header.generated.to_string(), advert.generated.to_string());
        if let (Some(ours), Some(theirs)) = (header.kind.since(), advert.kind.since()) {
            differs("since", ours.to_string(), theirs.to_string());
        }
        return Ok(());
    };
    let pages = receipt.tally.pages + receipt.tally.skipped;
    if header.checksum.is_none() && pages < advert.pages {
        let pages = counted(pages, "page");
        let detail = format!("{pages}, the advert says {}: the file is truncated", advert.pages);
        return Err(contradicts(detail));
    }
    differs("number of pages", pages.to_string(), advert.pages.to_string());
    differs("size", receipt.coded.to_string(), advert.size.to_string());
    Ok(())
}

/// Returns the times of an advert that are not an xs:dateTime with a time zone.
///
/// Readers accept a date alone, a space instead of `T`, or a missing time zone, and assume UTC
/// (D22).
pub fn nonstandard_times<'a>(
    attributes: &[(&'a str, &'a str)],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let times = attributes.iter().copied();
    let times = times.filter(|(name, _)| matches!(*name, "generated" | "expires" | "since"));
    times.filter(|(_, value)| {
        Timestamp::parse_lenient(value.trim()).is_ok_and(|(_, is_proper)| !is_proper)
    })
}

fn read_version(text: &str) -> Result<Advert, AdvertError> {
    let bad = || AdvertError { attribute: "", value: text.to_owned() };
    FormatVersion::parse(text.trim()).map(Advert::Version).ok_or_else(bad)
}

fn read_compression(text: &str) -> Result<Advert, AdvertError> {
    let codings: Vec<_> = text.trim().split(',').map(str::to_owned).collect();
    let is_name = |coding: &String| {
        !coding.is_empty() && coding.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    if !codings.iter().all(is_name) {
        return Err(AdvertError { attribute: "", value: text.to_owned() });
    }
    Ok(Advert::Compression(codings))
}

struct AttributeList<'a>(&'a [(&'a str, &'a str)]);

impl AttributeList<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    }

    fn take<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, AdvertError> {
        let value = self.get(name).unwrap_or("");
        let error = || AdvertError { attribute: name, value: value.to_owned() };
        if value.is_empty() {
            return Err(error());
        }
        read(value).ok_or_else(error)
    }

    fn section(&self) -> Result<AdvertisedSection, AdvertError> {
        let estimate = |text: &str| {
            let (text, is_estimate) =
                text.strip_prefix('~').map_or((text, false), |text| (text, true));
            count(text).map(|pages| (pages, is_estimate))
        };
        let (pages, is_estimate) = self.take("pages", estimate)?;
        Ok(AdvertisedSection {
            name: self.take("name", section_name)?,
            update: self.take("updateFreq", UpdateFrequency::parse)?,
            pages,
            is_estimate,
        })
    }

    fn snapshot(&self) -> Result<AdvertisedCollection, AdvertError> {
        self.take("type", |kind| (kind == "snapshot").then_some(()))?;
        self.collection(CollectionKind::Snapshot, None)
    }

    fn delta(&self) -> Result<AdvertisedCollection, AdvertError> {
        let since = self.take("since", time)?;
        let period = self.take("period", |period| Some(period.to_owned()))?;
        self.collection(CollectionKind::Delta { since }, Some(period))
    }

    fn collection(
        &self,
        kind: CollectionKind,
        period: Option<String>,
    ) -> Result<AdvertisedCollection, AdvertError> {
        let url = |text: &str| HttpUrl::parse(text).ok().map(|url| url.as_str().to_owned());
        let checksum = match self.get("checksum") {
            None => None,
            Some(_) => Some(self.take("checksum", Digest::parse)?),
        };
        Ok(AdvertisedCollection {
            section: self.take("section", section_name)?,
            kind,
            period,
            url: self.take("url", url)?,
            generated: self.take("generated", time)?,
            expires: self.take("expires", time)?,
            pages: self.take("pages", count)?,
            size: self.take("size", count)?,
            checksum,
        })
    }
}

/// Parses a section name. The schema allows any text, but the collection metadata does not, so the
/// file of such a section could never agree with its advert (D19).
fn section_name(text: &str) -> Option<String> {
    is_name(text).then(|| text.to_owned())
}

/// Parses a number from 0 to `u64::MAX`. An xs:integer may have a plus sign.
fn count(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_lenient(text).ok().map(|(time, _)| time)
}
