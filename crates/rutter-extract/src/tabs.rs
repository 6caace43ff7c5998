//! Matches labels to panels, for tabs and for buttons that unfold a panel.
//!
//! Input: the elements of a region. Output: panels with the elements of their labels. A label
//! belongs to the panel it refers to (`aria-controls`, `aria-labelledby`, a link to its id),
//! otherwise to the panel at the same position in its set. Labels without a panel are not changed.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use rutter_page::InlineMark;

use crate::blocks::BlockWalker;
use crate::dom::Dom;
use crate::survey::InheritedMarks;
use crate::tag::Tag;
use crate::verdict::is_heading_button;

/// Maximum number of levels between a label and the element that also holds its panels.
const FARTHEST: usize = 6;
/// Maximum number of nodes (elements and texts) in a label.
const MOST_ITEMS: u32 = 64;
/// Maximum length of a tab label, and of a button label, which may be a question; in characters.
const LONGEST: usize = 80;
const LONGEST_QUESTION: usize = 200;
/// First words of buttons that unfold a panel without naming it.
const UNNAMING: &[&str] = &[
    "close", "collapse", "expand", "hide", "less", "menu", "more", "open", "read", "see", "show",
    "toggle", "view",
];

/// The panels of a page with their labels.
#[derive(Debug, Default)]
pub(crate) struct TabPanels {
    /// Pairs of a panel and a label, sorted by panel; a panel may have several labels.
    pairs: Vec<(u32, u32)>,
}

impl TabPanels {
    /// Finds the panels below `roots`. Adds the labels to `skipped`, because they are read together
    /// with their panels.
    pub(crate) fn of(dom: &Dom, roots: &[u32], skipped: &mut Vec<u32>) -> Self {
        let mut parts = TabParts::default();
        let all = || roots.iter().flat_map(|root| dom.subtree(*root));
        for at in all() {
            if is_box(dom.item(at).tag) {
                parts.take_panels(dom, at);
            }
        }
        // Most pages have no panels, so the search for labels is skipped.
        if parts.panels.is_empty() && parts.folded.is_empty() {
            return Self::default();
        }
        for at in all() {
            if is_label(dom, at) {
                parts.labels.push(at);
            } else if dom.item(at).tag == Tag::Button && !parts.folded.is_empty() {
                parts.buttons.push(at);
            }
        }
        parts.panels.sort_unstable();
        parts.panels.dedup();
        let mut pairs = if parts.panels.is_empty() { Vec::new() } else { parts.pairs(dom) };
        parts.pair_buttons(dom, &mut pairs);
        skipped.extend(pairs.iter().map(|(_, label)| *label));
        pairs.sort_unstable();
        Self { pairs }
    }

    /// Returns the pairs of a panel and a label, sorted by panel.
    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Returns a panel with each of its labels; an empty slice for an element that is not a panel.
    pub(crate) fn labels(&self, panel: u32) -> &[(u32, u32)] {
        let first = self.pairs.partition_point(|(other, _)| *other < panel);
        let rest = self.pairs.get(first..).unwrap_or_default();
        let n_labels = rest.iter().take_while(|(other, _)| *other == panel).count();
        rest.get(..n_labels).unwrap_or_default()
    }
}

/// The labels, panels and buttons of a page, in document order.
#[derive(Debug, Default)]
struct TabParts {
    labels: Vec<u32>,
    panels: Vec<u32>,
    buttons: Vec<u32>,
    /// Elements that a control of the page refers to by id.
    folded: Vec<u32>,
}

impl TabParts {
    /// Adds an element that is a panel, or the children of an element that holds panels.
    fn take_panels(&mut self, dom: &Dom, at: u32) {
        for (name, value) in dom.atoms(at) {
            match *name {
                local_name!("role") if value == "tabpanel" => self.panels.push(at),
                local_name!("class") if value.contains("tab") => {
                    if is_class_of_panel(dom, at, value) {
                        self.panels.push(at);
                    }
                }
                local_name!("class") if value == "blocks" => {
                    let parent = dom.item(at).parent;
                    if has_class(dom, parent, |token| token.ends_with("code-group")) {
                        let is_element = |child: &u32| dom.item(*child).tag != Tag::Text;
                        self.panels.extend(dom.children(at).filter(is_element));
                    }
                }
                local_name!("id") if dom.is_controlled(value) => self.folded.push(at),
                _ => {}
            }
        }
    }

