//! Finds the elements that the selectors of the site owner match.

use rutter_finding::{Finding, Place};

use crate::classify::SelectedElement;
use crate::dom::Dom;
use crate::options::OwnerSelectors;
use crate::rules;

/// The elements that the selectors of the site owner match.
pub(crate) struct OwnerSelection<'c> {
    pub(crate) main: Option<Vec<u32>>,
    /// Elements to keep, followed by elements to drop.
    pub(crate) forced: Vec<SelectedElement<'c>>,
    /// The `keep` and `drop` selectors that match an element.
    pub(crate) matched: Vec<String>,
}

impl<'c> OwnerSelection<'c> {
    pub(crate) fn of(dom: &Dom, control: &'c OwnerSelectors, findings: &mut Vec<Finding>) -> Self {
        let mut main: Vec<u32> =
            control.main.iter().flat_map(|selector| selector.find(dom)).collect();
        main.sort_unstable();
        main.dedup();
        if main.is_empty() && !control.main.is_empty() {
            let named: Vec<_> = control.main.iter().map(|it| format!("`{it}`")).collect();
            let detail = format!("main {}", named.join(", "));
            findings.push(Finding::new(&rules::SELECTOR_UNMATCHED, Place::WHOLE, detail));
        }
        let (mut forced, mut matched) = (Vec::new(), Vec::new());
        for (selectors, is_kept) in [(&control.keep, true), (&control.drop, false)] {
            for selector in selectors {
                let found = selector.find(dom);
                if !found.is_empty() {
                    matched.push(selector.as_str().to_owned());
                }
                forced.extend(found.into_iter().map(|at| SelectedElement {
                    at,
                    is_kept,
                    selector,
                }));
            }
        }
        Self { main: (!main.is_empty()).then_some(main), forced, matched }
    }
}
