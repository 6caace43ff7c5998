//! What the sitemap announces about collections, against the files: existence,
//! expiry, sections, codings, and whether deltas follow each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use rutter_fetch::What;
use rutter_finding::{Finding, Place, quoted};
use rutter_scp::{Coding, Header, Kind};

use super::in_line;
use crate::rules;
use crate::site::{Advertised, Held, View, stem};

pub(super) fn compare(view: &mut View<'_>) {
    let mut said: Vec<(u32, Finding)> = Vec::new();
    let machine = &view.machine;
    let announced: HashSet<&str> =
        machine.sections.iter().map(|(_, _, section)| section.name.as_str()).collect();
    for one in &machine.adverts {
        of_advert(view, one, &announced, &mut said);
    }
    if machine.adverts.is_empty() {
        // One finding for the site: its collections are not wrong each.
        if let Some(first) = machine.collections.first()
            && !view.files.may_be_more(What::Sitemap)
        {
            let count = machine.collections.len();
            let detail = format!("{} and {} more", quoted(view.files.path(first.file)), count - 1);
            let detail = if count == 1 { quoted(view.files.path(first.file)) } else { detail };
            said.push((first.file, Finding::new(&rules::NOT_ANNOUNCED, Place::WHOLE, detail)));
        }
    } else {
        let known: HashSet<u32> = machine.adverts.iter().filter_map(|one| one.file).collect();
        for held in &machine.collections {
            if !known.contains(&held.file) {
                said.push((held.file, Finding::new(&rules::UNADVERTISED, Place::WHOLE, "")));
            }
        }
    }
    sections(view, &mut said);
    codings(view, &mut said);
    chains(view, &mut said);
    for (file, finding) in said {
        view.book.say(file, finding);
    }
}

fn of_advert(
    view: &View<'_>,
    one: &Advertised,
    announced: &HashSet<&str>,
    said: &mut Vec<(u32, Finding)>,
) {
    let mut say = |rule, detail: String| said.push((one.sitemap, in_line(rule, one.line, detail)));
    let advert = &one.advert;
    if one.file.is_none() && view.is_own(&advert.url) && !view.files.is_live() {
        say(&rules::ADVERT_ABSENT, quoted(&advert.url));
    }
    if view.judging.judging.now.is_some_and(|now| advert.expires < now) {
        say(&rules::ADVERT_EXPIRED, format!("{} on {}", quoted(&advert.url), advert.expires));
    }
    if !announced.contains(advert.section.as_str()) {
        say(&rules::SECTION_UNKNOWN, quoted(&advert.section));
    }
    if let Some((_, _, codings)) = &view.machine.codings
        && let Some(coding) =
            Coding::of_name(std::path::Path::new(&advert.url)).and_then(Coding::name)
        && !codings.iter().any(|known| known == coding)
    {
        say(&rules::CODING_UNKNOWN, coding.to_owned());
    }
}

fn sections(view: &View<'_>, said: &mut Vec<(u32, Finding)>) {
    // The newest of each section, and its newest snapshot.
    let mut newest_of: HashMap<&str, (&Advertised, Option<&Advertised>)> = HashMap::new();
    for one in &view.machine.adverts {
        let newest = newest_of.entry(&one.advert.section).or_insert((one, None));
        if newest.0.advert.generated <= one.advert.generated {
            newest.0 = one;
        }
        let is_snapshot = one.advert.kind == Kind::Snapshot;
        if is_snapshot && newest.1.is_none_or(|it| it.advert.generated <= one.advert.generated) {
            newest.1 = Some(one);
        }
    }
    let held: HashMap<u32, &Held> =
        view.machine.collections.iter().map(|held| (held.file, held)).collect();
    for (sitemap, line, section) in &view.machine.sections {
        let Some(&(last, Some(_))) = newest_of.get(section.name.as_str()) else {
            let detail = quoted(&section.name);
            said.push((*sitemap, in_line(&rules::SECTION_ABSENT, *line, detail)));
            continue;
        };
        // Deltas after the snapshot may have changed the number.
        let held = last.file.and_then(|file| held.get(&file));
        let verified = held.and_then(|held| held.receipt.as_ref());
        let of_chain = verified.and_then(|receipt| receipt.header.chain.as_ref());
        let is_snapshot = last.advert.kind == Kind::Snapshot;
        let pages = of_chain.map(|chain| chain.pages).or(is_snapshot.then_some(last.advert.pages));
        if let Some(pages) = pages
            && !section.is_estimate
            && pages != section.pages
        {
            let detail =
                format!("{} has {pages}, announced are {}", quoted(&section.name), section.pages);
            said.push((*sitemap, in_line(&rules::SECTION_PAGES, *line, detail)));
        }
    }
}

