//! The SPXI layer: the index, and the packets of its entities.
//!
//! The layer contains no statement about an entity that the site owner did not declare, and names no page that does not
//! exist.

pub(crate) mod index;
pub(crate) mod packets;

use std::collections::BTreeMap;

use crate::entities::page_of;
use crate::plan::SpxiSettings;

/// `hreflang` value of the links in the sitemap that lead to the SPXI index.
pub(crate) const HREFLANG: &str = "x-spxi";

/// Positions of the declared entities by the URL of their page.
type EntitiesByPage = BTreeMap<String, Vec<usize>>;

fn entities_by_page(spxi: &SpxiSettings) -> EntitiesByPage {
    let mut pages = EntitiesByPage::new();
    for (at, declared) in spxi.entities.iter().enumerate() {
        pages.entry(page_of(&declared.entity)).or_default().push(at);
    }
    pages
}
