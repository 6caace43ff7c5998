//! Writes the sitemap with what it announces.
//!
//! Input: pages in the order of their addresses, and what the site's own sitemap said of them.
//! Output: one file, or an index with its children, each staged; and the files that stand in for
//! those of the generator's sitemap where ours takes its place.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rutter_page::Timestamp;
use rutter_scp::advert::{self, Advert, Collection};
use rutter_scp::{Coding, Kind, Version};
use rutter_signpost::sitemap::{
    AlternateLink, Child, Entry, Foreign, Item, Limits, Push, Reader, SchemaLocation, UrlsetWriter,
    write_index,
};

use crate::chain::{Published, SitemapPart};
use crate::error::{At, BuildError};
use crate::ledger::Row;
use crate::manifest::digest_of;
use crate::pack::Meta;
use crate::plan::Plan;
use crate::publish::{self, Order, Put, Stage};
use crate::read::Tally;
use crate::site_sitemap::{Before, MARK, SiteSitemap, Standing, is_gzip};
use crate::spxi;

/// Folder of collections, below the output folder.
pub(crate) const SCP: &str = "scp";

/// Pages up to which the sitemap is one file. Beyond, collections are announced
/// in a small file of their own, so that a reader who follows collections does
/// not read the list of all pages after every change.
const MOST_TOGETHER: usize = 1000;

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

/// Where collections are announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In the file that lists the first pages.
    Together,
    /// In a first file that lists one page, because the schema asks for one (D14).
    Apart,
}

impl Layout {
    /// The layout for a site with so many pages.
    pub(crate) fn of(n_pages: usize, foreign: &[Foreign]) -> Self {
        if foreign.is_empty() || n_pages <= MOST_TOGETHER { Self::Together } else { Self::Apart }
    }
}

/// Writes the sitemap while pages come; splits it where it must.
#[derive(Debug)]
pub(crate) struct Sitemap<'p> {
    plan: &'p Plan,
    before: &'p Before,
    foreign: Vec<Foreign>,
    layout: Layout,
    open: Option<(UrlsetWriter<BufWriter<File>>, PathBuf)>,
    done: Vec<PathBuf>,
}

/// What a sitemap starts from when it is finished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finish<'f> {
    /// The name it should have.
    pub(crate) name: &'f str,
    /// The sitemap that others wrote.
    pub(crate) theirs: &'f SiteSitemap,
    /// The files of an index, as they were when it was last published.
    pub(crate) parts: &'f [SitemapPart],
}

/// A finished sitemap.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// The name it has; `None` where it is not published.
    pub(crate) name: Option<String>,
    /// A file of others that has the name it should have, and why it stays.
    pub(crate) taken: Option<(String, String)>,
    /// The files that its index names.
    pub(crate) parts: Vec<SitemapPart>,
    /// The entry file once more, in the stage.
    copy: Option<PathBuf>,
}

