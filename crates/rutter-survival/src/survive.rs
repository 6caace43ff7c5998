//! What each step on the way from a page to its reader loses (SPX-066).
//!
//! Texts of the steps come from the caller; [`trace`] tells which markers of an
//! entity stand in each. Everything is a function of the texts.
//!
//! A step that does not exist for a page (it has no twin, no summary) is told
//! apart from one that loses everything.

mod chart;
mod plain;
mod table;

use std::collections::BTreeSet;

use rutter_page::{Block, Page, Tree};
use rutter_spxi::MarkerStatus;

use crate::fold::{Breaks, collapse};
use crate::markers::{Markers, Places, strings_of};

pub(crate) use plain::of_markdown;
pub(crate) use table::push_rows;

/// A step on the way from a page to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The served document, all of it: text without tags, values of attributes,
    /// scripts, comments.
    Html,
    /// What people see (D70). A text that is only near does not survive.
    Visible,
    /// The first characters of what people see: what an agent has left that
    /// cuts the page there.
    Cut(usize),
    /// The blocks of the SCP page, each by itself.
    Blocks,
    /// The Markdown twin without its marks, block by block.
    Twin,
    /// The summary in the ARC sitemap.
    Summary,
    /// The kernel of the site.
    Kernel,
}

impl Stage {
    /// Every step, in the order in which they are shown.
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

    /// Its word.
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

/// The texts of one page; what does not exist is `None`.
#[derive(Debug, Clone, Default)]
pub struct Texts<'t> {
    /// The document as it is served.
    pub document: Option<&'t str>,
    /// What people see, what is said in the head, and JSON-LD.
    pub places: Option<Places<'t>>,
    /// The page as blocks.
    pub page: Option<&'t Page<'t>>,
    /// The Markdown twin.
    pub twin: Option<&'t str>,
    /// `ai_summary`.
    pub summary: Option<&'t str>,
    /// The summary of the site's kernel.
    pub kernel: Option<&'t str>,
}

/// What became of the markers of one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survival {
    /// The name of the entity.
    pub name: String,
    /// Its page.
    pub url: String,
    /// Its markers, in their order.
    pub markers: Vec<Traced>,
}

/// What became of a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The marker, white space collapsed.
    pub text: String,
    /// What is said of it on the page (D70).
    pub status: MarkerStatus,
    /// Whether each step of [`Stage::ALL`] keeps it; `None` for a step that
    /// does not exist.
    pub kept: [Option<bool>; Stage::ALL.len()],
}

impl Traced {
    /// Whether a step keeps it; `None` where there is no such step.
    pub fn kept_by(&self, stage: Stage) -> Option<bool> {
        let mut stages = Stage::ALL.iter().zip(&self.kept);
        stages.find(|(it, _)| **it == stage).and_then(|(_, kept)| *kept)
    }

    /// The first step that loses it.
    pub fn first_lost(&self) -> Option<Stage> {
        let mut stages = Stage::ALL.iter().zip(&self.kept);
        stages.find(|(_, kept)| **kept == Some(false)).map(|(stage, _)| *stage)
    }
}

/// How many markers a step keeps, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// Kept.
    pub kept: usize,
    /// Of so many.
    pub of: usize,
}

impl Share {
    /// From 0 to 1; nothing lost of nothing is 1.
    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 markers")]
    pub fn value(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.kept as f64 / self.of as f64 }
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kept, self.of)
    }
}

/// Follows the markers of one entity through the texts of its page.
///
/// ```
/// # use rutter_survival::{Markers, Places, Stage, Texts, trace};
/// let markers = Markers::new(["built in 1890", "tide clock"]);
/// let places = Places { visible: "The house was built in 1890.\nIts tide\nclock", ..Places::default() };
/// let texts = Texts { places: Some(places), summary: Some("An old house."), ..Texts::default() };
/// let survival = trace(&markers, ("Tide House", "https://tide.example/"), &[0, 1], &texts);
/// assert_eq!(survival.markers[0].first_lost(), Some(Stage::Summary));
/// assert_eq!(survival.markers[1].first_lost(), Some(Stage::Visible));
/// assert_eq!(survival.share(Stage::Visible).unwrap().to_string(), "1/2");
/// assert!(survival.share(Stage::Twin).is_none());
/// ```
pub fn trace(
    markers: &Markers,
    (name, url): (&str, &str),
    wanted: &[usize],
    texts: &Texts<'_>,
) -> Survival {
    let stages = Stage::ALL.map(|stage| standing(markers, stage, texts));
    let statuses = match &texts.places {
        Some(places) => markers.look(wanted, places),
        None => vec![MarkerStatus::Absent; wanted.len()],
    };
    let traced = wanted.iter().zip(statuses).map(|(id, status)| Traced {
        text: markers.text(*id).to_owned(),
        status,
        kept: stages.each_ref().map(|standing| Some(standing.as_ref()?.contains(id))),
    });
    Survival { name: name.to_owned(), url: url.to_owned(), markers: traced.collect() }
}

