//! A JSON-LD document as a graph of objects with members, independent of its form.
//!
//! In the graph, a single value is a list of one value, `@value` objects are replaced by their
//! values, lists and sets are flattened, and names are those of the usual context. Every part of
//! the graph knows its position in the document.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use rutter_finding::{Finding, FindingSink, Place, Rule};
use rutter_page::JsonTree;

use crate::context::{ContextId, ContextTable, ExpandedName};
use crate::json::{JsonValue, push_step};
use crate::rules;

/// Maximum number of members that are compared one by one.
const FEW: usize = 24;

/// Index of a position in the [`PlaceTable`] of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceId(usize);

impl PlaceId {
    pub(crate) const ROOT: Self = Self(0);
}

/// One step of a JSON pointer: a member name or an index.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PointerStep<'v> {
    Member(&'v str),
    Item(usize),
}

/// Positions that findings may refer to.
#[derive(Debug, Default)]
pub(crate) struct PlaceTable<'v>(Vec<(PlaceId, PointerStep<'v>)>);

impl<'v> PlaceTable<'v> {
    pub(crate) fn add(&mut self, parent: PlaceId, step: PointerStep<'v>) -> PlaceId {
        self.0.push((parent, step));
        PlaceId(self.0.len())
    }

    /// Returns the position as a JSON pointer.
    pub(crate) fn show(&self, at: PlaceId) -> String {
        let mut steps = Vec::new();
        let mut at = at;
        while let Some((parent, step)) = at.0.checked_sub(1).and_then(|idx| self.0.get(idx)) {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            match step {
                PointerStep::Member(key) => push_step(&mut pointer, key),
                PointerStep::Item(n) => {
                    // Writing to a string never fails.
                    let _ = write!(pointer, "/{n}");
                }
            }
        }
        pointer
    }
}

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

struct GraphBuilder<'v, 's> {
    graph: JsonLdGraph<'v>,
    sink: &'s mut dyn FindingSink,
}

