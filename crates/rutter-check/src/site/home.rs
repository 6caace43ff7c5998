//! The address of a site, and where a folder says it.

use rutter_page::PageUrl;
use rutter_spxi::{INDEX, Index};

/// No site can be published here (RFC 2606).
const PLACEHOLDER: &str = "https://site.invalid/";

/// Address of a site: scheme, host, and the path it lives under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Without a slash at its end.
    text: String,
    /// Where the path begins.
    path_at: usize,
}

impl Home {
    /// Reads an address; a query or a fragment is no part of one.
    ///
    /// ```
    /// use rutter_check::Home;
    /// let home = Home::parse("https://harbour.example/docs/").unwrap();
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

    /// Where an index says that it lies, else the host of its first entity.
    pub(crate) fn of_index(index: &Index) -> Option<Self> {
        let own = index.id.as_deref().and_then(|id| PageUrl::parse(id).ok());
        let folder = own.and_then(|url| url.key().strip_suffix(INDEX).map(str::to_owned));
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

    /// Stands for the base URL of a folder that does not say it.
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

    /// The address without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `https://host`
    pub fn origin(&self) -> &str {
        self.text.get(..self.path_at).unwrap_or_default()
    }

    /// Whether the site is all of its host: robots.txt counts nowhere else.
    pub fn is_root(&self) -> bool {
        self.path_at == self.text.len()
    }

    /// The address of a file by its path.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.text)
    }

    /// The path of an address below the site, without a first slash.
    pub fn path_of<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(&self.text)?.strip_prefix('/')
    }

    /// The path of an address of the host, as robots.txt speaks of it.
    pub fn target_of<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(self.origin()).filter(|rest| rest.starts_with('/'))
    }
}
