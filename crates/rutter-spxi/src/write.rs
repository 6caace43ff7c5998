//! Writes an index and packets. The same data always gives the same bytes.
//!
//! Surfaces arrive one by one, and the memory for them is bounded. An index over
//! [`DEFAULT_MAX_BYTES`] drops the optional members of its surfaces first (D69). If the index still
//! exceeds the size limit of readers, it keeps only the surfaces that the owner described.

use std::collections::BTreeSet;

use rutter_page::JsonTree;

use crate::index::{Collision, Entity, Kernel, ModifiedDate, Party, SemanticIndex, Surface};
use crate::packet::MetadataPacket;
use crate::values::{BasinState, CollisionRisk, VerificationLevel};
use crate::{MP, PROTOCOL, SCHEMA, SPXI};

/// Size in bytes that an index should not exceed (4.4).
pub const DEFAULT_MAX_BYTES: usize = 100_000;
/// Size in bytes beyond which readers reject an index (D89).
const MAX_READABLE_BYTES: usize = 5_000_000;

/// Writes an index whose surfaces arrive one by one.
#[derive(Debug)]
pub struct IndexWriter {
    index: SemanticIndex,
    largest: usize,
    full: BoundedList,
    /// JSON of the surfaces with their addresses only.
    short: BoundedList,
    /// JSON of the surfaces that the owner described.
    declared: BoundedList,
}

/// Items of a JSON list, up to a size limit.
#[derive(Debug)]
struct BoundedList {
    text: String,
    most: usize,
    is_over: bool,
}

impl BoundedList {
    fn new(most: usize) -> Self {
        Self { text: String::new(), most, is_over: false }
    }

    fn push(&mut self, line: &str) {
        if self.is_over || self.most < self.text.len() + line.len() {
            self.is_over = true;
            self.text = String::new();
            return;
        }
        self.text.push_str(if self.text.is_empty() { "\n    " } else { ",\n    " });
        self.text.push_str(line);
    }
}

/// Which data of the surfaces was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceDetail {
    /// All members of all surfaces were written.
    Everything,
    /// Only the addresses of all surfaces were written.
    Addresses,
    /// Only the surfaces that the owner described were written.
    Declared,
}

/// Result of [`IndexWriter::finish`].
#[derive(Debug)]
pub struct WrittenIndex {
    /// The document in JSON-LD.
    pub bytes: Vec<u8>,
    /// Which data of the surfaces was written.
    pub kept: SurfaceDetail,
}

impl IndexWriter {
    /// Creates a writer for an index without surfaces.
    pub fn new(index: SemanticIndex) -> Self {
        Self::with_largest(index, MAX_READABLE_BYTES)
    }

    fn with_largest(index: SemanticIndex, largest: usize) -> Self {
        Self {
            index,
            largest,
            full: BoundedList::new(DEFAULT_MAX_BYTES),
            short: BoundedList::new(largest),
            declared: BoundedList::new(largest),
        }
    }

    /// Returns the index without its surfaces, so that the caller can complete it.
    pub fn index(&mut self) -> &mut SemanticIndex {
        &mut self.index
    }

    /// Adds a surface to the index.
    pub fn surface(&mut self, surface: &Surface) {
        let line = surface_of(surface).to_json();
        self.full.push(&line);
        if surface.surface_type.is_some()
            || surface.function.is_some()
            || !surface.protects.is_empty()
        {
            self.declared.push(&line);
        }
        let bare = Surface { id: surface.id.clone(), ..Surface::default() };
        self.short.push(&surface_of(&bare).to_json());
    }

    /// Finishes the index; `modified` is written as the date of its last change.
    pub fn finish(mut self, modified: Option<ModifiedDate>) -> WrittenIndex {
        self.index.modified = modified;
        for surface in std::mem::take(&mut self.index.surfaces) {
            self.surface(&surface);
        }
        let mut head = String::new();
        index_of(&self.index).into_tree().to_pretty(0, &mut head);
        // The list of surfaces is the last member of the document.
        let head = head.strip_suffix("\n}").unwrap_or(&head);
        let head = format!("{head},\n  \"spxi:hasSurface\": ");
        let fits = |lines: &BoundedList, most: usize| {
            !lines.is_over && head.len() + lines.text.len() + "[\n  ]\n}\n".len() <= most
        };
        let (kept, lines) = if fits(&self.full, DEFAULT_MAX_BYTES) {
            (SurfaceDetail::Everything, self.full.text)
        } else if fits(&self.short, self.largest) {
            (SurfaceDetail::Addresses, self.short.text)
        } else {
            (SurfaceDetail::Declared, self.declared.text)
        };
        let end = if lines.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" };
        WrittenIndex { bytes: format!("{head}[{lines}{end}").into_bytes(), kept }
    }
}

/// Members of a JSON object, in insertion order.
#[derive(Debug, Default)]
struct JsonMembers(Vec<(String, JsonTree)>);

impl JsonMembers {
    fn of_type(kind: &str) -> Self {
        Self(vec![("@type".to_owned(), JsonTree::text(kind))])
    }

