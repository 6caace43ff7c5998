//! Types of the client's requests and responses.

use std::path::PathBuf;

use rutter_page::{Digest, Timestamp};
use url::Url;

use crate::decode::{self, DecodeError};
use crate::exchange::ResponseFields;
use crate::header::Validators;
use crate::resource_kind::ResourceKind;

/// The HTTP method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestMethod {
    /// GET: the response has a body.
    #[default]
    Get,
    /// HEAD: the response has only a status and header fields.
    Head,
}

/// A request for one file.
#[derive(Debug, Clone)]
pub struct Request {
    /// URL of the file.
    pub url: Url,
    /// Kind of the file, which decides the size limits and the timeouts.
    pub kind: ResourceKind,
    /// HTTP method: GET, or HEAD for a request without the body.
    pub method: RequestMethod,
    /// Validators of a known version of the file: the server sends the body only if the file has
    /// changed.
    pub validators: Validators,
    /// The site that the file belongs to. Requests to hosts that do not belong to the site are
    /// refused, also after redirects (D13). `None` allows any host.
    pub site: Option<Url>,
    /// Path of the spool file that the body is written to; `None` keeps the body in memory.
    pub spool: Option<PathBuf>,
    /// Maximum size of the body on the wire, in bytes. It can only lower the limit of `kind`.
    pub max_bytes: Option<u64>,
}

impl Request {
    /// Creates a request for a whole file, without conditions; the body is kept in memory.
    pub fn new(url: Url, kind: ResourceKind) -> Self {
        let validators = Validators::default();
        let method = RequestMethod::Get;
        Self { url, kind, method, validators, site: None, spool: None, max_bytes: None }
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        let usual = self.kind.size_limits().wire;
        self.max_bytes.map_or(usual, |max_bytes| max_bytes.min(usual))
    }
}

/// The final response to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedResponse {
    /// Status code after redirects and pauses.
    pub status: u16,
    /// The URL that sent the response.
    pub url: Url,
    /// The redirects that led to the URL, in order.
    pub hops: Vec<RedirectHop>,
    /// Header fields of the response.
    pub fields: ResponseFields,
    /// Validators for the next request; empty unless the status is 2xx or 304.
    pub validators: Validators,
    /// Body of the response.
    pub body: ResponseBody,
    /// Number of body bytes that were received, including those of failed attempts.
    pub wire_bytes: u64,
    /// Digest of the body as received.
    pub digest: Option<Digest>,
    /// Whether a length or a last chunk marked the end of the body. A body that ends when the
    /// server closes the connection may be incomplete.
    pub is_length_known: bool,
    /// When the response was received.
    pub at: Timestamp,
}

/// One redirect of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectHop {
    /// The URL that redirected.
    pub url: Url,
    /// Status code of the redirect: 301, 302, 303, 307 or 308.
    pub status: u16,
}

/// The body of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseBody {
    /// The response has no body, or its status is not 2xx.
    Absent,
    /// The bytes as received, in memory.
    Memory(Vec<u8>),
    /// The bytes as received, in a file that was flushed to disk.
    Spooled {
        /// Path of the spool file.
        path: PathBuf,
        /// Length of the file, in bytes.
        length: u64,
    },
}

impl FetchedResponse {
    /// Returns whether the response has new content (status 2xx).
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Returns whether the file has not changed since the known version (status 304).
    pub fn is_not_modified(&self) -> bool {
        self.status == 304
    }

    /// Returns whether the file has moved to [`FetchedResponse::url`] permanently: all redirects of
    /// the chain are permanent (301, 308). One temporary redirect (302, 303, 307) makes the whole
    /// chain temporary.
    pub fn is_permanent_redirect(&self) -> bool {
        !self.hops.is_empty() && self.hops.iter().all(|hop| matches!(hop.status, 301 | 308))
    }

    /// Returns the decompressed body; empty if the response has no body.
    pub fn decoded_body(&self, kind: ResourceKind) -> Result<Vec<u8>, DecodeError> {
        self.decoded_body_within(kind, u64::MAX)
    }

    /// Returns the decompressed body, which may have at most `max_bytes` bytes and not more than
    /// the limit of its kind.
    pub fn decoded_body_within(
        &self,
        kind: ResourceKind,
        max_bytes: u64,
    ) -> Result<Vec<u8>, DecodeError> {
        let ResponseBody::Memory(bytes) = &self.body else { return Ok(Vec::new()) };
        let coding = self.fields.content_encoding.as_deref();
        decode::decode_all(bytes, coding, kind.size_limits().decoded.min(max_bytes))
    }
}
