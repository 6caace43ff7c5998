//! `rutter spxi suggest`: drafts of entities from the JSON-LD and the
//! `spxi:*` metas of a site's pages.
//!
//! Refuses: to think of a marker or a negative tag; it repeats what pages say.

use std::fs;
use std::path::PathBuf;

use rutter_build::Plan;
use rutter_extract::{Extraction, Options};
use rutter_page::PageUrl;
use rutter_spxi::kinds::{is_subtype, is_type};
use rutter_spxi::without_fragment;
use serde_json::Value;

use super::{SiteArgs, new};
use crate::commands::counted;
use crate::config::entity::{self, Draft, Stated};
use crate::exit::Exit;
use crate::output::Output;

/// Largest page that is looked at.
const LARGEST: u64 = 10_000_000;
/// Deepest nesting of nodes that is followed.
const DEEPEST: usize = 16;
/// Most entities that are drafted; more are hardly the site's own.
const MOST: usize = 100;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    site: SiteArgs,
    /// Write a file for each entity, where there is none yet
    #[arg(long)]
    write: bool,
    /// Folder for these files [default: entities beside rutter.toml]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let settled = args.site.settle(out)?;
    let plan = &settled.plan;
    let folder = args.folder.as_ref().unwrap_or(&settled.folder);
    let pages = rutter_build::pages(plan)?;
    let mut found = Found::default();
    for page in &pages {
        let path = plan.site.join(&page.path);
        if fs::metadata(&path).map_or(true, |metadata| LARGEST < metadata.len()) {
            continue;
        }
        let (Ok(bytes), Ok(url)) = (fs::read(&path), PageUrl::parse(page.url.clone())) else {
            continue;
        };
        let extraction = rutter_extract::html(&bytes, &Options::new(url, plan.now));
        // What is not meant to be found is not offered for an index.
        if extraction.facts.asks("noindex") || extraction.facts.asks("noai") {
            continue;
        }
        found.page(plan, &page.url, &extraction);
    }
    let declared: Vec<&str> = settled.entities.iter().map(Stated::name).collect();
    let drafts: Vec<Draft> = found
        .settle()
        .into_iter()
        .filter(|draft| !draft.name.as_deref().is_some_and(|name| declared.contains(&name)))
        .take(MOST)
        .collect();
    let n_pages = counted(pages.len() as u64, "page");
    if drafts.is_empty() {
        out.say(format_args!(
            "{n_pages} looked at: no JSON-LD or `spxi:` meta speaks of an entity that is not declared"
        ));
        return Ok(Exit::Clean);
    }
    let n_drafts = drafts.len() as u64;
    for draft in &drafts {
        let name = draft.name.as_deref().unwrap_or_default();
        if args.write {
            match new::write(folder, name, draft) {
                Ok(path) => writeln!(out.data(), "{}", path.display())?,
                Err(error) => out.warn(format_args!("{error:#}")),
            }
        } else {
            writeln!(out.data(), "{}", entity::template(draft))?;
        }
    }
    let noun = if n_drafts == 1 { "entity" } else { "entities" };
    out.say(format_args!(
        "{n_pages} looked at, {n_drafts} {noun} drafted; what they are not and what must survive is yours to say"
    ));
    if !args.write {
        out.say(format_args!("--write puts them into {}", folder.display()));
    }
    Ok(Exit::Clean)
}

/// What pages say of entities.
#[derive(Debug, Default)]
struct Found {
    drafts: Vec<(Draft, usize)>,
}

/// Types of schema.org that name something a site can be about.
fn is_about(kind: &str) -> bool {
    let roots = [
        "Person",
        "Organization",
        "Place",
        "Product",
        "Event",
        "CreativeWork",
        "Brand",
        "Service",
        "DefinedTerm",
        "Taxon",
    ];
    // What pages are, and parts of pages.
    let parts = [
        "WebPage",
        "WebSite",
        "WebPageElement",
        "Article",
        "MediaObject",
        "Comment",
        "Review",
        "Question",
        "Answer",
        "HowToSection",
        "HowToStep",
        "Claim",
        "DataDownload",
        "ItemList",
        "Offer",
        "PostalAddress",
        "Message",
        "Conversation",
    ];
    is_type(kind)
        && roots.iter().any(|root| is_subtype(kind, root))
        && !parts.iter().any(|part| is_subtype(kind, part))
}

