//! Handles a request: makes the response from the head of the request.
//!
//! If the response cache holds the path, the response is made at once. Otherwise, a blocking thread
//! resolves the path.

use std::fs::File;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use crate::admission::token::Scope;
use crate::monitor::report::{ConnectionActivity, RequestReport};
use crate::partner;
use crate::resolve::lookup::{PathTarget, WorkLimit};
use crate::resolve::path::{self, RequestPath};
use crate::resolve::root_dir::{Identity, LinkPolicy, OpenedEntry};
use crate::respond::accept::{wants_gzip, wants_markdown};
use crate::respond::body::{Body, FilePart};
use crate::respond::condition::{self, ConditionOutcome, CurrentVersion};
use crate::respond::refusal::{Refusal, moved};
use crate::respond::representation::Representation;
use crate::respond::response_cache::ResolvedPath;
use crate::site::{RequestClient, Site, is_answerable, now};

/// Path prefix of the partner API.
const API: &str = "/arc-api/";

/// Maximum number of attempts for a request whose files are replaced while they are read.
const MAX_ATTEMPTS: usize = 8;

/// A future that completes with a response and never fails.
pub struct ResponseFuture(ResponseState);

enum ResponseState {
    Now(Option<Response<Body>>),
    Soon(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
}

impl std::fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

impl ResponseFuture {
    fn now(response: Response<Body>) -> Self {
        Self(ResponseState::Now(Some(response)))
    }

    fn soon(future: impl Future<Output = Response<Body>> + Send + 'static) -> Self {
        Self(ResponseState::Soon(Box::pin(future)))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, std::convert::Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            ResponseState::Now(response) => {
                Poll::Ready(Ok(response.take().expect("a future is not polled after completion")))
            }
            ResponseState::Soon(future) => future.as_mut().poll(cx).map(Ok),
        }
    }
}

impl Site {
    /// Handles a request from `peer`. Must be called within a tokio runtime.
    pub(crate) fn answer(
        &self,
        parts: Parts,
        peer: Option<IpAddr>,
        activity: Option<&Arc<ConnectionActivity>>,
    ) -> ResponseFuture {
        let (client, decided) = self.decide(&parts, peer);
        let flight = activity.map(ConnectionActivity::begin);
        let report =
            RequestReport::new(&self.0.metrics, &self.0.listeners, &parts, client.address, flight);
        let is_head = parts.method == Method::HEAD;
        if let Err(refusal) = decided {
            return ResponseFuture::now(finish(refusal.answer(), report, &client, is_head));
        }
        let path = parts.uri.path();
        if self.api_path(path).is_some() {
            let site = self.clone();
            return ResponseFuture::soon(async move {
                let response = partner::answer(&site, &parts, &client).await;
                finish(response, report, &client, is_head)
            });
        }
        if let Some(resolved) = self.cached(path)
            && let Some(response) = self.with_files(&resolved, &[], &parts, &client)
        {
            return ResponseFuture::now(finish(response, report, &client, is_head));
        }
        let site = self.clone();
        ResponseFuture::soon(async move {
            let response = site.look_up(&parts, &client).await;
            finish(response, report, &client, is_head)
        })
    }

