//! Repeats a request until there is a response, with delays, retries, pauses and resumed downloads.
//!
//! Input: a checked [`Target`]. Output: the response, with its `Location` if it is a redirect. A
//! partial body is appended only if a strong validator and the byte range prove that it continues
//! the file; otherwise the file is fetched from its beginning.

use std::time::Duration;

use hyper::body::Incoming;
use rutter_page::{Digest, Timestamp};
use tokio::sync::SemaphorePermit;

use crate::client::{Client, HostState, lock};
use crate::connect::Connection;
use crate::error::{BadResponse, FailureCause};
use crate::exchange::{BodyLimits, BodyReceipt, BodySink, ResponseHead, is_fast_enough};
use crate::header::Validators;
use crate::log::FetchEvent;
use crate::redact::{redact, redact_url};
use crate::request::{FetchedResponse, Request, ResponseBody};
use crate::resource_kind::ResourceKind;
use crate::response_class::{
    BodyKind, ExpectedBody, ResponseClass, SentRequest, conditional_fields,
};
use crate::spool::SpoolFile;
use crate::target::Target;

/// Maximum number of attempts for a page whose connection breaks.
const MAX_PAGE_ATTEMPTS: u32 = 2;
/// Maximum number of partial responses for one file.
const MAX_PARTS: u32 = 200;

/// A response, with its `Location` if it is a redirect.
pub(crate) struct AttemptResponse {
    pub(crate) fetched: FetchedResponse,
    pub(crate) redirect: Option<String>,
}

/// When the body of a response must be complete.
#[derive(Clone, Copy)]
struct BodyDeadline {
    /// Total time for all parts of the body.
    whole: Duration,
    /// The monotonic time at which the body must be complete.
    end: Duration,
}

/// The outcome of one attempt.
enum AttemptOutcome {
    Done(Box<AttemptResponse>),
    /// The host asked for a pause, with this status code and `Retry-After`.
    Busy(u16, Option<Duration>),
    /// The file must be fetched again from its start.
    Restart,
    /// The server had closed the idle connection that the client reused.
    StaleConnection,
}

/// A body that was read completely.
struct ReceivedBody {
    /// The bytes; empty if they are in the spool file.
    memory: Vec<u8>,
    /// `None` if the spool file already held the whole body.
    receipt: Option<BodyReceipt>,
}

