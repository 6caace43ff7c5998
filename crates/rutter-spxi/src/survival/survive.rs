//! Traces which markers each step between a page and its reader loses (SPX-066).
//!
//! Input: the texts of all steps, which the caller provides. Output: the markers in each text. A
//! step that does not exist for a page, such as a missing Markdown twin, is distinguished from a
//! step that loses all markers.

mod chart;
mod plain;
mod table;

use std::collections::BTreeSet;

use crate::MarkerStatus;
use rutter_page::{Block, JsonTree, Page};

use crate::survival::fold::{LineBreaks, collapse};
use crate::survival::markers::{MarkerSearch, PageTexts, strings_of};

pub(crate) use plain::of_markdown;
pub(crate) use table::push_rows;

/// A step between a page and its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStage {
    /// The whole served document: text without tags, then attribute values, scripts and comments.
    Html,
    /// The visible text (D70). Only exact matches count.
    Visible,
    /// The first characters of the visible text, as an agent reads them that truncates the page
    /// there.
    Cut(usize),
    /// The blocks of the SCP page, one by one.
    Blocks,
    /// The Markdown twin without its syntax, block by block.
    Twin,
    /// The summary in the ARC sitemap.
    Summary,
    /// The kernel summary of the site.
    Kernel,
}

impl PathStage {
    /// All steps in display order.
    pub const ALL: [Self; 10] = [
        Self::Html,
        Self::Visible,
        Self::Cut(100_000),
        Self::Cut(50_000),
        Self::Cut(20_000),
        Self::Cut(5_000),
        Self::Blocks,
        Self::Twin,
        Self::Summary,
        Self::Kernel,
    ];

    /// Returns the keyword of the step.
    pub fn word(self) -> String {
        match self {
            Self::Html => "html".to_owned(),
            Self::Visible => "visible".to_owned(),
            Self::Cut(n) if n % 1000 == 0 => format!("cut-{}k", n / 1000),
            Self::Cut(n) => format!("cut-{n}"),
            Self::Blocks => "blocks".to_owned(),
            Self::Twin => "twin".to_owned(),
            Self::Summary => "summary".to_owned(),
            Self::Kernel => "kernel".to_owned(),
        }
    }
}

/// Texts of one page at each step. A text that does not exist is `None`.
#[derive(Debug, Clone, Default)]
pub struct PathTexts<'t> {
    /// The HTML document as served.
    pub document: Option<&'t str>,
    /// Visible text, metadata of the head, and JSON-LD of the page.
    pub places: Option<PageTexts<'t>>,
    /// The SCP page.
    pub page: Option<&'t Page<'t>>,
    /// The text of the Markdown twin.
    pub twin: Option<&'t str>,
    /// The member `ai_summary` of the ARC sitemap.
    pub summary: Option<&'t str>,
    /// The kernel summary of the site.
    pub kernel: Option<&'t str>,
}

/// Survival of the markers of one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySurvival {
    /// The name of the entity.
    pub name: String,
    /// URL of the page of the entity.
    pub url: String,
    /// The markers of the entity, in the order of the index.
    pub markers: Vec<MarkerTrace>,
}

/// Survival of one marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerTrace {
    /// The marker with collapsed white space.
    pub text: String,
    /// Status of the marker on the page (D70).
    pub status: MarkerStatus,
    /// Whether each step of [`PathStage::ALL`] keeps the marker; `None` for a step that does not
    /// exist.
    pub kept: [Option<bool>; PathStage::ALL.len()],
}

impl MarkerTrace {
    /// Returns whether a step keeps the marker; `None` for a step that does not exist.
    pub fn kept_by(&self, stage: PathStage) -> Option<bool> {
        let mut stages = PathStage::ALL.iter().zip(&self.kept);
        stages.find(|(it, _)| **it == stage).and_then(|(_, kept)| *kept)
    }

    /// Returns the first step that loses the marker.
    pub fn first_lost(&self) -> Option<PathStage> {
        let mut stages = PathStage::ALL.iter().zip(&self.kept);
        stages.find(|(_, kept)| **kept == Some(false)).map(|(stage, _)| *stage)
    }
}

