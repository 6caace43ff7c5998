//! A document of JSON-LD as objects with members, whatever shape it came in.
//!
//! A single value is a list of one, a value in `@value` is the value, lists and
//! sets are flat, names are the usual ones. Everything knows its place in the
//! document as it is written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use rutter_finding::{Finding, FindingSink, Place, Rule};
use rutter_page::Tree;

use crate::context::{Contexts, Ctx, Name};
use crate::json::{Value, push_step};
use crate::rules;

/// Members of an object that are compared one by one.
const FEW: usize = 24;

/// A place in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At(usize);

impl At {
    pub(crate) const ROOT: Self = Self(0);
}

/// A step of a JSON pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'v> {
    Member(&'v str),
    Item(usize),
}

/// Every place somebody may want to point at.
#[derive(Debug, Default)]
pub(crate) struct Places<'v>(Vec<(At, Step<'v>)>);

impl<'v> Places<'v> {
    pub(crate) fn add(&mut self, parent: At, step: Step<'v>) -> At {
        self.0.push((parent, step));
        At(self.0.len())
    }

    /// The place as a JSON pointer.
    pub(crate) fn show(&self, at: At) -> String {
        let mut steps = Vec::new();
        let mut at = at;
        while let Some((parent, step)) = at.0.checked_sub(1).and_then(|idx| self.0.get(idx)) {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Member(key) => push_step(&mut pointer, key),
                Step::Item(n) => {
                    // Writing into a string never fails.
                    let _ = write!(pointer, "/{n}");
                }
            }
        }
        pointer
    }
}

/// An object.
#[derive(Debug)]
pub(crate) struct Node<'v> {
    pub(crate) at: At,
    pub(crate) ctx: Ctx,
    pub(crate) id: Option<(Cow<'v, str>, At)>,
    pub(crate) types: Vec<Cow<'v, str>>,
    pub(crate) members: Vec<Member<'v>>,
}

/// A member of an object, by its usual name.
#[derive(Debug)]
pub(crate) struct Member<'v> {
    pub(crate) name: Cow<'v, str>,
    pub(crate) at: At,
    /// Whether it was written as a list.
    pub(crate) is_list: bool,
    pub(crate) items: Vec<Item<'v>>,
}

/// One value of a member.
#[derive(Debug)]
pub(crate) struct Item<'v> {
    pub(crate) at: At,
    pub(crate) value: Held<'v>,
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum Held<'v> {
    Bool(bool),
    Number(&'v str),
    Text(Cow<'v, str>),
    Node(usize),
    /// A JSON literal: data that JSON-LD does not look into.
    Json(&'v Value<'v>),
}

impl<'v> Node<'v> {
    pub(crate) fn member(&self, name: &str) -> Option<&Member<'v>> {
        self.members.iter().find(|member| member.name == name)
    }

    pub(crate) fn is_a(&self, kind: &str) -> bool {
        self.types.iter().any(|it| it == kind)
    }

    fn is_reference(&self) -> bool {
        self.id.is_some() && self.types.is_empty() && self.members.is_empty()
    }
}

/// A document.
#[derive(Debug)]
pub(crate) struct Graph<'v> {
    pub(crate) nodes: Vec<Node<'v>>,
    /// The objects at the top: the root, those of a list, those of a graph.
    pub(crate) tops: Vec<usize>,
    pub(crate) places: Places<'v>,
    pub(crate) contexts: Contexts<'v>,
    pub(crate) is_list: bool,
    /// Where the first graph stands.
    pub(crate) wrapped_at: Option<At>,
}

impl<'v> Graph<'v> {
    /// Takes a document apart; `remote` is the rule that a context at an
    /// address breaks.
    pub(crate) fn build(
        document: &'v Value<'v>,
        remote: &'static Rule,
        sink: &mut dyn FindingSink,
    ) -> Self {
        let graph = Self {
            nodes: Vec::new(),
            tops: Vec::new(),
            places: Places::default(),
            contexts: Contexts::new(remote),
            is_list: matches!(document, Value::List(_)),
            wrapped_at: None,
        };
        let mut builder = Builder { graph, sink };
        let objects: &[Value<'v>] = match document {
            Value::List(items) => items,
            one => std::slice::from_ref(one),
        };
        let has_context = objects.iter().any(|one| one.get("@context").is_some());
        let ctx = if has_context {
            Contexts::empty()
        } else {
            if objects.iter().any(|one| matches!(one, Value::Map(_))) {
                builder.report(&rules::CONTEXT_MISSING, At::ROOT);
            }
            builder.graph.contexts.usual()
        };
        for (n, one) in objects.iter().enumerate() {
            let at = if builder.graph.is_list {
                builder.graph.places.add(At::ROOT, Step::Item(n))
            } else {
                At::ROOT
            };
            builder.top(one, ctx, at);
        }
        builder.graph
    }

