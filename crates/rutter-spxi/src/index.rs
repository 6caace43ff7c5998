//! Data model of an index, independent of its JSON-LD form.
//!
//! A reader, or the configuration of the site owner, creates the data. An
//! [`IndexWriter`](crate::IndexWriter) writes it. A missing or unusable member is `None` or empty.

use std::collections::HashSet;

use rutter_page::{JsonTree, Timestamp};

use crate::values::{BasinState, CollisionRisk, VerificationLevel};

/// A semantic index: the root document of a site.
// More than 12 fields: one for each member of the format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SemanticIndex {
    /// `@id`: URL of the index.
    pub id: Option<String>,
    /// `name`: name of the index.
    pub name: Option<String>,
    /// `dateModified` (D76).
    pub modified: Option<ModifiedDate>,
    /// `spxi:protocolVersion`: version of SPXI that the index follows.
    pub protocol_version: Option<String>,
    /// `spxi:protocolDoi`: DOI of the specification that the index follows.
    pub protocol_doi: Option<String>,
    /// `publisher`: publisher of the site.
    pub publisher: Option<Party>,
    /// `author`: author of the site.
    pub author: Option<Party>,
    /// `license`: license of the index.
    pub license: Option<String>,
    /// `sameAs`: other URLs of the same site.
    pub same_as: Vec<String>,
    /// `spxi:siteKernel`: kernel of the site.
    pub kernel: Option<Kernel>,
    /// `spxi:hasEntity`: entities of the site.
    pub entities: Vec<Entity>,
    /// `spxi:hasSurface`: surfaces of the site.
    pub surfaces: Vec<Surface>,
    /// Unknown members, by their names in the usual JSON-LD context.
    pub extra: Vec<(String, JsonTree)>,
}

/// An entity of the site.
// More than 12 fields: one for each member of the format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entity {
    /// `@id`: canonical URL of the page of the entity; may have a fragment (D65).
    pub id: Option<String>,
    /// `spxi:entityType`: a type of schema.org or a documented custom type (D66).
    pub entity_type: Option<String>,
    /// `spxi:canonicalName`: primary name of the entity. If it is missing, readers use `name`.
    pub name: Option<String>,
    /// `alternateName`: other names of the entity.
    pub alternate_names: Vec<String>,
    /// `description`: description of the entity.
    pub description: Option<String>,
    /// `spxi:negativeTag`: what the entity is not. Each begins with `NOT `.
    pub negative_tags: Vec<String>,
    /// `spxi:semanticIntegrityMarker`: phrases that must survive summarization.
    pub markers: Vec<String>,
    /// `spxi:basinState`: how well AI systems resolve the entity.
    pub basin_state: Option<BasinState>,
    /// `spxi:bdrEstimate`: share of right answers about the entity, from 0 to 1 (D71).
    pub bdr: Option<f64>,
    /// `spxi:verificationLevel`: who confirms the claims about the entity.
    pub verification: Option<VerificationLevel>,
    /// `spxi:packetRef`: URL or DOI of the packet of the entity.
    pub packet_ref: Option<String>,
    /// `spxi:disambiguationMatrix`: the collisions of the entity.
    pub collisions: Vec<Collision>,
    /// `sameAs`: other URLs of the entity. Readers add the value of `spxi:doi`.
    pub same_as: Vec<String>,
    /// `identifier`: identifiers of the entity.
    pub identifiers: Vec<String>,
    /// Unknown members, by their names in the usual JSON-LD context.
    pub extra: Vec<(String, JsonTree)>,
}

impl Entity {
    /// Returns whether the entity lacks a required member.
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

/// Another entity that an entity is mistaken for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collision {
    /// `spxi:collidesWith`: URL or name of the other entity.
    pub with: Option<String>,
    /// `spxi:distinguishingAttribute`: property that distinguishes the two entities.
    pub attribute: Option<String>,
    /// `spxi:collisionRisk`: how often the two entities are confused.
    pub risk: Option<CollisionRisk>,
}

/// Summary of the site that must survive when AI systems summarize the site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `spxi:compressionSurvivalSummary`: text of the summary.
    pub summary: Option<String>,
    /// `spxi:kernelSpecification`: identifier of the deposited text, preferably a DOI (D78).
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
    /// `name`: name of the page.
    pub name: Option<String>,
    /// `spxi:surfaceType`: type of the page.
    pub surface_type: Option<String>,
    /// `spxi:semanticFunction`: purpose of the page.
    pub function: Option<String>,
    /// `spxi:protectsEntity`: URLs of the entities that the page describes.
    pub protects: Vec<String>,
    /// `dateModified`: time of the last change of the page.
    pub modified: Option<ModifiedDate>,
}

/// A publisher or an author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Party {
    /// `@type`: `Organization` or `Person`.
    pub kind: Option<String>,
    /// `@id`: URL that identifies the party.
    pub id: Option<String>,
    /// `name`: name of the party.
    pub name: Option<String>,
    /// `url`: home page of the party.
    pub url: Option<String>,
    /// `identifier`, such as an ORCID.
    pub identifier: Option<String>,
}

/// Time of a change: a day or an instant (D91).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifiedDate {
    /// The instant; if only the day is known, the first instant of the day.
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
