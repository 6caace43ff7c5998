//! Error responses: a status, a line of text, and the header fields that each status requires.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};

use crate::admission::token::Scope;
use crate::respond::body::Body;

/// Why a request gets an error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request is not valid HTTP, or is ambiguous.
    Bad,
    /// The request has a body.
    Body,
    Method,
    /// The target is too long.
    Target,
    /// There are too many header fields.
    Fields,
    Missing,
    /// A token is required.
    Token,
    /// The token is unknown or expired.
    BadToken,
    /// The token lacks this scope.
    Scope(Scope),
    /// Too many requests; the client must wait this long.
    Often(Duration),
    /// A publication is in progress.
    Busy,
    /// The system has no more file descriptors or memory.
    Strained,
    /// An internal error.
    Internal,
    /// An invalid parameter of the partner API.
    Parameter(&'static str),
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Bad | Self::Parameter(_) => StatusCode::BAD_REQUEST,
            Self::Body => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Target => StatusCode::URI_TOO_LONG,
            Self::Fields => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Missing => StatusCode::NOT_FOUND,
            Self::Token | Self::BadToken => StatusCode::UNAUTHORIZED,
            Self::Scope(_) => StatusCode::FORBIDDEN,
            Self::Often(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Strained => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Self::Bad => "bad request",
            Self::Body => "requests with a body are not accepted",
            Self::Method => "only GET and HEAD are allowed",
            Self::Target => "the URL is too long",
            Self::Fields => "too many header fields",
            Self::Missing => "not found",
            Self::Token => "a token is required",
            Self::BadToken => "the token is not valid",
            Self::Scope(_) => "the token lacks the required scope",
            Self::Often(_) => "too many requests, see Retry-After",
            Self::Busy => "a publication is in progress, see Retry-After",
            Self::Strained => "the server is overloaded, see Retry-After",
            Self::Internal => "the file could not be read",
            Self::Parameter(text) => text,
        }
    }

    /// Returns the response in plain text.
    pub(crate) fn answer(&self) -> Response<Body> {
        self.with("text/plain; charset=utf-8", format!("{}\n", self.text()))
    }

    /// Returns the response in JSON.
    pub(crate) fn answer_json(&self) -> Response<Body> {
        let text = serde_json::json!({ "error": self.text(), "status": self.status().as_u16() });
        self.with("application/json", format!("{text}\n"))
    }

    fn with(&self, media_type: &'static str, text: String) -> Response<Body> {
        let length = text.len();
        let mut response = Response::new(Body::whole(Bytes::from(text)));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let cache = if *self == Self::Missing { "no-cache" } else { "no-store" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        let mut put = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        match self {
            Self::Method => {
                put(ALLOW, "GET, HEAD");
                // The connection is closed, because the bytes after the head are not read.
                put(CONNECTION, "close");
            }
            Self::Missing => put(VARY, "accept"),
            Self::Token => put(WWW_AUTHENTICATE, "Bearer realm=\"rutter\""),
            Self::BadToken => {
                put(WWW_AUTHENTICATE, "Bearer realm=\"rutter\", error=\"invalid_token\"");
            }
            Self::Scope(Scope::Entries) => put(WWW_AUTHENTICATE, ENTRIES),
            Self::Scope(Scope::Content) => put(WWW_AUTHENTICATE, CONTENT),
            Self::Busy | Self::Strained => put(RETRY_AFTER, "1"),
            Self::Bad | Self::Body | Self::Target | Self::Fields => put(CONNECTION, "close"),
            Self::Often(wait) => {
                let seconds = wait.as_secs() + u64::from(0 < wait.subsec_nanos());
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
            }
            Self::Internal | Self::Parameter(_) => {}
        }
        response
    }
}

const ENTRIES: &str = "Bearer realm=\"rutter\", error=\"insufficient_scope\", scope=\"entries\"";
const CONTENT: &str = "Bearer realm=\"rutter\", error=\"insufficient_scope\", scope=\"content\"";

/// Returns the redirect from a directory without trailing slash to its path with one.
pub(crate) fn moved(to: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    let headers = response.headers_mut();
    if let Ok(to) = HeaderValue::from_str(to) {
        headers.insert(LOCATION, to);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=0, must-revalidate"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    response
}
