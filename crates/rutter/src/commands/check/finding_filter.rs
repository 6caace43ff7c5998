//! Filters findings by `--select`, `--ignore` and `[check]` of `rutter.toml`.

use std::path::Path;

use rutter_build::Glob;
use rutter_finding::Rule;
use rutter_report::FileReport;

use crate::commands::rule_registry;
use crate::config::ignore::IgnoreRule;
use crate::config::{Setting, real};

/// A filter of findings: the rules to report, and the findings to ignore.
#[derive(Debug, Default)]
pub(crate) struct FindingFilter {
    select: Vec<String>,
    ignores: Vec<NamedIgnore>,
}

/// An ignore rule, with its name in messages.
#[derive(Debug)]
struct NamedIgnore {
    name: String,
    rules: Vec<String>,
    paths: Vec<Glob>,
}

impl NamedIgnore {
    fn new(name: String, ignore: IgnoreRule) -> Self {
        let paths = ignore.paths.iter().map(|pattern| Glob::new(pattern)).collect();
        Self { name, rules: ignore.rules, paths }
    }
}

/// Returns whether a selector matches a rule by its code, its name or its layer.
pub(crate) fn selects(selector: &str, rule: &Rule) -> bool {
    rule.code.eq_ignore_ascii_case(selector)
        || rule.name == selector
        || rule.layer().eq_ignore_ascii_case(selector)
}

/// Parses a selector. Rejects selectors that match no rule.
pub(crate) fn parse_selector(text: &str) -> Result<String, String> {
    let is_layer = rutter_report::layer::LAYERS.iter().any(|(it, _)| it.eq_ignore_ascii_case(text));
    if is_layer || rule_registry().rules().iter().any(|rule| selects(text, rule)) {
        return Ok(text.to_owned());
    }
    Err("not a rule or layer; `rutter rules` lists them".to_owned())
}

impl FindingFilter {
    pub(crate) fn new(
        select: Vec<String>,
        flags: &[String],
        file: Option<Setting<Vec<IgnoreRule>>>,
    ) -> Self {
        let mut ignores: Vec<NamedIgnore> = flags
            .iter()
            .map(|rule| {
                let ignore = IgnoreRule { rules: vec![rule.clone()], ..IgnoreRule::default() };
                NamedIgnore::new(format!("--ignore {rule}"), ignore)
            })
            .collect();
        if let Some(Setting { value, by }) = file {
            for ignore in value {
                ignores
                    .push(NamedIgnore::new(format!("{by}: ignore of {}", ignore.shown()), ignore));
            }
        }
        Self { select, ignores }
    }

    /// Removes findings that are not selected, and findings that are ignored. Returns the number of
    /// ignored findings, and a message for each ignore rule that matched nothing.
    pub(crate) fn sift(&self, judgements: &mut [FileReport]) -> (u64, Vec<String>) {
        let mut used = vec![false; self.ignores.len()];
        let mut ignored = 0;
        let has_paths = self.ignores.iter().any(|named| !named.paths.is_empty());
        for judgement in judgements {
            if !self.select.is_empty() {
                let is_selected = |rule: &Rule| self.select.iter().any(|it| selects(it, rule));
                judgement.report.retain(|_, finding| is_selected(finding.rule));
            }
            let paths = if has_paths { paths_of(judgement) } else { Vec::new() };
            ignored += judgement.report.retain(|_, finding| {
                let mut is_wanted = true;
                for (named, is_used) in self.ignores.iter().zip(&mut used) {
                    if matches(named, finding.rule, &paths) {
                        *is_used = true;
                        is_wanted = false;
                    }
                }
                is_wanted
            });
        }
        let idle = self.ignores.iter().zip(used).filter(|(_, is_used)| !is_used);
        let idle = idle.map(|(named, _)| format!("{} matches nothing", named.name));
        (ignored, idle.collect())
    }
}

fn matches(ignore: &NamedIgnore, rule: &Rule, paths: &[String]) -> bool {
    let is_rule = ignore.rules.is_empty() || ignore.rules.iter().any(|it| selects(it, rule));
    let is_path = ignore.paths.is_empty()
        || ignore.paths.iter().any(|glob| paths.iter().any(|path| glob.matches(path)));
    is_rule && is_path
}

/// Returns the paths of a checked file that the patterns of an ignore rule are matched with. For a
/// URL: its path. For a file: the path below the checked folder, the path as given, and the path
/// from the current folder.
fn paths_of(judgement: &FileReport) -> Vec<String> {
    let path = judgement.path();
    if let Some((_, rest)) = path.split_once("://") {
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        return vec![path.split(['?', '#']).next().unwrap_or_default().to_owned()];
    }
    let plain =
        |path: &str| path.trim_start_matches("./").trim_start_matches('/').replace('\\', "/");
    let mut paths = vec![plain(&judgement.name), plain(&path)];
    if let Ok(here) = std::env::current_dir() {
        let (here, path) = (real(&here), real(Path::new(&*path)));
        if let Some(inner) = path.strip_prefix(&here).ok().and_then(Path::to_str) {
            paths.push(inner.replace('\\', "/"));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use rutter_report::FileKind;

    use super::*;

    #[test]
    fn selects_rules_by_code_name_or_layer() {
        let rule = &rutter_page::rules::UNKNOWN_BLOCK;
        for selector in ["SC021", "sc021", "unknown-block", "SC"] {
            assert!(selects(selector, rule), "{selector}");
        }
        for selector in ["SC02", "S", "", "AR", "Unknown-Block"] {
            assert!(!selects(selector, rule), "{selector}");
        }
        assert!(parse_selector("SC999").is_err());
    }

    #[test]
    fn patterns_match_paths_of_files_and_urls() {
        let paths =
            |root: &str, name: &str| paths_of(&FileReport::clean(root, name, FileKind::Page));
        assert_eq!(paths("https://a.example", "https://a.example/b/c.html?d#e"), ["b/c.html"]);
        assert_eq!(paths("https://a.example", "."), [""]);
        assert!(paths("", "./public/a.scp").contains(&"public/a.scp".to_owned()));
        let below = paths("public", "blog/a.html");
        assert!(
            ["blog/a.html", "public/blog/a.html"]
                .iter()
                .all(|it| below.contains(&(*it).to_owned()))
        );
    }
}
