//! What the owner says of an entity: a table of `rutter.toml`, or a file of the
//! folder `entities`. One table names every member; reading, the schema, the
//! documentation and the template follow from it.
//!
//! Refuses: words that an index could not carry, at the line where they stand.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_build::{Declared, SurfaceRule};
use rutter_page::HttpUrl;
use rutter_spxi::kinds::{self, EntityType};
use rutter_spxi::{
    BasinState, Collision, CollisionRisk, Entity, Kernel, Question, VerificationLevel,
};
use serde_json::json;
use toml::de::DeValue;

use crate::config::table::{Form, Kind, Member, Parts, Row, row_of_toml};
use crate::config::value::Wrong;
use crate::config::{By, Fault, line_and_column};

/// The folder of files with an entity each, beside `rutter.toml`.
pub(crate) const FOLDER: &str = "entities";

/// An entity as it was written.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    /// Its page, as a path or an address.
    pub(crate) page: String,
    pub(crate) declared: Declared,
    /// When collisions were noted, beside the collisions.
    pub(crate) noted: Vec<Option<String>>,
    /// Where it stands.
    pub(crate) by: By,
    /// The file it has to itself.
    pub(crate) file: Option<PathBuf>,
}

impl Stated {
    pub(crate) fn name(&self) -> &str {
        self.declared.entity.name.as_deref().unwrap_or_default()
    }
}

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|value| word(*value)).collect()
}

const fn text(name: &'static str, is_needed: bool, about: &'static str) -> Member {
    Member { name, kind: Kind::Text(""), is_needed, about }
}

const fn texts(name: &'static str, is_needed: bool, about: &'static str) -> Member {
    Member { name, kind: Kind::Texts, is_needed, about }
}

