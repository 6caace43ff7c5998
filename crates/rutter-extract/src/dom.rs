//! The tree of a page: html5ever builds it in an arena, then it is laid out
//! flat in document order, so that every later pass is a loop.
//!
//! Text and attribute values lie in one string. Nesting deeper than
//! [`Limits::depth`](crate::Limits) is taken apart by leaving start tags out
//! (the text stays); a page that makes more nodes than [`Limits::nodes`] is
//! read up to there.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TokenizerResult, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use crate::Limits;
use crate::guard::Guard;
use crate::space::{append, collapse, gap, tidy};
use crate::tag::Tag;

const NONE: u32 = u32::MAX;

/// Bytes handed to the tokenizer at once.
const CHUNK: usize = 8 << 10;

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
    /// Whether any attribute begins with `data-ai-`.
    pub(crate) is_annotated: bool,
    /// Whether any element is marked by its author as content or not.
    pub(crate) is_marked: bool,
    /// Whether there are scripts that might bring text.
    pub(crate) has_scripts: bool,
    /// How many `a` elements there are.
    pub(crate) n_links: usize,
}

/// Builds the tree and nothing else; the number of its nodes.
pub(crate) fn bare(html: &str, limits: &Limits) -> usize {
    Arena::parse(html, limits).nodes.borrow().len()
}

/// What was left out of a hostile page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Nothing,
    /// Tags deeper than allowed; the text is there.
    Depth,
    /// Everything behind the last allowed node.
    Nodes,
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
struct Attr {
    name: LocalName,
    from: u32,
    to: u32,
}

impl Dom {
    /// Reads a page.
    pub(crate) fn parse(html: &str, limits: &Limits) -> Self {
        Self::flatten(Arena::parse(html, limits))
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

    /// The bytes of a text item and all behind it, whosever they are.
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

    /// The value of an attribute.
    pub(crate) fn attribute(&self, at: u32, name: &str) -> Option<&str> {
        self.attributes(at).find(|(found, _)| *found == name).map(|(_, value)| value)
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

    /// An empty value lies nowhere: text around its place may have been moved.
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
            // The item before it in the document lies in the sibling before it.
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
        // Up to where white space means something.
        let mut raw_until = NONE;
        let (mut has_scripts, mut n_links) = (false, 0);
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
                    // What is left over is nobody's, but must be text all the same.
                    text[end as usize..to as usize].fill(b' ');
                    to = end;
                }
            }
            has_scripts |= tag == Tag::Script;
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
        let is_marked = arena.is_marked.get();
        Self { items, attributes, text, body, cut, is_annotated, is_marked, has_scripts, n_links }
    }
}

/// Whether white space inside means something, or is nobody's to look at.
fn is_raw(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Script | Tag::Style | Tag::Textarea | Tag::Template)
}

/// Attributes by which authors say what is content and what is not.
fn is_author_mark(name: &str) -> bool {
    matches!(
        name,
        "data-pagefind-body" | "data-pagefind-ignore" | "data-markdown-ignore" | "data-nosnippet"
    )
}

/// The tree while it is being built.
#[derive(Debug)]
pub(crate) struct Arena {
    nodes: RefCell<Vec<Node>>,
    attributes: RefCell<Vec<Attr>>,
    text: RefCell<String>,
    pub(crate) cut: Cell<Cut>,
    /// Depth of the innermost open element.
    pub(crate) depth: Cell<u32>,
    most_nodes: usize,
    /// Most bytes of text and values together.
    most_text: usize,
    is_annotated: Cell<bool>,
    is_marked: Cell<bool>,
}

#[derive(Debug)]
struct Node {
    tag: Tag,
    /// The root and contents of templates are no elements.
    depth: u32,
    parent: u32,
    previous: u32,
    next: u32,
    first_child: u32,
    last_child: u32,
    from: u32,
    to: u32,
}

impl Node {
    fn new(tag: Tag, from: u32, to: u32) -> Self {
        Self {
            tag,
            depth: 0,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first_child: NONE,
            last_child: NONE,
            from,
            to,
        }
    }
}

/// A node and its name, which the tree builder asks for all the time.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    at: u32,
    ns: Namespace,
    name: LocalName,
}

