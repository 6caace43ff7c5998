//! The list of served files (`served.json`): media type, coding, digest, date, twin, cache lifetime and access of each
//! file, for a web server.
//!
//! The list of files is the last large member, with one file per line, so that it can be written and read as a stream.
//! [`read_served`] rejects other versions and damaged files: a server that missed an entry could publish a restricted
//! page.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;
use rutter_page::checksum::{ChecksumStatus, RecordChecksum, verify_checksum};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::error::{IoErrorContext, StateError};

/// Format version of `served.json`. A server must not read a version that it does not know, because
/// it could miss restrictions: version 1 contained no restricted prefixes.
pub const SERVED_VERSION: u32 = 3;

/// The previous version, whose files may lack a checksum.
const UNSEALED: u32 = 2;

/// Number that is incremented when members are added without a new version, so that `served.json`
/// is written again.
pub const SERVED_REVISION: u32 = 2;

/// Members of `served.json` other than the list of files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ServedHeader {
    /// Format version; a builder writes [`SERVED_VERSION`].
    pub version: u32,
    /// Base URL of the site, with its final slash.
    pub base: String,
    /// Path of the output folder relative to the state folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Update interval of the site in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<u64>,
    /// Restricted path prefixes, percent-decoded: files below them need a token.
    pub closed: Vec<String>,
}

/// Class of a file, which decides its cache lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheClass {
    /// A snapshot of a section.
    Snapshot,
    /// A delta of a section.
    Delta,
    /// A file that announces other files: sitemaps, indexes, policies.
    Entry,
    /// A Markdown twin.
    Twin,
    /// A page.
    Page,
    /// Any other file; unknown classes count as this one.
    #[default]
    #[serde(other)]
    Other,
}

impl CacheClass {
    /// Returns the name of the class in `served.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Delta => "delta",
            Self::Entry => "entry",
            Self::Twin => "twin",
            Self::Page => "page",
            Self::Other => "other",
        }
    }
}

/// Access to a file that differs from the access that its path implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// An artifact below a restricted prefix, which needs no token.
    Open,
    /// The file needs a token. Unknown values count as this one, so that nothing is published by mistake.
    #[serde(other)]
    Token,
}

/// One file in `served.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedEntry<'e> {
    /// Path relative to the output folder.
    #[serde(borrow)]
    pub path: Cow<'e, str>,
    /// Media type of the file.
    #[serde(borrow, rename = "type")]
    pub media_type: Cow<'e, str>,
    /// Content coding of the file; `None` if it is not compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<Cow<'e, str>>,
    /// Digest of the bytes; for a collection, of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Digest of the compressed bytes of a collection. Unlike `digest`, it changes if the same
    /// content is compressed differently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<String>,
    /// Date of these bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// Expiry time of a collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Path of the page's Markdown twin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<Cow<'e, str>>,
    /// Class of the file.
    pub cache: CacheClass,
    /// Access to the file; `None` if its path decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<FileAccess>,
}

impl ServedEntry<'_> {
    /// Parses one line of the list of files; `None` if the line is not an entry.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b",").unwrap_or(line);
        serde_json::from_slice::<ServedEntry<'_>>(line).ok().map(ServedEntry::into_owned)
    }

    fn into_owned(self) -> ServedEntry<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        ServedEntry {
            path: own(self.path),
            media_type: own(self.media_type),
            coding: self.coding.map(own),
            digest: self.digest,
            stored: self.stored,
            modified: self.modified,
            expires: self.expires,
            twin: self.twin.map(own),
            cache: self.cache,
            access: self.access,
        }
    }
}

/// Writes a `served.json` entry by entry.
#[derive(Debug)]
pub struct ServedFileWriter {
    path: PathBuf,
    out: BufWriter<File>,
    is_first: bool,
    seal: RecordChecksum,
}

impl ServedFileWriter {
    /// Creates the file and writes its header.
    pub fn create(path: &Path, header: &ServedHeader) -> Result<Self, StateError> {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path).at(path)?);
        let head = serde_json::to_string(header).expect("the header serializes to JSON");
        let head = head.strip_suffix('}').unwrap_or(&head);
        let head = format!("{head},\"files\":[");
        out.write_all(head.as_bytes()).at(path)?;
        let mut seal = RecordChecksum::default();
        seal.update(head.as_bytes());
        Ok(Self { path: path.to_owned(), out, is_first: true, seal })
    }

    /// Adds a file.
    pub fn push(&mut self, entry: &ServedEntry<'_>) -> Result<(), StateError> {
        let gap = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        let text = serde_json::to_string(entry).expect("an entry serializes to JSON");
        let text = format!("{gap}{text}");
        self.seal.record(text.as_bytes());
        self.out.write_all(text.as_bytes()).at(&self.path)
    }

    /// Writes the checksum and closes the file.
    pub fn finish(mut self) -> Result<(), StateError> {
        self.seal.update(b"\n]");
        write!(self.out, "\n]{}", self.seal.to_json()).at(&self.path)?;
        self.out.flush().at(&self.path)
    }
}

