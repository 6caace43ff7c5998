//! Chooses the files to fetch from a live site: first the files that announce other files, then the
//! announced files, then some pages.

use std::collections::{BTreeMap, HashSet};

use rutter_fetch::{FetchError, ResourceKind};
use rutter_robots::RobotsTxt;
use rutter_scp::CollectionKind;
use rutter_scp::advert::{self, Advert, AdvertisedCollection};
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};
use rutter_spxi::{INDEX_FILE, packet_addresses, read_index, without_fragment};

use super::{FileAnnouncement, LiveDownload};

/// The content of the sitemaps.
#[derive(Default)]
struct SitemapContents {
    pages: Vec<String>,
    children: Vec<String>,
    collections: Vec<AdvertisedCollection>,
}

impl LiveDownload<'_> {
    /// Fetches all chosen files.
    pub(super) async fn all(&mut self) -> Result<(), FetchError> {
        let home = self.place.home.clone();
        let robots = self
            .fetch(&home.join("robots.txt"), ResourceKind::Robots, FileAnnouncement::Guessed)
            .await?;
        let robots = RobotsTxt::parse(&robots.unwrap_or_default());
        let named: Vec<String> = robots.sitemaps().map(|(_, url)| url.to_owned()).collect();
        let listing = self.sitemaps(&named).await?;
        for (name, what) in [
            ("llms.txt", ResourceKind::Llms),
            (".well-known/arc-policy.json", ResourceKind::Policy),
            ("arc-sitemap.jsonld", ResourceKind::Arc),
        ] {
            self.fetch(&home.join(name), what, FileAnnouncement::Guessed).await?;
        }
        self.arc(&named).await?;
        self.collections(&listing.collections).await?;
        let entities = self.index().await?;
        self.fetch(&home.join(""), ResourceKind::Page, FileAnnouncement::Announced).await?;
        let wanted = sample(&listing.pages, self.bounds.pages);
        for url in entities.iter().take(self.bounds.pages).chain(&wanted) {
            self.fetch(url, ResourceKind::Page, FileAnnouncement::Announced).await?;
        }
        Ok(())
    }

    async fn sitemaps(&mut self, named: &[String]) -> Result<SitemapContents, FetchError> {
        let main = self.place.home.join("sitemap.xml");
        let mut listing = SitemapContents::default();
        let mut waiting: Vec<(String, FileAnnouncement)> = Vec::new();
        let is_xml = |url: &&String| !matches!(url.rsplit_once('.'), Some((_, "json" | "yaml")));
        for url in named.iter().filter(is_xml).rev() {
            waiting.push((url.clone(), FileAnnouncement::Announced));
        }
        if !named.contains(&main) {
            waiting.push((main.clone(), FileAnnouncement::Guessed));
        }
        let mut n_read = 0;
        while let Some((url, announcement)) = waiting.pop() {
            if self.asked.contains(&url) {
                continue;
            }
            if self.bounds.sitemaps <= n_read {
                waiting.push((url, announcement));
                break;
            }
            n_read += 1;
            let Some(text) = self.fetch(&url, ResourceKind::Sitemap, announcement).await? else {
                continue;
            };
            read(&text, &mut listing);
            for child in std::mem::take(&mut listing.children) {
                waiting.push((child, FileAnnouncement::Announced));
            }
            if n_read == 1 {
                let known = self.last_validators.clone();
                self.ask_again(&url, ResourceKind::Sitemap, known).await?;
            }
        }
        waiting.retain(|(url, _)| !self.asked.contains(url));
        if !waiting.is_empty() {
            self.report_limit(waiting.len(), "sitemaps");
            self.unseen.extend(waiting.into_iter().map(|(url, _)| (ResourceKind::Sitemap, url)));
        }
        Ok(listing)
    }

    async fn arc(&mut self, named: &[String]) -> Result<(), FetchError> {
        let home = self.place.home.clone();
        let main = home.join("arc-sitemap.json");
        let announcement = if named.contains(&main) {
            FileAnnouncement::Announced
        } else {
            FileAnnouncement::Guessed
        };
        let Some(text) = self.fetch(&main, ResourceKind::Arc, announcement).await? else {
            return Ok(());
        };
        for name in [".well-known/arc-sitemap.json", "arc-sitemap.yaml"] {
            self.fetch(&home.join(name), ResourceKind::Arc, FileAnnouncement::Guessed).await?;
        }
        let mut reader = rutter_arc::ArcReader::new(text.as_slice(), rutter_arc::Limits::DEFAULT);
        while let Ok(Some(())) = reader.next(&mut (), |_| ()) {}
        let Some(deltas) = reader.head().deltas.clone() else { return Ok(()) };
        // Fetch only the newest and the oldest announced delta.
        for day in [&deltas.to, &deltas.from] {
            let url = deltas.template.replace("YYYY-MM-DD", day);
            self.fetch(&url, ResourceKind::Arc, FileAnnouncement::Announced).await?;
        }
        Ok(())
    }

    /// Fetches the newest snapshot of each section and the deltas after it, each in the smallest
    /// coding. A section is fetched completely or not at all, because an incomplete section would
    /// contain outdated pages.
    async fn collections(&mut self, offered: &[AdvertisedCollection]) -> Result<(), FetchError> {
        let mut sections: BTreeMap<&str, Vec<&AdvertisedCollection>> = BTreeMap::new();
        for one in offered {
            sections.entry(&one.section).or_default().push(one);
        }
        let (mut n_wanted, mut n_unseen) = (0, 0);
        let mut wanted: Vec<String> = Vec::new();
        for mut all in sections.into_values() {
            all.sort_by_key(|one| (one.generated, one.size));
            let newest = all.iter().rev().find(|one| one.kind == CollectionKind::Snapshot);
            let Some(start) = newest.map(|one| one.generated) else { continue };
            let mut last = None;
            let mut of_section: Vec<String> = Vec::new();
            for one in all {
                let is_snapshot = one.kind == CollectionKind::Snapshot;
                let is_used =
                    if is_snapshot { one.generated == start } else { start < one.generated };
                if is_used && last != Some((one.generated, is_snapshot)) {
                    of_section.push(one.url.clone());
                    last = Some((one.generated, is_snapshot));
                }
            }
            if n_wanted + of_section.len() <= self.bounds.collections {
                n_wanted += of_section.len();
                wanted.extend(of_section);
            } else {
                n_unseen += of_section.len();
                self.unseen
                    .extend(of_section.into_iter().map(|url| (ResourceKind::Collection, url)));
            }
        }
        if 0 < n_unseen {
            self.report_limit(n_unseen, "collections");
        }
        for url in wanted {
            self.fetch(&url, ResourceKind::Collection, FileAnnouncement::Announced).await?;
        }
        Ok(())
    }

    /// Fetches the semantic index and its packets; returns the URLs of the pages of its entities.
    async fn index(&mut self) -> Result<Vec<String>, FetchError> {
        let url = self.place.home.join(INDEX_FILE);
        let Some(text) =
            self.fetch(&url, ResourceKind::SpxiIndex, FileAnnouncement::Guessed).await?
        else {
            return Ok(Vec::new());
        };
        let Ok(index) = read_index(&text, &mut ()) else { return Ok(Vec::new()) };
        let mut pages: Vec<String> = Vec::new();
        let mut packets: Vec<String> = Vec::new();
        for entity in &index.entities {
            pages.extend(entity.id.as_deref().map(|id| without_fragment(id).to_owned()));
            if let Some(packet) = &entity.packet_ref {
                packets.extend(packet_addresses(entity, None).into_iter().find(|it| it == packet));
            }
        }
        let mut named = HashSet::new();
        packets.retain(|packet| named.insert(packet.clone()));
        for packet in packets.iter().take(self.bounds.packets) {
            self.fetch(packet, ResourceKind::SpxiPacket, FileAnnouncement::Announced).await?;
        }
        if self.bounds.packets < packets.len() {
            self.report_limit(packets.len() - self.bounds.packets, "packets");
        }
        pages.retain(|page| named.insert(page.clone()));
        Ok(pages)
    }
}

/// Reads a sitemap. Its problems are reported later, when all files are checked.
fn read(text: &[u8], listing: &mut SitemapContents) {
    let mut reader = SitemapReader::new(text, SitemapLimits::USUAL);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        match item {
            SitemapItem::Url(entry) => listing.pages.push(entry.loc),
            SitemapItem::Child(child) => listing.children.push(child.loc),
            SitemapItem::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                let attributes = foreign.attributes.iter();
                let attributes: Vec<(&str, &str)> =
                    attributes.map(|(key, value)| (key.as_str(), value.as_str())).collect();
                let advert = Advert::read(&foreign.name, &attributes, &foreign.text);
                if let Some(Ok(Advert::Collection(offer))) = advert {
                    listing.collections.push(offer);
                }
            }
            SitemapItem::Foreign(_) => {}
        }
    }
}

/// Returns an evenly distributed sample of at most `most` pages.
fn sample(pages: &[String], most: usize) -> Vec<String> {
    if pages.len() <= most {
        return pages.to_vec();
    }
    let at = |n: usize| n * pages.len() / most;
    (0..most).filter_map(|n| pages.get(at(n)).cloned()).collect()
}
