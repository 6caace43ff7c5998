//! What is fetched of a live site, and in which order: what tells of the rest
//! first, then what was told of, then some pages.

use std::collections::{BTreeMap, HashSet};

use rutter_fetch::{FetchError, What};
use rutter_scp::Kind;
use rutter_scp::advert::{self, Advert, Collection};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{Item, Limits, Reader};
use rutter_spxi::{INDEX, packet_addresses, read_index, without_fragment};

use super::{Said, Visit};

/// What the sitemaps say.
#[derive(Default)]
struct Listing {
    pages: Vec<String>,
    children: Vec<String>,
    collections: Vec<Collection>,
}

impl Visit<'_> {
    /// Fetches everything that is wanted.
    pub(super) async fn all(&mut self) -> Result<(), FetchError> {
        let home = self.place.home.clone();
        let robots = self.fetch(&home.join("robots.txt"), What::Robots, Said::Guessed).await?;
        let robots = Robots::parse(&robots.unwrap_or_default());
        let named: Vec<String> = robots.sitemaps().map(|(_, url)| url.to_owned()).collect();
        let listing = self.sitemaps(&named).await?;
        for (name, what) in [
            ("llms.txt", What::Llms),
            (".well-known/arc-policy.json", What::Policy),
            ("arc-sitemap.jsonld", What::Arc),
        ] {
            self.fetch(&home.join(name), what, Said::Guessed).await?;
        }
        self.arc(&named).await?;
        self.collections(&listing.collections).await?;
        let entities = self.index().await?;
        self.fetch(&home.join(""), What::Page, Said::Announced).await?;
        let wanted = sample(&listing.pages, self.bounds.pages);
        for url in entities.iter().take(self.bounds.pages).chain(&wanted) {
            self.fetch(url, What::Page, Said::Announced).await?;
        }
        Ok(())
    }

    async fn sitemaps(&mut self, named: &[String]) -> Result<Listing, FetchError> {
        let main = self.place.home.join("sitemap.xml");
        let mut listing = Listing::default();
        let mut waiting: Vec<(String, Said)> = Vec::new();
        let is_xml = |url: &&String| !matches!(url.rsplit_once('.'), Some((_, "json" | "yaml")));
        for url in named.iter().filter(is_xml).rev() {
            waiting.push((url.clone(), Said::Announced));
        }
        if !named.contains(&main) {
            waiting.push((main.clone(), Said::Guessed));
        }
        let mut n_read = 0;
        while let Some((url, said)) = waiting.pop() {
            if self.asked.contains(&url) {
                continue;
            }
            if self.bounds.sitemaps <= n_read {
                waiting.push((url, said));
                break;
            }
            n_read += 1;
            let Some(text) = self.fetch(&url, What::Sitemap, said).await? else { continue };
            read(&text, &mut listing);
            for child in std::mem::take(&mut listing.children) {
                waiting.push((child, Said::Announced));
            }
            if n_read == 1 {
                let known = self.last_validators.clone();
                self.ask_again(&url, What::Sitemap, known).await?;
            }
        }
        waiting.retain(|(url, _)| !self.asked.contains(url));
        if !waiting.is_empty() {
            self.cut(waiting.len(), "sitemaps", "--sitemaps");
            self.unseen.extend(waiting.into_iter().map(|(url, _)| (What::Sitemap, url)));
        }
        Ok(listing)
    }

    async fn arc(&mut self, named: &[String]) -> Result<(), FetchError> {
        let home = self.place.home.clone();
        let main = home.join("arc-sitemap.json");
        let said = if named.contains(&main) { Said::Announced } else { Said::Guessed };
        let Some(text) = self.fetch(&main, What::Arc, said).await? else { return Ok(()) };
        for name in [".well-known/arc-sitemap.json", "arc-sitemap.yaml"] {
            self.fetch(&home.join(name), What::Arc, Said::Guessed).await?;
        }
        let mut reader = rutter_arc::Reader::new(text.as_slice(), rutter_arc::Limits::USUAL);
        while let Ok(Some(())) = reader.next(&mut (), |_| ()) {}
        let Some(deltas) = reader.head().deltas.clone() else { return Ok(()) };
        // The others are as these are.
        for day in [&deltas.to, &deltas.from] {
            let url = deltas.template.replace("YYYY-MM-DD", day);
            self.fetch(&url, What::Arc, Said::Announced).await?;
        }
        Ok(())
    }

    /// The newest snapshot of each section and what came after it, each in the
    /// smallest coding. A section is fetched whole or not at all: the first half
    /// of it would tell of pages as they were.
    async fn collections(&mut self, offered: &[Collection]) -> Result<(), FetchError> {
        let mut sections: BTreeMap<&str, Vec<&Collection>> = BTreeMap::new();
        for one in offered {
            sections.entry(&one.section).or_default().push(one);
        }
        let (mut n_wanted, mut n_unseen) = (0, 0);
        let mut wanted: Vec<String> = Vec::new();
        for mut all in sections.into_values() {
            all.sort_by_key(|one| (one.generated, one.size));
            let newest = all.iter().rev().find(|one| one.kind == Kind::Snapshot);
            let Some(start) = newest.map(|one| one.generated) else { continue };
            let mut last = None;
            let mut of_section: Vec<String> = Vec::new();
            for one in all {
                let is_snapshot = one.kind == Kind::Snapshot;
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
                self.unseen.extend(of_section.into_iter().map(|url| (What::Collection, url)));
            }
        }
        if 0 < n_unseen {
            self.cut(n_unseen, "collections", "--collections");
        }
        for url in wanted {
            self.fetch(&url, What::Collection, Said::Announced).await?;
        }
        Ok(())
    }

    /// The index and its packets; gives the pages of its entities.
    async fn index(&mut self) -> Result<Vec<String>, FetchError> {
        let url = self.place.home.join(INDEX);
        let Some(text) = self.fetch(&url, What::SpxiIndex, Said::Guessed).await? else {
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
            self.fetch(packet, What::SpxiPacket, Said::Announced).await?;
        }
        if self.bounds.packets < packets.len() {
            self.cut(packets.len() - self.bounds.packets, "packets", "--packets");
        }
        pages.retain(|page| named.insert(page.clone()));
        Ok(pages)
    }
}

/// Reads a sitemap; what is wrong with it is judged later.
fn read(text: &[u8], listing: &mut Listing) {
    let mut reader = Reader::new(text, Limits::USUAL);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        match item {
            Item::Url(entry) => listing.pages.push(entry.loc),
            Item::Child(child) => listing.children.push(child.loc),
            Item::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                let attributes = foreign.attributes.iter();
                let attributes: Vec<(&str, &str)> =
                    attributes.map(|(key, value)| (key.as_str(), value.as_str())).collect();
                let advert = Advert::read(&foreign.name, &attributes, &foreign.text);
                if let Some(Ok(Advert::Collection(offer))) = advert {
                    listing.collections.push(offer);
                }
            }
            Item::Foreign(_) => {}
        }
    }
}

/// So many of the pages, from all over the list.
fn sample(pages: &[String], most: usize) -> Vec<String> {
    if pages.len() <= most {
        return pages.to_vec();
    }
    let at = |n: usize| n * pages.len() / most;
    (0..most).filter_map(|n| pages.get(at(n)).cloned()).collect()
}
