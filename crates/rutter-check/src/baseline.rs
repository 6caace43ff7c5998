//! A baseline: findings that are known and do not fail a run.
//!
//! A sorted JSON document, fit to be committed and read in a diff. Findings
//! are known by [`fingerprint`]'s parts and counted, so a
//! line that moves is the same finding, and one more of the same is a new one.
//!
//! Files are called by their paths from where the baseline lies, so it speaks
//! of one folder and of no other, wherever the check is started.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{Judgement, fingerprint};

/// The version of the file's form.
const FORMAT: u64 = 1;

/// Known findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<Key, u64>,
}

/// File, code, place, what was seen. A rule that was broken more often than
/// findings are kept has one more key, with `*` for place, for the others.
type Key = (String, String, String, String);

/// What a baseline did to a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sifted {
    /// Findings that it knew.
    pub known: u64,
    /// Findings that it knows and that are no more.
    pub gone: u64,
}

/// Why a file is not a baseline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is not JSON.
    #[error("is not JSON")]
    Json(#[source] serde_json::Error),
    /// It is JSON of another form.
    #[error("is not a baseline of format {FORMAT}")]
    Form,
}

/// What files are called in a baseline.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Naming<'n> {
    /// The name of a path, seen from the baseline.
    pub name: &'n dyn Fn(&str) -> String,
    /// Paths of folders that were looked at from end to end: what was known in
    /// them and is not found is gone.
    pub whole: Vec<String>,
}

impl Naming<'_> {
    fn of(&self, judgement: &Judgement) -> String {
        (self.name)(&judgement.path())
    }
}

/// Tells whether a file lies in a folder.
fn is_below(folder: &str, file: &str) -> bool {
    match folder {
        "" | "." => !file.contains("://"),
        folder => file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
    }
}

fn key(file: &str, finding: &rutter_finding::Finding) -> Key {
    let place = fingerprint::pointer(&finding.place.pointer);
    let what = fingerprint::detail(&finding.detail);
    (file.to_owned(), finding.rule.code.to_owned(), place, what)
}

fn others(file: &str, judgement: &Judgement) -> BTreeMap<Key, u64> {
    let mut more = BTreeMap::new();
    for (code, n) in judgement.report.counts() {
        let kept = judgement.report.findings().filter(|(_, it)| it.rule.code == *code).count();
        if let Some(n) = n.checked_sub(kept as u64).filter(|n| 0 < *n) {
            let key = (file.to_owned(), (*code).to_owned(), "*".to_owned(), String::new());
            more.insert(key, n);
        }
    }
    more
}

impl Baseline {
    /// Takes every finding of these judgements for known.
    pub fn of(judgements: &[Judgement], naming: &Naming<'_>) -> Self {
        let mut known = BTreeMap::new();
        for judgement in judgements {
            let file = naming.of(judgement);
            for (_, finding) in judgement.report.findings() {
                *known.entry(key(&file, finding)).or_default() += 1;
            }
            known.extend(others(&file, judgement));
        }
        Self { known }
    }

