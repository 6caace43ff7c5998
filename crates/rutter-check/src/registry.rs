//! Every rule there is, by code and by name.

use rutter_finding::Rule;

use crate::explain::{self, Example};

/// All rules in the order of their codes.
pub fn all() -> Vec<&'static Rule> {
    let tables = [
        crate::rules::ALL,
        rutter_arc::rules::ALL,
        rutter_extract::rules::ALL,
        rutter_extract::safety::ALL,
        rutter_page::rules::ALL,
        rutter_scp::rules::ALL,
        rutter_signpost::rules::ALL,
        rutter_spxi::rules::ALL,
        rutter_survival::rules::ALL,
    ];
    let mut rules: Vec<_> = tables.into_iter().flatten().copied().collect();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// Finds a rule by its code (in any case) or its name.
pub fn find(wanted: &str) -> Option<&'static Rule> {
    all().into_iter().find(|rule| rule.code.eq_ignore_ascii_case(wanted) || rule.name == wanted)
}

/// A rule in a few paragraphs of Markdown.
pub fn explain(rule: &Rule) -> String {
    use rutter_finding::Mode;
    let gravity = |mode| match rule.severity(mode) {
        None => "not mentioned".to_owned(),
        Some(severity) if rule.is_fatal() => format!("{}, the file is refused", severity.name()),
        Some(severity) => severity.name().to_owned(),
    };
    let example = explain::example(rule.code).map(Example::to_markdown).unwrap_or_default();
    format!(
        "## {} {}\n\n{}.\n\n{}\n\n{example}**What to do:** {}\n\n\
         For readers: {}.\nFor judges: {}.\nClause: {}.\n",
        rule.code,
        rule.name,
        capitalised(rule.title),
        rule.why,
        rule.fix,
        gravity(Mode::Lenient),
        gravity(Mode::Strict),
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
    fn ours_codes_and_names_are_unique_and_well_formed() {
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
    fn ours_rules_are_found_by_code_and_name() {
        assert_eq!(find("sc021").map(|rule| rule.name), Some("unknown-block"));
        assert_eq!(find("unknown-block").map(|rule| rule.code), Some("SC021"));
        assert_eq!(find("SC999"), None);
    }
}
