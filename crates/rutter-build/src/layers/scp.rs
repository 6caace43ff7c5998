//! Publishes the collections, and announces them in a sitemap.
//!
//! Input: the publication record and the collections in the state folder. Output: staged files, and the `scp:` elements
//! for the sitemap, which may be a separate file (D16).

use std::path::Path;

use rutter_page::Timestamp;
use rutter_scp::advert::{self, Advert, AdvertisedCollection, UpdateFrequency};
use rutter_scp::{Coding, CollectionKind, FormatVersion};
use rutter_site::{LedgerReader, Owner, PageMetadata, Publication};
use rutter_sitemap::ForeignElement;

use super::sitemap::{SitemapFinish, SitemapLayout, SitemapWriter};
use super::{Layer, LayerInput, LayerOutput, OpenLayer};
use crate::address::SCP;
use crate::error::BuildError;
use crate::plan::BuildPlan;
use crate::rules;
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::stages::read::SectionTally;
use crate::staging::{PublishOrder, StageResult};

/// Publisher of the collections.
struct ScpLayer<'p> {
    input: &'p LayerInput<'p>,
}

/// Stages the collections, and opens the layer.
pub(crate) fn open<'p>(
    input: &'p LayerInput<'p>,
    out: &mut LayerOutput<'_>,
) -> Result<OpenLayer<'p>, BuildError> {
    for file in input.published.collections.iter().flat_map(|one| &one.files) {
        let source = input.paths.collections().join(&file.name);
        let name = format!("{SCP}/{}", file.name);
        let kind = (Owner::Rutter, PublishOrder::Collections);
        if out.stage.copy(kind, &name, &source, None)? == StageResult::ForeignFile {
            out.report(&name, &rules::FOREIGN_FILE, "");
        }
    }
    Ok(Box::new(ScpLayer { input }))
}

impl Layer for ScpLayer<'_> {
    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let layers = &self.input.plan.layers;
        if layers.separate_sitemap && layers.collections {
            self.write_sitemap(out)?;
        }
        Ok(())
    }
}

impl ScpLayer<'_> {
    /// Stages a separate sitemap that announces the collections; its entries are the index pages of
    /// the sections (D16).
    fn write_sitemap(&self, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let LayerInput { plan, published, inventory, .. } = self.input;
        let foreign = adverts(plan, published, self.input.tallies);
        let previous = &inventory.previous_sitemap;
        let mut sitemap = SitemapWriter::new(plan, previous, foreign, SitemapLayout::Together);
        let sections = &published.sections;
        let start = |name: &&str| match sections.prefix(name) {
            Some(prefix) => format!("{}{prefix}", plan.base.origin()),
            None => plan.base.as_str().to_owned(),
        };
        let starts: Vec<String> = sections.names().iter().map(start).collect();
        let mut rows = LedgerReader::open(&self.input.draft.ledger())?;
        let mut first = None;
        let mut n_entries = 0;
        while let Some(row) = rows.next()? {
            // The index page of a section may have no final slash.
            let is_start =
                |start: &String| *start == row.url || start.strip_suffix('/') == Some(&row.url);
            if row.is_public() && starts.iter().any(is_start) {
                sitemap.page(&row, &PageMetadata::default(), None, out.stage)?;
                n_entries += 1;
            }
            if first.is_none() && row.is_public() {
                first = Some(row);
            }
        }
        // The sitemap schema requires at least one entry, so the first public page is listed.
        if let (0, Some(row)) = (n_entries, first) {
            sitemap.page(&row, &PageMetadata::default(), None, out.stage)?;
        }
        let site_sitemap = SiteSitemap::default();
        let finish =
            SitemapFinish { name: "sitemap-scp.xml", site_sitemap: &site_sitemap, parts: &[] };
        let finished = sitemap.finish(finish, out.stage)?;
        if let Some((blocked, why)) = finished.blocked {
            out.report(&blocked, &rules::FOREIGN_FILE, why);
        }
        out.links.sitemaps.extend(finished.name);
        Ok(())
    }
}