    fn put(&mut self, name: &str, value: Option<JsonTree>) {
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }

    fn text(&mut self, name: &str, text: Option<impl Into<String>>) {
        self.put(name, text.map(JsonTree::text));
    }

    /// Adds a list as a member, unless the list is empty.
    fn list(&mut self, name: &str, items: impl Iterator<Item = JsonTree>) {
        let items: Vec<JsonTree> = items.collect();
        self.put(name, (!items.is_empty()).then_some(JsonTree::List(items)));
    }

    fn texts(&mut self, name: &str, texts: &[String]) {
        self.list(name, texts.iter().map(JsonTree::text));
    }

    /// Adds unknown members, except those that would contradict known members.
    fn extra(&mut self, extra: &[(String, JsonTree)]) {
        let mut known: BTreeSet<String> = self.0.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in extra {
            if known.insert(name.clone()) {
                self.put(name, Some(value.clone()));
            }
        }
    }

    fn into_tree(self) -> JsonTree {
        JsonTree::Map(self.0)
    }
}

impl MetadataPacket {
    /// Returns the packet as a JSON document.
    pub fn to_json(&self) -> String {
        let mut members = JsonMembers::default();
        members.put("@context", Some(context(true)));
        members.list("@type", ["spxi:PagePacket", "WebPage"].into_iter().map(JsonTree::text));
        members.text("@id", self.id.as_deref());
        members.text("url", self.page.as_deref());
        members.put("isPartOf", self.index.as_deref().map(reference));
        members.text("dateModified", self.modified.map(|time| time.to_string()));
        members.list("spxi:about", self.about.iter().map(about_of));
        members.put("spxi:holographicKernel", self.kernel.as_ref().map(kernel_of));
        let questions = self.questions.iter().map(|one| {
            let mut answer = JsonMembers::of_type("Answer");
            answer.text("text", Some(one.answer.as_str()));
            let mut question = JsonMembers::of_type("Question");
            question.text("name", Some(one.question.as_str()));
            question.put("acceptedAnswer", Some(answer.into_tree()));
            question.into_tree()
        });
        members.list("spxi:faq", questions);
        let mut out = String::new();
        members.into_tree().to_pretty(0, &mut out);
        out.push('\n');
        out
    }
}

fn context(has_mp: bool) -> JsonTree {
    let mut context = JsonMembers::default();
    context.text("@vocab", Some(SCHEMA));
    context.text("spxi", Some(SPXI));
    context.text("mp", has_mp.then_some(MP));
    context.into_tree()
}

fn reference(id: &str) -> JsonTree {
    JsonTree::Map(vec![("@id".to_owned(), JsonTree::text(id))])
}

fn index_of(index: &SemanticIndex) -> JsonMembers {
    let mut members = JsonMembers::default();
    let uses_mp =
        |extra: &[(String, JsonTree)]| extra.iter().any(|(name, _)| name.starts_with("mp:"));
    let has_mp = uses_mp(&index.extra) || index.entities.iter().any(|one| uses_mp(&one.extra));
    members.put("@context", Some(context(has_mp)));
    members.text("@type", Some("spxi:SemanticIndex"));
    members.text("@id", index.id.as_deref());
    members.text("name", index.name.as_deref());
    members.text("dateModified", index.modified.map(|time| time.to_string()));
    let version = index.protocol_version.as_deref().unwrap_or(PROTOCOL);
    members.text("spxi:protocolVersion", Some(version));
    members.text("spxi:protocolDoi", index.protocol_doi.as_deref());
    members.put("publisher", index.publisher.as_ref().map(party_of));
    members.put("author", index.author.as_ref().map(party_of));
    members.text("license", index.license.as_deref());
    members.texts("sameAs", &index.same_as);
    members.put("spxi:siteKernel", index.kernel.as_ref().map(kernel_of));
    members.extra(&index.extra);
    let entities = index.entities.iter().map(|entity| {
        let mut members = JsonMembers::of_type("spxi:IndexedEntity");
        members.text("@id", entity.id.as_deref());
        claims_of(entity, &mut members);
        members.into_tree()
    });
    members.put("spxi:hasEntity", Some(JsonTree::List(entities.collect())));
    members
}

/// Adds the members that an entity has both in the index and in a packet.
fn claims_of(entity: &Entity, members: &mut JsonMembers) {
    members.text("spxi:entityType", entity.entity_type.as_deref());
    members.text("spxi:canonicalName", entity.name.as_deref());
    members.texts("alternateName", &entity.alternate_names);
    members.text("description", entity.description.as_deref());
    members.texts("spxi:negativeTag", &entity.negative_tags);
    members.texts("spxi:semanticIntegrityMarker", &entity.markers);
    members.text("spxi:basinState", entity.basin_state.map(BasinState::word));
    // Write the number always with a decimal point (D71).
    let bdr = entity.bdr.map(|share| JsonTree::Number(format!("{share:?}")));
    members.put("spxi:bdrEstimate", bdr);
    members.text("spxi:verificationLevel", entity.verification.map(VerificationLevel::word));
    members.text("spxi:packetRef", entity.packet_ref.as_deref());
    members.list("spxi:disambiguationMatrix", entity.collisions.iter().map(collision_of));
    members.texts("sameAs", &entity.same_as);
    members.texts("identifier", &entity.identifiers);
    members.extra(&entity.extra);
}