/// Returns whether the file exists and is undamaged.
pub fn is_served_intact(path: &Path) -> bool {
    let file = File::open(path);
    file.is_ok_and(|file| matches!(verify_checksum(file), Ok(ChecksumStatus::Valid(_))))
}

/// Why a `served.json` cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServedError {
    /// The file could not be read.
    #[error("cannot read served.json")]
    Io(#[from] io::Error),
    /// The file does not have the form of a supported version.
    #[error("served.json is not a list of served files")]
    Form(#[from] serde_json::Error),
    /// The checksum does not match or is missing.
    #[error("served.json is damaged")]
    Damaged,
}

/// Receives the entries of a `served.json`; an error text stops the reader.
pub type TakeServed<'t> = dyn FnMut(&ServedEntry<'_>) -> Result<(), &'static str> + 't;

/// Reads a `served.json` from its start, and passes each entry to `take`. Returns the header.
///
/// The entries are passed on before the end of the file was read, so the caller discards them if
/// this function fails.
pub fn read_served(
    file: &mut File,
    take: &mut TakeServed<'_>,
) -> Result<ServedHeader, ServedError> {
    let sealed = verify_checksum(&*file)?;
    if sealed == ChecksumStatus::Mismatch {
        return Err(ServedError::Damaged);
    }
    file.rewind()?;
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(file));
    let header = ServedSeed { take }.deserialize(&mut reader)?;
    reader.end()?;
    // Without the checksum, a restriction that was lost would not be detected.
    if header.version == SERVED_VERSION && sealed == ChecksumStatus::Missing {
        return Err(ServedError::Damaged);
    }
    Ok(header)
}

/// Deserializes the document and passes on its entries.
struct ServedSeed<'t, 'f> {
    take: &'t mut TakeServed<'f>,
}

impl<'de> DeserializeSeed<'de> for ServedSeed<'_, '_> {
    type Value = ServedHeader;
    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<ServedHeader, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ServedSeed<'_, '_> {
    type Value = ServedHeader;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ServedHeader, A::Error> {
        let mut header = ServedHeader::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => header.version = map.next_value()?,
                "base" => header.base = map.next_value()?,
                "output" => header.output = Some(map.next_value()?),
                "update" => header.update = Some(map.next_value()?),
                "closed" => header.closed = map.next_value()?,
                "files" => map.next_value_seed(FilesSeed { take: &mut *self.take })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if matches!(header.version, UNSEALED | SERVED_VERSION) {
            Ok(header)
        } else {
            Err(A::Error::custom("unsupported version"))
        }
    }
}

struct FilesSeed<'t, 'f> {
    take: &'t mut TakeServed<'f>,
}

impl<'de> DeserializeSeed<'de> for FilesSeed<'_, '_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FilesSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        while let Some(entry) = files.next_element::<ServedEntry<'_>>()? {
            (self.take)(&entry).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_list_is_read_back_and_a_changed_one_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.json");
        let header = ServedHeader {
            version: SERVED_VERSION,
            base: "https://h.example/".into(),
            update: Some(86_400),
            closed: vec!["members/".into()],
            ..ServedHeader::default()
        };
        let entry = |path, access| ServedEntry {
            path: Cow::Borrowed(path),
            media_type: "text/html".into(),
            cache: CacheClass::Page,
            access,
            ..ServedEntry::default()
        };
        let entries = [entry("a.html", None), entry("log.html", Some(FileAccess::Token))];
        let mut writer = ServedFileWriter::create(&path, &header).unwrap();
        for entry in &entries {
            writer.push(entry).unwrap();
        }
        writer.finish().unwrap();
        assert!(is_served_intact(&path));
        let mut found = Vec::new();
        let mut take = |entry: &ServedEntry<'_>| {
            found.push(entry.clone().into_owned());
            Ok(())
        };
        assert_eq!(read_served(&mut File::open(&path).unwrap(), &mut take).unwrap(), header);
        assert_eq!(found, entries);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> =
            text.lines().filter_map(|line| ServedEntry::of_line(line.as_bytes())).collect();
        assert_eq!(lines, entries);
        std::fs::write(&path, text.replace(",\"access\":\"token\"", "")).unwrap();
        let read = read_served(&mut File::open(&path).unwrap(), &mut |_| Ok(()));
        assert!(matches!(read, Err(ServedError::Damaged)));
    }

    #[test]
    fn unknown_values_restrict_a_file_and_class_it_as_other() {
        let line = br#"{"path":"a","type":"x","cache":"later","access":"later","more":[1]},"#;
        let entry = ServedEntry::of_line(line).unwrap();
        assert_eq!((entry.cache, entry.access), (CacheClass::Other, Some(FileAccess::Token)));
    }
}
