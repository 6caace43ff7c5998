//! What a sitemap says about collections: `scp:` elements as plain attributes.
//!
//! This module never sees XML. A sitemap reader hands it the local name and
//! the attributes of an element in [`NAMESPACE`]; a sitemap writer is handed
//! them back. [`compare`] holds an advert against the file it points to (D20).

use std::fmt;

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::{Digest, HttpUrl, Timestamp};

use crate::header::{Header, Kind, Version, is_name};
use crate::reader::Receipt;
use crate::rules;

/// Namespace of the elements.
pub const NAMESPACE: &str = "https://scp-protocol.org/schemas/sitemap/1.0";

/// Returns whether an element was meant to be an advert, but is in another
/// namespace: one that mentions SCP, such as another version or `http:`.
pub fn is_misnamed(namespace: &str, name: &str) -> bool {
    let is_known = matches!(name, "version" | "compression" | "section" | "collection" | "delta");
    is_known && namespace != NAMESPACE && namespace.to_ascii_lowercase().contains("scp")
}

/// One `scp:` element under the root of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advert {
    /// `scp:version`: version of the protocol.
    Version(Version),
    /// `scp:compression`: codings on offer, by name.
    Compression(Vec<String>),
    /// `scp:section`: a section exists.
    Section(Section),
    /// `scp:collection` and `scp:delta`: a file can be had.
    Collection(Collection),
}

/// A section that is on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// How often it changes.
    pub update: Frequency,
    /// How many pages it has.
    pub pages: u64,
    /// Whether that number is rounded.
    pub is_estimate: bool,
}

/// How often a section changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frequency {
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
}

impl Frequency {
    const ALL: [Self; 4] = [Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly];

    /// The value of `updateFreq`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
        }
    }

    /// Reads the value of `updateFreq`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|frequency| frequency.name() == text)
    }

    /// The interval in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Hourly => 3600,
            Self::Daily => 86_400,
            Self::Weekly => 604_800,
            Self::Monthly => 2_592_000,
        }
    }
}

/// A file that is on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// The section it belongs to.
    pub section: String,
    /// Snapshot, or delta with its `since`.
    pub kind: Kind,
    /// Label of the span a delta covers; free text, never used for ordering.
    pub period: Option<String>,
    /// Where it can be had.
    pub url: String,
    /// When it was made.
    pub generated: Timestamp,
    /// Until when it can be had.
    pub expires: Timestamp,
    /// Pages in it.
    pub pages: u64,
    /// Its size in bytes, compressed.
    pub size: u64,
    /// Its checksum; not part of the schema, read where somebody has it (D04).
    pub checksum: Option<Digest>,
}

/// An attribute: name and value.
pub type Attribute = (String, String);

/// Why an element is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertError {
    /// The attribute that is missing or bad; empty for the element's text.
    pub attribute: &'static str,
    /// What was seen; empty where it is missing.
    pub value: String,
}

impl fmt::Display for AdvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = rutter_finding::quoted(&self.value);
        match (self.attribute, self.value.as_str()) {
            ("", _) => write!(f, "bad text {shown}"),
            (name, "") => write!(f, "attribute `{name}` is missing"),
            (name, _) => write!(f, "bad value {shown} of attribute `{name}`"),
        }
    }
}

impl std::error::Error for AdvertError {}

impl Advert {
    /// Reads an element by its local name; `None` for a name we do not know.
    ///
    /// Attributes may come in any order; unknown ones are ignored.
    pub fn read(
        name: &str,
        attributes: &[(&str, &str)],
        text: &str,
    ) -> Option<Result<Self, AdvertError>> {
        let attributes = Attributes(attributes);
        Some(match name {
            "version" => read_version(text),
            "compression" => read_compression(text),
            "section" => attributes.section().map(Self::Section),
            "collection" => attributes.snapshot().map(Self::Collection),
            "delta" => attributes.delta().map(Self::Collection),
            _ => return None,
        })
    }

