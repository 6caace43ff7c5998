//! Which markers stand in a text (D70).
//!
//! [`Markers`] holds all phrases of a site; [`Markers::look`] tells what became
//! of some of them on one page. Every text is read once, however many markers
//! there are.
//!
//! Refuses: to take the end of a block for a space.

use std::collections::{BTreeMap, BTreeSet};

use rutter_page::Tree;
use rutter_spxi::MarkerStatus;

use crate::fold::{Breaks, Folded, collapse, fold};
use crate::search::Search;

/// Deepest nesting of JSON-LD whose strings are looked at.
const DEEPEST: usize = 64;

/// The phrases of a site, ready to be looked for.
///
/// A marker is known by its place among those given; one that is only white
/// space stands nowhere.
///
/// ```
/// # use rutter_spxi::MarkerStatus;
/// # use rutter_survival::{Markers, Places};
/// let markers = Markers::new(["built in 1890", "Keeper's log"]);
/// let places = Places { visible: "The house, built\u{a0}in 1890.\nKeeper\u{2019}s log", ..Places::default() };
/// let found = markers.look(&[0, 1], &places);
/// assert_eq!(found, [MarkerStatus::Visible, MarkerStatus::Near("Keeper\u{2019}s log".into())]);
/// ```
#[derive(Debug)]
pub struct Markers {
    texts: Vec<String>,
    exact: Search,
    folded: Search,
}

/// Where markers of one page are looked for.
#[derive(Debug, Clone, Default)]
pub struct Places<'p> {
    /// What people see, one line for each block.
    pub visible: &'p str,
    /// The title and what the `meta` elements say.
    pub metas: Vec<&'p str>,
    /// The blocks of JSON-LD, as they were written.
    pub json_ld: Vec<&'p str>,
}

impl Markers {
    /// Takes phrases as they are declared.
    pub fn new<'m>(markers: impl IntoIterator<Item = &'m str>) -> Self {
        let texts: Vec<String> = markers
            .into_iter()
            .map(|marker| collapse(marker, Breaks::Space).trim().to_owned())
            .collect();
        let folded: Vec<String> = texts.iter().map(|text| fold(text)).collect();
        Self { exact: Search::new(&texts), folded: Search::new(&folded), texts }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The phrase of an id, white space collapsed.
    pub fn text(&self, id: usize) -> &str {
        self.texts.get(id).map_or("", String::as_str)
    }

    /// The markers that stand in a text whose line breaks end blocks, letter
    /// for letter but for white space.
    pub fn standing(&self, text: &str) -> BTreeSet<usize> {
        self.exact.all(&collapse(text, Breaks::End))
    }

    /// The same for a text whose line breaks are white space.
    pub fn standing_in_line(&self, text: &str) -> BTreeSet<usize> {
        self.exact.all(&collapse(text, Breaks::Space))
    }

    /// The markers among `wanted` that stand nearly in a text whose line breaks
    /// end blocks, each with the first text found: equal but for case, quotes,
    /// dashes and white space. Those that stand verbatim are among them.
    pub fn near(&self, wanted: &[usize], text: &str) -> BTreeMap<usize, String> {
        let text = collapse(text, Breaks::End);
        let folded = Folded::new(&text);
        let mut found = BTreeMap::new();
        self.folded.each(&folded.text, wanted, |id, place| {
            // Not where only half of a letter was meant.
            let source = folded.source_of(place.start, place.end);
            found.extend(source.map(|source| (id, source.to_owned())));
            source.is_some()
        });
        let wanted: BTreeSet<usize> = wanted.iter().copied().collect();
        found.retain(|id, _| wanted.contains(id));
        found
    }

    /// What became of the wanted markers on a page, in the order of `wanted`.
    pub fn look(&self, wanted: &[usize], places: &Places<'_>) -> Vec<MarkerStatus> {
        let mut all = vec![MarkerStatus::Absent; wanted.len()];
        let mut missing: Vec<usize> = (0..wanted.len()).collect();
        // Each road is taken only for what the ones before did not find.
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
        let seen = self.exact.some(&collapse(places.visible, Breaks::End), wanted);
        settle(&mut missing, &mut all, &|id| seen.contains(&id).then_some(MarkerStatus::Visible));
        if missing.is_empty() {
            return all;
        }
        let left: Vec<usize> = missing.iter().filter_map(|at| wanted.get(*at).copied()).collect();
        let near = self.near(&left, places.visible);
        settle(&mut missing, &mut all, &|id| near.get(&id).cloned().map(MarkerStatus::Near));
        if missing.is_empty() {
            return all;
        }
        let metas = self.standing_in_any(places.metas.iter().copied());
        settle(&mut missing, &mut all, &|id| metas.contains(&id).then_some(MarkerStatus::MetaOnly));
        if missing.is_empty() {
            return all;
        }
        let strings = strings_of(&places.json_ld);
        let data = self.standing_in_any(strings.iter().map(String::as_str));
        settle(&mut missing, &mut all, &|id| {
            data.contains(&id).then_some(MarkerStatus::JsonLdOnly)
        });
        all
    }

    /// The markers that stand in one of several lines.
    pub(crate) fn standing_in_any<'t>(
        &self,
        lines: impl IntoIterator<Item = &'t str>,
    ) -> BTreeSet<usize> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&collapse(line, Breaks::Space));
            text.push('\n');
        }
        self.exact.all(&text)
    }
}

/// The string values of blocks of JSON.
pub(crate) fn strings_of(blocks: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for tree in blocks.iter().filter_map(|block| Tree::parse(block)) {
        gather(tree, 0, &mut out);
    }
    out
}

fn gather(tree: Tree, depth: usize, out: &mut Vec<String>) {
    if DEEPEST < depth {
        return;
    }
    match tree {
        Tree::Text(text) => out.push(text),
        Tree::List(items) => items.into_iter().for_each(|item| gather(item, depth + 1, out)),
        Tree::Map(members) => members.into_iter().for_each(|(_, it)| gather(it, depth + 1, out)),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test may stop")]
mod tests;
