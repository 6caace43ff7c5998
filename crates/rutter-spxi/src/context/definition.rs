//! Reads the definitions of a `@context`.
//!
//! Does not fetch remote contexts, does not follow cyclic definitions, and does not apply scoped
//! contexts.

use std::collections::{HashMap, HashSet};

use rutter_finding::{Finding, FindingSink, Place, quoted};

use super::{ContextId, ContextIri, ContextTable, JsonLdContext, TermDefinition, is_known, join};
use crate::json::JsonValue;
use crate::place::{PlaceId, PlaceTable, PointerStep};
use crate::term_height::{MAX_HEIGHT, TermTooDeep, height};
use crate::{SCHEMA, rules};

/// Definitions of one context object while they are processed.
struct LocalDefinitions<'v> {
    pending: HashMap<&'v str, &'v JsonValue<'v>>,
    /// Terms whose definition has been started.
    begun: HashSet<&'v str>,
}

struct CyclicTerm;

impl<'v> ContextTable<'v> {
    /// Reads the `@context` of an object.
    pub(crate) fn define(
        &mut self,
        value: &'v JsonValue<'v>,
        outer: ContextId,
        at: PlaceId,
        places: &mut PlaceTable<'v>,
        sink: &mut dyn FindingSink,
    ) -> ContextId {
        let n_before = self.n_terms;
        let mut context = JsonLdContext { parent: Some(outer.0), ..JsonLdContext::default() };
        match value {
            JsonValue::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    let at = places.add(at, PointerStep::Item(n));
                    self.apply(item, &mut context, at, places, sink);
                }
            }
            value => self.apply(value, &mut context, at, places, sink),
        }
        if 1 < self.all.len() {
            self.n_inner += 1 + self.n_terms - n_before;
        }
        self.all.push(context);
        ContextId(self.all.len() - 1)
    }

    fn apply(
        &mut self,
        value: &'v JsonValue<'v>,
        context: &mut JsonLdContext<'v>,
        at: PlaceId,
        places: &mut PlaceTable<'v>,
        sink: &mut dyn FindingSink,
    ) {
        match value {
            JsonValue::Null => {
                *context = JsonLdContext { parent: Some(0), ..JsonLdContext::default() }
            }
            JsonValue::Text(text) => self.apply_address(text, context, &places.show(at), sink),
            JsonValue::Map(members) => {
                for (key, value) in members {
                    let mut report = |rule| {
                        let mut pointer = places.show(at);
                        crate::json::push_step(&mut pointer, key);
                        sink.report(Finding::new(rule, Place { line: None, pointer }, ""));
                    };
                    match (key.as_ref(), value) {
                        ("@vocab", JsonValue::Null) => context.vocab = ContextIri::Cleared,
                        ("@base", JsonValue::Null) => context.base = ContextIri::Cleared,
                        ("@base", JsonValue::Text(text)) => {
                            context.base = ContextIri::Is(text.clone().into_owned());
                        }
                        ("@vocab", JsonValue::Text(_)) => {}
                        ("@import", JsonValue::Text(_)) => {
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
        context: &mut JsonLdContext<'v>,
        pointer: &str,
        sink: &mut dyn FindingSink,
    ) {
        let place = Place { line: None, pointer: pointer.to_owned() };
        if is_known(text) {
            context.vocab = ContextIri::Is(SCHEMA.to_owned());
            if self.reported.insert("by name".to_owned()) {
                sink.report(Finding::new(&rules::CONTEXT_BY_NAME, place, quoted(text)));
            }
            return;
        }
        self.is_stopped = true;
        sink.report(Finding::new(self.remote, place, quoted(text)));
    }

    fn define_terms(
        &mut self,
        object: &'v JsonValue<'v>,
        context: &mut JsonLdContext<'v>,
        at: PlaceId,
        places: &mut PlaceTable<'v>,
        sink: &mut dyn FindingSink,
    ) {
        if let Err(TermTooDeep(key)) = height(object, 0, &mut self.n_scoped) {
            self.is_stopped = true;
            if self.reported.insert("circle".to_owned()) {
                let mut pointer = places.show(at);
                crate::json::push_step(&mut pointer, key);
                let place = Place { line: None, pointer };
                sink.report(Finding::new(&rules::CONTEXT_LOOP, place, ""));
            }
        }
        let members = object.members();
        let is_term = |key: &str| !key.is_empty() && !key.starts_with('@');
        let pending = members.iter().filter(|(key, _)| is_term(key));
        let mut local = LocalDefinitions {
            pending: pending.map(|(key, value)| (key.as_ref(), value)).collect(),
            begun: HashSet::new(),
        };
        if let Some(text) = object.get("@vocab").and_then(JsonValue::as_str) {
            let vocab = match self.expand(text, None, context, &mut local, 0) {
                Ok(iri) => iri.unwrap_or_else(|| text.to_owned()),
                Err(CyclicTerm) => text.to_owned(),
            };
            context.vocab = ContextIri::Is(vocab);
        }
        for (key, value) in members.iter().filter(|(key, _)| is_term(key)) {
            self.n_terms += 1;
            let is_form = matches!(value, JsonValue::Null | JsonValue::Text(_) | JsonValue::Map(_));
            // A cycle was reported already. The terms of the cycle stay undefined.
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
        context: &mut JsonLdContext<'v>,
        local: &mut LocalDefinitions<'v>,
        depth: usize,
    ) -> Result<(), CyclicTerm> {
        if !local.begun.insert(key) {
            // Here the term is either defined, or part of a cycle and still undefined.
            return if context.terms.get(key).is_some() { Ok(()) } else { Err(CyclicTerm) };
        }
        let value = local.pending.get(key).copied();
        let written = match value {
            Some(JsonValue::Text(text)) => Some(text.as_ref()),
            Some(value @ JsonValue::Map(_)) => match value.get("@id") {
                Some(JsonValue::Text(text)) => Some(text.as_ref()),
                Some(_) => None,
                None => Some(key),
            },
            _ => None,
        };
        let expanded = if MAX_HEIGHT < depth {
            Err(CyclicTerm)
        } else {
            written.map_or(Ok(None), |text| self.expand(text, Some(key), context, local, depth))
        };
        let is_of = |name: &str, wanted: &[&str]| {
            let found = value.and_then(|value| value.get(name));
            let one = found.and_then(JsonValue::as_str);
            let many = found.map_or(&[][..], |found| match found {
                JsonValue::List(items) => items,
                _ => &[],
            });
            one.into_iter()
                .chain(many.iter().filter_map(JsonValue::as_str))
                .any(|it| wanted.contains(&it))
        };
        let term = expanded.as_ref().ok().and_then(Option::as_ref).map(|iri| TermDefinition {
            iri: iri.clone(),
            is_address: is_of("@type", &["@id", "@vocab"]),
            is_map: is_of("@container", &["@language", "@index"]),
            is_json: is_of("@type", &["@json"]),
        });
        context.terms.insert(key, term);
        expanded.map(|_| ())
    }

    /// Expands a text in the definition of a term to an IRI.
    fn expand(
        &mut self,
        text: &str,
        of: Option<&str>,
        context: &mut JsonLdContext<'v>,
        local: &mut LocalDefinitions<'v>,
        depth: usize,
    ) -> Result<Option<String>, CyclicTerm> {
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
            ContextIri::Is(vocab) => Some(vocab.clone()),
            ContextIri::Cleared => None,
            ContextIri::Nothing => {
                context.parent.and_then(|parent| self.vocab(ContextId(parent)).map(str::to_owned))
            }
        };
        Ok(vocab.map(|vocab| join(&vocab, text)))
    }

    fn find<'c>(
        &'c self,
        name: &str,
        context: &'c JsonLdContext<'v>,
    ) -> Option<&'c Option<TermDefinition>> {
        context
            .terms
            .get(name)
            .or_else(|| context.parent.and_then(|parent| self.lookup(name, ContextId(parent))))
    }
}
