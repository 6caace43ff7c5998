//! Opens a document of any form: JSON, YAML, JSON-LD, compressed or not.

use std::io::{self, Cursor, Read};

use crate::input::Input;
use crate::limits::{ArcError, Limits};
use crate::read::Reader;
use crate::yaml;

/// What the beginning of a document looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A sitemap in JSON.
    Json,
    /// A sitemap in YAML.
    Yaml,
    /// A pointer to a sitemap, in JSON-LD.
    Pointer,
    /// A policy.
    Policy,
}

/// Tells from its first bytes what a document is; `None` where nothing says
/// that it belongs to ARC.
pub fn form(start: &[u8]) -> Option<Form> {
    let mut text = vec![0; 16 << 10];
    let mut n = 0;
    let mut input = Input::new(start, u64::MAX);
    // What could be decompressed before the bytes ended is enough.
    while let Ok(more @ 1..) = input.read(text.get_mut(n..).unwrap_or_default()) {
        n += more;
    }
    text.truncate(n);
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('{') {
        let is_yaml = text.lines().any(|line| {
            let line = line.trim_start_matches(['"', '\'']);
            line.starts_with("arc_sitemap_version")
        });
        return is_yaml.then_some(Form::Yaml);
    }
    if text.contains("\"arc_sitemap_version\"") {
        Some(Form::Json)
    } else if text.contains("\"arc_policy_version\"") {
        Some(Form::Policy)
    } else if text.contains("\"@context\"") && text.contains("ARC Sitemap") {
        Some(Form::Pointer)
    } else {
        None
    }
}

/// Opens a sitemap; YAML is read whole first, up to its own limit.
pub fn open<'i>(
    input: impl Read + 'i,
    form: Form,
    limits: Limits,
) -> Result<Reader<Box<dyn Read + 'i>>, ArcError> {
    let input: Box<dyn Read + 'i> = match form {
        Form::Yaml => Box::new(Cursor::new(yaml::to_json(input, &limits)?)),
        Form::Json | Form::Pointer | Form::Policy => Box::new(input),
    };
    Ok(Reader::new(input, limits))
}

/// Reads at most so many bytes of a small document, decompressed.
pub(crate) fn small(input: impl Read, most: usize) -> Result<Vec<u8>, ArcError> {
    let mut input = Input::new(input, most as u64);
    let mut bytes = Vec::new();
    let mut piece = vec![0; 16 << 10];
    loop {
        match input.read(&mut piece)? {
            0 => return Ok(bytes),
            n => bytes.extend_from_slice(piece.get(..n).unwrap_or_default()),
        }
    }
}

/// An I/O error that is none of the document's.
impl From<ArcError> for io::Error {
    fn from(error: ArcError) -> Self {
        match error {
            ArcError::Io(error) => error,
            ArcError::Refused(refusal) => Self::other(refusal),
        }
    }
}