    /// Local name, attributes in the order of the schema, and text.
    pub fn write(&self) -> (&'static str, Vec<Attribute>, String) {
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

impl Collection {
    fn write(&self) -> (&'static str, Vec<Attribute>, String) {
        let mut attributes: Vec<Attribute> = vec![("section".into(), self.section.clone())];
        let name = match self.kind {
            Kind::Snapshot => {
                attributes.push(("type".into(), "snapshot".into()));
                "collection"
            }
            Kind::Delta { .. } => {
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

/// Holds an advert against the file it points to (D20).
///
/// `receipt` is known once the file was read; before that only line 1 is
/// compared. What contradicts is an error, what merely differs a finding.
pub fn compare(
    advert: &Collection,
    header: &Header,
    receipt: Option<&Receipt>,
    sink: &mut dyn FindingSink,
) -> Result<(), Refusal> {
    let contradicts =
        |detail: String| Refusal::new(&rules::ADVERT_CONTRADICTS, Place::line(1), detail);
    if advert.section != header.section {
        let (ours, theirs) = (&header.section, &advert.section);
        return Err(contradicts(format!("section `{ours}`, advertised as `{theirs}`")));
    }
    if advert.kind.name() != header.kind.name() {
        let (ours, theirs) = (header.kind.name(), advert.kind.name());
        return Err(contradicts(format!("a {ours}, advertised as a {theirs}")));
    }
    if header.kind == Kind::Snapshot && header.generated < advert.generated {
        let (ours, theirs) = (header.generated, advert.generated);
        return Err(contradicts(format!("generated {ours}, advertised as {theirs}: a replay")));
    }
    if let Some(claimed) = advert.checksum
        && header.checksum != Some(claimed)
    {
        return Err(contradicts("another checksum than advertised".into()));
    }
    let mut differs = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            let detail = format!("{what} is {ours}, advertised as {theirs}");
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
        let detail = format!("{pages} pages, advertised as {}: cut off", advert.pages);
        return Err(contradicts(detail));
    }
    differs("number of pages", pages.to_string(), advert.pages.to_string());
    differs("size", receipt.coded.to_string(), advert.size.to_string());
    Ok(())
}

/// Returns the times of an advert that readers take as UTC although they are
/// no xs:dateTime with a zone: a date alone, a space instead of `T`, no zone (D22).
pub fn odd_times<'a>(
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
    Version::parse(text.trim()).map(Advert::Version).ok_or_else(bad)
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

struct Attributes<'a>(&'a [(&'a str, &'a str)]);

impl Attributes<'_> {
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

    fn section(&self) -> Result<Section, AdvertError> {
        let estimate = |text: &str| {
            let (text, is_estimate) =
                text.strip_prefix('~').map_or((text, false), |text| (text, true));
            count(text).map(|pages| (pages, is_estimate))
        };
        let (pages, is_estimate) = self.take("pages", estimate)?;
        Ok(Section {
            name: self.take("name", section_name)?,
            update: self.take("updateFreq", Frequency::parse)?,
            pages,
            is_estimate,
        })
    }

    fn snapshot(&self) -> Result<Collection, AdvertError> {
        self.take("type", |kind| (kind == "snapshot").then_some(()))?;
        self.collection(Kind::Snapshot, None)
    }

    fn delta(&self) -> Result<Collection, AdvertError> {
        let since = self.take("since", time)?;
        let period = self.take("period", |period| Some(period.to_owned()))?;
        self.collection(Kind::Delta { since }, Some(period))
    }

    fn collection(&self, kind: Kind, period: Option<String>) -> Result<Collection, AdvertError> {
        let url = |text: &str| HttpUrl::parse(text).ok().map(|url| url.as_str().to_owned());
        let checksum = match self.get("checksum") {
            None => None,
            Some(_) => Some(self.take("checksum", Digest::parse)?),
        };
        Ok(Collection {
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

/// A section's name. The schema lets it be any text, the metadata does not;
/// a file of such a section could never agree with its advert (D19).
fn section_name(text: &str) -> Option<String> {
    is_name(text).then(|| text.to_owned())
}

/// A number that is not negative and fits; xs:integer may have a plus sign.
fn count(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_lenient(text).ok().map(|(time, _)| time)
}