/// Returns the `scp:` elements of the sitemap: one element per coding (D06).
pub(crate) fn adverts(
    plan: &BuildPlan,
    published: &Publication,
    tallies: &[SectionTally],
) -> Vec<ForeignElement> {
    let mut adverts = vec![Advert::Version(FormatVersion::CURRENT)];
    let mut codings: Vec<String> = Vec::new();
    for file in published.collections.iter().flat_map(|one| &one.files) {
        let coding = Coding::from_file_name(Path::new(&file.name)).and_then(Coding::name);
        if let Some(coding) = coding
            && !codings.iter().any(|known| known == coding)
        {
            codings.push(coding.to_owned());
        }
    }
    if !codings.is_empty() {
        codings.sort_by(|one, other| other.cmp(one));
        adverts.push(Advert::Compression(codings));
    }
    for tally in tallies {
        if published.last(&tally.name).is_some() {
            adverts.push(Advert::Section(advert::AdvertisedSection {
                name: tally.name.clone(),
                update: plan.update,
                pages: tally.pages,
                is_estimate: false,
            }));
        }
    }
    // Collections of a section that no longer exists stay published for readers with an older
    // sitemap, but the new sitemap does not announce them.
    let is_there = |name: &str| tallies.iter().any(|tally| tally.name == name);
    let mut collections: Vec<_> =
        published.collections.iter().filter(|one| is_there(&one.section)).collect();
    collections.sort_by(|one, other| {
        (&one.section, !one.is_snapshot(), one.generated).cmp(&(
            &other.section,
            !other.is_snapshot(),
            other.generated,
        ))
    });
    for one in collections {
        for file in &one.files {
            let kind =
                one.since.map_or(CollectionKind::Snapshot, |since| CollectionKind::Delta { since });
            adverts.push(Advert::Collection(AdvertisedCollection {
                section: one.section.clone(),
                kind,
                period: one.since.map(|_| period(plan, one.generated)),
                url: plan.base.join(&format!("{SCP}/{}", file.name)),
                generated: one.generated,
                expires: one.expires,
                pages: one.pages,
                size: file.bytes,
                checksum: None,
            }));
        }
    }
    let foreign = |advert: Advert| {
        let (name, attributes, text) = advert.write();
        ForeignElement {
            namespace: advert::NAMESPACE.to_owned(),
            name: name.to_owned(),
            attributes,
            text,
        }
    };
    adverts.into_iter().map(foreign).collect()
}

/// Returns the label of the hour, day, week or month in which a delta ends (D29).
fn period(plan: &BuildPlan, generated: Timestamp) -> String {
    let text = generated.to_string();
    match plan.update {
        UpdateFrequency::Hourly => text.get(..13).unwrap_or(&text).to_owned(),
        UpdateFrequency::Daily => text.get(..10).unwrap_or(&text).to_owned(),
        UpdateFrequency::Weekly => week(generated),
        UpdateFrequency::Monthly => text.get(..7).unwrap_or(&text).to_owned(),
    }
}

/// Returns the ISO week of a time, such as `2026-W07`.
fn week(time: Timestamp) -> String {
    let days = time.unix_seconds().div_euclid(86_400);
    // 1970-01-01 was a Thursday, and an ISO week belongs to the year of its Thursday.
    let weekday = (days + 3).rem_euclid(7);
    let thursday = days - weekday + 3;
    let year_of = |day: i64| {
        let text = Timestamp::from_unix_seconds(day * 86_400).map(|time| time.to_string());
        text.and_then(|text| text.get(..4).and_then(|year| year.parse::<i64>().ok())).unwrap_or(0)
    };
    let year = year_of(thursday);
    let mut first = thursday;
    while year_of(first - 1) == year {
        first -= 1;
    }
    format!("{year:04}-W{:02}", (thursday - first) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-123 D29
    fn weeks_follow_iso_8601() {
        for (day, wanted) in [
            ("2026-11-16T00:00:00Z", "2026-W47"),
            ("2026-01-01T00:00:00Z", "2026-W01"),
            ("2027-01-01T00:00:00Z", "2026-W53"),
            ("2024-12-30T12:00:00Z", "2025-W01"),
            ("1970-01-01T00:00:00Z", "1970-W01"),
        ] {
            assert_eq!(week(Timestamp::parse(day).unwrap()), wanted, "{day}");
        }
    }
}