/// Files with one name in two codings must be one text.
fn codings(view: &View<'_>, said: &mut Vec<(u32, Finding)>) {
    let mut by_stem: BTreeMap<&str, Vec<&Held>> = BTreeMap::new();
    for held in &view.machine.collections {
        by_stem.entry(stem(view.files.path(held.file))).or_default().push(held);
    }
    for group in by_stem.into_values() {
        let mut whole =
            group.iter().filter_map(|held| Some((held.file, held.receipt.as_ref()?.digest)));
        let Some((_, first)) = whole.next() else { continue };
        for (file, digest) in whole {
            if digest != first {
                said.push((file, Finding::new(&rules::CODINGS_DIFFER, Place::WHOLE, "")));
            }
        }
    }
}

/// Deltas must follow each other, and the first of them a snapshot (D25, D95).
fn chains(view: &View<'_>, said: &mut Vec<(u32, Finding)>) {
    // What was not looked at may be what is missing in between.
    if view.files.may_be_more(What::Collection) {
        return;
    }
    let mut sections: BTreeMap<&str, Vec<(u32, &Header)>> = BTreeMap::new();
    for held in &view.machine.collections {
        let Some(header) = held.receipt.as_ref().map(|receipt| &receipt.header) else { continue };
        sections.entry(&header.section).or_default().push((held.file, header));
    }
    for mut links in sections.into_values() {
        links.sort_by_cached_key(|(_, header)| {
            (header.generated, header.kind == Kind::Snapshot, header.id.clone())
        });
        // Two codings are one link.
        links.dedup_by(|(_, header), (_, other)| {
            other.id == header.id
                && other.generated == header.generated
                && other.kind == header.kind
        });
        let deltas = links.iter().filter(|(_, header)| header.kind != Kind::Snapshot);
        let mut before: Option<&Header> = None;
        for (file, header) in deltas {
            if let Some(before) = before {
                follow(*file, header, before, said);
            } else {
                let snapshots = links.iter().filter(|(_, other)| other.kind == Kind::Snapshot);
                // A reader begins with the last snapshot before the first delta.
                let snapshots = snapshots.map(|(_, other)| *other);
                let earlier = snapshots.filter(|other| other.generated < header.generated);
                if let Some(start) = earlier.max_by_key(|other| other.generated) {
                    follow(*file, header, start, said);
                }
            }
            before = Some(header);
        }
    }
}

/// Whether a delta follows what comes before it.
fn follow(file: u32, delta: &Header, before: &Header, said: &mut Vec<(u32, Finding)>) {
    let from = delta.chain.as_ref().and_then(|chain| chain.from);
    let state = before.chain.as_ref().map(|chain| chain.state);
    if from.is_some() && state.is_some() && from != state {
        let place = Place::pointer(1, "/collection/rutter/from");
        let detail = format!("it does not follow the state of {}", before.generated);
        said.push((file, Finding::new(&rules::CHAIN_GAP, place, detail)));
    } else if let Some(since) = delta.kind.since().filter(|since| before.generated < *since) {
        let detail = format!("it begins at {since}, the last one ended at {}", before.generated);
        let place = Place::pointer(1, "/collection/since");
        said.push((file, Finding::new(&rules::DELTA_GAP, place, detail)));
    }
}