#[derive(Debug)]
pub(crate) struct Name<'a>(&'a Handle);

impl html5ever::interface::ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.name
    }
}

impl Arena {
    fn parse(html: &str, limits: &Limits) -> Self {
        let arena = Self {
            nodes: RefCell::new(Vec::with_capacity(html.len() / 20 + 16)),
            attributes: RefCell::new(Vec::with_capacity(html.len() / 24 + 16)),
            text: RefCell::new(String::with_capacity(html.len() + 16)),
            cut: Cell::new(Cut::Nothing),
            depth: Cell::new(0),
            is_annotated: Cell::new(false),
            is_marked: Cell::new(false),
            most_text: 2 * html.len() + (1 << 20),
            most_nodes: limits.nodes.min(NONE as usize - 2),
        };
        arena.nodes.borrow_mut().push(Node::new(Tag::Html, 0, 0));
        let options = TreeBuilderOpts {
            scripting_enabled: false,
            drop_doctype: true,
            ..TreeBuilderOpts::default()
        };
        let builder = TreeBuilder::new(arena, options);
        let guard = Guard { builder, deepest: limits.depth };
        let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
        let queue = BufferQueue::default();
        let mut rest = html;
        while !rest.is_empty() {
            let mut cut = rest.len().min(CHUNK);
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (chunk, behind) = rest.split_at(cut);
            queue.push_back(StrTendril::from_slice(chunk));
            while let TokenizerResult::Script(_) | TokenizerResult::EncodingIndicator(_) =
                tokenizer.feed(&queue)
            {}
            rest = behind;
            let arena = &tokenizer.sink.builder.sink;
            if arena.most_nodes < arena.nodes.borrow().len() {
                arena.cut.set(Cut::Nodes);
                break;
            }
        }
        tokenizer.end();
        tokenizer.sink.builder.sink
    }

    fn push(&self, node: Node) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        let at = u32::try_from(nodes.len()).unwrap_or(NONE - 1);
        nodes.push(node);
        at
    }

    fn put_text(&self, text: &str) -> (u32, u32) {
        let mut all = self.text.borrow_mut();
        let from = u32::try_from(all.len()).unwrap_or(NONE);
        all.push_str(text);
        (from, u32::try_from(all.len()).unwrap_or(NONE))
    }

    /// The value of an attribute. Elements that are opened again bring theirs
    /// again; beyond all proportion they come without.
    fn put_value(&self, value: &str) -> (u32, u32) {
        let is_full = self.most_text < self.text.borrow().len() + value.len();
        self.put_text(if is_full { "" } else { value })
    }

    fn new_child(&self, child: NodeOrText<Handle>) -> u32 {
        match child {
            NodeOrText::AppendNode(handle) => {
                self.detach(handle.at);
                handle.at
            }
            NodeOrText::AppendText(text) => {
                let (from, to) = self.put_text(&text);
                self.push(Node::new(Tag::Text, from, to))
            }
        }
    }

    fn detach(&self, at: u32) {
        let mut nodes = self.nodes.borrow_mut();
        let (parent, previous, next) = {
            let node = &mut nodes[at as usize];
            let links = (node.parent, node.previous, node.next);
            (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
            links
        };
        if previous != NONE {
            nodes[previous as usize].next = next;
        } else if parent != NONE {
            nodes[parent as usize].first_child = next;
        }
        if next != NONE {
            nodes[next as usize].previous = previous;
        } else if parent != NONE {
            nodes[parent as usize].last_child = previous;
        }
    }

    fn append_to(&self, parent: u32, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendText(text) = &child {
            // Goes on where the text before it ends.
            let mut nodes = self.nodes.borrow_mut();
            let last = nodes[parent as usize].last_child;
            let mut all = self.text.borrow_mut();
            if let Some(node) = nodes.get_mut(last as usize)
                && node.tag == Tag::Text
                && node.to as usize == all.len()
            {
                all.push_str(text);
                node.to = u32::try_from(all.len()).unwrap_or(NONE);
                return;
            }
        }
        let at = self.new_child(child);
        let mut nodes = self.nodes.borrow_mut();
        let (last, depth) = {
            let parent = &mut nodes[parent as usize];
            let last = parent.last_child;
            parent.last_child = at;
            if last == NONE {
                parent.first_child = at;
            }
            (last, parent.depth + 1)
        };
        if last != NONE {
            nodes[last as usize].next = at;
        }
        let node = &mut nodes[at as usize];
        (node.parent, node.previous, node.depth) = (parent, last, depth);
        if node.tag != Tag::Text {
            self.depth.set(depth);
        }
    }
}

