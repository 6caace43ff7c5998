//! JSON-LD contexts: expands names without network access (D75).
//!
//! Every name is returned as it would be written in the usual context, in which names of schema.org
//! have no prefix, and `spxi:` and `mp:` are prefixes. A name of another vocabulary is returned as
//! its full IRI.

mod definition;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use url::Url;

use crate::{MP, SCHEMA, SPXI, rules};

/// URLs of the JSON-LD context of schema.org.
const KNOWN: [&str; 4] = [
    "https://schema.org",
    "http://schema.org",
    "https://schema.org/docs/jsonldcontext.json",
    "https://schema.org/docs/jsonldcontext.jsonld",
];

/// Index of a context in a [`ContextTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextId(usize);

/// All contexts of a document. An inner context holds only its changes.
#[derive(Debug)]
pub(crate) struct ContextTable<'v> {
    all: Vec<JsonLdContext<'v>>,
    remote: &'static Rule,
    /// Whether the context has a remote context or a cycle, at which a JSON-LD processor stops.
    pub(crate) is_stopped: bool,
    /// Number of terms in all contexts except the first one.
    pub(crate) n_inner: usize,
    /// Number of terms in all contexts.
    pub(crate) n_terms: usize,
    /// Number of terms in scoped contexts.
    pub(crate) n_scoped: usize,
    /// Problems of the context that were reported already; each problem is reported once.
    reported: HashSet<String>,
}

#[derive(Debug, Default)]
struct JsonLdContext<'v> {
    parent: Option<usize>,
    terms: TermMap<'v>,
    vocab: ContextIri,
    base: ContextIri,
}

/// Terms by name. Most contexts have two or three terms, and every name in the document is looked
/// up, so a small number of terms is compared one by one.
#[derive(Debug, Default)]
struct TermMap<'v> {
    all: Vec<(&'v str, Option<TermDefinition>)>,
    by_name: HashMap<&'v str, usize>,
}

impl<'v> TermMap<'v> {
    const FEW: usize = 8;

    fn get(&self, name: &str) -> Option<&Option<TermDefinition>> {
        let at = if self.all.len() <= Self::FEW {
            self.all.iter().position(|(key, _)| *key == name)
        } else {
            self.by_name.get(name).copied()
        };
        at.and_then(|at| self.all.get(at)).map(|(_, term)| term)
    }

    fn insert(&mut self, name: &'v str, term: Option<TermDefinition>) {
        match self.by_name.get(name).and_then(|at| self.all.get_mut(*at)) {
            Some(known) => known.1 = term,
            None => {
                self.by_name.insert(name, self.all.len());
                self.all.push((name, term));
            }
        }
    }
}

/// Value of `@vocab` or `@base` in a context.
#[derive(Debug, Clone, Default)]
enum ContextIri {
    #[default]
    Nothing,
    /// The value is null, which hides the values of outer contexts.
    Cleared,
    Is(String),
}

