//! Reads the pages that the last build stored, for programs that check the published site.
//!
//! Input: a state folder. Output: a [`CachedPage`] for each page, so that callers can skip pages
//! with unchanged bytes.

use std::path::Path;
use std::sync::mpsc;

use rutter_extract::Coverage;
use rutter_page::{Digest, LineDigest};

use crate::error::StateError;
use crate::exclusion::ExclusionReason;
use crate::file_marks;
use crate::manifest::Manifest;
use crate::page_cache::PageCacheReader;
use crate::paths::{StatePaths, absolute_path};

/// Maximum number of pages that wait for their digests.
const WAITING: usize = 64;

/// A page as the last build read it.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedPage {
    /// URL of the page.
    pub url: String,
    /// Digest of the page's source without the links that Rutter inserted.
    pub source: Digest,
    /// Digest of the page's line; `None` if the page is not public.
    pub line: Option<LineDigest>,
    /// Digest of the page's Markdown twin; `None` if the page is not public.
    pub twin: Option<LineDigest>,
    /// Title of the page.
    pub title: String,
    /// Reason why the page is excluded; `None` if it is not excluded.
    pub exclusion: Option<String>,
    /// Share of the main text that the extraction kept; `None` if the share is unknown.
    pub coverage: Option<Coverage>,
    /// Findings of the page, each with rule code and detail.
    pub findings: Vec<(String, String)>,
}

impl CachedPage {
    /// Returns whether the page is excluded by its own statements or by the site owner. A page that
    /// only has too many blocks for a collection does not count as closed.
    pub fn is_closed(&self) -> bool {
        self.exclusion
            .as_deref()
            .is_some_and(|reason| ExclusionReason::parse(reason) != Some(ExclusionReason::Oversize))
    }
}

/// Returns whether the last build with this state folder wrote to this output folder.
pub fn is_built_into(state: &Path, folder: &Path) -> bool {
    let list = Manifest::load(&StatePaths::new(state).files());
    // The canonical paths are compared too, because different paths may name the same folder.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    list.is_some_and(|(known, _)| known == absolute_path(folder) || real(&known) == real(folder))
}

/// Loads all pages of the state in the order of their URLs; empty if there is no state.
pub fn load_cached_pages(state: &Path) -> Result<Vec<CachedPage>, StateError> {
    let mut all = Vec::new();
    let mut records = PageCacheReader::open(&StatePaths::new(state).pack())?;
    // This thread decompresses the records, and another thread computes the digests.
    let digests = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<[Vec<u8>; 2]>(WAITING);
        let hashing = scope.spawn(move || {
            let digest = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| LineDigest::of(&bytes));
            receiver.into_iter().map(|texts| texts.map(digest)).collect::<Vec<_>>()
        });
        let unpacked = records.for_each(&mut |url, record| {
            let Some(source) = Digest::parse(&record.meta.source) else { return };
            // The result of `send` is ignored: the receiver exists until the last text is sent.
            let twin = match record.markdown.as_slice() {
                [] => Vec::new(),
                markdown => file_marks::marked_twin(markdown),
            };
            drop(sender.send([record.line.clone(), twin]));
            all.push(CachedPage {
                url: url.to_owned(),
                source,
                line: None,
                twin: None,
                title: record.meta.title.clone(),
                exclusion: record.meta.exclusion.clone(),
                coverage: record.meta.coverage.clone(),
                findings: record.meta.findings.clone(),
            });
        });
        drop(sender);
        unpacked.map(|()| hashing.join().unwrap_or_default())
    })?;
    // If the digest thread failed, the pages without digests are dropped.
    all.truncate(digests.len());
    for (page, [line, twin]) in all.iter_mut().zip(digests) {
        (page.line, page.twin) = (line, twin);
    }
    Ok(all)
}
