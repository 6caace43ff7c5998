//! Writes llms.txt, which lists every public page with its Markdown twin by section, and
//! llms-full.txt.
//!
//! Input: pages in the order of URLs. Output: staged files with the links in the order of the
//! site's navigation, else by priority and URL. Links are sorted on disk, so that memory does not
//! grow with the number of pages. Files of the site owner that block an artifact are kept and
//! reported.

mod full_text;
mod outline;
mod side_pages;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_extract::NavLink;
use rutter_llms as llms;
use rutter_page::PageUrl;
use rutter_scp::{KeyedLine, LineSorter};
use rutter_site::{
    ALL, LedgerReader, file_marks::INDEXES_HEADING, file_marks::WHOLE_FILE, marked_block,
};

use self::full_text::FullText;
use self::outline::{Outline, OutlineSection, SectionKind};
use super::{Entry, Layer, LayerInput, LayerOutput, OpenLayer, PageEntry};
use crate::address::SCP;
use crate::error::{BuildError, IoErrorContext};
use crate::plan::{BuildPlan, SourceKind};
use crate::stages::inventory::page_files::{PageFile, PageFiles};
use crate::staging::{PublishOrder, StageResult, StagingArea};
use crate::{address, staging};

/// Maximum size in bytes of the links in llms.txt; above it, each section gets its own file.
const MAX_SINGLE_FILE_BYTES: usize = 50_000;
/// Maximum length in characters of the note after the link to a page.
const MAX_NOTE_CHARS: usize = 200;
/// Maximum number of bytes of the home page that are searched for the site's navigation.
const HOME_BYTES: usize = 4 << 20;
/// Priority of pages without a priority in the sitemap.
const DEFAULT_PRIORITY: f32 = 0.5;
/// Name of the file with the content of all pages.
const FULL: &str = "llms-full.txt";

/// Collects the links to all pages and writes llms.txt, its section files and llms-full.txt.
struct LlmsLayer<'p> {
    input: &'p LayerInput<'p>,
    outline: Outline,
    links: LineSorter,
    full: Option<FullText>,
    n_bytes: usize,
    /// Title and description of the home page.
    home: Option<(String, String)>,
}

/// Opens the layer; `None` if it is off.
pub(crate) fn open<'p>(input: &'p LayerInput<'p>) -> Result<Option<OpenLayer<'p>>, BuildError> {
    let (plan, ledger) = (input.plan, input.draft.ledger());
    if !plan.layers.llms {
        return Ok(None);
    }
    let links = navigation(plan, &input.inventory.pages, &ledger)?;
    let mut outline = Outline::new(&plan.base, &input.published.sections, &links);
    for_each_public(&ledger, &mut |url| outline.count(url))?;
    if outline.has_versions() {
        for_each_public(&ledger, &mut |url| outline.compare(url))?;
    }
    outline.finish_sections();
    let full = plan.layers.llms_full.then(|| FullText::new(plan.layers.llms_full_bytes));
    let links = LineSorter::new(&plan.state);
    Ok(Some(Box::new(LlmsLayer { input, outline, links, full, n_bytes: 0, home: None })))
}

impl Layer for LlmsLayer<'_> {
    fn entry(&mut self, entry: &mut Entry<'_>, _: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        match entry {
            Entry::Page(page) if page.row.is_public() => self.page(page),
            _ => Ok(()),
        }
    }

    fn finish(self: Box<Self>, out: &mut LayerOutput<'_>) -> Result<(), BuildError> {
        let plan = self.input.plan;
        let existing = out.owner_file(plan, "llms.txt", &marked_block::MARKDOWN);
        // Findings about blocked files follow after all files are staged.
        let mut blocked = BlockedFiles::new();
        let text = self.text(existing.as_deref(), &mut blocked, out)?;
        let put = if existing.is_some() && plan.out.is_none() {
            out.stage.put_shared(PublishOrder::Llms, "llms.txt", &text)?
        } else {
            out.stage.put(PublishOrder::Llms, "llms.txt", &text)?
        };
        blocked.push(("llms.txt".to_owned(), put));
        for (name, put) in blocked {
            out.check(&name, put);
        }
        Ok(())
    }
}

