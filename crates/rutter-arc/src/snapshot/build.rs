//! Builds the normal form of a snapshot. The builder visits the annotated elements in document
//! order and keeps a stack of open parts.

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::JsonTree;

use super::annotations::{ElementAnnotations, is_out, report};
use super::exported_text::ExportedText;
use super::names::{FLAGS, collapse, last_segment, level_name, sensitive_words};
use super::part_tree::{PartTree, ROOT};
use super::{AnnotatedElement, AnnotatedPage};
use crate::rules;

/// Maximum number of elements that are visited.
const MAX_ELEMENTS: usize = 20_000;
/// Nesting depth beyond which a finding is reported.
const MAX_DEPTH: usize = 3;

/// An element whose end has not been reached yet.
pub(super) struct OpenElement {
    pub(super) depth: usize,
    /// Index of the part that the element opened.
    pub(super) part: Option<usize>,
    /// Whether the context of the element, or of an element around it, is sensitive.
    pub(super) is_sensitive: bool,
    /// Whether the element, or an element around it, has a context.
    pub(super) has_context: bool,
}

/// Statements of the elements about the whole page.
#[derive(Default)]
pub(super) struct PageAnnotations {
    page: Option<String>,
    contexts: Vec<&'static str>,
    categories: Vec<String>,
    pub(super) summary: Option<String>,
}

pub(super) struct SnapshotBuilder<'b, 'p> {
    document: &'b AnnotatedPage<'p>,
    pub(super) text: ExportedText<'b, 'p>,
    pub(super) parts: PartTree,
    pub(super) open: Vec<OpenElement>,
    /// Depth of the hidden element that was entered; all elements inside it are hidden too.
    hidden_at: Option<usize>,
    pub(super) facts: PageAnnotations,
    pub(super) labels: Vec<(String, String)>,
    refs: Vec<(String, usize)>,
    sink: &'b mut dyn FindingSink,
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
    let mut text = ExportedText::new(document, elements);
    text.is_truncated = n < document.elements.len();
    let mut builder = SnapshotBuilder {
        document,
        text,
        parts: PartTree::new(),
        open: Vec::new(),
        hidden_at: None,
        facts: PageAnnotations::default(),
        labels: Vec::new(),
        refs: Vec::new(),
        sink,
    };
    for (at, element) in elements.iter().enumerate() {
        builder.element(at, element);
    }
    let needs_auth = builder.facts.contexts.contains(&"sensitive");
    Some((builder.finish(), needs_auth))
}

impl<'p> SnapshotBuilder<'_, 'p> {
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        element: &AnnotatedElement<'_>,
        detail: &str,
    ) {
        report(self.sink, rule, element, detail);
    }

    fn element(&mut self, at: usize, element: &AnnotatedElement<'p>) {
        while self.open.last().is_some_and(|open| element.depth <= open.depth) {
            self.open.pop();
        }
        if self.hidden_at.is_some_and(|depth| depth < element.depth) {
            return;
        }
        self.hidden_at = None;
        let found = ElementAnnotations::read(element, self.sink);
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
                if !self.facts.contexts.contains(&word) {
                    self.facts.contexts.push(word);
                }
            }
        }
        if is_sensitive && !was_sensitive {
            self.text.exclude(element);
        }
        if let Some(category) = found.meta("category").map(str::trim).filter(|it| !it.is_empty())
            && !self.facts.categories.iter().any(|known| known == category)
        {
            self.facts.categories.push(category.to_owned());
        }
        let mut part = None;
        if let Some(page) = found.page {
            if self.facts.page.is_none() {
                self.facts.page = Some(page.trim().to_owned());
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
                    self.parts.nameless(section, 2)
                }
            },
            _ => just.or_else(|| self.here()).unwrap_or(ROOT),
        };
        self.parts.add(parent, level, name.trim())
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
        self.parts.nameless(ROOT, 1)
    }

    fn meta_of_part(&mut self, part: usize, found: &ElementAnnotations<'_>) {
        for (name, value) in &found.meta {
            self.parts.member(part, name, JsonTree::text(value.trim()));
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

    fn finish(mut self) -> JsonTree {
        self.resolve_links();
        let mut root: Vec<(String, JsonTree)> = Vec::new();
        let inferred = self.facts.page.is_none();
        let page = self.facts.page.take().unwrap_or_else(|| last_segment(self.document.url));
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
        push(
            "summary",
            self.facts.summary.take().or_else(|| self.text.public(self.document.description)),
        );
        let keywords = self.document.keywords.iter().map(|word| collapse(word));
        let mut tags: Vec<String> = Vec::new();
        for tag in self.facts.categories.iter().cloned().chain(keywords) {
            if !tag.is_empty() && !tags.contains(&tag) && tags.len() < crate::MAX_TAGS {
                tags.push(tag);
            }
        }
        if !tags.is_empty() {
            let tags = tags.into_iter().map(JsonTree::Text).collect();
            root.push(("tags".to_owned(), JsonTree::List(tags)));
        }
        if !self.facts.contexts.is_empty() {
            self.facts.contexts.sort_unstable();
            let words = self.facts.contexts.iter().map(|word| JsonTree::text(*word)).collect();
            root.push(("ai_context".to_owned(), JsonTree::List(words)));
        }
        if self.text.is_truncated {
            root.push(("truncated".to_owned(), JsonTree::Bool(true)));
        }
        let JsonTree::Map(rest) = self.parts.tree_of(ROOT) else { return JsonTree::Map(root) };
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
        let title = self.parts.title().map(str::to_owned);
        title.or_else(|| self.text.public(self.document.title))
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
                0 => self.facts.page.clone().unwrap_or_default(),
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
}
