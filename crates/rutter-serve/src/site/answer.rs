//! Handles a request: makes the response from the head of the request.
//!
//! A request passes [`Site::admit`] (head, client, rate), then the response cache or the resolver,
//! then the conditions. If the response cache holds the path, the response is made at once.
//! Otherwise, a blocking thread resolves the path.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Response};

use crate::admission::client::RequestClient;
use crate::admission::client_address::client_address;
use crate::admission::error::AdmissionError;
use crate::admission::request::check_request;
use crate::admission::token::TokenScope;
use crate::clock::now;
use crate::monitor::activity::ConnectionActivity;
use crate::monitor::report::RequestReport;
use crate::partner;
use crate::resolve::error::ResolveError;
use crate::resolve::path::{self, RequestPath};
use crate::resolve::resolver::OpenFile;
use crate::respond::body::Body;
use crate::respond::refusal::{Refusal, moved};
use crate::respond::representation_set::RepresentationSet;
use crate::respond::response::{BodySource, respond};
use crate::site::Site;
use crate::site::lookup::PathTarget;
use crate::site::response_future::ResponseFuture;

/// Maximum number of attempts for a request whose files are replaced while they are read.
const MAX_ATTEMPTS: usize = 8;

impl Site {
    /// Handles a request from `peer`. Must be called within a tokio runtime.
    pub(crate) fn answer(
        &self,
        parts: Parts,
        peer: Option<IpAddr>,
        activity: Option<&Arc<ConnectionActivity>>,
    ) -> ResponseFuture {
        let (client, admitted) = self.admit(&parts, peer);
        let flight = activity.map(ConnectionActivity::begin);
        let report =
            RequestReport::new(&self.0.metrics, &self.0.listeners, &parts, client.address, flight);
        let is_head = parts.method == Method::HEAD;
        if let Err(error) = admitted {
            let response = Refusal::from(error).answer();
            return ResponseFuture::now(finish(response, report, &client, is_head));
        }
        let path = parts.uri.path();
        if partner::path_below(path, || self.catalog()).is_some() {
            let site = self.clone();
            return ResponseFuture::soon(async move {
                let response = site.answer_partner(&parts, &client).await;
                finish(response, report, &client, is_head)
            });
        }
        if let Some(found) = self.cached(path)
            && let Some(response) = self.respond(&found, &[], &parts, &client)
        {
            return ResponseFuture::now(finish(response, report, &client, is_head));
        }
        let site = self.clone();
        ResponseFuture::soon(async move {
            let response = site.look_up(&parts, &client).await;
            finish(response, report, &client, is_head)
        })
    }

    /// Identifies the client of a request, and checks whether the request is handled.
    fn admit(
        &self,
        parts: &Parts,
        peer: Option<IpAddr>,
    ) -> (RequestClient, Result<(), AdmissionError>) {
        let settings = &self.0.settings;
        let address = peer.map(|peer| client_address(peer, &parts.headers, &settings.proxies));
        let has_token = parts.headers.contains_key(AUTHORIZATION);
        let tokens = if has_token { self.checked_tokens() } else { None };
        let client = match tokens {
            Some(tokens) => RequestClient::with_token(address, &parts.headers, &tokens, now()),
            None => RequestClient::without_token(address),
        };
        // Every request counts against the rate limit. A refusal that closes the connection takes
        // precedence, because the bytes after a head with a body are not checked.
        let counted = self.0.limiter.admit(&client, settings.rate);
        let admitted = check_request(parts, &settings.limits.connection).and(counted);
        (client, admitted)
    }

    async fn answer_partner(&self, parts: &Parts, client: &RequestClient) -> Response<Body> {
        if !self.0.reload.tokens.is_there() {
            return Refusal::Resolve(ResolveError::Missing).answer_json();
        }
        self.0.partner.answer(self.catalog(), parts, client).await
    }

    /// Returns whether the site serves the path of a request. [`Site::layer`] passes other requests
    /// to the inner service.
    pub(crate) async fn has(&self, parts: &Parts) -> bool {
        if check_request(parts, &self.0.settings.limits.connection).is_err() {
            return false;
        }
        let path = parts.uri.path();
        if let Some(api) = partner::path_below(path, || self.catalog()) {
            return api == partner::PATH && self.0.reload.tokens.is_there();
        }
        let is_known = self.cached(path).is_some();
        is_known
            || !matches!(
                self.find_out(path).await,
                Err(ResolveError::Missing | ResolveError::Malformed)
            )
    }

    /// Handles a request that the response cache cannot answer.
    async fn look_up(&self, parts: &Parts, client: &RequestClient) -> Response<Body> {
        if self.is_below_closed(parts.uri.path())
            && let Err(error) = client.require(TokenScope::Content)
        {
            return Refusal::from(error).answer();
        }
        for _ in 0..MAX_ATTEMPTS {
            match self.find_out(parts.uri.path()).await {
                Ok(PathTarget::Found(found, open_files)) => {
                    if let Some(response) = self.respond(&found, &open_files, parts, client) {
                        return response;
                    }
                }
                Ok(PathTarget::Moved(to)) => {
                    let query = parts.uri.query().map(|query| format!("?{query}"));
                    return moved(&format!("{to}{}", query.unwrap_or_default()));
                }
                // The file changed while this request waited.
                Ok(PathTarget::Unread(_)) => {}
                Err(ResolveError::Missing) => return self.missing().await,
                Err(error) => return Refusal::from(error).answer(),
            }
        }
        Refusal::Resolve(ResolveError::Publishing).answer()
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
            Some(found) => Some(found),
            None => self.look_at("/404.html").await,
        };
        let mut response = Refusal::Resolve(ResolveError::Missing).answer();
        if let Some(page) = found.filter(|page| !page.is_restricted)
            && let Some(bytes) = &page.plain.bytes
        {
            let headers = response.headers_mut();
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            if let Some(media_type) = page.plain.headers.get(CONTENT_TYPE) {
                headers.insert(CONTENT_TYPE, media_type.clone());
            }
            *response.body_mut() = Body::whole(bytes.clone());
        }
        response
    }

    /// Makes the response from the representations of a path; `None` if a file has been replaced
    /// since they were made.
    fn respond(
        &self,
        found: &RepresentationSet,
        open_files: &[OpenFile],
        parts: &Parts,
        client: &RequestClient,
    ) -> Option<Response<Body>> {
        if found.is_restricted
            && let Err(error) = client.require(TokenScope::Content)
        {
            return Some(Refusal::from(error).answer());
        }
        let source = BodySource {
            open_files,
            resolver: &self.0.resolver,
            pool: &self.0.pool,
            bandwidth: self.0.settings.bandwidth,
        };
        respond(found.choose(&parts.headers), &source, parts)
    }
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
            let n_permits = u32::try_from(site.0.hashing.permits.available_permits()).unwrap();
            let held = site.0.hashing.permits.acquire_many(n_permits).await.unwrap();
            let waiting = || {
                site.0.hashing.turns.iter().map(|turn| Arc::strong_count(turn) - 1).sum::<usize>()
            };
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
