//! All rules, by code and by name.

use rutter_finding::Rule;

use crate::explain::{self, Example};

/// Returns all rules sorted by code.
pub fn all() -> Vec<&'static Rule> {
    let tables = [
        crate::rules::ALL,
        rutter_arc::rules::ALL,
        rutter_extract::rules::ALL,
        rutter_extract::safety::ALL,
        rutter_page::rules::ALL,
        rutter_scp::rules::ALL,
        rutter_llms::rules::ALL,
        rutter_robots::rules::ALL,
        rutter_sitemap::rules::ALL,
        rutter_spxi::rules::ALL,
        rutter_spxi::survival::rules::ALL,
    ];
    let mut rules: Vec<_> = tables.into_iter().flatten().copied().collect();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// Finds a rule by its code (in upper or lower case) or its name.
pub fn find(wanted: &str) -> Option<&'static Rule> {
    all().into_iter().find(|rule| rule.code.eq_ignore_ascii_case(wanted) || rule.name == wanted)
}

/// Returns the explanation of a rule as Markdown.
pub fn explain(rule: &Rule) -> String {
    use rutter_finding::Strictness;
    let severity = |mode| match rule.severity(mode) {
        None => "not reported".to_owned(),
        Some(severity) if rule.is_fatal() => format!("{}, the file is rejected", severity.name()),
        Some(severity) => severity.name().to_owned(),
    };
    let example = explain::example(rule.code).map(Example::to_markdown).unwrap_or_default();
    format!(
        "## {} {}\n\n{}.\n\n{}\n\n{example}**What to do:** {}\n\n\
         Severity when reading: {}.\nSeverity when checking: {}.\nClause: {}.\n",
        rule.code,
        rule.name,
        capitalised(rule.title),
        rule.why,
        rule.fix,
        severity(Strictness::Lenient),
        severity(Strictness::Strict),
        rule.clause,
    )
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::layer::LAYERS;

    #[test]
    fn codes_and_names_are_unique_and_well_formed() {
        let rules = all();
        let codes: BTreeSet<_> = rules.iter().map(|rule| rule.code).collect();
        let names: BTreeSet<_> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(codes.len(), rules.len());
        assert_eq!(names.len(), rules.len());
        for rule in rules {
            let is_layer = LAYERS.iter().any(|(layer, _)| rule.layer() == *layer);
            assert!(rule.code.len() == 5 && is_layer, "{}", rule.code);
            assert!(
                rule.name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            );
            assert!(!rule.why.is_empty() && !rule.fix.is_empty(), "{}", rule.code);
        }
    }

    #[test]
    fn finds_rules_by_code_and_name() {
        assert_eq!(find("sc021").map(|rule| rule.name), Some("unknown-block"));
        assert_eq!(find("unknown-block").map(|rule| rule.code), Some("SC021"));
        assert_eq!(find("SC999"), None);
    }
}
