//! Parses the query of a request to the partner API.

use crate::respond::refusal::Refusal;

/// Default number of entries in a response.
const DEFAULT_ENTRIES: usize = 100;

/// The parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ApiQuery {
    One(String),
    /// Entries after a URL, or from the first on.
    Some {
        after: Option<String>,
        limit: usize,
    },
}

/// Parses the query: `url`, or `after` and `limit`.
pub(super) fn read_query(query: &str, most: usize) -> Result<ApiQuery, Refusal> {
    let (mut url, mut after, mut limit) = (None, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place = match key {
            "url" => &mut url,
            "after" => &mut after,
            "limit" => &mut limit,
            _ => return Err(Refusal::Parameter("unknown parameter; expected url, after or limit")),
        };
        let value = unescaped(value).ok_or(Refusal::Parameter("a parameter is not UTF-8"))?;
        if place.replace(value).is_some() {
            return Err(Refusal::Parameter("a parameter is given twice"));
        }
    }
    let limit = match limit {
        Some(limit) => match limit.parse::<usize>() {
            Ok(limit) if 0 < limit => limit.min(most),
            _ => return Err(Refusal::Parameter("limit must be a number above 0")),
        },
        None => DEFAULT_ENTRIES.min(most),
    };
    match (url, after) {
        (Some(_), Some(_)) => Err(Refusal::Parameter("url and after cannot be combined")),
        (Some(url), None) => Ok(ApiQuery::One(url)),
        (None, after) => Ok(ApiQuery::Some { after, limit }),
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Percent-encodes a parameter.
pub(super) fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    out
}