    pub(crate) fn node(&self, idx: usize) -> Option<&Node<'v>> {
        self.nodes.get(idx)
    }

    pub(crate) fn place(&self, at: At) -> Place {
        Place { line: None, pointer: self.places.show(at) }
    }

    /// Nodes that say something, by their address.
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

    /// Whether an object only names another.
    pub(crate) fn is_reference(&self, idx: usize) -> bool {
        self.node(idx).is_some_and(Node::is_reference)
    }

    /// A member as it would be written in the usual context.
    pub(crate) fn tree(&self, member: &Member<'v>) -> Tree {
        let mut items: Vec<Tree> = member.items.iter().map(|item| self.item_tree(item)).collect();
        match items.pop() {
            Some(only) if items.is_empty() && !member.is_list => only,
            Some(last) => {
                items.push(last);
                Tree::List(items)
            }
            None => Tree::List(items),
        }
    }

    fn item_tree(&self, item: &Item<'v>) -> Tree {
        match &item.value {
            Held::Bool(value) => Tree::Bool(*value),
            Held::Number(number) => Tree::Number((*number).to_owned()),
            Held::Text(text) => Tree::text(text.as_ref()),
            Held::Json(value) => Tree::Map(vec![
                ("@type".to_owned(), Tree::text("@json")),
                ("@value".to_owned(), value.tree()),
            ]),
            Held::Node(idx) => self.node(*idx).map_or(Tree::Null, |node| {
                let mut members: Vec<(String, Tree)> = Vec::new();
                let mut types: Vec<Tree> =
                    node.types.iter().map(|kind| Tree::text(kind.as_ref())).collect();
                match types.pop() {
                    Some(only) if types.is_empty() => members.push(("@type".to_owned(), only)),
                    Some(last) => {
                        types.push(last);
                        members.push(("@type".to_owned(), Tree::List(types)));
                    }
                    None => {}
                }
                if let Some((id, _)) = &node.id {
                    members.push(("@id".to_owned(), Tree::text(id.as_ref())));
                }
                let others = node.members.iter();
                members.extend(others.map(|it| (it.name.to_string(), self.tree(it))));
                Tree::Map(members)
            }),
        }
    }
}

struct Builder<'v, 's> {
    graph: Graph<'v>,
    sink: &'s mut dyn FindingSink,
}

