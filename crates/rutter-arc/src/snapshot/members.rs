//! Adds the data of an annotated element to the parts around it: texts, fields, actions, media and
//! links.

use rutter_finding::quoted;
use rutter_page::JsonTree;

use super::AnnotatedElement;
use super::annotations::ElementAnnotations;
use super::build::SnapshotBuilder;
use super::names::{collapse, text_key};
use super::part_tree::ROOT;
use crate::rules;

impl<'p> SnapshotBuilder<'_, 'p> {
    /// Adds the data of an element to the open parts. Its own parts were opened before.
    pub(super) fn contents(
        &mut self,
        at: usize,
        element: &AnnotatedElement<'p>,
        found: &ElementAnnotations<'p>,
        here: usize,
        is_part: bool,
    ) {
        let is_sensitive = self.open.last().is_some_and(|open| open.is_sensitive);
        // Name of the part that the remaining attributes refer to.
        let mut of: Option<&str> = None;
        let mut is_told = is_part;
        for (kind, value) in &found.texts {
            let key = text_key(kind, value);
            of = Some(value);
            if is_sensitive {
                self.withhold(here, &key, element);
                continue;
            }
            let text = self.text.of_element(at);
            if *kind == "summary" && here == ROOT && self.facts.summary.is_none() {
                self.facts.summary = Some(text.clone());
            }
            self.parts.member(here, &key, JsonTree::Text(text));
        }
        if let Some(name) = found.label {
            of = Some(name);
            if !is_sensitive {
                let text = self.text.of_element(at);
                self.labels.push((name.trim().to_owned(), text));
            }
        }
        if let Some(name) = found.field {
            is_told = true;
            self.field(element, found, name, here);
        } else if !is_part && found.is_action() {
            is_told = true;
            self.action(at, element, found, here, is_sensitive);
        }
        if let Some(name) = found.media {
            of = Some(name);
            self.media(element, name, here, is_sensitive);
        }
        if let Some(name) = found.meta("link").filter(|_| element.name == "a") {
            is_told = true;
            self.link(at, element, found, name, (here, is_sensitive));
        }
        if !is_told && !found.meta.is_empty() {
            let mut mark: Vec<(String, JsonTree)> = Vec::new();
            mark.extend(of.map(|of| ("of".to_owned(), JsonTree::text(of.trim()))));
            mark.extend(found.members_except(&[]));
            self.parts.push(here, |part| &mut part.marks, JsonTree::Map(mark));
        }
    }

    fn withhold(&mut self, part: usize, name: &str, element: &AnnotatedElement<'_>) {
        self.report(&rules::WITHHELD, element, &quoted(name));
        self.parts.push(part, |part| &mut part.withheld, JsonTree::text(name));
    }

    fn field(
        &mut self,
        element: &AnnotatedElement<'p>,
        found: &ElementAnnotations<'p>,
        name: &str,
        here: usize,
    ) {
        let name = name.trim();
        if name.is_empty() {
            self.report(&rules::NO_NAME, element, "data-ai-field");
        }
        if !self.open.last().is_some_and(|open| open.has_context) {
            self.report(&rules::NO_CONTEXT, element, &quoted(name));
        }
        let wanted = format!("{name}_label");
        let said = element.label.filter(|label| !label.trim().is_empty()).map(str::to_owned);
        let marked = self.labels.iter().rev().find(|(label, _)| *label == wanted);
        let label = said.or_else(|| marked.map(|(_, text)| text.clone()));
        let label = label.or_else(|| element.attribute("aria-label").map(str::to_owned));
        let label = label.or_else(|| element.attribute("title").map(str::to_owned));
        let kind = match element.name {
            "textarea" | "select" => Some(element.name),
            _ => element.attribute("type"),
        };
        let mut field = vec![("field".to_owned(), JsonTree::text(name))];
        let mut push = |name: &str, value: Option<JsonTree>| {
            field.extend(value.map(|value| (name.to_owned(), value)));
        };
        push("label", label.map(|label| JsonTree::Text(collapse(&label))));
        push("type", kind.map(|kind| JsonTree::text(kind.trim().to_ascii_lowercase())));
        push("context", found.meta("context").map(|it| JsonTree::text(it.trim())));
        push("behavior", found.meta("behavior").map(|it| JsonTree::text(it.trim())));
        let is_required = element.attribute("required").is_some()
            || element.attribute("aria-required") == Some("true");
        push("required", is_required.then_some(JsonTree::Bool(true)));
        // The type of the entity and the type of the input element become different members.
        push("ai_type", found.meta("type").map(|it| JsonTree::text(it.trim())));
        field.extend(found.members_except(&["context", "behavior", "type"]));
        self.parts.push(here, |part| &mut part.fields, JsonTree::Map(field));
    }

    fn action(
        &mut self,
        at: usize,
        element: &AnnotatedElement<'p>,
        found: &ElementAnnotations<'p>,
        here: usize,
        is_sensitive: bool,
    ) {
        const FIRST: [&str; 7] =
            ["role", "intent", "event", "action", "trigger", "transition", "behavior"];
        let mut action: Vec<(String, JsonTree)> = Vec::new();
        for name in FIRST {
            let value = found.meta(name).map(|value| JsonTree::text(value.trim()));
            action.extend(value.map(|value| (name.to_owned(), value)));
        }
        if is_sensitive {
            self.withhold(here, "label", element);
        } else {
            // The value of a button is its label. The value of any other input element was typed by
            // a user.
            let is_button = element.name != "input"
                || matches!(element.attribute("type"), Some("submit" | "button" | "reset"));
            let value = element.attribute("value").filter(|_| is_button);
            let text = Some(self.text.of_element(at)).filter(|text| !text.is_empty());
            let label = text
                .or_else(|| element.attribute("aria-label").map(collapse))
                .or_else(|| value.map(collapse))
                .or_else(|| element.attribute("title").map(collapse));
            action.extend(label.map(|label| ("label".to_owned(), JsonTree::Text(label))));
            if element.name == "a" {
                action.extend(element.target.map(|url| ("href".to_owned(), JsonTree::text(url))));
            }
        }
        let skipped = if element.name == "a" { &["link"][..] } else { &[] };
        let skipped: Vec<&str> = FIRST.iter().chain(skipped).copied().collect();
        action.extend(found.members_except(&skipped));
        self.parts.push(here, |part| &mut part.actions, JsonTree::Map(action));
    }

    fn media(
        &mut self,
        element: &AnnotatedElement<'p>,
        name: &str,
        here: usize,
        is_sensitive: bool,
    ) {
        let mut media = vec![("name".to_owned(), JsonTree::text(name.trim()))];
        if is_sensitive {
            self.withhold(here, name.trim(), element);
        } else {
            media.extend(element.target.map(|url| ("url".to_owned(), JsonTree::text(url))));
            let alt = element.attribute("alt").map(collapse).filter(|alt| !alt.is_empty());
            media.extend(alt.map(|alt| ("alt".to_owned(), JsonTree::Text(alt))));
        }
        self.parts.push(here, |part| &mut part.media, JsonTree::Map(media));
    }

    fn link(
        &mut self,
        at: usize,
        element: &AnnotatedElement<'p>,
        found: &ElementAnnotations<'p>,
        name: &str,
        (here, is_sensitive): (usize, bool),
    ) {
        let mut link = vec![("name".to_owned(), JsonTree::text(name.trim()))];
        if is_sensitive {
            self.withhold(here, name.trim(), element);
        } else {
            let title = self.text.of_element(at);
            link.extend((!title.is_empty()).then(|| ("title".to_owned(), JsonTree::Text(title))));
            link.extend(element.target.map(|url| ("url".to_owned(), JsonTree::text(url))));
        }
        let is_action = found.is_action();
        // An action contains the remaining attributes already.
        if !is_action {
            link.extend(found.members_except(&["link"]));
        }
        self.parts.push(here, |part| &mut part.links, JsonTree::Map(link));
    }
}