impl<'v> GraphBuilder<'v, '_> {
    fn report(&mut self, rule: &'static Rule, at: PlaceId) {
        let place = self.graph.place(at);
        self.sink.report(Finding::new(rule, place, ""));
    }

    fn name(&mut self, text: &'v str, ctx: ContextId, at: PlaceId) -> ExpandedName<'v> {
        let JsonLdGraph { places, contexts, .. } = &mut self.graph;
        contexts.name(text, ctx, || Place { line: None, pointer: places.show(at) }, self.sink)
    }

    /// Adds a top-level object and the objects in its `@graph`.
    fn top(&mut self, value: &'v JsonValue<'v>, ctx: ContextId, at: PlaceId) {
        if !matches!(value, JsonValue::Map(_)) {
            return;
        }
        let (idx, graphs) = self.node(value, ctx, at);
        self.graph.tops.push(idx);
        let ctx = self.graph.node(idx).map_or(ctx, |node| node.ctx);
        for (value, at) in graphs {
            self.graph.wrapped_at = self.graph.wrapped_at.or(Some(at));
            match value {
                JsonValue::List(items) => {
                    for (n, item) in items.iter().enumerate() {
                        let at = self.graph.places.add(at, PointerStep::Item(n));
                        self.top(item, ctx, at);
                    }
                }
                one => self.top(one, ctx, at),
            }
        }
    }

    /// Adds an object. Also returns the content of its `@graph`, which the caller processes.
    fn node(
        &mut self,
        value: &'v JsonValue<'v>,
        outer: ContextId,
        at: PlaceId,
    ) -> (usize, Vec<(&'v JsonValue<'v>, PlaceId)>) {
        let mut ctx = outer;
        if let Some(context) = value.get("@context") {
            let place = self.graph.places.add(at, PointerStep::Member("@context"));
            let JsonLdGraph { places, contexts, .. } = &mut self.graph;
            ctx = contexts.define(context, outer, place, places, self.sink);
        }
        let mut node = GraphNode { at, ctx, id: None, types: Vec::new(), members: Vec::new() };
        let mut graphs = Vec::new();
        let members = value.members();
        node.members.reserve(members.len());
        let mut by_name = (FEW < members.len()).then(HashMap::<String, usize>::new);
        for (key, value) in members {
            let key: &'v str = key;
            if key == "@context" {
                continue;
            }
            let here = self.graph.places.add(at, PointerStep::Member(key));
            match self.name(key, ctx, here) {
                ExpandedName::Nothing => {}
                ExpandedName::Keyword(word) => match word.as_ref() {
                    "@id" => match value {
                        JsonValue::Text(text) => {
                            node.id = Some((self.graph.contexts.address(text, ctx), here));
                        }
                        _ => self.report(&rules::MEMBER_FORM, here),
                    },
                    "@type" => self.types(value, ctx, here, &mut node.types),
                    "@graph" | "@included" => graphs.push((value, here)),
                    _ => {}
                },
                ExpandedName::Usual(name) => {
                    let is_list = is_list(value);
                    let mut items = Vec::new();
                    self.items(value, key, ctx, here, &mut items);
                    if items.is_empty() && !is_list {
                        continue;
                    }
                    // The values of one member that is written under two names are merged.
                    let known = match &mut by_name {
                        Some(by_name) => match by_name.entry(name.to_string()) {
                            Entry::Occupied(known) => Some(*known.get()),
                            Entry::Vacant(free) => {
                                free.insert(node.members.len());
                                None
                            }
                        },
                        None => node.members.iter().position(|it| it.name == name),
                    };
                    match known.and_then(|known| node.members.get_mut(known)) {
                        None => node.members.push(GraphMember { name, at: here, is_list, items }),
                        Some(known) => {
                            known.is_list = true;
                            known.items.extend(items);
                        }
                    }
                }
            }
        }
        self.graph.nodes.push(node);
        (self.graph.nodes.len() - 1, graphs)
    }

    fn types(
        &mut self,
        value: &'v JsonValue<'v>,
        ctx: ContextId,
        at: PlaceId,
        types: &mut Vec<Cow<'v, str>>,
    ) {
        let all: &[JsonValue<'v>] = match value {
            JsonValue::List(items) => items,
            one => std::slice::from_ref(one),
        };
        for one in all {
            match one {
                JsonValue::Text(text) => {
                    if let ExpandedName::Usual(name) = self.name(text, ctx, at) {
                        types.push(name);
                    }
                }
                _ => return self.report(&rules::MEMBER_FORM, at),
            }
        }
    }

    fn items(
        &mut self,
        value: &'v JsonValue<'v>,
        key: &'v str,
        ctx: ContextId,
        at: PlaceId,
        out: &mut Vec<GraphItem<'v>>,
    ) {
        if self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_json) {
            out.push(GraphItem { at, value: GraphValue::Json(value) });
            return;
        }
        let value = match value {
            JsonValue::Null => return,
            JsonValue::Bool(value) => GraphValue::Bool(*value),
            JsonValue::Number(number) => GraphValue::Number(number),
            JsonValue::Text(text) => {
                let is_address = self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_address);
                if is_address {
                    GraphValue::Text(self.graph.contexts.address(text, ctx))
                } else {
                    GraphValue::Text(Cow::Borrowed(text.as_ref()))
                }
            }
            JsonValue::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    let at = self.graph.places.add(at, PointerStep::Item(n));
                    self.items(item, key, ctx, at, out);
                }
                return;
            }
            JsonValue::Map(members) => {
                if self.value_object(members, ctx, at, out) {
                    return;
                }
                let is_map = self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_map);
                for (inner, value) in members {
                    let inner: &'v str = inner;
                    if matches!(self.keyword(inner, ctx), Some("@list" | "@set")) {
                        let at = self.graph.places.add(at, PointerStep::Member(inner));
                        return self.items(value, "", ctx, at, out);
                    }
                    if is_map && !inner.starts_with('@') {
                        let at = self.graph.places.add(at, PointerStep::Member(inner));
                        self.items(value, "", ctx, at, out);
                    }
                }
                if is_map {
                    return;
                }
                GraphValue::Node(self.node(value, ctx, at).0)
            }
        };
        out.push(GraphItem { at, value });
    }

    /// Reads an object with `@value`. Returns false for any other object.
    ///
    /// A type and a direction exclude each other, which the JSON-LD processor does not report. A
    /// JSON literal is not interpreted: a `@context` inside it is data.
    fn value_object(
        &mut self,
        members: &'v [(Cow<'v, str>, JsonValue<'v>)],
        ctx: ContextId,
        at: PlaceId,
        out: &mut Vec<GraphItem<'v>>,
    ) -> bool {
        let (mut held, mut kind) = (None, None);
        let mut has_direction = false;
        for (key, value) in members {
            let key: &'v str = key;
            match self.keyword(key, ctx) {
                Some("@value") => held = Some((key, value)),
                Some("@type") => kind = Some(value).filter(|it| !matches!(it, JsonValue::Null)),
                Some("@direction") => has_direction |= !matches!(value, JsonValue::Null),
                _ => {}
            }
        }
        let Some((key, value)) = held else { return false };
        if kind.is_some() && has_direction {
            let place = self.graph.place(at);
            let detail = "invalid value object: `@type` and `@direction`";
            self.sink.report(Finding::new(&rules::NOT_JSON_LD, place, detail));
        }
        let at = self.graph.places.add(at, PointerStep::Member(key));
        let is_json = kind.and_then(JsonValue::as_str).is_some_and(|kind| {
            kind == "@json" || self.graph.contexts.alias(kind, ctx) == Some("@json")
        });
        if is_json {
            out.push(GraphItem { at, value: GraphValue::Json(value) });
        } else {
            self.items(value, "", ctx, at, out);
        }
        true
    }

    /// Returns the JSON-LD keyword for a name that is a keyword or an alias of one.
    fn keyword<'n>(&'n self, name: &'n str, ctx: ContextId) -> Option<&'n str> {
        if name.starts_with('@') { Some(name) } else { self.graph.contexts.alias(name, ctx) }
    }
}

/// Returns whether a value is written as an array, `@list` or `@set`.
fn is_list(value: &JsonValue<'_>) -> bool {
    matches!(value, JsonValue::List(_))
        || value.members().iter().any(|(key, _)| key == "@list" || key == "@set")
}
