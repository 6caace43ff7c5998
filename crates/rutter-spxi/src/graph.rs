//! A JSON-LD document as a graph of objects with members, independent of its form.
//!
//! In the graph, a single value is a list of one value, `@value` objects are replaced by their
//! values, lists and sets are flattened, and names are those of the usual context. Every part of
//! the graph knows its position in the document.

mod builder;

use std::borrow::Cow;
use std::collections::HashMap;

use rutter_finding::{FindingSink, Place, Rule};
use rutter_page::JsonTree;

use self::builder::GraphBuilder;
use crate::context::{ContextId, ContextTable};
use crate::json::JsonValue;
use crate::place::{PlaceId, PlaceTable, PointerStep};
use crate::rules;

/// A JSON-LD object in the graph.
#[derive(Debug)]
pub(crate) struct GraphNode<'v> {
    pub(crate) at: PlaceId,
    pub(crate) ctx: ContextId,
    pub(crate) id: Option<(Cow<'v, str>, PlaceId)>,
    pub(crate) types: Vec<Cow<'v, str>>,
    pub(crate) members: Vec<GraphMember<'v>>,
}

/// A member of an object, by its usual name.
#[derive(Debug)]
pub(crate) struct GraphMember<'v> {
    pub(crate) name: Cow<'v, str>,
    pub(crate) at: PlaceId,
    /// Whether the value was written as a list.
    pub(crate) is_list: bool,
    pub(crate) items: Vec<GraphItem<'v>>,
}

/// One value of a member.
#[derive(Debug)]
pub(crate) struct GraphItem<'v> {
    pub(crate) at: PlaceId,
    pub(crate) value: GraphValue<'v>,
}

/// A value in the graph.
#[derive(Debug)]
pub(crate) enum GraphValue<'v> {
    Bool(bool),
    Number(&'v str),
    Text(Cow<'v, str>),
    Node(usize),
    /// A JSON literal, which JSON-LD does not interpret.
    Json(&'v JsonValue<'v>),
}

impl<'v> GraphNode<'v> {
    pub(crate) fn member(&self, name: &str) -> Option<&GraphMember<'v>> {
        self.members.iter().find(|member| member.name == name)
    }

    pub(crate) fn is_a(&self, kind: &str) -> bool {
        self.types.iter().any(|it| it == kind)
    }

    fn is_reference(&self) -> bool {
        self.id.is_some() && self.types.is_empty() && self.members.is_empty()
    }
}

/// A parsed document as a graph.
#[derive(Debug)]
pub(crate) struct JsonLdGraph<'v> {
    pub(crate) nodes: Vec<GraphNode<'v>>,
    /// Indices of the top-level objects: the root, or the items of a list or of a `@graph`.
    pub(crate) tops: Vec<usize>,
    pub(crate) places: PlaceTable<'v>,
    pub(crate) contexts: ContextTable<'v>,
    pub(crate) is_list: bool,
    /// Position of the first `@graph` in the document.
    pub(crate) wrapped_at: Option<PlaceId>,
}

impl<'v> JsonLdGraph<'v> {
    /// Builds the graph of a document; `remote` is the rule that remote contexts break.
    pub(crate) fn build(
        document: &'v JsonValue<'v>,
        remote: &'static Rule,
        sink: &mut dyn FindingSink,
    ) -> Self {
        let graph = Self {
            nodes: Vec::new(),
            tops: Vec::new(),
            places: PlaceTable::default(),
            contexts: ContextTable::new(remote),
            is_list: matches!(document, JsonValue::List(_)),
            wrapped_at: None,
        };
        let mut builder = GraphBuilder { graph, sink };
        let objects: &[JsonValue<'v>] = match document {
            JsonValue::List(items) => items,
            one => std::slice::from_ref(one),
        };
        let has_context = objects.iter().any(|one| one.get("@context").is_some());
        let ctx = if has_context {
            ContextTable::empty()
        } else {
            if objects.iter().any(|one| matches!(one, JsonValue::Map(_))) {
                builder.report(&rules::CONTEXT_MISSING, PlaceId::ROOT);
            }
            builder.graph.contexts.usual()
        };
        for (n, one) in objects.iter().enumerate() {
            let at = if builder.graph.is_list {
                builder.graph.places.add(PlaceId::ROOT, PointerStep::Item(n))
            } else {
                PlaceId::ROOT
            };
            builder.top(one, ctx, at);
        }
        builder.graph
    }

    pub(crate) fn node(&self, idx: usize) -> Option<&GraphNode<'v>> {
        self.nodes.get(idx)
    }

    pub(crate) fn place(&self, at: PlaceId) -> Place {
        Place { line: None, pointer: self.places.show(at) }
    }

    /// Returns the objects that have content, by their `@id`.
    pub(crate) fn by_id(&self) -> HashMap<&str, Vec<usize>> {
        let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
        for (idx, node) in self.nodes.iter().enumerate() {
            if let Some((id, _)) = &node.id
                && !node.is_reference()
            {
                found.entry(id.as_ref()).or_default().push(idx);
            }
        }
        found
    }

    /// Returns whether an object is only a reference to another object.
    pub(crate) fn is_reference(&self, idx: usize) -> bool {
        self.node(idx).is_some_and(GraphNode::is_reference)
    }

    /// Returns the value of a member as JSON, as written in the usual context.
    pub(crate) fn tree(&self, member: &GraphMember<'v>) -> JsonTree {
        let mut items: Vec<JsonTree> =
            member.items.iter().map(|item| self.item_tree(item)).collect();
        match items.pop() {
            Some(only) if items.is_empty() && !member.is_list => only,
            Some(last) => {
                items.push(last);
                JsonTree::List(items)
            }
            None => JsonTree::List(items),
        }
    }

    fn item_tree(&self, item: &GraphItem<'v>) -> JsonTree {
        match &item.value {
            GraphValue::Bool(value) => JsonTree::Bool(*value),
            GraphValue::Number(number) => JsonTree::Number((*number).to_owned()),
            GraphValue::Text(text) => JsonTree::text(text.as_ref()),
            GraphValue::Json(value) => JsonTree::Map(vec![
                ("@type".to_owned(), JsonTree::text("@json")),
                ("@value".to_owned(), value.tree()),
            ]),
            GraphValue::Node(idx) => self.node(*idx).map_or(JsonTree::Null, |node| {
                let mut members: Vec<(String, JsonTree)> = Vec::new();
                let mut types: Vec<JsonTree> =
                    node.types.iter().map(|kind| JsonTree::text(kind.as_ref())).collect();
                match types.pop() {
                    Some(only) if types.is_empty() => members.push(("@type".to_owned(), only)),
                    Some(last) => {
                        types.push(last);
                        members.push(("@type".to_owned(), JsonTree::List(types)));
                    }
                    None => {}
                }
                if let Some((id, _)) = &node.id {
                    members.push(("@id".to_owned(), JsonTree::text(id.as_ref())));
                }
                let others = node.members.iter();
                members.extend(others.map(|it| (it.name.to_string(), self.tree(it))));
                JsonTree::Map(members)
            }),
        }
    }
}
