//! Tries: the host's turn, the question, pauses, parts of a file.
//!
//! A part is added to what is there only where the server says, by a strong
//! validator and by its numbers, that it belongs there; else the file is
//! fetched from its beginning.

use std::time::Duration;

use hyper::header::{HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE};
use rutter_page::{Digest, Timestamp};
use tokio::sync::SemaphorePermit;

use crate::client::{Client, Host, locked};
use crate::error::{BadAnswer, Cause};
use crate::exchange::{Head, RangeField, Reading, Sink, is_fast_enough};
use crate::header::{ContentRange, Validators};
use crate::log::Event;
use crate::redact::{redacted, shown};
use crate::request::{Body, Fetched, Method, Request};
use crate::spool::Spool;
use crate::target::Target;
use crate::what::What;

/// Times that a page is asked for whose connection breaks.
const PAGE_TRIES: u32 = 2;
/// Parts a file may come in before it is too much.
const MOST_PARTS: u32 = 200;

/// An answer, or where it leads.
pub(crate) struct Answer {
    pub(crate) fetched: Fetched,
    pub(crate) redirect: Option<String>,
}

/// When a body has to be complete.
#[derive(Clone, Copy)]
struct Limit {
    /// How long all its parts may take together.
    whole: Duration,
    /// The moment at which that time is over.
    end: Duration,
}

/// What came of one try.
enum Tried {
    Done(Box<Answer>),
    /// The host wants rest.
    Busy(u16, Option<Duration>),
    /// The file must be fetched from its beginning.
    Afresh,
    /// The connection was an old one, and gone.
    Again,
}

impl Client {
    /// Asks until there is an answer, pausing as the host wants it.
    pub(crate) async fn ask_patiently(
        &self,
        target: &Target,
        request: &Request,
        spool: &mut Option<Spool>,
    ) -> Result<Answer, Cause> {
        let host = self.host(&target.origin.host);
        let clock = &self.means().clock;
        // A robots.txt that cannot be had is known soon: it closes the host.
        let most_tries = match request.what {
            What::Robots => self.settings().tries.min(2),
            _ => self.settings().tries,
        };
        let mut wire_bytes = 0;
        let (mut tries, mut parts) = (0, 0);
        // The parts of one body have one deadline together.
        let whole = self.settings().deadlines.whole_of(request.what);
        let mut left = whole;
        loop {
            let permit = self.turn(&host, target).await?;
            let before = spool.as_ref().map_or(0, Spool::length);
            let (begun, sent_before) = (clock.moment(), wire_bytes);
            let limit = Limit { whole, end: begun.saturating_add(left) };
            let tried = self.try_once(&host, target, request, spool, limit, &mut wire_bytes).await;
            let took = clock.moment().saturating_sub(begun);
            self.record_outcome(target, &tried, wire_bytes - sent_before);
            locked(&host.pace).touched(clock.moment());
            drop(permit);
            let (wish, status, cause) = match tried {
                Ok(Tried::Done(mut answer)) => {
                    locked(&host.pace).calm();
                    answer.fetched.wire_bytes = wire_bytes;
                    return Ok(*answer);
                }
                Ok(Tried::Again) => continue,
                Ok(Tried::Busy(status, wish)) => (wish, Some(status), None),
                Ok(Tried::Afresh) => {
                    parts += 1;
                    tries += 1;
                    if most_tries <= tries {
                        return Err(BadAnswer::Range("again and again".to_owned()).into());
                    }
                    continue;
                }
                // Whether anybody is there is asked once; who was there a moment
                // ago, and sent a part, is waited for.
                Err(cause) if cause.is_unreached() && before == 0 && wire_bytes == 0 => {
                    return Err(cause);
                }
                // One page is not worth the patience of all others: whoever
                // walks sees whether it is the host.
                Err(cause) if cause.is_transient() && request.what == What::Page => {
                    tries += 1;
                    if most_tries.min(PAGE_TRIES) <= tries {
                        return Err(cause);
                    }
                    continue;
                }
                Err(cause) if cause.is_transient() => {
                    let got = spool.as_ref().map_or(0, |it| it.length().saturating_sub(before));
                    let can_resume = spool.as_ref().is_some_and(|spool| spool.resume().is_some());
                    let is_on = can_resume && is_fast_enough(got, took);
                    parts += 1;
                    if is_on && parts < MOST_PARTS {
                        // The host works; only the connection broke.
                        left = left.saturating_sub(took);
                        continue;
                    }
                    (None, None, Some(cause))
                }
                Err(cause) => return Err(cause),
            };
            tries += 1;
            let spread = self.chance();
            let wait = locked(&host.pace).pause(clock.moment(), wish, spread);
            self.record(&target.origin.host, Event::Paused { wait, status });
            if most_tries <= tries {
                let later = Cause::Later { until: later(clock.now(), wait), status };
                return Err(cause.unwrap_or(later));
            }
        }
    }

