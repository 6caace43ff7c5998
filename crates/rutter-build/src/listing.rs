//! llms.txt: every public page with its twin and one line, by section.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use rutter_signpost::llms;

use crate::block;
use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::ledger::Row;
use crate::pack::Meta;
use crate::plan::Plan;
use crate::publish::{self, Order, Put, Stage};
use crate::section::{ALL, MAIN, Sections};
use crate::signs::SCP;

/// Bytes above which sections have files of their own.
const LONGEST: usize = 50_000;
/// At the end of a file that is ours alone, so that it is known again.
pub(crate) const WHOLE: &str = "<!-- rutter:whole -->";
/// Longest line about a page, in characters.
const LONGEST_NOTE: usize = 200;

/// Gathers links, one file for each section until all are there.
#[derive(Debug)]
pub(crate) struct Listing<'p> {
    plan: &'p Plan,
    sections: Vec<Part>,
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

#[derive(Debug)]
struct Part {
    name: String,
    /// Path prefix, where it has one.
    prefix: Option<String>,
    path: PathBuf,
    out: BufWriter<File>,
    n_links: u64,
}

impl<'p> Listing<'p> {
    pub(crate) fn new(
        plan: &'p Plan,
        sections: &Sections,
        stage: &mut Stage,
    ) -> Result<Self, BuildError> {
        let mut parts = Vec::new();
        for name in sections.names() {
            let path = stage.fresh();
            let out = publish::create(&path)?;
            let prefix = sections.prefix(name).map(str::to_owned);
            parts.push(Part { name: name.to_owned(), prefix, path, out, n_links: 0 });
        }
        Ok(Self { plan, sections: parts, n_bytes: 0, home: None })
    }

    pub(crate) fn page(&mut self, row: &Row, meta: &Meta, shown: &str) -> Result<(), BuildError> {
        if row.url == self.plan.base.as_str() {
            self.home = Some((meta.title.clone(), meta.description.clone()));
        }
        let Some(part) = self.sections.iter_mut().find(|part| part.name == row.section) else {
            return Ok(());
        };
        let note: String = meta.description.chars().take(LONGEST_NOTE).collect();
        let note = if note == meta.title { "" } else { &note };
        let mut link = Vec::new();
        llms::write_link(&mut link, &meta.title, shown, note).at(&part.path)?;
        self.n_bytes += link.len();
        part.n_links += 1;
        part.out.write_all(&link).at(&part.path)
    }

    /// Puts everything together; gives a name that was taken by somebody else.
    pub(crate) fn finish(
        self,
        named: Indexes<'_>,
        published: &Published,
        existing: Option<&str>,
        stage: &mut Stage,
    ) -> Result<Option<(String, Put)>, BuildError> {
        let Self { plan, sections, n_bytes, home } = self;
        let is_split = LONGEST < n_bytes;
        let mut parts = Vec::new();
        for part in sections {
            publish::close(part.out, &part.path)?;
            if part.n_links != 0 {
                parts.push((part.name, part.prefix, part.path));
            }
        }
        let (title, summary) = home.unwrap_or_default();
        let title = plan.name.clone().filter(|name| !name.is_empty()).unwrap_or(title);
        let title = if title.is_empty() { plan.base.origin().to_owned() } else { title };
        let summary = plan.summary.clone().unwrap_or(summary);
        let mut out = Vec::new();
        let at = PathBuf::from("llms.txt");
        if existing.is_none() {
            let head = llms::Head { title: &title, summary: &summary, notes: &[] };
            llms::write_head(&mut out, &head).at(&at)?;
        }
        indexes(plan, named, published, &mut out).at(&at)?;
        let mut taken = None;
        if is_split {
            let mut links = Vec::new();
            for (name, prefix, path) in &parts {
                let file = own_file(plan, name, prefix.as_deref());
                let mut text = Vec::new();
                let own_title = format!("{title}: {name}");
                let own_summary = format!("The pages of the section {name}, one line each.");
                let head = llms::Head { title: &own_title, summary: &own_summary, notes: &[] };
                llms::write_head(&mut text, &head).at(path)?;
                llms::write_section(&mut text, name).at(path)?;
                let whole = stage.fresh();
                let mut whole_out = publish::create(&whole)?;
                whole_out.write_all(&text).at(&whole)?;
                std::io::copy(&mut File::open(path).at(path)?, &mut whole_out).at(&whole)?;
                publish::close(whole_out, &whole)?;
                if stage.take(Order::Parts, &file, &whole)? == Put::NotOurs {
                    taken = Some((file, Put::NotOurs));
                    continue;
                }
                links.push((name.clone(), plan.base.join(&file)));
            }
            llms::write_section(&mut out, "Pages by section").at(&at)?;
            for (name, url) in links {
                llms::write_link(&mut out, &name, &url, "").at(&at)?;
            }
        } else {
            for (name, _, path) in &parts {
                // Where there is one section only, it needs no name.
                let shown = if name == MAIN { "Pages" } else { name };
                llms::write_section(&mut out, shown).at(&at)?;
                let lines = BufReader::new(File::open(path).at(path)?);
                for line in lines.lines() {
                    writeln!(out, "{}", line.at(path)?).at(&at)?;
                }
            }
        }
        for (_, _, path) in &parts {
            std::fs::remove_file(path).at(path)?;
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
            taken = Some(("llms.txt".to_owned(), put));
        }
        Ok(taken)
    }
}

/// The file of a section: in its folder where it has one of its own (v2).
fn own_file(plan: &Plan, name: &str, prefix: Option<&str>) -> String {
    let inside = prefix.and_then(|prefix| prefix.strip_prefix(plan.base.path()));
    match inside.filter(|inside| inside.ends_with('/') && !inside.contains('%')) {
        Some(inside) => format!("{inside}llms.txt"),
        None => format!("llms-{name}.txt"),
    }
}

/// What machines can read beside the pages (D82).
fn indexes(
    plan: &Plan,
    Indexes { sitemap, has_spxi }: Indexes<'_>,
    published: &Published,
    out: &mut Vec<u8>,
) -> std::io::Result<()> {
    llms::write_section(out, "Machine-readable indexes")?;
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
