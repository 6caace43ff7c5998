//! Settings of entities, from tables of `rutter.toml` and from files of the folder `entities`.
//!
//! One table lists all keys of an entity. The reader, the JSON Schema, the documentation and the
//! template are generated from this table. Rejects values that an SPXI index cannot contain, with
//! file, line and column.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_build::{EntityDeclaration, SurfaceRule};
use rutter_page::HttpUrl;
use rutter_spxi::schema_types::{self, EntityType};
use rutter_spxi::{
    BasinState, Collision, CollisionRisk, Entity, Kernel, PacketQuestion, VerificationLevel,
};
use serde_json::json;
use toml::de::DeValue;

use crate::config::file::line_and_column;
use crate::config::table::{FieldForm, FieldType, TableFields, TableForm, TableRow, row_from_toml};
use crate::config::value::InvalidValue;
use crate::config::{SettingSource, SettingsError};

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

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|value| word(*value)).collect()
}

const fn text(name: &'static str, is_needed: bool, about: &'static str) -> FieldForm {
    FieldForm { name, kind: FieldType::Text(""), is_needed, about }
}

const fn texts(name: &'static str, is_needed: bool, about: &'static str) -> FieldForm {
    FieldForm { name, kind: FieldType::Texts, is_needed, about }
}

const COLLISION: &TableForm = &TableForm {
    what: "a collision",
    members: &[
        text("with", true, "Name or URL of the thing that the entity is confused with"),
        text("differs", true, "How the entity differs from this thing"),
        FieldForm {
            name: "risk",
            kind: FieldType::Choice(|| words(CollisionRisk::ALL, CollisionRisk::word)),
            is_needed: false,
            about: "How likely the confusion is",
        },
        FieldForm {
            name: "noted",
            kind: FieldType::Text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
            is_needed: false,
            about: "Day when you noted the collision; it is due until a later test",
        },
    ],
    placeholder: "",
    example: (r#"{ with = "Harbour Lights (band)", differs = "A band, not a museum" }"#, ""),
};

const QUESTION: &TableForm = &TableForm {
    what: "a question",
    members: &[text("question", true, "The question"), text("answer", true, "The answer")],
    placeholder: "",
    example: (r#"{ question = "Is it open on Mondays?", answer = "No." }"#, ""),
};

/// Keys of an entity, in the order of the template.
const ENTITY: &TableForm = &TableForm {
    what: "an entity",
    members: &[
        text("page", true, "Path or URL of the page of the entity, optionally with a fragment"),
        text("type", true, "Type from schema.org, or the URL of another type"),
        text("name", true, "Name of the entity"),
        texts(
            "negative-tags",
            true,
            "What the entity is not; each starts with `NOT `; three or more are recommended",
        ),
        texts(
            "markers",
            true,
            "Phrases of the page that a summary must keep word for word; at least two",
        ),
        texts("alternate-names", false, "Other names of the entity"),
        text("description", false, "Description in one or two sentences"),
        texts("same-as", false, "URLs of the same entity elsewhere: profiles, DOIs, registers"),
        texts("identifiers", false, "Identifiers, such as an ORCID, an ISNI or a DOI"),
        FieldForm {
            name: "verification",
            kind: FieldType::Choice(|| words(VerificationLevel::ALL, VerificationLevel::word)),
            is_needed: false,
            about: "Who verified these statements",
        },
        FieldForm {
            name: "basin-state",
            kind: FieldType::Choice(|| words(BasinState::ALL, BasinState::word)),
            is_needed: false,
            about: "How well AI systems recognize the entity; `rutter spxi drown` suggests it",
        },
        FieldForm {
            name: "bdr",
            kind: FieldType::Share,
            is_needed: false,
            about: "Share of AI answers about this entity, from 0 to 1; `rutter spxi drown` measures it",
        },
        text("kernel", false, "Summary for the packet of the entity, at most 100 words"),
        FieldForm {
            name: "packet",
            kind: FieldType::Switch,
            is_needed: false,
            about: "Whether to write a packet beside the page of the entity",
        },
        text("packet-ref", false, "URL of a packet that is published elsewhere"),
        FieldForm {
            name: "collisions",
            kind: FieldType::Rows(COLLISION),
            is_needed: false,
            about: "Things that the entity is often confused with",
        },
        FieldForm {
            name: "questions",
            kind: FieldType::Rows(QUESTION),
            is_needed: false,
            about: "Questions about the entity, with their answers",
        },
    ],
    placeholder: "",
    example: (
        r#"{ page = "/museum/", type = "Museum", name = "Harbour Museum", negative-tags = ["NOT a shop"], markers = ["first phrase", "second phrase"] }"#,
        "",
    ),
};

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

/// Reads the entity files of a folder, in the order of their names.
pub(crate) fn from_folder(folder: &Path) -> anyhow::Result<EntityFolder> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(EntityFolder::default());
        }
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        // Hidden files belong to editors and the operating system.
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if path.extension() == Some(OsStr::new("toml")) && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    let mut found = EntityFolder::default();
    for file in &files {
        match from_file(file)? {
            EntityFile::Entity(stated) => found.entities.push(*stated),
            EntityFile::Draft(empty) => found.drafts.push((file.clone(), empty)),
        }
    }
    Ok(found)
}

