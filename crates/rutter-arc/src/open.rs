//! Detects the format of an ARC document and opens it: JSON, YAML or JSON-LD, compressed or not.

use std::io::{self, Cursor, Read};

use crate::input::ArcInput;
use crate::limits::{ArcError, Limits};
use crate::read::ArcReader;
use crate::yaml;

/// Format of an ARC document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArcDocumentKind {
    /// A sitemap in JSON.
    Json,
    /// A sitemap in YAML.
    Yaml,
    /// A pointer to a sitemap, in JSON-LD.
    Pointer,
    /// A policy file.
    Policy,
}

/// Detects the format by the first bytes. Returns `None` if nothing identifies an ARC document.
pub fn detect_format(start: &[u8]) -> Option<ArcDocumentKind> {
    let mut text = vec![0; 16 << 10];
    let mut n = 0;
    let mut input = ArcInput::new(start, u64::MAX);
    // The file may be truncated: text that was decompressed before its end is sufficient here.
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
        return is_yaml.then_some(ArcDocumentKind::Yaml);
    }
    if text.contains("\"arc_sitemap_version\"") {
        Some(ArcDocumentKind::Json)
    } else if text.contains("\"arc_policy_version\"") {
        Some(ArcDocumentKind::Policy)
    } else if text.contains("\"@context\"") && text.contains("ARC Sitemap") {
        Some(ArcDocumentKind::Pointer)
    } else {
        None
    }
}

/// Opens a sitemap. A YAML file is read as a whole, up to
/// [`MAX_YAML_BYTES`](crate::MAX_YAML_BYTES).
pub fn open_sitemap<'i>(
    input: impl Read + 'i,
    form: ArcDocumentKind,
    limits: Limits,
) -> Result<ArcReader<Box<dyn Read + 'i>>, ArcError> {
    let input: Box<dyn Read + 'i> = match form {
        ArcDocumentKind::Yaml => Box::new(Cursor::new(yaml::to_json(input, &limits)?)),
        ArcDocumentKind::Json | ArcDocumentKind::Pointer | ArcDocumentKind::Policy => {
            Box::new(input)
        }
    };
    Ok(ArcReader::new(input, limits))
}

/// Decompresses and reads a small document of up to `most` bytes.
pub(crate) fn small(input: impl Read, most: usize) -> Result<Vec<u8>, ArcError> {
    let mut input = ArcInput::new(input, most as u64);
    let mut bytes = Vec::new();
    let mut piece = vec![0; 16 << 10];
    loop {
        match input.read(&mut piece)? {
            0 => return Ok(bytes),
            n => bytes.extend_from_slice(piece.get(..n).unwrap_or_default()),
        }
    }
}

/// Converts a refusal into an I/O error that contains it.
impl From<ArcError> for io::Error {
    fn from(error: ArcError) -> Self {
        match error {
            ArcError::Io(error) => error,
            ArcError::Refused(refusal) => Self::other(refusal),
        }
    }
}
