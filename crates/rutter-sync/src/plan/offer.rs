//! What a site offers: its adverts, sorted, with the codings of one collection
//! together.

use std::collections::BTreeMap;

use rutter_page::Timestamp;
use rutter_scp::advert;

/// Collections by section. The order of adverts does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offer {
    sections: BTreeMap<String, BTreeMap<Key, Collection>>,
    /// Hours between two updates of a section, where the site says so.
    intervals: BTreeMap<String, u64>,
}

/// Update interval of a section that names none, in hours.
const UNKNOWN_INTERVAL: u64 = 30 * 24;

/// What makes two adverts the same collection in two codings: made at the same
/// moment, of the same span, with as many pages.
type Key = (Timestamp, Option<Timestamp>, u64);

/// A collection in one coding or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Where a delta begins; `None` for snapshots.
    pub since: Option<Timestamp>,
    /// When it was made.
    pub generated: Timestamp,
    /// Until when it can be had.
    pub expires: Timestamp,
    /// Pages in it.
    pub pages: u64,
    /// The same in different codings, by address.
    pub files: BTreeMap<String, File>,
}

/// One coding of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its size, as advertised.
    pub size: u64,
}

impl Offer {
    /// What adverts offer.
    pub fn of_adverts<'a>(adverts: impl IntoIterator<Item = &'a advert::Collection>) -> Self {
        let mut offer = Self::default();
        for advert in adverts {
            offer.add(advert);
        }
        offer
    }

    /// Adds what one advert offers.
    pub fn add(&mut self, advert: &advert::Collection) {
        let advert::Collection { section, kind, url, generated, expires, pages, size, .. } = advert;
        let (generated, expires, pages, size) = (*generated, *expires, *pages, *size);
        let since = kind.since();
        let collections = self.sections.entry(section.clone()).or_default();
        let collection = collections.entry((generated, since, pages)).or_insert_with(|| {
            Collection { since, generated, expires, pages, files: BTreeMap::new() }
        });
        // Until any of them says it is over.
        collection.expires = collection.expires.min(expires);
        // One address, two sizes: the larger is believed, whatever came first.
        let file = collection.files.entry(url.clone()).or_insert(File { size });
        file.size = file.size.max(size);
    }

    /// Notes how often a section is updated: its `updateFreq`.
    pub fn note_update(&mut self, section: &str, update_freq: &str) {
        let hours = match update_freq {
            "hourly" => 1,
            "daily" => 24,
            "weekly" => 7 * 24,
            _ => UNKNOWN_INTERVAL,
        };
        self.intervals.insert(section.to_owned(), hours);
    }

    /// Hours between two updates of a section.
    pub(crate) fn interval(&self, section: &str) -> u64 {
        self.intervals.get(section).copied().unwrap_or(UNKNOWN_INTERVAL)
    }

    /// The sections that have adverts, by name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }

    /// The collections of a section, oldest first.
    pub fn collections(&self, section: &str) -> impl Iterator<Item = &Collection> + Clone {
        self.sections.get(section).into_iter().flat_map(BTreeMap::values)
    }
}
