//! Hosts that answer everything with a page: the soft 404 (D74).
//!
//! One path that nobody can have is asked for; a host that has it anyway is
//! not believed when it says that other files exist. What was learned is a
//! plain value that the caller keeps.
//!
//! Such pages are rarely the same twice: they hold a nonce, the date, or the
//! address that was asked for. A page is therefore known by its canonical link
//! and its title, and only where it has neither by its bytes.

use rutter_page::Digest;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::client::Client;
use crate::error::FetchError;
use crate::request::{Fetched, Request};
use crate::signs::Signs;
use crate::what::What;

/// How much of the page for lost visitors is kept.
const KEPT: usize = 64 << 10;

/// What a host says to an address that nobody has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The status of its answer.
    pub status: u16,
    /// The beginning of the page it sent, decoded; empty where it sent none.
    pub page: Vec<u8>,
    /// The path that was asked for, which the page may repeat.
    #[serde(default)]
    pub path: String,
}

impl Probe {
    /// Tells whether statuses of this host mean nothing.
    pub fn is_soft(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Tells whether this body is the page for lost visitors: neither its
    /// canonical link nor its title is another (D74).
    pub fn is_lost_page(&self, body: &[u8]) -> bool {
        if !self.is_soft() {
            return false;
        }
        let start = body.get(..KEPT).unwrap_or(body);
        if Digest::of(start) == Digest::of(&self.page) {
            return true;
        }
        let (Some(lost), Some(found)) = (Signs::of(&self.page), Signs::of(start)) else {
            return false;
        };
        lost.stand_for(&found, &self.path)
    }

    /// Tells whether this body is that page to the byte, as far as it is kept.
    pub fn is_same_page(&self, body: &[u8]) -> bool {
        self.is_soft() && body.get(..KEPT).unwrap_or(body) == self.page
    }

    /// The title of that page.
    pub fn title(&self) -> Option<String> {
        Signs::of(&self.page)?.title
    }

    /// Tells whether an answer can be taken for what was asked for: on a soft
    /// host, JSON must say or show that it is JSON, and nothing may be the
    /// page for lost visitors.
    pub fn believes(&self, answer: &Fetched, text: &[u8]) -> bool {
        if !self.is_soft() {
            return true;
        }
        let media = answer.fields.media_type();
        let is_html = media == "text/html" || media == "application/xhtml+xml";
        !is_html && !self.is_lost_page(text)
    }
}

impl Client {
    /// Asks a host for an address that nobody has.
    pub async fn probe(&self, site: &Url) -> Result<Probe, FetchError> {
        let path = format!("/rutter-{:016x}", self.random());
        let mut url = site.clone();
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        let request = Request { site: Some(site.clone()), ..Request::new(url, What::Page) };
        let answer = self.fetch(&request).await?;
        let mut page = answer.text(What::Page).unwrap_or_default();
        page.truncate(KEPT);
        // A redirect to the home page is no page of its own.
        Ok(Probe { status: answer.status, page, path })
    }
}
