//! Detects hosts that send a page with a success status for every URL: the soft 404 (D74).
//!
//! The client requests one random path. If the host sends a page for that path, the status codes of
//! the host do not prove that other files exist. The caller stores the result, a
//! [`MissingPageProbe`].
//!
//! Two such pages are rarely identical, because they contain a nonce, the date, or the requested
//! URL. Two pages are therefore compared by canonical link and title; if a page has neither, by
//! their bytes.

use rutter_page::Digest;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::client::Client;
use crate::error::FetchError;
use crate::page_title::PageTitle;
use crate::request::{FetchedResponse, Request};
use crate::resource_kind::ResourceKind;

/// Maximum number of bytes that are stored of the page for missing paths.
const STORED_BYTES: usize = 64 << 10;

/// The response of a host to a path that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPageProbe {
    /// Status code of the response.
    pub status: u16,
    /// Start of the decompressed page; empty if the response has no body.
    pub page: Vec<u8>,
    /// The requested path, which the page may repeat.
    #[serde(default)]
    pub path: String,
}

impl MissingPageProbe {
    /// Returns whether the host answers missing paths with a success status.
    pub fn is_soft(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Returns whether a body is the page for missing paths, by canonical link and title (D74).
    pub fn is_missing_page(&self, body: &[u8]) -> bool {
        if !self.is_soft() {
            return false;
        }
        let start = body.get(..STORED_BYTES).unwrap_or(body);
        if Digest::of(start) == Digest::of(&self.page) {
            return true;
        }
        let (Some(missing), Some(found)) = (PageTitle::of(&self.page), PageTitle::of(start)) else {
            return false;
        };
        missing.is_same_page_as(&found, &self.path)
    }

    /// Returns whether a body is identical to the page for missing paths. Only the stored start of
    /// the page is compared.
    pub fn is_same_page(&self, body: &[u8]) -> bool {
        self.is_soft() && body.get(..STORED_BYTES).unwrap_or(body) == self.page
    }

    /// Returns the title of the page for missing paths.
    pub fn title(&self) -> Option<String> {
        PageTitle::of(&self.page)?.title
    }

    /// Returns whether a response can be a requested file that is not an HTML page. On a host with
    /// soft 404, HTML and the page for missing paths are rejected.
    pub fn accepts(&self, answer: &FetchedResponse, text: &[u8]) -> bool {
        if !self.is_soft() {
            return true;
        }
        let media = answer.fields.media_type();
        let is_html = media == "text/html" || media == "application/xhtml+xml";
        !is_html && !self.is_missing_page(text)
    }
}

impl Client {
    /// Requests a random path, which almost certainly does not exist.
    pub async fn probe_missing_page(&self, site: &Url) -> Result<MissingPageProbe, FetchError> {
        let path = format!("/rutter-{:016x}", self.random());
        let mut url = site.clone();
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        let request = Request { site: Some(site.clone()), ..Request::new(url, ResourceKind::Page) };
        let answer = self.fetch(&request).await?;
        let mut page = answer.decoded_body(ResourceKind::Page).unwrap_or_default();
        page.truncate(STORED_BYTES);
        // If the host redirects missing paths to the home page, `page` is the home page.
        Ok(MissingPageProbe { status: answer.status, page, path })
    }
}
