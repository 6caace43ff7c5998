//! Compares the `scp:` elements of sitemaps with the collection files: existence,
//! expiry, sections, codings, and the chain of deltas.

use std::collections::{BTreeMap, HashMap, HashSet};

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place, quoted};
use rutter_scp::{Coding, CollectionHeader, CollectionKind};

use super::in_line;
use crate::rules;
use crate::site::{CollectionAdvert, CollectionFile, SiteView, stem};

rutter_finding::rules! {
    SECTION_PAGES = "XL028" "section-count-differs" (advice, "D20") {
        title: "page count of the section in the sitemap differs from its snapshot",
        why: "Readers use the page count to decide what to fetch.",
        fix: "Build the site again.",
        wrong in "sitemap.xml": r#"<scp:section name="docs" updateFreq="weekly" pages="12"/>"#,
        right: r#"<scp:section name="docs" updateFreq="weekly" pages="17"/>"#,
    }
    ADVERT_ABSENT = "XL070" "advertised-file-absent" (warning, "SCP-117") {
        title: "sitemap advertises a collection that does not exist",
        why: "Readers request the collection, get an error and must read every page instead.",
        fix: "Build the site again, so that the sitemap and the collections match.",
        wrong: r#"`<scp:collection url="https://harbour.example/scp/all-old.scp.zst" …/>`, but no such file."#,
        right: "The collections are uploaded first, the sitemap last.",
    }
    UNADVERTISED = "XL071" "collection-unadvertised" (advice, "SCP-117") {
        title: "collection is not advertised in the sitemap",
        why: "Readers do not find the collection.",
        fix: "Build the site again, or delete the file.",
        wrong: "`scp/all-old.scp.zst` in the folder, but no `scp:collection` for it.",
        right: "The file is advertised or deleted.",
    }
    ADVERT_EXPIRED = "XL072" "advert-expired" (advice, "D28") {
        title: "advertised collection has expired",
        why: "Readers skip an expired collection.",
        fix: "Build the site again. The build replaces expired snapshots.",
        wrong: r#"`<scp:collection … expires="2026-04-01T00:00:00Z" …/>` in May."#,
        right: "A build before the collections expire.",
    }
    CHAIN_GAP = "XL073" "chain-gap" (warning, "D95") {
        title: "deltas of a section do not form a chain",
        why: "A delta applies only to the state in which the previous delta ends. Readers that followed the deltas must download the whole section again.",
        fix: "Build the site again with the existing state folder, which continues the chain.",
        wrong: "A delta from state A to B, followed by a delta from C to D.",
        right: "A delta from state A to B, followed by a delta from B to C.",
    }
    DELTA_GAP = "XL074" "delta-gap" (warning, "D25") {
        title: "delta begins later than the end of the previous collection",
        why: "Readers that follow the deltas miss the changes in between.",
        fix: "Set `since` of each delta to the `generated` time of the previous collection.",
        wrong: "A snapshot of 1 May, followed by a delta `since` 3 May.",
        right: "A delta whose `since` equals the `generated` time of the snapshot.",
    }
    SECTION_ABSENT = "XL075" "section-without-snapshot" (warning, "SCP-114") {
        title: "sitemap announces a section without a snapshot",
        why: "New readers have no starting point for this section.",
        fix: "Publish a snapshot of the section.",
        wrong: r#"`<scp:section name="blog" …/>` without a snapshot of `blog`."#,
        right: "A snapshot of every announced section.",
    }
    SECTION_UNKNOWN = "XL076" "section-unannounced" (advice, "SCP-114") {
        title: "advertised collection belongs to a section that is not announced",
        why: "Without the `scp:section` element, readers do not know how large the section is and how often it changes.",
        fix: "Add a `scp:section` element for the section.",
        wrong: r#"`<scp:collection section="blog" …/>` without `<scp:section name="blog" …/>`."#,
        right: "Both elements.",
    }
    CODING_UNKNOWN = "XL077" "coding-unannounced" (advice, "SCP-113") {
        title: "coding of the advertised collection is missing in `scp:compression`",
        why: "Readers that choose a collection by its coding skip this file.",
        fix: "Add the coding to `scp:compression`.",
        wrong in "sitemap.xml": r#"<scp:compression>gzip</scp:compression><scp:collection url="https://harbour.example/scp/all.scp.zst" …/>"#,
        right: r#"<scp:compression>zstd,gzip</scp:compression><scp:collection url="https://harbour.example/scp/all.scp.zst" …/>"#,
    }
    NOT_ANNOUNCED = "XL086" "collections-not-announced" (judge, "SCP-106") {
        title: "no sitemap announces the collections of the site",
        why: "Readers find collections only by the `scp:` elements of sitemap.xml.",
        fix: "Build the site again. `rutter build` writes the elements. Check that their namespace is https://scp-protocol.org/schemas/sitemap/1.0.",
        wrong: "`scp/all.scp.zst` in the folder, but a sitemap.xml without `scp:` elements.",
        right: r#"`<scp:collection section="all" type="snapshot" url="https://harbour.example/scp/all.scp.zst" …/>` in sitemap.xml."#,
    }
}

