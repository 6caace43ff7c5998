//! The base URL of a site.
//!
//! Rejects relative URLs, other schemes than http and https, and URLs with a query, a fragment or credentials.

use url::Url;

/// Base URL of a site: scheme, host and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// The URL, which ends with a slash.
    text: String,
    /// Byte offset of the path in `text`.
    path_at: usize,
}

/// Reason why a text is not a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// The text is not an absolute http or https URL.
    #[error("`{0}` is not an absolute http or https URL")]
    Url(String),
    /// The URL has a query, a fragment or credentials.
    #[error("`{0}` has a query, a fragment or credentials")]
    Parts(String),
}

impl BaseUrl {
    /// Parses a base URL and appends a final slash if it is missing.
    ///
    /// ```
    /// # use rutter_build::BaseUrl;
    /// let base = BaseUrl::parse("https://harbour.example/docs").unwrap();
    /// assert_eq!(base.as_str(), "https://harbour.example/docs/");
    /// assert_eq!(base.path(), "/docs/");
    /// ```
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let url = Url::parse(text.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else { return Err(BaseUrlError::Url(text.to_owned())) };
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare {
            return Err(BaseUrlError::Parts(text.to_owned()));
        }
        let path_at = url[..url::Position::BeforePath].len();
        let mut text = String::from(url);
        if !text.ends_with('/') {
            text.push('/');
        }
        Ok(Self { text, path_at })
    }

    /// Returns the base URL with its final slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the origin of the base URL, such as `https://host`.
    pub fn origin(&self) -> &str {
        self.text.get(..self.path_at).unwrap_or_default()
    }

    /// Returns the path of the base URL; `/` for a site at the root of its host.
    pub fn path(&self) -> &str {
        self.text.get(self.path_at..).unwrap_or("/")
    }

    /// Returns whether the site is at the root of its host.
    pub fn is_root(&self) -> bool {
        self.path() == "/"
    }

    /// Returns the URL of a file by its path relative to the site's folder.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// Returns the path of a URL relative to the base URL, without a leading slash; `None` if the
    /// URL is outside the site.
    pub fn strip<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(&self.text)
    }
}
