//! Statistics for the report, apart from findings: sizes, ages, survival of markers.
//!
//! The caller adds the results of each checked file and site. The report omits statistics without
//! data.

use std::fs;
use std::path::Path;

use rutter_extract::CoverageTally;
use rutter_page::Timestamp;

use crate::FileReport;

/// Statistics about the checked files.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// What was checked, in a few words: a folder, a URL, or a number of files.
    pub subject: String,
    /// The time of the check.
    pub now: Option<Timestamp>,
    /// The number of files of all checked sites.
    pub files: u64,
    /// The number of pages among these files.
    pub pages: u64,
    /// The share of the main text of public pages that is extracted.
    pub coverage: CoverageTally,
    /// Layers that were checked although they have no files of their own.
    pub layers: Vec<&'static str>,
    /// The sizes of artifacts.
    pub sizes: Vec<ArtifactSize>,
    /// The ages of artifacts, by the dates that they contain.
    pub ages: Vec<ArtifactAge>,
    /// The survival of the markers of each entity, step by step.
    pub survival: Vec<EntitySurvival>,
}

/// The size of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactSize {
    /// The name of the artifact.
    pub name: String,
    /// The size of the artifact in bytes as transferred.
    pub bytes: u64,
}

/// The age of an artifact, by the date that it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactAge {
    /// The name of the artifact.
    pub name: String,
    /// The time of creation or modification that the artifact states.
    pub made: Timestamp,
}

/// The number of markers of an entity that survive each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySurvival {
    /// The name of the entity.
    pub entity: String,
    /// For each existing step: its name, the number of surviving markers and the number of all
    /// markers.
    pub steps: Vec<(String, u64, u64)>,
}

impl Overview {
    /// Adds the age of a checked collection.
    pub fn add_report(&mut self, file_report: &FileReport) {
        if let Some(receipt) = &file_report.receipt {
            self.ages.push(ArtifactAge {
                name: file_report.path().into_owned(),
                made: receipt.header.generated,
            });
        }
    }

    /// Adds the sizes of the checked artifacts in a folder.
    pub fn add_folder(&mut self, dir: &Path, file_reports: &[FileReport]) {
        self.layers.extend(["XL", "SE"]);
        for file_report in file_reports {
            let is_artifact = !matches!(file_report.kind.name(), "page" | "twin" | "site");
            let size = fs::metadata(dir.join(&file_report.name)).ok().filter(fs::Metadata::is_file);
            if let Some(size) = size.filter(|_| is_artifact) {
                self.sizes.push(ArtifactSize {
                    name: file_report.path().into_owned(),
                    bytes: size.len(),
                });
            }
            self.add_report(file_report);
        }
    }
}
