//! Checks the head of a request: method, host, length of the target, absence of a body.

use http::Method;
use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;

use crate::admission::error::AdmissionError;
use crate::settings::ConnectionLimits;

/// Checks whether a request is valid, independent of its path.
pub(crate) fn check_request(
    parts: &Parts,
    limits: &ConnectionLimits,
) -> Result<(), AdmissionError> {
    let headers = &parts.headers;
    // For HTTP/1, the head screener has rejected these already.
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if limits.request_line < target {
        return Err(AdmissionError::LongTarget);
    }
    if limits.fields < headers.len() {
        return Err(AdmissionError::ManyFields);
    }
    let mut hosts = headers.get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let is_old = parts.version <= http::Version::HTTP_10;
    // HTTP/2 names its host in `:authority` (RFC 9113, section 8.3.1).
    let names_host = host.is_some() || parts.uri.authority().is_some();
    let is_http1 = parts.version <= http::Version::HTTP_11;
    if more.is_some() || (is_http1 && !is_old && host.is_none()) || (!is_http1 && !names_host) {
        return Err(AdmissionError::Malformed);
    }
    if let Some(host) = host {
        let is_host = host
            .as_bytes()
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte));
        // If the host of the URL differs from `Host`, a proxy in front of the server could route
        // the request differently.
        let is_same = parts.uri.authority().is_none_or(|authority| {
            parts.method == Method::CONNECT
                || authority.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes())
        });
        if !is_host || !is_same {
            return Err(AdmissionError::Malformed);
        }
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(AdmissionError::Malformed);
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let (length, more) = (lengths.next(), lengths.next());
    if more.is_some() {
        return Err(AdmissionError::Malformed);
    }
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return Err(AdmissionError::Method);
    }
    match length {
        Some(length) if length.as_bytes() != b"0" => Err(AdmissionError::Body),
        _ => Ok(()),
    }
}
