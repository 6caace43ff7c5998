//! The sitemap, with what it announces, and the sitemap that was there before.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;
use rutter_scp::advert::{self, Advert, Collection};
use rutter_scp::{Coding, Kind, Version};
use rutter_signpost::sitemap::{
    AlternateLink, ChangeFreq, Child, Entry, Foreign, Item, Limits, Push, Reader, SchemaLocation,
    UrlsetWriter, write_index,
};

use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::inventory;
use crate::ledger::Row;
use crate::pack::Meta;
use crate::plan::Plan;
use crate::publish::{self, Order, Put, Stage};
use crate::read::Tally;
use crate::spxi;
use crate::table::{Table, hash_of};

/// Folder of collections, below the output folder.
pub(crate) const SCP: &str = "scp";

/// Sitemaps of an index that are looked at.
const MOST_CHILDREN: usize = 1000;

/// What a sitemap that is not ours says, by address.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) dates: Table<Timestamp>,
    /// Of entries with more than an address and a date.
    more: Table<More>,
}

/// What an entry says beside its address and its date.
#[derive(Debug)]
struct More {
    changefreq: Option<ChangeFreq>,
    priority: Option<f32>,
    /// Few sites have these, but on every page.
    rest: Option<Box<(Vec<AlternateLink>, Vec<String>)>>,
}

/// Whether a date that came with a site's sitemap is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// It is one of ours.
    Always,
    /// One date for nearly all pages is the time of a build.
    UnlessAlike,
}

impl Before {
    /// Reads the sitemap of the site's own generator.
    pub(crate) fn read(plan: &Plan) -> Self {
        Gathered::of_folder(plan, &plan.site).settle(Trust::UnlessAlike)
    }

    /// Reads the sitemap of a folder as it is.
    pub(crate) fn of_folder(plan: &Plan, folder: &Path) -> Self {
        Gathered::of_folder(plan, folder).settle(Trust::Always)
    }
}

/// The same while sitemaps are being read.
#[derive(Debug, Default)]
struct Gathered {
    dates: Vec<(u128, Timestamp)>,
    more: Vec<(u128, More)>,
}

impl Gathered {
    fn of_folder(plan: &Plan, folder: &Path) -> Self {
        let mut gathered = Self::default();
        let mut waiting = vec![folder.join("sitemap.xml")];
        let mut n_read = 0;
        while let Some(path) = waiting.pop() {
            n_read += 1;
            if MOST_CHILDREN < n_read {
                break;
            }
            gathered.file(plan, folder, &path, &mut waiting);
        }
        gathered
    }

    fn settle(self, trust: Trust) -> Before {
        let Self { mut dates, mut more } = self;
        // What is said last of an address counts.
        dates.reverse();
        more.reverse();
        let mut dates = Table::of(dates);
        if trust == Trust::UnlessAlike && are_alike(&dates) {
            dates = Table::default();
        }
        Before { dates, more: Table::of(more) }
    }

    fn file(&mut self, plan: &Plan, folder: &Path, path: &Path, waiting: &mut Vec<PathBuf>) {
        let Ok(file) = File::open(path) else { return };
        let mut reader = Reader::new(BufReader::new(file), Limits::USUAL);
        // A sitemap that is broken was not ours to judge here.
        while let Ok(Some(item)) = reader.next(&mut ()) {
            match item {
                Item::Child(child) => {
                    let inside = inventory::inside(&plan.base, &child.loc);
                    waiting.extend(inside.map(|inside| folder.join(inside)));
                }
                Item::Url(entry) => {
                    let Ok(url) = rutter_page::PageUrl::parse(entry.loc.as_str()) else { continue };
                    let url = hash_of(url.key());
                    let Entry { lastmod, changefreq, priority, alternates, extensions, .. } = entry;
                    self.dates.extend(lastmod.map(|date| (url, date)));
                    let has_rest = !extensions.is_empty() || !alternates.is_empty();
                    if has_rest || changefreq.is_some() || priority.is_some() {
                        let rest = has_rest.then(|| Box::new((alternates, extensions)));
                        self.more.push((url, More { changefreq, priority, rest }));
                    }
                }
                Item::Foreign(_) => {}
            }
        }
    }
}

/// Whether most pages have one date.
fn are_alike(dates: &Table<Timestamp>) -> bool {
    let mut sorted: Vec<Timestamp> = dates.things().copied().collect();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or(0);
    3 < sorted.len() && sorted.len() < most * 2
}