impl<'v> Builder<'v, '_> {
    fn report(&mut self, rule: &'static Rule, at: At) {
        let place = self.graph.place(at);
        self.sink.report(Finding::new(rule, place, ""));
    }

    fn name(&mut self, text: &'v str, ctx: Ctx, at: At) -> Name<'v> {
        let Graph { places, contexts, .. } = &mut self.graph;
        contexts.name(text, ctx, || Place { line: None, pointer: places.show(at) }, self.sink)
    }

    /// An object at the top, and those of its graph.
    fn top(&mut self, value: &'v Value<'v>, ctx: Ctx, at: At) {
        if !matches!(value, Value::Map(_)) {
            return;
        }
        let (idx, graphs) = self.node(value, ctx, at);
        self.graph.tops.push(idx);
        let ctx = self.graph.node(idx).map_or(ctx, |node| node.ctx);
        for (value, at) in graphs {
            self.graph.wrapped_at = self.graph.wrapped_at.or(Some(at));
            match value {
                Value::List(items) => {
                    for (n, item) in items.iter().enumerate() {
                        let at = self.graph.places.add(at, Step::Item(n));
                        self.top(item, ctx, at);
                    }
                }
                one => self.top(one, ctx, at),
            }
        }
    }

    /// An object; also what its graph holds, which is not taken apart here.
    fn node(
        &mut self,
        value: &'v Value<'v>,
        outer: Ctx,
        at: At,
    ) -> (usize, Vec<(&'v Value<'v>, At)>) {
        let mut ctx = outer;
        if let Some(context) = value.get("@context") {
            let place = self.graph.places.add(at, Step::Member("@context"));
            let Graph { places, contexts, .. } = &mut self.graph;
            ctx = contexts.define(context, outer, place, places, self.sink);
        }
        let mut node = Node { at, ctx, id: None, types: Vec::new(), members: Vec::new() };
        let mut graphs = Vec::new();
        let members = value.members();
        node.members.reserve(members.len());
        let mut by_name = (FEW < members.len()).then(HashMap::<String, usize>::new);
        for (key, value) in members {
            let key: &'v str = key;
            if key == "@context" {
                continue;
            }
            let here = self.graph.places.add(at, Step::Member(key));
            match self.name(key, ctx, here) {
                Name::Nothing => {}
                Name::Keyword(word) => match word.as_ref() {
                    "@id" => match value {
                        Value::Text(text) => {
                            node.id = Some((self.graph.contexts.address(text, ctx), here));
                        }
                        _ => self.report(&rules::MEMBER_FORM, here),
                    },
                    "@type" => self.types(value, ctx, here, &mut node.types),
                    "@graph" | "@included" => graphs.push((value, here)),
                    _ => {}
                },
                Name::Usual(name) => {
                    let is_list = is_list(value);
                    let mut items = Vec::new();
                    self.items(value, key, ctx, here, &mut items);
                    if items.is_empty() && !is_list {
                        continue;
                    }
                    // The same member under two names is one.
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
                        None => node.members.push(Member { name, at: here, is_list, items }),
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

    fn types(&mut self, value: &'v Value<'v>, ctx: Ctx, at: At, types: &mut Vec<Cow<'v, str>>) {
        let all: &[Value<'v>] = match value {
            Value::List(items) => items,
            one => std::slice::from_ref(one),
        };
        for one in all {
            match one {
                Value::Text(text) => {
                    if let Name::Usual(name) = self.name(text, ctx, at) {
                        types.push(name);
                    }
                }
                _ => return self.report(&rules::MEMBER_FORM, at),
            }
        }
    }

    fn items(
        &mut self,
        value: &'v Value<'v>,
        key: &'v str,
        ctx: Ctx,
        at: At,
        out: &mut Vec<Item<'v>>,
    ) {
        if self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_json) {
            out.push(Item { at, value: Held::Json(value) });
            return;
        }
        let value = match value {
            Value::Null => return,
            Value::Bool(value) => Held::Bool(*value),
            Value::Number(number) => Held::Number(number),
            Value::Text(text) => {
                let is_address = self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_address);
                if is_address {
                    Held::Text(self.graph.contexts.address(text, ctx))
                } else {
                    Held::Text(Cow::Borrowed(text.as_ref()))
                }
            }
            Value::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    let at = self.graph.places.add(at, Step::Item(n));
                    self.items(item, key, ctx, at, out);
                }
                return;
            }
            Value::Map(members) => {
                if self.value_object(members, ctx, at, out) {
                    return;
                }
                let is_map = self.graph.contexts.term(key, ctx).is_some_and(|it| it.is_map);
                for (inner, value) in members {
                    let inner: &'v str = inner;
                    if matches!(self.keyword(inner, ctx), Some("@list" | "@set")) {
                        let at = self.graph.places.add(at, Step::Member(inner));
                        return self.items(value, "", ctx, at, out);
                    }
                    if is_map && !inner.starts_with('@') {
                        let at = self.graph.places.add(at, Step::Member(inner));
                        self.items(value, "", ctx, at, out);
                    }
                }
                if is_map {
                    return;
                }
                Held::Node(self.node(value, ctx, at).0)
            }
        };
        out.push(Item { at, value });
    }

    /// Takes an object that has `@value`; false for any other.
    ///
    /// A type and a direction exclude each other (the processor does not say
    /// so), and a JSON literal is not looked into: its `@context` is data.
    fn value_object(
        &mut self,
        members: &'v [(Cow<'v, str>, Value<'v>)],
        ctx: Ctx,
        at: At,
        out: &mut Vec<Item<'v>>,
    ) -> bool {
        let (mut held, mut kind) = (None, None);
        let mut has_direction = false;
        for (key, value) in members {
            let key: &'v str = key;
            match self.keyword(key, ctx) {
                Some("@value") => held = Some((key, value)),
                Some("@type") => kind = Some(value).filter(|it| !matches!(it, Value::Null)),
                Some("@direction") => has_direction |= !matches!(value, Value::Null),
                _ => {}
            }
        }
        let Some((key, value)) = held else { return false };
        if kind.is_some() && has_direction {
            let place = self.graph.place(at);
            let detail = "invalid value object: `@type` and `@direction`";
            self.sink.report(Finding::new(&rules::NOT_JSON_LD, place, detail));
        }
        let at = self.graph.places.add(at, Step::Member(key));
        let is_json = kind.and_then(Value::as_str).is_some_and(|kind| {
            kind == "@json" || self.graph.contexts.alias(kind, ctx) == Some("@json")
        });
        if is_json {
            out.push(Item { at, value: Held::Json(value) });
        } else {
            self.items(value, "", ctx, at, out);
        }
        true
    }

    /// The word of JSON-LD that a name is, or is another one for.
    fn keyword<'n>(&'n self, name: &'n str, ctx: Ctx) -> Option<&'n str> {
        if name.starts_with('@') { Some(name) } else { self.graph.contexts.alias(name, ctx) }
    }
}

/// Whether a value is written as a list, in either way.
fn is_list(value: &Value<'_>) -> bool {
    matches!(value, Value::List(_))
        || value.members().iter().any(|(key, _)| key == "@list" || key == "@set")
}
