//! What names mean: the contexts of JSON-LD, as far as they can be understood
//! without a network (D75).
//!
//! Every name comes out as it would be written in the usual context, where
//! names of schema.org are bare, and `spxi:` and `mp:` are prefixes; a name of
//! another vocabulary comes out as its whole address.
//!
//! Refuses: to fetch, to follow definitions in circles. Contexts that belong
//! to a term instead of an object are not applied.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use url::Url;

use crate::graph::{At, Places, Step};
use crate::height::{HIGHEST, TooHigh, height};
use crate::json::Value;
use crate::{MP, SCHEMA, SPXI, rules};

/// The ways in which schema.org's own context is named.
const KNOWN: [&str; 4] = [
    "https://schema.org",
    "http://schema.org",
    "https://schema.org/docs/jsonldcontext.json",
    "https://schema.org/docs/jsonldcontext.jsonld",
];

/// A context among all of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ctx(usize);

/// Every context of a document; an inner one holds only what it changes.
#[derive(Debug)]
pub(crate) struct Contexts<'v> {
    all: Vec<Context<'v>>,
    remote: &'static Rule,
    /// Whether a processor would stop here: because of an address, or a circle.
    pub(crate) is_stopped: bool,
    /// Terms defined in contexts other than the first.
    pub(crate) n_inner: usize,
    /// Terms defined anywhere.
    pub(crate) n_terms: usize,
    /// Terms of contexts that belong to terms.
    pub(crate) n_scoped: usize,
    /// Faults of the context that were told; each is told once.
    told: HashSet<String>,
}

#[derive(Debug, Default)]
struct Context<'v> {
    parent: Option<usize>,
    terms: Terms<'v>,
    vocab: Said,
    base: Said,
}

/// Terms by name. Most contexts have two or three, and every name of the
/// document is looked up, so a few are simply compared.
#[derive(Debug, Default)]
struct Terms<'v> {
    all: Vec<(&'v str, Option<Term>)>,
    by_name: HashMap<&'v str, usize>,
}

impl<'v> Terms<'v> {
    const FEW: usize = 8;

    fn get(&self, name: &str) -> Option<&Option<Term>> {
        let at = if self.all.len() <= Self::FEW {
            self.all.iter().position(|(key, _)| *key == name)
        } else {
            self.by_name.get(name).copied()
        };
        at.and_then(|at| self.all.get(at)).map(|(_, term)| term)
    }

    fn insert(&mut self, name: &'v str, term: Option<Term>) {
        match self.by_name.get(name).and_then(|at| self.all.get_mut(*at)) {
            Some(known) => known.1 = term,
            None => {
                self.by_name.insert(name, self.all.len());
                self.all.push((name, term));
            }
        }
    }
}

/// What a context says about an address that names are completed by.
#[derive(Debug, Clone, Default)]
enum Said {
    #[default]
    Nothing,
    /// There is none, whatever outer contexts say.
    Cleared,
    Is(String),
}

impl Said {
    fn is_something(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    fn text(&self) -> Option<&str> {
        if let Self::Is(text) = self { Some(text) } else { None }
    }
}

/// What a term stands for.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    iri: String,
    /// Whether its values are addresses.
    pub(crate) is_address: bool,
    /// Whether its values are the members of an object.
    pub(crate) is_map: bool,
    /// Whether its values are JSON literals.
    pub(crate) is_json: bool,
}

/// What a name is in the usual context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name<'v> {
    /// A word of JSON-LD itself.
    Keyword(Cow<'v, str>),
    /// A name.
    Usual(Cow<'v, str>),
    /// Nothing: the context says so.
    Nothing,
}

/// What is being defined in one object.
struct Local<'v> {
    pending: HashMap<&'v str, &'v Value<'v>>,
    /// Terms whose definition has begun.
    begun: HashSet<&'v str>,
}

struct Circle;

impl<'v> Contexts<'v> {
    /// `remote` is the rule that a context at an address breaks.
    pub(crate) fn new(remote: &'static Rule) -> Self {
        Self {
            all: vec![Context::default()],
            remote,
            is_stopped: false,
            n_inner: 0,
            n_terms: 0,
            n_scoped: 0,
            told: HashSet::new(),
        }
    }

    /// The context without any definition.
    pub(crate) fn empty() -> Ctx {
        Ctx(0)
    }

    /// The usual context, for a document that has none.
    pub(crate) fn usual(&mut self) -> Ctx {
        let term = |iri: &str| {
            let iri = iri.to_owned();
            Some(Term { iri, is_address: false, is_map: false, is_json: false })
        };
        let mut terms = Terms::default();
        terms.insert("spxi", term(SPXI));
        terms.insert("mp", term(MP));
        self.all.push(Context { terms, vocab: Said::Is(SCHEMA.to_owned()), ..Context::default() });
        Ctx(self.all.len() - 1)
    }

