//! Moves parts of a page that the server sent late into their places, as the script of the page
//! would.
//!
//! React sends a placeholder, `<template id="B:0">` with a fallback up to the comment `/$`, and
//! later, at the end of the body, `<div hidden id="S:0">` with the content; or `<template
//! id="P:0">` without a fallback. Input: the parsed tree. Output: the tree with each part behind
//! its placeholder and without the fallbacks. If a part would nest too deep, its placeholder is
//! moved before it instead. Parts without a placeholder in the body are not moved.

use std::collections::BTreeMap;

use html5ever::local_name;

use crate::arena::{ArenaNode, StreamBoundary, TreeArena};
use crate::dom::NONE;
use crate::tag::Tag;

/// A part that React streamed in, with its placeholder.
struct StreamedPart {
    at: u32,
    placeholder: u32,
    kind: PlaceholderKind,
    height: u32,
    /// Index of the part that contains the placeholder.
    outer: Option<usize>,
}

/// The kind of a placeholder, by its id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceholderKind {
    /// An id such as `B:0`: a placeholder with a fallback.
    Boundary,
    /// An id such as `P:0`: a placeholder without a fallback.
    Segment,
}

impl PlaceholderKind {
    /// Returns the kind and the number of a placeholder.
    fn of(id: &str) -> Option<(Self, &str)> {
        let boundary = id.strip_prefix("B:").map(|number| (Self::Boundary, number));
        boundary.or_else(|| Some((Self::Segment, id.strip_prefix("P:")?)))
    }
}

/// Returns whether a page may have parts that React streamed in.
pub(crate) fn has_parts(html: &str) -> bool {
    memchr::memmem::find(html.as_bytes(), b"id=\"S:").is_some()
}

/// Moves the streamed parts of a page to their placeholders; `deepest` is the maximum nesting
/// depth.
pub(crate) fn place(html: &str, arena: &mut TreeArena, deepest: u32) {
    if !has_parts(html) {
        return;
    }
    let parts = parts(arena);
    let boundaries = std::mem::take(arena.boundaries.get_mut());
    let nodes = arena.nodes.get_mut();
    let roots = parts.iter().enumerate().map(|(idx, part)| (part.at, idx)).collect();
    let mut fallbacks = Fallbacks { boundaries: &boundaries, roots, n_left: 2 * nodes.len() };
    let mut inner: Vec<Vec<usize>> = parts.iter().map(|_| Vec::new()).collect();
    let mut ready = Vec::new();
    for (idx, part) in parts.iter().enumerate() {
        match part.outer.and_then(|outer| inner.get_mut(outer)) {
            Some(list) => list.push(idx),
            None => ready.push(idx),
        }
    }
    // Moves outer parts first. Parts whose placeholders are inside each other are never moved.
    while let Some(idx) = ready.pop() {
        let (Some(part), Some(list)) = (parts.get(idx), inner.get_mut(idx)) else { continue };
        // If a fallback was removed together with the placeholder, the part is not moved.
        let Some(depth) = depth_in_body(nodes, part.placeholder) else { continue };
        ready.append(list);
        if part.kind == PlaceholderKind::Boundary {
            fallbacks.remove(nodes, part.placeholder);
        }
        if depth + part.height <= deepest {
            put_behind(nodes, part.at, part.placeholder);
        } else {
            put_behind(nodes, part.placeholder, part.at);
            put_behind(nodes, part.at, part.placeholder);
        }
    }
    for (at, _) in boundaries {
        ArenaNode::detach(nodes, at);
    }
}

/// Returns all parts that have a placeholder, in document order.
fn parts(arena: &mut TreeArena) -> Vec<StreamedPart> {
    let (attributes, text) = (arena.attributes.get_mut(), arena.text.get_mut());
    let nodes = arena.nodes.get_mut();
    let id_of = |node: &ArenaNode| {
        let own = attributes.get(node.from as usize..node.to as usize)?;
        let id = own.iter().find(|attribute| attribute.name == local_name!("id"))?;
        text.get(id.from as usize..id.to as usize)
    };
    let of_tag =
        |wanted: Tag| (0u32..).zip(nodes.iter()).filter(move |(_, node)| node.tag == wanted);
    let mut places: BTreeMap<&str, (u32, PlaceholderKind)> = BTreeMap::new();
    for (at, node) in of_tag(Tag::Template) {
        if let Some((kind, number)) = id_of(node).and_then(PlaceholderKind::of) {
            places.entry(number).or_insert((at, kind));
        }
    }
    let is_in_body =
        |node: &ArenaNode| nodes.get(node.parent as usize).is_some_and(|up| up.tag == Tag::Body);
    let mut parts = Vec::new();
    for (at, node) in of_tag(Tag::Div).filter(|(_, node)| is_in_body(node)) {
        let number = id_of(node).and_then(|id| id.strip_prefix("S:"));
        // Each placeholder gets only one part.
        let place = number.and_then(|number| places.remove(number));
        let Some((placeholder, kind)) = place else { continue };
        if depth_in_body(nodes, placeholder).is_some() {
            parts.push(StreamedPart {
                at,
                placeholder,
                kind,
                height: height_of(nodes, at),
                outer: None,
            });
        }
    }
    let roots: BTreeMap<u32, usize> =
        parts.iter().enumerate().map(|(idx, part)| (part.at, idx)).collect();
    for part in &mut parts {
        part.outer = above(nodes, part.placeholder).find_map(|up| roots.get(&up).copied());
    }
    parts
}