impl LlmsLayer<'_> {
    /// Adds the link to a public page: to its Markdown twin, or to the page itself if it has no
    /// twin.
    fn page(&mut self, page: &PageEntry<'_>) -> Result<(), BuildError> {
        let (plan, row, meta) = (self.input.plan, page.row, &page.record.meta);
        if address::is_home(&plan.base, &row.url, page.path) {
            self.home = Some((meta.title.clone(), meta.description.clone()));
        }
        self.outline.learn_title(&row.url, &meta.title);
        let place = self.outline.place(&row.url);
        let extras = self.input.inventory.previous_sitemap.more.get(&row.url);
        let priority = extras.and_then(|more| more.priority);
        let priority = priority.unwrap_or(DEFAULT_PRIORITY).clamp(0.0, 1.0);
        let behind = 1.0 - priority;
        let key = format!("{:03}{:010}{behind:.3}{}", place.section, place.rank, row.url);
        let note: String = meta.description.chars().take(MAX_NOTE_CHARS).collect();
        let note = if note == meta.title { "" } else { &note };
        let twin = page.links.twin.as_deref().map(|twin| address::file_address(&plan.base, twin));
        let shown = twin.as_deref().unwrap_or(&row.url);
        let mut link = Vec::new();
        llms::write_link(&mut link, &meta.title, shown, note).at(&plan.state)?;
        self.n_bytes += link.len();
        if let Some(full) = &mut self.full {
            full.push(&key, (&row.url, &meta.title), &page.record.markdown);
        }
        self.links.push(&key, row.modified, &link).at(&plan.state)
    }

    /// Returns the text of llms.txt, and stages its section files and llms-full.txt.
    fn text(
        self: Box<Self>,
        existing: Option<&str>,
        blocked: &mut BlockedFiles,
        out: &mut LayerOutput<'_>,
    ) -> Result<Vec<u8>, BuildError> {
        let Self { input, outline, links, full, n_bytes, home } = *self;
        let (plan, at) = (input.plan, PathBuf::from("llms.txt"));
        let (home_title, summary) = home.unwrap_or_default();
        let title = plan.name.clone().filter(|name| !name.is_empty());
        let title = title.unwrap_or_else(|| home_title.clone());
        let title = if title.is_empty() { plan.base.origin().to_owned() } else { title };
        let summary = plan.summary.clone().unwrap_or(summary);
        let head = llms::LlmsHead { title: &title, summary: &summary, notes: &[] };
        let mut text = Vec::new();
        if existing.is_none() {
            llms::write_head(&mut text, &head).at(&at)?;
        }
        write_indexes(input, out.links.sitemaps.first(), &mut text).at(&at)?;
        if let Some(full) = full {
            put_full(plan, &full, (&head, &mut text), blocked, out)?;
        }
        let links =
            SortedLinks { plan, links, sections: &outline.sections, home_title: &home_title };
        if MAX_SINGLE_FILE_BYTES < n_bytes {
            let files = links.write_files(&title, out.stage, blocked)?;
            write_file_links(&files, &mut text).at(&at)?;
        } else {
            links.write(&mut text)?;
        }
        Ok(match existing {
            Some(existing) => marked_block::with_block(
                existing,
                &String::from_utf8_lossy(&text),
                &marked_block::MARKDOWN,
            )
            .into_bytes(),
            None => {
                writeln!(text, "\n{WHOLE_FILE}").at(&at)?;
                text
            }
        })
    }
}

/// Stages llms-full.txt, and adds the link to it to the text of llms.txt.
fn put_full(
    plan: &BuildPlan,
    full: &FullText,
    (head, text): (&llms::LlmsHead<'_>, &mut Vec<u8>),
    blocked: &mut BlockedFiles,
    out: &mut LayerOutput<'_>,
) -> Result<(), BuildError> {
    let note = full.note();
    let path = out.stage.new_path();
    let mut file = staging::create(&path)?;
    full.write(&mut file, head).at(&path)?;
    staging::close(file, &path)?;
    match out.stage.take(PublishOrder::Parts, FULL, &path)? {
        StageResult::Staged | StageResult::Unchanged => {
            llms::write_link(text, "Text of pages", &plan.base.join(FULL), &note)
                .at(Path::new("llms.txt"))
        }
        put => {
            blocked.push((FULL.to_owned(), put));
            Ok(())
        }
    }
}

/// Writes the links to the files of the sections.
fn write_file_links(files: &[SectionFile], text: &mut Vec<u8>) -> std::io::Result<()> {
    let is_optional = |file: &&SectionFile| file.kind == SectionKind::Optional;
    llms::write_section(text, "Pages by section")?;
    for file in files.iter().filter(|file| !is_optional(file)) {
        llms::write_link(text, &file.title, &file.url, "")?;
    }
    if let Some(file) = files.iter().find(is_optional) {
        llms::write_section(text, &file.title)?;
        llms::write_link(text, "Lists of pages and old versions", &file.url, "")?;
    }
    Ok(())
}

/// A file with the links of one section.
struct SectionFile {
    kind: SectionKind,
    title: String,
    url: String,
}

/// Names of artifacts that files of the site owner block, each with the result of staging it.
type BlockedFiles = Vec<(String, StageResult)>;

/// A callback that receives the index of a section, the section and a link in it.
type TakeLink<'t> = dyn FnMut(usize, &OutlineSection, &[u8]) -> Result<(), BuildError> + 't;

/// The links to all pages, sorted in the order of output.
struct SortedLinks<'s> {
    plan: &'s BuildPlan,
    links: LineSorter,
    sections: &'s [OutlineSection],
    home_title: &'s str,
}

