//! Receives the nodes of a page from html5ever's tree builder.

use std::borrow::Cow;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

use super::{ArenaNode, HandleName, NodeHandle, StreamBoundary, TreeArena, is_author_mark};
use crate::dom::{DomAttribute, NONE};
use crate::tag::Tag;

impl TreeSink for TreeArena {
    type Handle = NodeHandle;
    type Output = Self;
    type ElemName<'a> = HandleName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeHandle {
        NodeHandle { at: 0, ns: ns!(), name: local_name!("") }
    }

    fn elem_name<'a>(&'a self, target: &'a NodeHandle) -> HandleName<'a> {
        HandleName(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> NodeHandle {
        let tag = if name.ns == ns!(html) {
            Tag::of(&name.local)
        } else if name.ns == ns!(mathml) {
            Tag::Math
        } else {
            Tag::Svg
        };
        self.step(1 + attrs.len() as u64);
        let mut attributes = self.attributes.borrow_mut();
        let from = u32::try_from(attributes.len()).unwrap_or(NONE);
        for attribute in attrs {
            let (from, to) = self.put_value(&attribute.value);
            if attribute.name.local.starts_with("data-ai-") {
                self.is_annotated.set(true);
            } else if is_author_mark(&attribute.name.local) {
                self.is_marked.set(true);
            }
            attributes.push(DomAttribute { name: attribute.name.local, from, to });
        }
        let to = u32::try_from(attributes.len()).unwrap_or(NONE);
        let at = self.push(ArenaNode::new(tag, from, to));
        NodeHandle { at, ns: name.ns, name: name.local }
    }

    fn create_comment(&self, comment: StrTendril) -> NodeHandle {
        let at = self.push(ArenaNode::new(Tag::Template, 0, 0));
        if self.is_streamed
            && let Some(boundary) = StreamBoundary::of(&comment)
        {
            self.boundaries.borrow_mut().push((at, boundary));
        }
        NodeHandle { at, ns: ns!(), name: local_name!("") }
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> NodeHandle {
        self.create_comment(data)
    }

    fn append(&self, parent: &NodeHandle, child: NodeOrText<NodeHandle>) {
        if let NodeOrText::AppendNode(node) = &child
            && node.name == local_name!("")
        {
            // The node is a comment. The builder appends a comment immediately after creating it.
            let last = self.boundaries.borrow().last().map(|(at, _)| *at);
            if last == Some(node.at) {
                let depth = self.depth.get();
                self.append_to(parent.at, child);
                self.depth.set(depth);
            }
            return;
        }
        self.append_to(parent.at, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeHandle,
        previous: &NodeHandle,
        child: NodeOrText<NodeHandle>,
    ) {
        let parent = self.nodes.borrow()[element.at as usize].parent;
        if parent == NONE {
            self.append(previous, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &NodeHandle) {
        self.depth.set(self.nodes.borrow()[node.at as usize].depth.saturating_sub(1));
    }

    fn get_template_contents(&self, target: &NodeHandle) -> NodeHandle {
        // A shadow root is visible to readers. The content of other templates is not;
        // `Tag::Template` is a silent element.
        let mut nodes = self.nodes.borrow_mut();
        let attributes = self.attributes.borrow();
        let node = &mut nodes[target.at as usize];
        let own = &attributes[node.from as usize..node.to as usize];
        if own.iter().any(|attribute| &*attribute.name == "shadowrootmode") {
            node.tag = Tag::Div;
        }
        target.clone()
    }

    fn same_node(&self, x: &NodeHandle, y: &NodeHandle) -> bool {
        x.at == y.at
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeHandle, child: NodeOrText<NodeHandle>) {
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

    fn add_attrs_if_missing(&self, target: &NodeHandle, attrs: Vec<Attribute>) {
        let mut attributes = self.attributes.borrow_mut();
        let (from, to) = {
            let node = &self.nodes.borrow()[target.at as usize];
            (node.from as usize, node.to as usize)
        };
        // Real pages do not add more than 64 attributes through repeated `<html>` tags.
        if 64 < to - from {
            return;
        }
        let is_known =
            |attr: &Attribute| attributes[from..to].iter().any(|own| own.name == attr.name.local);
        // Counts steps, because a page may repeat the `<html>` tag any number of times.
        self.step(1 + attrs.len() as u64 * (to - from) as u64);
        if attrs.iter().all(is_known) {
            return;
        }
        // Copies the attribute list of the element to the end of `attributes`, where it can grow.
        let start = attributes.len();
        for at in from..to {
            let DomAttribute { name, from, to } = &attributes[at];
            let copy = DomAttribute { name: name.clone(), from: *from, to: *to };
            attributes.push(copy);
        }
        for attribute in attrs {
            if attributes[start..].iter().all(|known| known.name != attribute.name.local) {
                let (from, to) = self.put_text(&attribute.value);
                attributes.push(DomAttribute { name: attribute.name.local, from, to });
            }
        }
        let node = &mut self.nodes.borrow_mut()[target.at as usize];
        node.from = u32::try_from(start).unwrap_or(NONE);
        node.to = u32::try_from(attributes.len()).unwrap_or(NONE);
    }

    fn remove_from_parent(&self, target: &NodeHandle) {
        ArenaNode::detach(&mut self.nodes.borrow_mut(), target.at);
    }

    fn reparent_children(&self, node: &NodeHandle, new_parent: &NodeHandle) {
        loop {
            let child = self.nodes.borrow()[node.at as usize].first_child;
            if child == NONE {
                return;
            }
            // Moving a node does not use its name and namespace, so any values will do.
            let child = NodeHandle { at: child, ns: ns!(html), name: local_name!("div") };
            self.step(1);
            self.append_to(new_parent.at, NodeOrText::AppendNode(child));
        }
    }
}