impl<'p> Sitemap<'p> {
    pub(crate) fn new(
        plan: &'p Plan,
        before: &'p Before,
        foreign: Vec<Foreign>,
        layout: Layout,
    ) -> Self {
        Self { plan, before, foreign, layout, open: None, done: Vec::new() }
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
                    if self.layout == Layout::Apart && self.done.is_empty() {
                        self.close()?;
                    }
                    return Ok(());
                }
                Push::Full => self.close()?,
            }
        }
    }

    fn close(&mut self) -> Result<(), BuildError> {
        if let Some((writer, path)) = self.open.take() {
            let mut out = writer.finish().at(&path)?;
            writeln!(out, "{MARK}").at(&path)?;
            publish::close(out, &path)?;
            self.done.push(path);
        }
        Ok(())
    }

    /// Ends the sitemap and stages its files.
    pub(crate) fn finish(
        mut self,
        finish: Finish<'_>,
        stage: &mut Stage,
    ) -> Result<Finished, BuildError> {
        self.close()?;
        if self.done.is_empty() {
            return Ok(Finished::default());
        }
        let Finish { name, theirs, .. } = finish;
        let stem = name.strip_suffix(".xml").unwrap_or(name);
        let kept: Vec<&str> = if theirs.is_kept() {
            theirs.files.iter().filter(|file| file.n_pages != 0).map(|file| &*file.name).collect()
        } else {
            Vec::new()
        };
        let is_taken = theirs.is_kept() && theirs.files.iter().any(|file| file.name == name);
        let mut finished = if is_taken {
            let other = format!("{stem}-rutter.xml");
            let mut finished = self.publish_as(&other, (&kept, finish), stage)?;
            let why = match &theirs.standing {
                Standing::Kept(why) => why.clone(),
                Standing::Absent | Standing::Replaced => String::new(),
            };
            finished.taken = Some((name.to_owned(), why));
            finished
        } else {
            self.publish_as(name, (&kept, finish), stage)?
        };
        if let (Standing::Replaced, Some(own)) = (&theirs.standing, finished.name.clone()) {
            self.stand_in(&own, theirs, &finished, stage)?;
        }
        if let Some(copy) = finished.copy.take() {
            fs::remove_file(&copy).at(&copy)?;
        }
        Ok(finished)
    }

    /// Stages the sitemap under a name, as an index where it has more than one
    /// file or others belong to it.
    fn publish_as(
        &mut self,
        name: &str,
        (kept, finish): (&[&str], Finish<'_>),
        stage: &mut Stage,
    ) -> Result<Finished, BuildError> {
        let stem = name.strip_suffix(".xml").unwrap_or(name);
        let done = std::mem::take(&mut self.done);
        if let ([path], []) = (done.as_slice(), kept) {
            let parts = vec![self.part(name, path, finish)?];
            let finished = Self::put(name, stem, path, stage)?;
            return Ok(Finished { parts, ..finished });
        }
        let mut parts = Vec::new();
        for (n, path) in done.into_iter().enumerate() {
            let child = format!("{stem}-{}.xml", n + 1);
            parts.push(self.part(&child, &path, finish)?);
            if stage.take(Order::Parts, &child, &path)? == Put::NotOurs {
                return Ok(Finished { taken: Some((child, String::new())), ..Finished::default() });
            }
        }
        for name in kept {
            let path = self.plan.site.join(name);
            let digest = digest_of(&path).at(&path)?.to_string();
            let known = finish.parts.iter().find(|part| part.name == *name);
            // When it changed before we saw it is not known.
            let changed = match known {
                Some(part) if part.digest == digest => part.changed,
                Some(_) => Some(self.plan.now),
                None => None,
            };
            parts.push(SitemapPart { name: (*name).to_owned(), digest, changed });
        }
        let path = stage.fresh();
        self.write_index(&path, &parts)?;
        let finished = Self::put(name, stem, &path, stage)?;
        Ok(Finished { parts, ..finished })
    }

    fn write_index(&self, path: &Path, parts: &[SitemapPart]) -> Result<(), BuildError> {
        let children: Vec<Child> = parts
            .iter()
            .map(|part| Child { loc: self.plan.base.join(&part.name), lastmod: part.changed })
            .collect();
        let mut out = write_index(publish::create(path)?, &children).at(path)?;
        writeln!(out, "{MARK}").at(path)?;
        publish::close(out, path)
    }

    /// A file of ours with the time at which it last changed: now, unless the
    /// same bytes were published before.
    fn part(&self, name: &str, path: &Path, finish: Finish<'_>) -> Result<SitemapPart, BuildError> {
        let digest = digest_of(path).at(path)?.to_string();
        let known = finish.parts.iter().find(|part| part.name == name);
        let before = match known {
            Some(part) => part.changed.filter(|_| part.digest == digest),
            None => self.published_date(name, &digest, finish.name),
        };
        let changed = Some(before.unwrap_or(self.plan.now));
        Ok(SitemapPart { name: name.to_owned(), digest, changed })
    }

    /// The date that the published index has for a file with these bytes: for
    /// builds whose state is lost.
    fn published_date(&self, name: &str, digest: &str, index: &str) -> Option<Timestamp> {
        let target = self.plan.target();
        let published = digest_of(&target.join(name)).ok()?;
        if published.to_string() != digest {
            return None;
        }
        let input = BufReader::new(File::open(target.join(index)).ok()?);
        let mut reader = Reader::new(input, Limits::USUAL);
        let url = self.plan.base.join(name);
        while let Ok(Some(item)) = reader.next(&mut ()) {
            match item {
                Item::Child(child) if child.loc == url => return child.lastmod,
                _ => {}
            }
        }
        None
    }

    /// Files where readers of the generator's sitemap begin lead to ours.
    fn stand_in(
        &self,
        own: &str,
        theirs: &SiteSitemap,
        finished: &Finished,
        stage: &mut Stage,
    ) -> Result<(), BuildError> {
        let entries = theirs.files.iter().filter(|file| file.is_entry).map(|file| &*file.name);
        let (coded, plain): (Vec<&str>, Vec<&str>) =
            entries.filter(|name| *name != own).partition(|name| is_gzip(Path::new(name)));
        for name in plain {
            let path = stage.fresh();
            self.write_index(&path, &finished.parts)?;
            stage.take(Order::Sitemap, name, &path)?;
        }
        for name in coded {
            let path = stage.fresh();
            let is_beside = name.strip_suffix(".gz") == Some(own);
            let bytes = match finished.copy.as_ref().filter(|_| is_beside) {
                Some(copy) => fs::read(copy).at(copy)?,
                None => {
                    self.write_index(&path, &finished.parts)?;
                    fs::read(&path).at(&path)?
                }
            };
            let mut out = GzEncoder::new(publish::create(&path)?, Compression::best());
            out.write_all(&bytes).at(&path)?;
            publish::close(out.finish().at(&path)?, &path)?;
            stage.take(Order::Sitemap, name, &path)?;
        }
        Ok(())
    }

    /// Puts the entry file in its place, or beside somebody else's.
    fn put(name: &str, stem: &str, path: &Path, stage: &mut Stage) -> Result<Finished, BuildError> {
        let copy = stage.fresh();
        fs::copy(path, &copy).at(path)?;
        if stage.take(Order::Sitemap, name, path)? != Put::NotOurs {
            let name = Some(name.to_owned());
            return Ok(Finished { name, copy: Some(copy), ..Finished::default() });
        }
        let other = format!("{stem}-rutter.xml");
        let put = stage.take(Order::Sitemap, &other, &copy)?;
        let is_put = matches!(put, Put::Staged | Put::Same);
        Ok(Finished {
            name: is_put.then_some(other),
            taken: Some((name.to_owned(), String::new())),
            ..Finished::default()
        })
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
