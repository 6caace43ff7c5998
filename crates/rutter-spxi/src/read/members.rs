//! Reads the values of the members of an object, and reports malformed ones.

use rutter_finding::quoted;
use rutter_page::JsonTree;

use super::IndexWalk;
use crate::graph::{GraphItem, GraphMember, GraphNode, GraphValue, JsonLdGraph};
use crate::place::PlaceId;
use crate::rules;

/// Maximum number of references through which one object is read.
const MAX_FOLLOWED: usize = 16;

impl<'g, 'v> IndexWalk<'g, 'v, '_> {
    pub(super) fn class(&mut self, node: &'g GraphNode<'v>, class: &str) {
        if !node.is_a(class) {
            self.wrong_class(node);
        }
    }

    pub(super) fn wrong_class(&mut self, node: &'g GraphNode<'v>) {
        let types: Vec<String> = node.types.iter().take(3).map(|it| quoted(it)).collect();
        let detail = if types.is_empty() { "no type".to_owned() } else { types.join(", ") };
        self.report(&rules::NODE_TYPE, node.at, &detail);
    }

    /// Returns the objects that are the values of a member. References are resolved.
    pub(crate) fn objects(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        class: &str,
    ) -> Vec<usize> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name != "spxi:siteKernel" {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match &item.value {
                GraphValue::Node(idx) => found.push(self.followed(*idx, class)),
                _ => self.report(&rules::MEMBER_FORM, item.at, "expected an object"),
            }
        }
        found
    }

    /// Returns the object that a reference points to; without such an object, the reference itself.
    pub(super) fn followed(&mut self, idx: usize, class: &str) -> usize {
        if !self.graph.is_reference(idx) {
            return idx;
        }
        let graph = self.graph;
        let by_id = self.by_id.get_or_insert_with(|| graph.by_id());
        let Some((id, _)) = graph.node(idx).and_then(|node| node.id.as_ref()) else { return idx };
        let others = by_id.get(id.as_ref()).map_or(&[][..], Vec::as_slice);
        let is_of = |idx: &&usize| graph.node(**idx).is_some_and(|node| node.is_a(class));
        let Some(other) = others.iter().find(is_of).or(others.first()) else { return idx };
        // Many references to one large object would exhaust the memory.
        let n_times = self.followed.entry(*other).or_default();
        *n_times += 1;
        if *n_times <= MAX_FOLLOWED { *other } else { idx }
    }

    /// Reports a single value where the specification requires a list.
    fn single(&mut self, member: &GraphMember<'v>) {
        if !member.is_list {
            self.report(&rules::NOT_A_LIST, member.at, "");
        }
    }

    /// Returns the text of a member that has a single value. An empty text counts as missing.
    pub(crate) fn text(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(String, PlaceId)> {
        self.one(node, name, literal)
    }

    /// Returns the text of a member, or the address of the object that is its value.
    pub(crate) fn address(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(String, PlaceId)> {
        let graph = self.graph;
        self.one(node, name, |item| address(graph, item))
    }

    /// Returns the enumeration keyword of a member. An empty keyword is invalid, not missing.
    pub(super) fn word(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(String, PlaceId)> {
        let graph = self.graph;
        let found = self.address(node, name);
        found.or_else(|| {
            let items = node.member(name).map_or(&[][..], |it| &it.items);
            items.iter().find_map(|it| Some((address(graph, it)?.to_owned(), it.at)))
        })
    }

    pub(super) fn one(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        take: impl Fn(&'g GraphItem<'v>) -> Option<&'g str>,
    ) -> Option<(String, PlaceId)> {
        let member = node.member(name)?;
        let mut found: Option<(String, PlaceId)> = None;
        for item in &member.items {
            match (take(item), &found) {
                (Some(text), None) if !text.trim().is_empty() => {
                    found = Some((text.to_owned(), item.at));
                }
                (Some(text), None) if text.trim().is_empty() => {}
                (Some(_), _) => {
                    self.report(&rules::MEMBER_FORM, item.at, "expected one value");
                    break;
                }
                (None, _) => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    /// Returns all texts of a member.
    pub(crate) fn texts(&mut self, node: &'g GraphNode<'v>, name: &str) -> Vec<(String, PlaceId)> {
        self.many(node, name, literal)
    }

    /// Returns all texts of a member, and the addresses of its objects.
    pub(crate) fn addresses(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Vec<(String, PlaceId)> {
        let graph = self.graph;
        self.many(node, name, |item| address(graph, item))
    }

    fn many(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        take: impl Fn(&'g GraphItem<'v>) -> Option<&'g str>,
    ) -> Vec<(String, PlaceId)> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name.ends_with(":negativeTag") || name.ends_with(":semanticIntegrityMarker") {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match take(item) {
                Some(text) if !text.trim().is_empty() => found.push((text.to_owned(), item.at)),
                Some(_) => self.report(&rules::MEMBER_FORM, item.at, "the text is empty"),
                None => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    pub(super) fn extra(
        &mut self,
        node: &'g GraphNode<'v>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<(String, JsonTree)> {
        let others = node.members.iter().filter(|member| !is_known(&member.name));
        others.map(|member| (member.name.to_string(), self.graph.tree(member))).collect()
    }
}

pub(super) fn literal<'g>(item: &'g GraphItem<'_>) -> Option<&'g str> {
    if let GraphValue::Text(text) = &item.value { Some(text) } else { None }
}

fn address<'g>(graph: &'g JsonLdGraph<'_>, item: &'g GraphItem<'_>) -> Option<&'g str> {
    match &item.value {
        GraphValue::Text(text) => Some(text),
        GraphValue::Node(idx) => graph.node(*idx)?.id.as_ref().map(|(id, _)| id.as_ref()),
        _ => None,
    }
}
