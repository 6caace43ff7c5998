//! Makes the ARC snapshot of a page from its `data-ai-*` annotations.

use rutter_arc::snapshot::{AnnotatedElement, AnnotatedPage, ArcSnapshot, snapshot};
use rutter_finding::{FindingSink, Rule};
use rutter_page::LanguageTag;

use crate::extraction::Extraction;
use crate::rules;

/// Returns the ARC snapshot of a page, or `None` if nothing on the page is annotated.
pub fn arc_snapshot(extraction: &Extraction, sink: &mut dyn FindingSink) -> Option<ArcSnapshot> {
    if extraction.annotated.is_empty() {
        return None;
    }
    let elements = extraction.annotated.iter().map(|element| AnnotatedElement {
        name: &element.element,
        depth: element.depth,
        attributes: &element.attributes,
        text: element.text.clone(),
        is_hidden: element.is_hidden,
        label: element.label.as_deref(),
        target: element.target.as_deref(),
    });
    // Generated titles and descriptions could contain text that annotations withhold.
    let is_generated =
        |rule: &Rule| extraction.findings.iter().any(|finding| std::ptr::eq(finding.rule, rule));
    let own = |text, rule| Some(text).filter(|_| !is_generated(rule));
    let document = AnnotatedPage {
        url: extraction.page.url.as_str(),
        title: own(&*extraction.page.title, &rules::NO_TITLE),
        description: own(&*extraction.page.description, &rules::NO_DESCRIPTION),
        language: extraction.facts.language.as_ref().map(LanguageTag::as_str),
        keywords: &extraction.facts.keywords,
        text: &extraction.visible_text,
        elements: elements.collect(),
    };
    snapshot(&document, sink)
}
