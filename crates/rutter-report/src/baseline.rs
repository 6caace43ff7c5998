//! A baseline: known findings that do not fail a run.
//!
//! The baseline is a sorted JSON document that is suitable for version control. Findings are
//! matched by the parts of their [`fingerprint`] and counted. A known finding that moves to another
//! line is still known; an additional finding is new.
//!
//! File paths are relative to the baseline file, so a baseline applies to the same folder, no
//! matter from which folder the check is started.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{FileReport, fingerprint};

/// The version of the baseline file format.
const FORMAT: u64 = 1;

/// A set of known findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<FindingKey, u64>,
}

/// File, rule code, place and detail of a finding. If a file has more findings of a rule than are
/// stored, the findings that are not stored share one key with the place `*`.
type FindingKey = (String, String, String, String);

/// The effect of a baseline on a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BaselineCounts {
    /// Findings of the run that the baseline contains.
    pub known: u64,
    /// Findings of the baseline that the run did not find any more.
    pub gone: u64,
}

/// The reason why a file is not a baseline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The file is not a JSON document.
    #[error("the baseline is not a JSON document")]
    Json(#[source] serde_json::Error),
    /// The file is JSON but not a baseline of the supported version.
    #[error("the file is not a baseline of format {FORMAT}")]
    Form,
}

/// How files are named in a baseline.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct FileNaming<'n> {
    /// Converts the path of a file to its name relative to the baseline.
    pub name: &'n dyn Fn(&str) -> String,
    /// Paths of folders that were checked completely. A known finding in these folders that the run
    /// did not find is counted as gone.
    pub whole: Vec<String>,
}

impl FileNaming<'_> {
    fn of(&self, file_report: &FileReport) -> String {
        (self.name)(&file_report.path())
    }
}

/// Returns whether a file is inside a folder.
fn is_below(folder: &str, file: &str) -> bool {
    match folder {
        "" | "." => !file.contains("://"),
        folder => file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
    }
}

fn key(file: &str, finding: &rutter_finding::Finding) -> FindingKey {
    let place = fingerprint::pointer(&finding.place.pointer);
    let what = fingerprint::detail(&finding.detail);
    (file.to_owned(), finding.rule.code.to_owned(), place, what)
}

fn uncounted_keys(file: &str, file_report: &FileReport) -> BTreeMap<FindingKey, u64> {
    let mut more = BTreeMap::new();
    for (code, n) in file_report.report.counts() {
        let kept = file_report.report.findings().filter(|(_, it)| it.rule.code == *code).count();
        if let Some(n) = n.checked_sub(kept as u64).filter(|n| 0 < *n) {
            let key = (file.to_owned(), (*code).to_owned(), "*".to_owned(), String::new());
            more.insert(key, n);
        }
    }
    more
}

impl Baseline {
    /// Creates a baseline that contains all findings of the given reports.
    pub fn of(file_reports: &[FileReport], naming: &FileNaming<'_>) -> Self {
        let mut known = BTreeMap::new();
        for file_report in file_reports {
            let file = naming.of(file_report);
            for (_, finding) in file_report.report.findings() {
                *known.entry(key(&file, finding)).or_default() += 1;
            }
            known.extend(uncounted_keys(&file, file_report));
        }
        Self { known }
    }

    /// Returns the number of findings.
    pub fn len(&self) -> u64 {
        self.known.values().sum()
    }

    /// Returns whether the baseline has no findings.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the baseline as a JSON document with a final line feed.
    pub fn to_json(&self) -> String {
        let finding = |((file, code, at, what), count): (&FindingKey, &u64)| {
            let mut finding = Map::new();
            finding.insert("file".to_owned(), json!(file));
            finding.insert("code".to_owned(), json!(code));
            for (name, value) in [("at", at), ("what", what)] {
                if !value.is_empty() {
                    finding.insert(name.to_owned(), json!(value));
                }
            }
            if 1 < *count {
                finding.insert("count".to_owned(), json!(count));
            }
            Value::Object(finding)
        };
        let findings: Vec<Value> = self.known.iter().map(finding).collect();
        format!("{:#}\n", json!({ "format": FORMAT, "findings": findings }))
    }

    /// Parses a baseline document.
    pub fn parse(bytes: &[u8]) -> Result<Self, BaselineError> {
        let document: Value = serde_json::from_slice(bytes).map_err(BaselineError::Json)?;
        let findings = document.get("findings").and_then(Value::as_array);
        let is_supported = document.get("format").and_then(Value::as_u64) == Some(FORMAT);
        let findings = findings.filter(|_| is_supported).ok_or(BaselineError::Form)?;
        let mut known = BTreeMap::new();
        for finding in findings {
            let text = |name: &str| match finding.get(name) {
                None => Ok(String::new()),
                Some(value) => value.as_str().map(str::to_owned).ok_or(BaselineError::Form),
            };
            let count = match finding.get("count") {
                None => 1,
                Some(count) => count.as_u64().ok_or(BaselineError::Form)?,
            };
            let key = (text("file")?, text("code")?, text("at")?, text("what")?);
            if key.0.is_empty() || key.1.is_empty() {
                return Err(BaselineError::Form);
            }
            let sum: &mut u64 = known.entry(key).or_default();
            *sum = sum.saturating_add(count);
        }
        Ok(Self { known })
    }