/// Returns a node and its ancestors.
fn above(nodes: &[ArenaNode], at: u32) -> impl Iterator<Item = u32> {
    let is_there = |at: &u32| (*at as usize) < nodes.len();
    let next = move |at: &u32| nodes.get(*at as usize).map(|node| node.parent).filter(is_there);
    std::iter::successors(Some(at).filter(is_there), next)
}

/// Returns the nesting depth of a placeholder; `None` if scripts would not find it in the body.
fn depth_in_body(nodes: &[ArenaNode], at: u32) -> Option<u32> {
    let (mut depth, mut is_in_body) = (0, false);
    for up in above(nodes, at) {
        let tag = nodes.get(up as usize)?.tag;
        if up != at && tag == Tag::Template {
            return None;
        }
        is_in_body |= tag == Tag::Body;
        depth += 1;
    }
    is_in_body.then_some(depth)
}

/// The fallbacks that a browser shows until the streamed parts arrive.
struct Fallbacks<'b> {
    /// Boundary comments, in the order of their nodes.
    boundaries: &'b [(u32, StreamBoundary)],
    /// Root nodes of the parts; a part is never removed as a fallback.
    roots: BTreeMap<u32, usize>,
    /// Number of nodes that may still be visited, so that missing end comments cost little time.
    n_left: usize,
}

impl Fallbacks<'_> {
    /// Removes the nodes between a placeholder and the end of its boundary; removes nothing if the
    /// boundary has no end comment.
    fn remove(&mut self, nodes: &mut [ArenaNode], placeholder: u32) {
        let Some(end) = self.end_of(nodes, placeholder) else { return };
        while let Some(next) = nodes.get(placeholder as usize).map(|node| node.next)
            && next != end
            && next != NONE
        {
            ArenaNode::detach(nodes, next);
        }
    }

    /// Returns the comment that ends the boundary of a placeholder.
    fn end_of(&mut self, nodes: &[ArenaNode], placeholder: u32) -> Option<u32> {
        let mut n_open = 0_u32;
        let mut here = nodes.get(placeholder as usize)?.next;
        while let Some(node) = nodes.get(here as usize) {
            self.n_left = self.n_left.checked_sub(1)?;
            if self.roots.contains_key(&here) {
                return None;
            }
            let found = self.boundaries.binary_search_by_key(&here, |(at, _)| *at).ok();
            match found.and_then(|idx| self.boundaries.get(idx)) {
                Some((_, StreamBoundary::Start)) => n_open += 1,
                Some((_, StreamBoundary::End)) => match n_open.checked_sub(1) {
                    Some(rest) => n_open = rest,
                    None => return Some(here),
                },
                None => {}
            }
            here = node.next;
        }
        None
    }
}

/// Returns the number of levels of a subtree.
fn height_of(nodes: &[ArenaNode], root: u32) -> u32 {
    let (mut here, mut depth, mut deepest) = (root, 1, 1);
    loop {
        let Some(node) = nodes.get(here as usize) else { return deepest };
        if node.first_child != NONE {
            (here, depth) = (node.first_child, depth + 1);
            deepest = deepest.max(depth);
            continue;
        }
        let mut up = here;
        loop {
            if up == root {
                return deepest;
            }
            let Some(node) = nodes.get(up as usize) else { return deepest };
            if node.next != NONE {
                here = node.next;
                break;
            }
            (up, depth) = (node.parent, depth - 1);
        }
    }
}

