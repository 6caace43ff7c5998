//! The `scp:` elements of a sitemap, which announce the collections (D06, D29).

use std::path::Path;

use rutter_page::Timestamp;
use rutter_scp::advert::{self, Advert, AdvertisedCollection, UpdateFrequency};
use rutter_scp::{Coding, CollectionKind, FormatVersion};
use rutter_site::Publication;
use rutter_sitemap::ForeignElement;

use crate::address::SCP;
use crate::plan::BuildPlan;
use crate::stages::read::SectionTally;

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
