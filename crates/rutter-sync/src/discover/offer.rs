//! The offer of a site, computed from the files that discovery parsed.
//!
//! Input: one [`ParsedFile`] after the other. Output: a [`SiteOffer`], and findings about
//! adverts that are malformed, repeated or for a host that is not allowed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rutter_finding::{Finding, FindingSink, Place, counted, quoted};
use rutter_page::Timestamp;
use rutter_scp::CollectionKind;
use rutter_scp::advert::{Advert, AdvertisedCollection};
use rutter_scp::rules as scp_rules;
use serde::Serialize;

use crate::discover::parsed_file::{DiscoverySource, ParsedArc, ParsedFile};

/// What a site offers to machines.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SiteOffer {
    /// SCP collections of the site.
    pub scp: ScpOffer,
    /// Sitemaps that list pages.
    pub sitemaps: Vec<SitemapOffer>,
    /// ARC sitemap of the site, if it has one.
    pub arc: Option<ArcOffer>,
    /// URL of the ARC policy.
    pub policy: Option<String>,
    /// SPXI index of the site, if it has one.
    pub spxi: Option<SpxiOffer>,
    /// llms.txt file of the site, if it has one.
    pub llms: Option<LlmsOffer>,
    /// Number of links from the home page to pages of the same host.
    pub n_links: u64,
    /// URL of the Markdown version of the home page.
    pub markdown: Option<String>,
}

/// SCP sections and collections that the sitemaps of a site announce.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScpOffer {
    /// Protocol version, as the sitemap states it.
    pub version: Option<String>,
    /// The announced sections.
    pub sections: Vec<SectionOffer>,
    /// The announced collections, sorted by section; in each section snapshots before
    /// deltas, newest first.
    pub collections: Vec<CollectionOffer>,
}

/// An SCP section, as a sitemap announces it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionOffer {
    /// Name of the section.
    pub name: String,
    /// Update frequency, as the sitemap states it.
    pub update: String,
    /// Number of pages of the section, as the sitemap states it.
    pub pages: u64,
}

/// A collection, published in one or more content codings (D06).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectionOffer {
    /// Name of the section of the collection.
    pub section: String,
    /// Time from which a delta contains changes; `None` for a snapshot.
    pub since: Option<Timestamp>,
    /// Name of the time span that a delta covers, as the sitemap states it.
    pub period: Option<String>,
    /// When the collection was generated.
    pub generated: Timestamp,
    /// When the collection expires.
    pub expires: Timestamp,
    /// Number of pages in the collection, as the sitemap states it.
    pub pages: u64,
    /// Checksum of the collection, if the sitemap states one (D04).
    pub checksum: Option<String>,
    /// Files of the collection, one per content coding, in the order of the sitemap.
    pub files: Vec<FileOffer>,
}

/// One file of a collection, in one content coding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileOffer {
    /// The URL.
    pub url: String,
    /// Size of the file in bytes, as transferred.
    pub size: u64,
    /// Whether the file may be fetched: its URL has an allowed scheme and a host of the
    /// site (D13).
    pub is_allowed: bool,
}

/// A sitemap that lists pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SitemapOffer {
    /// The URL.
    pub url: String,
    /// How the sitemap was discovered.
    #[serde(rename = "by")]
    pub source: DiscoverySource,
    /// Number of URLs that the sitemap lists.
    pub n_urls: u64,
    /// Whether only a part of the sitemap was read.
    pub is_truncated: bool,
}

/// ARC sitemap of a site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArcOffer {
    /// The URL.
    pub url: String,
    /// How the sitemap was discovered.
    #[serde(rename = "by")]
    pub source: DiscoverySource,
    /// Metadata and counts of the ARC sitemap.
    #[serde(flatten)]
    pub parsed: ParsedArc,
}

/// SPXI index of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpxiOffer {
    /// The URL.
    pub url: String,
    /// All ways in which the SPXI index was discovered.
    #[serde(rename = "by")]
    pub source: Vec<DiscoverySource>,
}

