//! Finds rules by code and by name.
//!
//! Input: the tables that [`rutter_finding::rules!`] defines in each crate. Output: all rules,
//! sorted by code.

use rutter_finding::Rule;

/// All rules of a program, sorted by code.
#[derive(Debug)]
pub struct RuleRegistry {
    rules: Vec<&'static Rule>,
}

impl RuleRegistry {
    /// Creates a registry of the rules of these tables.
    pub fn new(tables: impl IntoIterator<Item = &'static [&'static Rule]>) -> Self {
        let mut rules: Vec<_> = tables.into_iter().flatten().copied().collect();
        rules.sort_by_key(|rule| rule.code);
        Self { rules }
    }

    /// Returns all rules, sorted by code.
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Finds a rule by its exact code.
    pub fn by_code(&self, code: &str) -> Option<&'static Rule> {
        let at = self.rules.binary_search_by(|rule| rule.code.cmp(code)).ok()?;
        self.rules.get(at).copied()
    }

    /// Finds a rule by its code (in upper or lower case) or its name.
    pub fn find(&self, wanted: &str) -> Option<&'static Rule> {
        let is_wanted =
            |rule: &&&Rule| rule.code.eq_ignore_ascii_case(wanted) || rule.name == wanted;
        self.rules.iter().find(is_wanted).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rules_by_code_and_name() {
        let registry = RuleRegistry::new([rutter_scp::rules::ALL, rutter_page::rules::ALL]);
        assert!(registry.rules().is_sorted_by_key(|rule| rule.code));
        assert_eq!(registry.find("sc021").map(|rule| rule.name), Some("unknown-block"));
        assert_eq!(registry.find("unknown-block").map(|rule| rule.code), Some("SC021"));
        assert_eq!(registry.find("SC999"), None);
        assert_eq!(registry.by_code("SC021").map(|rule| rule.name), Some("unknown-block"));
        assert_eq!(registry.by_code("sc021"), None);
    }
}