/// The markers a step keeps.
fn standing(markers: &Markers, stage: Stage, texts: &Texts<'_>) -> Option<BTreeSet<usize>> {
    let visible = texts.places.as_ref().map(|places| places.visible);
    match stage {
        Stage::Html => {
            let mut all = BTreeSet::new();
            for reading in plain::of_document(texts.document?) {
                all.extend(markers.standing(&reading));
            }
            // What a parser makes of the document knows more names of letters.
            if let Some(places) = &texts.places {
                all.extend(markers.standing(places.visible));
                let strings = strings_of(&places.json_ld);
                let lines = places.metas.iter().copied().chain(strings.iter().map(String::as_str));
                all.extend(markers.standing_in_any(lines));
            }
            Some(all)
        }
        Stage::Visible => visible.map(|text| markers.standing(text)),
        Stage::Cut(most) => visible.map(|text| {
            let text = collapse(text, Breaks::End);
            let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
            markers.standing(text.get(..end).unwrap_or(&text))
        }),
        Stage::Blocks => {
            let pieces: Vec<String> = texts.page?.content.iter().flat_map(pieces).collect();
            Some(markers.standing_in_any(pieces.iter().map(String::as_str)))
        }
        Stage::Twin => texts.twin.map(|twin| markers.standing(&of_markdown(twin))),
        Stage::Summary => texts.summary.map(|text| markers.standing_in_line(text)),
        Stage::Kernel => texts.kernel.map(|text| markers.standing_in_line(text)),
    }
}

/// What of a block is read in one go.
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

impl Survival {
    /// What a step keeps; `None` where there is no such step.
    pub fn share(&self, stage: Stage) -> Option<Share> {
        let mut share = None;
        for kept in self.markers.iter().filter_map(|marker| marker.kept_by(stage)) {
            let share: &mut Share = share.get_or_insert_default();
            share.kept += usize::from(kept);
            share.of += 1;
        }
        share
    }

    fn to_tree(&self) -> Tree {
        let markers = self.markers.iter().map(|marker| {
            let mut members = vec![
                ("text".to_owned(), Tree::text(marker.text.as_str())),
                ("status".to_owned(), Tree::text(marker.status.word())),
            ];
            if let MarkerStatus::Near(found) = &marker.status {
                members.push(("found".to_owned(), Tree::text(found.as_str())));
            }
            let stages = Stage::ALL
                .iter()
                .zip(&marker.kept)
                .map(|(stage, kept)| (stage.word(), kept.map_or(Tree::Null, Tree::Bool)));
            members.push(("stages".to_owned(), Tree::Map(stages.collect())));
            let lost = marker.first_lost().map_or(Tree::Null, |stage| Tree::text(stage.word()));
            members.push(("first_lost".to_owned(), lost));
            Tree::Map(members)
        });
        let markers = Tree::List(markers.collect());
        Tree::Map(vec![
            ("name".to_owned(), Tree::text(self.name.as_str())),
            ("url".to_owned(), Tree::text(self.url.as_str())),
            ("stages".to_owned(), stages_tree(|stage| self.share(stage))),
            ("markers".to_owned(), markers),
        ])
    }
}

fn stages_tree(share: impl Fn(Stage) -> Option<Share>) -> Tree {
    let stages = Stage::ALL.iter().map(|stage| {
        let value = share(*stage).map_or(Tree::Null, |share| {
            Tree::Map(vec![
                ("kept".to_owned(), Tree::Number(share.kept.to_string())),
                ("of".to_owned(), Tree::Number(share.of.to_string())),
            ])
        });
        (stage.word(), value)
    });
    Tree::Map(stages.collect())
}

/// What became of the markers of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survivals {
    /// Entity by entity.
    pub entities: Vec<Survival>,
}

impl Survivals {
    /// What a step keeps of all markers of entities that have it.
    pub fn share(&self, stage: Stage) -> Option<Share> {
        let shares = self.entities.iter().filter_map(|entity| entity.share(stage));
        shares.reduce(|sum, next| Share { kept: sum.kept + next.kept, of: sum.of + next.of })
    }

    /// Everything as JSON.
    pub fn to_json(&self) -> Tree {
        let entities = self.entities.iter().map(Survival::to_tree).collect();
        Tree::Map(vec![
            ("stages".to_owned(), stages_tree(|stage| self.share(stage))),
            ("entities".to_owned(), Tree::List(entities)),
        ])
    }

    /// A table for people: a row for each entity, a column for each step; then
    /// the markers that were lost on the way.
    pub fn to_table(&self) -> String {
        table::of(self)
    }

    /// A chart of what each step keeps.
    pub fn to_svg(&self) -> String {
        chart::of(self)
    }
}
