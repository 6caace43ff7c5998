//! What an index says, whatever shape it came in.
//!
//! Made by a reader or from the owner's words; goes to [`IndexWriter`](crate::IndexWriter).
//! A member that was not there, or could not be used, is `None` or empty.

use std::collections::HashSet;

use rutter_page::{Timestamp, Tree};

use crate::values::{BasinState, CollisionRisk, VerificationLevel};

/// A semantic index: the root document of a site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Index {
    /// Its own address (`@id`).
    pub id: Option<String>,
    /// `name`
    pub name: Option<String>,
    /// `dateModified` (D76).
    pub modified: Option<Modified>,
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
    /// Members this version does not know, by their names in the usual context.
    pub extra: Vec<(String, Tree)>,
}

/// An entity of the site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entity {
    /// `@id`: canonical address of its page; may have a fragment (D65).
    pub id: Option<String>,
    /// `spxi:entityType`: a type of schema.org, or a documented one (D66).
    pub entity_type: Option<String>,
    /// `spxi:canonicalName`; readers take `name` where it is missing.
    pub name: Option<String>,
    /// `alternateName`
    pub alternate_names: Vec<String>,
    /// `description`
    pub description: Option<String>,
    /// `spxi:negativeTag`: what it is not. Each begins with `NOT `.
    pub negative_tags: Vec<String>,
    /// `spxi:semanticIntegrityMarker`: phrases that must survive.
    pub markers: Vec<String>,
    /// `spxi:basinState`
    pub basin_state: Option<BasinState>,
    /// `spxi:bdrEstimate`: from 0 to 1, as a share (D71).
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
    /// Members this version does not know, by their names in the usual context.
    pub extra: Vec<(String, Tree)>,
}

impl Entity {
    /// Whether a member is missing that the specification asks for.
    pub fn is_incomplete(&self) -> bool {
        self.id.is_none()
            || self.entity_type.is_none()
            || self.name.is_none()
            || self.negative_tags.is_empty()
            || distinct(self.markers.iter().map(String::as_str)) < Self::FEWEST_MARKERS
    }

    /// Fewest markers of an entity (2.3).
    pub const FEWEST_MARKERS: usize = 2;
    /// Most characters of a negative tag or a marker (4.4).
    pub const LONGEST: usize = 200;
}

/// How many of these texts differ in more than white space.
pub(crate) fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    let plain = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    plain.collect::<HashSet<String>>().len()
}

/// An entity that is commonly taken for another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collision {
    /// `spxi:collidesWith`: an address or a name.
    pub with: Option<String>,
    /// `spxi:distinguishingAttribute`
    pub attribute: Option<String>,
    /// `spxi:collisionRisk`
    pub risk: Option<CollisionRisk>,
}

/// What must remain when everything else is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `spxi:compressionSurvivalSummary`
    pub summary: Option<String>,
    /// `spxi:kernelSpecification`: a DOI, as far as possible (D78).
    pub specification: Option<String>,
}

impl Kernel {
    /// Most words of a summary (2.3, D69).
    pub const MOST_WORDS: usize = 100;
}

/// A page of the site and what it is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surface {
    /// `@id`: its address.
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
    pub modified: Option<Modified>,
}

/// Somebody: a publisher or an author.
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

/// When something changed: a day, or an instant of it (D91).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modified {
    /// The instant; the first one of the day where only that is known.
    pub time: Timestamp,
    /// Whether only the day is known.
    pub is_day: bool,
}

impl Modified {
    /// Reads a date or a date-time.
    ///
    /// ```
    /// # use rutter_spxi::Modified;
    /// assert!(Modified::parse("2026-04-28").unwrap().is_day);
    /// assert!(!Modified::parse("2026-04-28T10:00:00Z").unwrap().is_day);
    /// assert!(Modified::parse("spring").is_none());
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

impl From<Timestamp> for Modified {
    fn from(time: Timestamp) -> Self {
        Self { time, is_day: false }
    }
}

impl std::fmt::Display for Modified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.time.to_string();
        f.write_str(if self.is_day { text.get(..10).unwrap_or(&text) } else { &text })
    }
}
