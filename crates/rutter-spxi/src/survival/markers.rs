//! Finds the markers of entities in the texts of a page (D70).
//!
//! [`MarkerSearch`] holds all markers of a site; [`MarkerSearch::classify`] returns the status of
//! some of the markers on one page. Each text is read once, independent of the number of markers. A
//! marker never matches across the end of a block.

use std::collections::{BTreeMap, BTreeSet};

use crate::MarkerStatus;
use rutter_page::JsonTree;

use crate::survival::fold::{FoldedText, LineBreaks, collapse, fold};
use crate::survival::search::PhraseSearch;

/// Maximum nesting depth of JSON-LD whose strings are searched.
const MAX_DEPTH: usize = 64;

/// The markers of a site, prepared for searching.
///
/// The id of a marker is its index in the list of markers. A marker that contains only white space
/// is never found.
///
/// ```
/// # use rutter_spxi::MarkerStatus;
/// # use rutter_spxi::survival::{MarkerSearch, PageTexts};
/// let markers = MarkerSearch::new(["built in 1890", "Keeper's log"]);
/// let places = PageTexts { visible: "The house, built\u{a0}in 1890.\nKeeper\u{2019}s log", ..PageTexts::default() };
/// let found = markers.classify(&[0, 1], &places);
/// assert_eq!(found, [MarkerStatus::Visible, MarkerStatus::Near("Keeper\u{2019}s log".into())]);
/// ```
#[derive(Debug)]
pub struct MarkerSearch {
    texts: Vec<String>,
    exact: PhraseSearch,
    folded: PhraseSearch,
}

/// Texts of a page that are searched for markers.
#[derive(Debug, Clone, Default)]
pub struct PageTexts<'p> {
    /// Visible text of the page, one line per block.
    pub visible: &'p str,
    /// The title of the page and the values of its `meta` elements.
    pub metas: Vec<&'p str>,
    /// The JSON-LD blocks of the page as written.
    pub json_ld: Vec<&'p str>,
}

impl MarkerSearch {
    /// Prepares markers for searching.
    pub fn new<'m>(markers: impl IntoIterator<Item = &'m str>) -> Self {
        let texts: Vec<String> = markers
            .into_iter()
            .map(|marker| collapse(marker, LineBreaks::Space).trim().to_owned())
            .collect();
        let folded: Vec<String> = texts.iter().map(|text| fold(text)).collect();
        Self { exact: PhraseSearch::new(&texts), folded: PhraseSearch::new(&folded), texts }
    }

    /// Returns the number of markers.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether there are no markers.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the marker with this id, with collapsed white space.
    pub fn text(&self, id: usize) -> &str {
        self.texts.get(id).map_or("", String::as_str)
    }

    /// Returns the markers that a text contains exactly, apart from white space. Line breaks in the
    /// text end blocks.
    pub fn find_in_blocks(&self, text: &str) -> BTreeSet<usize> {
        self.exact.all(&collapse(text, LineBreaks::End))
    }

    /// Like [`find_in_blocks`](Self::find_in_blocks), but line breaks in the text are white space.
    pub fn find_in_line(&self, text: &str) -> BTreeSet<usize> {
        self.exact.all(&collapse(text, LineBreaks::Space))
    }

    /// Returns the markers among `wanted` that a text contains apart from case, quotes, dashes and
    /// white space, each with the first matching text. Exact matches are included. Line breaks in
    /// the text end blocks.
    pub fn find_near(&self, wanted: &[usize], text: &str) -> BTreeMap<usize, String> {
        let text = collapse(text, LineBreaks::End);
        let folded = FoldedText::new(&text);
        let mut found = BTreeMap::new();
        self.folded.each(&folded.text, wanted, |id, place| {
            // Ignore a match that covers only a part of a character.
            let source = folded.source_of(place.start, place.end);
            found.extend(source.map(|source| (id, source.to_owned())));
            source.is_some()
        });
        let wanted: BTreeSet<usize> = wanted.iter().copied().collect();
        found.retain(|id, _| wanted.contains(id));
        found
    }

    /// Returns the status of the wanted markers on a page, in the order of `wanted`.
    pub fn classify(&self, wanted: &[usize], places: &PageTexts<'_>) -> Vec<MarkerStatus> {
        let mut all = vec![MarkerStatus::Absent; wanted.len()];
        let mut missing: Vec<usize> = (0..wanted.len()).collect();
        // Each search covers only the markers that the previous searches did not find.
        let settle = |missing: &mut Vec<usize>,
                      all: &mut [MarkerStatus],
                      find: &dyn Fn(usize) -> Option<MarkerStatus>| {
            missing.retain(|at| {
                let status = wanted.get(*at).and_then(|id| find(*id));
                let is_found = status.is_some();
                if let (Some(status), Some(place)) = (status, all.get_mut(*at)) {
                    *place = status;
                }
                !is_found
            });
        };
        let seen = self.exact.some(&collapse(places.visible, LineBreaks::End), wanted);
        settle(&mut missing, &mut all, &|id| seen.contains(&id).then_some(MarkerStatus::Visible));
        if missing.is_empty() {
            return all;
        }
        let left: Vec<usize> = missing.iter().filter_map(|at| wanted.get(*at).copied()).collect();
        let near = self.find_near(&left, places.visible);
        settle(&mut missing, &mut all, &|id| near.get(&id).cloned().map(MarkerStatus::Near));
        if missing.is_empty() {
            return all;
        }
        let metas = self.find_in_any_line(places.metas.iter().copied());
        settle(&mut missing, &mut all, &|id| metas.contains(&id).then_some(MarkerStatus::MetaOnly));
        if missing.is_empty() {
            return all;
        }
        let strings = strings_of(&places.json_ld);
        let data = self.find_in_any_line(strings.iter().map(String::as_str));
        settle(&mut missing, &mut all, &|id| {
            data.contains(&id).then_some(MarkerStatus::JsonLdOnly)
        });
        all
    }

    /// Returns the markers that any of several lines contains.
    pub(crate) fn find_in_any_line<'t>(
        &self,
        lines: impl IntoIterator<Item = &'t str>,
    ) -> BTreeSet<usize> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&collapse(line, LineBreaks::Space));
            text.push('\n');
        }
        self.exact.all(&text)
    }
}

/// Returns all strings in JSON documents.
pub(crate) fn strings_of(blocks: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for tree in blocks.iter().filter_map(|block| JsonTree::parse(block)) {
        gather(tree, 0, &mut out);
    }
    out
}

fn gather(tree: JsonTree, depth: usize, out: &mut Vec<String>) {
    if MAX_DEPTH < depth {
        return;
    }
    match tree {
        JsonTree::Text(text) => out.push(text),
        JsonTree::List(items) => items.into_iter().for_each(|item| gather(item, depth + 1, out)),
        JsonTree::Map(members) => {
            for (_, it) in members {
                gather(it, depth + 1, out);
            }
        }
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) => {}
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