/// What the sitemap announces: one element per coding (D06).
pub(crate) fn adverts(plan: &Plan, published: &Published, tallies: &[Tally]) -> Vec<Foreign> {
    let mut adverts = vec![Advert::Version(Version::CURRENT)];
    let mut codings: Vec<String> = Vec::new();
    for file in published.collections.iter().flat_map(|one| &one.files) {
        let coding = Coding::of_name(Path::new(&file.name)).and_then(Coding::name);
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
            adverts.push(Advert::Section(advert::Section {
                name: tally.name.clone(),
                update: plan.update,
                pages: tally.pages,
                is_estimate: false,
            }));
        }
    }
    // Of a section that is no more, files stay for those who have an older
    // sitemap; whoever reads this one would take them for what there is.
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
            let kind = one.since.map_or(Kind::Snapshot, |since| Kind::Delta { since });
            adverts.push(Advert::Collection(Collection {
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
        Foreign { namespace: advert::NAMESPACE.to_owned(), name: name.to_owned(), attributes, text }
    };
    adverts.into_iter().map(foreign).collect()
}

/// The label of the span a delta ends in (D29).
fn period(plan: &Plan, generated: Timestamp) -> String {
    use rutter_scp::advert::Frequency;
    let text = generated.to_string();
    match plan.update {
        Frequency::Hourly => text.get(..13).unwrap_or(&text).to_owned(),
        Frequency::Daily => text.get(..10).unwrap_or(&text).to_owned(),
        Frequency::Weekly => week(generated),
        Frequency::Monthly => text.get(..7).unwrap_or(&text).to_owned(),
    }
}

/// `2026-W07`: the ISO week.
fn week(time: Timestamp) -> String {
    let days = time.unix_seconds().div_euclid(86_400);
    // 1970-01-01 was a Thursday; the year of a week is that of its Thursday.
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

/// Writes the sitemap while pages come; splits it where it must.
#[derive(Debug)]
pub(crate) struct Sitemap<'p> {
    plan: &'p Plan,
    before: &'p Before,
    foreign: Vec<Foreign>,
    open: Option<(UrlsetWriter<BufWriter<File>>, PathBuf)>,
    done: Vec<(PathBuf, Option<Timestamp>)>,
    newest: Option<Timestamp>,
}

impl<'p> Sitemap<'p> {
    pub(crate) fn new(plan: &'p Plan, before: &'p Before, foreign: Vec<Foreign>) -> Self {
        Self { plan, before, foreign, open: None, done: Vec::new(), newest: None }
    }

    pub(crate) fn page(
        &mut self,
        row: &Row,
        meta: &Meta,
        index: Option<&str>,
        stage: &mut Stage,
    ) -> Result<(), BuildError> {
        let old = self.before.more.get(&row.url);
        let rest = old.and_then(|old| old.rest.as_deref());
        let mut alternates: Vec<AlternateLink> = meta
            .languages
            .iter()
            .map(|(hreflang, href)| AlternateLink {
                hreflang: hreflang.clone(),
                href: href.clone(),
                media_type: None,
            })
            .collect();
        alternates.extend(index.map(|index| AlternateLink {
            hreflang: spxi::HREFLANG.to_owned(),
            href: index.to_owned(),
            media_type: Some("application/ld+json".to_owned()),
        }));
        // A link of ours that was there before is no link of the owner's.
        let ours = self.plan.base.join(rutter_spxi::INDEX);
        for link in rest.map_or(&[][..], |(alternates, _)| alternates) {
            if link.href != ours && !alternates.iter().any(|known| known.hreflang == link.hreflang)
            {
                alternates.push(link.clone());
            }
        }
        let entry = Entry {
            loc: row.url.clone(),
            lastmod: Some(row.modified),
            is_day: false,
            changefreq: old.and_then(|old| old.changefreq),
            priority: old.and_then(|old| old.priority),
            alternates,
            extensions: rest.map_or_else(Vec::new, |(_, extensions)| extensions.clone()),
            line: 0,
        };
        loop {
            if self.open.is_none() {
                let path = stage.fresh();
                let foreign = std::mem::take(&mut self.foreign);
                let schemas = if self.plan.layers.schema_location {
                    SchemaLocation::Said
                } else {
                    SchemaLocation::Unsaid
                };
                let out = publish::create(&path)?;
                let writer = UrlsetWriter::with_schemas(out, &foreign, schemas).at(&path)?;
                self.open = Some((writer, path));
            }
            let Some((writer, path)) = &mut self.open else { unreachable!("it was opened above") };
            match writer.push(&entry).at(path)? {
                Push::Taken => {
                    self.newest = self.newest.max(entry.lastmod);
                    return Ok(());
                }
                Push::Full => self.close()?,
            }
        }
    }

    fn close(&mut self) -> Result<(), BuildError> {
        if let Some((writer, path)) = self.open.take() {
            publish::close(writer.finish().at(&path)?, &path)?;
            self.done.push((path, self.newest.take()));
        }
        Ok(())
    }

    /// Ends the sitemap; gives the name it has, and a name that was taken.
    pub(crate) fn finish(
        mut self,
        name: &str,
        stage: &mut Stage,
    ) -> Result<(Option<String>, Option<String>), BuildError> {
        self.close()?;
        let mut names = Vec::new();
        let stem = name.strip_suffix(".xml").unwrap_or(name);
        if let [(path, _)] = self.done.as_slice() {
            let path = path.clone();
            return Self::put(name, stem, &path, stage);
        }
        if self.done.is_empty() {
            return Ok((None, None));
        }
        for (n, (path, newest)) in std::mem::take(&mut self.done).into_iter().enumerate() {
            let child = format!("{stem}-{}.xml", n + 1);
            if stage.take(Order::Parts, &child, &path)? == Put::NotOurs {
                return Ok((None, Some(child)));
            }
            names.push(Child { loc: self.plan.base.join(&child), lastmod: newest });
        }
        let path = stage.fresh();
        let out = write_index(publish::create(&path)?, &names).at(&path)?;
        publish::close(out, &path)?;
        Self::put(name, stem, &path, stage)
    }

    /// Puts the entry file in its place, or beside somebody else's.
    fn put(
        name: &str,
        stem: &str,
        path: &Path,
        stage: &mut Stage,
    ) -> Result<(Option<String>, Option<String>), BuildError> {
        let copy = stage.fresh();
        std::fs::copy(path, &copy).at(path)?;
        if stage.take(Order::Sitemap, name, path)? != Put::NotOurs {
            std::fs::remove_file(&copy).at(&copy)?;
            return Ok((Some(name.to_owned()), None));
        }
        let other = format!("{stem}-rutter.xml");
        match stage.take(Order::Sitemap, &other, &copy)? {
            Put::NotOurs | Put::Linked => Ok((None, Some(name.to_owned()))),
            Put::Staged | Put::Same => Ok((Some(other), Some(name.to_owned()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-123 D29
    fn spec_weeks_are_those_of_iso_8601() {
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
