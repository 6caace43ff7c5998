//! Settings of entities, from tables of `rutter.toml` and from files of the folder `entities`.
//!
//! `form.rs` lists all keys of an entity: the JSON Schema, the documentation and the template come
//! from this list. Rejects values that an SPXI index cannot contain, with file, line and column.

pub(crate) mod files;
pub(crate) mod form;
pub(crate) mod template;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::PathBuf;

use rutter_build::EntityDeclaration;
use rutter_page::HttpUrl;
use rutter_spxi::schema_types::{self, EntityType};
use rutter_spxi::{
    BasinState, Collision, CollisionRisk, Entity, Kernel, PacketQuestion, VerificationLevel,
};

use crate::config::SettingSource;
use crate::config::table::TableRow;
use crate::config::table::fields::TableFields;
use crate::config::table::form::TableForm;
use crate::config::value::InvalidValue;

use form::ENTITY;

/// Name of the folder of entity files, beside `rutter.toml`.
pub(crate) const FOLDER: &str = "entities";

/// An entity as declared in the settings.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredEntity {
    /// The page of the entity, as a path or a URL.
    pub(crate) page: String,
    pub(crate) declared: EntityDeclaration,
    /// The day when each collision was noted, in the order of the collisions.
    pub(crate) noted: Vec<Option<String>>,
    /// The place of the declaration, for messages.
    pub(crate) by: SettingSource,
    /// The entity file; `None` for an entity that `rutter.toml` declares.
    pub(crate) file: Option<PathBuf>,
}

impl DeclaredEntity {
    pub(crate) fn name(&self) -> &str {
        self.declared.entity.name.as_deref().unwrap_or_default()
    }
}

fn wrong(what: impl Into<String>, span: Option<Range<usize>>) -> InvalidValue {
    InvalidValue { what: what.into(), span, hint: None }
}

impl TableRow for DeclaredEntity {
    const FORM: &'static TableForm = ENTITY;

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let at = |parts: &TableFields, name: &str| parts.span(name);
        let page_at = at(&parts, "page");
        let page = parts.text("page").unwrap_or_default();
        if !page.starts_with('/') && HttpUrl::parse(page.as_str()).is_err() {
            let shown = rutter_finding::quoted(&page);
            return Err(InvalidValue {
                what: format!("page: {shown} is neither a path nor a URL"),
                span: page_at,
                hint: Some("a path starts with a slash, such as /museum/".to_owned()),
            });
        }
        let name_at = at(&parts, "name");
        let name = parts.text("name").unwrap_or_default();
        if name.trim().is_empty() {
            return Err(wrong("name: is empty", name_at));
        }
        let kind_at = at(&parts, "type");
        let kind = parts.text("type").unwrap_or_default();
        check_type(&kind).map_err(|found| InvalidValue { span: kind_at, ..found })?;
        let negative_tags = negative_tags(&mut parts)?;
        let markers = markers(&mut parts)?;
        let same_as = addresses(&mut parts, "same-as")?;
        let identifiers = parts.texts("identifiers");
        let kernel_at = at(&parts, "kernel");
        let kernel = parts.text("kernel");
        if let Some(text) = &kernel {
            check_kernel(text).map_err(|what| wrong(format!("kernel: {what}"), kernel_at))?;
        }
        let packet_at = at(&parts, "packet-ref");
        let packet_ref = parts.text("packet-ref");
        if let Some(url) = packet_ref.as_ref().filter(|url| HttpUrl::parse(url.as_str()).is_err()) {
            let shown = rutter_finding::quoted(url);
            return Err(wrong(format!("packet-ref: {shown} is not a URL"), packet_at));
        }
        let level_at = at(&parts, "verification");
        let level = parts.text("verification");
        let level = level.as_deref().and_then(VerificationLevel::of_word);
        let anchors = same_as.iter().chain(&identifiers).chain(&packet_ref);
        if level == Some(VerificationLevel::DoiAnchored)
            && !anchors.into_iter().any(|it| rutter_spxi::find_doi(it).is_some())
        {
            let what = "verification: `doi_anchored` needs a DOI in `same-as` or `identifiers`";
            return Err(wrong(what, level_at));
        }
        let (collisions, noted) = collisions(parts.rows("collisions"))?;
        let questions = parts.rows("questions").into_iter().map(|mut row| PacketQuestion {
            question: row.text("question").unwrap_or_default(),
            answer: row.text("answer").unwrap_or_default(),
        });
        let questions = questions.collect();
        let basin_state = parts.text("basin-state");
        let entity = Entity {
            id: None,
            entity_type: Some(kind),
            name: Some(name),
            alternate_names: parts.texts("alternate-names"),
            description: parts.text("description"),
            negative_tags,
            markers,
            basin_state: basin_state.as_deref().and_then(BasinState::of_word),
            bdr: parts.share("bdr"),
            verification: Some(level.unwrap_or(VerificationLevel::SelfAttested)),
            packet_ref,
            collisions,
            same_as,
            identifiers,
            extra: Vec::new(),
        };
        let has_packet = parts.switch("packet").unwrap_or(entity.packet_ref.is_none());
        let kernel = kernel.map(|text| Kernel { summary: Some(text), specification: None });
        let declared = EntityDeclaration { entity, has_packet, kernel, questions };
        Ok(Self { page, declared, noted, by: SettingSource::File(String::new()), file: None })
    }

    fn parts(_text: &str) -> Result<TableFields, String> {
        Err(format!("entities can be set in rutter.toml and in files of the folder {FOLDER} only"))
    }
}

