//! Repeats a request until there is a response, with delays, retries, pauses and resumed downloads.
//!
//! Input: a checked [`Target`]. Output: the response, with its `Location` if it is a redirect. A
//! partial body is appended only if a strong validator and the byte range prove that it continues
//! the file; otherwise the file is fetched from its beginning.

use std::time::Duration;

use hyper::header::{HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE};
use rutter_page::{Digest, Timestamp};
use tokio::sync::SemaphorePermit;

use crate::client::{Client, HostState, lock};
use crate::error::{BadResponse, FailureCause};
use crate::exchange::{BodyLimits, BodySink, RangeField, ResponseHead, is_fast_enough};
use crate::header::{ContentRange, Validators};
use crate::log::FetchEvent;
use crate::redact::{redact, redact_url};
use crate::request::{FetchedResponse, Method, Request, ResponseBody};
use crate::resource_kind::ResourceKind;
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
        // robots.txt gets few attempts, because all other requests to the host wait for it.
        let max_attempts = match request.kind {
            ResourceKind::Robots => self.settings().attempts.min(2),
            _ => self.settings().attempts,
        };
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
                        return Err(BadResponse::Range(
                            "the server sent several that cannot be used".to_owned(),
                        )
                        .into());
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
                    let got = spool.as_ref().map_or(0, |it| it.length().saturating_sub(before));
                    let can_resume = spool.as_ref().is_some_and(|spool| spool.resume().is_some());
                    let can_continue = can_resume && is_fast_enough(got, took);
                    parts += 1;
                    if can_continue && parts < MAX_PARTS {
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

    #[expect(
        clippy::too_many_lines,
        reason = "one step after another, in the order of the protocol"
    )]
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
        let clock = &self.environment().clock;
        let resume = spool.as_ref().and_then(SpoolFile::resume);
        let resume = resume.map(|(length, tag)| (length, tag.to_owned()));
        let mut fields = self.fields(request.kind);
        fields.extend(conditional_fields(&request.validators, resume.as_ref()));
        let idle = lock(&host.idle).take();
        let asked = self.connector().send_request(target, request.method, &fields, idle).await?;
        let Some((head, response, mut link)) = asked else {
            return Ok(AttemptOutcome::StaleConnection);
        };
        let body = response.into_body();
        let asked = SentRequest { request, resume, has_conditions: !request.validators.is_empty() };
        let (kind, length) = match asked.classify(&head, spool.as_ref())? {
            ResponseClass::Busy => return Ok(AttemptOutcome::Busy(head.status, head.retry_after)),
            ResponseClass::Restart => {
                restart(spool)?;
                return Ok(AttemptOutcome::Restart);
            }
            ResponseClass::WithoutBody => {
                // No body follows, so the connection can be reused.
                if head.is_bare {
                    link.used = clock.monotonic();
                    *lock(&host.idle) = Some(link);
                }
                return Ok(AttemptOutcome::Done(Box::new(
                    self.response_without_body(head, target),
                )));
            }
            ResponseClass::Complete => (BodyKind::Complete, Some(0)),
            ResponseClass::Part(length) => (BodyKind::Part, Some(length)),
            ResponseClass::Whole => (BodyKind::Whole, head.fields.length),
        };
        let had = match (&mut *spool, kind) {
            (Some(spool), BodyKind::Whole) => {
                let coding = head.fields.content_encoding.clone();
                let url = request.url.as_str();
                let started = spool.begin(url, &head.validators, length, coding);
                started.map_err(FailureCause::Spool)?;
                0
            }
            (Some(spool), _) => spool.length(),
            (None, _) => 0,
        };
        if kind == BodyKind::Part {
            self.record(&target.origin.host, FetchEvent::Resumed { at: had });
        }
        let max_bytes = request.max_bytes().saturating_sub(had);
        let BodyDeadline { whole, end } = limit;
        let reading = BodyLimits { kind: request.kind, max_bytes, end, whole };
        let mut sink = match spool {
            Some(spool) => BodySink::Spool(spool),
            None => BodySink::memory(length.unwrap_or(0).min(max_bytes)),
        };
        let receipt = if kind == BodyKind::Complete {
            drop(body);
            None
        } else {
            let receipt = self.connector().read_body(body, &mut sink, reading, length).await;
            if receipt.is_err() {
                *wire_bytes += match &sink {
                    BodySink::Spool(spool) => spool.length() - had,
                    BodySink::Memory(memory) => memory.len() as u64,
                };
            }
            Some(receipt?)
        };
        *wire_bytes += receipt.map_or(0, |receipt| receipt.n_bytes);
        let is_cut = receipt.is_some_and(|receipt| receipt.is_cut);
        if !is_cut && kind != BodyKind::Complete {
            link.used = clock.monotonic();
            *lock(&host.idle) = Some(link);
        }
        let memory = match sink {
            BodySink::Memory(memory) => Some(memory),
            BodySink::Spool(_) => None,
        };
        let is_end_known = length.is_some() || kind == BodyKind::Complete || head.is_chunked;
        let mut answer = self.response_without_body(head, target);
        let fetched = &mut answer.fetched;
        fetched.is_length_known = is_end_known;
        if let Some(spool) = spool {
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
        } else {
            fetched.body = ResponseBody::Memory(memory.unwrap_or_default());
            fetched.digest = receipt.map(|receipt| Digest(receipt.digest));
        }
        Ok(AttemptOutcome::Done(Box::new(answer)))
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    Whole,
    Part,
    Complete,
}

