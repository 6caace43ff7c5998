//! Classifies the head of a response to a conditional or resumed request.
//!
//! A partial body is accepted only if a strong validator and the byte range prove that it continues
//! the file.

use hyper::header::{HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE};

use crate::error::{BadResponse, FailureCause};
use crate::exchange::{RangeField, ResponseHead};
use crate::header::{ContentRange, Validators};
use crate::request::{Request, RequestMethod};
use crate::resource_kind::ResourceKind;
use crate::spool::SpoolFile;

/// How the body of a response relates to the spool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// The body is the whole file.
    Whole,
    /// The body continues the spool file.
    Part,
    /// The spool file already holds the whole body.
    Complete,
}

/// The request as it was sent: with a range, with conditions or with neither.
pub(crate) struct SentRequest<'r> {
    pub(crate) request: &'r Request,
    /// Offset and entity tag of the partial download that the request resumes.
    pub(crate) resume: Option<(u64, String)>,
    pub(crate) has_conditions: bool,
}

/// What a response head says about the requested body.
pub(crate) enum ResponseClass {
    Busy,
    Restart,
    /// The response has no body, or a body that is not needed.
    WithoutBody,
    /// The response completes the file.
    Body(ExpectedBody),
}

/// The body that a response is expected to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpectedBody {
    pub(crate) kind: BodyKind,
    /// Number of bytes of the body, if it is known.
    pub(crate) length: Option<u64>,
}

impl SentRequest<'_> {
    /// Returns what the head of a response says about the requested body.
    pub(crate) fn classify(
        &self,
        head: &ResponseHead,
        spool: Option<&SpoolFile>,
    ) -> Result<ResponseClass, FailureCause> {
        let length = head.fields.length;
        let whole = || ResponseClass::Body(ExpectedBody { kind: BodyKind::Whole, length });
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
                let part = partial_length(head, *length, tag, total);
                Ok(part.map_or(ResponseClass::Restart, |length| {
                    ResponseClass::Body(ExpectedBody { kind: BodyKind::Part, length: Some(length) })
                }))
            }
            (416, Some((length, tag))) => {
                let is_same = head.validators.etag.as_ref().is_none_or(|etag| etag == tag);
                let unsatisfied = ContentRange::Unsatisfied { total: *length };
                let is_whole = head.range == RangeField::Valid(unsatisfied);
                let complete = ExpectedBody { kind: BodyKind::Complete, length: Some(0) };
                Ok(if is_same && is_whole {
                    ResponseClass::Body(complete)
                } else {
                    ResponseClass::Restart
                })
            }
            (200..=299, _) if self.request.method == RequestMethod::Head => {
                Ok(ResponseClass::WithoutBody)
            }
            // A success status with a `Content-Range` is valid only if the range is the whole body.
            (200..=299, resume) => match (&head.range, resume) {
                (RangeField::Absent, _) => Ok(whole()),
                (RangeField::Valid(ContentRange::Part { first: 0, last, total }), _)
                    if *total == Some(last + 1) =>
                {
                    Ok(whole())
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
pub(crate) fn conditional_fields(
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
