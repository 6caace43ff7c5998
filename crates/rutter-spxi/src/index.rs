//! Data model of an index, independent of its JSON-LD form.
//!
//! Created by a reader or from the configuration of the site owner; written by an
//! [`IndexWriter`](crate::IndexWriter). A missing or unusable member is `None` or empty.

use std::collections::HashSet;

use rutter_page::{JsonTree, Timestamp};

use crate::values::{BasinState, CollisionRisk, VerificationLevel};

/// A semantic index: the root document of a site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SemanticIndex {
    /// `@id`: address of the index.
    pub id: Option<String>,
    /// `name`
    pub name: Option<String>,
    /// `dateModified` (D76).
    pub modified: Option<ModifiedDate>,
    /// `spxi:protocolVersion`
    pub protocol_version: Option<String>,
    /// `spxi:protocolDoi`
    pub protocol_doi: Option<String>,
    /// `publisher`
    pub publisher: Option<Party>,
    /// `author`
    pub author: Option<Party>,
    /// `license`
    pub license: Option<String>,
    /// `sameAs`
    pub same_as: Vec<String>,
    /// `spxi:siteKernel`
    pub kernel: Option<Kernel>,
    /// `spxi:hasEntity`
    pub entities: Vec<Entity>,
    /// `spxi:hasSurface`
    pub surfaces: Vec<Surface>,
    /// Unknown members, by their names in the usual context.
    pub extra: Vec<(String, JsonTree)>,
}

/// An entity of the site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entity {
    /// `@id`: canonical URL of its page; may have a fragment (D65).
    pub id: Option<String>,
    /// `spxi:entityType`: a type of schema.org or a documented custom type (D66).
    pub entity_type: Option<String>,
    /// `spxi:canonicalName`; readers fall back to `name`.
    pub name: Option<String>,
    /// `alternateName`
    pub alternate_names: Vec<String>,
    /// `description`
    pub description: Option<String>,
    /// `spxi:negativeTag`: what the entity is not. Each begins with `NOT `.
    pub negative_tags: Vec<String>,
    /// `spxi:semanticIntegrityMarker`: phrases that must survive summarization.
    pub markers: Vec<String>,
    /// `spxi:basinState`
    pub basin_state: Option<BasinState>,
    /// `spxi:bdrEstimate`: a share from 0 to 1 (D71).
    pub bdr: Option<f64>,
    /// `spxi:verificationLevel`
    pub verification: Option<VerificationLevel>,
    /// `spxi:packetRef`
    pub packet_ref: Option<String>,
    /// `spxi:disambiguationMatrix`
    pub collisions: Vec<Collision>,
    /// `sameAs`; readers add `spxi:doi`.
    pub same_as: Vec<String>,
    /// `identifier`
    pub identifiers: Vec<String>,
    /// Unknown members, by their names in the usual context.
    pub extra: Vec<(String, JsonTree)>,
}

impl Entity {
    /// Returns whether a required member is missing.
    pub fn is_incomplete(&self) -> bool {
        self.id.is_none()
            || self.entity_type.is_none()
            || self.name.is_none()
            || self.negative_tags.is_empty()
            || distinct(self.markers.iter().map(String::as_str)) < Self::MIN_MARKERS
    }

    /// Minimum number of markers of an entity (2.3).
    pub const MIN_MARKERS: usize = 2;
    /// Maximum number of characters of a negative tag or a marker (4.4).
    pub const MAX_CHARS: usize = 200;
}

/// Returns the number of texts that differ in more than white space.
pub(crate) fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    let plain = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    plain.collect::<HashSet<String>>().len()
}

/// Another entity that this one is confused with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collision {
    /// `spxi:collidesWith`: a URL or a name.
    pub with: Option<String>,
    /// `spxi:distinguishingAttribute`
    pub attribute: Option<String>,
    /// `spxi:collisionRisk`
    pub risk: Option<CollisionRisk>,
}

/// Summary of the site that must survive compression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `spxi:compressionSurvivalSummary`
    pub summary: Option<String>,
    /// `spxi:kernelSpecification`: preferably a DOI (D78).
    pub specification: Option<String>,
}

impl Kernel {
    /// Maximum number of words of a summary (2.3, D69).
    pub const MAX_WORDS: usize = 100;
}

/// A page of the site and its purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surface {
    /// `@id`: URL of the page.
    pub id: Option<String>,
    /// `name`
    pub name: Option<String>,
    /// `spxi:surfaceType`
    pub surface_type: Option<String>,
    /// `spxi:semanticFunction`
    pub function: Option<String>,
    /// `spxi:protectsEntity`
    pub protects: Vec<String>,
    /// `dateModified`
    pub modified: Option<ModifiedDate>,
}

/// A publisher or an author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Party {
    /// `@type`: `Organization` or `Person`.
    pub kind: Option<String>,
    /// `@id`
    pub id: Option<String>,
    /// `name`
    pub name: Option<String>,
    /// `url`
    pub url: Option<String>,
    /// `identifier`, such as an ORCID.
    pub identifier: Option<String>,
}

/// Time of a change: a day or an instant (D91).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifiedDate {
    /// The instant; the first one of the day if only the day is known.
    pub time: Timestamp,
    /// Whether only the day is known.
    pub is_day: bool,
}

impl ModifiedDate {
    /// Parses a date or a date-time.
    ///
    /// ```
    /// # use rutter_spxi::ModifiedDate;
    /// assert!(ModifiedDate::parse("2026-04-28").unwrap().is_day);
    /// assert!(!ModifiedDate::parse("2026-04-28T10:00:00Z").unwrap().is_day);
    /// assert!(ModifiedDate::parse("spring").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let is_day = text.len() == "2026-04-28".len();
        let (time, _) = if is_day {
            Timestamp::parse_lenient(&format!("{text}T00:00:00Z")).ok()?
        } else {
            Timestamp::parse_lenient(text).ok()?
        };
        Some(Self { time, is_day })
    }
}

impl From<Timestamp> for ModifiedDate {
    fn from(time: Timestamp) -> Self {
        Self { time, is_day: false }
    }
}

impl std::fmt::Display for ModifiedDate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.time.to_string();
        f.write_str(if self.is_day { text.get(..10).unwrap_or(&text) } else { &text })
    }
}