impl Client {
    /// Repeats the request until there is a response; respects the pauses that the host asks for.
    pub(crate) async fn fetch_with_retries(
        &self,
        target: &Target,
        request: &Request,
        spool: &mut Option<SpoolFile>,
    ) -> Result<AttemptResponse, FailureCause> {
        let host = self.host(&target.origin.host);
        let clock = &self.environment().clock;
        let max_attempts = self.max_attempts(request.kind);
        let mut wire_bytes = 0;
        let (mut attempts, mut parts) = (0, 0);
        // All parts of one body share one time limit.
        let whole = self.settings().timeouts.total_for(request.kind);
        let mut left = whole;
        loop {
            let permit = self.wait_for_turn(&host, target).await?;
            let before = spool.as_ref().map_or(0, SpoolFile::length);
            let (started, sent_before) = (clock.monotonic(), wire_bytes);
            let limit = BodyDeadline { whole, end: started.saturating_add(left) };
            let outcome =
                self.attempt_once(&host, target, request, spool, limit, &mut wire_bytes).await;
            let took = clock.monotonic().saturating_sub(started);
            self.log_outcome(target, &outcome, wire_bytes - sent_before);
            lock(&host.pace).record_activity(clock.monotonic());
            drop(permit);
            let (retry_after, status, cause) = match outcome {
                Ok(AttemptOutcome::Done(mut answer)) => {
                    lock(&host.pace).reset_failures();
                    answer.fetched.wire_bytes = wire_bytes;
                    return Ok(*answer);
                }
                Ok(AttemptOutcome::StaleConnection) => continue,
                Ok(AttemptOutcome::Busy(status, retry_after)) => (retry_after, Some(status), None),
                Ok(AttemptOutcome::Restart) => {
                    parts += 1;
                    attempts += 1;
                    if max_attempts <= attempts {
                        let what = "the server sent several that cannot be used";
                        return Err(BadResponse::Range(what.to_owned()).into());
                    }
                    continue;
                }
                // The client does not retry an unreachable host, unless the host has just sent part
                // of the body.
                Err(cause) if cause.is_connect_failure() && before == 0 && wire_bytes == 0 => {
                    return Err(cause);
                }
                // The client retries a single page without a pause and only [`MAX_PAGE_ATTEMPTS`]
                // times; the caller decides whether the host is down.
                Err(cause) if cause.is_transient() && request.kind == ResourceKind::Page => {
                    attempts += 1;
                    if max_attempts.min(MAX_PAGE_ATTEMPTS) <= attempts {
                        return Err(cause);
                    }
                    continue;
                }
                Err(cause) if cause.is_transient() => {
                    parts += 1;
                    if can_continue(spool.as_ref(), before, took) && parts < MAX_PARTS {
                        // The host sent bytes fast enough and only the connection broke, so the
                        // download continues at once.
                        left = left.saturating_sub(took);
                        continue;
                    }
                    (None, None, Some(cause))
                }
                Err(cause) => return Err(cause),
            };
            attempts += 1;
            let jitter = self.random_fraction();
            let wait = lock(&host.pace).pause(clock.monotonic(), retry_after, jitter);
            self.record(&target.origin.host, FetchEvent::Paused { wait, status });
            if max_attempts <= attempts {
                let later =
                    FailureCause::RetryLater { until: time_after(clock.now(), wait), status };
                return Err(cause.unwrap_or(later));
            }
        }
    }

    fn max_attempts(&self, kind: ResourceKind) -> u32 {
        match kind {
            // robots.txt gets few attempts, because all other requests to the host wait for it.
            ResourceKind::Robots => self.settings().attempts.min(2),
            _ => self.settings().attempts,
        }
    }

    /// Logs the outcome of one request, with the bytes of its body.
    fn log_outcome(
        &self,
        target: &Target,
        outcome: &Result<AttemptOutcome, FailureCause>,
        bytes: u64,
    ) {
        let url = redact_url(&target.url);
        let event = match outcome {
            Ok(AttemptOutcome::Done(answer)) => {
                FetchEvent::Received { url, status: answer.fetched.status, bytes }
            }
            Ok(AttemptOutcome::Busy(status, _)) => {
                FetchEvent::Received { url, status: *status, bytes }
            }
            Ok(AttemptOutcome::Restart) => FetchEvent::Failed {
                url,
                why: "the partial response does not fit the file".to_owned(),
                bytes,
            },
            Ok(AttemptOutcome::StaleConnection) => FetchEvent::Failed {
                url,
                why: "the server closed the idle connection".to_owned(),
                bytes,
            },
            Err(cause) => FetchEvent::Failed { url, why: redact(&cause.to_string()), bytes },
        };
        self.record(&target.origin.host, event);
    }