impl ContextIri {
    fn is_something(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    fn text(&self) -> Option<&str> {
        if let Self::Is(text) = self { Some(text) } else { None }
    }
}

/// Definition of a term in a context.
#[derive(Debug, Clone)]
pub(crate) struct TermDefinition {
    iri: String,
    /// Whether the values of the term are IRIs.
    pub(crate) is_address: bool,
    /// Whether the values of the term are the members of a map.
    pub(crate) is_map: bool,
    /// Whether the values of the term are JSON literals.
    pub(crate) is_json: bool,
}

/// A name as written in the usual context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExpandedName<'v> {
    /// A keyword of JSON-LD, such as `@id`.
    Keyword(Cow<'v, str>),
    /// A name of a vocabulary, in its usual form.
    Usual(Cow<'v, str>),
    /// The context maps the name to null, so the name has no meaning.
    Nothing,
}

impl<'v> ContextTable<'v> {
    /// Creates an empty table; `remote` is the rule that remote contexts break.
    pub(crate) fn new(remote: &'static Rule) -> Self {
        Self {
            all: vec![JsonLdContext::default()],
            remote,
            is_stopped: false,
            n_inner: 0,
            n_terms: 0,
            n_scoped: 0,
            reported: HashSet::new(),
        }
    }

    /// Returns the id of the context without definitions.
    pub(crate) fn empty() -> ContextId {
        ContextId(0)
    }

    /// Returns the id of the usual context, for a document without a context.
    pub(crate) fn usual(&mut self) -> ContextId {
        let term = |iri: &str| {
            let iri = iri.to_owned();
            Some(TermDefinition { iri, is_address: false, is_map: false, is_json: false })
        };
        let mut terms = TermMap::default();
        terms.insert("spxi", term(SPXI));
        terms.insert("mp", term(MP));
        self.all.push(JsonLdContext {
            terms,
            vocab: ContextIri::Is(SCHEMA.to_owned()),
            ..JsonLdContext::default()
        });
        ContextId(self.all.len() - 1)
    }

    fn chain(&self, ctx: ContextId) -> impl Iterator<Item = &JsonLdContext<'v>> {
        let of = |at: usize| self.all.get(at);
        std::iter::successors(of(ctx.0), move |context| context.parent.and_then(of))
    }

    fn lookup(&self, name: &str, ctx: ContextId) -> Option<&Option<TermDefinition>> {
        self.chain(ctx).find_map(|context| context.terms.get(name))
    }

    fn vocab(&self, ctx: ContextId) -> Option<&str> {
        self.chain(ctx).map(|it| &it.vocab).find(|said| said.is_something())?.text()
    }

    /// Returns the definition of a term.
    pub(crate) fn term(&self, name: &str, ctx: ContextId) -> Option<&TermDefinition> {
        self.lookup(name, ctx)?.as_ref()
    }

    /// Returns the JSON-LD keyword for which a name is an alias.
    pub(crate) fn alias(&self, name: &str, ctx: ContextId) -> Option<&str> {
        self.term(name, ctx).map(|term| term.iri.as_str()).filter(|iri| iri.starts_with('@'))
    }

    /// Returns whether a prefix is defined.
    pub(crate) fn is_prefix(&self, prefix: &str, ctx: ContextId) -> bool {
        self.term(prefix, ctx).is_some()
    }

    /// Returns a name as written in the usual context. If the context of the document does not
    /// define the name, its usual meaning is assumed, and this is reported once.
    pub(crate) fn name(
        &mut self,
        text: &'v str,
        ctx: ContextId,
        place: impl Fn() -> Place,
        sink: &mut dyn FindingSink,
    ) -> ExpandedName<'v> {
        if text.starts_with('@') {
            return ExpandedName::Keyword(Cow::Borrowed(text));
        }
        match self.lookup(text, ctx) {
            Some(None) => return ExpandedName::Nothing,
            Some(Some(term)) => return usual(Cow::Owned(term.iri.clone())),
            None => {}
        }
        let Some((prefix, rest)) = text.split_once(':') else {
            return match self.vocab(ctx) {
                Some(SCHEMA) => ExpandedName::Usual(Cow::Borrowed(text)),
                Some(vocab) => usual(Cow::Owned(join(vocab, text))),
                None => {
                    if !self.is_stopped && self.reported.insert("term".to_owned()) {
                        let finding = Finding::new(&rules::TERM_UNDEFINED, place(), quoted(text));
                        sink.report(finding);
                    }
                    ExpandedName::Usual(Cow::Borrowed(text))
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
                ExpandedName::Usual(Cow::Borrowed(text))
            }
            // The context of the document maps a known name to another vocabulary.
            Some(Some(term)) if known.is_empty() || is_schema(known, &term.iri) => {
                usual(Cow::Owned(join(&term.iri, rest)))
            }
            None if known.is_empty() => ExpandedName::Usual(Cow::Borrowed(text)),
            Some(None) if known.is_empty() => ExpandedName::Nothing,
            _ => {
                // The problem that stopped the processor is the cause and was reported already.
                if !self.is_stopped && self.reported.insert(format!("{prefix}:")) {
                    sink.report(Finding::new(&rules::PREFIX, place(), quoted(prefix)));
                }
                usual(Cow::Owned(join(known, rest)))
            }
        }
    }

    /// Expands a text to an IRI.
    pub(crate) fn address(&self, text: &'v str, ctx: ContextId) -> Cow<'v, str> {
        if let Some((prefix, rest)) = text.split_once(':') {
            if !rest.starts_with("//")
                && let Some(term) = self.term(prefix, ctx)
            {
                return Cow::Owned(join(&term.iri, rest));
            }
            // Undefined prefixes are treated as they are in names.
            return match prefix {
                "spxi" => Cow::Owned(join(SPXI, rest)),
                "mp" => Cow::Owned(join(MP, rest)),
                _ => Cow::Borrowed(text),
            };
        }
        let base = self.chain(ctx).map(|it| &it.base).find(|said| said.is_something());
        let joined =
            base.and_then(ContextIri::text).and_then(|base| Url::parse(base).ok()?.join(text).ok());
        joined.map_or(Cow::Borrowed(text), |url| Cow::Owned(url.into()))
    }
}

/// Returns whether a URL is that of the context of schema.org.
pub(crate) fn is_known(address: &str) -> bool {
    KNOWN.contains(&address.strip_suffix('/').unwrap_or(address))
}

fn is_schema(known: &str, iri: &str) -> bool {
    known == SCHEMA && matches!(iri, SCHEMA | "http://schema.org/")
}

fn join(iri: &str, rest: &str) -> String {
    // Limit the length: definitions that double it at each step would exhaust the memory.
    const MAX_LENGTH: usize = 4096;
    let mut whole = String::with_capacity(iri.len() + rest.len());
    whole.push_str(iri);
    whole.push_str(rest);
    whole.truncate(whole.floor_char_boundary(MAX_LENGTH.max(rest.len())));
    whole
}

/// Returns an IRI as written in the usual context.
fn usual(iri: Cow<'_, str>) -> ExpandedName<'_> {
    if iri.starts_with('@') {
        return ExpandedName::Keyword(iri);
    }
    for (root, prefix) in [(SPXI, "spxi:"), (MP, "mp:"), (SCHEMA, ""), ("http://schema.org/", "")] {
        if let Some(rest) = iri.strip_prefix(root).filter(|rest| !rest.is_empty()) {
            return ExpandedName::Usual(Cow::Owned(format!("{prefix}{rest}")));
        }
    }
    ExpandedName::Usual(iri)
}
