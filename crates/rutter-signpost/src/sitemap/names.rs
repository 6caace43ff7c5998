//! Namespaces: which prefix means which, at every depth.

/// A namespace by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ns(u32);

impl Ns {
    pub(super) const NONE: Self = Self(0);
    pub(super) const SITEMAP: Self = Self(1);
    pub(super) const XHTML: Self = Self(2);
}

/// Most namespaces of one file; more are a trap.
const MOST: usize = 256;

/// The declarations that hold where the reader is.
pub(super) struct Names {
    uris: Vec<String>,
    bindings: Vec<Binding>,
    default: Ns,
}

struct Binding {
    depth: usize,
    prefix: String,
    ns: Ns,
}

impl Names {
    pub(super) fn new() -> Self {
        let xml = "http://www.w3.org/XML/1998/namespace";
        let uris = ["", super::NAMESPACE, super::XHTML, xml].map(str::to_owned).to_vec();
        let bindings = vec![Binding { depth: 0, prefix: "xml".to_owned(), ns: Ns(3) }];
        Self { uris, bindings, default: Ns::NONE }
    }

    /// A declaration on the element at `depth`; `None` where there are too many.
    pub(super) fn declare(&mut self, depth: usize, prefix: &str, uri: &str) -> Option<()> {
        let known = self.uris.iter().position(|known| known == uri);
        let number = match known {
            Some(number) => number,
            None if MOST <= self.uris.len() => return None,
            None => {
                self.uris.push(uri.to_owned());
                self.uris.len() - 1
            }
        };
        let ns = Ns(u32::try_from(number).ok()?);
        self.bindings.push(Binding { depth, prefix: prefix.to_owned(), ns });
        if prefix.is_empty() {
            self.default = ns;
        }
        Some(())
    }

    /// Forgets what the element at `depth` declared.
    pub(super) fn leave(&mut self, depth: usize) {
        let mut has_left = false;
        while self.bindings.last().is_some_and(|binding| depth <= binding.depth) {
            self.bindings.pop();
            has_left = true;
        }
        if has_left {
            let default = self.bindings.iter().rev().find(|binding| binding.prefix.is_empty());
            self.default = default.map_or(Ns::NONE, |binding| binding.ns);
        }
    }

    /// What names without prefix belong to.
    pub(super) fn default(&self) -> Ns {
        self.default
    }

    /// Namespace and local name of an element; `None` for an unknown prefix.
    pub(super) fn resolve<'n>(&self, name: &'n str) -> Option<(Ns, &'n str)> {
        // Names are short: a plain loop is the fastest search.
        if name.bytes().all(|byte| byte != b':') {
            return Some((self.default, name));
        }
        let (prefix, local) = name.split_once(':')?;
        Some((self.binding(prefix)?.0, local))
    }

    /// What a prefix means and how deep it was declared.
    pub(super) fn binding(&self, prefix: &str) -> Option<(Ns, usize)> {
        let found = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        match found {
            Some(binding) => Some((binding.ns, binding.depth)),
            None if prefix.is_empty() => Some((Ns::NONE, 0)),
            None => None,
        }
    }

    pub(super) fn uri(&self, ns: Ns) -> &str {
        usize::try_from(ns.0).ok().and_then(|number| self.uris.get(number)).map_or("", |uri| uri)
    }
}

/// Tells whether a namespace is one that sitemaps once had or are often given.
pub(super) fn is_variant(uri: &str) -> bool {
    let rest = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"));
    let rest = rest.unwrap_or(uri).trim_end_matches('/');
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let host = rest.strip_prefix("sitemaps.org").or_else(|| rest.strip_prefix("google.com"));
    matches!(host, Some("/schemas/sitemap/0.9" | "/schemas/sitemap/0.84" | "/schemas/sitemap/0.90"))
}