/// Checks that a type is known to readers or is a URL (D66).
fn check_type(kind: &str) -> Result<(), InvalidValue> {
    let found = schema_types::entity_type(kind, |_| false, |_| false);
    if matches!(found, EntityType::Schema(_) | EntityType::Custom) {
        return Ok(());
    }
    let shown = rutter_finding::quoted(kind);
    let release = schema_types::RELEASE;
    let near = schema_types::nearest(kind).map(|near| format!("did you mean `{near}`?"));
    let own = || "write another type as its URL, https://…".to_owned();
    Err(InvalidValue {
        what: format!("type: {shown} is not a type of schema.org {release}"),
        span: None,
        hint: Some(near.unwrap_or_else(own)),
    })
}

/// Checks the length of the kernel of a site or an entity (D69).
pub(crate) fn check_kernel(text: &str) -> Result<(), String> {
    let n_words = rutter_spxi::count_words(text);
    match n_words {
        0 => Err("is empty".to_owned()),
        n if Kernel::MAX_WORDS < n => {
            Err(format!("has {n} words, at most {} are allowed", Kernel::MAX_WORDS))
        }
        _ => Ok(()),
    }
}

fn check_length(name: &str, text: &str) -> Result<(), String> {
    let n = rutter_spxi::count_characters(text);
    if text.trim().is_empty() {
        return Err(format!("{name}: an item is empty"));
    }
    if Entity::MAX_CHARS < n {
        return Err(format!(
            "{name}: an item has {n} characters, at most {} are allowed",
            Entity::MAX_CHARS
        ));
    }
    Ok(())
}

fn negative_tags(parts: &mut TableFields) -> Result<Vec<String>, InvalidValue> {
    let list_at = parts.span("negative-tags");
    let tags = parts.placed_texts("negative-tags");
    if tags.is_empty() {
        return Err(wrong("negative-tags: expected at least one", list_at));
    }
    for (tag, span) in &tags {
        check_length("negative-tags", tag).map_err(|what| wrong(what, Some(span.clone())))?;
        if tag.strip_prefix("NOT ").is_none_or(|rest| rest.trim().is_empty()) {
            let shown = rutter_finding::quoted(tag);
            let behind = tag.strip_prefix("NOT").and_then(|rest| rest.chars().next());
            // Other white space, such as a no-break space, looks like a space.
            let hint = match behind.filter(|c| *c != ' ' && c.is_whitespace()) {
                Some(c) => {
                    format!("the character after NOT is U+{:04X}; use a space", u32::from(c))
                }
                None => "example: \"NOT the band of that name\"".to_owned(),
            };
            return Err(InvalidValue {
                what: format!("negative-tags: {shown} does not start with `NOT ` and a word"),
                span: Some(span.clone()),
                hint: Some(hint),
            });
        }
    }
    Ok(tags.into_iter().map(|(tag, _)| tag).collect())
}

fn markers(parts: &mut TableFields) -> Result<Vec<String>, InvalidValue> {
    let list_at = parts.span("markers");
    let markers = parts.placed_texts("markers");
    if markers.len() < Entity::MIN_MARKERS {
        let what = format!("markers: expected at least {}", Entity::MIN_MARKERS);
        return Err(wrong(what, list_at));
    }
    for (at, (marker, span)) in markers.iter().enumerate() {
        check_length("markers", marker).map_err(|what| wrong(what, Some(span.clone())))?;
        if markers.iter().take(at).any(|(earlier, _)| earlier == marker) {
            return Err(wrong("markers: duplicate marker", Some(span.clone())));
        }
    }
    Ok(markers.into_iter().map(|(marker, _)| marker).collect())
}

fn addresses(parts: &mut TableFields, name: &str) -> Result<Vec<String>, InvalidValue> {
    let texts = parts.placed_texts(name);
    for (text, span) in &texts {
        if HttpUrl::parse(text.as_str()).is_err() {
            let shown = rutter_finding::quoted(text);
            return Err(wrong(format!("{name}: {shown} is not a URL"), Some(span.clone())));
        }
    }
    Ok(texts.into_iter().map(|(text, _)| text).collect())
}

type NotedDays = Vec<Option<String>>;

fn collisions(rows: Vec<TableFields>) -> Result<(Vec<Collision>, NotedDays), InvalidValue> {
    let (mut collisions, mut noted) = (Vec::new(), Vec::new());
    for mut row in rows {
        let noted_at = row.span("noted");
        let day = row.text("noted");
        if day
            .as_ref()
            .is_some_and(|day| rutter_spxi::ModifiedDate::parse(day).is_none_or(|it| !it.is_day))
        {
            return Err(wrong("noted: expected a day, such as \"2026-05-01\"", noted_at));
        }
        let risk = row.text("risk");
        collisions.push(Collision {
            with: row.text("with"),
            attribute: row.text("differs"),
            risk: risk.as_deref().and_then(CollisionRisk::of_word),
        });
        noted.push(day);
    }
    Ok((collisions, noted))
}
