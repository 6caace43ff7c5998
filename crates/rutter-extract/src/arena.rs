//! Builds the tree of a page with html5ever.
//!
//! Input: the text of a page and [`Limits`]. Output: an [`TreeArena`] of linked nodes, which
//! [`Dom`](crate::dom::Dom) stores flat in document order.
//! Leaves out start tags deeper than [`Limits::depth`] (their text is kept) and attributes beyond
//! [`Limits::attributes`]; stops after [`Limits::nodes`] nodes or [`Limits::steps`] steps.

mod sink;

use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{NodeOrText, TokenizerResult};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, Namespace};

use crate::Limits;
use crate::dom::{DomAttribute, NONE};
use crate::guard::TokenGuard;
use crate::tag::Tag;
use crate::tag_limit::TagScanner;

/// Maximum number of bytes that the tokenizer gets at once.
const CHUNK: usize = 8 << 10;

/// Parses a page and returns the number of nodes of its tree.
pub(crate) fn bare(html: &str, limits: &Limits) -> usize {
    TreeArena::parse(html, limits).nodes.borrow().len()
}

/// The limit at which parsing stopped or parts of the page were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    Nothing,
    /// Start tags were nested deeper than [`Limits::depth`]; they are missing, their text is kept.
    Depth,
    /// The page has more than [`Limits::nodes`] nodes; the rest of the page is missing.
    Nodes,
    /// The page needs more than [`Limits::steps`] steps; the rest of the page is missing.
    Steps,
}

/// Returns whether an attribute is one by which authors mark content, or mark what is not content.
fn is_author_mark(name: &str) -> bool {
    matches!(
        name,
        "data-pagefind-body" | "data-pagefind-ignore" | "data-markdown-ignore" | "data-nosnippet"
    )
}

/// The tree of a page while html5ever builds it.
#[derive(Debug)]
// More than 12 fields: html5ever changes the tree through shared references, so each part is a cell of its own.
pub(crate) struct TreeArena {
    pub(crate) nodes: RefCell<Vec<ArenaNode>>,
    pub(crate) attributes: RefCell<Vec<DomAttribute>>,
    pub(crate) text: RefCell<String>,
    pub(crate) cut: Cell<LimitReached>,
    /// Depth of the innermost open element.
    pub(crate) depth: Cell<u32>,
    /// Steps of building the tree so far; see [`Limits::steps`].
    pub(crate) steps: Cell<u64>,
    pub(crate) n_cut_tags: Cell<usize>,
    most_nodes: usize,
    /// Maximum number of bytes of all texts and attribute values together.
    most_text: usize,
    pub(crate) is_annotated: Cell<bool>,
    pub(crate) is_marked: Cell<bool>,
    /// Comments around the parts of a page that React streams in later; empty on pages without such
    /// parts.
    pub(crate) boundaries: RefCell<Vec<(u32, StreamBoundary)>>,
    is_streamed: bool,
}

/// A comment at the start or end of a part that React streams in later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamBoundary {
    /// A start comment: `<!--$-->`, `<!--$?-->`, `<!--$!-->` or `<!--$~-->`.
    Start,
    /// The end comment: `<!--/$-->`.
    End,
}

impl StreamBoundary {
    fn of(comment: &str) -> Option<Self> {
        match comment {
            "$" | "$?" | "$!" | "$~" => Some(Self::Start),
            "/$" => Some(Self::End),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct ArenaNode {
    pub(crate) tag: Tag,
    /// Nesting depth of the node: 0 for the document, 1 for its children.
    depth: u32,
    pub(crate) parent: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    pub(crate) first_child: u32,
    pub(crate) last_child: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl ArenaNode {
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

    /// Removes a node, with its subtree, from its parent and its siblings.
    pub(crate) fn detach(nodes: &mut [Self], at: u32) {
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
}

/// A node and its element name, which the tree builder of html5ever asks for often.
#[derive(Debug, Clone)]
pub(crate) struct NodeHandle {
    at: u32,
    ns: Namespace,
    name: LocalName,
}

#[derive(Debug)]
pub(crate) struct HandleName<'a>(&'a NodeHandle);

impl html5ever::interface::ElemName for HandleName<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.name
    }
}

/// Feeds a piece of a page to the tokenizer; returns whether the page is still within its limits.
fn feed(tokenizer: &Tokenizer<TokenGuard>, piece: &str, limits: &Limits) -> bool {
    let queue = BufferQueue::default();
    let mut rest = piece;
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
            arena.cut.set(LimitReached::Nodes);
            return false;
        }
        if limits.steps < arena.steps.get() {
            arena.cut.set(LimitReached::Steps);
            return false;
        }
    }
    true
}