impl Found {
    fn page(&mut self, plan: &Plan, url: &str, extraction: &Extraction) {
        let metas = |wanted: &'static str| {
            let metas = extraction.facts.metas.iter();
            let found = metas.filter(move |(name, _)| name == wanted);
            found.map(|(_, content)| content.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let markers: Vec<String> = metas("spxi:sim").collect();
        let mut same_as: Vec<String> =
            metas("spxi:doi").map(|doi| link("https://doi.org/", doi)).collect();
        same_as.extend(metas("spxi:orcid").map(|id| link("https://orcid.org/", id)));
        let before = self.drafts.len();
        for block in &extraction.facts.json_ld {
            // Nesting is bounded by the parser.
            if let Ok(value) = serde_json::from_str::<Value>(block) {
                self.node(plan, url, &value, 0);
            }
        }
        let is_silent = self.drafts.len() == before;
        let path = path_of(plan, url);
        let is_own = |draft: &Draft| draft.page.as_ref() == Some(&path);
        // Of several entities nobody can tell whose the markers are.
        let n_own = self.drafts.iter().filter(|(draft, _)| is_own(draft)).count();
        let own = self.drafts.iter_mut().find(|(draft, _)| is_own(draft));
        match own {
            Some(_) if 1 < n_own => {}
            Some((draft, _)) => {
                merge(&mut draft.markers, markers);
                merge(&mut draft.same_as, same_as);
            }
            None if !markers.is_empty() && is_silent => {
                let draft = Draft {
                    page: Some(path),
                    name: Some(extraction.page.title.to_string()).filter(|it| !it.is_empty()),
                    markers,
                    same_as,
                    from: Some(format!("the metas of {url}")),
                    ..Draft::default()
                };
                self.drafts.push((draft, 1));
            }
            None => {}
        }
    }

    fn node(&mut self, plan: &Plan, url: &str, value: &Value, depth: usize) {
        if DEEPEST < depth {
            return;
        }
        match value {
            Value::Array(items) => {
                for item in items {
                    self.node(plan, url, item, depth + 1);
                }
            }
            Value::Object(members) => {
                // What stands inside another thing is only mentioned here.
                let is_top = depth <= 1;
                self.entity(plan, url, value, is_top);
                for (name, inner) in members {
                    // The things of a graph stand for themselves.
                    let is_graph = name == "@graph" && depth == 0;
                    self.node(plan, url, inner, if is_graph { 0 } else { depth + 2 });
                }
            }
            _ => {}
        }
    }

    fn entity(&mut self, plan: &Plan, url: &str, node: &Value, is_top: bool) {
        let kinds = texts(node.get("@type"));
        let bare = |kind: &String| kind.rsplit(['/', ':', '#']).next().unwrap_or(kind).to_owned();
        let Some(kind) = kinds.iter().map(bare).find(|kind| is_about(kind)) else { return };
        let Some(name) = texts(node.get("name")).into_iter().find(|name| !name.trim().is_empty())
        else {
            return;
        };
        let mut own = texts(node.get("url")).into_iter().chain(texts(node.get("@id")));
        let inside = own.find(|own| own.starts_with(plan.base.as_str()));
        let page = inside.as_deref().map(|own| path_of(plan, own));
        let page = page.or_else(|| is_top.then(|| path_of(plan, url)));
        let tags = |term: &str| {
            let of = |prefix: &str| texts(node.get(format!("{prefix}:{term}")));
            let mut all = of("spxi");
            merge(&mut all, of("mp"));
            all
        };
        let draft = Draft {
            page,
            kind: Some(kind),
            name: Some(name),
            alternate_names: texts(node.get("alternateName")),
            description: texts(node.get("description")).into_iter().next(),
            same_as: texts(node.get("sameAs")),
            markers: tags("semanticIntegrityMarker"),
            negative_tags: tags("negativeTag"),
            from: Some(format!("the JSON-LD of {url}")),
        };
        let known = self
            .drafts
            .iter_mut()
            .find(|(known, _)| known.name == draft.name && known.kind == draft.kind);
        match known {
            Some((known, n)) => {
                *n += 1;
                known.page = known.page.take().or(draft.page);
                known.description = known.description.take().or(draft.description);
                merge(&mut known.alternate_names, draft.alternate_names);
                merge(&mut known.same_as, draft.same_as);
                merge(&mut known.markers, draft.markers);
                merge(&mut known.negative_tags, draft.negative_tags);
            }
            None => self.drafts.push((draft, 1)),
        }
    }

    /// The drafts, what is spoken of most first.
    fn settle(self) -> Vec<Draft> {
        let mut drafts = self.drafts;
        drafts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        drafts.into_iter().map(|(draft, _)| draft).collect()
    }
}

fn path_of(plan: &Plan, url: &str) -> String {
    let page = without_fragment(url);
    let path = page.strip_prefix(plan.base.origin()).unwrap_or(page);
    if path.is_empty() { "/".to_owned() } else { path.to_owned() }
}

fn link(start: &str, text: String) -> String {
    if text.starts_with("http://") || text.starts_with("https://") {
        text
    } else {
        format!("{start}{text}")
    }
}

fn merge(all: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !all.contains(&text) {
            all.push(text);
        }
    }
}

/// The texts of a member: one, several, with or without a language, or the
/// address of a node.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.trim().to_owned()],
        Some(Value::Array(items)) => items.iter().flat_map(|item| texts(Some(item))).collect(),
        Some(Value::Object(members)) => texts(members.get("@value").or_else(|| members.get("@id"))),
        _ => Vec::new(),
    }
}
