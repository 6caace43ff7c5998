//! The `data-ai-*` attributes of one element, grouped by their effect.

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::JsonTree;

use super::AnnotatedElement;
use super::names::{AttributeRole, FLAGS, NAMES};
use crate::rules;

/// The annotations of one element by their effect.
#[derive(Default)]
pub(super) struct ElementAnnotations<'p> {
    pub(super) page: Option<&'p str>,
    pub(super) parts: Vec<(u8, &'p str)>,
    pub(super) texts: Vec<(&'static str, &'p str)>,
    pub(super) field: Option<&'p str>,
    pub(super) label: Option<&'p str>,
    pub(super) media: Option<&'p str>,
    pub(super) meta: Vec<(&'static str, &'p str)>,
}

impl<'p> ElementAnnotations<'p> {
    /// Reads the annotations of an element; reports unknown ones.
    pub(super) fn read(element: &AnnotatedElement<'p>, sink: &mut dyn FindingSink) -> Self {
        let mut found = Self::default();
        for (name, value) in element.attributes {
            let Some(name) = name.strip_prefix("data-ai-") else { continue };
            let value = value.as_str();
            match NAMES.iter().find(|(known, _)| *known == name) {
                None if FLAGS.contains(&name) => {}
                None => {
                    let detail = quoted(&format!("data-ai-{name}"));
                    report(sink, &rules::UNKNOWN_ATTRIBUTE, element, &detail);
                }
                Some((_, AttributeRole::Page)) => found.page = Some(value),
                Some((_, AttributeRole::Part(level))) => found.parts.push((*level, value)),
                Some((known, AttributeRole::Text)) => found.texts.push((known, value)),
                Some((_, AttributeRole::Field)) => found.field = Some(value),
                Some((_, AttributeRole::Label)) => found.label = Some(value),
                Some((_, AttributeRole::Media)) => found.media = Some(value),
                Some((_, AttributeRole::Meta(known))) => found.meta.push((known, value)),
            }
        }
        found.parts.sort_by_key(|(level, _)| *level);
        found
    }

    pub(super) fn meta(&self, name: &str) -> Option<&'p str> {
        self.meta.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns whether the element is a control that acts on the page.
    pub(super) fn is_action(&self) -> bool {
        ["role", "event", "action"].iter().any(|name| self.meta(name).is_some())
    }

    /// Returns, as members, the annotations that have no other effect; annotations in `but` are left
    /// out.
    pub(super) fn members_except(&self, but: &[&str]) -> Vec<(String, JsonTree)> {
        let rest = self.meta.iter().filter(|(name, _)| !but.contains(name));
        rest.map(|(name, value)| ((*name).to_owned(), JsonTree::text(value.trim()))).collect()
    }
}

/// Returns whether an element is hidden by HTML or by its annotation.
pub(super) fn is_out(element: &AnnotatedElement<'_>) -> bool {
    let is = |name: &str, value: &str| {
        element.attribute(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    };
    element.is_hidden
        || is("data-ai-visibility", "hidden")
        || (element.name == "input" && is("type", "hidden"))
}

/// Reports a finding about an element.
pub(super) fn report(
    sink: &mut dyn FindingSink,
    rule: &'static Rule,
    element: &AnnotatedElement<'_>,
    detail: &str,
) {
    let gap = if detail.is_empty() { "" } else { ": " };
    let detail = format!("<{}>{gap}{detail}", element.name);
    sink.report(Finding::new(rule, Place::WHOLE, detail));
}
