//! Writes new entity files.

use std::fmt::Write as _;

use crate::config::entity::form::{COLLISION, ENTITY, QUESTION};
use crate::config::table::form::{FieldForm, FieldType};

/// The values to write into a new entity file.
#[derive(Debug, Default)]
pub(crate) struct EntityDraft {
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
pub(crate) fn template(draft: &EntityDraft) -> String {
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