    /// Logs what came of one request, with the bytes of its body.
    fn record_outcome(&self, target: &Target, tried: &Result<Tried, Cause>, bytes: u64) {
        let url = shown(&target.url);
        let event = match tried {
            Ok(Tried::Done(answer)) => {
                Event::Answered { url, status: answer.fetched.status, bytes }
            }
            Ok(Tried::Busy(status, _)) => Event::Answered { url, status: *status, bytes },
            Ok(Tried::Afresh) => {
                Event::Failed { url, why: "the part does not fit the file".to_owned(), bytes }
            }
            Ok(Tried::Again) => {
                Event::Failed { url, why: "the idle connection was closed".to_owned(), bytes }
            }
            Err(cause) => Event::Failed { url, why: redacted(&cause.to_string()), bytes },
        };
        self.record(&target.origin.host, event);
    }

    /// Waits until the host may be asked; the permit is for one question.
    async fn turn<'h>(
        &self,
        host: &'h Host,
        target: &Target,
    ) -> Result<SemaphorePermit<'h>, Cause> {
        let clock = &self.means().clock;
        let permit = host.turns.acquire().await.expect("nobody closes the turns of a host");
        let start = clock.moment();
        loop {
            let now = clock.moment();
            let ready = locked(&host.pace).ready_at(self.settings().pace);
            let wait = ready.saturating_sub(now);
            if wait.is_zero() {
                break;
            }
            if self.settings().patience < wait {
                let until = later(clock.now(), wait);
                return Err(Cause::Later { until, status: None });
            }
            clock.wait(ready).await;
        }
        let now = clock.moment();
        locked(&host.pace).touched(now);
        let waited = now.saturating_sub(start);
        let url = shown(&target.url);
        self.record(&target.origin.host, Event::Asked { url, waited });
        Ok(permit)
    }

    async fn try_once(
        &self,
        host: &Host,
        target: &Target,
        request: &Request,
        spool: &mut Option<Spool>,
        limit: Limit,
        wire_bytes: &mut u64,
    ) -> Result<Tried, Cause> {
        if let (None, Some(path)) = (&spool, &request.spool) {
            let opened = Spool::open(path, request.url.as_str()).map_err(Cause::Spool)?;
            *spool = Some(opened);
        }
        let clock = &self.means().clock;
        let resume = spool.as_ref().and_then(Spool::resume);
        let resume = resume.map(|(length, tag)| (length, tag.to_owned()));
        let mut fields = self.fields(request.what);
        fields.extend(conditions(&request.known, resume.as_ref()));
        let idle = locked(&host.idle).take();
        let asked = self.connector().ask(target, request.method, &fields, idle).await?;
        let Some((head, response, mut link)) = asked else { return Ok(Tried::Again) };
        let body = response.into_body();
        let asked = Asked { request, resume, has_conditions: !request.known.is_empty() };
        let (kind, length) = match asked.judge(&head, spool.as_ref())? {
            Meaning::Busy => return Ok(Tried::Busy(head.status, head.retry_after)),
            Meaning::Afresh => {
                restart(spool)?;
                return Ok(Tried::Afresh);
            }
            Meaning::Nothing => {
                // Nothing follows such a head, so the connection is free again.
                if head.is_bare {
                    link.used = clock.moment();
                    *locked(&host.idle) = Some(link);
                }
                return Ok(Tried::Done(Box::new(self.bare(head, target))));
            }
            Meaning::Complete => (Kind::Complete, Some(0)),
            Meaning::Part(length) => (Kind::Part, Some(length)),
            Meaning::Whole => (Kind::Whole, head.fields.length),
        };
        let had = match (&mut *spool, kind) {
            (Some(spool), Kind::Whole) => {
                let coding = head.fields.content_encoding.clone();
                let url = request.url.as_str();
                let begun = spool.begin(url, &head.validators, length, coding);
                begun.map_err(Cause::Spool)?;
                0
            }
            (Some(spool), _) => spool.length(),
            (None, _) => 0,
        };
        if kind == Kind::Part {
            self.record(&target.origin.host, Event::Resumed { at: had });
        }
        let most = request.most().saturating_sub(had);
        let Limit { whole, end } = limit;
        let reading = Reading { what: request.what, most, end, whole };
        let mut sink = match spool {
            Some(spool) => Sink::Spool(spool),
            None => Sink::memory(length.unwrap_or(0).min(most)),
        };
        let taken = if kind == Kind::Complete {
            drop(body);
            None
        } else {
            let taken = self.connector().take_body(body, &mut sink, reading, length).await;
            if taken.is_err() {
                *wire_bytes += match &sink {
                    Sink::Spool(spool) => spool.length() - had,
                    Sink::Memory(memory) => memory.len() as u64,
                };
            }
            Some(taken?)
        };
        *wire_bytes += taken.map_or(0, |taken| taken.n_bytes);
        let is_cut = taken.is_some_and(|taken| taken.is_cut);
        if !is_cut && kind != Kind::Complete {
            link.used = clock.moment();
            *locked(&host.idle) = Some(link);
        }
        let memory = match sink {
            Sink::Memory(memory) => Some(memory),
            Sink::Spool(_) => None,
        };
        let is_end_known = length.is_some() || kind == Kind::Complete || head.is_chunked;
        let mut answer = self.bare(head, target);
        let fetched = &mut answer.fetched;
        fetched.is_length_known = is_end_known;
        if let Some(spool) = spool {
            let done = spool.finish().map_err(Cause::Spool)?;
            if kind != Kind::Whole {
                fetched.status = 200;
                fetched.validators = spool.validators();
                fetched.fields.content_encoding = spool.coding();
                fetched.fields.length = Some(done.length);
            }
            let path = request.spool.clone().unwrap_or_default();
            fetched.body = Body::Spooled { path, length: done.length };
            fetched.digest = Some(done.digest);
        } else {
            fetched.body = Body::Memory(memory.unwrap_or_default());
            fetched.digest = taken.map(|taken| Digest(taken.digest));
        }
        Ok(Tried::Done(Box::new(answer)))
    }

    /// An answer without body.
    fn bare(&self, head: Head, target: &Target) -> Answer {
        let has_version = matches!(head.status, 200..=299 | 304);
        let is_redirect = matches!(head.status, 301 | 302 | 303 | 307 | 308);
        let redirect = is_redirect.then(|| head.location.unwrap_or_default());
        let fetched = Fetched {
            status: head.status,
            url: target.url.clone(),
            hops: Vec::new(),
            fields: head.fields,
            validators: if has_version { head.validators } else { Validators::default() },
            body: Body::Nothing,
            wire_bytes: 0,
            digest: None,
            is_length_known: true,
            at: self.means().clock.now(),
        };
        Answer { fetched, redirect }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Part,
    Complete,
}

