//! `rutter spxi suggest`: drafts entities from the JSON-LD and the `spxi:*` meta tags of a site.
//!
//! The command copies only statements of the pages: it never invents a marker or a negative tag.
//! Skips pages with `noindex` or `noai`.

use std::fs;
use std::path::PathBuf;

use rutter_build::BuildPlan;
use rutter_extract::{ExtractOptions, Extraction};
use rutter_page::PageUrl;
use rutter_spxi::schema_types::{is_subtype, is_type};
use rutter_spxi::without_fragment;
use serde_json::Value;

use super::{BuiltSiteArgs, new};
use crate::commands::counted;
use crate::config::entity::DeclaredEntity;
use crate::config::entity::template::{EntityDraft, template};
use crate::exit::ExitStatus;
use crate::output::Output;

/// Maximum size of a page in bytes; larger pages are skipped.
const MAX_PAGE_BYTES: u64 = 10_000_000;
/// Maximum nesting of JSON-LD nodes.
const MAX_DEPTH: usize = 16;
/// Maximum number of drafts.
const MAX_DRAFTS: usize = 100;

/// Arguments of `rutter spxi suggest`.
#[derive(Debug, clap::Args)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    site: BuiltSiteArgs,
    /// Write an entity file for each draft
    ///
    /// Existing files are not overwritten. By default, the drafts are printed.
    #[arg(long)]
    write: bool,
    /// Folder to write the entity files to
    ///
    /// Default: entities beside rutter.toml.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &SuggestArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let settled = args.site.settle(out)?;
    let plan = &settled.plan;
    let folder = args.folder.as_ref().unwrap_or(&settled.folder);
    let pages = plan.list_pages()?;
    let mut found = EntityDrafts::default();
    for page in &pages {
        let path = plan.site.join(&page.path);
        if fs::metadata(&path).map_or(true, |metadata| MAX_PAGE_BYTES < metadata.len()) {
            continue;
        }
        let (Ok(bytes), Ok(url)) = (fs::read(&path), PageUrl::parse(page.url.clone())) else {
            continue;
        };
        let extraction = rutter_extract::html(&bytes, &ExtractOptions::new(url, plan.now));
        // Pages that ask not to be indexed are not used.
        if extraction.facts.asks("noindex") || extraction.facts.asks("noai") {
            continue;
        }
        found.page(plan, &page.url, &extraction);
    }
    let declared: Vec<&str> = settled.entities.iter().map(DeclaredEntity::name).collect();
    let drafts: Vec<EntityDraft> = found
        .settle()
        .into_iter()
        .filter(|draft| !draft.name.as_deref().is_some_and(|name| declared.contains(&name)))
        .take(MAX_DRAFTS)
        .collect();
    let n_pages = counted(pages.len() as u64, "page");
    if drafts.is_empty() {
        out.say(format_args!(
            "{n_pages} searched: no JSON-LD and no `spxi:` meta tag describes a new entity"
        ));
        return Ok(ExitStatus::Clean);
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
            writeln!(out.data(), "{}", template(draft))?;
        }
    }
    let noun = if n_drafts == 1 { "entity" } else { "entities" };
    out.say(format_args!(
        "{n_pages} searched, {n_drafts} {noun} drafted; add negative tags and markers yourself"
    ));
    if !args.write {
        out.say(format_args!("to write them to {}, use --write", folder.display()));
    }
    Ok(ExitStatus::Clean)
}

/// Drafts of entities, each with the number of its mentions.
#[derive(Debug, Default)]
struct EntityDrafts {
    drafts: Vec<(EntityDraft, usize)>,
}

/// Returns whether a type of schema.org can be the subject of a site.
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
    // Types of pages and of parts of pages: they cannot be the subject of a site.
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

impl EntityDrafts {
    fn page(&mut self, plan: &BuildPlan, url: &str, extraction: &Extraction) {
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
            // The JSON parser limits the nesting.
            if let Ok(value) = serde_json::from_str::<Value>(block) {
                self.node(plan, url, &value, 0);
            }
        }
        let is_silent = self.drafts.len() == before;
        let path = path_of(plan, url);
        let is_own = |draft: &EntityDraft| draft.page.as_ref() == Some(&path);
        // If the page has several entities, it is unknown to which one the markers belong.
        let n_own = self.drafts.iter().filter(|(draft, _)| is_own(draft)).count();
        let own = self.drafts.iter_mut().find(|(draft, _)| is_own(draft));
        match own {
            Some(_) if 1 < n_own => {}
            Some((draft, _)) => {
                merge(&mut draft.markers, markers);
                merge(&mut draft.same_as, same_as);
            }
            None if !markers.is_empty() && is_silent => {
                let draft = EntityDraft {
                    page: Some(path),
                    name: Some(extraction.page.title.to_string()).filter(|it| !it.is_empty()),
                    markers,
                    same_as,
                    from: Some(format!("the meta tags of {url}")),
                    ..EntityDraft::default()
                };
                self.drafts.push((draft, 1));
            }
            None => {}
        }
    }

    fn node(&mut self, plan: &BuildPlan, url: &str, value: &Value, depth: usize) {
        if MAX_DEPTH < depth {
            return;
        }
        match value {
            Value::Array(items) => {
                for item in items {
                    self.node(plan, url, item, depth + 1);
                }
            }
            Value::Object(members) => {
                // A nested entity is only mentioned on this page.
                let is_top = depth <= 1;
                self.entity(plan, url, value, is_top);
                for (name, inner) in members {
                    // The entities of a graph are not nested.
                    let is_graph = name == "@graph" && depth == 0;
                    self.node(plan, url, inner, if is_graph { 0 } else { depth + 2 });
                }
            }
            _ => {}
        }
    }

    fn entity(&mut self, plan: &BuildPlan, url: &str, node: &Value, is_top: bool) {
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
        let draft = EntityDraft {
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

    /// Returns the drafts, sorted by their number of mentions.
    fn settle(self) -> Vec<EntityDraft> {
        let mut drafts = self.drafts;
        drafts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        drafts.into_iter().map(|(draft, _)| draft).collect()
    }
}

fn path_of(plan: &BuildPlan, url: &str) -> String {
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

/// Returns the texts of a JSON-LD member: one or several strings, with or without a language, or the
/// URL of a node.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.trim().to_owned()],
        Some(Value::Array(items)) => items.iter().flat_map(|item| texts(Some(item))).collect(),
        Some(Value::Object(members)) => texts(members.get("@value").or_else(|| members.get("@id"))),
        _ => Vec::new(),
    }
}