    /// Removes known findings from the reports.
    ///
    /// Known findings of files that the run did not check are ignored.
    pub fn remove_known(
        &self,
        file_reports: &mut [FileReport],
        naming: &FileNaming<'_>,
    ) -> BaselineCounts {
        // A known finding in a file that was not checked does not count as gone.
        let judged: BTreeSet<String> = file_reports.iter().map(|it| naming.of(it)).collect();
        let whole: Vec<String> = naming.whole.iter().map(|path| (naming.name)(path)).collect();
        let looked_at =
            |file: &str| judged.contains(file) || whole.iter().any(|folder| is_below(folder, file));
        let known = self.known.iter().filter(|((file, ..), _)| looked_at(file));
        let mut unmatched: BTreeMap<FindingKey, u64> =
            known.map(|(key, n)| (key.clone(), *n)).collect();
        let mut counts = BaselineCounts::default();
        for file_report in file_reports {
            // Keep all findings of a rule that is broken more often than the baseline says, so that
            // the increase is visible.
            let mut exceeded_rules = BTreeSet::new();
            let name = naming.of(file_report);
            for (key, n) in uncounted_keys(&name, file_report) {
                let known = unmatched.remove(&key).unwrap_or(0);
                counts.gone += known.saturating_sub(n);
                if known < n {
                    exceeded_rules.insert(key.1);
                }
            }
            counts.known += file_report.report.retain(|_, finding| {
                let Some(n) = unmatched.get_mut(&key(&name, finding)).filter(|n| 0 < **n) else {
                    return true;
                };
                *n -= 1;
                exceeded_rules.contains(finding.rule.code)
            });
        }
        counts.gone += unmatched.values().sum::<u64>();
        counts
    }
}

#[cfg(test)]
mod tests {
    use rutter_finding::{Finding, FindingSink, Place, Report, Strictness};
    use rutter_scp::rules::{BLANK_LINE, DUPLICATE_PAGE};

    use super::*;
    use crate::FileKind;

    fn judged(findings: Vec<Finding>) -> FileReport {
        let mut report = Report::new(Strictness::Strict);
        for finding in findings {
            report.report(finding);
        }
        FileReport { report, ..FileReport::clean("", "a.scp", FileKind::Collection) }
    }

    /// Returns a naming that keeps paths unchanged.
    fn here() -> FileNaming<'static> {
        FileNaming { name: &str::to_owned, whole: Vec::new() }
    }

    fn twice(line: u64, also: u64) -> Finding {
        let detail = format!("`https://a.example/`, also in line {also}");
        Finding::new(&DUPLICATE_PAGE, Place::pointer(line, "/url"), detail)
    }

    #[test]
    fn finding_on_another_line_is_known() {
        let baseline = Baseline::of(&[judged(vec![twice(7, 3)])], &here());
        let baseline = Baseline::parse(baseline.to_json().as_bytes()).unwrap();
        let mut now = [judged(vec![twice(9, 5)])];
        assert_eq!(baseline.remove_known(&mut now, &here()), BaselineCounts { known: 1, gone: 0 });
        assert_eq!(now[0].report.worst(), None);
    }

    #[test]
    fn additional_finding_is_new_and_missing_finding_is_gone() {
        let blank = |line| Finding::new(&BLANK_LINE, Place::line(line), "");
        let baseline = Baseline::of(&[judged(vec![blank(2), blank(4), twice(7, 3)])], &here());
        let mut now = [judged(vec![blank(2), blank(4), blank(5)])];
        assert_eq!(baseline.remove_known(&mut now, &here()), BaselineCounts { known: 2, gone: 1 });
        assert_eq!(now[0].report.findings().count(), 1);
    }

    #[test]
    fn counts_findings_that_are_not_stored() {
        let blank = |n| (1..=n).map(|line| Finding::new(&BLANK_LINE, Place::line(line), ""));
        let baseline = Baseline::of(&[judged(blank(150).collect())], &here());
        assert_eq!(baseline.len(), 150);
        let mut same = [judged(blank(150).collect())];
        assert_eq!(
            baseline.remove_known(&mut same, &here()),
            BaselineCounts { known: 150, gone: 0 }
        );
        let mut more = [judged(blank(160).collect())];
        assert_eq!(baseline.remove_known(&mut more, &here()).known, 0);
        assert_eq!(more[0].report.findings().count(), 100);
    }

    fn in_folder(root: &str, findings: Vec<Finding>) -> FileReport {
        FileReport { root: root.to_owned(), ..judged(findings) }
    }

    #[test]
    fn baseline_of_one_folder_does_not_affect_another() {
        let baseline = Baseline::of(&[in_folder("public", vec![twice(7, 3)])], &here());
        let mut now = [
            in_folder("public", vec![twice(7, 3)]),
            in_folder("staging", vec![twice(7, 3)]),
            judged(vec![twice(7, 3)]),
        ];
        assert_eq!(baseline.remove_known(&mut now, &here()), BaselineCounts { known: 1, gone: 0 });
        let unmatched: Vec<_> = now.iter().filter(|it| it.report.worst().is_some()).collect();
        assert_eq!(
            unmatched.iter().map(|it| it.path()).collect::<Vec<_>>(),
            ["staging/a.scp", "a.scp"]
        );
    }

    #[test]
    fn findings_of_fully_checked_folder_are_gone_when_absent() {
        let baseline = Baseline::of(
            &[in_folder("public", vec![twice(7, 3)]), in_folder("public-old", vec![twice(7, 3)])],
            &here(),
        );
        let naming = FileNaming { whole: vec!["public".to_owned()], ..here() };
        assert_eq!(baseline.remove_known(&mut [], &naming), BaselineCounts { known: 0, gone: 1 });
        assert_eq!(baseline.remove_known(&mut [], &here()), BaselineCounts::default());
    }

    #[test]
    fn rejects_other_files() {
        for text in ["", "[]", "{\"format\":2,\"findings\":[]}", "{\"format\":1,\"findings\":[7]}"]
        {
            assert!(Baseline::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
