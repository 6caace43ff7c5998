//! ARC snapshots of pages in a replica: from the ARC sitemap, otherwise from the
//! `data-ai-*` attributes of the page (ARC-060).
//!
//! A sync stores snapshots from attributes as URL notes. The store deletes
//! such a note in the transaction that removes or withholds the page. Pages without
//! content, and pages whose attributes mark them as sensitive (ARC-025), have no snapshot.

use rutter_arc::ArcEntry;
use rutter_extract::Extraction;
use rutter_store::{NoteKind, NoteValue, QueryError, Store};

/// Maximum size of a stored snapshot, in bytes.
const LARGEST: usize = 256 << 10;

/// Source of an ARC snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotSource {
    /// The entry of the ARC sitemap.
    Sitemap,
    /// The `data-ai-*` attributes of the page.
    Page,
}

impl SnapshotSource {
    /// Returns the name for machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sitemap => "arc",
            Self::Page => "page",
        }
    }
}

/// The ARC snapshot of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcSnapshot {
    /// Where the snapshot comes from.
    pub source: SnapshotSource,
    /// The snapshot, a JSON object.
    pub json: String,
}

/// Returns the ARC snapshot of a page in the replica. The snapshot of the ARC sitemap takes
/// precedence (ARC-058).
pub fn find_arc_snapshot(store: &dyn Store, key: &str) -> Result<Option<ArcSnapshot>, QueryError> {
    if store.page(key)?.is_none_or(|row| row.withheld.is_some()) {
        return Ok(None);
    }
    let entry = store.arc_entry(key)?.and_then(|row| ArcEntry::from_json(&row.json));
    if let Some(snapshot) = entry.and_then(|entry| entry.ai_snapshot) {
        let json = snapshot.get().to_owned();
        return Ok(Some(ArcSnapshot { source: SnapshotSource::Sitemap, json }));
    }
    Ok(match store.url_note(NoteKind::ArcSnapshot, key)?.map(|note| note.value) {
        Some(NoteValue::ArcSnapshot(Some(json))) => {
            Some(ArcSnapshot { source: SnapshotSource::Page, json })
        }
        _ => None,
    })
}

/// Returns the snapshot that the `data-ai-*` attributes of a page define, as JSON; `None`
/// if there is none, or if the page is sensitive.
pub(crate) fn of_page(extraction: &Extraction) -> Option<String> {
    let snapshot = rutter_extract::arc_snapshot(extraction, &mut ())?;
    let json = snapshot.to_json();
    (!snapshot.needs_auth() && json.len() <= LARGEST).then_some(json)
}