pub(super) fn compare(view: &mut SiteView<'_>) {
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    let machine_files = &view.machine_files;
    let announced: HashSet<&str> = machine_files
        .sitemaps
        .sections
        .iter()
        .map(|(_, _, section)| section.name.as_str())
        .collect();
    for one in &machine_files.sitemaps.adverts {
        of_advert(view, one, &announced, &mut findings);
    }
    if machine_files.sitemaps.adverts.is_empty() {
        // Report one finding for the site instead of one finding per collection.
        if let Some(first) = machine_files.collections.first()
            && !view.files.may_be_more(ResourceKind::Sitemap)
        {
            let count = machine_files.collections.len();
            let detail = format!("{} and {} more", quoted(view.files.path(first.file)), count - 1);
            let detail = if count == 1 { quoted(view.files.path(first.file)) } else { detail };
            findings.push((first.file, Finding::new(&NOT_ANNOUNCED, Place::WHOLE, detail)));
        }
    } else {
        let known: HashSet<u32> =
            machine_files.sitemaps.adverts.iter().filter_map(|one| one.file).collect();
        for held in &machine_files.collections {
            if !known.contains(&held.file) {
                findings.push((held.file, Finding::new(&UNADVERTISED, Place::WHOLE, "")));
            }
        }
    }
    sections(view, &mut findings);
    codings(view, &mut findings);
    chains(view, &mut findings);
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

fn of_advert(
    view: &SiteView<'_>,
    one: &CollectionAdvert,
    announced: &HashSet<&str>,
    findings: &mut Vec<(u32, Finding)>,
) {
    let mut report =
        |rule, detail: String| findings.push((one.sitemap, in_line(rule, one.line, detail)));
    let advert = &one.advert;
    if one.file.is_none() && view.is_own(&advert.url) && !view.files.is_live() {
        report(&ADVERT_ABSENT, quoted(&advert.url));
    }
    if view.options.check_options.now.is_some_and(|now| advert.expires < now) {
        report(&ADVERT_EXPIRED, format!("{} on {}", quoted(&advert.url), advert.expires));
    }
    if !announced.contains(advert.section.as_str()) {
        report(&SECTION_UNKNOWN, quoted(&advert.section));
    }
    if let Some((_, _, codings)) = &view.machine_files.sitemaps.codings
        && let Some(coding) =
            Coding::from_file_name(std::path::Path::new(&advert.url)).and_then(Coding::name)
        && !codings.iter().any(|known| known == coding)
    {
        report(&CODING_UNKNOWN, coding.to_owned());
    }
}

fn sections(view: &SiteView<'_>, findings: &mut Vec<(u32, Finding)>) {
    // The newest collection and the newest snapshot of each section.
    let mut newest_of: HashMap<&str, (&CollectionAdvert, Option<&CollectionAdvert>)> =
        HashMap::new();
    for one in &view.machine_files.sitemaps.adverts {
        let newest = newest_of.entry(&one.advert.section).or_insert((one, None));
        if newest.0.advert.generated <= one.advert.generated {
            newest.0 = one;
        }
        let is_snapshot = one.advert.kind == CollectionKind::Snapshot;
        if is_snapshot && newest.1.is_none_or(|it| it.advert.generated <= one.advert.generated) {
            newest.1 = Some(one);
        }
    }
    let held: HashMap<u32, &CollectionFile> =
        view.machine_files.collections.iter().map(|held| (held.file, held)).collect();
    for (sitemap, line, section) in &view.machine_files.sitemaps.sections {
        let Some(&(last, Some(_))) = newest_of.get(section.name.as_str()) else {
            let detail = quoted(&section.name);
            findings.push((*sitemap, in_line(&SECTION_ABSENT, *line, detail)));
            continue;
        };
        // Deltas after the snapshot may have changed the number of pages.
        let held = last.file.and_then(|file| held.get(&file));
        let verified = held.and_then(|held| held.receipt.as_ref());
        let of_chain = verified.and_then(|receipt| receipt.header.chain.as_ref());
        let is_snapshot = last.advert.kind == CollectionKind::Snapshot;
        let pages = of_chain.map(|chain| chain.pages).or(is_snapshot.then_some(last.advert.pages));
        if let Some(pages) = pages
            && !section.is_estimate
            && pages != section.pages
        {
            let detail = format!(
                "{} has {pages}, the sitemap says {}",
                quoted(&section.name),
                section.pages
            );
            findings.push((*sitemap, in_line(&SECTION_PAGES, *line, detail)));
        }
    }
}

/// Reports collections that have the same name in two codings but different content.
fn codings(view: &SiteView<'_>, findings: &mut Vec<(u32, Finding)>) {
    let mut by_stem: BTreeMap<&str, Vec<&CollectionFile>> = BTreeMap::new();
    for held in &view.machine_files.collections {
        by_stem.entry(stem(view.files.path(held.file))).or_default().push(held);
    }
    for group in by_stem.into_values() {
        let mut whole =
            group.iter().filter_map(|held| Some((held.file, held.receipt.as_ref()?.digest)));
        let Some((_, first)) = whole.next() else { continue };
        for (file, digest) in whole {
            if digest != first {
                findings.push((file, Finding::new(&rules::CODINGS_DIFFER, Place::WHOLE, "")));
            }
        }
    }
}

/// Reports the deltas of a section that do not form a chain after a snapshot (D25, D95).
fn chains(view: &SiteView<'_>, findings: &mut Vec<(u32, Finding)>) {
    // A collection that was not read may fill the gap between two deltas.
    if view.files.may_be_more(ResourceKind::Collection) {
        return;
    }
    let mut sections: BTreeMap<&str, Vec<(u32, &CollectionHeader)>> = BTreeMap::new();
    for held in &view.machine_files.collections {
        let Some(header) = held.receipt.as_ref().map(|receipt| &receipt.header) else { continue };
        sections.entry(&header.section).or_default().push((held.file, header));
    }
    for mut links in sections.into_values() {
        links.sort_by_cached_key(|(_, header)| {
            (header.generated, header.kind == CollectionKind::Snapshot, header.id.clone())
        });
        // Two codings of one collection count as one collection.
        links.dedup_by(|(_, header), (_, other)| {
            other.id == header.id
                && other.generated == header.generated
                && other.kind == header.kind
        });
        let deltas = links.iter().filter(|(_, header)| header.kind != CollectionKind::Snapshot);
        let mut before: Option<&CollectionHeader> = None;
        for (file, header) in deltas {
            if let Some(before) = before {
                follow(*file, header, before, findings);
            } else {
                let snapshots =
                    links.iter().filter(|(_, other)| other.kind == CollectionKind::Snapshot);
                // Readers begin with the last snapshot that precedes the first delta.
                let snapshots = snapshots.map(|(_, other)| *other);
                let earlier = snapshots.filter(|other| other.generated < header.generated);
                if let Some(start) = earlier.max_by_key(|other| other.generated) {
                    follow(*file, header, start, findings);
                }
            }
            before = Some(header);
        }
    }
}

/// Reports a delta that does not continue the collection before it.
fn follow(
    file: u32,
    delta: &CollectionHeader,
    before: &CollectionHeader,
    findings: &mut Vec<(u32, Finding)>,
) {
    let from = delta.chain.as_ref().and_then(|chain| chain.from);
    let state = before.chain.as_ref().map(|chain| chain.state);
    if from.is_some() && state.is_some() && from != state {
        let place = Place::pointer(1, "/collection/rutter/from");
        let detail = format!("`from` does not match the state of {}", before.generated);
        findings.push((file, Finding::new(&CHAIN_GAP, place, detail)));
    } else if let Some(since) = delta.kind.since().filter(|since| before.generated < *since) {
        let detail =
            format!("begins at {since}, the previous collection ends at {}", before.generated);
        let place = Place::pointer(1, "/collection/since");
        findings.push((file, Finding::new(&DELTA_GAP, place, detail)));
    }
}
