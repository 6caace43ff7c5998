//! So many pages are named for each rule, so that a large site with one fault
//! stays readable; how many more there are is told of the site.
//!
//! It comes last: what settings ignore or a baseline knows is gone by then, and
//! takes nobody's place.

use std::collections::{BTreeMap, HashMap};

use rutter_finding::{Finding, Place, Rule, Severity};

use crate::site::SITE;
use crate::{Judgement, Kind};

/// Most pages that are named for one rule: what hardly matters is soon said.
fn most_pages(severity: Severity) -> u32 {
    match severity {
        Severity::Note => 5,
        Severity::Warning => 100,
        Severity::Error => 1000,
    }
}

/// Leaves so many findings of each rule about the pages of each folder or site,
/// and no judgement of a page that has nothing left to say.
pub fn shorten(judgements: &mut Vec<Judgement>) {
    let mut n_told: HashMap<(String, &'static str), u32> = HashMap::new();
    let mut untold: BTreeMap<(String, &'static str), (&'static Rule, u64)> = BTreeMap::new();
    judgements.retain_mut(|judgement| {
        if !matches!(judgement.kind, Kind::Page | Kind::Twin) {
            return true;
        }
        let root = judgement.root.clone();
        judgement.report.retain(|severity, finding| {
            let key = (root.clone(), finding.rule.code);
            let n = n_told.entry(key.clone()).or_default();
            *n += 1;
            let is_told = *n <= most_pages(severity);
            if !is_told {
                untold.entry(key).or_insert((finding.rule, 0)).1 += 1;
            }
            is_told
        });
        judgement.report.worst().is_some()
    });
    for ((root, _), (rule, n)) in untold {
        let of_site = judgements.iter().position(|it| it.name == SITE && it.root == root);
        let at = of_site.unwrap_or_else(|| {
            // The site comes before its files.
            let first = judgements.iter().position(|it| it.root == root);
            let at = first.unwrap_or(judgements.len());
            let mode = judgements.get(at).map(|it| it.report.mode()).unwrap_or_default();
            let mut site = Judgement::clean(&root, SITE, Kind::Site);
            site.report = rutter_finding::Report::new(mode);
            judgements.insert(at, site);
            at
        });
        if let Some(site) = judgements.get_mut(at) {
            let pages = if n == 1 { "page" } else { "pages" };
            let detail = format!("{n} more {pages}, not named here");
            site.report.report_many(Finding::new(rule, Place::WHOLE, detail), n);
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_extract::rules::NO_DESCRIPTION;
    use rutter_finding::FindingSink as _;

    use super::*;

    fn page(root: &str, name: &str) -> Judgement {
        let mut page = Judgement::clean(root, name, Kind::Page);
        page.report.report(Finding::new(&NO_DESCRIPTION, Place::WHOLE, ""));
        page
    }

    #[test]
    fn ours_a_few_pages_are_named_and_the_others_counted() {
        let pages = |root: &str| (0..9).map(|n| page(root, &format!("{n}.html"))).collect();
        let mut judgements: Vec<Judgement> = pages("public");
        judgements.extend::<Vec<_>>(pages("staging"));
        shorten(&mut judgements);
        let of = |root: &str| judgements.iter().filter(|it| it.root == root).collect::<Vec<_>>();
        for root in ["public", "staging"] {
            let names: Vec<&str> = of(root).iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, [".", "0.html", "1.html", "2.html", "3.html", "4.html"]);
            let site = of(root).first().unwrap().report.findings().next().unwrap().1;
            assert_eq!(site.detail, "4 more pages, not named here");
            assert_eq!(of(root).iter().map(|it| it.report.count(Severity::Note)).sum::<u64>(), 9);
        }
    }

    #[test]
    fn ours_what_is_taken_out_before_takes_nobodys_place() {
        let mut judgements: Vec<Judgement> =
            (0..9).map(|n| page("public", &format!("{n}.html"))).collect();
        for judgement in judgements.iter_mut().take(5) {
            judgement.report.retain(|_, _| false);
        }
        shorten(&mut judgements);
        let names: Vec<&str> = judgements.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["5.html", "6.html", "7.html", "8.html"]);
    }
}