impl SortedLinks<'_> {
    /// Passes every link to `take`, with its section.
    fn for_each(self, take: &mut TakeLink<'_>) -> Result<(), BuildError> {
        let state = &self.plan.state;
        let mut sorted = self.links.finish().at(state)?;
        let mut entry = KeyedLine::empty();
        while sorted.next(&mut entry).at(state)? {
            let at = entry.key.get(..3).and_then(|at| at.parse().ok()).unwrap_or(0);
            if let Some(section) = self.sections.get(at) {
                take(at, section, &entry.line)?;
            }
        }
        Ok(())
    }

    /// Writes the links of all sections into one text.
    fn write(self, out: &mut Vec<u8>) -> Result<(), BuildError> {
        let (home_title, at) = (self.home_title, PathBuf::from("llms.txt"));
        let mut last = None;
        self.for_each(&mut |section_at, section, link| {
            if last.replace(section_at) != Some(section_at) {
                llms::write_section(out, &section.title(home_title)).at(&at)?;
            }
            out.write_all(link).at(&at)
        })
    }

    /// Writes a file for each section, and returns the kind, title and URL of each.
    fn write_files(
        self,
        site: &str,
        stage: &mut StagingArea,
        blocked: &mut BlockedFiles,
    ) -> Result<Vec<SectionFile>, BuildError> {
        let (plan, sections, home_title) = (self.plan, self.sections, self.home_title);
        let mut files: Vec<(usize, SectionKind, String, PathBuf)> = Vec::new();
        let mut open = None;
        self.for_each(&mut |at, section, link| {
            if files.last().is_none_or(|(last, ..)| *last != at) {
                if let (Some(out), Some((.., path))) = (open.take(), files.last()) {
                    close_file(out, path)?;
                }
                let (title, path) = (section.title(home_title), stage.new_path());
                let own_title = format!("{site}: {title}");
                let summary = format!("The pages of the section {title}, one line each.");
                let head = llms::LlmsHead { title: &own_title, summary: &summary, notes: &[] };
                let mut out = staging::create(&path)?;
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
            let file = section_file(section, &title, &names);
            names.push(file.clone());
            match stage.take(PublishOrder::Parts, &file, &path)? {
                StageResult::Staged | StageResult::Unchanged => {
                    links.push(SectionFile { kind, title, url: plan.base.join(&file) });
                }
                put => blocked.push((file, put)),
            }
        }
        Ok(links)
    }
}

fn close_file(mut out: BufWriter<File>, path: &Path) -> Result<(), BuildError> {
    writeln!(out, "\n{WHOLE_FILE}").at(path)?;
    staging::close(out, path)
}

/// Returns the path of a section's file, which is in the folder of the section if the section has
/// one.
fn section_file(section: &OutlineSection, title: &str, names: &[String]) -> String {
    let is_free = |name: &String| !names.contains(name);
    let folder = section.folder.as_deref().filter(|it| !it.is_empty() && !it.contains(['%', '?']));
    let in_folder = folder.map(|folder| format!("{folder}/llms.txt")).filter(is_free);
    if let Some(name) = in_folder.filter(|_| section.kind == SectionKind::Own) {
        return name;
    }
    let stem = match section.kind {
        SectionKind::Main => "main".to_owned(),
        SectionKind::More => "more".to_owned(),
        SectionKind::Optional => "optional".to_owned(),
        SectionKind::Own => {
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

/// Returns the navigation links of the home page; empty if the home page is missing or not public.
fn navigation(
    plan: &BuildPlan,
    names: &PageFiles,
    ledger: &Path,
) -> Result<Vec<NavLink>, BuildError> {
    if plan.source != SourceKind::Html {
        return Ok(Vec::new());
    }
    let is_home = |name: &PageFile<'_>| address::is_home(&plan.base, name.url, Some(name.path));
    let Some(home) = names.iter().find(is_home) else { return Ok(Vec::new()) };
    let mut rows = LedgerReader::open(ledger)?;
    let is_public = loop {
        match rows.next_row()? {
            Some(row) if row.url == home.url => break row.is_public(),
            Some(_) => {}
            None => break false,
        }
    };
    let (true, Ok(url)) = (is_public, PageUrl::parse(home.url.to_owned())) else {
        return Ok(Vec::new());
    };
    // An unreadable home page was already reported when the pages were read.
    let mut bytes = rutter_root::read(&plan.site, home.path).unwrap_or_default();
    bytes.truncate(HOME_BYTES);
    Ok(rutter_extract::navigation(&bytes, &url))
}

fn for_each_public(ledger: &Path, take: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let mut rows = LedgerReader::open(ledger)?;
    while let Some(row) = rows.next_row()? {
        if row.is_public() {
            take(&row.url);
        }
    }
    Ok(())
}

/// Writes the links to the sitemap, the SPXI index and the collections (D82).
fn write_indexes(
    input: &LayerInput<'_>,
    sitemap: Option<&String>,
    out: &mut Vec<u8>,
) -> std::io::Result<()> {
    let LayerInput { plan, published, .. } = input;
    llms::write_section(out, INDEXES_HEADING)?;
    if let Some(sitemap) = sitemap {
        let note = "every page, when it changed, and which collections there are";
        llms::write_link(out, "Sitemap", &plan.base.join(sitemap), note)?;
    }
    if input.has_index() {
        let note = "what the entities of this site are, what they are not, SPXI-Sitemap 1.0";
        llms::write_link(out, "Semantic index", &plan.base.join(rutter_spxi::INDEX_FILE), note)?;
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