const COLLISION: &Form = &Form {
    what: "a collision",
    members: &[
        text("with", true, "Name or address of what it is taken for"),
        text("differs", true, "How to tell the two apart"),
        Member {
            name: "risk",
            kind: Kind::Choice(|| words(CollisionRisk::ALL, CollisionRisk::word)),
            is_needed: false,
            about: "How often that happens",
        },
        Member {
            name: "noted",
            kind: Kind::Text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
            is_needed: false,
            about: "The day you noted it; `rutter spxi status` reminds you of what follows from it",
        },
    ],
    placeholder: "",
    example: (r#"{ with = "Harbour Lights (band)", differs = "A band, not a museum" }"#, ""),
};

const QUESTION: &Form = &Form {
    what: "a question",
    members: &[text("question", true, "The question"), text("answer", true, "The answer")],
    placeholder: "",
    example: (r#"{ question = "Is it open on Mondays?", answer = "No." }"#, ""),
};

/// The order is the one of the template.
const ENTITY: &Form = &Form {
    what: "an entity",
    members: &[
        text("page", true, "Path or address of its page; a fragment may follow"),
        text("type", true, "Its type: one of schema.org, or the address of a type of your own"),
        text("name", true, "The name it is known by"),
        texts(
            "negative-tags",
            true,
            "What it is not; each begins with `NOT `, three or more are good",
        ),
        texts(
            "markers",
            true,
            "Phrases of its page that must survive a summary, word for word; two or more",
        ),
        texts("alternate-names", false, "Other names of it"),
        text("description", false, "What it is, in a sentence or two"),
        texts("same-as", false, "Addresses of the same thing elsewhere: profiles, DOIs, registers"),
        texts("identifiers", false, "Identifiers: an ORCID, an ISNI, a DOI"),
        Member {
            name: "verification",
            kind: Kind::Choice(|| words(VerificationLevel::ALL, VerificationLevel::word)),
            is_needed: false,
            about: "Who stands behind these words",
        },
        Member {
            name: "basin-state",
            kind: Kind::Choice(|| words(BasinState::ALL, BasinState::word)),
            is_needed: false,
            about: "How well AI systems tell it apart; `rutter spxi drown` suggests it",
        },
        Member {
            name: "bdr",
            kind: Kind::Share,
            is_needed: false,
            about: "Share of answers that are about it, from 0 to 1; `rutter spxi drown` measures it",
        },
        text("kernel", false, "What must remain of it, in at most 100 words; for its packet"),
        Member {
            name: "packet",
            kind: Kind::Switch,
            is_needed: false,
            about: "Whether it has a packet beside its page",
        },
        text("packet-ref", false, "Address of a packet that is kept elsewhere"),
        Member {
            name: "collisions",
            kind: Kind::Rows(COLLISION),
            is_needed: false,
            about: "What it is commonly taken for",
        },
        Member {
            name: "questions",
            kind: Kind::Rows(QUESTION),
            is_needed: false,
            about: "Questions you answer about it",
        },
    ],
    placeholder: "",
    example: (
        r#"{ page = "/museum/", type = "Museum", name = "Harbour Museum", negative-tags = ["NOT a shop"], markers = ["first phrase", "second phrase"] }"#,
        "",
    ),
};

fn wrong(what: impl Into<String>, span: Option<Range<usize>>) -> Wrong {
    Wrong { what: what.into(), span, hint: None }
}

impl Row for Stated {
    const FORM: &'static Form = ENTITY;

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let at = |parts: &Parts, name: &str| parts.span(name);
        let page_at = at(&parts, "page");
        let page = parts.text("page").unwrap_or_default();
        if !page.starts_with('/') && HttpUrl::parse(page.as_str()).is_err() {
            let shown = rutter_finding::quoted(&page);
            return Err(Wrong {
                what: format!("page: {shown} is neither a path nor an address"),
                span: page_at,
                hint: Some("a path begins with a slash, as in /museum/".to_owned()),
            });
        }
        let name_at = at(&parts, "name");
        let name = parts.text("name").unwrap_or_default();
        if name.trim().is_empty() {
            return Err(wrong("name: is empty", name_at));
        }
        let kind_at = at(&parts, "type");
        let kind = parts.text("type").unwrap_or_default();
        check_type(&kind).map_err(|found| Wrong { span: kind_at, ..found })?;
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
            return Err(wrong(format!("packet-ref: {shown} is not an address"), packet_at));
        }
        let level_at = at(&parts, "verification");
        let level = parts.text("verification");
        let level = level.as_deref().and_then(VerificationLevel::of_word);
        let anchors = same_as.iter().chain(&identifiers).chain(&packet_ref);
        if level == Some(VerificationLevel::DoiAnchored)
            && !anchors.into_iter().any(|it| rutter_spxi::doi(it).is_some())
        {
            let what = "verification: `doi_anchored` wants a DOI in `same-as` or `identifiers`";
            return Err(wrong(what, level_at));
        }
        let (collisions, noted) = collisions(parts.rows("collisions"))?;
        let questions = parts.rows("questions").into_iter().map(|mut row| Question {
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
        let declared = Declared { entity, has_packet, kernel, questions };
        Ok(Self { page, declared, noted, by: By::File(String::new()), file: None })
    }

    fn parts(_text: &str) -> Result<Parts, String> {
        Err(format!("entities stand in rutter.toml, or in files of the folder {FOLDER}"))
    }
}

/// Whether a type is one that readers know or can look up (D66).
fn check_type(kind: &str) -> Result<(), Wrong> {
    let found = kinds::entity_type(kind, |_| false, |_| false);
    if matches!(found, EntityType::Schema(_) | EntityType::Custom) {
        return Ok(());
    }
    let shown = rutter_finding::quoted(kind);
    let release = kinds::RELEASE;
    let near = kinds::nearest(kind).map(|near| format!("did you mean `{near}`?"));
    let own = || "a type of your own is written as its address, https://…".to_owned();
    Err(Wrong {
        what: format!("type: {shown} is no type of schema.org {release}"),
        span: None,
        hint: Some(near.unwrap_or_else(own)),
    })
}

/// What the kernel of a site or an entity must be (D69).
pub(crate) fn check_kernel(text: &str) -> Result<(), String> {
    let n_words = rutter_spxi::words(text);
    match n_words {
        0 => Err("is empty".to_owned()),
        n if Kernel::MOST_WORDS < n => Err(format!("{n} words, at most {}", Kernel::MOST_WORDS)),
        _ => Ok(()),
    }
}

fn check_length(name: &str, text: &str) -> Result<(), String> {
    let n = rutter_spxi::characters(text);
    if text.trim().is_empty() {
        return Err(format!("{name}: one of them is empty"));
    }
    if Entity::LONGEST < n {
        return Err(format!("{name}: {n} characters, at most {}", Entity::LONGEST));
    }
    Ok(())
}

fn negative_tags(parts: &mut Parts) -> Result<Vec<String>, Wrong> {
    let list_at = parts.span("negative-tags");
    let tags = parts.placed_texts("negative-tags");
    if tags.is_empty() {
        return Err(wrong("negative-tags: wanted one at least", list_at));
    }
    for (tag, span) in &tags {
        check_length("negative-tags", tag).map_err(|what| wrong(what, Some(span.clone())))?;
        if tag.strip_prefix("NOT ").is_none_or(|rest| rest.trim().is_empty()) {
            let shown = rutter_finding::quoted(tag);
            let behind = tag.strip_prefix("NOT").and_then(|rest| rest.chars().next());
            // Some white space looks like a space and is none.
            let hint = match behind.filter(|c| *c != ' ' && c.is_whitespace()) {
                Some(c) => {
                    format!("the character behind NOT is U+{:04X}; write a space", u32::from(c))
                }
                None => "write it as in \"NOT the band of that name\"".to_owned(),
            };
            return Err(Wrong {
                what: format!("negative-tags: {shown} does not begin with `NOT ` and a word"),
                span: Some(span.clone()),
                hint: Some(hint),
            });
        }
    }
    Ok(tags.into_iter().map(|(tag, _)| tag).collect())
}

fn markers(parts: &mut Parts) -> Result<Vec<String>, Wrong> {
    let list_at = parts.span("markers");
    let markers = parts.placed_texts("markers");
    if markers.len() < Entity::FEWEST_MARKERS {
        let what = format!("markers: wanted {} at least", Entity::FEWEST_MARKERS);
        return Err(wrong(what, list_at));
    }
    for (at, (marker, span)) in markers.iter().enumerate() {
        check_length("markers", marker).map_err(|what| wrong(what, Some(span.clone())))?;
        if markers.iter().take(at).any(|(earlier, _)| earlier == marker) {
            return Err(wrong("markers: one stands there twice", Some(span.clone())));
        }
    }
    Ok(markers.into_iter().map(|(marker, _)| marker).collect())
}

fn addresses(parts: &mut Parts, name: &str) -> Result<Vec<String>, Wrong> {
    let texts = parts.placed_texts(name);
    for (text, span) in &texts {
        if HttpUrl::parse(text.as_str()).is_err() {
            let shown = rutter_finding::quoted(text);
            return Err(wrong(format!("{name}: {shown} is not an address"), Some(span.clone())));
        }
    }
    Ok(texts.into_iter().map(|(text, _)| text).collect())
}

type Noted = Vec<Option<String>>;

fn collisions(rows: Vec<Parts>) -> Result<(Vec<Collision>, Noted), Wrong> {
    let (mut collisions, mut noted) = (Vec::new(), Vec::new());
    for mut row in rows {
        let noted_at = row.span("noted");
        let day = row.text("noted");
        if day
            .as_ref()
            .is_some_and(|day| rutter_spxi::Modified::parse(day).is_none_or(|it| !it.is_day))
        {
            return Err(wrong("noted: wanted a day, as in \"2026-05-01\"", noted_at));
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

/// Reads the files of a folder, in the order of their names.
pub(crate) fn of_folder(folder: &Path) -> anyhow::Result<Found> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::default()),
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        // Editors and systems keep files of their own beside.
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if path.extension() == Some(OsStr::new("toml")) && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    let mut found = Found::default();
    for file in &files {
        match of_file(file)? {
            Read::Entity(stated) => found.entities.push(*stated),
            Read::Draft(empty) => found.drafts.push((file.clone(), empty)),
        }
    }
    Ok(found)
}

/// What a folder of entities has.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) entities: Vec<Stated>,
    /// Files that are not filled in, and what is empty in each.
    pub(crate) drafts: Vec<(PathBuf, Vec<&'static str>)>,
}

/// What a file turned out to be.
#[derive(Debug)]
pub(crate) enum Read {
    Entity(Box<Stated>),
    /// A template in which something needed is still empty.
    Draft(Vec<&'static str>),
}

/// The needed members that stand there empty, as a template has them.
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

/// Reads a file with one entity.
pub(crate) fn of_file(file: &Path) -> anyhow::Result<Read> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    let place = |at: usize| By::File(format!("{name}:{}", line_and_column(&text, at)));
    let table = toml::de::DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        Fault::new(&place(at), error.message().trim_end())
    })?;
    let empty = empty_members(table.get_ref());
    if !empty.is_empty() {
        return Ok(Read::Draft(empty));
    }
    let stated: Stated = row_of_toml(table.get_ref()).map_err(|wrong| {
        let at = wrong.span.map_or(0, |span| span.start);
        Fault { hint: wrong.hint, ..Fault::new(&place(at), wrong.what) }
    })?;
    let stated = Stated { by: By::File(name.clone()), file: Some(file.to_owned()), ..stated };
    Ok(Read::Entity(Box::new(stated)))
}

/// A JSON Schema of a file with one entity, for editors.
pub(crate) fn schema() -> String {
    let mut schema = ENTITY.item_schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("An entity");
    schema["description"] = json!("What a site says of an entity. Written by `cargo xtask docs`.");
    format!("{schema:#}\n")
}

/// What documentation says of the members of an entity.
pub(crate) fn table() -> String {
    let mut text = String::from("| key | value | what it is |\n|---|---|---|\n");
    for (whose, form) in [("", ENTITY), ("collisions.", COLLISION), ("questions.", QUESTION)] {
        for member in form.members {
            let kind = match member.kind {
                Kind::Text(_) => "text".to_owned(),
                Kind::Share => "number from 0 to 1".to_owned(),
                Kind::Texts => "list of texts".to_owned(),
                Kind::Switch => "true or false".to_owned(),
                Kind::Choice(names) => crate::config::value::choices(&names()),
                Kind::Rows(_) => "tables".to_owned(),
            };
            let needed = if member.is_needed { ", needed" } else { "" };
            let _ =
                writeln!(text, "| `{whose}{}` | {kind}{needed} | {} |", member.name, member.about);
        }
    }
    text
}

/// What a draft of an entity says; everything else is left to its owner.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) page: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) alternate_names: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) same_as: Vec<String>,
    /// What the page itself declares as markers or negative tags.
    pub(crate) markers: Vec<String>,
    pub(crate) negative_tags: Vec<String>,
    /// Where all of this was found, for a remark.
    pub(crate) from: Option<String>,
}

