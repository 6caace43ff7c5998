//! llms.txt: every public page with its twin and one line, by section, and llms-full.txt.
//!
//! Input: pages in the order of addresses. Output: their links in the order of the site's
//! navigation, else by priority and address. Links are sorted on disk; of each page nothing stays in
//! memory. A file that belongs to others is kept, and its name is returned.

mod full_text;
mod outline;
mod side_pages;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_extract::NavLink;
use rutter_page::PageUrl;
use rutter_scp::{Entry, Sorter};
use rutter_signpost::llms;

use self::full_text::FullText;
use self::outline::{Kind, Outline, OutlineSection};
use crate::block;
use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::inventory::{self, Names};
use crate::ledger::{Row, Rows};
use crate::pack::Record;
use crate::plan::{Plan, Source};
use crate::publish::{self, Order, Put, Stage};
use crate::section::{ALL, Sections};
use crate::signs::SCP;
use crate::site_sitemap::Before;

/// Bytes above which sections have files of their own.
const LONGEST: usize = 50_000;
/// At the end of a file that is ours alone, so that it is known again.
pub(crate) const WHOLE: &str = "<!-- rutter:whole -->";
/// Longest line about a page, in characters.
const LONGEST_NOTE: usize = 200;
/// Bytes of the home page that are searched for its navigation.
const HOME_BYTES: usize = 4 << 20;
/// The priority of a page whose sitemap entry has none.
const USUAL_PRIORITY: f32 = 0.5;
/// Which rules decide about order and sections: a build with others writes llms.txt again.
pub(crate) const RULES: u32 = 1;

/// The heading above links to other files of ours.
pub(crate) const INDEXES: &str = "Machine-readable indexes";

/// The name of the file with the text of pages.
const FULL: &str = "llms-full.txt";

/// What decides about the order of links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrangement<'i> {
    pub(crate) sections: &'i Sections,
    pub(crate) names: &'i Names,
    pub(crate) ledger: &'i Path,
    /// What the site's own sitemap says.
    pub(crate) before: &'i Before,
}

/// Gathers links until all are there.
#[derive(Debug)]
pub(crate) struct Listing<'p> {
    plan: &'p Plan,
    before: &'p Before,
    outline: Outline,
    links: Sorter,
    full: Option<FullText>,
    n_bytes: usize,
    /// Title and description of the home page.
    home: Option<(String, String)>,
}

/// Which indexes there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indexes<'i> {
    /// Name of the sitemap.
    pub(crate) sitemap: Option<&'i str>,
    /// Whether there is a semantic index.
    pub(crate) has_spxi: bool,
}

/// Files of others that are in the way of ours.
pub(crate) type Taken = Vec<(String, Put)>;

impl<'p> Listing<'p> {
    pub(crate) fn new(plan: &'p Plan, arrangement: Arrangement<'p>) -> Result<Self, BuildError> {
        let Arrangement { sections, names, ledger, before } = arrangement;
        let links = navigation(plan, names, ledger)?;
        let mut outline = Outline::new(&plan.base, sections, &links);
        for_each_public(ledger, &mut |url| outline.note(url))?;
        if outline.has_versions() {
            for_each_public(ledger, &mut |url| outline.compare(url))?;
        }
        outline.settle();
        let full = plan.layers.llms_full.then(|| FullText::new(plan.layers.llms_full_bytes));
        let links = Sorter::new(&plan.state);
        Ok(Self { plan, before, outline, links, full, n_bytes: 0, home: None })
    }

    /// A public page; `shown` is the address of its twin, or its own.
    pub(crate) fn page(
        &mut self,
        (row, path): (&Row, Option<&str>),
        record: &Record,
        shown: &str,
    ) -> Result<(), BuildError> {
        let meta = &record.meta;
        if inventory::is_home(&self.plan.base, &row.url, path) {
            self.home = Some((meta.title.clone(), meta.description.clone()));
        }
        self.outline.learn_title(&row.url, &meta.title);
        let place = self.outline.place(&row.url);
        let priority = self.before.more.get(&row.url).and_then(|more| more.priority);
        let priority = priority.unwrap_or(USUAL_PRIORITY).clamp(0.0, 1.0);
        let behind = 1.0 - priority;
        let key = format!("{:03}{:010}{behind:.3}{}", place.section, place.rank, row.url);
        let note: String = meta.description.chars().take(LONGEST_NOTE).collect();
        let note = if note == meta.title { "" } else { &note };
        let mut link = Vec::new();
        llms::write_link(&mut link, &meta.title, shown, note).at(&self.plan.state)?;
        self.n_bytes += link.len();
        if let Some(full) = &mut self.full {
            full.push(&key, (&row.url, &meta.title), &record.markdown);
        }
        self.links.push(&key, row.modified, &link).at(&self.plan.state)
    }