/// The content of a folder of entity files.
#[derive(Debug, Default)]
pub(crate) struct EntityFolder {
    pub(crate) entities: Vec<DeclaredEntity>,
    /// Incomplete entity files, each with the names of its empty required keys.
    pub(crate) drafts: Vec<(PathBuf, Vec<&'static str>)>,
}

/// The content of an entity file.
#[derive(Debug)]
pub(crate) enum EntityFile {
    Entity(Box<DeclaredEntity>),
    /// A template, with the names of its empty required keys.
    Draft(Vec<&'static str>),
}

/// Returns the required keys that are present but empty, as in a new template.
fn empty_members(table: &toml::de::DeTable<'_>) -> Vec<&'static str> {
    let is_empty = |name: &str| {
        let found = table.iter().find(|(key, _)| key.get_ref().as_ref() == name);
        found.is_some_and(|(_, value)| match value.get_ref() {
            DeValue::String(text) => text.is_empty(),
            DeValue::Array(items) => items.is_empty(),
            _ => false,
        })
    };
    let needed = ENTITY.members.iter().filter(|member| member.is_needed);
    needed.map(|member| member.name).filter(|name| is_empty(name)).collect()
}

/// Reads an entity file.
pub(crate) fn from_file(file: &Path) -> anyhow::Result<EntityFile> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    let place = |at: usize| SettingSource::File(format!("{name}:{}", line_and_column(&text, at)));
    let table = toml::de::DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        SettingsError::new(&place(at), error.message().trim_end())
    })?;
    let empty = empty_members(table.get_ref());
    if !empty.is_empty() {
        return Ok(EntityFile::Draft(empty));
    }
    let stated: DeclaredEntity = row_from_toml(table.get_ref()).map_err(|wrong| {
        let at = wrong.span.map_or(0, |span| span.start);
        SettingsError::new(&place(at), wrong.what).with_hint(wrong.hint)
    })?;
    let stated = DeclaredEntity {
        by: SettingSource::File(name.clone()),
        file: Some(file.to_owned()),
        ..stated
    };
    Ok(EntityFile::Entity(Box::new(stated)))
}

/// Returns the JSON Schema of an entity file, for editors.
pub(crate) fn schema() -> String {
    let mut schema = ENTITY.item_schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("An entity");
    schema["description"] =
        json!("An entity that a site describes. Generated by `cargo xtask docs`.");
    format!("{schema:#}\n")
}

/// Returns the documentation of the keys of an entity, as a Markdown table.
pub(crate) fn table() -> String {
    let mut text = String::from("| key | value | description |\n|---|---|---|\n");
    for (whose, form) in [("", ENTITY), ("collisions.", COLLISION), ("questions.", QUESTION)] {
        text.push_str(&form.rows(whose));
    }
    text
}

/// The values to write into a new entity file.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) page: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) alternate_names: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) same_as: Vec<String>,
    /// Markers that the page declares.
    pub(crate) markers: Vec<String>,
    pub(crate) negative_tags: Vec<String>,
    /// The source of the values, for a comment in the file.
    pub(crate) from: Option<String>,
}