/// Returns an entity in the form that packets use.
fn about_of(entity: &Entity) -> JsonTree {
    let mut members = JsonMembers::default();
    members.text("@id", entity.id.as_deref());
    let kind = entity.entity_type.as_deref();
    let types = kind.into_iter().chain(["spxi:IndexedEntity", "mp:IndexedEntity"]);
    members.list("@type", types.map(JsonTree::text));
    members.text("name", entity.name.as_deref());
    claims_of(entity, &mut members);
    let others = entity.collisions.iter().filter_map(|collision| {
        let with = collision.with.as_deref()?;
        if with.starts_with("https://") || with.starts_with("http://") {
            return Some(reference(with));
        }
        let mut other = JsonMembers::of_type("Thing");
        other.text("name", Some(with));
        Some(other.into_tree())
    });
    members.list("differentFrom", others);
    members.into_tree()
}

fn collision_of(collision: &Collision) -> JsonTree {
    let mut members = JsonMembers::of_type("spxi:DisambiguationEntry");
    members.text("spxi:collidesWith", collision.with.as_deref());
    members.text("spxi:distinguishingAttribute", collision.attribute.as_deref());
    members.text("spxi:collisionRisk", collision.risk.map(CollisionRisk::word));
    members.into_tree()
}

fn kernel_of(kernel: &Kernel) -> JsonTree {
    let mut members = JsonMembers::of_type("spxi:HolographicKernel");
    members.text("spxi:compressionSurvivalSummary", kernel.summary.as_deref());
    members.text("spxi:kernelSpecification", kernel.specification.as_deref());
    members.into_tree()
}

fn party_of(party: &Party) -> JsonTree {
    let mut members = JsonMembers::default();
    members.text("@type", party.kind.as_deref());
    members.text("@id", party.id.as_deref());
    members.text("name", party.name.as_deref());
    members.text("url", party.url.as_deref());
    members.text("identifier", party.identifier.as_deref());
    members.into_tree()
}

fn surface_of(surface: &Surface) -> JsonTree {
    let mut members = JsonMembers::of_type("WebPage");
    members.text("@id", surface.id.as_deref());
    members.text("name", surface.name.as_deref());
    members.text("spxi:surfaceType", surface.surface_type.as_deref());
    members.text("spxi:semanticFunction", surface.function.as_deref());
    members.list("spxi:protectsEntity", surface.protects.iter().map(|id| reference(id)));
    members.text("dateModified", surface.modified.map(|time| time.to_string()));
    members.into_tree()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> SemanticIndex {
        let entity = Entity {
            id: Some("https://harbour.example/museum/".to_owned()),
            bdr: Some(1.0),
            ..Entity::default()
        };
        SemanticIndex { entities: vec![entity], ..SemanticIndex::default() }
    }

    fn surface(n: usize) -> Surface {
        Surface {
            id: Some(format!("https://harbour.example/{n}")),
            name: Some(format!("Page number {n} of the harbour")),
            function: (n == 7).then(|| "definition".to_owned()),
            ..Surface::default()
        }
    }

    #[test] // SPX-028, SPX-019, SPX-051
    fn share_has_a_decimal_point_and_version_is_always_present() {
        let WrittenIndex { bytes, kept } = IndexWriter::new(index()).finish(None);
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(kept, SurfaceDetail::Everything);
        assert!(text.contains("\"spxi:bdrEstimate\": 1.0"), "{text}");
        assert!(text.contains("\"spxi:protocolVersion\": \"EA-SPXI-SITEMAP-01 v1.0\""), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value.get("@type"), Some(&"spxi:SemanticIndex".into()));
        assert_eq!(value.get("spxi:hasSurface"), Some(&serde_json::json!([])));
    }

    #[test] // SPX-054
    fn large_index_drops_optional_members_then_surfaces() {
        for (n_pages, largest, wanted, n_surfaces) in [
            (100, MAX_READABLE_BYTES, SurfaceDetail::Everything, 100),
            (1500, MAX_READABLE_BYTES, SurfaceDetail::Addresses, 1500),
            (1500, 50_000, SurfaceDetail::Declared, 1),
        ] {
            let mut writer = IndexWriter::with_largest(index(), largest);
            for n in 0..n_pages {
                writer.surface(&surface(n));
            }
            let WrittenIndex { bytes, kept } = writer.finish(None);
            assert_eq!(kept, wanted);
            assert!(
                bytes.len()
                    <= if kept == SurfaceDetail::Everything { DEFAULT_MAX_BYTES } else { largest }
            );
            let value: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
            let surfaces =
                value.get("spxi:hasSurface").and_then(|it| it.as_array()).expect("a list");
            assert_eq!(surfaces.len(), n_surfaces);
            assert_eq!(
                surfaces.iter().any(|one| one.get("name").is_some()),
                kept != SurfaceDetail::Addresses
            );
        }
    }
}
