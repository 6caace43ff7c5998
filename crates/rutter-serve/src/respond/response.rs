//! Makes a response from a representation: evaluates the conditions, and opens the body.

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use std::ops::Range;
use std::sync::Arc;

use crate::clock::now;
use crate::resolve::resolver::{OpenFile, Resolver};
use crate::respond::body::Body;
use crate::respond::body::buffer_pool::BufferPool;
use crate::respond::body::file_part::FilePart;
use crate::respond::condition::{self, ConditionOutcome, CurrentVersion};
use crate::respond::representation::Representation;

/// Where the bytes of a body come from.
pub(crate) struct BodySource<'s> {
    /// The files that were opened for this request.
    pub(crate) open_files: &'s [OpenFile],
    pub(crate) resolver: &'s Resolver,
    pub(crate) pool: &'s Arc<BufferPool>,
    /// Maximum speed in bytes per second.
    pub(crate) bandwidth: Option<u64>,
}

impl BodySource<'_> {
    /// Returns a range of a representation; `None` if its file has been replaced.
    fn body(&self, ready: &Representation, range: Range<u64>) -> Option<Body> {
        if let Some(bytes) = &ready.bytes {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            return Some(Body::whole(bytes.slice(range)));
        }
        let open = self.open_files.iter().find(|open| open.identity == ready.identity);
        let file = match open {
            Some(open) => Arc::clone(&open.file),
            None => self.resolver.reopen(&ready.name, ready.identity)?,
        };
        let range = (range.start, range.end);
        Some(Body::file(FilePart::new(file, ready.identity, range, self.pool, self.bandwidth)))
    }
}

/// Makes the response from a representation; `None` if its file has been replaced since the
/// representation was made.
pub(crate) fn respond(
    ready: &Representation,
    source: &BodySource<'_>,
    parts: &Parts,
) -> Option<Response<Body>> {
    let headers = &parts.headers;
    let outcome = if condition::is_plain(headers) {
        ConditionOutcome::Whole
    } else {
        let current = CurrentVersion {
            tag: ready.tag.as_deref(),
            modified: ready.modified,
            length: ready.length,
        };
        condition::evaluate(headers, &parts.method, current, now())
    };
    let response = match outcome {
        ConditionOutcome::Whole => {
            let body = if parts.method == Method::HEAD {
                Body::empty()
            } else {
                source.body(ready, 0..ready.length)?
            };
            with(StatusCode::OK, ready.headers.clone(), body)
        }
        ConditionOutcome::Part(part) => {
            let mut headers = ready.headers.clone();
            let length = part.end - part.start;
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
            let range = format!("bytes {}-{}/{}", part.start, part.end - 1, ready.length);
            headers.insert(CONTENT_RANGE, HeaderValue::from_str(&range).ok()?);
            let body = source.body(ready, part)?;
            with(StatusCode::PARTIAL_CONTENT, headers, body)
        }
        ConditionOutcome::Current => {
            with(StatusCode::NOT_MODIFIED, ready.current.clone(), Body::empty())
        }
        ConditionOutcome::Failed => {
            return Some(with(StatusCode::PRECONDITION_FAILED, unkept(ready), Body::empty()));
        }
        ConditionOutcome::NoRange => {
            let mut headers = unkept(ready);
            let range = format!("bytes */{}", ready.length);
            headers.insert(CONTENT_RANGE, HeaderValue::from_str(&range).ok()?);
            return Some(with(StatusCode::RANGE_NOT_SATISFIABLE, headers, Body::empty()));
        }
    };
    Some(shortened(response, ready))
}

/// Returns the header fields of a response with status 412 or 416. They must not contain the cache
/// lifetime of the file, because shared caches could store the response (RFC 9111, section 3).
fn unkept(ready: &Representation) -> http::HeaderMap {
    let mut headers = ready.current.clone();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}

/// Limits the cache lifetime of a collection to the time until it expires.
fn shortened(mut response: Response<Body>, ready: &Representation) -> Response<Body> {
    if let Some(ending) = &ready.ending
        && let Ok(cache) = HeaderValue::from_str(&ending.cache_control(now()))
    {
        response.headers_mut().insert(CACHE_CONTROL, cache);
    }
    response
}

fn with(status: StatusCode, headers: http::HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