/// Returns the text of an entity file: known values, and all other keys as comments.
pub(crate) fn template(draft: &Draft) -> String {
    // TOML strings must not contain some control characters that JSON strings may contain.
    let quoted = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        serde_json::Value::from(text).to_string()
    };
    let list = |texts: &[String]| {
        let lines: Vec<String> =
            texts.iter().map(|text| format!("    {},\n", quoted(text))).collect();
        format!("[\n{}]", lines.concat())
    };
    let mut text = String::from("# Description of one entity for the SPXI index.\n");
    if let Some(from) = &draft.from {
        let _ = writeln!(text, "# Drafted from {from}; check all values before you publish them.");
    }
    for member in ENTITY.members {
        let known = match member.name {
            "page" => draft.page.as_deref().map(quoted),
            "type" => draft.kind.as_deref().map(quoted),
            "name" => draft.name.as_deref().map(quoted),
            "description" => draft.description.as_deref().map(quoted),
            "alternate-names" => {
                Some(&draft.alternate_names).filter(|it| !it.is_empty()).map(|it| list(it))
            }
            "same-as" => Some(&draft.same_as).filter(|it| !it.is_empty()).map(|it| list(it)),
            "markers" => Some(&draft.markers).filter(|it| !it.is_empty()).map(|it| list(it)),
            "negative-tags" => {
                Some(&draft.negative_tags).filter(|it| !it.is_empty()).map(|it| list(it))
            }
            _ => None,
        };
        let needed = if member.is_needed { " Required." } else { "" };
        if matches!(member.kind, FieldType::Rows(_)) {
            continue;
        }
        let _ = write!(text, "\n# {}.{needed}\n", member.about);
        let _ = match known {
            Some(known) => writeln!(text, "{} = {known}", member.name),
            // A required key is written with an empty value, which marks the file as a draft.
            None if member.is_needed => writeln!(text, "{} = {}", member.name, empty(member.kind)),
            None => writeln!(text, "# {} = {}", member.name, example(member)),
        };
    }
    for (name, form) in [("collisions", COLLISION), ("questions", QUESTION)] {
        let about = ENTITY.members.iter().find(|member| member.name == name);
        let _ = write!(text, "\n# {}.\n# [[{name}]]\n", about.map_or("", |member| member.about));
        for member in form.members {
            let _ = writeln!(text, "# {} = {}", member.name, example(member));
        }
    }
    text
}

fn empty(kind: FieldType) -> &'static str {
    if matches!(kind, FieldType::Texts) { "[]" } else { "\"\"" }
}

fn example(member: &FieldForm) -> String {
    let text = match (member.name, member.kind) {
        ("verification", _) => "self_attested",
        ("basin-state", _) => "contested",
        ("risk", _) => "high",
        ("noted", _) => "2026-05-01",
        ("packet-ref", _) => "https://www.example.org/packet.jsonld",
        ("same-as", _) => return r#"["https://www.example.org/profile"]"#.to_owned(),
        (_, FieldType::Texts) => return "[]".to_owned(),
        (_, FieldType::Share) => return "0.5".to_owned(),
        (_, FieldType::Switch) => return "true".to_owned(),
        _ => "",
    };
    serde_json::Value::from(text).to_string()
}

impl TableRow for SurfaceRule {
    const FORM: &'static TableForm = &TableForm {
        what: "a surface",
        members: &[
            FieldForm {
                name: "path",
                kind: FieldType::Text("^/"),
                is_needed: true,
                about: "Path of a page; with `*` at its end, a path prefix",
            },
            text("type", false, "Type of the page, such as gateway or entity_page"),
            text("function", false, "Function of the page, such as person_definition"),
            texts("protects", false, "Names of entities that the page distinguishes from others"),
        ],
        placeholder: "PATH;type=TEXT;function=TEXT;protects=A+B",
        example: (
            r#"{ path = "/museum/", type = "entity_page", function = "definition" }"#,
            "/museum/;type=entity_page;function=definition",
        ),
    };

    fn from_parts(mut parts: TableFields) -> Result<Self, InvalidValue> {
        let at = parts.span("path");
        let path = parts.text("path").unwrap_or_default();
        if !path.starts_with('/') {
            let shown = rutter_finding::quoted(&path);
            return Err(wrong(format!("{shown}: a path must start with a slash"), at));
        }
        Ok(Self {
            path,
            surface_type: parts.text("type"),
            function: parts.text("function"),
            protects: parts.texts("protects"),
        })
    }

    fn parts(text: &str) -> Result<TableFields, String> {
        crate::config::table::named_parts(Self::FORM, text)
    }
}
