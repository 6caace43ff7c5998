//! The base URL of a site.

use rutter_page::PageUrl;
use rutter_spxi::{INDEX_FILE, SemanticIndex};

/// A URL that cannot belong to a real site (RFC 2606).
const PLACEHOLDER: &str = "https://site.invalid/";

/// The base URL of a site: scheme, host and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteBase {
    /// The base URL without a final slash.
    text: String,
    /// The offset of the path in `text`.
    path_at: usize,
}

impl SiteBase {
    /// Parses a base URL; query and fragment are removed.
    ///
    /// ```
    /// use rutter_check::SiteBase;
    /// let home = SiteBase::parse("https://harbour.example/docs/").unwrap();
    /// assert_eq!(home.as_str(), "https://harbour.example/docs");
    /// assert_eq!(home.path_of("https://harbour.example/docs/a"), Some("a"));
    /// assert_eq!(home.path_of("https://harbour.example/"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let url = PageUrl::parse(text.trim()).ok()?;
        let key = url.key();
        if key.contains(['?', '#']) {
            return None;
        }
        let text = key.trim_end_matches('/').to_owned();
        let start = text.find("://")? + 3;
        let path_at = text.get(start..)?.find('/').map_or(text.len(), |at| start + at);
        Some(Self { text, path_at })
    }

    /// Returns the base URL of a semantic index, or else the host of its first entity.
    pub(crate) fn of_index(index: &SemanticIndex) -> Option<Self> {
        let own = index.id.as_deref().and_then(|id| PageUrl::parse(id).ok());
        let folder = own.and_then(|url| url.key().strip_suffix(INDEX_FILE).map(str::to_owned));
        if let Some(folder) = folder {
            return Self::parse(&folder);
        }
        let mut ids = index.id.iter().chain(index.entities.iter().filter_map(|it| it.id.as_ref()));
        let url = ids.find_map(|id| PageUrl::parse(id.as_str()).ok())?;
        let key = url.key();
        let start = key.find("://")? + 3;
        let end = key.get(start..)?.find('/').map_or(key.len(), |at| start + at);
        Self::parse(key.get(..end)?)
    }

    /// Returns a placeholder for an unknown base URL.
    pub(crate) fn placeholder() -> Option<Self> {
        Self::parse(PLACEHOLDER)
    }

    /// Returns whether the base URL is not known.
    pub(crate) fn is_placeholder(&self) -> bool {
        PLACEHOLDER.starts_with(&self.text)
    }

    /// Returns whether the site is published without https, other than on
    /// loopback (SCP-196).
    pub(crate) fn is_plain_http(&self) -> bool {
        PageUrl::parse(self.as_str()).is_ok_and(|url| url.is_plain_http())
    }

    /// Returns the base URL without a final slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns scheme and host of the base URL, such as `https://host`.
    pub fn origin(&self) -> &str {
        self.text.get(..self.path_at).unwrap_or_default()
    }

    /// Returns whether the site is at the root of its host, where robots.txt is valid.
    pub fn is_root(&self) -> bool {
        self.path_at == self.text.len()
    }

    /// Returns the URL of a path below the base URL.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.text)
    }

    /// Returns the path of a URL below the base URL, without leading slash.
    pub fn path_of<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(&self.text)?.strip_prefix('/')
    }

    /// Returns the path of a URL on the host, as used in robots.txt.
    pub fn target_of<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(self.origin()).filter(|rest| rest.starts_with('/'))
    }
}
