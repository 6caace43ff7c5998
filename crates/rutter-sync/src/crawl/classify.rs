//! Classifies the response to the request for a page: page, gone, blocked, redirect, retry.
//!
//! [`classify`] is a pure function; it also depends on the stored row of the page.

use rutter_fetch::{FetchedResponse, ResponseBody};
use rutter_store::PageRow;

/// What a response says about the page at the requested URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponseClass {
    /// The validators of the request do not fit, so the page is requested without them.
    AskAgain,
    /// The page has not changed.
    Unchanged,
    /// The page does not exist.
    Gone,
    /// There is no page; `is_closed` if the server refuses access to a page with stored
    /// content.
    Failed { is_closed: bool },
    /// The URL redirects to another site.
    RedirectsElsewhere,
    /// The response is the page that the site sends for unknown URLs (D74).
    Soft404,
    /// The URL redirects for now, such as to a login or a maintenance page. This does not
    /// show that the page has moved.
    TemporaryRedirect,
    /// The response is the page with this key.
    Page { key: String },
}

/// What the crawl knows about the requested URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownPage<'a> {
    /// Key of the requested URL.
    pub(super) key: &'a str,
    /// Key of the URL that responded, if it belongs to the site.
    pub(super) found: Option<&'a str>,
    /// Whether the request was sent without validators.
    pub(super) is_fresh: bool,
    pub(super) is_home: bool,
    pub(super) row: Option<&'a PageRow>,
    /// Whether the stored content of the page is damaged.
    pub(super) is_damaged: bool,
}

impl KnownPage<'_> {
    /// Returns whether a 304 response belongs to another URL than the validators of the
    /// request.
    pub(super) fn is_other_validator(&self, response: &FetchedResponse) -> bool {
        response.is_not_modified() && self.found != Some(self.key) && !self.is_fresh
    }
}

/// Classifies a response. `is_soft_404` is called only for a page that is not the home
/// page, because sites often answer unknown URLs with their home page.
pub(super) fn classify(
    response: &FetchedResponse,
    known: &KnownPage<'_>,
    is_soft_404: impl FnOnce() -> bool,
) -> ResponseClass {
    if response.is_not_modified() {
        let is_useless = known.is_other_validator(response) || known.is_damaged;
        return if is_useless { ResponseClass::AskAgain } else { ResponseClass::Unchanged };
    }
    if matches!(response.status, 404 | 410) {
        return ResponseClass::Gone;
    }
    if !response.is_success() || response.body == ResponseBody::Absent {
        let has_content = known.row.is_some_and(|row| row.withheld.is_none());
        return ResponseClass::Failed { is_closed: is_closed(response.status) && has_content };
    }
    let Some(found) = known.found else { return ResponseClass::RedirectsElsewhere };
    if !known.is_home && is_soft_404() {
        return ResponseClass::Soft404;
    }
    if found != known.key && known.row.is_some() && !response.is_permanent_redirect() {
        return ResponseClass::TemporaryRedirect;
    }
    ResponseClass::Page { key: found.to_owned() }
}

/// Returns whether a status code means that the page is not public.
fn is_closed(status: u16) -> bool {
    matches!(status, 401 | 402 | 403 | 451)
}

#[cfg(test)]
mod tests {
    use rutter_fetch::{RedirectHop, ResponseFields, Url, Validators};
    use rutter_page::{LineDigest, Timestamp};
    use rutter_store::{PageSource, PublisherId};

    use super::*;

    const KEY: &str = "https://h.example/a";

    fn response(status: u16, hop: Option<u16>) -> FetchedResponse {
        let url = Url::parse(KEY).unwrap();
        let hops = hop.map(|status| RedirectHop { url: url.clone(), status });
        FetchedResponse {
            status,
            url,
            hops: hops.into_iter().collect(),
            fields: ResponseFields::default(),
            validators: Validators::default(),
            body: ResponseBody::Memory(b"<p>text".to_vec()),
            wire_bytes: 7,
            digest: None,
            is_length_known: true,
            at: Timestamp::parse("2027-01-10T00:00:00Z").unwrap(),
        }
    }

    #[test] // D74
    fn classes_follow_from_status_redirects_and_stored_row() {
        let time = Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
        let row = PageRow {
            publisher: PublisherId(1),
            url: KEY.to_owned(),
            modified: time,
            digest: LineDigest::of(b""),
            title: String::new(),
            language: String::new(),
            source: PageSource::Html,
            withheld: None,
            first_seen: time,
            changed: time,
        };
        let is_fresh = false;
        let new = KnownPage {
            key: KEY,
            found: Some(KEY),
            is_fresh,
            is_home: false,
            row: None,
            is_damaged: false,
        };
        let stored = KnownPage { row: Some(&row), ..new };
        let moved = |known| KnownPage { found: Some("https://h.example/b"), ..known };
        let page = |key: &str| ResponseClass::Page { key: key.to_owned() };
        for (status, hop, known, is_soft_404, expected) in [
            (304, None, stored, false, ResponseClass::Unchanged),
            (304, None, moved(stored), false, ResponseClass::AskAgain),
            (
                304,
                None,
                KnownPage { is_fresh: true, ..moved(new) },
                false,
                ResponseClass::Unchanged,
            ),
            (304, None, KnownPage { is_damaged: true, ..stored }, false, ResponseClass::AskAgain),
            (410, None, stored, false, ResponseClass::Gone),
            (403, None, stored, false, ResponseClass::Failed { is_closed: true }),
            (403, None, new, false, ResponseClass::Failed { is_closed: false }),
            (500, None, stored, false, ResponseClass::Failed { is_closed: false }),
            (200, None, KnownPage { found: None, ..new }, true, ResponseClass::RedirectsElsewhere),
            (200, None, stored, true, ResponseClass::Soft404),
            (200, None, KnownPage { is_home: true, ..new }, true, page(KEY)),
            (200, Some(302), moved(stored), false, ResponseClass::TemporaryRedirect),
            (200, Some(301), moved(stored), false, page("https://h.example/b")),
            (200, Some(302), moved(new), false, page("https://h.example/b")),
        ] {
            let class = classify(&response(status, hop), &known, || is_soft_404);
            assert_eq!(class, expected, "{status} {hop:?} {known:?}");
        }
    }
}