    /// Puts everything together.
    pub(crate) fn finish(
        self,
        named: Indexes<'_>,
        published: &Published,
        existing: Option<&str>,
        stage: &mut Stage,
    ) -> Result<Taken, BuildError> {
        let Self { plan, outline, links, full, n_bytes, home, .. } = self;
        let mut taken = Taken::new();
        let (home_title, summary) = home.unwrap_or_default();
        let title = plan.name.clone().filter(|name| !name.is_empty());
        let title = title.unwrap_or_else(|| home_title.clone());
        let title = if title.is_empty() { plan.base.origin().to_owned() } else { title };
        let summary = plan.summary.clone().unwrap_or(summary);
        let head = llms::Head { title: &title, summary: &summary, notes: &[] };
        let mut out = Vec::new();
        let at = PathBuf::from("llms.txt");
        if existing.is_none() {
            llms::write_head(&mut out, &head).at(&at)?;
        }
        indexes(plan, named, published, &mut out).at(&at)?;
        if let Some(full) = full {
            let note = full.note();
            let path = stage.fresh();
            let mut file = publish::create(&path)?;
            full.write(&mut file, &head).at(&path)?;
            publish::close(file, &path)?;
            match stage.take(Order::Parts, FULL, &path)? {
                Put::Staged | Put::Same => {
                    llms::write_link(&mut out, "Text of pages", &plan.base.join(FULL), &note)
                        .at(&at)?;
                }
                put => taken.push((FULL.to_owned(), put)),
            }
        }
        let sections = Sorted { plan, links, sections: &outline.sections, home_title: &home_title };
        if LONGEST < n_bytes {
            let files = sections.write_files(&title, stage, &mut taken)?;
            let is_optional = |kind: &Kind| *kind == Kind::Optional;
            llms::write_section(&mut out, "Pages by section").at(&at)?;
            for (_, name, url) in files.iter().filter(|(kind, ..)| !is_optional(kind)) {
                llms::write_link(&mut out, name, url, "").at(&at)?;
            }
            if let Some((_, name, url)) = files.iter().find(|(kind, ..)| is_optional(kind)) {
                llms::write_section(&mut out, name).at(&at)?;
                llms::write_link(&mut out, "Lists of pages and old versions", url, "").at(&at)?;
            }
        } else {
            sections.write(&mut out)?;
        }
        let text = match existing {
            Some(existing) => {
                block::merged(existing, &String::from_utf8_lossy(&out), &block::MARKDOWN)
                    .into_bytes()
            }
            None => {
                writeln!(out, "\n{WHOLE}").at(&at)?;
                out
            }
        };
        let put = if existing.is_some() && plan.out.is_none() {
            stage.put_beside(Order::Llms, "llms.txt", &text)?
        } else {
            stage.put(Order::Llms, "llms.txt", &text)?
        };
        if matches!(put, Put::NotOurs | Put::Linked) {
            taken.push(("llms.txt".to_owned(), put));
        }
        Ok(taken)
    }
}

/// Takes a link with its section and the section's place.
type TakeLink<'t> = dyn FnMut(usize, &OutlineSection, &[u8]) -> Result<(), BuildError> + 't;

/// All links, to be written in order.
struct Sorted<'s> {
    plan: &'s Plan,
    links: Sorter,
    sections: &'s [OutlineSection],
    home_title: &'s str,
}

impl Sorted<'_> {
    /// Hands over every link with its section.
    fn each(self, take: &mut TakeLink<'_>) -> Result<(), BuildError> {
        let state = &self.plan.state;
        let mut sorted = self.links.finish().at(state)?;
        let mut entry = Entry::empty();
        while sorted.next(&mut entry).at(state)? {
            let at = entry.key.get(..3).and_then(|at| at.parse().ok()).unwrap_or(0);
            if let Some(section) = self.sections.get(at) {
                take(at, section, &entry.line)?;
            }
        }
        Ok(())
    }

    /// Writes all sections into one file.
    fn write(self, out: &mut Vec<u8>) -> Result<(), BuildError> {
        let (home_title, at) = (self.home_title, PathBuf::from("llms.txt"));
        let mut last = None;
        self.each(&mut |section_at, section, link| {
            if last.replace(section_at) != Some(section_at) {
                llms::write_section(out, &section.title(home_title)).at(&at)?;
            }
            out.write_all(link).at(&at)
        })
    }

    /// Writes a file for each section; returns their kinds, titles and addresses.
    fn write_files(
        self,
        site: &str,
        stage: &mut Stage,
        taken: &mut Taken,
    ) -> Result<Vec<(Kind, String, String)>, BuildError> {
        let (plan, sections, home_title) = (self.plan, self.sections, self.home_title);
        let mut files: Vec<(usize, Kind, String, PathBuf)> = Vec::new();
        let mut open = None;
        self.each(&mut |at, section, link| {
            if files.last().is_none_or(|(last, ..)| *last != at) {
                if let (Some(out), Some((.., path))) = (open.take(), files.last()) {
                    close_file(out, path)?;
                }
                let (title, path) = (section.title(home_title), stage.fresh());
                let own_title = format!("{site}: {title}");
                let summary = format!("The pages of the section {title}, one line each.");
                let head = llms::Head { title: &own_title, summary: &summary, notes: &[] };
                let mut out = publish::create(&path)?;
                llms::write_head(&mut out, &head).at(&path)?;
                llms::write_section(&mut out, &title).at(&path)?;
                open = Some(out);
                files.push((at, section.kind, title, path));
            }
            let path = files.last().map(|(.., path)| path.clone()).unwrap_or_default();
            open.as_mut().map_or(Ok(()), |out| out.write_all(link)).at(&path)
        })?;
        if let (Some(out), Some((.., path))) = (open, files.last()) {
            close_file(out, path)?;
        }
        let mut names: Vec<String> = vec![FULL.to_owned(), "llms.txt".to_owned()];
        let mut links = Vec::new();
        for (at, kind, title, path) in files {
            let Some(section) = sections.get(at) else { continue };
            let file = own_file(section, &title, &names);
            names.push(file.clone());
            match stage.take(Order::Parts, &file, &path)? {
                Put::Staged | Put::Same => links.push((kind, title, plan.base.join(&file))),
                put => taken.push((file, put)),
            }
        }
        Ok(links)
    }
}