    /// Waits until a request may be sent to the host. The returned permit is for one request.
    async fn wait_for_turn<'h>(
        &self,
        host: &'h HostState,
        target: &Target,
    ) -> Result<SemaphorePermit<'h>, FailureCause> {
        let clock = &self.environment().clock;
        let permit = host.turns.acquire().await.expect("the semaphore of a host is never closed");
        let start = clock.monotonic();
        loop {
            let now = clock.monotonic();
            let ready = lock(&host.pace).ready_at(self.settings().pace);
            let wait = ready.saturating_sub(now);
            if wait.is_zero() {
                break;
            }
            if self.settings().max_wait < wait {
                let until = time_after(clock.now(), wait);
                return Err(FailureCause::RetryLater { until, status: None });
            }
            clock.sleep_until(ready).await;
        }
        let now = clock.monotonic();
        lock(&host.pace).record_activity(now);
        let waited = now.saturating_sub(start);
        let url = redact_url(&target.url);
        self.record(&target.origin.host, FetchEvent::Sent { url, waited });
        Ok(permit)
    }

    /// Sends the request once. `wire_bytes` counts the bytes of bodies, also of a broken one.
    async fn attempt_once(
        &self,
        host: &HostState,
        target: &Target,
        request: &Request,
        spool: &mut Option<SpoolFile>,
        limit: BodyDeadline,
        wire_bytes: &mut u64,
    ) -> Result<AttemptOutcome, FailureCause> {
        if let (None, Some(path)) = (&spool, &request.spool) {
            let opened =
                SpoolFile::open(path, request.url.as_str()).map_err(FailureCause::Spool)?;
            *spool = Some(opened);
        }
        let resume = spool.as_ref().and_then(SpoolFile::resume);
        let resume = resume.map(|(length, tag)| (length, tag.to_owned()));
        let mut fields = self.fields(request.kind);
        fields.extend(conditional_fields(&request.validators, resume.as_ref()));
        let idle = lock(&host.idle).take();
        let asked = self.connector().send_request(target, request.method, &fields, idle).await?;
        let Some((head, response, link)) = asked else {
            return Ok(AttemptOutcome::StaleConnection);
        };
        let body = response.into_body();
        let sent = SentRequest { request, resume, has_conditions: !request.validators.is_empty() };
        let expected = match sent.classify(&head, spool.as_ref())? {
            ResponseClass::Busy => return Ok(AttemptOutcome::Busy(head.status, head.retry_after)),
            ResponseClass::Restart => {
                restart(spool)?;
                return Ok(AttemptOutcome::Restart);
            }
            ResponseClass::WithoutBody => {
                // No body follows, so the connection can be reused.
                if head.is_bare {
                    self.keep_connection(host, link);
                }
                let answer = self.response_without_body(head, target);
                return Ok(AttemptOutcome::Done(Box::new(answer)));
            }
            ResponseClass::Body(expected) => expected,
        };
        let had = begin_spool(spool, request, &head, expected)?;
        if expected.kind == BodyKind::Part {
            self.record(&target.origin.host, FetchEvent::Resumed { at: had });
        }
        let max_bytes = request.max_bytes().saturating_sub(had);
        let BodyDeadline { whole, end } = limit;
        let limits = BodyLimits { kind: request.kind, max_bytes, end, whole };
        let received = self.receive(body, spool, limits, expected, wire_bytes).await?;
        let is_cut = received.receipt.is_some_and(|receipt| receipt.is_cut);
        if !is_cut && expected.kind != BodyKind::Complete {
            self.keep_connection(host, link);
        }
        let is_length_known =
            expected.length.is_some() || expected.kind == BodyKind::Complete || head.is_chunked;
        let mut answer = self.response_without_body(head, target);
        answer.fetched.is_length_known = is_length_known;
        match spool {
            Some(spool) => put_spooled(&mut answer.fetched, spool, request, expected.kind)?,
            None => {
                let digest = received.receipt.map(|receipt| Digest(receipt.digest));
                answer.fetched.body = ResponseBody::Memory(received.memory);
                answer.fetched.digest = digest;
            }
        }
        Ok(AttemptOutcome::Done(Box::new(answer)))
    }

    /// Keeps a connection for the next request to the host.
    fn keep_connection(&self, host: &HostState, mut link: Connection) {
        link.used = self.environment().clock.monotonic();
        *lock(&host.idle) = Some(link);
    }

    /// Reads the body into the spool file, else into memory.
    async fn receive(
        &self,
        body: Incoming,
        spool: &mut Option<SpoolFile>,
        limits: BodyLimits,
        expected: ExpectedBody,
        wire_bytes: &mut u64,
    ) -> Result<ReceivedBody, FailureCause> {
        if expected.kind == BodyKind::Complete {
            return Ok(ReceivedBody { memory: Vec::new(), receipt: None });
        }
        let had = spool.as_ref().map_or(0, SpoolFile::length);
        let mut sink = match spool {
            Some(spool) => BodySink::Spool(spool),
            None => BodySink::memory(expected.length.unwrap_or(0).min(limits.max_bytes)),
        };
        let result = self.connector().read_body(body, &mut sink, limits, expected.length).await;
        *wire_bytes += match (&result, &sink) {
            (Ok(receipt), _) => receipt.n_bytes,
            (Err(_), BodySink::Spool(spool)) => spool.length() - had,
            (Err(_), BodySink::Memory(memory)) => memory.len() as u64,
        };
        let receipt = Some(result?);
        let memory = match sink {
            BodySink::Memory(memory) => memory,
            BodySink::Spool(_) => Vec::new(),
        };
        Ok(ReceivedBody { memory, receipt })
    }

    /// Converts a response head to a response without a body.
    fn response_without_body(&self, head: ResponseHead, target: &Target) -> AttemptResponse {
        let has_version = matches!(head.status, 200..=299 | 304);
        let is_redirect = matches!(head.status, 301 | 302 | 303 | 307 | 308);
        let redirect = is_redirect.then(|| head.location.unwrap_or_default());
        let fetched = FetchedResponse {
            status: head.status,
            url: target.url.clone(),
            hops: Vec::new(),
            fields: head.fields,
            validators: if has_version { head.validators } else { Validators::default() },
            body: ResponseBody::Absent,
            wire_bytes: 0,
            digest: None,
            is_length_known: true,
            at: self.environment().clock.now(),
        };
        AttemptResponse { fetched, redirect }
    }
}