/// Number of kept markers out of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeptShare {
    /// Number of kept markers.
    pub kept: usize,
    /// Total number of markers.
    pub of: usize,
}

impl KeptShare {
    /// Returns the share from 0 to 1; 1 if there are no markers.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 markers")]
    pub fn value(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.kept as f64 / self.of as f64 }
    }
}

impl std::fmt::Display for KeptShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kept, self.of)
    }
}

/// Traces the markers of one entity through the texts of its page.
///
/// ```
/// # use rutter_spxi::survival::{MarkerSearch, PageTexts, PathStage, PathTexts, trace};
/// let markers = MarkerSearch::new(["built in 1890", "tide clock"]);
/// let places = PageTexts { visible: "The house was built in 1890.\nIts tide\nclock", ..PageTexts::default() };
/// let texts = PathTexts { places: Some(places), summary: Some("An old house."), ..PathTexts::default() };
/// let survival = trace(&markers, ("Tide House", "https://tide.example/"), &[0, 1], &texts);
/// assert_eq!(survival.markers[0].first_lost(), Some(PathStage::Summary));
/// assert_eq!(survival.markers[1].first_lost(), Some(PathStage::Visible));
/// assert_eq!(survival.share(PathStage::Visible).unwrap().to_string(), "1/2");
/// assert!(survival.share(PathStage::Twin).is_none());
/// ```
pub fn trace(
    markers: &MarkerSearch,
    (name, url): (&str, &str),
    wanted: &[usize],
    texts: &PathTexts<'_>,
) -> EntitySurvival {
    let stages = PathStage::ALL.map(|stage| find_kept(markers, stage, texts));
    let statuses = match &texts.places {
        Some(places) => markers.classify(wanted, places),
        None => vec![MarkerStatus::Absent; wanted.len()],
    };
    let traced = wanted.iter().zip(statuses).map(|(id, status)| MarkerTrace {
        text: markers.text(*id).to_owned(),
        status,
        kept: stages.each_ref().map(|standing| Some(standing.as_ref()?.contains(id))),
    });
    EntitySurvival { name: name.to_owned(), url: url.to_owned(), markers: traced.collect() }
}

/// Returns the ids of the markers that a step keeps.
fn find_kept(
    markers: &MarkerSearch,
    stage: PathStage,
    texts: &PathTexts<'_>,
) -> Option<BTreeSet<usize>> {
    let visible = texts.places.as_ref().map(|places| places.visible);
    match stage {
        PathStage::Html => {
            let mut all = BTreeSet::new();
            for reading in plain::of_document(texts.document?) {
                all.extend(markers.find_in_blocks(&reading));
            }
            // The parsed document resolves more character references.
            if let Some(places) = &texts.places {
                all.extend(markers.find_in_blocks(places.visible));
                let strings = strings_of(&places.json_ld);
                let lines = places.metas.iter().copied().chain(strings.iter().map(String::as_str));
                all.extend(markers.find_in_any_line(lines));
            }
            Some(all)
        }
        PathStage::Visible => visible.map(|text| markers.find_in_blocks(text)),
        PathStage::Cut(most) => visible.map(|text| {
            let text = collapse(text, LineBreaks::End);
            let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
            markers.find_in_blocks(text.get(..end).unwrap_or(&text))
        }),
        PathStage::Blocks => {
            let pieces: Vec<String> = texts.page?.content.iter().flat_map(pieces).collect();
            Some(markers.find_in_any_line(pieces.iter().map(String::as_str)))
        }
        PathStage::Twin => texts.twin.map(|twin| markers.find_in_blocks(&of_markdown(twin))),
        PathStage::Summary => texts.summary.map(|text| markers.find_in_line(text)),
        PathStage::Kernel => texts.kernel.map(|text| markers.find_in_line(text)),
    }
}