fn close_file(mut out: BufWriter<File>, path: &Path) -> Result<(), BuildError> {
    writeln!(out, "\n{WHOLE}").at(path)?;
    publish::close(out, path)
}

/// The file of a section: in its folder where it has one of its own (v2).
fn own_file(section: &OutlineSection, title: &str, names: &[String]) -> String {
    let is_free = |name: &String| !names.contains(name);
    let folder = section.folder.as_deref().filter(|it| !it.is_empty() && !it.contains(['%', '?']));
    let in_folder = folder.map(|folder| format!("{folder}/llms.txt")).filter(is_free);
    if let Some(name) = in_folder.filter(|_| section.kind == Kind::Own) {
        return name;
    }
    let stem = match section.kind {
        Kind::Main => "main".to_owned(),
        Kind::More => "more".to_owned(),
        Kind::Optional => "optional".to_owned(),
        Kind::Own => {
            let words =
                title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
            let stem = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
            if matches!(stem.as_str(), "" | "main" | "more" | "optional") {
                format!("{stem}-section").trim_start_matches('-').to_owned()
            } else {
                stem
            }
        }
    };
    let numbered = (2..).map(|n| format!("llms-{stem}-{n}.txt"));
    let mut candidates = std::iter::once(format!("llms-{stem}.txt")).chain(numbered);
    candidates.find(is_free).unwrap_or_else(|| format!("llms-{stem}.txt"))
}

/// The navigation of the home page, where that is public: what it says is shown.
fn navigation(plan: &Plan, names: &Names, ledger: &Path) -> Result<Vec<NavLink>, BuildError> {
    if plan.source != Source::Html {
        return Ok(Vec::new());
    }
    let is_home =
        |name: &inventory::Name<'_>| inventory::is_home(&plan.base, name.url, Some(name.path));
    let Some(home) = names.iter().find(is_home) else { return Ok(Vec::new()) };
    let mut rows = Rows::open(ledger)?;
    let is_public = loop {
        match rows.next()? {
            Some(row) if row.url == home.url => break row.is_public(),
            Some(_) => {}
            None => break false,
        }
    };
    let (true, Ok(url)) = (is_public, PageUrl::parse(home.url.to_owned())) else {
        return Ok(Vec::new());
    };
    // A page that cannot be read was reported when it was read.
    let mut bytes = rutter_root::read(&plan.site, home.path).unwrap_or_default();
    bytes.truncate(HOME_BYTES);
    Ok(rutter_extract::navigation(&bytes, &url))
}

fn for_each_public(ledger: &Path, take: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let mut rows = Rows::open(ledger)?;
    while let Some(row) = rows.next()? {
        if row.is_public() {
            take(&row.url);
        }
    }
    Ok(())
}

/// What machines can read beside the pages (D82).
fn indexes(
    plan: &Plan,
    Indexes { sitemap, has_spxi }: Indexes<'_>,
    published: &Published,
    out: &mut Vec<u8>,
) -> std::io::Result<()> {
    llms::write_section(out, INDEXES)?;
    if let Some(sitemap) = sitemap {
        let note = "every page, when it changed, and which collections there are";
        llms::write_link(out, "Sitemap", &plan.base.join(sitemap), note)?;
    }
    if has_spxi {
        let note = "what the entities of this site are, what they are not, SPXI-Sitemap 1.0";
        llms::write_link(out, "Semantic index", &plan.base.join(rutter_spxi::INDEX), note)?;
    }
    let mut sections: Vec<&str> =
        published.collections.iter().map(|one| one.section.as_str()).collect();
    sections.sort_unstable();
    sections.dedup();
    for section in sections {
        let Some(snapshot) = published.last_snapshot(section) else { continue };
        let Some(file) = snapshot.files.first() else { continue };
        let url = plan.base.join(&format!("{SCP}/{}", file.name));
        let n_pages = snapshot.pages;
        let noun = if n_pages == 1 { "page" } else { "pages" };
        let note = format!("{n_pages} {noun} in one file, Site Content Protocol 0.1");
        let title =
            if section == ALL { "All pages".to_owned() } else { format!("Pages of {section}") };
        llms::write_link(out, &title, &url, &note)?;
    }
    Ok(())
}
