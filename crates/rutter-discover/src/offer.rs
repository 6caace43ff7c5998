//! Everything that was said, put together.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rutter_finding::{Finding, FindingSink, Place, counted, quoted};
use rutter_page::Timestamp;
use rutter_scp::Kind;
use rutter_scp::advert::{Advert, Collection};
use rutter_scp::rules as scp_rules;
use serde::Serialize;

use crate::said::{ArcSaid, Clue, Said};

/// What a site offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Offer {
    /// Collections of SCP.
    pub scp: ScpOffer,
    /// Sitemaps with pages.
    pub sitemaps: Vec<SitemapOffer>,
    /// The ARC sitemap.
    pub arc: Option<ArcOffer>,
    /// Address of the ARC policy.
    pub policy: Option<String>,
    /// The SPXI index.
    pub spxi: Option<SpxiOffer>,
    /// llms.txt.
    pub llms: Option<LlmsOffer>,
    /// Links of the home page to pages of the same host.
    pub n_links: u64,
    /// The home page in Markdown.
    pub markdown: Option<String>,
}

/// Collections of SCP, over all sitemaps.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScpOffer {
    /// Version of the protocol, as written.
    pub version: Option<String>,
    /// The sections.
    pub sections: Vec<SectionOffer>,
    /// What can be had, newest first, snapshots before deltas.
    pub collections: Vec<CollectionOffer>,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionOffer {
    /// Its name.
    pub name: String,
    /// How often it changes.
    pub update: String,
    /// How many pages it has.
    pub pages: u64,
}

/// A collection in one or several codings (D06).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectionOffer {
    /// Its section.
    pub section: String,
    /// Lower bound of the changes; `None` for a snapshot.
    pub since: Option<Timestamp>,
    /// Label of the span a delta covers.
    pub period: Option<String>,
    /// When it was made.
    pub generated: Timestamp,
    /// Until when it can be had.
    pub expires: Timestamp,
    /// Its pages.
    pub pages: u64,
    /// Its checksum, where the sitemap has one (D04).
    pub checksum: Option<String>,
    /// Where it can be had, in the order of the sitemap.
    pub files: Vec<FileOffer>,
}

/// One file of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileOffer {
    /// Where.
    pub url: String,
    /// Its size on the wire.
    pub size: u64,
    /// Whether it lies where it may be fetched from (D13).
    pub is_allowed: bool,
}

/// A sitemap with pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SitemapOffer {
    /// Where.
    pub url: String,
    /// How it became known.
    pub by: Clue,
    /// Its entries.
    pub n_urls: u64,
    /// Whether it ended early.
    pub is_truncated: bool,
}

/// The ARC sitemap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArcOffer {
    /// Where.
    pub url: String,
    /// How it became known.
    pub by: Clue,
    /// What it says beside its pages.
    #[serde(flatten)]
    pub said: ArcSaid,
}

/// The SPXI index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpxiOffer {
    /// Where.
    pub url: String,
    /// Every way in which it became known.
    pub by: Vec<Clue>,
}

/// llms.txt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LlmsOffer {
    /// Where.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Its links.
    pub n_links: u64,
}

/// The cheapest honest way to read a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Collections.
    Scp,
    /// Pages by the ARC sitemap, which says what changed.
    Arc,
    /// Pages by sitemaps.
    Sitemap,
    /// Pages by links from the home page.
    Links,
    /// Pages by llms.txt.
    Llms,
    /// Nothing to begin with.
    Nothing,
}

