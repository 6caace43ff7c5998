//! The text of a page that a snapshot may export: without private and hidden parts, and limited in
//! total.

use std::ops::Range;

use super::annotations::is_out;
use super::names::{collapse, sensitive_words};
use super::{AnnotatedElement, AnnotatedPage};

/// Maximum total length of the exported texts of elements.
const MAX_TEXT: usize = 1 << 20;

/// The text of a page, with the ranges that must not be exported as part of a larger text.
pub(super) struct ExportedText<'b, 'p> {
    text: &'b str,
    elements: &'b [AnnotatedElement<'p>],
    private: Vec<Range<usize>>,
    left: usize,
    /// Whether a text was left out because the limit was reached.
    pub(super) is_truncated: bool,
}

impl<'b, 'p> ExportedText<'b, 'p> {
    pub(super) fn new(
        document: &'b AnnotatedPage<'p>,
        elements: &'b [AnnotatedElement<'p>],
    ) -> Self {
        let (text, private) = (document.text, Vec::new());
        Self { text, elements, private, left: MAX_TEXT, is_truncated: false }
    }

    /// Excludes the text of an element from the texts of the page.
    pub(super) fn exclude(&mut self, element: &AnnotatedElement<'_>) {
        self.private.push(element.text.clone());
    }

    /// Returns the text of an element without the private text inside the element.
    pub(super) fn of_element(&mut self, at: usize) -> String {
        let Some(element) = self.elements.get(at) else { return String::new() };
        // Limit the total text: many nested elements around one long text would multiply its cost.
        if self.left < element.text.len() {
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
                text.push_str(self.text.get(from..cut.start).unwrap_or_default());
                text.push(' ');
            }
            from = from.max(cut.end);
        }
        text.push_str(self.text.get(from..element.text.end).unwrap_or_default());
        self.left -= element.text.len();
        collapse(&text)
    }

    /// Returns `text` unless it repeats private text of the page: many titles repeat a heading.
    pub(super) fn public(&self, text: Option<&str>) -> Option<String> {
        let text = collapse(text?);
        let is_private = self.private.iter().any(|range| {
            let private = collapse(self.text.get(range.clone()).unwrap_or_default());
            2 < private.len() && (private.contains(&text) || text.contains(&private))
        });
        (!is_private).then_some(text)
    }
}
