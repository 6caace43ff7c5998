//! Requests and responses of the client.

use std::path::PathBuf;

use rutter_page::{Digest, Timestamp};
use url::Url;

use crate::decode::{self, DecodeError};
use crate::exchange::ResponseFields;
use crate::header::Validators;
use crate::resource_kind::ResourceKind;

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Requests the body.
    #[default]
    Get,
    /// Requests only status, header fields and validators.
    Head,
}

/// A request for one file.
#[derive(Debug, Clone)]
pub struct Request {
    /// The URL.
    pub url: Url,
    /// The kind of file, which decides the limits.
    pub kind: ResourceKind,
    /// Whether the body is requested.
    pub method: Method,
    /// Validators of a known version: the body is sent only if the file has changed.
    pub validators: Validators,
    /// The site that the file belongs to: hosts that do not belong to the site are refused, also in
    /// redirects (D13). `None` allows any host.
    pub site: Option<Url>,
    /// The file that the body is written to; `None` for memory.
    pub spool: Option<PathBuf>,
    /// Largest body on the wire, if less than the limit of the kind.
    pub max_bytes: Option<u64>,
}

impl Request {
    /// Creates an unconditional request for a whole file, into memory.
    pub fn new(url: Url, kind: ResourceKind) -> Self {
        let validators = Validators::default();
        let method = Method::Get;
        Self { url, kind, method, validators, site: None, spool: None, max_bytes: None }
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        let usual = self.kind.size_limits().wire;
        self.max_bytes.map_or(usual, |max_bytes| max_bytes.min(usual))
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedResponse {
    /// The final status, after redirects and pauses.
    pub status: u16,
    /// The URL that sent the response.
    pub url: Url,
    /// The redirects before it, in order.
    pub hops: Vec<RedirectHop>,
    /// The header fields.
    pub fields: ResponseFields,
    /// Validators for the next request; empty unless the status is 2xx or 304.
    pub validators: Validators,
    /// The body.
    pub body: ResponseBody,
    /// Bytes of bodies received, including those of failed attempts.
    pub wire_bytes: u64,
    /// Digest of the body as received.
    pub digest: Option<Digest>,
    /// Whether the end of the body was marked by a length or a last chunk. A body that ends with
    /// its connection may have been cut off unnoticed.
    pub is_length_known: bool,
    /// The time of the response.
    pub at: Timestamp,
}

/// One redirect of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectHop {
    /// The URL that redirected.
    pub url: Url,
    /// The status: 301, 302, 303, 307 or 308.
    pub status: u16,
}

/// The body of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseBody {
    /// No body, or the body of a status other than 2xx.
    Absent,
    /// The bytes as received.
    Memory(Vec<u8>),
    /// The bytes as received, in a file that is flushed.
    Spooled {
        /// Path of the file.
        path: PathBuf,
        /// Length in bytes.
        length: u64,
    },
}

impl FetchedResponse {
    /// Returns whether the response has new content (status 2xx).
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Returns whether the known version is still current (status 304).
    pub fn is_not_modified(&self) -> bool {
        self.status == 304
    }

    /// Returns whether the file has moved to [`FetchedResponse::url`] permanently: all redirects of
    /// the chain are permanent (301, 308). One temporary redirect (302, 303, 307) makes the whole
    /// chain temporary.
    pub fn is_permanent_redirect(&self) -> bool {
        !self.hops.is_empty() && self.hops.iter().all(|hop| matches!(hop.status, 301 | 308))
    }

    /// Returns the decompressed body; empty if there is none.
    pub fn decoded_body(&self, kind: ResourceKind) -> Result<Vec<u8>, DecodeError> {
        self.decoded_body_within(kind, u64::MAX)
    }

    /// Returns the decompressed body, with a smaller size limit than usual.
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