    /// Takes the context of an object.
    pub(crate) fn define(
        &mut self,
        value: &'v Value<'v>,
        outer: Ctx,
        at: At,
        places: &mut Places<'v>,
        sink: &mut dyn FindingSink,
    ) -> Ctx {
        let n_before = self.n_terms;
        let mut context = Context { parent: Some(outer.0), ..Context::default() };
        match value {
            Value::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    let at = places.add(at, Step::Item(n));
                    self.apply(item, &mut context, at, places, sink);
                }
            }
            value => self.apply(value, &mut context, at, places, sink),
        }
        if 1 < self.all.len() {
            self.n_inner += 1 + self.n_terms - n_before;
        }
        self.all.push(context);
        Ctx(self.all.len() - 1)
    }

    fn apply(
        &mut self,
        value: &'v Value<'v>,
        context: &mut Context<'v>,
        at: At,
        places: &mut Places<'v>,
        sink: &mut dyn FindingSink,
    ) {
        match value {
            Value::Null => *context = Context { parent: Some(0), ..Context::default() },
            Value::Text(text) => self.apply_address(text, context, &places.show(at), sink),
            Value::Map(members) => {
                for (key, value) in members {
                    let mut report = |rule| {
                        let mut pointer = places.show(at);
                        crate::json::push_step(&mut pointer, key);
                        sink.report(Finding::new(rule, Place { line: None, pointer }, ""));
                    };
                    match (key.as_ref(), value) {
                        ("@vocab", Value::Null) => context.vocab = Said::Cleared,
                        ("@base", Value::Null) => context.base = Said::Cleared,
                        ("@base", Value::Text(text)) => {
                            context.base = Said::Is(text.clone().into_owned());
                        }
                        ("@vocab", Value::Text(_)) => {}
                        ("@import", Value::Text(_)) => {
                            self.is_stopped = true;
                            report(self.remote);
                        }
                        ("@vocab" | "@base" | "@import" | "", _) => {
                            self.is_stopped = true;
                            report(&rules::CONTEXT_FORM);
                        }
                        _ => {}
                    }
                }
                self.define_terms(value, context, at, places, sink);
            }
            _ => {
                let place = Place { line: None, pointer: places.show(at) };
                sink.report(Finding::new(&rules::CONTEXT_FORM, place, ""));
                self.is_stopped = true;
            }
        }
    }

    fn apply_address(
        &mut self,
        text: &str,
        context: &mut Context<'v>,
        pointer: &str,
        sink: &mut dyn FindingSink,
    ) {
        let place = Place { line: None, pointer: pointer.to_owned() };
        if is_known(text) {
            context.vocab = Said::Is(SCHEMA.to_owned());
            if self.told.insert("by name".to_owned()) {
                sink.report(Finding::new(&rules::CONTEXT_BY_NAME, place, quoted(text)));
            }
            return;
        }
        self.is_stopped = true;
        sink.report(Finding::new(self.remote, place, quoted(text)));
    }

    fn define_terms(
        &mut self,
        object: &'v Value<'v>,
        context: &mut Context<'v>,
        at: At,
        places: &mut Places<'v>,
        sink: &mut dyn FindingSink,
    ) {
        if let Err(TooHigh(key)) = height(object, 0, &mut self.n_scoped) {
            self.is_stopped = true;
            if self.told.insert("circle".to_owned()) {
                let mut pointer = places.show(at);
                crate::json::push_step(&mut pointer, key);
                let place = Place { line: None, pointer };
                sink.report(Finding::new(&rules::CONTEXT_LOOP, place, ""));
            }
        }
        let members = object.members();
        let is_term = |key: &str| !key.is_empty() && !key.starts_with('@');
        let pending = members.iter().filter(|(key, _)| is_term(key));
        let mut local = Local {
            pending: pending.map(|(key, value)| (key.as_ref(), value)).collect(),
            begun: HashSet::new(),
        };
        if let Some(text) = object.get("@vocab").and_then(Value::as_str) {
            let vocab = match self.expand(text, None, context, &mut local, 0) {
                Ok(iri) => iri.unwrap_or_else(|| text.to_owned()),
                Err(Circle) => text.to_owned(),
            };
            context.vocab = Said::Is(vocab);
        }
        for (key, value) in members.iter().filter(|(key, _)| is_term(key)) {
            self.n_terms += 1;
            let is_form = matches!(value, Value::Null | Value::Text(_) | Value::Map(_));
            // A circle has been told; its terms mean nothing.
            drop(self.define_term(key, context, &mut local, 0));
            if !is_form {
                self.is_stopped = true;
                let mut pointer = places.show(at);
                crate::json::push_step(&mut pointer, key);
                let place = Place { line: None, pointer };
                sink.report(Finding::new(&rules::CONTEXT_FORM, place, ""));
            }
        }
    }

    fn define_term(
        &mut self,
        key: &'v str,
        context: &mut Context<'v>,
        local: &mut Local<'v>,
        depth: usize,
    ) -> Result<(), Circle> {
        if !local.begun.insert(key) {
            // Finished, or a circle: then it has no meaning yet.
            return if context.terms.get(key).is_some() { Ok(()) } else { Err(Circle) };
        }
        let value = local.pending.get(key).copied();
        let written = match value {
            Some(Value::Text(text)) => Some(text.as_ref()),
            Some(value @ Value::Map(_)) => match value.get("@id") {
                Some(Value::Text(text)) => Some(text.as_ref()),
                Some(_) => None,
                None => Some(key),
            },
            _ => None,
        };
        let expanded = if HIGHEST < depth {
            Err(Circle)
        } else {
            written.map_or(Ok(None), |text| self.expand(text, Some(key), context, local, depth))
        };
        let is_of = |name: &str, wanted: &[&str]| {
            let found = value.and_then(|value| value.get(name));
            let one = found.and_then(Value::as_str);
            let many = found.map_or(&[][..], |found| match found {
                Value::List(items) => items,
                _ => &[],
            });
            one.into_iter()
                .chain(many.iter().filter_map(Value::as_str))
                .any(|it| wanted.contains(&it))
        };
        let term = expanded.as_ref().ok().and_then(Option::as_ref).map(|iri| Term {
            iri: iri.clone(),
            is_address: is_of("@type", &["@id", "@vocab"]),
            is_map: is_of("@container", &["@language", "@index"]),
            is_json: is_of("@type", &["@json"]),
        });
        context.terms.insert(key, term);
        expanded.map(|_| ())
    }

    /// The address of a text in a definition.
    fn expand(
        &mut self,
        text: &str,
        of: Option<&str>,
        context: &mut Context<'v>,
        local: &mut Local<'v>,
        depth: usize,
    ) -> Result<Option<String>, Circle> {
        if text.starts_with('@') {
            return Ok(Some(text.to_owned()));
        }
        if of != Some(text)
            && let Some((key, _)) = local.pending.get_key_value(text)
        {
            self.define_term(key, context, local, depth + 1)?;
        }
        if of != Some(text)
            && let Some(term) = self.find(text, context)
        {
            return Ok(term.as_ref().map(|term| term.iri.clone()));
        }
        if let Some((prefix, rest)) = text.split_once(':') {
            if rest.starts_with("//") || prefix == "_" {
                return Ok(Some(text.to_owned()));
            }
            if of != Some(prefix)
                && let Some((key, _)) = local.pending.get_key_value(prefix)
            {
                self.define_term(key, context, local, depth + 1)?;
            }
            let term = if of == Some(prefix) { None } else { self.find(prefix, context) };
            return Ok(Some(match term.and_then(Option::as_ref) {
                Some(term) => join(&term.iri, rest),
                None => text.to_owned(),
            }));
        }
        let vocab = match &context.vocab {
            Said::Is(vocab) => Some(vocab.clone()),
            Said::Cleared => None,
            Said::Nothing => {
                context.parent.and_then(|parent| self.vocab(Ctx(parent)).map(str::to_owned))
            }
        };
        Ok(vocab.map(|vocab| join(&vocab, text)))
    }

    fn find<'c>(&'c self, name: &str, context: &'c Context<'v>) -> Option<&'c Option<Term>> {
        context
            .terms
            .get(name)
            .or_else(|| context.parent.and_then(|parent| self.lookup(name, Ctx(parent))))
    }

    fn chain(&self, ctx: Ctx) -> impl Iterator<Item = &Context<'v>> {
        let of = |at: usize| self.all.get(at);
        std::iter::successors(of(ctx.0), move |context| context.parent.and_then(of))
    }

    fn lookup(&self, name: &str, ctx: Ctx) -> Option<&Option<Term>> {
        self.chain(ctx).find_map(|context| context.terms.get(name))
    }

    fn vocab(&self, ctx: Ctx) -> Option<&str> {
        self.chain(ctx).map(|it| &it.vocab).find(|said| said.is_something())?.text()
    }

    /// What a term of the context says about its values.
    pub(crate) fn term(&self, name: &str, ctx: Ctx) -> Option<&Term> {
        self.lookup(name, ctx)?.as_ref()
    }

    /// The word of JSON-LD that a name is another one for.
    pub(crate) fn alias(&self, name: &str, ctx: Ctx) -> Option<&str> {
        self.term(name, ctx).map(|term| term.iri.as_str()).filter(|iri| iri.starts_with('@'))
    }

    /// Tells whether a prefix is defined.
    pub(crate) fn is_prefix(&self, prefix: &str, ctx: Ctx) -> bool {
        self.term(prefix, ctx).is_some()
    }

    /// What a name is in the usual context. Where the context does not say,
    /// it is taken as it is usually meant, and that is told once.
    pub(crate) fn name(
        &mut self,
        text: &'v str,
        ctx: Ctx,
        place: impl Fn() -> Place,
        sink: &mut dyn FindingSink,
    ) -> Name<'v> {
        if text.starts_with('@') {
            return Name::Keyword(Cow::Borrowed(text));
        }
        match self.lookup(text, ctx) {
            Some(None) => return Name::Nothing,
            Some(Some(term)) => return usual(Cow::Owned(term.iri.clone())),
            None => {}
        }
        let Some((prefix, rest)) = text.split_once(':') else {
            return match self.vocab(ctx) {
                Some(SCHEMA) => Name::Usual(Cow::Borrowed(text)),
                Some(vocab) => usual(Cow::Owned(join(vocab, text))),
                None => {
                    if !self.is_stopped && self.told.insert("term".to_owned()) {
                        let finding = Finding::new(&rules::TERM_UNDEFINED, place(), quoted(text));
                        sink.report(finding);
                    }
                    Name::Usual(Cow::Borrowed(text))
                }
            };
        };
        if rest.starts_with("//") {
            return usual(Cow::Borrowed(text));
        }
        let known = match prefix {
            "spxi" => SPXI,
            "mp" => MP,
            "schema" => SCHEMA,
            _ => "",
        };
        match self.lookup(prefix, ctx).map(Option::as_ref) {
            Some(Some(term)) if known == term.iri && prefix != "schema" => {
                Name::Usual(Cow::Borrowed(text))
            }
            // Another vocabulary under the name of a known one.
            Some(Some(term)) if known.is_empty() || is_schema(known, &term.iri) => {
                usual(Cow::Owned(join(&term.iri, rest)))
            }
            None if known.is_empty() => Name::Usual(Cow::Borrowed(text)),
            Some(None) if known.is_empty() => Name::Nothing,
            _ => {
                // What stopped a processor is the cause, and told already.
                if !self.is_stopped && self.told.insert(format!("{prefix}:")) {
                    sink.report(Finding::new(&rules::PREFIX, place(), quoted(prefix)));
                }
                usual(Cow::Owned(join(known, rest)))
            }
        }
    }

    /// The address that a text stands for.
    pub(crate) fn address(&self, text: &'v str, ctx: Ctx) -> Cow<'v, str> {
        if let Some((prefix, rest)) = text.split_once(':') {
            if !rest.starts_with("//")
                && let Some(term) = self.term(prefix, ctx)
            {
                return Cow::Owned(join(&term.iri, rest));
            }
            // Without an address of their own they are read as in names.
            return match prefix {
                "spxi" => Cow::Owned(join(SPXI, rest)),
                "mp" => Cow::Owned(join(MP, rest)),
                _ => Cow::Borrowed(text),
            };
        }
        let base = self.chain(ctx).map(|it| &it.base).find(|said| said.is_something());
        let joined =
            base.and_then(Said::text).and_then(|base| Url::parse(base).ok()?.join(text).ok());
        joined.map_or(Cow::Borrowed(text), |url| Cow::Owned(url.into()))
    }
}