/// Moves a node directly after another node.
fn put_behind(nodes: &mut [ArenaNode], at: u32, place: u32) {
    ArenaNode::detach(nodes, at);
    let (parent, next) = {
        let place = &mut nodes[place as usize];
        (place.parent, std::mem::replace(&mut place.next, at))
    };
    let node = &mut nodes[at as usize];
    (node.parent, node.previous, node.next) = (parent, place, next);
    if let Some(next) = nodes.get_mut(next as usize) {
        next.previous = at;
    } else if let Some(parent) = nodes.get_mut(parent as usize) {
        parent.last_child = at;
    }
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::dom::Dom;

    fn text(page: &str, limits: &Limits) -> String {
        let dom = Dom::parse(page, limits);
        (0..dom.len()).map(|at| dom.text(at)).collect::<String>().split_whitespace().collect()
    }

    fn joined(n: usize, piece: impl Fn(usize) -> String) -> String {
        (0..n).map(piece).collect()
    }

    #[test]
    fn parts_are_put_behind_their_placeholders() {
        for (wanted, page) in [
            ("acb", "a<template id=\"B:0\"></template>b<div hidden id=\"S:0\">c</div>"),
            (
                "acdb",
                "a<template id=\"B:0\"></template>b<div id=\"S:1\">d</div>\
                 <div id=\"S:0\">c<template id=\"B:1\"></template></div>",
            ),
            // A part without a placeholder, and a part with a placeholder inside itself, are not
            // moved.
            ("abc", "a<p>b</p><div hidden id=\"S:0\">c</div>"),
            ("abc", "a<p>b</p><div id=\"S:0\"><template id=\"B:0\"></template>c</div>"),
            (
                "abc",
                "a<div id=\"S:0\"><template id=\"B:1\"></template>b</div>\
                 <div id=\"S:1\"><template id=\"B:0\"></template>c</div>",
            ),
            ("abd", "a<div><div id=\"S:0\">b</div></div><template id=\"B:0\"></template>d"),
        ] {
            assert_eq!(text(page, &Limits::USUAL), wanted, "{page}");
        }
    }

    #[test]
    fn fallbacks_are_removed_up_to_the_end_of_their_boundary() {
        let part = "<div hidden id=\"S:0\">c</div>";
        for (wanted, page) in [
            ("acb", "<!--$?--><template id=\"B:0\"></template>L<p>M</p>N<!--/$-->b"),
            // The inner boundary has its own end comment.
            ("acb", "<!--$?--><template id=\"B:0\"></template>L<!--$-->M<!--/$-->N<!--/$-->b"),
            // Without an end comment, no fallback is removed.
            ("acLb", "<!--$?--><template id=\"B:0\"></template><p>L</p>b"),
            // Placeholders with the prefix `P:` have no fallback.
            ("acLb", "<!--$--><template id=\"P:0\"></template>L<!--/$-->b"),
        ] {
            let page = format!("<main>a{page}</main>{part}");
            assert_eq!(text(&page, &Limits::USUAL), wanted, "{page}");
        }
        // A part is not a fallback, and neither is the text after it.
        let page = "a<template id=\"B:0\"></template>b<div id=\"S:0\">c</div>d<!--/$-->e";
        assert_eq!(text(page, &Limits::USUAL), "acbde");
    }

    #[test]
    fn placeholders_outside_the_body_and_in_templates_take_no_part() {
        for page in [
            "<head><template id=\"B:0\"></template></head><body>a<div id=\"S:0\">c</div>",
            "<template><template id=\"B:0\"></template></template>a<div id=\"S:0\">c</div>",
        ] {
            let dom = Dom::parse(page, &Limits::USUAL);
            let part = (0..dom.len()).find(|at| dom.text(*at) == "c").unwrap();
            assert!(dom.ancestors(part).all(|up| dom.item(up).tag != crate::tag::Tag::Template));
            assert_eq!(text(page, &Limits::USUAL), "ac", "{page}");
        }
    }

    #[test]
    fn parts_are_placed_however_many_there_are_and_in_whatever_order() {
        let chain = |n: usize| {
            let next = n + 1;
            format!("<div id=\"S:{n}\">({n}<template id=\"B:{next}\"></template>)</div>")
        };
        let wanted = joined(12, |n| format!("({n}")) + &")".repeat(12);
        for order in [(0..12).collect::<Vec<usize>>(), (0..12).rev().collect()] {
            let parts: String = order.into_iter().map(chain).collect();
            let page = format!("a<template id=\"B:0\"></template>b{parts}");
            assert_eq!(text(&page, &Limits::USUAL), format!("a{wanted}b"));
        }
        let places: String =
            joined(300, |n| format!("<p>{n}<template id=\"B:{n}\"></template>;</p>"));
        let parts: String = joined(300, |n| format!("<div id=\"S:{n}\">={n}</div>"));
        let wanted: String = joined(300, |n| format!("{n}={n};"));
        assert_eq!(text(&format!("{places}{parts}"), &Limits::USUAL), wanted);
    }

    #[test]
    fn parts_nest_no_deeper_than_the_limit() {
        let limits = Limits { depth: 50, ..Limits::USUAL };
        let mut page = "<body><template id=\"B:0\"></template>".to_owned();
        for n in 0..20 {
            let placeholder = format!("<template id=\"B:{}\"></template>", n + 1);
            let (open, close) = ("<div>".repeat(20), "</div>".repeat(20));
            let part = format!("<div hidden id=\"S:{n}\">{open}{n},{placeholder}{close}</div>");
            page.push_str(&part);
        }
        let dom = Dom::parse(&page, &limits);
        let deepest = (0..dom.len()).map(|at| dom.ancestors(at).count()).max();
        assert!(deepest <= Some(54), "{deepest:?}");
        let wanted: String = joined(20, |n| format!("{n},"));
        assert_eq!(text(&page, &limits), wanted);
        // Parts that are not moved are read at their original position.
        let is_part = |at: &u32| dom.attribute(*at, "id").is_some_and(|id| id.starts_with("S:"));
        for at in (0..dom.len()).filter(is_part) {
            assert!(crate::visibility::is_streamed(&dom, at), "{:?}", dom.attribute(at, "id"));
        }
    }
}