/// llms.txt file of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LlmsOffer {
    /// The URL.
    pub url: String,
    /// Title of the file.
    pub title: Option<String>,
    /// Number of links in the file.
    pub n_links: u64,
}

/// How a sync reads a site, best method first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessMethod {
    /// The sync fetches SCP collections.
    Scp,
    /// The sync fetches pages one by one; the ARC sitemap lists them with change dates.
    Arc,
    /// The sync fetches pages one by one; sitemaps list them.
    Sitemap,
    /// The sync fetches pages one by one; it follows links from the home page.
    Links,
    /// The sync fetches pages one by one; llms.txt links to them.
    Llms,
    /// The site offers nothing from which a sync could start.
    Nothing,
}

impl AccessMethod {
    /// Returns the name that JSON output uses for the access method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scp => "scp",
            Self::Arc => "arc",
            Self::Sitemap => "sitemap",
            Self::Links => "links",
            Self::Llms => "llms",
            Self::Nothing => "nothing",
        }
    }
}

impl SiteOffer {
    /// Returns the access method that a sync at the time `now` would use, and the reason
    /// for it.
    pub fn choose_method(&self, now: Timestamp) -> (AccessMethod, String) {
        let is_fit = |collection: &CollectionOffer| {
            collection.since.is_none()
                && now < collection.expires
                && collection.files.iter().any(|file| file.is_allowed)
        };
        let n_fit = self.scp.collections.iter().filter(|it| is_fit(it)).count();
        if 0 < n_fit {
            let deltas = self.scp.collections.iter().filter(|it| it.since.is_some()).count();
            let snapshots = counted(n_fit as u64, "snapshot");
            let deltas = counted(deltas as u64, "delta");
            return (AccessMethod::Scp, format!("{snapshots} and {deltas}"));
        }
        let lack = match self.scp.collections.len() {
            0 => "no collections",
            _ => "no usable collection",
        };
        if let Some(arc) = self.arc.as_ref().filter(|arc| 0 < arc.parsed.open) {
            return (
                AccessMethod::Arc,
                format!("{lack}; {} pages in the ARC sitemap", arc.parsed.open),
            );
        }
        let n_urls: u64 = self.sitemaps.iter().map(|sitemap| sitemap.n_urls).sum();
        if 0 < n_urls {
            return (AccessMethod::Sitemap, format!("{lack}; {n_urls} URLs in sitemaps"));
        }
        if 0 < self.n_links {
            return (
                AccessMethod::Links,
                format!("no sitemap; {} on the home page", counted(self.n_links, "link")),
            );
        }
        match &self.llms {
            Some(llms) if 0 < llms.n_links => (
                AccessMethod::Llms,
                format!("no sitemap, no links; {} links in llms.txt", llms.n_links),
            ),
            _ => (
                AccessMethod::Nothing,
                "no collections, no sitemap, no links, no llms.txt".to_owned(),
            ),
        }
    }
}

/// Builds a [`SiteOffer`] from one parsed file after the other.
#[derive(Debug, Default)]
pub(crate) struct OfferBuilder {
    offer: SiteOffer,
    /// Names of the sections that were added already.
    sections: BTreeSet<String>,
    /// URLs of the collection files that were added already.
    files: HashSet<String>,
    /// Index of each collection by section, start and time of generation. Files for which
    /// all three are equal are content codings of one collection (D06).
    places: BTreeMap<(String, Option<Timestamp>, Timestamp), usize>,
}