/// Tells whether a context at this address is that of schema.org.
pub(crate) fn is_known(address: &str) -> bool {
    KNOWN.contains(&address.strip_suffix('/').unwrap_or(address))
}

fn is_schema(known: &str, iri: &str) -> bool {
    known == SCHEMA && matches!(iri, SCHEMA | "http://schema.org/")
}

fn join(iri: &str, rest: &str) -> String {
    // Definitions that double each other's length would fill memory.
    const LONGEST: usize = 4096;
    let mut whole = String::with_capacity(iri.len() + rest.len());
    whole.push_str(iri);
    whole.push_str(rest);
    whole.truncate(whole.floor_char_boundary(LONGEST.max(rest.len())));
    whole
}

/// A whole address as it is written in the usual context.
fn usual(iri: Cow<'_, str>) -> Name<'_> {
    if iri.starts_with('@') {
        return Name::Keyword(iri);
    }
    for (root, prefix) in [(SPXI, "spxi:"), (MP, "mp:"), (SCHEMA, ""), ("http://schema.org/", "")] {
        if let Some(rest) = iri.strip_prefix(root).filter(|rest| !rest.is_empty()) {
            return Name::Usual(Cow::Owned(format!("{prefix}{rest}")));
        }
    }
    Name::Usual(iri)
}
