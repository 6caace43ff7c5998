//! The partner API, `GET /arc-api/v1/pages` (D57): full entries of restricted pages, for clients
//! with a token.
//!
//! The private store is a file of lines sorted by URL, written by the build outside of the public
//! directory. A binary search finds the first line of a response, and further lines are read when
//! the client has received the lines before them: a response needs memory for one chunk and one
//! line, and no thread waits for the client.
//!
//! - The API is below the path of the site's base URL.
//! - `?url=` returns one entry, `?after=` the entries after a URL, `?limit=` at most this many.
//!   `next` and a `Link` field point to the rest.
//! - Scope `entries` returns entries, scope `content` adds their `scp_page`.
//! - A line longer than [`Limits::line`](crate::Limits) is skipped.
//! - Responses have `Cache-Control: private, no-cache` and an `ETag`: a client may store a response
//!   and revalidate it; shared caches may not store it.
//!
//! Rejects: requests without a token, unknown parameters, and responses that would mix two versions
//! of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, LAST_MODIFIED, LINK, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use rutter_page::LineDigest;
use tokio::sync::Semaphore;

use crate::admission::client::RequestClient;
use crate::admission::token::TokenScope;
use crate::clock::now;
use crate::resolve::catalog::Catalog;
use crate::resolve::error::ResolveError;
use crate::resolve::root_dir::{FileIdentity, is_absent};
use crate::respond::body::Body;
use crate::respond::condition::{self, ConditionOutcome, CurrentVersion};
use crate::respond::date;
use crate::respond::refusal::Refusal;
use crate::respond::representation::PRIVATE;
use crate::settings::Limits;

mod entry_stream;
mod query;
mod store;

use entry_stream::{EntryContent, EntryStream};
use query::{ApiQuery, escaped, read_query};
use store::{PrivateStore, SearchEdge};

/// Path prefix of the partner API.
const API: &str = "/arc-api/";

/// Path of the API.
pub(crate) const PATH: &str = "/arc-api/v1/pages";

/// Maximum number of responses that are produced at once: fewer than the blocking threads of a
/// worker.
const MAX_CONCURRENT: usize = 4;

/// Returns the path of a request for the partner API, without the path of the site's base URL;
/// `None` for other paths.
pub(crate) fn path_below(path: &str, catalog: impl FnOnce() -> Arc<Catalog>) -> Option<&str> {
    // Nearly all paths do not contain the prefix, so the function returns here.
    memchr::memmem::find(path.as_bytes(), API.as_bytes())?;
    let below = if path.starts_with(API) { path } else { path.strip_prefix(catalog().mount())? };
    below.starts_with(API).then_some(below)
}

/// The partner API of a site; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct PartnerApi {
    /// The private store; `None` without a state directory.
    store: Option<PathBuf>,
    /// Maximum number of entries in a response.
    max_entries: usize,
    /// Maximum length of a line of the store.
    max_line: usize,
    /// Limits the threads of the API, so that other threads remain for pages.
    turns: Arc<Semaphore>,
}

impl PartnerApi {
    pub(crate) fn new(state: Option<&Path>, limits: &Limits) -> Self {
        Self {
            store: state.map(|state| state.join("private/pages.jsonl")),
            max_entries: limits.entries,
            max_line: limits.line,
            turns: Arc::new(Semaphore::new(MAX_CONCURRENT)),
        }
    }

    /// Handles a request below `/arc-api/`.
    pub(crate) async fn answer(
        &self,
        catalog: Arc<Catalog>,
        parts: &Parts,
        client: &RequestClient,
    ) -> Response<Body> {
        match self.try_answer(catalog, parts, client).await {
            Ok(response) => response,
            Err(refusal) => refusal.answer_json(),
        }
    }