impl TreeSink for Arena {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { at: 0, ns: ns!(), name: local_name!("") }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Name<'a> {
        Name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        let tag = if name.ns == ns!(html) {
            Tag::of(&name.local)
        } else if name.ns == ns!(mathml) {
            Tag::Math
        } else {
            Tag::Svg
        };
        let mut attributes = self.attributes.borrow_mut();
        let from = u32::try_from(attributes.len()).unwrap_or(NONE);
        for attribute in attrs {
            let (from, to) = self.put_value(&attribute.value);
            if attribute.name.local.starts_with("data-ai-") {
                self.is_annotated.set(true);
            } else if is_author_mark(&attribute.name.local) {
                self.is_marked.set(true);
            }
            attributes.push(Attr { name: attribute.name.local, from, to });
        }
        let to = u32::try_from(attributes.len()).unwrap_or(NONE);
        let at = self.push(Node::new(tag, from, to));
        Handle { at, ns: name.ns, name: name.local }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        let at = self.push(Node::new(Tag::Template, 0, 0));
        Handle { at, ns: ns!(), name: local_name!("") }
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        self.create_comment(data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &child
            && node.name == local_name!("")
        {
            return; // a comment
        }
        self.append_to(parent.at, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let parent = self.nodes.borrow()[element.at as usize].parent;
        if parent == NONE {
            self.append(previous, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Handle) {
        self.depth.set(self.nodes.borrow()[node.at as usize].depth.saturating_sub(1));
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        // A shadow root is part of what people see; other templates are not,
        // and `Tag::Template` is silent.
        let mut nodes = self.nodes.borrow_mut();
        let attributes = self.attributes.borrow();
        let node = &mut nodes[target.at as usize];
        let own = &attributes[node.from as usize..node.to as usize];
        if own.iter().any(|attribute| &*attribute.name == "shadowrootmode") {
            node.tag = Tag::Div;
        }
        target.clone()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.at == y.at
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let at = self.new_child(child);
        let mut nodes = self.nodes.borrow_mut();
        let (parent, previous, depth) = {
            let sibling = &mut nodes[sibling.at as usize];
            let links = (sibling.parent, sibling.previous, sibling.depth);
            sibling.previous = at;
            links
        };
        if previous != NONE {
            nodes[previous as usize].next = at;
        } else if parent != NONE {
            nodes[parent as usize].first_child = at;
        }
        let node = &mut nodes[at as usize];
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, sibling.at, depth);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        let mut attributes = self.attributes.borrow_mut();
        let (from, to) = {
            let node = &self.nodes.borrow()[target.at as usize];
            (node.from as usize, node.to as usize)
        };
        // Nobody repeats `<html>` for its hundredth attribute in good faith.
        if 64 < to - from {
            return;
        }
        // The whole list anew, at the end.
        let start = attributes.len();
        for at in from..to {
            let Attr { name, from, to } = &attributes[at];
            let copy = Attr { name: name.clone(), from: *from, to: *to };
            attributes.push(copy);
        }
        for attribute in attrs {
            if attributes[start..].iter().all(|known| known.name != attribute.name.local) {
                let (from, to) = self.put_text(&attribute.value);
                attributes.push(Attr { name: attribute.name.local, from, to });
            }
        }
        let node = &mut self.nodes.borrow_mut()[target.at as usize];
        node.from = u32::try_from(start).unwrap_or(NONE);
        node.to = u32::try_from(attributes.len()).unwrap_or(NONE);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.at);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        loop {
            let child = self.nodes.borrow()[node.at as usize].first_child;
            if child == NONE {
                return;
            }
            // Name and namespace are not looked at on the way.
            let child = Handle { at: child, ns: ns!(html), name: local_name!("div") };
            self.append_to(new_parent.at, NodeOrText::AppendNode(child));
        }
    }
}