/// What was asked.
struct Asked<'r> {
    request: &'r Request,
    /// From which byte on, under which tag.
    resume: Option<(u64, String)>,
    has_conditions: bool,
}

/// What a head means to what was asked.
enum Meaning {
    Busy,
    Afresh,
    /// A body that is of no use.
    Nothing,
    /// Everything is there already.
    Complete,
    /// So many bytes go behind what is there.
    Part(u64),
    Whole,
}

impl Asked<'_> {
    fn judge(&self, head: &Head, spool: Option<&Spool>) -> Result<Meaning, Cause> {
        let bad = |text: &str| Err(BadAnswer::Range(text.to_owned()).into());
        match (head.status, &self.resume) {
            (429, _) => Ok(Meaning::Busy),
            // robots.txt that is broken is known to be broken at once.
            (503, _) if self.request.what != What::Robots || head.retry_after.is_some() => {
                Ok(Meaning::Busy)
            }
            (304, None) if self.has_conditions => Ok(Meaning::Nothing),
            (304, _) => Err(BadAnswer::NotModified.into()),
            (206, None) => bad("status 206"),
            (416, None) => bad("status 416"),
            (206, Some((length, tag))) => {
                let total = spool.and_then(Spool::total);
                Ok(part(head, *length, tag, total).map_or(Meaning::Afresh, Meaning::Part))
            }
            (416, Some((length, tag))) => {
                let is_same = head.validators.etag.as_ref().is_none_or(|ours| ours == tag);
                let whole = ContentRange::Unsatisfied { total: *length };
                let is_whole = head.range == RangeField::Says(whole);
                Ok(if is_same && is_whole { Meaning::Complete } else { Meaning::Afresh })
            }
            (200..=299, _) if self.request.method == Method::Head => Ok(Meaning::Nothing),
            // A whole that says it is a part: nobody knows which.
            (200..=299, resume) => match (&head.range, resume) {
                (RangeField::Absent, _) => Ok(Meaning::Whole),
                (RangeField::Says(ContentRange::Part { first: 0, last, total }), _)
                    if *total == Some(last + 1) =>
                {
                    Ok(Meaning::Whole)
                }
                (_, Some(_)) => Ok(Meaning::Afresh),
                (_, None) => bad("status 200 with Content-Range"),
            },
            _ => Ok(Meaning::Nothing),
        }
    }
}

