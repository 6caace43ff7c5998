//! Builds the normal form of a snapshot. The builder visits the annotated elements in document
//! order and keeps a stack of open parts.

use std::ops::Range;

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};

use super::names::{
    AttributeRole, FLAGS, NAMES, collapse, last_segment, level_name, sensitive_words, text_key,
};
use super::{AnnotatedElement, AnnotatedPage};
use crate::rules;
use rutter_page::JsonTree;

/// Maximum number of elements that are visited.
const MAX_ELEMENTS: usize = 20_000;
const MAX_TEXT: usize = 1 << 20;
/// Nesting depth beyond which a finding is reported.
const MAX_DEPTH: usize = 3;
/// Maximum nesting depth of parts in a snapshot.
const MAX_PART_DEPTH: usize = 20;

const ROOT: usize = 0;

/// A part of the page under construction; the first one is the page itself.
#[derive(Default)]
struct SnapshotPart {
    name: String,
    /// Level of the part: 0 page, 1 section, 2 group, 3 subgroup, 4 block.
    level: u8,
    /// Number of parts around this part, and the index of the innermost one.
    depth: usize,
    up: usize,
    members: Vec<(String, JsonTree)>,
    fields: Vec<JsonTree>,
    actions: Vec<JsonTree>,
    media: Vec<JsonTree>,
    links: Vec<JsonTree>,
    marks: Vec<JsonTree>,
    withheld: Vec<JsonTree>,
    /// Indices of the parts directly inside this part.
    parts: Vec<usize>,
}

/// An element whose end has not been reached yet.
struct OpenElement {
    depth: usize,
    /// Index of the part that the element opened.
    part: Option<usize>,
    /// Whether the context of the element, or of an element around it, is sensitive.
    is_sensitive: bool,
    /// Whether the element, or an element around it, has a context.
    has_context: bool,
}

struct SnapshotBuilder<'b, 'p> {
    document: &'b AnnotatedPage<'p>,
    elements: &'b [AnnotatedElement<'p>],
    parts: Vec<SnapshotPart>,
    open: Vec<OpenElement>,
    /// Depth of the hidden element that was entered; all elements inside it are hidden too.
    hidden_at: Option<usize>,
    page: Option<String>,
    contexts: Vec<&'static str>,
    categories: Vec<String>,
    labels: Vec<(String, String)>,
    refs: Vec<(String, usize)>,
    summary: Option<String>,
    /// Text ranges that must not be exported as part of a larger text.
    private: Vec<Range<usize>>,
    text_left: usize,
    is_truncated: bool,
    sink: &'b mut dyn FindingSink,
}

/// The annotations of one element by their effect.
#[derive(Default)]
struct ElementAnnotations<'p> {
    page: Option<&'p str>,
    parts: Vec<(u8, &'p str)>,
    texts: Vec<(&'static str, &'p str)>,
    field: Option<&'p str>,
    label: Option<&'p str>,
    media: Option<&'p str>,
    meta: Vec<(&'static str, &'p str)>,
}

impl<'p> ElementAnnotations<'p> {
    fn meta(&self, name: &str) -> Option<&'p str> {
        self.meta.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

pub(super) fn build(
    document: &AnnotatedPage<'_>,
    sink: &mut dyn FindingSink,
) -> Option<(JsonTree, bool)> {
    let is_flag =
        |name: &str| name.strip_prefix("data-ai-").is_none_or(|name| FLAGS.contains(&name));
    let is_bare =
        |element: &AnnotatedElement<'_>| element.attributes.iter().all(|(name, _)| is_flag(name));
    if document.elements.iter().all(is_bare) {
        return None;
    }
    let n = document.elements.len().min(MAX_ELEMENTS);
    let elements = document.elements.get(..n)?;
    let mut builder = SnapshotBuilder {
        document,
        elements,
        parts: vec![SnapshotPart::default()],
        open: Vec::new(),
        hidden_at: None,
        page: None,
        contexts: Vec::new(),
        categories: Vec::new(),
        labels: Vec::new(),
        refs: Vec::new(),
        summary: None,
        private: Vec::new(),
        text_left: MAX_TEXT,
        is_truncated: n < document.elements.len(),
        sink,
    };
    for (at, element) in elements.iter().enumerate() {
        builder.element(at, element);
    }
    let needs_auth = builder.contexts.contains(&"sensitive");
    Some((builder.finish(), needs_auth))
}

impl<'p> SnapshotBuilder<'_, 'p> {
    fn report(&mut self, rule: &'static Rule, element: &AnnotatedElement<'_>, detail: &str) {
        let gap = if detail.is_empty() { "" } else { ": " };
        let detail = format!("<{}>{gap}{detail}", element.name);
        self.sink.report(Finding::new(rule, Place::WHOLE, detail));
    }

