//! The layers of a site: their rules, their names, and a score for each layer.

use std::collections::BTreeMap;

use rutter_finding::Severity;

use crate::{FileKind, FileReport, Outcome};

/// Code and name of every layer, in the order in which a reader of a site uses them.
pub const LAYERS: [(&str, &str); 14] = [
    ("HP", "HTTP"),
    ("RB", "robots.txt"),
    ("SM", "Sitemaps"),
    ("LL", "llms.txt"),
    ("HT", "Pages"),
    ("SC", "SCP collections"),
    ("AR", "ARC"),
    ("SX", "SPXI"),
    ("XL", "Across layers"),
    ("SE", "Privacy and safety"),
    ("SV", "Survival"),
    ("DC", "Discovery"),
    ("BD", "Building"),
    ("LG", "Logs"),
];

/// Returns the name of a layer.
pub fn name(layer: &str) -> &'static str {
    LAYERS.iter().find(|(code, _)| *code == layer).map_or("Other", |(_, name)| name)
}

/// Returns the points that a broken rule subtracts from the 100 points of its
/// layer, independent of the number of findings.
pub fn cost(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 25,
        Severity::Warning => 5,
        Severity::Note => 1,
    }
}

/// The score of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerScore {
    /// The two-letter code of the layer.
    pub layer: &'static str,
    /// The points of the layer, from 0 to 100.
    pub points: u32,
    /// The numbers of broken rules with severity error, warning and note.
    pub broken: [u32; 3],
    /// The number of findings in the layer.
    pub findings: u64,
}

/// Returns the scores of the checked layers in the order of [`LAYERS`].
///
/// A layer starts with 100 points, and each broken rule subtracts its [`cost`] once. A layer counts
/// as checked if one of its files was checked, if it has a finding, or if `checked_layers` contains
/// it.
pub fn scores<'j>(
    checked_layers: &[&'static str],
    file_reports: impl Iterator<Item = &'j FileReport>,
) -> Vec<LayerScore> {
    let mut seen: BTreeMap<&'static str, BTreeMap<&'static str, (Severity, u64)>> = BTreeMap::new();
    for layer in checked_layers {
        seen.entry(layer).or_default();
    }
    for file_report in file_reports {
        if let Some(layer) = of_kind(file_report.kind) {
            seen.entry(layer).or_default();
        }
        for (severity, finding) in file_report.report.findings() {
            let rules = seen.entry(finding.rule.layer()).or_default();
            rules.entry(finding.rule.code).or_insert((severity, 0));
        }
        for (code, n) in file_report.report.counts() {
            let rules = code.get(..2).and_then(|layer| seen.get_mut(layer));
            if let Some(rule) = rules.and_then(|rules| rules.get_mut(code)) {
                rule.1 += n;
            }
        }
    }
    let score = |(layer, _): &(&'static str, &str)| {
        let rules = seen.get(layer)?;
        let mut score = LayerScore { layer, points: 100, broken: [0; 3], findings: 0 };
        for (severity, n) in rules.values() {
            let [errors, warnings, notes] = &mut score.broken;
            *match severity {
                Severity::Error => errors,
                Severity::Warning => warnings,
                Severity::Note => notes,
            } += 1;
            score.points = score.points.saturating_sub(cost(*severity));
            score.findings += n;
        }
        Some(score)
    };
    LAYERS.iter().filter_map(score).collect()
}

/// Returns the scores of all layers that a run checked.
pub fn scores_of(outcome: &Outcome) -> Vec<LayerScore> {
    scores(&outcome.overview.layers, outcome.files.iter().map(|file| &file.file_report))
}

/// Returns the layer to which a file format belongs.
fn of_kind(kind: FileKind) -> Option<&'static str> {
    Some(match kind.name() {
        "collection" => "SC",
        "sitemap" => "SM",
        "robots" => "RB",
        "llms" => "LL",
        "arc" | "arc-policy" => "AR",
        "spxi-index" | "spxi-packet" => "SX",
        "page" => "HT",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rutter_finding::{Finding, FindingSink, Place, Report, Strictness};

    use super::*;

    #[test]
    fn subtracts_cost_of_a_rule_once() {
        let mut report = Report::new(Strictness::Strict);
        for line in 1..=150 {
            report.report(Finding::new(&rutter_scp::rules::BLANK_LINE, Place::line(line), ""));
        }
        report.report(Finding::new(&rutter_scp::rules::NO_CHECKSUM, Place::WHOLE, ""));
        let file_report =
            FileReport { report, ..FileReport::clean("", "a.scp", FileKind::Collection) };
        let scores = scores(&["XL"], [file_report].iter());
        let wanted = LayerScore { layer: "SC", points: 74, broken: [1, 0, 1], findings: 151 };
        let clean = LayerScore { layer: "XL", points: 100, broken: [0; 3], findings: 0 };
        assert_eq!(scores, [wanted, clean]);
    }
}