    async fn try_answer(
        &self,
        catalog: Arc<Catalog>,
        parts: &Parts,
        client: &RequestClient,
    ) -> Result<Response<Body>, Refusal> {
        if path_below(parts.uri.path(), || Arc::clone(&catalog)) != Some(PATH) {
            return Err(ResolveError::Missing.into());
        }
        let grant = client.require(TokenScope::Entries)?;
        let wanted = read_query(parts.uri.query().unwrap_or_default(), self.max_entries)?;
        let content = if grant.allows(TokenScope::Content) {
            EntryContent::With
        } else {
            EntryContent::Without
        };
        let (api, parts) = (self.clone(), parts.clone());
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let work = move || {
            let response = prepare(&api, &catalog, &parts, &wanted, content);
            drop(turn);
            response
        };
        let prepared = tokio::task::spawn_blocking(work).await;
        prepared.unwrap_or(Err(ResolveError::Internal.into()))
    }
}

/// Returns the `ETag` of a response. The same file, query and scope give the same bytes.
fn entity_tag(
    store: &FileIdentity,
    wanted: &ApiQuery,
    content: EntryContent,
    base: &str,
) -> String {
    let wanted = match wanted {
        ApiQuery::One(url) => format!("one {url}"),
        ApiQuery::Some { after, limit } => {
            format!("some {limit} {}", after.as_deref().unwrap_or_default())
        }
    };
    let content = match content {
        EntryContent::With => "content",
        EntryContent::Without => "entries",
    };
    let FileIdentity { device, inode, size, modified, changed } = store;
    let facts =
        format!("{device} {inode} {size} {modified} {changed}\n{wanted}\n{content}\n{base}");
    format!("\"api-{}\"", LineDigest::of(facts.as_bytes()))
}

/// Finds the requested entries and starts the response.
fn prepare(
    api: &PartnerApi,
    catalog: &Catalog,
    parts: &Parts,
    wanted: &ApiQuery,
    content: EntryContent,
) -> Result<Response<Body>, Refusal> {
    let path = api.store.as_deref().ok_or(ResolveError::Missing)?;
    let opened = PrivateStore::open(path, api.max_line);
    let mut store = opened.map_err(|error| {
        if is_absent(&error) { ResolveError::Missing } else { ResolveError::Overloaded }
    })?;
    let failed = |_| ResolveError::Internal;
    let (from, limit) = match wanted {
        ApiQuery::One(url) => (store.find(url, SearchEdge::At).map_err(failed)?, 1),
        ApiQuery::Some { after: Some(url), limit } => {
            (store.find(url, SearchEdge::Behind).map_err(failed)?, *limit)
        }
        ApiQuery::Some { after: None, limit } => (0, *limit),
    };
    let span = store.span(from, limit).map_err(failed)?;
    if let ApiQuery::One(url) = wanted
        && span.last.as_ref() != Some(url)
    {
        return Err(ResolveError::Missing.into());
    }
    let next = span.last.as_ref().filter(|_| span.has_more && !matches!(wanted, ApiQuery::One(_)));
    let next =
        next.map(|last| format!("{}{PATH}?after={}&limit={limit}", catalog.mount(), escaped(last)));
    let modified = store.identity.modified_seconds();
    let tag = entity_tag(&store.identity, wanted, content, &catalog.base);
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(ETAG, &tag);
    put(LAST_MODIFIED, &date::write(modified));
    put(CACHE_CONTROL, PRIVATE);
    put(VARY, "authorization");
    if let Some(next) = &next {
        put(LINK, &format!("<{next}>; rel=\"next\""));
    }
    // The length is unknown, so ranges are not supported.
    let known = CurrentVersion { tag: Some(&tag), modified, length: u64::MAX };
    match condition::evaluate(&parts.headers, &parts.method, known, now()) {
        ConditionOutcome::Current => {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        ConditionOutcome::Failed => {
            put(CACHE_CONTROL, "no-store");
            *response.status_mut() = StatusCode::PRECONDITION_FAILED;
            return Ok(response);
        }
        ConditionOutcome::Whole | ConditionOutcome::Part(_) | ConditionOutcome::NoRange => {}
    }
    put(CONTENT_TYPE, "application/json");
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    if parts.method == Method::HEAD {
        return Ok(response);
    }
    let sending = EntryStream::start(store, &span, (&catalog.base, next.as_deref()), content);
    let sending = sending.map_err(failed)?;
    *response.body_mut() = Body::made(Box::new(sending), &api.turns);
    Ok(response)
}
