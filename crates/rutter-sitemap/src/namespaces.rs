//! XML namespaces: resolves prefixes at every depth of the document.

/// The index of a namespace in [`Namespaces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamespaceId(u32);

impl NamespaceId {
    pub(super) const NONE: Self = Self(0);
    pub(super) const SITEMAP: Self = Self(1);
    pub(super) const XHTML: Self = Self(2);
}

/// The maximum number of namespaces in one file.
const MAX_NAMESPACES: usize = 256;

/// The namespace declarations that apply at the current position of the document.
pub(super) struct Namespaces {
    uris: Vec<String>,
    bindings: Vec<PrefixBinding>,
    default: NamespaceId,
}

struct PrefixBinding {
    depth: usize,
    prefix: String,
    ns: NamespaceId,
}

impl Namespaces {
    pub(super) fn new() -> Self {
        let xml = "http://www.w3.org/XML/1998/namespace";
        let uris = ["", super::NAMESPACE, super::XHTML, xml].map(str::to_owned).to_vec();
        let bindings =
            vec![PrefixBinding { depth: 0, prefix: "xml".to_owned(), ns: NamespaceId(3) }];
        Self { uris, bindings, default: NamespaceId::NONE }
    }

    /// Adds a declaration of the element at `depth`; returns `None` if there are
    /// too many namespaces.
    pub(super) fn declare(&mut self, depth: usize, prefix: &str, uri: &str) -> Option<()> {
        let known = self.uris.iter().position(|known| known == uri);
        let number = match known {
            Some(number) => number,
            None if MAX_NAMESPACES <= self.uris.len() => return None,
            None => {
                self.uris.push(uri.to_owned());
                self.uris.len() - 1
            }
        };
        let ns = NamespaceId(u32::try_from(number).ok()?);
        self.bindings.push(PrefixBinding { depth, prefix: prefix.to_owned(), ns });
        if prefix.is_empty() {
            self.default = ns;
        }
        Some(())
    }

    /// Removes the declarations of the element at `depth`.
    pub(super) fn end_element(&mut self, depth: usize) {
        let mut has_left = false;
        while self.bindings.last().is_some_and(|binding| depth <= binding.depth) {
            self.bindings.pop();
            has_left = true;
        }
        if has_left {
            let default = self.bindings.iter().rev().find(|binding| binding.prefix.is_empty());
            self.default = default.map_or(NamespaceId::NONE, |binding| binding.ns);
        }
    }

    /// Returns the namespace of element names without prefix.
    pub(super) fn default(&self) -> NamespaceId {
        self.default
    }

    /// Returns the namespace and the local name of an element; `None` for an undeclared prefix.
    pub(super) fn resolve<'n>(&self, name: &'n str) -> Option<(NamespaceId, &'n str)> {
        // Names are short: a plain loop is the fastest search.
        if name.bytes().all(|byte| byte != b':') {
            return Some((self.default, name));
        }
        let (prefix, local) = name.split_once(':')?;
        Some((self.binding(prefix)?.0, local))
    }

    /// Returns the namespace of a prefix and the depth of its declaration.
    pub(super) fn binding(&self, prefix: &str) -> Option<(NamespaceId, usize)> {
        let report = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        match report {
            Some(binding) => Some((binding.ns, binding.depth)),
            None if prefix.is_empty() => Some((NamespaceId::NONE, 0)),
            None => None,
        }
    }

    pub(super) fn uri(&self, ns: NamespaceId) -> &str {
        usize::try_from(ns.0).ok().and_then(|number| self.uris.get(number)).map_or("", |uri| uri)
    }
}

/// Returns whether a namespace is an old or commonly misspelt sitemap namespace.
pub(super) fn is_known_variant(uri: &str) -> bool {
    let rest = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"));
    let rest = rest.unwrap_or(uri).trim_end_matches('/');
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let host = rest.strip_prefix("sitemaps.org").or_else(|| rest.strip_prefix("google.com"));
    matches!(host, Some("/schemas/sitemap/0.9" | "/schemas/sitemap/0.84" | "/schemas/sitemap/0.90"))
}
