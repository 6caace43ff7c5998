//! The page cache (`pages.pack`): extracted pages, so that unchanged pages are not read again.
//!
//! Records are sorted by URL and stored in chunks. A chunk consists of an index (keys and URLs) and
//! a zstd frame with the records, so that keys are compared without decompression, and a chunk of
//! unchanged pages is copied as it is. A missing or damaged cache counts as empty; deleting the
//! cache costs time but changes no date.

mod chunk;
mod reader;
mod writer;

use rutter_extract::Coverage;
use serde::{Deserialize, Serialize};

pub use self::reader::{CacheIndexReader, PageCacheReader};
pub use self::writer::PageCacheWriter;
use crate::arc::ArcFields;

/// Cache key of a page record: a hash of the page's source and of the settings that decide how the
/// source is read. The visibility of the page is not part of the key.
pub type CacheKey = [u8; 16];

/// Hash of the rules and settings that decided the visibility of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VisibilityKey(pub [u8; 8]);

impl VisibilityKey {
    /// Key of a page whose visibility depends on the time, so that every build decides it again.
    pub const EVERY_BUILD: Self = Self([0; 8]);

    /// Key that marks an entry of format 4, in which the cache key also covers the visibility.
    pub const IN_KEY: Self = Self([0xff; 8]);
}

/// Index entry of a page in the page cache, without its URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheEntry {
    /// Key of the source and of the settings that decide how it is read.
    pub key: CacheKey,
    /// Key of the rules and settings that decide the visibility.
    pub visibility_key: VisibilityKey,
    /// Fingerprint of the source file: its size, its modification time and the settings that decide
    /// how it is read; 0 if there is no fingerprint.
    pub stat: u64,
}

/// Record of a page in the page cache: index entry, metadata, line and Markdown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageRecord {
    /// Index entry of the page.
    pub cached: CacheEntry,
    /// Metadata of the page.
    pub meta: PageMetadata,
    /// JSON line of the page; empty if the page is not public.
    pub line: Vec<u8>,
    /// Markdown of the page's twin; empty if the page is not public.
    pub markdown: Vec<u8>,
}

/// Metadata of a page for all layers except collections.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageMetadata {
    /// Title of the page.
    pub title: String,
    /// Description of the page.
    pub description: String,
    /// Translations of the page, each with language tag and URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<(String, String)>,
    /// Reason why the page is excluded; `None` if it is not. The JSON member keeps its former name.
    #[serde(rename = "barred", default, skip_serializing_if = "Option::is_none")]
    pub exclusion: Option<String>,
    /// Evidence for the exclusion, such as `meta date 2030-01-01T00:00:00Z`.
    #[serde(rename = "barred_by", default, skip_serializing_if = "Option::is_none")]
    pub exclusion_source: Option<String>,
    /// Findings about the page, each with rule code and detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<(String, String)>,
    /// Those of the site owner's selectors to keep or drop content that match an element of the
    /// page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
    /// Size of the page's source in bytes.
    pub bytes: u64,
    /// Digest of the page's source.
    #[serde(default)]
    pub source: String,
    /// Members of the page's ARC entry.
    #[serde(default)]
    pub arc: ArcFields,
    /// Share of the main text that the extraction kept; `None` if the share was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Content of the page that only partners may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Box<WithheldPage>>,
}

/// Content of a page that needs a login, for partners.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WithheldPage {
    /// Members of the page's ARC entry.
    #[serde(rename = "words")]
    pub fields: ArcFields,
    /// JSON line of the page.
    pub line: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::StateError;

    fn record(n: u32) -> PageRecord {
        let meta =
            PageMetadata { title: format!("Page {n}"), bytes: n.into(), ..PageMetadata::default() };
        let mut key = [0; 16];
        key[..4].copy_from_slice(&n.to_le_bytes());
        let visibility_key = VisibilityKey([(n % 5) as u8; 8]);
        PageRecord {
            cached: CacheEntry { key, visibility_key, stat: n.into() },
            meta,
            line: vec![b'x'; (n % 700) as usize],
            markdown: b"# y".to_vec(),
        }
    }

    fn url(n: u32) -> String {
        format!("https://h.example/{n:06}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn kept_and_new_pages_are_read_back_in_order(
            changes in prop::collection::vec(0_u8..12, 600..900),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (first, second) = (folder.path().join("1"), folder.path().join("2"));
            let none = folder.path().join("none");
            let mut old = PageCacheReader::open(&none).unwrap();
            let mut writer = PageCacheWriter::create(&first).unwrap();
            // All pages except the pages that are added later.
            for (n, change) in (0..).zip(&changes) {
                if *change != 1 {
                    writer.push(&url(n), 1 << (n % 3), &record(n), &mut old).unwrap();
                }
            }
            writer.finish(&mut old).unwrap();

            let mut keys = CacheIndexReader::open(&first).unwrap();
            let mut old = PageCacheReader::open(&first).unwrap();
            let mut writer = PageCacheWriter::create(&second).unwrap();
            let mut expected = Vec::new();
            for (n, change) in (0..).zip(&changes) {
                prop_assert_eq!(keys.get(&url(n)), (*change != 1).then(|| record(n).cached));
                match change {
                    // The pages are removed, new, changed or unchanged.
                    0 => continue,
                    1 => writer.push(&url(n), 1, &record(n), &mut old).unwrap(),
                    2 => writer.push(&url(n), 1, &record(n + 1), &mut old).unwrap(),
                    _ => writer.keep(&url(n), 1, &mut old).unwrap(),
                }
                expected.push((url(n), record(if *change == 2 { n + 1 } else { n })));
            }
            writer.finish(&mut old).unwrap();
            let mut found = Vec::new();
            PageCacheReader::open(&second).unwrap().for_each_in_sections(1, &mut |url, record| {
                found.push((url.to_owned(), record.clone()));
                Ok::<(), StateError>(())
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn damaged_cache_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        for bytes in [&b""[..], b"nonsense that is long", b"RUTPACK1\x01\x02"] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(CacheIndexReader::open(&path).unwrap().get("https://h.example/"), None);
            assert!(
                PageCacheReader::open(&path).unwrap().get("https://h.example/").unwrap().is_none()
            );
        }
    }
}
