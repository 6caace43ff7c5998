//! Reads an entity of an index or a packet.

use rutter_finding::quoted;

use super::IndexWalk;
use super::members::literal;
use super::places::EntityPositions;
use crate::graph::{GraphNode, GraphValue};
use crate::index::{Collision, Entity, distinct};
use crate::place::PlaceId;
use crate::values::{BasinState, CollisionRisk, VerificationLevel};
use crate::{rules, schema_types};

const OF_ENTITY: [&str; 18] = [
    "alternateName",
    "description",
    "sameAs",
    "identifier",
    "differentFrom",
    "spxi:entityType",
    "spxi:canonicalName",
    "spxi:negativeTag",
    "spxi:semanticIntegrityMarker",
    "spxi:basinState",
    "spxi:bdrEstimate",
    "spxi:verificationLevel",
    "spxi:packetRef",
    "spxi:disambiguationMatrix",
    "spxi:doi",
    "mp:negativeTag",
    "mp:semanticIntegrityMarker",
    "mp:verificationLevel",
];

impl<'g, 'v> IndexWalk<'g, 'v, '_> {
    /// Reads an entity of an index or a packet and reports missing members.
    pub(crate) fn entity(&mut self, idx: usize) -> Option<(Entity, EntityPositions)> {
        let node = self.graph.node(idx)?;
        let is_packet = node.is_a("mp:IndexedEntity");
        if !is_packet {
            self.class(node, "spxi:IndexedEntity");
        }
        let either = |spxi: &'static str, mp: &'static str| {
            if node.member(spxi).is_none() && node.member(mp).is_some() { mp } else { spxi }
        };
        if node.id.is_none() {
            self.report(&rules::ENTITY_ID_MISSING, node.at, "");
        }
        let kind = self.address(node, "spxi:entityType");
        let mut kind_text = kind.as_ref().map(|(text, _)| text.clone());
        if kind.is_none() {
            // A packet in the other published form states the entity type as its class.
            let by_type = node.types.iter().find(|it| is_packet && schema_types::is_type(it));
            kind_text = by_type.map(ToString::to_string);
            if kind_text.is_none() {
                self.report(&rules::TYPE_MISSING, node.at, "");
            }
        }
        let (name, is_name_used) = self.entity_name(node, is_packet);
        let tags_name = either("spxi:negativeTag", "mp:negativeTag");
        let tags = self.texts(node, tags_name);
        let tags_at = node.member(tags_name).map(|member| member.at);
        if tags.is_empty() {
            self.report(&rules::TAGS_MISSING, tags_at.unwrap_or(node.at), "");
        }
        let markers_name = either("spxi:semanticIntegrityMarker", "mp:semanticIntegrityMarker");
        let markers = self.texts(node, markers_name);
        let markers_at = node.member(markers_name).map(|member| member.at);
        let n_markers = distinct(markers.iter().map(|(text, _)| text.as_str()));
        if n_markers < Entity::MIN_MARKERS {
            let detail = format!("{n_markers} markers, the minimum is {}", Entity::MIN_MARKERS);
            self.report(&rules::MARKERS_FEW, markers_at.unwrap_or(node.at), &detail);
        }
        let verification =
            self.verification(node, either("spxi:verificationLevel", "mp:verificationLevel"));
        let packet = self.address(node, "spxi:packetRef");
        let texts = |all: Vec<(String, PlaceId)>| all.into_iter().map(|(text, _)| text).collect();
        let mut same_as: Vec<String> = texts(self.addresses(node, "sameAs"));
        let mut dois: Vec<String> = texts(self.addresses(node, "spxi:doi"));
        dois.retain(|doi| !same_as.contains(doi));
        same_as.extend(dois);
        let places = EntityPositions {
            node: idx,
            at: node.at,
            id: node.id.as_ref().map(|(_, at)| *at),
            kind: kind.as_ref().map(|(_, at)| *at),
            tags_at,
            tags: tags.iter().map(|(_, at)| *at).collect(),
            markers: markers.iter().map(|(_, at)| *at).collect(),
            verification: verification.map(|(_, at)| at),
            packet: packet.as_ref().map(|(_, at)| *at),
        };
        let is_known = |name: &str| OF_ENTITY.contains(&name) || (name == "name" && is_name_used);
        let entity = Entity {
            id: node.id.as_ref().map(|(id, _)| id.to_string()),
            entity_type: kind_text,
            name,
            alternate_names: texts(self.texts(node, "alternateName")),
            description: self.text(node, "description").map(|(text, _)| text),
            negative_tags: texts(tags),
            markers: texts(markers),
            basin_state: self.basin_state(node),
            bdr: self.bdr(node),
            verification: verification.map(|(level, _)| level),
            packet_ref: packet.map(|(text, _)| text),
            collisions: self.collisions(node),
            same_as,
            identifiers: texts(self.addresses(node, "identifier")),
            extra: self.extra(node, is_known),
        };
        Some((entity, places))
    }

    /// Returns the name of an entity, and whether the member `name` has no further meaning.
    fn entity_name(&mut self, node: &'g GraphNode<'v>, is_packet: bool) -> (Option<String>, bool) {
        let canonical = self.text(node, "spxi:canonicalName");
        let plain = node.member("name").filter(|member| member.items.len() == 1);
        let plain = plain.and_then(|it| it.items.first()).and_then(|it| literal(it));
        match (canonical, plain) {
            (Some((name, _)), plain) => {
                let is_used = plain == Some(name.as_str());
                (Some(name), is_used)
            }
            (None, plain) => {
                let detail = plain.map(|_| "`name` is used instead").unwrap_or_default();
                if !(is_packet && plain.is_some()) {
                    self.report(&rules::NAME_MISSING, node.at, detail);
                }
                (plain.map(str::to_owned), plain.is_some())
            }
        }
    }

    fn basin_state(&mut self, node: &'g GraphNode<'v>) -> Option<BasinState> {
        let (word, at) = self.word(node, "spxi:basinState")?;
        let found = BasinState::of_word(&word);
        if found.is_none() {
            let hint = match word.as_str() {
                // Keywords from other documents of the authors of SPXI (D72).
                "competitive" | "immanent" => {
                    ", a keyword of another scale; contested or sovereign may be meant"
                }
                "seedling" | "growing" | "mature" => ", a keyword of another scale",
                _ if BasinState::of_word(&word.to_ascii_lowercase()).is_some() => {
                    ", write it in lower case"
                }
                _ => "",
            };
            self.report(&rules::BASIN_WORD, at, &(quoted(&word) + hint));
        }
        found
    }

    fn bdr(&mut self, node: &'g GraphNode<'v>) -> Option<f64> {
        let member = node.member("spxi:bdrEstimate")?;
        let item = member.items.first()?;
        let (shown, found) = match &item.value {
            GraphValue::Number(number) => {
                let share = number.parse::<f64>().ok();
                ((*number).to_owned(), share.filter(|it| (0.0..=1.0).contains(it)))
            }
            GraphValue::Text(text) => (format!("{} is a string", quoted(text)), None),
            _ => (String::new(), None),
        };
        // Convert negative zero to zero.
        let found = found.map(|share| if share == 0.0 { 0.0 } else { share });
        if found.is_none() || 1 < member.items.len() {
            self.report(&rules::BDR_FORM, item.at, &shown);
            return None;
        }
        found
    }

    fn verification(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(VerificationLevel, PlaceId)> {
        let (word, at) = self.word(node, name)?;
        if let Some(level) = VerificationLevel::of_word(&word) {
            return Some((level, at));
        }
        let mapped = VerificationLevel::of_packet_word(&word);
        let detail = match mapped {
            Some(level) => format!("{}, read as {}", quoted(&word), level.word()),
            None => quoted(&word),
        };
        self.report(&rules::VERIFICATION_WORD, at, &detail);
        mapped.map(|level| (level, at))
    }

    fn collisions(&mut self, node: &'g GraphNode<'v>) -> Vec<Collision> {
        let mut found = Vec::new();
        for idx in self.objects(node, "spxi:disambiguationMatrix", "spxi:DisambiguationEntry") {
            let Some(entry) = self.graph.node(idx) else { continue };
            self.class(entry, "spxi:DisambiguationEntry");
            let with = self.address(entry, "spxi:collidesWith").map(|(text, _)| text);
            if with.is_none() {
                self.report(&rules::COLLIDES_MISSING, entry.at, "");
            }
            let attribute = self.text(entry, "spxi:distinguishingAttribute").map(|(text, _)| text);
            if attribute.is_none() {
                self.report(&rules::ATTRIBUTE_MISSING, entry.at, "");
            }
            if entry.member("spxi:collisionRisk").is_none_or(|it| it.items.is_empty()) {
                self.report(&rules::RISK_MISSING, entry.at, "");
            }
            let risk = self.word(entry, "spxi:collisionRisk").and_then(|(word, at)| {
                let risk = CollisionRisk::of_word(&word);
                if risk.is_none() {
                    self.report(&rules::RISK_WORD, at, &quoted(&word));
                }
                risk
            });
            found.push(Collision { with, attribute, risk });
        }
        if node.member("spxi:disambiguationMatrix").is_none() {
            // Packets in the other published form only name the other entities.
            for item in node.member("differentFrom").map_or(&[][..], |it| &it.items) {
                let name = match &item.value {
                    GraphValue::Text(text) => Some(text.to_string()),
                    GraphValue::Node(idx) => self.graph.node(*idx).and_then(|other| {
                        let name = other.member("name").and_then(|it| it.items.first());
                        let name = name.and_then(literal).map(str::to_owned);
                        other.id.as_ref().map(|(id, _)| id.to_string()).or(name)
                    }),
                    _ => None,
                };
                found.extend(
                    name.map(|with| Collision { with: Some(with), ..Collision::default() }),
                );
            }
        }
        found
    }
}