impl Rung {
    /// In a few words.
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

impl Offer {
    /// Which way would be taken at this time, and why.
    pub fn rung(&self, now: Timestamp) -> (Rung, String) {
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
            return (Rung::Scp, format!("{snapshots} and {deltas}"));
        }
        let lack = match self.scp.collections.len() {
            0 => "no collections",
            _ => "no collection that can be had",
        };
        if let Some(arc) = self.arc.as_ref().filter(|arc| 0 < arc.said.open) {
            return (Rung::Arc, format!("{lack}; {} pages in the ARC sitemap", arc.said.open));
        }
        let n_urls: u64 = self.sitemaps.iter().map(|sitemap| sitemap.n_urls).sum();
        if 0 < n_urls {
            return (Rung::Sitemap, format!("{lack}; {n_urls} addresses in sitemaps"));
        }
        if 0 < self.n_links {
            return (
                Rung::Links,
                format!("no sitemap; {} on the home page", counted(self.n_links, "link")),
            );
        }
        match &self.llms {
            Some(llms) if 0 < llms.n_links => {
                (Rung::Llms, format!("no sitemap, no links; {} links in llms.txt", llms.n_links))
            }
            _ => (Rung::Nothing, "no collections, no sitemap, no links, no llms.txt".to_owned()),
        }
    }
}

/// An offer while it is put together.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    offer: Offer,
    /// Names of sections.
    sections: BTreeSet<String>,
    /// Addresses of files.
    files: HashSet<String>,
    /// Where a collection stands, by what makes two files one (D06).
    places: BTreeMap<(String, Option<Timestamp>, Timestamp), usize>,
}

impl Gathered {
    /// Takes what one file said.
    pub(crate) fn take(
        &mut self,
        url: &str,
        by: Clue,
        said: &Said,
        is_allowed: &dyn Fn(&str) -> bool,
        sink: &mut dyn FindingSink,
    ) {
        match said {
            Said::Sitemap(said) => {
                for (name, attributes, text) in &said.adverts {
                    self.take_advert(name, attributes, text, is_allowed, sink);
                }
                if said.n_children == 0 {
                    self.offer.sitemaps.push(SitemapOffer {
                        url: url.to_owned(),
                        by,
                        n_urls: said.n_urls,
                        is_truncated: said.is_truncated,
                    });
                }
            }
            Said::Arc(said) => {
                let offer = ArcOffer { url: url.to_owned(), by, said: said.clone() };
                self.offer.arc.get_or_insert(offer);
            }
            Said::Policy => {
                self.offer.policy.get_or_insert_with(|| url.to_owned());
            }
            Said::Spxi => {
                let spxi = self
                    .offer
                    .spxi
                    .get_or_insert_with(|| SpxiOffer { url: url.to_owned(), by: vec![] });
                if !spxi.by.contains(&by) {
                    spxi.by.push(by);
                }
            }
            Said::Llms(said) => {
                let n_links = said.links.len() as u64;
                let title = said.title.clone();
                self.offer.llms.get_or_insert(LlmsOffer { url: url.to_owned(), title, n_links });
            }
            Said::Home(said) => {
                self.offer.n_links = said.n_links;
                self.offer.markdown.clone_from(&said.markdown);
            }
            Said::ArcPointer { .. } => {}
        }
    }

    fn take_advert(
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
                    found(&crate::rules::FOREIGN_COLLECTION, quoted(&collection.url));
                }
                if !self.add(collection, is_fine) {
                    found(&scp_rules::ADVERT_TWICE, String::new());
                }
            }
            Some(Ok(_)) => {}
        }
    }

    /// Adds a file to its collection (D06); false where it is there already.
    fn add(&mut self, file: Collection, is_allowed: bool) -> bool {
        if !self.files.insert(file.url.clone()) {
            return false;
        }
        let since = match file.kind {
            Kind::Snapshot => None,
            Kind::Delta { since } => Some(since),
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

    /// Puts everything into its order.
    pub(crate) fn finish(self) -> Offer {
        let mut offer = self.offer;
        offer.scp.collections.sort_by(|a, b| {
            let sections = a.section.cmp(&b.section);
            let kinds = a.since.is_some().cmp(&b.since.is_some());
            sections.then(kinds).then(b.generated.cmp(&a.generated)).then(b.since.cmp(&a.since))
        });
        offer
    }
}
