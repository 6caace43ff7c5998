//! Error responses: a status, a line of text, and the header fields that each status requires.

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::admission::error::AdmissionError;
use crate::admission::token::TokenScope;
use crate::resolve::error::ResolveError;
use crate::respond::body::Body;

/// Why a request gets an error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request, its token or its rate.
    Admission(AdmissionError),
    /// The path.
    Resolve(ResolveError),
    /// An invalid parameter of the partner API.
    Parameter(&'static str),
}

impl From<AdmissionError> for Refusal {
    fn from(error: AdmissionError) -> Self {
        Self::Admission(error)
    }
}

impl From<ResolveError> for Refusal {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(error)
    }
}

impl Refusal {
    /// Returns the status, and the text of the body.
    fn status_and_text(&self) -> (StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::Admission(error) => match error {
                AdmissionError::Malformed => (S::BAD_REQUEST, "bad request"),
                AdmissionError::Body => {
                    (S::PAYLOAD_TOO_LARGE, "requests with a body are not accepted")
                }
                AdmissionError::Method => (S::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed"),
                AdmissionError::LongTarget => (S::URI_TOO_LONG, "the URL is too long"),
                AdmissionError::ManyFields => {
                    (S::REQUEST_HEADER_FIELDS_TOO_LARGE, "too many header fields")
                }
                AdmissionError::TokenRequired => (S::UNAUTHORIZED, "a token is required"),
                AdmissionError::BadToken => (S::UNAUTHORIZED, "the token is not valid"),
                AdmissionError::MissingScope(_) => {
                    (S::FORBIDDEN, "the token lacks the required scope")
                }
                AdmissionError::TooManyRequests(_) => {
                    (S::TOO_MANY_REQUESTS, "too many requests, see Retry-After")
                }
            },
            Self::Resolve(error) => match error {
                ResolveError::Malformed => (S::BAD_REQUEST, "bad request"),
                ResolveError::Missing => (S::NOT_FOUND, "not found"),
                ResolveError::Publishing => {
                    (S::SERVICE_UNAVAILABLE, "a publication is in progress, see Retry-After")
                }
                ResolveError::Overloaded => {
                    (S::SERVICE_UNAVAILABLE, "the server is overloaded, see Retry-After")
                }
                ResolveError::Internal => (S::INTERNAL_SERVER_ERROR, "the file could not be read"),
            },
            Self::Parameter(text) => (S::BAD_REQUEST, text),
        }
    }

    /// Returns the response in plain text.
    pub(crate) fn answer(&self) -> Response<Body> {
        let (_, text) = self.status_and_text();
        self.with("text/plain; charset=utf-8", format!("{text}\n"))
    }

    /// Returns the response in JSON.
    pub(crate) fn answer_json(&self) -> Response<Body> {
        let (status, text) = self.status_and_text();
        let text = serde_json::json!({ "error": text, "status": status.as_u16() });
        self.with("application/json", format!("{text}\n"))
    }

    fn with(&self, media_type: &'static str, text: String) -> Response<Body> {
        let length = text.len();
        let mut response = Response::new(Body::whole(Bytes::from(text)));
        (*response.status_mut(), _) = self.status_and_text();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let is_missing = *self == Self::Resolve(ResolveError::Missing);
        let cache = if is_missing { "no-cache" } else { "no-store" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        match self {
            Self::Admission(error) => put_admission_fields(headers, error),
            Self::Resolve(error) => put_resolve_fields(headers, *error),
            Self::Parameter(_) => {}
        }
        response
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

fn put_admission_fields(headers: &mut HeaderMap, error: &AdmissionError) {
    match error {
        AdmissionError::Method => {
            put(headers, ALLOW, "GET, HEAD");
            // The connection is closed, because the bytes after the head are not read.
            put(headers, CONNECTION, "close");
        }
        AdmissionError::TokenRequired => {
            put(headers, WWW_AUTHENTICATE, "Bearer realm=\"rutter\"");
        }
        AdmissionError::BadToken => {
            let challenge = "Bearer realm=\"rutter\", error=\"invalid_token\"";
            put(headers, WWW_AUTHENTICATE, challenge);
        }
        AdmissionError::MissingScope(TokenScope::Entries) => {
            put(headers, WWW_AUTHENTICATE, ENTRIES);
        }
        AdmissionError::MissingScope(TokenScope::Content) => {
            put(headers, WWW_AUTHENTICATE, CONTENT);
        }
        AdmissionError::Malformed
        | AdmissionError::Body
        | AdmissionError::LongTarget
        | AdmissionError::ManyFields => put(headers, CONNECTION, "close"),
        AdmissionError::TooManyRequests(wait) => {
            let seconds = wait.as_secs() + u64::from(0 < wait.subsec_nanos());
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
    }
}

fn put_resolve_fields(headers: &mut HeaderMap, error: ResolveError) {
    match error {
        ResolveError::Missing => put(headers, VARY, "accept"),
        ResolveError::Publishing | ResolveError::Overloaded => put(headers, RETRY_AFTER, "1"),
        ResolveError::Malformed => put(headers, CONNECTION, "close"),
        ResolveError::Internal => {}
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