    fn element(&mut self, at: usize, element: &AnnotatedElement<'p>) {
        while self.open.last().is_some_and(|open| element.depth <= open.depth) {
            self.open.pop();
        }
        if self.hidden_at.is_some_and(|depth| depth < element.depth) {
            return;
        }
        self.hidden_at = None;
        let found = self.annotations(element);
        if is_out(element) {
            self.hidden_at = Some(element.depth);
            return;
        }
        let around = self.open.last();
        let (mut is_sensitive, mut has_context) =
            around.map_or((false, false), |open| (open.is_sensitive, open.has_context));
        let was_sensitive = is_sensitive;
        if let Some(context) = found.meta("context") {
            has_context = true;
            for word in sensitive_words(context) {
                is_sensitive = true;
                if !self.contexts.contains(&word) {
                    self.contexts.push(word);
                }
            }
        }
        if is_sensitive && !was_sensitive {
            self.private.push(element.text.clone());
        }
        if let Some(category) = found.meta("category").map(str::trim).filter(|it| !it.is_empty())
            && !self.categories.iter().any(|known| known == category)
        {
            self.categories.push(category.to_owned());
        }
        let mut part = None;
        if let Some(page) = found.page {
            if self.page.is_none() {
                self.page = Some(page.trim().to_owned());
                part = Some(ROOT);
                if page.trim().is_empty() {
                    self.report(&rules::NO_NAME, element, "data-ai-page");
                }
            } else {
                self.report(&rules::SECOND_PAGE, element, &quoted(page));
            }
        }
        let mut outermost = part;
        for (level, name) in &found.parts {
            let opened = self.open_part(*level, name, part, element);
            outermost = outermost.or(Some(opened));
            part = Some(opened);
        }
        if let Some(outermost) = outermost {
            self.meta_of_part(outermost, &found);
        }
        if let Some((1, _)) = found.parts.first() {
            self.lint_section(element, &found);
        }
        let here = part.or_else(|| self.here()).unwrap_or(ROOT);
        self.open.push(OpenElement { depth: element.depth, part, is_sensitive, has_context });
        self.contents(at, element, &found, here, outermost.is_some());
    }

