//! The collections that a site offers, by section.
//!
//! Input: adverts in any order. Output: [`OfferedCollection`]s, oldest first, each with the
//! files of all its codings.

use std::collections::BTreeMap;

use rutter_page::Timestamp;
use rutter_scp::advert;

/// The collections that a site offers, by section. The order in which adverts are added
/// does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOffer {
    sections: BTreeMap<String, BTreeMap<CollectionKey, OfferedCollection>>,
    /// Hours between two updates, for sections with a stated update frequency.
    intervals: BTreeMap<String, u64>,
}

/// Assumed hours between two updates of a section without a stated update frequency.
const UNKNOWN_INTERVAL: u64 = 30 * 24;

/// Key of a collection: `generated`, start of the delta, and number of pages. Adverts with
/// equal keys describe codings of one collection.
type CollectionKey = (Timestamp, Option<Timestamp>, u64);

/// An offered collection, with its files in one or more codings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedCollection {
    /// Start of the period that a delta covers; `None` for a snapshot.
    pub since: Option<Timestamp>,
    /// When the collection was generated.
    pub generated: Timestamp,
    /// When the collection expires.
    pub expires: Timestamp,
    /// Advertised number of pages.
    pub pages: u64,
    /// Files of the collection by URL, one per coding.
    pub files: BTreeMap<String, OfferedFile>,
}

/// One file of an offered collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedFile {
    /// Advertised size in bytes.
    pub size: u64,
}

impl PlanOffer {
    /// Creates an offer from the adverts of a site.
    pub fn of_adverts<'a>(
        adverts: impl IntoIterator<Item = &'a advert::AdvertisedCollection>,
    ) -> Self {
        let mut offer = Self::default();
        for advert in adverts {
            offer.add(advert);
        }
        offer
    }

    /// Adds the file that an advert describes.
    pub fn add(&mut self, advert: &advert::AdvertisedCollection) {
        let advert::AdvertisedCollection {
            section,
            kind,
            url,
            generated,
            expires,
            pages,
            size,
            ..
        } = advert;
        let (generated, expires, pages, size) = (*generated, *expires, *pages, *size);
        let since = kind.since();
        let collections = self.sections.entry(section.clone()).or_default();
        let collection = collections.entry((generated, since, pages)).or_insert_with(|| {
            OfferedCollection { since, generated, expires, pages, files: BTreeMap::new() }
        });
        // A collection expires at the earliest expiry of its codings.
        collection.expires = collection.expires.min(expires);
        // If adverts give two sizes for a URL, the larger size is used, so that the order
        // of adverts does not matter.
        let file = collection.files.entry(url.clone()).or_insert(OfferedFile { size });
        file.size = file.size.max(size);
    }

    /// Sets the update frequency of a section, from the value of `updateFreq`.
    pub fn note_update(&mut self, section: &str, update_freq: &str) {
        let hours = match update_freq {
            "hourly" => 1,
            "daily" => 24,
            "weekly" => 7 * 24,
            _ => UNKNOWN_INTERVAL,
        };
        self.intervals.insert(section.to_owned(), hours);
    }

    /// Returns the hours between two updates of a section.
    pub(crate) fn interval(&self, section: &str) -> u64 {
        self.intervals.get(section).copied().unwrap_or(UNKNOWN_INTERVAL)
    }

    /// Returns the names of the sections with adverts, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }

    /// Returns the collections of a section, oldest first.
    pub fn collections(&self, section: &str) -> impl Iterator<Item = &OfferedCollection> + Clone {
        self.sections.get(section).into_iter().flat_map(BTreeMap::values)
    }
}
