//! Tests of entity files and their messages.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::files::{EntityFile, from_file};
use super::form::schema;
use super::template::{EntityDraft, template};
use super::*;
use crate::config::SettingsError;

/// The first line of each test file is the expected message.
#[test] // SPX-024, SPX-025, SPX-026, SPX-037, SPX-038, SPX-052, SPX-053, SPX-067
fn rejects_invalid_entities_with_line_and_column() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/entities");
    let (mut n_files, mut wrong) = (0, String::new());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let wanted = text.lines().next().and_then(|line| line.strip_prefix("# wants: ")).unwrap();
        let found = match from_file(&path) {
            Ok(EntityFile::Entity(_)) => "nothing".to_owned(),
            Ok(EntityFile::Draft(empty)) => format!("a draft: {}", empty.join(", ")),
            Err(error) => {
                let fault = error.downcast_ref::<SettingsError>().unwrap();
                let hint = fault.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
                let place = format!("{}:", path.display());
                format!("{fault}{hint}").replace(&place, "")
            }
        };
        if found != wanted {
            let _ = write!(wrong, "{}\n wanted {wanted}\n  found {found}\n", path.display());
        }
        n_files += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(30 <= n_files);
}

#[test]
fn template_has_all_keys_and_loads_when_it_is_complete() {
    let draft = EntityDraft {
        page: Some("/museum/".to_owned()),
        kind: Some("Museum".to_owned()),
        name: Some("The \"Loft\"".to_owned()),
        markers: vec!["since 1987".to_owned(), "58 metres".to_owned()],
        negative_tags: vec!["NOT the band".to_owned()],
        ..EntityDraft::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loft.toml");
    let text = template(&draft);
    fs::write(&file, &text).unwrap();
    let EntityFile::Entity(stated) = from_file(&file).unwrap() else { panic!("a draft") };
    assert_eq!(stated.name(), "The \"Loft\"");
    for member in ENTITY.members {
        assert!(text.contains(member.name), "{}", member.name);
    }
    // A file with empty required keys is a draft.
    fs::write(&file, template(&EntityDraft { name: draft.name, ..EntityDraft::default() }))
        .unwrap();
    assert!(matches!(from_file(&file).unwrap(), EntityFile::Draft(_)));
}

#[test]
fn schema_and_reader_require_the_same_keys() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    for member in ENTITY.members {
        assert!(schema["properties"][member.name]["description"].is_string(), "{}", member.name);
    }
    let needed = ["page", "type", "name", "negative-tags", "markers"];
    assert_eq!(schema["required"], serde_json::json!(needed));
}
