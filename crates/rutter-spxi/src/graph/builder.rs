//! Builds the graph of a JSON-LD document.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rutter_finding::{Finding, FindingSink, Place, Rule};

use super::{GraphItem, GraphMember, GraphNode, GraphValue, JsonLdGraph};
use crate::context::{ContextId, ExpandedName};
use crate::json::JsonValue;
use crate::place::{PlaceId, PointerStep};
use crate::rules;

/// Maximum number of members that are compared one by one.
const FEW: usize = 24;

pub(super) struct GraphBuilder<'v, 's> {
    pub(super) graph: JsonLdGraph<'v>,
    pub(super) sink: &'s mut dyn FindingSink,
}

impl<'v> GraphBuilder<'v, '_> {
    pub(super) fn report(&mut self, rule: &'static Rule, at: PlaceId) {
        let place = self.graph.place(at);
        self.sink.report(Finding::new(rule, place, ""));
    }

    fn name(&mut self, text: &'v str, ctx: ContextId, at: PlaceId) -> ExpandedName<'v> {
        let JsonLdGraph { places, contexts, .. } = &mut self.graph;
        contexts.name(text, ctx, || Place { line: None, pointer: places.show(at) }, self.sink)
    }

    /// Adds a top-level object and the objects in its `@graph`.
    pub(super) fn top(&mut self, value: &'v JsonValue<'v>, ctx: ContextId, at: PlaceId) {
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
