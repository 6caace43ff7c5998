//! The tree of a page, stored flat in document order.
//!
//! Input: the text of a page and [`Limits`]. Output: a [`Dom`], over which later passes are loops.
//! Texts and attribute values are ranges of one string. Parts beyond the limits are left out.

use std::cell::OnceCell;
use std::collections::HashSet;

use html5ever::LocalName;

use crate::Limits;
use crate::arena::{Arena, Cut};
use crate::space::{append, collapse, gap, tidy};
use crate::streamed;
use crate::tag::Tag;

pub(crate) const NONE: u32 = u32::MAX;

/// A page's tree in document order: an element's subtree is the range from
/// its own place to its `end`.
#[derive(Debug)]
pub(crate) struct Dom {
    pub(crate) items: Vec<Item>,
    attributes: Vec<Attr>,
    text: String,
    /// The body, where there is one.
    pub(crate) body: Option<u32>,
    /// Whether the page was read to its end and in its full depth.
    pub(crate) cut: Cut,
    /// Number of tags with more attributes than allowed.
    pub(crate) n_cut_tags: usize,
    /// Whether any attribute begins with `data-ai-`.
    pub(crate) is_annotated: bool,
    /// Whether any element is marked by its author as content or not.
    pub(crate) is_marked: bool,
    /// Number of `a` elements.
    pub(crate) n_links: usize,
    /// Ids of elements that a control of the page opens; found when asked for.
    controlled: OnceCell<HashSet<Box<str>>>,
}

/// An element or a run of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) tag: Tag,
    pub(crate) parent: u32,
    /// Behind the last item of the subtree.
    pub(crate) end: u32,
    /// Whether its white space is single spaces.
    pub(crate) is_tidy: bool,
    /// Attributes of an element, bytes of a text.
    from: u32,
    to: u32,
}

#[derive(Debug)]
pub(crate) struct Attr {
    pub(crate) name: LocalName,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Dom {
    /// Reads a page.
    pub(crate) fn parse(html: &str, limits: &Limits) -> Self {
        let mut arena = Arena::parse(html, limits);
        streamed::place(html, &mut arena, limits.depth);
        Self::flatten(arena)
    }

    pub(crate) fn item(&self, at: u32) -> &Item {
        &self.items[at as usize]
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(NONE)
    }

    /// The bytes of a text item; nothing for an element.
    pub(crate) fn text(&self, at: u32) -> &str {
        let item = self.item(at);
        if item.tag == Tag::Text { &self.text[item.from as usize..item.to as usize] } else { "" }
    }

    /// Whether a text item is one space, as every third is.
    pub(crate) fn is_space(&self, at: u32) -> bool {
        let item = self.item(at);
        item.to - item.from == 1 && self.text.as_bytes()[item.from as usize] == b' '
    }

    /// The bytes of a text item and all bytes behind it, including those of other items.
    pub(crate) fn behind(&self, at: u32) -> &[u8] {
        &self.text.as_bytes()[self.item(at).from as usize..]
    }

    /// Appends a text item, every run of white space as one space.
    pub(crate) fn append(&self, at: u32, out: &mut String) {
        if self.is_space(at) {
            gap(out);
        } else if self.item(at).is_tidy {
            append(self.text(at), out);
        } else {
            collapse(self.text(at), out);
        }
    }

    /// The same for any item: an element adds nothing.
    pub(crate) fn append_text(&self, at: u32, out: &mut String) {
        if self.item(at).tag == Tag::Text {
            self.append(at, out);
        }
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, at: u32, name: &str) -> Option<&str> {
        self.attributes(at).find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Whether a button or link of the page opens the element with this id.
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

    /// The value of an attribute known to the parser: a comparison of numbers.
    pub(crate) fn attr(&self, at: u32, name: &LocalName) -> Option<&str> {
        let attribute = self.attrs_of(at).iter().find(|attribute| attribute.name == *name)?;
        Some(self.value(attribute))
    }

    pub(crate) fn attributes(&self, at: u32) -> impl Iterator<Item = (&str, &str)> {
        self.attrs_of(at).iter().map(|attribute| (&*attribute.name, self.value(attribute)))
    }

    /// The same with the parser's own names, which compare as numbers.
    pub(crate) fn atoms(&self, at: u32) -> impl Iterator<Item = (&LocalName, &str)> {
        self.attrs_of(at).iter().map(|attribute| {
            let value = self.value(attribute);
            (&attribute.name, value)
        })
    }

    /// The value of an attribute. Empty if the range is invalid: the text around the position of an
    /// empty value may have been moved.
    fn value(&self, attribute: &Attr) -> &str {
        self.text.get(attribute.from as usize..attribute.to as usize).unwrap_or_default()
    }

    fn attrs_of(&self, at: u32) -> &[Attr] {
        let item = self.item(at);
        if item.tag == Tag::Text {
            return &[];
        }
        &self.attributes[item.from as usize..item.to as usize]
    }

    /// Direct children, in order.
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

    /// The siblings behind an item, in order.
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

    /// The siblings before an item, the nearest first.
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

    /// The items from `at` to the root, itself first.
    pub(crate) fn ancestors(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(at);
        std::iter::from_fn(move || {
            let here = next?;
            let parent = self.item(here).parent;
            next = (parent != NONE).then_some(parent);
            Some(here)
        })
    }

    /// All items of a subtree, itself first.
    pub(crate) fn subtree(&self, at: u32) -> std::ops::Range<u32> {
        at..self.item(at).end
    }

    fn flatten(arena: Arena) -> Self {
        let nodes = arena.nodes.into_inner();
        let mut items: Vec<Item> = Vec::with_capacity(nodes.len());
        // Down to the first child, on to the next sibling, up where there is
        // none; `open` holds the way up.
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
                    // The unused bytes belong to no item but must be valid UTF-8.
                    text[end as usize..to as usize].fill(b' ');
                    to = end;
                }
            }
            n_links += usize::from(tag == Tag::A);
            items.push(Item { tag, parent, end: at + 1, is_tidy, from, to });
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
        // Whole characters were moved and spaces put in the place of spaces.
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

/// Whether the text of an element keeps its white space: it is significant or never read.
fn is_raw(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Script | Tag::Style | Tag::Textarea | Tag::Template)
}
