//! Layers: the families of rules, what they speak of, and a score for each.

use std::collections::BTreeMap;

use rutter_finding::Severity;

use crate::{Judgement, Kind, Outcome};

/// Every layer, in the order of a reader's way: code, name.
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

/// The name of a layer.
pub fn name(layer: &str) -> &'static str {
    LAYERS.iter().find(|(code, _)| *code == layer).map_or("Other", |(_, name)| name)
}

/// What a broken rule takes from the 100 points of its layer, once, however
/// often it is broken.
pub fn cost(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 25,
        Severity::Warning => 5,
        Severity::Note => 1,
    }
}

/// How a layer came off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Two letters.
    pub layer: &'static str,
    /// From 0 to 100.
    pub points: u32,
    /// Rules that are broken as errors, warnings and notes.
    pub broken: [u32; 3],
    /// Findings, however many of a rule.
    pub findings: u64,
}

/// Scores of the layers that were looked at, in the order of [`LAYERS`].
///
/// A layer starts with 100 points; each rule that is broken in any file takes
/// its [`cost`] once. What was not looked at has no score: a layer is looked at
/// where a file of it is judged, something of it is found, or `looked_at` says
/// so.
pub fn scores<'j>(
    looked_at: &[&'static str],
    judgements: impl Iterator<Item = &'j Judgement>,
) -> Vec<Score> {
    let mut seen: BTreeMap<&'static str, BTreeMap<&'static str, (Severity, u64)>> = BTreeMap::new();
    for layer in looked_at {
        seen.entry(layer).or_default();
    }
    for judgement in judgements {
        if let Some(layer) = of_kind(judgement.kind) {
            seen.entry(layer).or_default();
        }
        for (severity, finding) in judgement.report.findings() {
            let rules = seen.entry(finding.rule.layer()).or_default();
            rules.entry(finding.rule.code).or_insert((severity, 0));
        }
        for (code, n) in judgement.report.counts() {
            let rules = code.get(..2).and_then(|layer| seen.get_mut(layer));
            if let Some(rule) = rules.and_then(|rules| rules.get_mut(code)) {
                rule.1 += n;
            }
        }
    }
    let score = |(layer, _): &(&'static str, &str)| {
        let rules = seen.get(layer)?;
        let mut score = Score { layer, points: 100, broken: [0; 3], findings: 0 };
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

/// Scores of everything a run judged.
pub fn scores_of(outcome: &Outcome) -> Vec<Score> {
    scores(&outcome.overview.layers, outcome.files.iter().map(|file| &file.judgement))
}

/// The layer a kind of file belongs to.
fn of_kind(kind: Kind) -> Option<&'static str> {
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
    use rutter_finding::{Finding, FindingSink, Mode, Place, Report};

    use super::*;

    #[test]
    fn ours_a_rule_costs_once() {
        let mut report = Report::new(Mode::Strict);
        for line in 1..=150 {
            report.report(Finding::new(&rutter_scp::rules::BLANK_LINE, Place::line(line), ""));
        }
        report.report(Finding::new(&rutter_scp::rules::NO_CHECKSUM, Place::WHOLE, ""));
        let judgement = Judgement { report, ..Judgement::clean("", "a.scp", Kind::Collection) };
        let scores = scores(&["XL"], [judgement].iter());
        let wanted = Score { layer: "SC", points: 74, broken: [1, 0, 1], findings: 151 };
        let clean = Score { layer: "XL", points: 100, broken: [0; 3], findings: 0 };
        assert_eq!(scores, [wanted, clean]);
    }
}
