//! The tree of a page, stored flat in document order.
//!
//! Input: the text of a page and [`Limits`]. Output: a [`Dom`], over which later passes are loops.
//! Texts and attribute values are ranges of one string. Parts beyond the limits are left out.

use std::cell::OnceCell;
use std::collections::HashSet;

use html5ever::LocalName;

use crate::Limits;
use crate::arena::{LimitReached, TreeArena};
use crate::space::{append, collapse, gap, tidy};
use crate::streamed;
use crate::tag::Tag;

pub(crate) const NONE: u32 = u32::MAX;

/// The tree of a page in document order. The subtree of an element is the range from its own index
/// to its `end`.
#[derive(Debug)]
pub(crate) struct Dom {
    pub(crate) items: Vec<DomNode>,
    attributes: Vec<DomAttribute>,
    text: String,
    /// The `body` element, if the page has one.
    pub(crate) body: Option<u32>,
    /// The limit at which the parser stopped or left out parts of the page.
    pub(crate) cut: LimitReached,
    /// Number of tags with more attributes than [`Limits::attributes`].
    pub(crate) n_cut_tags: usize,
    /// Whether the page has an attribute that begins with `data-ai-`.
    pub(crate) is_annotated: bool,
    /// Whether the page has an attribute by which its author marks content, or marks what is not
    /// content.
    pub(crate) is_marked: bool,
    /// Number of `a` elements.
    pub(crate) n_links: usize,
    /// Ids of the elements that a button or link opens; collected on first use.
    controlled: OnceCell<HashSet<Box<str>>>,
}

/// An element or a run of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DomNode {
    pub(crate) tag: Tag,
    pub(crate) parent: u32,
    /// Index after the last item of the subtree.
    pub(crate) end: u32,
    /// Whether each run of white space in the text is already a single space.
    pub(crate) is_tidy: bool,
    /// Range of the attributes of an element, or of the bytes of a text.
    from: u32,
    to: u32,
}