/// The request as it was sent: with a range, with conditions or with neither.
struct SentRequest<'r> {
    request: &'r Request,
    /// Offset and entity tag of the partial download that the request resumes.
    resume: Option<(u64, String)>,
    has_conditions: bool,
}

/// What a response head says about the requested body.
enum ResponseClass {
    Busy,
    Restart,
    /// The response has no body, or a body that is not needed.
    WithoutBody,
    /// The spool file already holds the whole body.
    Complete,
    /// The body continues the spool file with this many bytes.
    Part(u64),
    Whole,
}

impl SentRequest<'_> {
    fn classify(
        &self,
        head: &ResponseHead,
        spool: Option<&SpoolFile>,
    ) -> Result<ResponseClass, FailureCause> {
        let bad = |text: &str| Err(BadResponse::Range(text.to_owned()).into());
        match (head.status, &self.resume) {
            (429, _) => Ok(ResponseClass::Busy),
            // Status 503 for robots.txt is final, unless the server says when to retry.
            (503, _) if self.request.kind != ResourceKind::Robots || head.retry_after.is_some() => {
                Ok(ResponseClass::Busy)
            }
            (304, None) if self.has_conditions => Ok(ResponseClass::WithoutBody),
            (304, _) => Err(BadResponse::NotModified.into()),
            (206, None) => bad("status 206"),
            (416, None) => bad("status 416"),
            (206, Some((length, tag))) => {
                let total = spool.and_then(SpoolFile::total);
                Ok(partial_length(head, *length, tag, total)
                    .map_or(ResponseClass::Restart, ResponseClass::Part))
            }
            (416, Some((length, tag))) => {
                let is_same = head.validators.etag.as_ref().is_none_or(|etag| etag == tag);
                let whole = ContentRange::Unsatisfied { total: *length };
                let is_whole = head.range == RangeField::Valid(whole);
                Ok(if is_same && is_whole {
                    ResponseClass::Complete
                } else {
                    ResponseClass::Restart
                })
            }
            (200..=299, _) if self.request.method == Method::Head => Ok(ResponseClass::WithoutBody),
            // A success status with a `Content-Range` is valid only if the range is the whole body.
            (200..=299, resume) => match (&head.range, resume) {
                (RangeField::Absent, _) => Ok(ResponseClass::Whole),
                (RangeField::Valid(ContentRange::Part { first: 0, last, total }), _)
                    if *total == Some(last + 1) =>
                {
                    Ok(ResponseClass::Whole)
                }
                (_, Some(_)) => Ok(ResponseClass::Restart),
                (_, None) => bad("status 200 with Content-Range"),
            },
            _ => Ok(ResponseClass::WithoutBody),
        }
    }
}

/// Returns the length of a partial body; `None` if it does not continue the file.
fn partial_length(head: &ResponseHead, had: u64, tag: &str, total: Option<u64>) -> Option<u64> {
    let RangeField::Valid(ContentRange::Part { first, last, total: claimed }) = head.range else {
        return None;
    };
    let length = last - first + 1;
    let is_same = head.validators.etag.as_ref().is_none_or(|etag| etag == tag);
    let is_end = claimed.is_some_and(|claimed| claimed == last + 1);
    let is_size = total.is_none() || total == claimed;
    let is_length = head.fields.length.is_none_or(|promised| promised == length);
    let fits = first == had && is_same && is_end && is_size && is_length && !head.is_multipart;
    fits.then_some(length)
}

/// Returns the header fields of a conditional or range request (SCP-153).
fn conditional_fields(
    validators: &Validators,
    resume: Option<&(u64, String)>,
) -> Vec<(HeaderName, String)> {
    if let Some((length, tag)) = resume {
        return vec![(RANGE, format!("bytes={length}-")), (IF_RANGE, tag.clone())];
    }
    let etag = validators.etag.clone().map(|tag| (IF_NONE_MATCH, tag));
    let date = validators.last_modified.clone().map(|date| (IF_MODIFIED_SINCE, date));
    etag.into_iter().chain(date).collect()
}

fn restart(spool: &mut Option<SpoolFile>) -> Result<(), FailureCause> {
    spool.as_mut().map_or(Ok(()), SpoolFile::restart).map_err(FailureCause::Spool)
}

/// Returns the time of day at the end of a wait.
fn time_after(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_seconds(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}