/// Returns whether a broken download can continue at once: the host sent bytes fast enough since
/// the file had `before` bytes.
fn can_continue(spool: Option<&SpoolFile>, before: u64, took: Duration) -> bool {
    spool.is_some_and(|spool| {
        let got = spool.length().saturating_sub(before);
        spool.resume().is_some() && is_fast_enough(got, took)
    })
}

/// Prepares the spool file for a body; returns the number of bytes that the file already has.
fn begin_spool(
    spool: &mut Option<SpoolFile>,
    request: &Request,
    head: &ResponseHead,
    expected: ExpectedBody,
) -> Result<u64, FailureCause> {
    let Some(spool) = spool else { return Ok(0) };
    if expected.kind != BodyKind::Whole {
        return Ok(spool.length());
    }
    let coding = head.fields.content_encoding.clone();
    let started = spool.begin(request.url.as_str(), &head.validators, expected.length, coding);
    started.map_err(FailureCause::Spool)?;
    Ok(0)
}

/// Completes the spool file and puts it into the response.
fn put_spooled(
    fetched: &mut FetchedResponse,
    spool: &mut SpoolFile,
    request: &Request,
    kind: BodyKind,
) -> Result<(), FailureCause> {
    let done = spool.finish().map_err(FailureCause::Spool)?;
    if kind != BodyKind::Whole {
        fetched.status = 200;
        fetched.validators = spool.validators();
        fetched.fields.content_encoding = spool.coding();
        fetched.fields.length = Some(done.length);
    }
    let path = request.spool.clone().unwrap_or_default();
    fetched.body = ResponseBody::Spooled { path, length: done.length };
    fetched.digest = Some(done.digest);
    Ok(())
}

fn restart(spool: &mut Option<SpoolFile>) -> Result<(), FailureCause> {
    spool.as_mut().map_or(Ok(()), SpoolFile::restart).map_err(FailureCause::Spool)
}

/// Returns the time of day at the end of a wait.
fn time_after(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_seconds(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}