#[derive(Debug)]
pub(crate) struct DomAttribute {
    pub(crate) name: LocalName,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Dom {
    /// Parses a page.
    pub(crate) fn parse(html: &str, limits: &Limits) -> Self {
        let mut arena = TreeArena::parse(html, limits);
        streamed::place(html, &mut arena, limits.depth);
        Self::flatten(arena)
    }

    pub(crate) fn item(&self, at: u32) -> &DomNode {
        &self.items[at as usize]
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(NONE)
    }

    /// Returns the text of a text item; an empty text for an element.
    pub(crate) fn text(&self, at: u32) -> &str {
        let item = self.item(at);
        if item.tag == Tag::Text { &self.text[item.from as usize..item.to as usize] } else { "" }
    }

    /// Returns whether a text item is a single space, as about every third text item is.
    pub(crate) fn is_space(&self, at: u32) -> bool {
        let item = self.item(at);
        item.to - item.from == 1 && self.text.as_bytes()[item.from as usize] == b' '
    }

    /// Returns the bytes from the start of a text item to the end of all texts, including the text
    /// of later items.
    pub(crate) fn behind(&self, at: u32) -> &[u8] {
        &self.text.as_bytes()[self.item(at).from as usize..]
    }

    /// Appends a text item, with each run of white space collapsed to one space.
    pub(crate) fn append(&self, at: u32, out: &mut String) {
        if self.is_space(at) {
            gap(out);
        } else if self.item(at).is_tidy {
            append(self.text(at), out);
        } else {
            collapse(self.text(at), out);
        }
    }

    /// Appends a text item like `append`; an element adds nothing.
    pub(crate) fn append_text(&self, at: u32, out: &mut String) {
        if self.item(at).tag == Tag::Text {
            self.append(at, out);
        }
    }

    /// Returns the value of the attribute with this name.
    pub(crate) fn attribute(&self, at: u32, name: &str) -> Option<&str> {
        self.attributes(at).find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns whether a button or link of the page opens the element with this id.
    pub(crate) fn is_controlled(&self, id: &str) -> bool {
        let controlled = self.controlled.get_or_init(|| {
            let controls = self.attributes.iter().filter(|attribute| {
                matches!(&*attribute.name, "aria-controls" | "data-target" | "data-bs-target")
            });
            let ids = controls.flat_map(|attribute| self.value(attribute).split_ascii_whitespace());
            ids.map(|id| Box::from(id.strip_prefix('#').unwrap_or(id))).collect()
        });
        controlled.contains(id)
    }

    /// Returns the value of an attribute whose name html5ever knows, which is a comparison of
    /// numbers.
    pub(crate) fn attr(&self, at: u32, name: &LocalName) -> Option<&str> {
        let attribute = self.attrs_of(at).iter().find(|attribute| attribute.name == *name)?;
        Some(self.value(attribute))
    }

    pub(crate) fn attributes(&self, at: u32) -> impl Iterator<Item = (&str, &str)> {
        self.attrs_of(at).iter().map(|attribute| (&*attribute.name, self.value(attribute)))
    }

    /// Returns the attributes of an element with their interned names, which compare as numbers.
    pub(crate) fn atoms(&self, at: u32) -> impl Iterator<Item = (&LocalName, &str)> {
        self.attrs_of(at).iter().map(|attribute| {
            let value = self.value(attribute);
            (&attribute.name, value)
        })
    }

    /// Returns the value of an attribute. The value is empty if its byte range is invalid: the
    /// range of an empty value can be inside a text whose bytes were moved.
    fn value(&self, attribute: &DomAttribute) -> &str {
        self.text.get(attribute.from as usize..attribute.to as usize).unwrap_or_default()
    }

    fn attrs_of(&self, at: u32) -> &[DomAttribute] {
        let item = self.item(at);
        if item.tag == Tag::Text {
            return &[];
        }
        &self.attributes[item.from as usize..item.to as usize]
    }

    /// Returns the children of an item, in order.
    pub(crate) fn children(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.item(at).end;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.item(child).end;
                child
            })
        })
    }

    /// Returns the siblings after an item, in order.
    pub(crate) fn following(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = self.item(at).parent;
        let end = self.items.get(parent as usize).map_or(self.len(), |parent| parent.end);
        let mut next = self.item(at).end;
        std::iter::from_fn(move || {
            let sibling = next;
            (sibling < end).then(|| {
                next = self.item(sibling).end;
                sibling
            })
        })
    }

    /// Returns the siblings before an item, the nearest first.
    pub(crate) fn preceding(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = self.item(at).parent;
        let mut here = at;
        std::iter::from_fn(move || {
            // The previous item in document order belongs to the previous sibling.
            let before = here.checked_sub(1).filter(|before| *before != parent)?;
            here = self.ancestors(before).find(|up| self.item(*up).parent == parent)?;
            Some(here)
        })
    }

    /// Returns an item and its ancestors, from the item to the root.
    pub(crate) fn ancestors(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(at);
        std::iter::from_fn(move || {
            let here = next?;
            let parent = self.item(here).parent;
            next = (parent != NONE).then_some(parent);
            Some(here)
        })
    }

    /// Returns the range of an item and its descendants.
    pub(crate) fn subtree(&self, at: u32) -> std::ops::Range<u32> {
        at..self.item(at).end
    }

    fn flatten(arena: TreeArena) -> Self {
        let nodes = arena.nodes.into_inner();
        let mut items: Vec<DomNode> = Vec::with_capacity(nodes.len());
        // The loop goes to the first child, else to the next sibling, else up to the parent; `open`
        // holds the open elements.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut text = arena.text.into_inner().into_bytes();
        // End of the element in which white space is kept.
        let mut raw_until = NONE;
        let mut n_links = 0;
        let mut here = nodes.first().map_or(NONE, |root| root.first_child);
        loop {
            let at = u32::try_from(items.len()).unwrap_or(NONE);
            let Some(node) = nodes.get(here as usize) else {
                let Some((parent, parent_node)) = open.pop() else { break };
                items[parent as usize].end = at;
                if raw_until == parent {
                    raw_until = NONE;
                }
                here = nodes[parent_node as usize].next;
                continue;
            };
            let parent = open.last().map_or(NONE, |(parent, _)| *parent);
            let (tag, from, mut to) = (node.tag, node.from, node.to);
            let is_tidy = tag == Tag::Text && raw_until == NONE;
            if is_tidy {
                let n_left = tidy(&mut text, from as usize, to as usize);
                let end = from + u32::try_from(n_left).unwrap_or(0);
                if end < to {
                    // The remaining bytes belong to no item, but must be valid UTF-8.
                    text[end as usize..to as usize].fill(b' ');
                    to = end;
                }
            }
            n_links += usize::from(tag == Tag::A);
            items.push(DomNode { tag, parent, end: at + 1, is_tidy, from, to });
            if node.first_child == NONE {
                here = node.next;
            } else {
                if raw_until == NONE && is_raw(tag) {
                    raw_until = at;
                }
                open.push((at, here));
                here = node.first_child;
            }
        }
        let attributes = arena.attributes.into_inner();
        // The loop moved whole characters and replaced bytes of white space by spaces.
        let text = String::from_utf8(text).expect("tidying keeps characters whole");
        let body = items.iter().position(|item| item.tag == Tag::Body);
        let body = body.and_then(|at| u32::try_from(at).ok());
        let (cut, is_annotated) = (arena.cut.get(), arena.is_annotated.get());
        let (is_marked, n_cut_tags) = (arena.is_marked.get(), arena.n_cut_tags.get());
        Self {
            items,
            attributes,
            text,
            body,
            cut,
            n_cut_tags,
            is_annotated,
            is_marked,
            n_links,
            controlled: OnceCell::new(),
        }
    }
}

/// Returns whether the text of an element keeps its white space, because it is significant or never
/// read.
fn is_raw(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Script | Tag::Style | Tag::Textarea | Tag::Template)
}