    /// Pairs buttons with the elements that they unfold, if the text of the button describes the
    /// element.
    fn pair_buttons(&self, dom: &Dom, pairs: &mut Vec<(u32, u32)>) {
        if self.buttons.is_empty() {
            return;
        }
        let id = |at: &u32| Some((dom.attr(*at, &local_name!("id"))?, *at));
        let ids: HashMap<&str, u32> = self.folded.iter().filter_map(id).collect();
        let labelled: HashSet<u32> = pairs.iter().map(|(panel, _)| *panel).collect();
        for &button in &self.buttons {
            let named = dom.attribute(button, "aria-controls");
            let Some(&panel) = named.and_then(|id| ids.get(id.trim())) else { continue };
            if !labelled.contains(&panel) && names_folded(dom, button, panel) {
                pairs.push((panel, button));
            }
        }
    }

    /// Returns the pairs of a panel and a label; a panel may have several labels.
    fn pairs(&self, dom: &Dom) -> Vec<(u32, u32)> {
        let ids: HashMap<&str, u32> = self
            .panels
            .iter()
            .chain(&self.labels)
            .filter_map(|at| Some((dom.attr(*at, &local_name!("id"))?, *at)))
            .collect();
        let labelled: HashMap<u32, u32> = self
            .panels
            .iter()
            .filter_map(|panel| {
                let id = dom.attribute(*panel, "aria-labelledby")?;
                Some((*ids.get(id.trim())?, *panel))
            })
            .collect();
        let mut pairs = Vec::new();
        // Labels without a panel so far, with the element that holds both label and panels.
        let mut open: Vec<(u32, u32)> = Vec::new();
        for &label in &self.labels {
            if MOST_ITEMS < dom.item(label).end - label {
                continue;
            }
            let n_chars = dom.words(label).chars().count();
            if n_chars == 0 || LONGEST < n_chars {
                continue;
            }
            let link = || dom.attr(label, &local_name!("href"))?.strip_prefix('#');
            let named = dom.attribute(label, "aria-controls").or_else(link);
            let named = named.and_then(|id| ids.get(id.trim())).copied();
            let named = named.filter(|at| self.panels.binary_search(at).is_ok());
            match named.or_else(|| labelled.get(&label).copied()) {
                Some(panel) => pairs.push((panel, label)),
                None => open.extend(self.set_of(dom, label).map(|set| (set, label))),
            }
        }
        open.sort_unstable();
        for group in open.chunk_by(|one, other| one.0 == other.0) {
            self.pair_by_place(dom, group, &mut pairs);
        }
        pairs
    }

    /// Returns the nearest element around a label that holds a panel.
    fn set_of(&self, dom: &Dom, label: u32) -> Option<u32> {
        dom.ancestors(label).skip(1).take(FARTHEST).find(|up| {
            let first = self.panels.partition_point(|panel| panel <= up);
            self.panels.get(first).is_some_and(|panel| *panel < dom.item(*up).end)
        })
    }

    /// Pairs the labels and panels of one set in order, if there are as many labels as panels.
    fn pair_by_place(&self, dom: &Dom, group: &[(u32, u32)], pairs: &mut Vec<(u32, u32)>) {
        let Some(&(set, _)) = group.first() else { return };
        let end = dom.item(set).end;
        let mut panels: Vec<u32> = Vec::new();
        let mut next = set + 1;
        // Panels inside other panels do not belong to the set.
        while panels.len() <= group.len() {
            let first = self.panels.partition_point(|panel| *panel < next);
            let Some(&panel) = self.panels.get(first).filter(|panel| **panel < end) else { break };
            panels.push(panel);
            next = dom.item(panel).end;
        }
        let is_outside = |label: &u32| {
            let before = panels.partition_point(|panel| panel <= label).checked_sub(1);
            let before = before.and_then(|idx| panels.get(idx));
            !before.is_some_and(|panel| dom.subtree(*panel).contains(label))
        };
        let labels: Vec<u32> = match panels.len() {
            0 => return,
            n if group.len() < n => return,
            _ => group.iter().map(|(_, label)| *label).filter(is_outside).collect(),
        };
        if labels.len() == panels.len() {
            pairs.extend(panels.into_iter().zip(labels));
        }
    }
}

fn is_box(tag: Tag) -> bool {
    matches!(tag, Tag::Div | Tag::Section | Tag::Custom | Tag::Article)
}