impl OfferBuilder {
    /// Adds the content of one parsed file to the offer.
    pub(crate) fn add_file(
        &mut self,
        url: &str,
        source: DiscoverySource,
        parsed: &ParsedFile,
        is_allowed: &dyn Fn(&str) -> bool,
        sink: &mut dyn FindingSink,
    ) {
        match parsed {
            ParsedFile::Sitemap(parsed) => {
                for (name, attributes, text) in &parsed.adverts {
                    self.add_advert(name, attributes, text, is_allowed, sink);
                }
                if parsed.n_children == 0 {
                    self.offer.sitemaps.push(SitemapOffer {
                        url: url.to_owned(),
                        source,
                        n_urls: parsed.n_urls,
                        is_truncated: parsed.is_truncated,
                    });
                }
            }
            ParsedFile::Arc(parsed) => {
                let offer = ArcOffer { url: url.to_owned(), source, parsed: parsed.clone() };
                self.offer.arc.get_or_insert(offer);
            }
            ParsedFile::Policy => {
                self.offer.policy.get_or_insert_with(|| url.to_owned());
            }
            ParsedFile::Spxi => {
                let spxi = self
                    .offer
                    .spxi
                    .get_or_insert_with(|| SpxiOffer { url: url.to_owned(), source: vec![] });
                if !spxi.source.contains(&source) {
                    spxi.source.push(source);
                }
            }
            ParsedFile::Llms(parsed) => {
                let n_links = parsed.links.len() as u64;
                let title = parsed.title.clone();
                self.offer.llms.get_or_insert(LlmsOffer { url: url.to_owned(), title, n_links });
            }
            ParsedFile::Home(parsed) => {
                self.offer.n_links = parsed.n_links;
                self.offer.markdown.clone_from(&parsed.markdown);
            }
            ParsedFile::ArcPointer { .. } => {}
        }
    }

    fn add_advert(
        &mut self,
        name: &str,
        attributes: &[(String, String)],
        text: &str,
        is_allowed: &dyn Fn(&str) -> bool,
        sink: &mut dyn FindingSink,
    ) {
        let attributes: Vec<(&str, &str)> =
            attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let mut found = |rule, detail: String| {
            sink.report(Finding::new(rule, Place::WHOLE, detail));
        };
        match Advert::read(name, &attributes, text) {
            None => found(&scp_rules::ADVERT_UNKNOWN, quoted(name)),
            Some(Err(error)) => {
                found(&scp_rules::ADVERT_MALFORMED, format!("scp:{name}: {error}"));
            }
            Some(Ok(Advert::Version(version))) => {
                let version = format!("{}.{}", version.major, version.minor);
                self.offer.scp.version.get_or_insert(version);
            }
            Some(Ok(Advert::Section(section))) => {
                if self.sections.insert(section.name.clone()) {
                    self.offer.scp.sections.push(SectionOffer {
                        name: section.name,
                        update: section.update.name().to_owned(),
                        pages: section.pages,
                    });
                }
            }
            Some(Ok(Advert::Collection(collection))) => {
                let is_fine = is_allowed(&collection.url);
                if !is_fine {
                    found(&crate::discover::rules::FOREIGN_COLLECTION, quoted(&collection.url));
                }
                if !self.add_collection_file(collection, is_fine) {
                    found(&scp_rules::ADVERT_TWICE, String::new());
                }
            }
            Some(Ok(_)) => {}
        }
    }

    /// Adds a file to its collection (D06) and returns whether its URL is new.
    fn add_collection_file(&mut self, file: AdvertisedCollection, is_allowed: bool) -> bool {
        if !self.files.insert(file.url.clone()) {
            return false;
        }
        let since = match file.kind {
            CollectionKind::Snapshot => None,
            CollectionKind::Delta { since } => Some(since),
        };
        let one = FileOffer { url: file.url, size: file.size, is_allowed };
        let collections = &mut self.offer.scp.collections;
        let place = self.places.entry((file.section.clone(), since, file.generated));
        let place = *place.or_insert(collections.len());
        if let Some(known) = collections.get_mut(place) {
            known.files.push(one);
            return true;
        }
        collections.push(CollectionOffer {
            section: file.section,
            since,
            period: file.period,
            generated: file.generated,
            expires: file.expires,
            pages: file.pages,
            checksum: file.checksum.map(|digest| digest.to_string()),
            files: vec![one],
        });
        true
    }

    /// Sorts the collections and returns the finished offer.
    pub(crate) fn finish(self) -> SiteOffer {
        let mut offer = self.offer;
        offer.scp.collections.sort_by(|a, b| {
            let sections = a.section.cmp(&b.section);
            let kinds = a.since.is_some().cmp(&b.since.is_some());
            sections.then(kinds).then(b.generated.cmp(&a.generated)).then(b.since.cmp(&a.since))
        });
        offer
    }
}
