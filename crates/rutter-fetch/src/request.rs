//! What is asked for, and what comes back.

use std::path::PathBuf;

use rutter_page::{Digest, Timestamp};
use url::Url;

use crate::decode::{self, DecodeError};
use crate::exchange::Fields;
use crate::header::Validators;
use crate::what::What;

/// How something is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// With its body.
    #[default]
    Get,
    /// Without its body: the status, the fields and the validators.
    Head,
}

/// One thing to fetch.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where it is.
    pub url: Url,
    /// What it is.
    pub what: What,
    /// Whether the body is wanted, or only what the server says about it.
    pub method: Method,
    /// What is known of it from before; asked for only if it changed.
    pub known: Validators,
    /// The site it belongs to; hosts that do not are refused, here and at
    /// every hop (D13). `None` lets it be anywhere.
    pub site: Option<Url>,
    /// The file the body goes to; `None` for memory.
    pub spool: Option<PathBuf>,
    /// Largest body on the wire, where it should be less than usual.
    pub most: Option<u64>,
}

impl Request {
    /// Asks for something whole, into memory.
    pub fn new(url: Url, what: What) -> Self {
        let known = Validators::default();
        let method = Method::Get;
        Self { url, what, method, known, site: None, spool: None, most: None }
    }

    pub(crate) fn most(&self) -> u64 {
        let usual = self.what.sizes().wire;
        self.most.map_or(usual, |most| most.min(usual))
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// Its status; redirects and pauses are behind us.
    pub status: u16,
    /// Where it came from in the end.
    pub url: Url,
    /// The hops before, in order.
    pub hops: Vec<Hop>,
    /// What it says about itself.
    pub fields: Fields,
    /// To ask again with; empty where the status is not 2xx or 304.
    pub validators: Validators,
    /// What came with it.
    pub body: Body,
    /// Bytes of bodies that came over the wire, those of broken tries too.
    pub wire_bytes: u64,
    /// Hash of the body as it came over the wire.
    pub digest: Option<Digest>,
    /// Whether the end was promised and came, by a length or by the last of
    /// its chunks. A body that ends with its connection may have been cut
    /// without a sign.
    pub is_length_known: bool,
    /// The time of day.
    pub at: Timestamp,
}

/// One address that led to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Where it was.
    pub url: Url,
    /// How it said so: 301, 302, 303, 307 or 308.
    pub status: u16,
}

/// What came with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing, or nothing of use: a status other than 2xx.
    Nothing,
    /// The bytes as they came over the wire.
    Memory(Vec<u8>),
    /// The same, in a file that is flushed.
    Spooled {
        /// Where.
        path: PathBuf,
        /// How many bytes.
        length: u64,
    },
}

impl Fetched {
    /// Tells whether there is something new.
    pub fn is_new(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Tells whether what is known is still right.
    pub fn is_unchanged(&self) -> bool {
        self.status == 304
    }

    /// Tells whether what was asked for lies at [`Fetched::url`] from now on:
    /// every redirect on the way says so (301, 308). One that holds only for
    /// today (302, 303, 307) makes the whole way so.
    pub fn is_moved_for_good(&self) -> bool {
        !self.hops.is_empty() && self.hops.iter().all(|hop| matches!(hop.status, 301 | 308))
    }

    /// The body in memory with its codings undone; empty where there is none.
    pub fn text(&self, what: What) -> Result<Vec<u8>, DecodeError> {
        self.text_within(what, u64::MAX)
    }

    /// The same, where it should be less than usual.
    pub fn text_within(&self, what: What, most: u64) -> Result<Vec<u8>, DecodeError> {
        let Body::Memory(bytes) = &self.body else { return Ok(Vec::new()) };
        let coding = self.fields.content_encoding.as_deref();
        decode::whole(bytes, coding, what.sizes().decoded.min(most))
    }
}
