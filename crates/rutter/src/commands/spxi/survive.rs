//! `rutter spxi survive`: which markers reach a reader, step by step.
//!
//! Everything is read from the folder that is published: pages, collections,
//! twins, the ARC sitemap, the index. No model is asked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_arc::{Form, Limits as ArcLimits, open};
use rutter_build::Plan;
use rutter_extract::Options;
use rutter_page::{Own, Page, PageUrl, Timestamp};
use rutter_scp::{Options as ReadOptions, Reader};
use rutter_spxi::{INDEX, Index, read_index, without_fragment};
use rutter_survival::{Markers, Stage, Survivals, Texts, trace};

use super::SiteArgs;
use crate::config::Fault;
use crate::exit::Exit;
use crate::output::Output;

/// Largest page that is looked at.
const LARGEST: u64 = 100_000_000;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    site: SiteArgs,
    /// File for a chart of what each step keeps
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print every marker and every step as JSON
    #[arg(long)]
    json: bool,
    /// End with 1 where a marker is not seen on its page, or lost in blocks or twin
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let settled = args.site.settle(out)?;
    let plan = &settled.plan;
    let dir = plan.target();
    let path = dir.join(INDEX);
    if !path.is_file() {
        let what = format!("{}: there is no index", path.display());
        return Err(Fault::missing(what, "run `rutter build` first, with entities declared").into());
    }
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    let index = read_index(&bytes, &mut ()).with_context(|| path.display().to_string())?;
    let survivals = Published { plan, dir, index: &index }.survivals()?;
    if let Some(file) = &args.svg {
        fs::write(file, survivals.to_svg()).with_context(|| file.display().to_string())?;
    }
    if args.json {
        let mut text = String::new();
        survivals.to_json().to_pretty(0, &mut text);
        writeln!(out.data(), "{text}")?;
    } else {
        out.data().write_all(survivals.to_table().as_bytes())?;
    }
    let must = [Stage::Visible, Stage::Blocks, Stage::Twin];
    let is_lost = survivals
        .entities
        .iter()
        .flat_map(|entity| &entity.markers)
        .any(|marker| must.iter().any(|stage| marker.kept_by(*stage) == Some(false)));
    Ok(if args.strict && is_lost { Exit::Findings } else { Exit::Clean })
}

/// A folder that is published, and its index.
struct Published<'p> {
    plan: &'p Plan,
    dir: &'p Path,
    index: &'p Index,
}

impl Published<'_> {
    fn survivals(&self) -> anyhow::Result<Survivals> {
        let pages = rutter_build::pages(self.plan)?;
        let entities = self.index.entities.iter();
        let wanted: Vec<&str> =
            entities.clone().filter_map(|one| one.id.as_deref()).map(without_fragment).collect();
        let lines = self.collections(&wanted)?;
        let summaries = self.summaries(&wanted)?;
        let markers = entities.clone().flat_map(|one| one.markers.iter().map(String::as_str));
        let markers = Markers::new(markers);
        let kernel = self.index.kernel.as_ref().and_then(|kernel| kernel.summary.as_deref());
        let mut survivals = Survivals::default();
        let mut first = 0;
        for entity in entities {
            let ids: Vec<usize> = (first..first + entity.markers.len()).collect();
            first += entity.markers.len();
            let id = entity.id.as_deref().unwrap_or_default();
            let url = without_fragment(id);
            let page = pages.iter().find(|page| page.url == url);
            let bytes = page.and_then(|page| self.read(&page.path));
            let document = bytes.as_deref().map(rutter_extract::decoded);
            let seen = bytes.as_deref().and_then(|bytes| {
                let url = PageUrl::parse(url.to_owned()).ok()?;
                Some(rutter_extract::html(bytes, &Options::new(url, self.plan.now)))
            });
            let visible = seen.as_ref().map(rutter_extract::Extraction::shown_text);
            let places = seen.as_ref().zip(visible.as_deref());
            let twin = page.and_then(|page| page.twin.as_deref()).and_then(|twin| self.read(twin));
            let twin = twin.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let texts = Texts {
                document: document.as_deref(),
                places: places.map(|(seen, visible)| rutter_build::places(seen, visible)),
                page: lines.get(url).map(|(_, page)| page),
                twin: twin.as_deref(),
                summary: summaries.get(url).map(String::as_str),
                kernel,
            };
            let name = entity.name.as_deref().unwrap_or(id);
            survivals.entities.push(trace(&markers, (name, id), &ids, &texts));
        }
        Ok(survivals)
    }

    /// A file below the folder; one that is not there is no step.
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.dir.join(path);
        let size = fs::metadata(&path).ok()?.len();
        if LARGEST < size { None } else { fs::read(path).ok() }
    }

    /// The pages of entities as the newest collections have them.
    fn collections(
        &self,
        wanted: &[&str],
    ) -> anyhow::Result<BTreeMap<String, (Timestamp, Page<'static>)>> {
        let mut found: BTreeMap<String, (Timestamp, Page<'static>)> = BTreeMap::new();
        let folder = self.dir.join("scp");
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(found) };
        for entry in entries {
            let path = entry.with_context(|| folder.display().to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // The same pages come as gzip, too.
            if !name.ends_with(".scp.zst") && !name.ends_with(".scp") {
                continue;
            }
            let shown = || path.display().to_string();
            let file = File::open(&path).with_context(shown)?;
            let mut reader =
                Reader::open(file, ReadOptions::default(), &mut ()).with_context(shown)?;
            let generated = reader.header().generated;
            let mut taken = Vec::new();
            let mut take = |page: &Page<'_>| {
                if wanted.contains(&page.url.as_str()) {
                    taken.push(page.clone().own());
                }
            };
            while reader.next(&mut (), |record| take(&record.page)).with_context(shown)?.is_some() {
            }
            reader.finish(&mut ()).with_context(shown)?;
            for page in taken {
                let url = page.url.as_str().to_owned();
                if found.get(&url).is_none_or(|(known, _)| *known < generated) {
                    found.insert(url, (generated, page));
                }
            }
        }
        Ok(found)
    }

    /// What the ARC sitemap says of the pages.
    fn summaries(&self, wanted: &[&str]) -> anyhow::Result<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        let path = self.dir.join("arc-sitemap.json");
        let Ok(file) = File::open(&path) else { return Ok(found) };
        let shown = || path.display().to_string();
        let mut reader = open(file, Form::Json, ArcLimits::USUAL).with_context(shown)?;
        while let Some(entry) = reader.next_owned(&mut ()).with_context(shown)? {
            if wanted.contains(&entry.url.as_str()) {
                let summary = entry.ai_summary.map(|text| text.to_string()).unwrap_or_default();
                found.insert(entry.url.as_str().to_owned(), summary);
            }
        }
        Ok(found)
    }
}