    /// Number of findings.
    pub fn len(&self) -> u64 {
        self.known.values().sum()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The document, with a line end.
    pub fn to_json(&self) -> String {
        let finding = |((file, code, at, what), count): (&Key, &u64)| {
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

    /// Reads a document.
    pub fn parse(bytes: &[u8]) -> Result<Self, BaselineError> {
        let document: Value = serde_json::from_slice(bytes).map_err(BaselineError::Json)?;
        let findings = document.get("findings").and_then(Value::as_array);
        let is_ours = document.get("format").and_then(Value::as_u64) == Some(FORMAT);
        let findings = findings.filter(|_| is_ours).ok_or(BaselineError::Form)?;
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

    /// Takes what is known out of the judgements. Files that were not looked at
    /// do not count.
    pub fn sift(&self, judgements: &mut [Judgement], naming: &Naming<'_>) -> Sifted {
        // What was not looked at is not gone.
        let judged: BTreeSet<String> = judgements.iter().map(|it| naming.of(it)).collect();
        let whole: Vec<String> = naming.whole.iter().map(|path| (naming.name)(path)).collect();
        let looked_at =
            |file: &str| judged.contains(file) || whole.iter().any(|folder| is_below(folder, file));
        let known = self.known.iter().filter(|((file, ..), _)| looked_at(file));
        let mut left: BTreeMap<Key, u64> = known.map(|(key, n)| (key.clone(), *n)).collect();
        let mut sifted = Sifted::default();
        for judgement in judgements {
            // Rules that are broken more often than the baseline knew: their
            // findings stay, so that it is seen.
            let mut grown = BTreeSet::new();
            let name = naming.of(judgement);
            for (key, n) in others(&name, judgement) {
                let known = left.remove(&key).unwrap_or(0);
                sifted.gone += known.saturating_sub(n);
                if known < n {
                    grown.insert(key.1);
                }
            }
            sifted.known += judgement.report.retain(|_, finding| {
                let Some(n) = left.get_mut(&key(&name, finding)).filter(|n| 0 < **n) else {
                    return true;
                };
                *n -= 1;
                grown.contains(finding.rule.code)
            });
        }
        sifted.gone += left.values().sum::<u64>();
        sifted
    }
}

#[cfg(test)]
mod tests {
    use rutter_finding::{Finding, FindingSink, Mode, Place, Report};
    use rutter_scp::rules::{BLANK_LINE, DUPLICATE_PAGE};

    use super::*;
    use crate::Kind;

    fn judged(findings: Vec<Finding>) -> Judgement {
        let mut report = Report::new(Mode::Strict);
        for finding in findings {
            report.report(finding);
        }
        Judgement { report, ..Judgement::clean("", "a.scp", Kind::Collection) }
    }

    /// As from where the check was started.
    fn here() -> Naming<'static> {
        Naming { name: &str::to_owned, whole: Vec::new() }
    }

    fn twice(line: u64, also: u64) -> Finding {
        let detail = format!("`https://a.example/`, also in line {also}");
        Finding::new(&DUPLICATE_PAGE, Place::pointer(line, "/url"), detail)
    }

    #[test]
    fn ours_a_finding_that_moves_is_known() {
        let baseline = Baseline::of(&[judged(vec![twice(7, 3)])], &here());
        let baseline = Baseline::parse(baseline.to_json().as_bytes()).unwrap();
        let mut now = [judged(vec![twice(9, 5)])];
        assert_eq!(baseline.sift(&mut now, &here()), Sifted { known: 1, gone: 0 });
        assert_eq!(now[0].report.worst(), None);
    }

    #[test]
    fn ours_one_more_of_the_same_is_new_and_one_less_is_gone() {
        let blank = |line| Finding::new(&BLANK_LINE, Place::line(line), "");
        let baseline = Baseline::of(&[judged(vec![blank(2), blank(4), twice(7, 3)])], &here());
        let mut now = [judged(vec![blank(2), blank(4), blank(5)])];
        assert_eq!(baseline.sift(&mut now, &here()), Sifted { known: 2, gone: 1 });
        assert_eq!(now[0].report.findings().count(), 1);
    }

    #[test]
    fn ours_more_than_are_kept_are_counted() {
        let blank = |n| (1..=n).map(|line| Finding::new(&BLANK_LINE, Place::line(line), ""));
        let baseline = Baseline::of(&[judged(blank(150).collect())], &here());
        assert_eq!(baseline.len(), 150);
        let mut same = [judged(blank(150).collect())];
        assert_eq!(baseline.sift(&mut same, &here()), Sifted { known: 150, gone: 0 });
        let mut more = [judged(blank(160).collect())];
        assert_eq!(baseline.sift(&mut more, &here()).known, 0);
        assert_eq!(more[0].report.findings().count(), 100);
    }

    fn in_folder(root: &str, findings: Vec<Finding>) -> Judgement {
        Judgement { root: root.to_owned(), ..judged(findings) }
    }

    #[test]
    fn ours_a_baseline_of_one_folder_hides_nothing_in_another() {
        let baseline = Baseline::of(&[in_folder("public", vec![twice(7, 3)])], &here());
        let mut now = [
            in_folder("public", vec![twice(7, 3)]),
            in_folder("staging", vec![twice(7, 3)]),
            judged(vec![twice(7, 3)]),
        ];
        assert_eq!(baseline.sift(&mut now, &here()), Sifted { known: 1, gone: 0 });
        let left: Vec<_> = now.iter().filter(|it| it.report.worst().is_some()).collect();
        assert_eq!(left.iter().map(|it| it.path()).collect::<Vec<_>>(), ["staging/a.scp", "a.scp"]);
    }

    #[test]
    fn ours_what_is_clean_in_a_folder_that_was_looked_at_is_gone() {
        let baseline = Baseline::of(
            &[in_folder("public", vec![twice(7, 3)]), in_folder("public-old", vec![twice(7, 3)])],
            &here(),
        );
        let naming = Naming { whole: vec!["public".to_owned()], ..here() };
        assert_eq!(baseline.sift(&mut [], &naming), Sifted { known: 0, gone: 1 });
        assert_eq!(baseline.sift(&mut [], &here()), Sifted::default());
    }

    #[test]
    fn ours_other_files_are_refused() {
        for text in ["", "[]", "{\"format\":2,\"findings\":[]}", "{\"format\":1,\"findings\":[7]}"]
        {
            assert!(Baseline::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