    /// Returns the path of a request for the partner API, without the path of the site's base URL;
    /// `None` for other paths.
    pub(crate) fn api_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        // Nearly all paths do not contain the prefix, so the function returns here.
        memchr::memmem::find(path.as_bytes(), API.as_bytes())?;
        let below =
            if path.starts_with(API) { path } else { path.strip_prefix(self.catalog().mount())? };
        below.starts_with(API).then_some(below)
    }

    /// Returns whether the site serves the path of a request. [`Site::layer`] passes other requests
    /// to the inner service.
    pub(crate) async fn has(&self, parts: &Parts) -> bool {
        if is_answerable(parts, &self.0.settings.limits).is_err() {
            return false;
        }
        let path = parts.uri.path();
        if let Some(api) = self.api_path(path) {
            return api == partner::PATH && self.has_tokens();
        }
        let is_known = self.cached(path).is_some();
        is_known || !matches!(self.find_out(path).await, Err(Refusal::Missing | Refusal::Bad))
    }

    /// Resolves a path on a blocking thread.
    async fn find_out(&self, path: &str) -> Result<PathTarget, Refusal> {
        let number = match self.in_thread(path, WorkLimit::Look, ()).await? {
            PathTarget::Unread(number) => number,
            found => return Ok(found),
        };
        // Of several requests for the same large file, one hashes the file, and only a few files
        // are hashed at once. The other requests wait here without a thread. If the client
        // disconnects, hashing continues, so that the next request need not start again.
        let turn = usize::try_from(number).unwrap_or(0) % self.0.turns.len();
        let turn = self.0.turns.get(turn).ok_or(Refusal::Internal)?;
        let turn = Arc::clone(turn).lock_owned().await;
        let permit = Arc::clone(&self.0.hashing).acquire_owned().await;
        self.in_thread(path, WorkLimit::Hash, (turn, permit)).await
    }

    async fn in_thread(
        &self,
        path: &str,
        leave: WorkLimit,
        held: impl Send + 'static,
    ) -> Result<PathTarget, Refusal> {
        let (site, path) = (self.clone(), path.to_owned());
        let work = move || {
            let found = site.resolve(&path, leave);
            drop(held);
            found
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(Refusal::Internal))
    }

    /// Handles a request that the response cache cannot answer.
    async fn look_up(&self, parts: &Parts, client: &RequestClient) -> Response<Body> {
        if self.is_below_closed(parts.uri.path())
            && let Some(refusal) = content_refusal(client)
        {
            return refusal.answer();
        }
        for _ in 0..MAX_ATTEMPTS {
            match self.find_out(parts.uri.path()).await {
                Ok(PathTarget::Files(resolved, open_files)) => {
                    if let Some(response) = self.with_files(&resolved, &open_files, parts, client) {
                        return response;
                    }
                }
                Ok(PathTarget::Moved(to)) => {
                    let query = parts.uri.query().map(|query| format!("?{query}"));
                    return moved(&format!("{to}{}", query.unwrap_or_default()));
                }
                // The file changed while this request waited.
                Ok(PathTarget::Unread(_)) => {}
                Err(Refusal::Missing) => return self.missing().await,
                Err(refusal) => return refusal.answer(),
            }
        }
        Refusal::Busy.answer()
    }

    /// Returns whether every file at this path requires a token, existing or not.
    ///
    /// The check runs before a file is opened, so that neither the status nor the time of the
    /// response reveals which files exist.
    fn is_below_closed(&self, path: &str) -> bool {
        let catalog = self.catalog();
        let asked = catalog.below_mount(path).and_then(|below| path::read(below).ok());
        asked.is_some_and(|RequestPath { name, is_folder }| {
            let name = if is_folder { format!("{name}/index.html") } else { name };
            catalog.is_below_closed(&name)
        })
    }

    /// Returns the 404 response, with the site's `404.html` as its body if that page is public and
    /// small.
    async fn missing(&self) -> Response<Body> {
        let found = match self.cached("/404.html") {
            Some(resolved) => Some(resolved),
            None => match self.in_thread("/404.html", WorkLimit::Look, ()).await {
                Ok(PathTarget::Files(resolved, _)) => Some(resolved),
                _ => None,
            },
        };
        let mut response = Refusal::Missing.answer();
        if let Some(resolved) = found.filter(|resolved| !resolved.is_restricted)
            && let Some(bytes) = &resolved.plain.bytes
        {
            let headers = response.headers_mut();
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            if let Some(media_type) = resolved.plain.headers.get(CONTENT_TYPE) {
                headers.insert(CONTENT_TYPE, media_type.clone());
            }
            *response.body_mut() = Body::whole(bytes.clone());
        }
        response
    }

    /// Makes the response from the representations of a path; `None` if a file has been replaced
    /// since they were made.
    fn with_files(
        &self,
        resolved: &ResolvedPath,
        open_files: &[(Identity, Arc<File>)],
        parts: &Parts,
        client: &RequestClient,
    ) -> Option<Response<Body>> {
        if resolved.is_restricted
            && let Some(refusal) = content_refusal(client)
        {
            return Some(refusal.answer());
        }
        let headers = &parts.headers;
        let ready = match resolved {
            ResolvedPath { gzip: Some(gzip), .. } if wants_gzip(headers) => gzip,
            ResolvedPath { markdown: Some(markdown), .. } if wants_markdown(headers) => markdown,
            ResolvedPath { plain, .. } => plain,
        };
        self.respond_with(ready, open_files, parts)
    }

    fn respond_with(
        &self,
        ready: &Representation,
        open_files: &[(Identity, Arc<File>)],
        parts: &Parts,
    ) -> Option<Response<Body>> {
        let headers = &parts.headers;
        let verdict = if condition::is_plain(headers) {
            ConditionOutcome::Whole
        } else {
            let known = CurrentVersion {
                tag: ready.tag.as_deref(),
                modified: ready.modified,
                length: ready.length,
            };
            condition::evaluate(headers, &parts.method, known, now())
        };
        let is_head = parts.method == Method::HEAD;
        let response = match verdict {
            ConditionOutcome::Whole => {
                let body = if is_head {
                    Body::empty()
                } else {
                    self.body(ready, open_files, (0, ready.length))?
                };
                with(StatusCode::OK, ready.headers.clone(), body)
            }
            ConditionOutcome::Part(part) => {
                let mut headers = ready.headers.clone();
                let length = part.end - part.start;
                headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
                let range = format!("bytes {}-{}/{}", part.start, part.end - 1, ready.length);
                headers.insert(CONTENT_RANGE, HeaderValue::from_str(&range).ok()?);
                let body = self.body(ready, open_files, (part.start, part.end))?;
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

    /// Returns the body; `None` if the file has been replaced.
    fn body(
        &self,
        ready: &Representation,
        open_files: &[(Identity, Arc<File>)],
        (at, end): (u64, u64),
    ) -> Option<Body> {
        if let Some(bytes) = &ready.bytes {
            let range = usize::try_from(at).ok()?..usize::try_from(end).ok()?;
            return Some(Body::whole(bytes.slice(range)));
        }
        let part = |file| {
            let bandwidth = self.0.settings.bandwidth;
            Some(Body::file(FilePart::new(
                file,
                ready.identity,
                (at, end),
                &self.0.pool,
                bandwidth,
            )))
        };
        if let Some((_, file)) = open_files.iter().find(|(known, _)| *known == ready.identity) {
            return part(Arc::clone(file));
        }
        // `lookup.rs` has checked the name, and the comparison of identities makes sure that a
        // symbolic link still leads to the same file.
        match self.0.root.open(&ready.name, LinkPolicy::Inside) {
            Ok(OpenedEntry::File(file, identity)) if identity == ready.identity => {
                part(Arc::new(file))
            }
            _ => None,
        }
    }
}

/// Returns why this client may not read restricted content; `None` if it may.
fn content_refusal(client: &RequestClient) -> Option<Refusal> {
    match &client.grant {
        Some(grant) if grant.allows(Scope::Content) => None,
        Some(_) => Some(Refusal::Scope(Scope::Content)),
        None if client.has_bad_token => Some(Refusal::BadToken),
        None => Some(Refusal::Token),
    }
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

/// Completes a response: attaches the report, which is sent when the body ends, and removes the
/// body for HEAD.
fn finish(
    response: Response<Body>,
    mut report: RequestReport,
    client: &RequestClient,
    is_head: bool,
) -> Response<Body> {
    let name = client.grant.as_ref().map(|grant| grant.name.as_str());
    report.answered(&response, name);
    response.map(|body| if is_head { Body::empty() } else { body }.reported(report))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::SiteSettings;

    /// Number of requests: more than the runtime has blocking threads.
    const MANY: usize = 18;

    fn parts(path: &str) -> Parts {
        let request = http::Request::get(path).header("host", "harbour.example");
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn requests_waiting_for_a_file_hold_no_thread() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("a.txt", "a"), ("0.bin", "cold and large"), ("1.bin", "cold, too, it")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut settings = SiteSettings::new(folder.path());
        settings.limits.small = 10;
        let site = Site::open(settings, Vec::new()).unwrap();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).max_blocking_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            // Other requests hash and have not finished.
            let n_permits = u32::try_from(site.0.hashing.available_permits()).unwrap();
            let held = site.0.hashing.acquire_many(n_permits).await.unwrap();
            let waiting =
                || site.0.turns.iter().map(|turn| Arc::strong_count(turn) - 1).sum::<usize>();
            let cold: Vec<_> = (0..MANY)
                .map(|n| {
                    let answering = site.answer(parts(&format!("/{}.bin", n % 2)), None, None);
                    tokio::spawn(answering)
                })
                .collect();
            let all = async {
                while waiting() < MANY {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), all).await.expect("all wait");
            for (path, status) in [("/a.txt", 200), ("/none", 404)] {
                let answer = site.answer(parts(path), None, None);
                let answer = tokio::time::timeout(Duration::from_secs(20), answer).await;
                assert_eq!(answer.expect("the locks are free").unwrap().status(), status);
            }
            assert!(cold.iter().all(|task| !task.is_finished()));
            drop(held);
            for task in cold {
                assert_eq!(task.await.unwrap().unwrap().status(), 200);
            }
        });
    }
}