/// Returns the texts of a block in which markers are searched separately.
fn pieces(block: &Block<'_>) -> Vec<String> {
    let paragraphs = |text: &str| text.split("\n\n").map(str::to_owned).collect::<Vec<_>>();
    match block {
        Block::List(list) => list
            .items
            .iter()
            .map(|item| item.trim_start().strip_prefix("- ").unwrap_or(item).to_owned())
            .collect(),
        Block::Table(table) => table.rows.iter().flatten().map(ToString::to_string).collect(),
        Block::Quote(quote) => {
            let mut all = paragraphs(&quote.text);
            all.extend(quote.citation.as_ref().map(ToString::to_string));
            all
        }
        other => paragraphs(&other.to_text()),
    }
}

impl EntitySurvival {
    /// Returns how many of the markers a step keeps; `None` if no marker of this entity passes the
    /// step, for example because the page has no Markdown twin.
    pub fn share(&self, stage: PathStage) -> Option<KeptShare> {
        let mut share = None;
        for kept in self.markers.iter().filter_map(|marker| marker.kept_by(stage)) {
            let share: &mut KeptShare = share.get_or_insert_default();
            share.kept += usize::from(kept);
            share.of += 1;
        }
        share
    }

    fn to_tree(&self) -> JsonTree {
        let markers = self.markers.iter().map(|marker| {
            let mut members = vec![
                ("text".to_owned(), JsonTree::text(marker.text.as_str())),
                ("status".to_owned(), JsonTree::text(marker.status.word())),
            ];
            if let MarkerStatus::Near(found) = &marker.status {
                members.push(("found".to_owned(), JsonTree::text(found.as_str())));
            }
            let stages = PathStage::ALL
                .iter()
                .zip(&marker.kept)
                .map(|(stage, kept)| (stage.word(), kept.map_or(JsonTree::Null, JsonTree::Bool)));
            members.push(("stages".to_owned(), JsonTree::Map(stages.collect())));
            let lost =
                marker.first_lost().map_or(JsonTree::Null, |stage| JsonTree::text(stage.word()));
            members.push(("first_lost".to_owned(), lost));
            JsonTree::Map(members)
        });
        let markers = JsonTree::List(markers.collect());
        JsonTree::Map(vec![
            ("name".to_owned(), JsonTree::text(self.name.as_str())),
            ("url".to_owned(), JsonTree::text(self.url.as_str())),
            ("stages".to_owned(), stages_tree(|stage| self.share(stage))),
            ("markers".to_owned(), markers),
        ])
    }
}

fn stages_tree(share: impl Fn(PathStage) -> Option<KeptShare>) -> JsonTree {
    let stages = PathStage::ALL.iter().map(|stage| {
        let value = share(*stage).map_or(JsonTree::Null, |share| {
            JsonTree::Map(vec![
                ("kept".to_owned(), JsonTree::Number(share.kept.to_string())),
                ("of".to_owned(), JsonTree::Number(share.of.to_string())),
            ])
        });
        (stage.word(), value)
    });
    JsonTree::Map(stages.collect())
}

/// Survival of the markers of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteSurvival {
    /// Survival of the markers of each entity.
    pub entities: Vec<EntitySurvival>,
}

impl SiteSurvival {
    /// Returns how many of the markers a step keeps, over all entities of which a marker passes the
    /// step.
    pub fn share(&self, stage: PathStage) -> Option<KeptShare> {
        let shares = self.entities.iter().filter_map(|entity| entity.share(stage));
        shares.reduce(|sum, next| KeptShare { kept: sum.kept + next.kept, of: sum.of + next.of })
    }

    /// Returns the results as JSON.
    pub fn to_json(&self) -> JsonTree {
        let entities = self.entities.iter().map(EntitySurvival::to_tree).collect();
        JsonTree::Map(vec![
            ("stages".to_owned(), stages_tree(|stage| self.share(stage))),
            ("entities".to_owned(), JsonTree::List(entities)),
        ])
    }

    /// Returns the results as a table with a line per entity and a column per step, followed by
    /// the lost markers.
    pub fn to_table(&self) -> String {
        table::of(self)
    }

    /// Returns an SVG chart of the share of markers that each step keeps.
    pub fn to_svg(&self) -> String {
        chart::of(self)
    }
}
