//! ARC snapshots of a replica: from the ARC sitemap, else from the page's own
//! `data-ai-*` attributes (ARC-060).
//!
//! The latter are stored as marks (`snapshot:URL`) with `page` as their source.
//! The store deletes them in the transaction that removes or withholds the page.
//! A page whose content is withheld, or whose attributes mark it sensitive
//! (ARC-025), has none.

use rutter_arc::Entry;
use rutter_arc::snapshot::{Document, Element, snapshot};
use rutter_extract::{Extraction, rules};
use rutter_finding::Rule;
use rutter_page::{LanguageTag, Timestamp};
use rutter_store::{QueryError, Store, Validator};

use crate::mark::Mark;

/// Largest snapshot that is kept, in bytes.
const LARGEST: usize = 256 << 10;

/// Where a snapshot comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotSource {
    /// The entry of the ARC sitemap.
    Sitemap,
    /// `data-ai-*` attributes of the page.
    Page,
}

impl SnapshotSource {
    /// For programs.
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
    /// Where it comes from.
    pub source: SnapshotSource,
    /// The snapshot, a JSON object.
    pub json: String,
}

/// The ARC snapshot of a page in the replica; the sitemap's comes first
/// (ARC-058).
pub fn arc_snapshot(store: &dyn Store, key: &str) -> Result<Option<ArcSnapshot>, QueryError> {
    if store.page(key)?.is_none_or(|row| row.withheld.is_some()) {
        return Ok(None);
    }
    let entry = store.arc_entry(key)?.and_then(|row| Entry::from_json(&row.json));
    if let Some(snapshot) = entry.and_then(|entry| entry.ai_snapshot) {
        let json = snapshot.get().to_owned();
        return Ok(Some(ArcSnapshot { source: SnapshotSource::Sitemap, json }));
    }
    let own = store.validator(&Mark::Snapshot.of(key))?.and_then(|mark| mark.etag);
    Ok(own.map(|json| ArcSnapshot { source: SnapshotSource::Page, json }))
}

/// The snapshot that the attributes of a page make.
pub(crate) fn of_page(extraction: &Extraction) -> Option<String> {
    if extraction.annotated.is_empty() {
        return None;
    }
    let elements = extraction.annotated.iter().map(|element| Element {
        name: &element.element,
        depth: element.depth,
        attributes: &element.attributes,
        text: element.text.clone(),
        is_hidden: element.is_hidden,
        label: element.label.as_deref(),
        target: element.target.as_deref(),
    });
    // What was made from the text could tell what its annotations keep back.
    let is_made =
        |rule: &Rule| extraction.findings.iter().any(|finding| std::ptr::eq(finding.rule, rule));
    let own = |text, rule| Some(text).filter(|_| !is_made(rule));
    let document = Document {
        url: extraction.page.url.as_str(),
        title: own(&*extraction.page.title, &rules::NO_TITLE),
        description: own(&*extraction.page.description, &rules::NO_DESCRIPTION),
        language: extraction.facts.language.as_ref().map(LanguageTag::as_str),
        keywords: &extraction.facts.keywords,
        text: &extraction.visible_text,
        elements: elements.collect(),
    };
    let snapshot = snapshot(&document, &mut ())?;
    let json = snapshot.to_json();
    (!snapshot.needs_auth() && json.len() <= LARGEST).then_some(json)
}

/// The mark of a page's own snapshot; without one, that there is none.
pub(crate) fn mark(key: &str, json: Option<String>, checked: Timestamp) -> Validator {
    let source = json.is_some().then(|| SnapshotSource::Page.word().to_owned());
    Validator { url: Mark::Snapshot.of(key), etag: json, last_modified: source, checked }
}

/// The page whose own snapshot a mark holds; `None` for other marks.
pub(crate) fn page_of(mark: &Validator) -> Option<&str> {
    mark.url.strip_prefix("snapshot:")
}
