//! The markers of entities on their pages (rule 4 of SPXI, D70): looked for
//! while a page is read, all of the site's in one pass over its text.

use std::collections::BTreeMap;

use rutter_extract::Extraction;
use rutter_page::Page;
use rutter_spxi::MarkerStatus;
use rutter_survival::{Markers, Places};
use sha2::{Digest as _, Sha256};

use crate::plan::Plan;
use crate::rules;
use crate::spxi;

/// Every marker of the site, and the pages they belong to.
#[derive(Debug)]
pub(crate) struct Marked {
    markers: Markers,
    /// Markers by the address of a page, each with its entity's name.
    pages: BTreeMap<String, Vec<(usize, String)>>,
}

impl Marked {
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let entities = &spxi::declared(plan)?.entities;
        let mut pages: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        let mut texts = Vec::new();
        for declared in entities {
            let name = declared.entity.name.clone().unwrap_or_default();
            let page = pages.entry(spxi::page_of(&declared.entity)).or_default();
            for marker in &declared.entity.markers {
                page.push((texts.len(), name.clone()));
                texts.push(marker.as_str());
            }
        }
        Some(Self { markers: Markers::new(texts), pages })
    }

    /// What of it decides how a page is read.
    pub(crate) fn hash(&self, url: &str, hash: &mut Sha256) {
        for (id, name) in self.pages.get(url).into_iter().flatten() {
            hash.update(name);
            hash.update([0]);
            hash.update(self.markers.text(*id));
            hash.update([0]);
        }
    }

    /// Tells which markers of a page are not to be seen on it.
    pub(crate) fn look(&self, url: &str, seen: &Extraction, found: &mut Vec<(String, String)>) {
        let Some(wanted) = self.pages.get(url) else { return };
        let visible = seen.shown_text();
        let metas = seen.facts.metas.iter().map(|(_, content)| content.as_str());
        let places = Places {
            visible: &visible,
            metas: metas.chain([seen.page.title.as_ref()]).collect(),
            json_ld: seen.facts.json_ld.iter().map(String::as_str).collect(),
        };
        self.tell(wanted, &places, found);
    }

    /// The same for a page that comes without its HTML.
    pub(crate) fn look_at_line(
        &self,
        url: &str,
        page: &Page<'_>,
        found: &mut Vec<(String, String)>,
    ) {
        let Some(wanted) = self.pages.get(url) else { return };
        let text = page.to_text();
        self.tell(wanted, &Places { visible: &text, ..Places::default() }, found);
    }

    fn tell(
        &self,
        wanted: &[(usize, String)],
        places: &Places<'_>,
        found: &mut Vec<(String, String)>,
    ) {
        let ids: Vec<usize> = wanted.iter().map(|(id, _)| *id).collect();
        for ((id, name), status) in wanted.iter().zip(self.markers.look(&ids, places)) {
            let how = match status {
                MarkerStatus::Visible => continue,
                MarkerStatus::Near(text) => {
                    format!("stands there as {}", rutter_finding::quoted(&text))
                }
                MarkerStatus::MetaOnly => "stands in a meta element only".to_owned(),
                MarkerStatus::JsonLdOnly => "stands in JSON-LD only".to_owned(),
                MarkerStatus::Absent => "is not there".to_owned(),
            };
            let marker = rutter_finding::quoted(self.markers.text(*id));
            let name = rutter_finding::visible(name);
            found.push((rules::MARKER.code.to_owned(), format!("`{name}`: {marker} {how}")));
        }
    }
}
