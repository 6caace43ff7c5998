//! Stores the texts of answers as files: `<run>/<system>/<entity>/<question>.txt`.
//!
//! An answer is completely on disk before the history refers to it. File names use only letters,
//! digits and hyphens.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rutter_page::Digest;

use super::judge::TestedEntity;
use super::query::StandardQuestion;

/// Maximum length of a folder name.
const MAX_NAME_LENGTH: usize = 60;

/// A folder with the texts of answers.
#[derive(Debug, Clone)]
pub struct AnswerStore {
    folder: PathBuf,
}

impl AnswerStore {
    /// Creates a store in a folder. The folder itself is created with the first answer.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder with the answers of a system in a run. The folder can be used as the
    /// transcripts of a system.
    pub fn folder(&self, run: &str, system: &str) -> PathBuf {
        self.folder.join(unique_slug(run)).join(unique_slug(system))
    }

    /// Returns the text of a stored answer.
    pub fn get(
        &self,
        run: &str,
        system: &str,
        slug: &str,
        question: StandardQuestion,
    ) -> io::Result<Option<String>> {
        let path = self.folder(run, system).join(slug).join(file_name(question));
        match fs::read(path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores an answer atomically: written to a temporary file, synced, and renamed.
    pub fn put(
        &self,
        run: &str,
        system: &str,
        slug: &str,
        question: StandardQuestion,
        answer: &str,
    ) -> io::Result<()> {
        let folder = self.folder(run, system).join(slug);
        fs::create_dir_all(&folder)?;
        let part = folder.join(format!(".{}.part", question.key()));
        let mut file = File::create(&part)?;
        file.write_all(answer.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, folder.join(file_name(question)))?;
        sync_folder(&folder)
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the file name of an answer to a question.
pub(crate) fn file_name(question: StandardQuestion) -> String {
    format!("{}.txt", question.key())
}

/// Returns the folder name of each entity: its name in lower case with hyphens. Entities with the
/// same name get the first digits of the digest of their `@id` in addition.
pub fn slugs(subjects: &[TestedEntity]) -> Vec<String> {
    let plain: Vec<String> = subjects.iter().map(|subject| slug(&subject.name)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for slug in &plain {
        *counts.entry(slug).or_default() += 1;
    }
    let all = plain.iter().zip(subjects).map(|(plain, subject)| {
        let is_alone = !plain.is_empty() && counts.get(plain.as_str()) == Some(&1);
        if is_alone { plain.clone() } else { marked(plain, &subject.id) }
    });
    all.collect()
}

/// Returns a file name for a text; different texts have different names.
fn unique_slug(text: &str) -> String {
    let plain = slug(text);
    if plain == text && !plain.is_empty() { plain } else { marked(&plain, text) }
}

fn marked(plain: &str, text: &str) -> String {
    let digest = Digest::of(text.as_bytes()).to_string();
    let digits: String = digest.chars().skip("sha256:".len()).take(8).collect();
    format!("{plain}{}{digits}", if plain.is_empty() { "" } else { "-" })
}

fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if MAX_NAME_LENGTH <= out.len() {
            break;
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use crate::Entity;

    use super::*;

    #[test] // D73
    fn foreign_names_cannot_escape_the_folder() {
        for text in ["../../etc/passwd", "/", "..", "", "a/b", "C:\\x", "\u{0}", "潮", "A", "CON"]
        {
            let slug = unique_slug(text);
            assert!(slug.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-'), "{slug}");
            assert!(!slug.is_empty());
        }
        assert_eq!(unique_slug("2026-q3"), "2026-q3");
        // Different texts have different names.
        assert_ne!(unique_slug("a/b"), unique_slug("a-b"));
        assert_ne!(unique_slug("Model"), unique_slug("model"));
        assert_ne!(unique_slug(&"x".repeat(99)), unique_slug(&"x".repeat(98)));
    }

    #[test]
    fn equal_names_get_different_folders_in_any_order() {
        let subject = |id: &str, name: &str| {
            let entity = Entity {
                id: Some(id.to_owned()),
                name: Some(name.to_owned()),
                markers: vec!["m".to_owned()],
                ..Entity::default()
            };
            TestedEntity::new(&entity, None).unwrap()
        };
        let all =
            slugs(&[subject("1", "The House"), subject("2", "the-house"), subject("3", "潮")]);
        let turned =
            slugs(&[subject("3", "潮"), subject("2", "the-house"), subject("1", "The House")]);
        assert_eq!(all, turned.into_iter().rev().collect::<Vec<_>>());
        assert!(all[0].starts_with("the-house-") && all[0] != all[1]);
        assert_eq!(slugs(&[subject("1", "The House")]), ["the-house"]);
    }
}