    fn annotations(&mut self, element: &AnnotatedElement<'p>) -> ElementAnnotations<'p> {
        let mut found = ElementAnnotations::default();
        for (name, value) in element.attributes {
            let Some(name) = name.strip_prefix("data-ai-") else { continue };
            let value = value.as_str();
            match NAMES.iter().find(|(known, _)| *known == name) {
                None if FLAGS.contains(&name) => {}
                None => {
                    let detail = quoted(&format!("data-ai-{name}"));
                    self.report(&rules::UNKNOWN_ATTRIBUTE, element, &detail);
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

    /// Returns the index of the innermost open part.
    fn here(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| open.part)
    }

    /// Returns the index of the innermost open part of a level.
    fn open_of(&self, level: u8, just: Option<usize>) -> Option<usize> {
        let is_level = |idx: &usize| self.parts.get(*idx).is_some_and(|it| it.level == level);
        let open = self.open.iter().rev().filter_map(|open| open.part);
        just.into_iter().chain(open).find(is_level)
    }

    /// Opens a part and returns its index; `just` is a part that the same element opened before.
    fn open_part(
        &mut self,
        level: u8,
        name: &str,
        just: Option<usize>,
        element: &AnnotatedElement<'_>,
    ) -> usize {
        if name.trim().is_empty() {
            self.report(&rules::NO_NAME, element, level_name(level));
        }
        let depth =
            1 + self.open.iter().filter(|open| open.part.is_some_and(|it| it != ROOT)).count();
        if MAX_DEPTH < depth {
            self.report(&rules::NESTED_DEEP, element, &quoted(name));
        }
        let parent = match level {
            1 => ROOT,
            2 => self.parent_group(element, name, just),
            3 => match self.open_of(2, just) {
                Some(group) => group,
                None => {
                    let section = self.parent_group(element, name, just);
                    self.nameless(section, 2)
                }
            },
            _ => just.or_else(|| self.here()).unwrap_or(ROOT),
        };
        self.add(parent, level, name.trim())
    }

    /// Returns the section around a group. If there is none, an unnamed section is created.
    fn parent_group(
        &mut self,
        element: &AnnotatedElement<'_>,
        name: &str,
        just: Option<usize>,
    ) -> usize {
        if let Some(section) = self.open_of(1, just) {
            return section;
        }
        self.report(&rules::GROUP_OUTSIDE, element, &quoted(name));
        self.nameless(ROOT, 1)
    }

    /// Returns the unnamed part of a level inside the part `parent`; creates it if necessary.
    fn nameless(&mut self, parent: usize, level: u8) -> usize {
        let inside = self.parts.get(parent).map_or(&[][..], |part| &part.parts);
        let known = inside.iter().copied().find(|idx| {
            self.parts.get(*idx).is_some_and(|part| part.level == level && part.name == "_")
        });
        known.unwrap_or_else(|| self.add(parent, level, "_"))
    }

    fn add(&mut self, parent: usize, level: u8, name: &str) -> usize {
        let idx = self.parts.len();
        let above = |at: usize| self.parts.get(at).map_or((0, ROOT), |part| (part.depth, part.up));
        // Readers limit the nesting depth; deeper parts become siblings.
        let parent = if above(parent).0 < MAX_PART_DEPTH { parent } else { above(parent).1 };
        let depth = above(parent).0 + 1;
        self.parts.push(SnapshotPart {
            name: name.to_owned(),
            level,
            depth,
            up: parent,
            ..SnapshotPart::default()
        });
        if let Some(parent) = self.parts.get_mut(parent) {
            parent.parts.push(idx);
        }
        idx
    }

    fn meta_of_part(&mut self, part: usize, found: &ElementAnnotations<'_>) {
        for (name, value) in &found.meta {
            self.member(part, name, JsonTree::text(value.trim()));
            if *name == "ref" {
                self.refs.push((value.trim().to_owned(), part));
            }
        }
    }

    fn lint_section(&mut self, element: &AnnotatedElement<'_>, found: &ElementAnnotations<'_>) {
        let name = found.parts.first().map_or("", |(_, name)| *name);
        if found.meta("type").is_none() {
            self.report(&rules::NO_TYPE, element, &quoted(name));
        }
        if found.meta("purpose").is_none() && found.meta("intent").is_none() {
            self.report(&rules::NO_PURPOSE, element, &quoted(name));
        }
    }

    /// Adds a member to a part. A second value under the same name turns the value into a list.
    fn member(&mut self, part: usize, name: &str, value: JsonTree) {
        let Some(part) = self.parts.get_mut(part) else { return };
        match part.members.iter_mut().find(|(known, _)| known == name) {
            None => part.members.push((name.to_owned(), value)),
            Some((_, JsonTree::List(items))) => items.push(value),
            Some((_, first)) => {
                let before = std::mem::replace(first, JsonTree::Null);
                *first = JsonTree::List(vec![before, value]);
            }
        }
    }

    /// Adds the data of an element to the open parts. Its own parts were opened before.
    fn contents(
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
            let text = self.text_of(at);
            if *kind == "summary" && here == ROOT && self.summary.is_none() {
                self.summary = Some(text.clone());
            }
            self.member(here, &key, JsonTree::Text(text));
        }
        if let Some(name) = found.label {
            of = Some(name);
            if !is_sensitive {
                let text = self.text_of(at);
                self.labels.push((name.trim().to_owned(), text));
            }
        }
        if let Some(name) = found.field {
            is_told = true;
            self.field(element, found, name, here);
        } else if !is_part && ["role", "event", "action"].iter().any(|it| found.meta(it).is_some())
        {
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
            mark.extend(metas(found, &[]));
            self.list(here, |part| &mut part.marks, JsonTree::Map(mark));
        }
    }

    fn list(
        &mut self,
        part: usize,
        list: impl FnOnce(&mut SnapshotPart) -> &mut Vec<JsonTree>,
        item: JsonTree,
    ) {
        if let Some(part) = self.parts.get_mut(part) {
            list(part).push(item);
        }
    }

    fn withhold(&mut self, part: usize, name: &str, element: &AnnotatedElement<'_>) {
        self.report(&rules::WITHHELD, element, &quoted(name));
        self.list(part, |part| &mut part.withheld, JsonTree::text(name));
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
        field.extend(metas(found, &["context", "behavior", "type"]));
        self.list(here, |part| &mut part.fields, JsonTree::Map(field));
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
            let text = Some(self.text_of(at)).filter(|text| !text.is_empty());
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
        action.extend(metas(found, &skipped));
        self.list(here, |part| &mut part.actions, JsonTree::Map(action));
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
        self.list(here, |part| &mut part.media, JsonTree::Map(media));
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
            let title = self.text_of(at);
            link.extend((!title.is_empty()).then(|| ("title".to_owned(), JsonTree::Text(title))));
            link.extend(element.target.map(|url| ("url".to_owned(), JsonTree::text(url))));
        }
        let is_action = ["role", "event", "action"].iter().any(|it| found.meta(it).is_some());
        // An action contains the remaining attributes already.
        if !is_action {
            link.extend(metas(found, &["link"]));
        }
        self.list(here, |part| &mut part.links, JsonTree::Map(link));
    }

    /// Returns the text of an element without the private text inside the element.
    fn text_of(&mut self, at: usize) -> String {
        let Some(element) = self.elements.get(at) else { return String::new() };
        // Limit the total text: many nested elements around one long text would multiply its cost.
        if self.text_left < element.text.len() {
            self.is_truncated = true;
            return String::new();
        }
        let inside = self.elements.get(at + 1..).unwrap_or_default();
        let inside = inside.iter().take_while(|inner| element.depth < inner.depth);
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for inner in inside {
            let attribute = |name: &str| inner.attribute(name);
            let is_field =
                attribute("data-ai-field").is_some() || matches!(inner.name, "textarea" | "select");
            let context = attribute("data-ai-context").unwrap_or_default();
            if is_out(inner) || is_field || sensitive_words(context).next().is_some() {
                cuts.push(inner.text.clone());
            }
        }
        let mut text = String::new();
        let mut from = element.text.start;
        for cut in cuts {
            if from <= cut.start {
                text.push_str(self.document.text.get(from..cut.start).unwrap_or_default());
                text.push(' ');
            }
            from = from.max(cut.end);
        }
        text.push_str(self.document.text.get(from..element.text.end).unwrap_or_default());
        self.text_left -= element.text.len();
        collapse(&text)
    }

    fn finish(mut self) -> JsonTree {
        self.resolve_links();
        let mut root: Vec<(String, JsonTree)> = Vec::new();
        let inferred = self.page.is_none();
        let page = self.page.take().unwrap_or_else(|| last_segment(self.document.url));
        root.push(("page".to_owned(), JsonTree::Text(page)));
        if inferred {
            root.push(("page_inferred".to_owned(), JsonTree::Bool(true)));
        }
        let mut push = |name: &str, value: Option<String>| {
            let value = value.filter(|value| !value.is_empty());
            root.extend(value.map(|value| (name.to_owned(), JsonTree::Text(value))));
        };
        push("url", Some(self.document.url.to_owned()));
        push("language", self.document.language.map(str::to_owned));
        push("title", self.title());
        push("summary", self.summary.take().or_else(|| self.public(self.document.description)));
        let keywords = self.document.keywords.iter().map(|word| collapse(word));
        let mut tags: Vec<String> = Vec::new();
        for tag in self.categories.iter().cloned().chain(keywords) {
            if !tag.is_empty() && !tags.contains(&tag) && tags.len() < crate::MAX_TAGS {
                tags.push(tag);
            }
        }
        if !tags.is_empty() {
            let tags = tags.into_iter().map(JsonTree::Text).collect();
            root.push(("tags".to_owned(), JsonTree::List(tags)));
        }
        if !self.contexts.is_empty() {
            self.contexts.sort_unstable();
            let words = self.contexts.iter().map(|word| JsonTree::text(*word)).collect();
            root.push(("ai_context".to_owned(), JsonTree::List(words)));
        }
        if self.is_truncated {
            root.push(("truncated".to_owned(), JsonTree::Bool(true)));
        }
        let JsonTree::Map(rest) = self.tree_of(ROOT) else { return JsonTree::Map(root) };
        for (name, value) in rest {
            // The title and the summary of the page are members of the root already.
            if !root.iter().any(|(known, _)| *known == name) {
                root.push((name, value));
            }
        }
        JsonTree::Map(root)
    }

    /// Returns the heading `title` of the page or of its first section; if there is none, the title
    /// of the page.
    fn title(&self) -> Option<String> {
        let root = self.parts.get(ROOT)?;
        let is_section = |idx: &&usize| self.parts.get(**idx).is_some_and(|part| part.level == 1);
        let section = root.parts.iter().find(is_section).and_then(|idx| self.parts.get(*idx));
        let title = [Some(root), section].into_iter().flatten().find_map(|part| {
            let found = part.members.iter().find(|(name, _)| name == "title");
            let (_, value) = found?;
            value.as_str().or_else(|| value.items().first().and_then(JsonTree::as_str))
        });
        title.map(str::to_owned).or_else(|| self.public(self.document.title))
    }

    /// Returns `text` unless it repeats private text of the page: many titles repeat a heading.
    fn public(&self, text: Option<&str>) -> Option<String> {
        let text = collapse(text?);
        let is_private = self.private.iter().any(|range| {
            let private = collapse(self.document.text.get(range.clone()).unwrap_or_default());
            2 < private.len() && (private.contains(&text) || text.contains(&private))
        });
        (!is_private).then_some(text)
    }

    /// Resolves links between parts by name.
    fn resolve_links(&mut self) {
        let mut linked: Vec<(usize, String, Option<String>)> = Vec::new();
        for (idx, part) in self.parts.iter().enumerate() {
            let value = part.members.iter().find(|(name, _)| name == "link");
            let Some(name) = value.and_then(|(_, value)| value.as_str()) else { continue };
            let by_ref = self.refs.iter().find(|(known, _)| known == name).map(|(_, at)| *at);
            let by_name = || self.parts.iter().position(|it| it.level != 0 && it.name == name);
            let target = by_ref.or_else(by_name).and_then(|at| self.parts.get(at));
            let target = target.map(|part| match part.level {
                0 => self.page.clone().unwrap_or_default(),
                _ => part.name.clone(),
            });
            linked.push((idx, name.to_owned(), target));
        }
        for (idx, name, target) in linked {
            let Some(target) = target else {
                let detail = quoted(&name);
                self.sink.report(Finding::new(&rules::LINK_NOWHERE, Place::WHOLE, detail));
                continue;
            };
            let map = JsonTree::Map(vec![(name, JsonTree::Text(target))]);
            if let Some(part) = self.parts.get_mut(idx) {
                part.members.push(("linked".to_owned(), map));
            }
        }
    }

    fn tree_of(&mut self, idx: usize) -> JsonTree {
        let Some(part) = self.parts.get_mut(idx) else { return JsonTree::Null };
        let part = std::mem::take(part);
        let mut members: Vec<(String, JsonTree)> = Vec::new();
        if part.level != 0 {
            members.push(("name".to_owned(), JsonTree::Text(part.name)));
        }
        members.extend(part.members);
        let media = match <[JsonTree; 1]>::try_from(part.media) {
            // A single media element is written as its URL.
            Ok([one]) => one.get("url").cloned().or(Some(JsonTree::List(vec![one]))),
            Err(many) if many.is_empty() => None,
            Err(many) => Some(JsonTree::List(many)),
        };
        members.extend(media.map(|media| ("media".to_owned(), media)));
        let lists = [
            ("fields", part.fields),
            ("actions", part.actions),
            ("links", part.links),
            ("marks", part.marks),
            ("withheld", part.withheld),
        ];
        for (name, items) in lists {
            if !items.is_empty() {
                members.push((name.to_owned(), JsonTree::List(items)));
            }
        }
        for (level, name) in [(4, "blocks"), (1, "sections"), (2, "groups"), (3, "subgroups")] {
            let of_level = |idx: &usize| self.parts.get(*idx).is_some_and(|it| it.level == level);
            let inside: Vec<usize> = part.parts.iter().copied().filter(of_level).collect();
            if !inside.is_empty() {
                let items = inside.into_iter().map(|idx| self.tree_of(idx)).collect();
                members.push((name.to_owned(), JsonTree::List(items)));
            }
        }
        JsonTree::Map(members)
    }
}

/// Returns whether an element is hidden by HTML or by its annotation.
fn is_out(element: &AnnotatedElement<'_>) -> bool {
    let is = |name: &str, value: &str| {
        element.attribute(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    };
    element.is_hidden
        || is("data-ai-visibility", "hidden")
        || (element.name == "input" && is("type", "hidden"))
}

/// Returns the annotations that have no other effect as members, except those in `but`.
fn metas(found: &ElementAnnotations<'_>, but: &[&str]) -> Vec<(String, JsonTree)> {
    let rest = found.meta.iter().filter(|(name, _)| !but.contains(name));
    rest.map(|(name, value)| ((*name).to_owned(), JsonTree::text(value.trim()))).collect()
}
