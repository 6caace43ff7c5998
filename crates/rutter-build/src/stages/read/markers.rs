//! Checks the markers of entities on their pages (rule 4 of SPXI, D70).
//!
//! Input: a page while it is read. Output: a finding for each marker of the page's entities that
//! the visible text lacks. One pass over the text finds all markers.

use std::collections::BTreeMap;

use rutter_extract::Extraction;
use rutter_page::Page;
use rutter_spxi::MarkerStatus;
use rutter_spxi::survival::{MarkerSearch, PageTexts};
use sha2::{Digest as _, Sha256};

use crate::plan::BuildPlan;
use crate::{entities, rules};

/// The markers of all entities of the site, and the pages that must contain them.
#[derive(Debug)]
pub(crate) struct EntityMarkers {
    markers: MarkerSearch,
    /// Indexes of the markers that a page must contain, by URL, each with the name of its entity.
    pages: BTreeMap<String, Vec<(usize, String)>>,
}

impl EntityMarkers {
    pub(crate) fn new(plan: &BuildPlan) -> Option<Self> {
        let entities = &entities::declared(plan)?.entities;
        let mut pages: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        let mut texts = Vec::new();
        for declared in entities {
            let name = declared.entity.name.clone().unwrap_or_default();
            let page = pages.entry(entities::page_of(&declared.entity)).or_default();
            for marker in &declared.entity.markers {
                page.push((texts.len(), name.clone()));
                texts.push(marker.as_str());
            }
        }
        Some(Self { markers: MarkerSearch::new(texts), pages })
    }

    /// Adds the markers that a page must contain to the hash of its visibility key.
    pub(crate) fn hash(&self, url: &str, hash: &mut Sha256) {
        for (id, name) in self.pages.get(url).into_iter().flatten() {
            hash.update(name);
            hash.update([0]);
            hash.update(self.markers.text(*id));
            hash.update([0]);
        }
    }

    /// Adds a finding to `found` for each marker that the visible text of the page lacks.
    pub(crate) fn check(
        &self,
        url: &str,
        extraction: &Extraction,
        found: &mut Vec<(String, String)>,
    ) {
        let Some(wanted) = self.pages.get(url) else { return };
        let visible = extraction.shown_text();
        let places = PageTexts {
            visible: &visible,
            metas: extraction.meta_texts(),
            json_ld: extraction.facts.json_ld.iter().map(String::as_str).collect(),
        };
        self.report(wanted, &places, found);
    }

    /// Adds a finding to `found` for each marker that the text of a JSON Lines page lacks.
    pub(crate) fn check_line(&self, url: &str, page: &Page<'_>, found: &mut Vec<(String, String)>) {
        let Some(wanted) = self.pages.get(url) else { return };
        let text = page.to_text();
        self.report(wanted, &PageTexts { visible: &text, ..PageTexts::default() }, found);
    }

    fn report(
        &self,
        wanted: &[(usize, String)],
        places: &PageTexts<'_>,
        found: &mut Vec<(String, String)>,
    ) {
        let ids: Vec<usize> = wanted.iter().map(|(id, _)| *id).collect();
        for ((id, name), status) in wanted.iter().zip(self.markers.classify(&ids, places)) {
            let how = match status {
                MarkerStatus::Visible => continue,
                MarkerStatus::Near(text) => {
                    format!("the page has {} instead", rutter_finding::quoted(&text))
                }
                MarkerStatus::MetaOnly => "only a meta element has it".to_owned(),
                MarkerStatus::JsonLdOnly => "only JSON-LD has it".to_owned(),
                MarkerStatus::Absent => "the page does not have it".to_owned(),
            };
            let marker = rutter_finding::quoted(self.markers.text(*id));
            let name = rutter_finding::visible(name);
            found.push((
                rules::MARKER.code.to_owned(),
                format!("`{name}`: {marker} is not visible; {how}"),
            ));
        }
    }
}