impl TreeArena {
    pub(crate) fn parse(html: &str, limits: &Limits) -> Self {
        let arena = Self {
            nodes: RefCell::new(Vec::with_capacity(html.len() / 20 + 16)),
            attributes: RefCell::new(Vec::with_capacity(html.len() / 24 + 16)),
            text: RefCell::new(String::with_capacity(html.len() + 16)),
            cut: Cell::new(LimitReached::Nothing),
            depth: Cell::new(0),
            steps: Cell::new(0),
            n_cut_tags: Cell::new(0),
            is_annotated: Cell::new(false),
            is_marked: Cell::new(false),
            boundaries: RefCell::default(),
            is_streamed: crate::streamed::has_parts(html),
            most_text: 2 * html.len() + (1 << 20),
            most_nodes: limits.nodes.min(NONE as usize - 2),
        };
        arena.nodes.borrow_mut().push(ArenaNode::new(Tag::Html, 0, 0));
        let options = TreeBuilderOpts {
            scripting_enabled: false,
            drop_doctype: true,
            ..TreeBuilderOpts::default()
        };
        let builder = TreeBuilder::new(arena, options);
        let guard = TokenGuard { builder, deepest: limits.depth, mode: Cell::default() };
        // Decoding has removed the byte order mark of the page; html5ever would remove one at the
        // start of every piece.
        let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
        let tokenizer = Tokenizer::new(guard, options);
        let mut scanner = TagScanner::new(html, limits.attributes);
        loop {
            let (mode, is_foreign) = tokenizer.sink.mode();
            let Some(piece) = scanner.next(mode, is_foreign, CHUNK) else { break };
            let fed = html.get(piece.from..piece.to).unwrap_or_default();
            let is_whole = feed(&tokenizer, fed, limits) && feed(&tokenizer, piece.closing, limits);
            if !is_whole {
                break;
            }
        }
        tokenizer.end();
        let arena = tokenizer.sink.builder.sink;
        arena.n_cut_tags.set(scanner.n_cut);
        arena
    }

    /// Counts steps of building the tree. The limit is a number of steps and not a time, so that a
    /// page has the same result on every machine.
    pub(crate) fn step(&self, n: u64) {
        self.steps.set(self.steps.get().saturating_add(n));
    }

    fn push(&self, node: ArenaNode) -> u32 {
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

    /// Stores the value of an attribute. The parser repeats the attributes of elements that it
    /// reopens; above `most_text` bytes an empty value is stored instead.
    fn put_value(&self, value: &str) -> (u32, u32) {
        let is_full = self.most_text < self.text.borrow().len() + value.len();
        self.put_text(if is_full { "" } else { value })
    }

    fn new_child(&self, child: NodeOrText<NodeHandle>) -> u32 {
        match child {
            NodeOrText::AppendNode(handle) => {
                ArenaNode::detach(&mut self.nodes.borrow_mut(), handle.at);
                handle.at
            }
            NodeOrText::AppendText(text) => {
                let (from, to) = self.put_text(&text);
                self.push(ArenaNode::new(Tag::Text, from, to))
            }
        }
    }

    fn append_to(&self, parent: u32, child: NodeOrText<NodeHandle>) {
        if let NodeOrText::AppendText(text) = &child {
            // If the previous node is a text, the new text is appended to it.
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