/// Returns whether an element is a tab label, by its role or by the markup of known generators.
fn is_label(dom: &Dom, at: u32) -> bool {
    let tag = dom.item(at).tag;
    if tag != Tag::Label {
        let may_be = is_box(tag) || matches!(tag, Tag::Button | Tag::A | Tag::Li | Tag::Span);
        return may_be && dom.attr(at, &local_name!("role")) == Some("tab");
    }
    if has_class(dom, at, |token| token == "sd-tab-label") {
        return true;
    }
    let parent = dom.item(at).parent;
    if has_class(dom, parent, |token| matches!(token, "tabbed-labels" | "tabbed-set")) {
        return true;
    }
    let is_tabs = has_class(dom, parent, |token| token == "tabs");
    is_tabs && has_class(dom, dom.item(parent).parent, |token| token.ends_with("code-group"))
}

/// Returns whether a button unfolds an element after it and describes the content of the element.
fn names_folded(dom: &Dom, button: u32, panel: u32) -> bool {
    let item = dom.item(button);
    let is_near = || {
        let mut around = dom.ancestors(button).skip(1).take(FARTHEST);
        around.any(|up| panel < dom.item(up).end)
    };
    // Carousel buttons also refer to an element, but do not fold it.
    let folds = || {
        dom.attribute(button, "aria-expanded").is_some()
            || dom.attr(panel, &local_name!("hidden")).is_some()
            || dom.attribute(panel, "aria-labelledby").is_some()
    };
    if panel < item.end || MOST_ITEMS < item.end - button || !folds() || !is_near() {
        return false;
    }
    let words = dom.words(button).to_lowercase();
    let first = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    // A question may begin with a word such as "open".
    let is_named = !UNNAMING.contains(&first) || words.ends_with('?');
    let n_chars = words.chars().count();
    (3..=LONGEST_QUESTION).contains(&n_chars) && is_named && !is_heading_button(dom, button)
}

/// Returns whether a class says that the element is a panel.
fn is_class_of_panel(dom: &Dom, at: u32, class: &str) -> bool {
    class.split_ascii_whitespace().any(|token| match token {
        "tabbed-block" | "sd-tab-content" => true,
        // This class is on a single panel, or on the element around all panels.
        "tabbed-content" => {
            let is_block = |child| has_class(dom, child, |token| token == "tabbed-block");
            !dom.children(at).take(4).any(is_block)
        }
        _ => false,
    })
}

fn has_class(dom: &Dom, at: u32, is: impl Fn(&str) -> bool) -> bool {
    let class = dom.items.get(at as usize).and_then(|_| dom.attr(at, &local_name!("class")));
    class.is_some_and(|class| class.split_ascii_whitespace().any(is))
}

impl BlockWalker<'_> {
    /// Reads a panel: first its labels, then its content.
    pub(crate) fn panel(&mut self, at: u32) {
        self.flush();
        let words = self.labels(at);
        if self.is_inside {
            self.paragraph.push(&words);
            self.paragraph.push(if words.ends_with([':', '?']) { " " } else { ": " });
            return self.flow(at);
        }
        self.paragraph.open(InlineMark::Strong);
        self.paragraph.push(&words);
        self.paragraph.close();
        let first = self.hold(|walk| {
            walk.flush();
            walk.flow(at);
        });
        if self.out.len() == first + 1 {
            self.out.pop();
        }
    }

    /// Returns the labels of a panel as one line, each distinct label once.
    fn labels(&self, panel: u32) -> String {
        let mut said = HashSet::new();
        let mut line = String::new();
        for (_, label) in self.tabs.labels(panel) {
            let words = self.label_words(*label);
            if said.contains(&words) {
                continue;
            }
            line.push_str(if line.is_empty() { "" } else { ", " });
            line.push_str(&words);
            said.insert(words);
        }
        line
    }

    /// Returns the text of a label without text that is hidden from view.
    fn label_words(&self, label: u32) -> String {
        let is_unseen = |at: &u32| self.survey.marks(*at).has(InheritedMarks::UNSEEN);
        let mut words = self.dom.words(label);
        for sign in self.dom.children(label).filter(is_unseen) {
            let sign = self.dom.words(sign);
            if let Some(rest) = words.strip_suffix(sign.as_str()).filter(|rest| !rest.is_empty()) {
                words.truncate(rest.trim_end().len());
            }
        }
        words
    }

    /// Returns whether an element is a panel with at least one label.
    pub(crate) fn is_panel(&self, at: u32) -> bool {
        !self.tabs.labels(at).is_empty()
    }
}