/// How many bytes a part adds; `None` where it does not belong.
fn part(head: &Head, had: u64, tag: &str, total: Option<u64>) -> Option<u64> {
    let RangeField::Says(ContentRange::Part { first, last, total: claimed }) = head.range else {
        return None;
    };
    let length = last - first + 1;
    let is_same = head.validators.etag.as_ref().is_none_or(|ours| ours == tag);
    let is_end = claimed.is_some_and(|claimed| claimed == last + 1);
    let is_size = total.is_none() || total == claimed;
    let is_length = head.fields.length.is_none_or(|promised| promised == length);
    let fits = first == had && is_same && is_end && is_size && is_length && !head.is_multipart;
    fits.then_some(length)
}

/// The fields by which only what is new is sent (SCP-153).
fn conditions(known: &Validators, resume: Option<&(u64, String)>) -> Vec<(HeaderName, String)> {
    if let Some((length, tag)) = resume {
        return vec![(RANGE, format!("bytes={length}-")), (IF_RANGE, tag.clone())];
    }
    let etag = known.etag.clone().map(|tag| (IF_NONE_MATCH, tag));
    let date = known.last_modified.clone().map(|date| (IF_MODIFIED_SINCE, date));
    etag.into_iter().chain(date).collect()
}

fn restart(spool: &mut Option<Spool>) -> Result<(), Cause> {
    spool.as_mut().map_or(Ok(()), Spool::restart).map_err(Cause::Spool)
}

/// When a wait is over, by the time of day.
fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_seconds(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}
