//! What a report draws beside its findings: sizes, ages, survival of markers.
//!
//! Whoever reads a site fills it; what is empty is left out of the report.

use std::fs;
use std::path::Path;

use rutter_page::Timestamp;
use rutter_survival::{Stage, Survivals};

use crate::{Judgement, SiteOutcome};

/// Facts about what was judged.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// What was judged, in a few words: a folder, an address, files.
    pub subject: String,
    /// When it was judged.
    pub now: Option<Timestamp>,
    /// Files of all sites that were looked at.
    pub files: u64,
    /// Pages among them.
    pub pages: u64,
    /// Layers that were looked at although no single file is of them.
    pub layers: Vec<&'static str>,
    /// How large artefacts are.
    pub sizes: Vec<Size>,
    /// How old artefacts say they are.
    pub ages: Vec<Age>,
    /// What becomes of the markers of each entity, step by step.
    pub survival: Vec<Surviving>,
}

/// How large something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// Its name.
    pub name: String,
    /// Bytes as they are sent.
    pub bytes: u64,
}

/// When something was made, by its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Age {
    /// Its name.
    pub name: String,
    /// When it was made or changed.
    pub made: Timestamp,
}

/// How many markers of an entity each step keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surviving {
    /// The entity.
    pub entity: String,
    /// Steps by name: kept, and of how many; steps that do not exist are left
    /// out.
    pub steps: Vec<(String, u64, u64)>,
}

impl Overview {
    /// Takes what a judgement itself knows: when a collection was made.
    pub fn see(&mut self, judgement: &Judgement) {
        if let Some(receipt) = &judgement.receipt {
            self.ages
                .push(Age { name: judgement.path().into_owned(), made: receipt.header.generated });
        }
    }

    /// Takes how much of a site was looked at.
    pub fn see_site(&mut self, outcome: &SiteOutcome) {
        self.files += outcome.files;
        self.pages += outcome.pages;
    }

    /// Takes what a published folder shows: sizes of the artefacts that were
    /// judged there.
    pub fn see_folder(&mut self, dir: &Path, judgements: &[Judgement]) {
        self.layers.extend(["XL", "SE"]);
        for judgement in judgements {
            let is_artefact = !matches!(judgement.kind.name(), "page" | "twin" | "site");
            let size = fs::metadata(dir.join(&judgement.name)).ok().filter(fs::Metadata::is_file);
            if let Some(size) = size.filter(|_| is_artefact) {
                self.sizes.push(Size { name: judgement.path().into_owned(), bytes: size.len() });
            }
            self.see(judgement);
        }
    }

    /// Takes what [`survive_folder`](crate::survive_folder) found.
    pub fn see_survivals(&mut self, survivals: &Survivals) {
        for entity in &survivals.entities {
            let step = |stage: Stage| {
                let share = entity.share(stage)?;
                Some((stage.word(), share.kept as u64, share.of as u64))
            };
            self.survival.push(Surviving {
                entity: entity.name.clone(),
                steps: Stage::ALL.into_iter().filter_map(step).collect(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_survival::{Markers, Places, Texts, trace};

    use super::*;

    #[test]
    fn ours_steps_that_do_not_exist_are_left_out() {
        let markers = Markers::new(["built in 1890", "tide clock"]);
        let places = Places { visible: "It was built in 1890.", ..Places::default() };
        let texts = Texts { places: Some(places), summary: Some("Old."), ..Texts::default() };
        let entity = trace(&markers, ("Low Light", "https://a.example/"), &[0, 1], &texts);
        let mut overview = Overview::default();
        overview.see_survivals(&Survivals { entities: vec![entity] });
        let steps = &overview.survival.first().unwrap().steps;
        let of = |name: &str| steps.iter().find(|(step, ..)| step == name).map(|it| (it.1, it.2));
        assert_eq!((of("visible"), of("summary"), of("twin")), (Some((1, 2)), Some((0, 2)), None));
    }
}