/// A file for an entity: what is known, and every other key as a remark.
pub(crate) fn template(draft: &Draft) -> String {
    // JSON leaves a few characters as they are that TOML does not take.
    let quoted = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        serde_json::Value::from(text).to_string()
    };
    let list = |texts: &[String]| {
        let lines: Vec<String> =
            texts.iter().map(|text| format!("    {},\n", quoted(text))).collect();
        format!("[\n{}]", lines.concat())
    };
    let mut text = String::from("# What this entity is, what it is not, and what must survive.\n");
    if let Some(from) = &draft.from {
        let _ = writeln!(text, "# Drafted from {from}; look at every line before you publish it.");
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
        let needed = if member.is_needed { " Needed." } else { "" };
        if matches!(member.kind, Kind::Rows(_)) {
            continue;
        }
        let _ = write!(text, "\n# {}.{needed}\n", member.about);
        let _ = match known {
            Some(known) => writeln!(text, "{} = {known}", member.name),
            // A key that is needed stands there empty, so that it is not forgotten.
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

fn empty(kind: Kind) -> &'static str {
    if matches!(kind, Kind::Texts) { "[]" } else { "\"\"" }
}

fn example(member: &Member) -> String {
    let text = match (member.name, member.kind) {
        ("verification", _) => "self_attested",
        ("basin-state", _) => "contested",
        ("risk", _) => "high",
        ("noted", _) => "2026-05-01",
        ("packet-ref", _) => "https://www.example.org/packet.jsonld",
        ("same-as", _) => return r#"["https://www.example.org/profile"]"#.to_owned(),
        (_, Kind::Texts) => return "[]".to_owned(),
        (_, Kind::Share) => return "0.5".to_owned(),
        (_, Kind::Switch) => return "true".to_owned(),
        _ => "",
    };
    serde_json::Value::from(text).to_string()
}

impl Row for SurfaceRule {
    const FORM: &'static Form = &Form {
        what: "a surface",
        members: &[
            Member {
                name: "path",
                kind: Kind::Text("^/"),
                is_needed: true,
                about: "Path of a page; with * at its end, how paths begin",
            },
            text("type", false, "What kind of page it is, such as gateway or entity_page"),
            text("function", false, "What it does, such as person_definition"),
            texts("protects", false, "Names of entities it keeps from being mistaken"),
        ],
        placeholder: "PATH;type=TEXT;function=TEXT;protects=A+B",
        example: (
            r#"{ path = "/museum/", type = "entity_page", function = "definition" }"#,
            "/museum/;type=entity_page;function=definition",
        ),
    };

    fn of_parts(mut parts: Parts) -> Result<Self, Wrong> {
        let at = parts.span("path");
        let path = parts.text("path").unwrap_or_default();
        if !path.starts_with('/') {
            let shown = rutter_finding::quoted(&path);
            return Err(wrong(format!("{shown}: a path begins with a slash"), at));
        }
        Ok(Self {
            path,
            surface_type: parts.text("type"),
            function: parts.text("function"),
            protects: parts.texts("protects"),
        })
    }

    fn parts(text: &str) -> Result<Parts, String> {
        crate::config::table::named_parts(Self::FORM, text)
    }
}
